/* request.c - asks under way, and what the hub says of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/outcome.h"
#include "lib/handle.h"

static const char usual_choices[] = "abcdefghijklmnopqrstuvwxyz234567";

static void result_end(struct sayso_request *request, enum sayso_code code, const char *why);

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
    free(take_request->field);
    json_free(take_request->message);
    free(take_request->result_json);
    free(take_request);
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

static void on_reply(void *context, const struct client_reply *reply);

/* ask/create, or ask/wait once its id is known. False: out of memory. */
static bool call_hub(struct sayso_request *request, const char *tool, const char *arguments_json)
{
    struct request call = { .wait_ms = -1 };
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    if (tool) {
        snprintf(request->tag, sizeof request->tag, "%lld",
                 (long long)++request->sayso->last_number);
        json_write_text(&writer, "tool", tool);
        json_write_raw(&writer, "arguments", arguments_json);
        json_write_text(&writer, "tag", request->tag);
    } else {
        json_write_text(&writer, "session_id", request->id);
    }
    json_write_integer(&writer, "wait_seconds", -1);
    json_write_end_object(&writer);
    call.method = tool ? METHOD_ask_create : METHOD_ask_wait;
    call.tag = tool ? request->tag : NULL;
    call.text = &params;
    handle_identify(request->sayso);
    if (!params.has_overflowed)
        request->call = client_call(request->sayso->client, &call, on_reply, request);
    text_release(&params);
    if (!request->call)
        handle_fail(request->sayso, SAYSO_NO_MEMORY, "out of memory");
    return request->call != NULL;
}

/* It is one of the handle's from then on. NULL: out of memory, and it is gone. */
static struct sayso_request *call_and_join(struct sayso_request *take_request, const char *tool,
                                           const char *arguments_json)
{
    struct sayso *sayso = take_request->sayso;

    if (!call_hub(take_request, tool, arguments_json)) {
        request_destroy(take_request);
        return NULL;
    }
    *(sayso->last ? &sayso->last->next : &sayso->first) = take_request;
    sayso->last = take_request;
    return take_request;
}

static struct sayso_request *submit_bytes(struct sayso *sayso, const char *tool, const char *json,
                                          size_t length)
{
    struct sayso_request *request = NULL;
    struct text arguments = { 0 };
    char *field = NULL;

    if (question_check(sayso, json, length, &arguments, &field) == SAYSO_OK)
        request = request_new(sayso);
    if (request)
        request->field = field;
    else
        free(field);
    request = request ? call_and_join(request, tool, text_string(&arguments)) : NULL;
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
    return call_and_join(request, NULL, NULL);
}

static void on_confirmed(void *context, const struct client_reply *reply)
{
    (void)reply; /* where it failed, it is given once more, which is the safe side */
    ((struct sayso *)context)->unconfirmed--;
}

/* One about this ask. NULL: out of memory. */
static struct client_call *tell(const struct sayso_request *request, enum method method,
                                const char *format, client_done *done)
{
    struct text params = { 0 };
    const struct request call = { .method = method, .text = &params };
    struct client_call *made = NULL;

    text_add_format(&params, format, request->id);
    handle_identify(request->sayso);
    if (!params.has_overflowed)
        made = client_call(request->sayso->client, &call, done, request->sayso);
    text_release(&params);
    return made;
}

/* An answer that was read is told to be: it is not given to the next identical call. */
static void confirm(struct sayso_request *request)
{
    if (tell(request, METHOD_ask_delivered, "{\"session_ids\":[\"%s\"]}", on_confirmed))
        request->sayso->unconfirmed++;
}

static const char about[] = "{\"session_id\":\"%s\"}";

/* That its caller went: to this hub alone, for another one hears nothing of it. */
static void tell_detached(struct sayso_request *request)
{
    struct client_call *call =
        request->id[0] ? tell(request, METHOD_ask_detach, about, NULL) : NULL;

    if (call)
        client_abandon(call);
}

static void tell_cancelled(struct sayso_request *request)
{
    if (request->wants_cancel && !request->is_cancel_sent && request->id[0])
        request->is_cancel_sent = tell(request, METHOD_ask_withdraw, about, NULL) != NULL;
}

