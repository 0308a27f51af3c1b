/*
 * request.c - asks under way on one connection, and what the hub says of them. A request that was
 * sent and not answered when the connection was lost is sent again: by its id where that is known,
 * else as the same call, which the hub recognises (R5.5).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/mem.h"
#include "core/outcome.h"
#include "lib/inside.h"
#include "wire/wire.h"

enum { DELIVERED_BYTES = LIMIT_DELIVERED * (LIMIT_ID_CHARS + 3) }; /* quotes and a comma each */

static const char usual_choices[] = "abcdefghijklmnopqrstuvwxyz234567";

static bool is_id(const char *text)
{
    return text && strlen(text) == LIMIT_ID_CHARS && strspn(text, usual_choices) == LIMIT_ID_CHARS;
}

static struct sayso_request *request_new(struct sayso *sayso)
{
    struct sayso_request *request = mem_new(sizeof *request);

    if (!request) {
        handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
        return NULL;
    }
    request->sayso = sayso;
    request->code = SAYSO_PENDING;
    return request;
}

void request_destroy(struct sayso_request *take_request)
{
    free(take_request->tool);
    free(take_request->arguments);
    free(take_request->field);
    json_free(take_request->message);
    free(take_request->result_json);
    free(take_request);
}

static void join(struct sayso_request *request)
{
    struct sayso *sayso = request->sayso;

    request->number = ++sayso->last_id;
    if (sayso->last)
        sayso->last->next = request;
    else
        sayso->first = request;
    sayso->last = request;
}

static void leave(struct sayso *sayso, struct sayso_request *request)
{
    struct sayso_request **at = &sayso->first, *before = NULL;

    while (*at != request) {
        before = *at;
        at = &before->next;
    }
    *at = request->next;
    if (sayso->last == request)
        sayso->last = before;
    request_destroy(request);
}

static struct sayso_request *submit(struct sayso *sayso, const char *tool, struct text *arguments,
                                    char *take_field)
{
    struct sayso_request *request = request_new(sayso);

    if (!request) {
        free(take_field);
        return NULL;
    }
    request->field = take_field;
    request->tool = mem_text(tool);
    request->arguments = mem_text_n(text_string(arguments), arguments->used);
    if (!request->tool || !request->arguments) {
        handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
        request_destroy(request);
        return NULL;
    }
    join(request);
    return request;
}

static struct sayso_request *submit_bytes(struct sayso *sayso, const char *tool, const char *json,
                                          size_t length)
{
    struct sayso_request *request = NULL;
    struct text arguments = { 0 };
    char *field = NULL;

    if (question_check(sayso, json, length, &arguments, &field) == SAYSO_OK)
        request = submit(sayso, tool, &arguments, field);
    text_release(&arguments);
    return request;
}

struct sayso_request *sayso_submit_json(struct sayso *sayso, const char *tool,
                                        const char *arguments_json)
{
    if (!sayso)
        return NULL;
    sayso->error[0] = '\0';
    if (!tool || !arguments_json || !text_is_utf8(tool, strlen(tool))) {
        handle_fail(sayso, SAYSO_MISUSE, "a tool's name and its arguments are needed");
        return NULL;
    }
    return submit_bytes(sayso, tool, arguments_json, strlen(arguments_json));
}

struct sayso_request *sayso_submit(struct sayso *sayso, const struct sayso_question *question)
{
    struct sayso_request *request = NULL;
    struct text json = { 0 };

    if (!sayso)
        return NULL;
    sayso->error[0] = '\0';
    if (!question)
        handle_fail(sayso, SAYSO_MISUSE, "a question is needed");
    else if (question_encode(sayso, question, &json) == SAYSO_OK)
        request = submit_bytes(sayso, question_tool(question), text_string(&json), json.used);
    text_release(&json);
    return request;
}

struct sayso_request *sayso_collect(struct sayso *sayso, const char *id)
{
    struct sayso_request *request;

