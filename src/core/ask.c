/* ask.c - the shape of an id. */
#include "core/ask.h"

#include <stddef.h>
#include <string.h>

#include "base/json_writer.h"
#include "core/limits.h"
#include "core/response.h"
#include "core/visible_text.h"

bool ask_id_is_valid(const char *id)
{
    return strlen(id) == LIMIT_ID_CHARS &&
           strspn(id, "abcdefghijklmnopqrstuvwxyz234567") == LIMIT_ID_CHARS;
}

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
    json_write_text(
        writer, "instructions",
        notice->told_json
            ? "This earlier ask of yours timed out and stays so. After the deadline "
              "the user told you told_after_deadline. It isn't the answer and approves "
              "nothing: take it into account, and ask again before you act on it."
            : "The user answered this earlier ask: call get_answer with this session_id.");
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

static const int64_t SHORTEST_MS = 1000; /* a limit below this leaves no time to answer in */
static const int64_t LONGEST_MS = (int64_t)LIMIT_TIMEOUT_S * 1000; /* no ask is held longer */
static const int64_t BY_HAND_MS = 10000; /* earlier than this it is likely to be a person */
static const int64_t SAME_WITHIN_MS = 2000;
static const int64_t MARGIN_MS = 5000; /* the answer must be there before the client gives up */

int64_t client_timeout_learn(int64_t known_ms, int64_t held_ms, bool says_time_was_up)
{
    int64_t seen_ms, apart_ms;

    if (known_ms < -LONGEST_MS || known_ms > LONGEST_MS)
        known_ms = 0;
    if (held_ms < SHORTEST_MS || held_ms > LONGEST_MS)
        return known_ms;
    seen_ms = known_ms < 0 ? -known_ms : known_ms;
    apart_ms = held_ms < seen_ms ? seen_ms - held_ms : held_ms - seen_ms;
    if (says_time_was_up)
        return held_ms;
    if (held_ms < BY_HAND_MS)
        return known_ms;
    if (known_ms != 0 && apart_ms <= SAME_WITHIN_MS)
        return held_ms < seen_ms ? held_ms : seen_ms;
    return known_ms > 0 ? known_ms : -held_ms;
}

int64_t client_timeout_hold_ms(int64_t known_ms)
{
    int64_t margin_ms = known_ms / 10;

    if (known_ms <= 0 || known_ms > LONGEST_MS)
        return -1;
    if (margin_ms < MARGIN_MS)
        margin_ms = known_ms / 2 < MARGIN_MS ? known_ms / 2 : MARGIN_MS;
    return known_ms - margin_ms;
}

static bool contains(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (; *text; text++) {
        size_t i = 0;

        while (i < length && (text[i] == word[i] || (text[i] | 0x20) == word[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

bool client_timeout_is_time_up(const char *reason)
{
    /* the SDKs' own words and code, and those of others */
    return reason && (contains(reason, "timed out") || contains(reason, "timeout") ||
                      contains(reason, "time limit") || contains(reason, "-32001"));
}
