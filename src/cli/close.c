/* close.c - see close.h. */
#include "cli/close.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/call.h"
#include "cli/say.h"

static void write_params(const struct arguments *arguments, const struct close_call *call,
                         const char *id, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    const char *note = arguments_value(arguments, "note");

    json_write_object(&writer, NULL);
    if (id)
        json_write_text(&writer, "session_id", id);
    if (note)
        json_write_text(&writer, "global_annotation", note);
    if (call->seconds)
        json_write_integer(&writer, "seconds", call->seconds);
    json_write_text_if(&writer, "text", call->text);
    json_write_end_object(&writer);
}

/* The title makes the confirmation readable; agents have no right to look, they get the id. */
static char *find_title(const struct arguments *arguments, const struct close_call *call,
                        struct link *link, const char *id)
{
    char *params = call_id_params(id), *title = NULL;
    struct wire_message got = { 0 };
    struct error err;

    (void)arguments;
    if (strcmp(call->identity->role, "person") == 0 &&
        link_call(link, "ask/get", params, &got, &err)) {
        const char *found = json_member_text(json_member(got.result, "ask"), "title");

        title = found ? strdup(found) : NULL;
    }
    wire_release(&got);
    free(params);
    return title;
}

enum exit_code close_ask(const struct arguments *arguments, const struct close_call *call)
{
    const char *id = arguments->word_count ? arguments->words[0] : NULL;
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    struct text params = { 0 };
    char seconds[24], *title = NULL, *printed;
    bool ok;

    if (!call_open(arguments, call->identity, LINK_MAY_START, &link))
        return EXIT_ERROR;
    write_params(arguments, call, id, &params);
    ok = call_hub(arguments, link, call->method, text_string(&params), &reply);
    if (ok && arguments->is_json) {
        printed = json_encode(reply.result);
        say_json(printed);
        free(printed);
    } else if (ok) {
        const char *whole = json_member_text(reply.result, "session_id");

        title = find_title(arguments, call, link, whole);
        snprintf(seconds, sizeof seconds, "%lld", (long long)call->seconds);
        say_result(call->done, "title", title ? title : "", "id", whole ? whole : "", "seconds",
                   seconds, NULL);
    }
    free(title);
    wire_release(&reply);
    text_release(&params);
    link_close(link);
    return ok ? EXIT_DONE : EXIT_ERROR;
}