    if (!sayso)
        return NULL;
    sayso->error[0] = '\0';
    if (!is_id(id)) {
        handle_fail(sayso, SAYSO_MISUSE, "an id is the %d characters of sayso_request_id",
                    LIMIT_ID_CHARS);
        return NULL;
    }
    request = request_new(sayso);
    if (!request)
        return NULL;
    snprintf(request->id, sizeof request->id, "%s", id);
    join(request);
    return request;
}

/* An answer that was read is told to be: it is not given to the next identical call. */
static void confirm(struct sayso_request *request)
{
    struct text *ids = &request->sayso->delivered;
    size_t before = ids->used;

    text_add_format(ids, "%s\"%s\"", before ? "," : "", request->id);
    if (ids->has_overflowed) {
        ids->used = before;
        ids->has_overflowed = false;
    }
}

void sayso_request_free(struct sayso_request *request)
{
    struct sayso *sayso;

    if (!request)
        return;
    sayso = request->sayso;
    if (request->code == SAYSO_PENDING && request->call_id) {
        request->is_abandoned = true;
    } else {
        if (request->is_over && request->id[0])
            confirm(request);
        leave(sayso, request);
    }
    if (sayso->phase == PHASE_UP)
        connection_advance(sayso);
}

int sayso_cancel(struct sayso_request *request)
{
    if (!request)
        return SAYSO_MISUSE;
    if (request->code != SAYSO_PENDING)
        return (int)request->code;
    request->wants_cancel = true;
    if (!request->id[0] && !request->call_id)
        result_end(request, SAYSO_CANCELLED, "taken back before it was asked");
    return (int)request->code;
}

bool request_needs_hub(const struct sayso *sayso)
{
    for (const struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code == SAYSO_PENDING)
            return true;
    }
    return false;
}

int64_t request_wake_ms(const struct sayso *sayso)
{
    int64_t wake_ms = -1;

    for (const struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code == SAYSO_PENDING && !at->call_id && at->resend_ms &&
            (wake_ms < 0 || at->resend_ms < wake_ms))
            wake_ms = at->resend_ms;
    }
    return wake_ms;
}

static bool send_about(struct sayso_request *request, const char *method, int64_t *ret_id)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    bool ok;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", request->id);
    json_write_end_object(&writer);
    ok = stream_call(request->sayso, method, &params, ret_id);
    text_release(&params);
    return ok;
}

static bool send_call(struct sayso_request *request)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    char tag[TEXT_INTEGER_BYTES];
    bool is_known = request->id[0] != '\0', ok;

    json_write_object(&writer, NULL);
    if (is_known) {
        json_write_text(&writer, "session_id", request->id);
    } else {
        json_write_text(&writer, "tool", request->tool);
        json_write_raw(&writer, "arguments", request->arguments);
        json_write_text(&writer, "tag", text_of_integer(request->number, tag));
    }
    json_write_integer(&writer, "wait_seconds", -1);
    json_write_end_object(&writer);
    ok = stream_call(request->sayso, is_known ? "ask/wait" : "ask/create", &params,
                     &request->call_id);
    text_release(&params);
    return ok;
}

static bool send_one(struct sayso_request *request, int64_t now_ms)
{
    int64_t ignored;
    bool ok = true;

    if (request->code != SAYSO_PENDING)
        return true;
    if (!request->call_id && now_ms >= request->resend_ms)
        ok = send_call(request);
    if (ok && request->id[0] && request->wants_cancel && !request->is_cancel_sent) {
        request->is_cancel_sent = true;
        ok = send_about(request, "ask/withdraw", &ignored);
    }
    if (ok && request->id[0] && request->is_abandoned && !request->is_detach_sent) {
        request->is_detach_sent = true;
        ok = send_about(request, "ask/detach", &ignored);
    }
    return ok;
}

