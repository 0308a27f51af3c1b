/*
 * look.c - lists, and one ask: at once, or when it has changed. A look that waits is parked with
 * poll.c and taken again when its ask changed, or when its time is over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "fronts/rest/inside.h"
#include "i18n/i18n.h"
#include "loop/loop.h"
#include "net/http.h"

static bool read_status(struct call *call, const char *given)
{
    if (strcmp(given, "all") == 0 || strcmp(given, "active") == 0 ||
        strcmp(given, "completed") == 0 || state_find(given) != STATE_NEW)
        return true;
    reply_bad_parameter(call, ERROR_bad_enum, parameter_status.name,
                        "status is all, active, completed or a state: pending_terminal_launch, "
                        "pending, submitted, auto_submitted, cancelled, declined, timeout, "
                        "withdrawn");
    return false;
}

void look_listed(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct json *list = NULL;
    const char *next;

    if (reply->err.code == ERROR_bad_format) {
        reply_bad_parameter(call, ERROR_bad_format, parameter_before.name, reply->err.message);
        return;
    }
    if (reply->err.code != ERROR_NONE) {
        reply_error(call, &reply->err, reply->json);
        return;
    }
    if (json_parse(reply->json, strlen(reply->json), &list, NULL)) {
        next = json_member_text(list, "next");
        if (next)
            query_write_next(call, next);
    }
    json_free(list);
    reply_json(call, 200, reply->json, strlen(reply->json));
}

static bool write_parameter(struct call *call, struct json_writer *writer, const char *key,
                            const struct parameter *parameter)
{
    const char *given = http_parameter(call->exchange, parameter->name);

    if (given && parameter == &parameter_status && !read_status(call, given))
        return false;
    json_write_text_if(writer, key, given);
    return true;
}

void serve_list(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);
    int64_t limit;
    bool ok;

    ok = query_integer(call, &parameter_limit, 0, &limit) &&
         write_parameter(call, &writer, "which", &parameter_status) &&
         write_parameter(call, &writer, "agent", &parameter_agent) &&
         write_parameter(call, &writer, "before", &parameter_before);
    if (limit > 0)
        json_write_integer(&writer, "limit", limit);
    if (ok)
        rest_call_method(call, METHOD_ask_list, &writer, &params, look_listed, call);
    text_release(&params);
}

static void answer_look(struct call *call, const struct desk_reply *reply, int64_t version)
{
    reply_etag(call, version);
    if (query_knows(call, version))
        rest_call_reply(call, 304, NULL, NULL, 0);
    else
        reply_json(call, 200, reply->json, strlen(reply->json));
}

static void on_looked(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct json *whole = NULL;
    const struct json *ask;
    const char *status;
    int64_t version;
    bool is_open;

    call->is_reading = false;
    if (reply->err.code != ERROR_NONE ||
        !json_parse(reply->json, strlen(reply->json), &whole, NULL)) {
        reply_error(call, &reply->err, NULL);
        return;
    }
    ask = json_member(whole, "ask");
    version = json_member_integer(ask, "version", 0);
    status = json_member_text(ask, "status");
    is_open = status && state_is_open(state_find(status));
    json_free(whole);
    /* the first look says what it is to change from */
    if (call->version == 0 && (call->has_known ? query_knows(call, version) : is_open))
        call->version = version;
    if (call->may_wait && version == call->version && loop_boot_ms() < call->until_ms)
        poll_park(call);
    else
        answer_look(call, reply, version);
}

void look_again(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    if (call->may_wait)
        poll_watch(call);
    json_write_text(&writer, "session_id", call->id);
    rest_call_method(call, METHOD_ask_get, &writer, &params, on_looked, call);
}

void serve_look(struct call *call)
{
    struct error err;
    int64_t wait_s;

    if (!query_integer(call, &parameter_wait, 0, &wait_s))
        return;
    if (!call->id[0]) {
        error_say(&err, ERROR_not_found, "", TEXT_REASON_NO_SUCH_ASK, NULL);
        reply_error(call, &err, NULL);
        return;
    }
    call->may_wait = wait_s > 0;
    call->until_ms = loop_boot_ms() + wait_s * 1000;
    call->has_known = http_header(call->exchange, "if-none-match") != NULL;
    look_again(call);
}