void sayso_request_free(struct sayso_request *request)
{
    struct sayso *sayso;

    if (!request)
        return;
    sayso = request->sayso;
    if (request->call && client_is_sent(request->call)) {
        request->is_abandoned = true;
        client_abandon(request->call);
        tell_detached(request);
    } else {
        if (request->call)
            client_forget(sayso->client, request->call);
        if (request->is_over && request->id[0])
            confirm(request);
        leave(sayso, request);
    }
    if (client_is_up(sayso->client))
        handle_advance(sayso);
}

int sayso_cancel(struct sayso_request *request)
{
    if (!request)
        return SAYSO_MISUSE;
    if (request->code != SAYSO_PENDING)
        return (int)request->code;
    request->wants_cancel = true;
    if (!request->id[0] && request->call && !client_is_sent(request->call)) {
        client_forget(request->sayso->client, request->call);
        request->call = NULL;
        result_end(request, SAYSO_CANCELLED, "withdrawn before it was sent");
    }
    tell_cancelled(request);
    return (int)request->code;
}

int64_t request_wake_ms(const struct sayso *sayso)
{
    int64_t wake_ms = -1;

    for (const struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code == SAYSO_PENDING && !at->call && (wake_ms < 0 || at->resend_ms < wake_ms))
            wake_ms = at->resend_ms;
    }
    return wake_ms;
}

void request_send_late(struct sayso *sayso, int64_t now_ms)
{
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code == SAYSO_PENDING && !at->call && now_ms >= at->resend_ms &&
            !call_hub(at, NULL, NULL))
            result_end(at, SAYSO_NO_MEMORY, "out of memory");
    }
}

void request_take_event(struct sayso *sayso, const struct rpc_message *message)
{
    const char *tag = json_member_text(message->params, "tag");
    const char *id = json_member_text(message->params, "session_id");

    if (strcmp(message->method, "ask/created") != 0 || !tag || !is_id(id))
        return;
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code != SAYSO_PENDING || strcmp(at->tag, tag) != 0)
            continue;
        snprintf(at->id, sizeof at->id, "%s", id);
        tell_cancelled(at);
        if (at->is_abandoned)
            tell_detached(at);
    }
}

void request_end_all(struct sayso *sayso, enum sayso_code code, const char *why)
{
    for (struct sayso_request *at = sayso->first; at; at = at->next) {
        if (at->code == SAYSO_PENDING && !at->is_abandoned)
            result_end(at, code, why);
    }
}

struct sayso_request *request_find(const struct sayso *sayso, bool is_over)
{
    struct sayso_request *at = sayso->first;