/* At once, whether or not the last ones are confirmed: our host may be about to end. */
static bool send_delivered(struct sayso *sayso)
{
    const char *ids = text_string(&sayso->delivered);
    struct text params = { 0 };
    bool ok = true;

    if (!sayso->delivered.used)
        return true;
    for (; *ids && ok; ids += strnlen(ids, DELIVERED_BYTES)) {
        text_add_text(&params, "{\"session_ids\":[");
        text_add(&params, ids, strnlen(ids, DELIVERED_BYTES - 1)); /* without the last comma */
        text_add_text(&params, "]}");
        ok = stream_call(sayso, "ask/delivered", &params, &sayso->delivered_id);
        text_clear(&params);
    }
    text_release(&params);
    if (!ok)
        return false;
    text_add_format(&sayso->delivering, "%s%s", sayso->delivering.used ? "," : "",
                    text_string(&sayso->delivered));
    sayso->delivering.has_overflowed = false; /* then that much is not said again */
    text_clear(&sayso->delivered);
    return true;
}

void request_send_all(struct sayso *sayso, int64_t now_ms)
{
    bool ok = send_delivered(sayso);

    for (struct sayso_request *at = sayso->first; at && ok; at = at->next)
        ok = send_one(at, now_ms);
    if (!ok)
        connection_give_up(sayso, SAYSO_NO_MEMORY, "out of memory");
}

static void take_created(struct sayso *sayso, const struct json *params)
{
    const char *tag = json_member_text(params, "tag"), *id = json_member_text(params, "session_id");
    int64_t number;

    if (!tag || !is_id(id) || !text_parse_integer(tag, &number))
        return;
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->number == number && at->code == SAYSO_PENDING) {
            snprintf(at->id, sizeof at->id, "%s", id);
            sayso->losses = 0;
        }
    }
}

bool request_take(struct sayso *sayso, const struct jsonrpc_message *message, struct json *root)
{
    int64_t id = 0;

    if (message->method) {
        if (strcmp(message->method, "ask/created") == 0)
            take_created(sayso, message->params);
        return true;
    }
    if (!json_integer_of(message->id, &id))
        return true;
    if (sayso->delivered_id && id == sayso->delivered_id) {
        sayso->delivered_id = 0;
        text_release(&sayso->delivering);
        return true;
    }
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->call_id != id || at->code != SAYSO_PENDING)
            continue;
        if (at->is_abandoned) {
            leave(sayso, at);
            return true;
        }
        sayso->losses = 0;
        return result_take(at, message, root);
    }
    return true;
}

void request_lose_all(struct sayso *sayso)
{
    for (struct sayso_request *at = sayso->first, *next; at; at = next) {
        next = at->next;
        at->call_id = 0;
        at->resend_ms = 0;
        at->is_cancel_sent = false;
        if (at->is_abandoned)
            leave(sayso, at);
    }
    if (sayso->delivering.used) {
        text_add_format(&sayso->delivering, "%s%s", sayso->delivered.used ? "," : "",
                        text_string(&sayso->delivered));
        text_release(&sayso->delivered);
        sayso->delivered = sayso->delivering;
        sayso->delivering = (struct text){ 0 };
    }
    sayso->delivered_id = 0;
}

void request_end_all(struct sayso *sayso, enum sayso_code code, const char *why)
{
    request_lose_all(sayso);
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code == SAYSO_PENDING)
            result_end(at, code, why);
    }
}

struct sayso_request *request_find_over(const struct sayso *sayso)
{
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code != SAYSO_PENDING)
            return at;
    }
    return NULL;
}

size_t request_count_over(const struct sayso *sayso)
{
    size_t count = 0;

    for (const struct sayso_request *at = sayso->first; at; at = at->next)
        count += at->code != SAYSO_PENDING;
    return count;
}

/* How a request ends: the hub's word for it becomes a code of ours. */

/* Of an ask that is over. Words that are not understood are no answer. */
static const enum sayso_code endings[ENDING_COUNT] = {
    [ENDING_PENDING] = SAYSO_NOT_SUPPORTED, [ENDING_ANSWERED] = SAYSO_OK,
    [ENDING_DECLINED] = SAYSO_DECLINED,     [ENDING_CANCELLED] = SAYSO_CANCELLED,
    [ENDING_TIMEOUT] = SAYSO_TIMEOUT,       [ENDING_WITHDRAWN] = SAYSO_CANCELLED,
    [ENDING_UNKNOWN] = SAYSO_NOT_SUPPORTED,
};
_Static_assert(ENDING_COUNT == 7, "one that is not in the table would be an answer");

