/* result.c - how a request ends: the hub's word for it becomes a code of ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/mem.h"
#include "core/outcome.h"
#include "lib/inside.h"
#include "wire/wire.h"

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