    while (at && (at->code != SAYSO_PENDING) != is_over)
        at = at->next;
    return at;
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

static void result_end(struct sayso_request *request, enum sayso_code code, const char *why)
{
    request->code = code;
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

static void take_refusal(struct sayso_request *request, const struct client_reply *reply)
{
    bool is_ours = !reply->message || !reply->message->error ||
                   json_member_integer(reply->message->error, "code", 0) == RPC_OURS;
    char why[LIB_ERROR_BYTES];
    struct error one;
    size_t used = 0;

    for (size_t i = 0; error_at(&reply->err, i, &one) && used < sizeof why; i++)
        used += (size_t)snprintf(why + used, sizeof why - used, "%s%s%s%s", i ? "; " : "", one.path,
                                 *one.path ? ": " : "", one.message);
    result_end(request, is_ours ? code_of(reply->err.code) : SAYSO_NOT_SUPPORTED, why);
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

static void take_result(struct sayso_request *request, const struct client_reply *reply)
{
    const struct json *result = reply->message->result;
    const char *id = json_member_text(result, "session_id");
    enum sayso_code code;

    if (!keep_result(request, result, reply->message->root)) {
        result_end(request, SAYSO_NO_MEMORY, "out of memory");
        return;
    }
    if (is_id(id))
        snprintf(request->id, sizeof request->id, "%s", id);
    request->is_over = reply->kind == REPLY_FINAL;
    code = request->is_over ? endings[outcome_read(result)] : SAYSO_PENDING;
    if (code == SAYSO_PENDING) /* handed to a terminal, or our patience is over: wait on */
        request->resend_ms = handle_now_ms() + LIB_PENDING_PAUSE_MS;
    else
        result_end(request, code,
                   code == SAYSO_NOT_SUPPORTED ? "the hub's result can't be understood" : "");
}

static void on_reply(void *context, const struct client_reply *reply)
{
    struct sayso_request *request = context;

    request->call = NULL;
    if (request->is_abandoned)
        leave(request->sayso, request);
    else if (request->code != SAYSO_PENDING)
        return; /* it ended with all others */
    else if (reply->err.code == ERROR_NONE)
        take_result(request, reply);
    else if (reply->message && reply->message->result) /* no word on what it is: not confirmed */
        result_end(request, SAYSO_NOT_SUPPORTED, reply->err.message);
    else
        take_refusal(request, reply);
}

/* What a person answered, out of the result of any tool. Where no one did, nothing. */

int sayso_request_code(const struct sayso_request *request)
{
    return request ? (int)request->code : SAYSO_MISUSE;
}

const char *sayso_request_error(const struct sayso_request *request)
{
    return request ? request->error : "";
}

const char *sayso_request_id(const struct sayso_request *request)
{
    return request ? request->id : "";
}

const char *sayso_request_result(const struct sayso_request *request)
{
    return request ? request->result_json : NULL;
}

/* Where one value stands alone: what was chosen before what was written. */
static const struct json *find_only(const struct sayso_request *request)
{
    static const char *const members[] = { "choice", "value", "confirmed", "input" };
    const struct json *selection = json_member(request->result, "selection");
    const struct json *ids = json_member(selection, "selected_ids"), *found = NULL;

    if (selection)
        return json_length(ids) ? ids : json_member(selection, "custom_input");
    if (request->field)
        found = json_member(request->result, request->field);
    for (size_t i = 0; !found && i < ARRAY_LEN(members); i++)
        found = json_member(request->result, members[i]);
    return found;
}

static const struct json *find(const struct sayso_request *request, const char *field)
{
    static const char *const groups[] = { "content", "answers", "selection" };
    bool has_group = false;

    if (!request || request->code != SAYSO_OK)
        return NULL;
    if (!field)
        return find_only(request);
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        const struct json *group = json_member(request->result, groups[i]);

        if (json_member(group, field))
            return json_member(group, field);
        has_group |= group != NULL;
    }
    return has_group ? NULL : json_member(request->result, field);
}

/* A text with a NUL in it would be cut short, so it is none here; it is whole in the result. */
static const char *whole_text(const struct json *value)
{
    const char *text = json_text(value);

    return text && strlen(text) == json_length(value) ? text : NULL;
}

size_t sayso_answer_count(const struct sayso_request *request, const char *field)
{
    const struct json *value = find(request, field);

    if (json_kind(value) == KIND_LIST)
        return json_length(value);
    return whole_text(value) ? 1 : 0;
}

const char *sayso_answer_item(const struct sayso_request *request, const char *field, size_t index)
{
    const struct json *value = find(request, field);

    if (json_kind(value) == KIND_LIST)
        return index < json_length(value) ? whole_text(json_item(value, index)) : NULL;
    return index == 0 ? whole_text(value) : NULL;
}

const char *sayso_answer_text(const struct sayso_request *request, const char *field)
{
    return sayso_answer_item(request, field, 0);
}

int sayso_answer_number(const struct sayso_request *request, const char *field, double *ret_number)
{
    const struct json *value = find(request, field);

    if (!ret_number)
        return SAYSO_MISUSE;
    if (json_kind(value) != KIND_INTEGER && json_kind(value) != KIND_REAL)
        return SAYSO_NOT_FOUND;
    *ret_number = json_number_of(value);
    return SAYSO_OK;
}

int sayso_answer_yes(const struct sayso_request *request, const char *field, int *ret_is_yes)
{
    const struct json *value = find(request, field);

    if (!ret_is_yes)
        return SAYSO_MISUSE;
    *ret_is_yes = 0;
    if (json_kind(value) != KIND_BOOL)
        return SAYSO_NOT_FOUND;
    *ret_is_yes = json_is_true(value);
    return SAYSO_OK;
}

const char *sayso_answer_note(const struct sayso_request *request)
{
    const struct json *selection, *note;

    if (!request || !request->result)
        return NULL;
    selection = json_member(request->result, "selection");
    note = json_member(selection ? selection : request->result, "global_annotation");
    return whole_text(note);
}
