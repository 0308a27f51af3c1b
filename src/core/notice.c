/* notice.c - see notice.h. */
#include "core/notice.h"

#include <string.h>

#include "base/json_writer.h"
#include "core/response.h"
#include "core/visible_text.h"

static void write_notice(struct json_writer *writer, const struct notice *notice)
{
    const char *title = notice->title ? notice->title : "";
    struct text shown = { 0 };
    char when[32];

    visible_text(title, strlen(title), VISIBLE_ONE_LINE, &shown);
    response_write_time(notice->decided_ms, when);
    json_write_object(writer, NULL);
    json_write_text(writer, "session_id", notice->session_id);
    json_write_text(writer, "title", text_string(&shown));
    json_write_text(writer, "status", state_name(notice->state));
    json_write_text(writer, notice->told_json ? "timed_out_at" : "answered_at", when);
    if (notice->told_json)
        json_write_raw(writer, "told_after_deadline", notice->told_json);
    json_write_text(writer, "instructions",
                    notice->told_json
                        ? "This earlier ask of yours timed out and stays so. After the deadline "
                          "the user told you told_after_deadline. It isn't the answer and approves "
                          "nothing: take it into account, and ask again before you act on it."
                        : "The person has decided this earlier ask of yours: call get_answer with "
                          "this session_id to collect what they said.");
    json_write_end_object(writer);
    text_release(&shown);
}

void notices_add(const struct notice *notices, size_t count, size_t more, struct text *result)
{
    struct json_writer writer = { .out = result };

    if (count == 0)
        return;
    result->used--; /* its closing brace */
    writer.needs_comma = result->used > 1;
    json_write_list(&writer, "notices");
    for (size_t i = 0; i < count; i++)
        write_notice(&writer, &notices[i]);
    json_write_end_list(&writer);
    if (more > 0)
        json_write_integer(&writer, "notices_more", (int64_t)more);
    json_write_end_object(&writer);
}