/* Any other error of the closed list is about an argument. */
static const struct {
    enum error_code error;
    enum sayso_code code;
} refusals[] = {
    { ERROR_no_human_channel, SAYSO_NOT_SUPPORTED },
    { ERROR_not_available_to_subagents, SAYSO_NOT_SUPPORTED },
    { ERROR_not_found, SAYSO_NOT_FOUND },
    { ERROR_rate_limited, SAYSO_RATE_LIMITED },
    { ERROR_unavailable, SAYSO_REFUSED },
    { ERROR_storage_failed, SAYSO_REFUSED },
    { ERROR_already_answered, SAYSO_REFUSED },
    { ERROR_wrong_state, SAYSO_REFUSED },
    { ERROR_not_allowed, SAYSO_REFUSED },
};

void result_end(struct sayso_request *request, enum sayso_code code, const char *why)
{
    request->code = code;
    request->call_id = 0;
    snprintf(request->error, sizeof request->error, "%s", why);
    if (*why)
        handle_fail(request->sayso, code, "%s", why);
}

static enum sayso_code code_of(enum error_code error)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (refusals[i].error == error)
            return refusals[i].code;
    }
    return SAYSO_VALIDATION_FAILED;
}

static void take_refusal(struct sayso_request *request, const struct json *error)
{
    int64_t number = json_member_integer(error, "code", 0);
    char why[LIB_ERROR_BYTES];
    enum sayso_code code;
    struct error err, one;
    size_t used = 0;

    wire_read_failure(error, &err);
    code = number == WIRE_OURS ? code_of(err.code) : SAYSO_NOT_SUPPORTED;
    if (code == SAYSO_NOT_FOUND && request->id[0] && request->arguments) {
        request->id[0] = '\0'; /* the hub died before it was on disk: ask again */
        request->call_id = 0;
        return;
    }
    for (size_t i = 0; error_at(&err, i, &one) && used < sizeof why; i++)
        used += (size_t)snprintf(why + used, sizeof why - used, "%s%s%s%s", i ? "; " : "", one.path,
                                 *one.path ? ": " : "", one.message);
    result_end(request, code, why);
}

/* Whole or not at all. */
static bool keep_result(struct sayso_request *request, const struct json *result, struct json *root)
{
    struct text encoded = { 0 };

    json_add(&encoded, result);
    if (encoded.has_overflowed || !encoded.bytes) {
        text_release(&encoded);
        return false;
    }
    free(request->result_json);
    request->result_json = encoded.bytes;
    json_free(request->message);
    request->message = json_keep(root);
    request->result = result;
    return true;
}

bool result_take(struct sayso_request *request, const struct jsonrpc_message *message,
                 struct json *root)
{
    const char *id = json_member_text(message->result, "session_id");
    enum reply_kind kind;
    enum sayso_code code;
    struct error err;

    if (message->error) {
        take_refusal(request, message->error);
        return true;
    }
    if (!wire_read_kind(root, &kind, &err)) { /* not kept, so that it is not confirmed either */
        result_end(request, SAYSO_NOT_SUPPORTED, err.message);
        return true;
    }
    if (!keep_result(request, message->result, root))
        return false;
    if (id && strlen(id) == LIMIT_ID_CHARS)
        snprintf(request->id, sizeof request->id, "%s", id);
    request->is_over = kind == REPLY_FINAL;
    code = request->is_over ? endings[outcome_read(message->result)] : SAYSO_PENDING;
    request->call_id = 0;
    if (code == SAYSO_PENDING) /* handed to a terminal, or our patience is over: wait on */
        request->resend_ms = handle_now_ms() + LIB_PENDING_PAUSE_MS;
    else
        result_end(request, code,
                   code == SAYSO_NOT_SUPPORTED ? "the hub's result can't be understood" : "");
    return true;
}
