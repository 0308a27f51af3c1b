/*
 * call.h - a tools/call as a tool sees it that does its work itself (tool.h, `run`): it may answer
 * now or later, tell of progress, and ask the client for something.
 *
 * Legacy clients are asked by a request of ours on the call's stream (call_ask). 2026-07-28 has no
 * such requests: there the call is answered with what is needed (call_need_input), and the client
 * calls again with that and the state we gave it. Source: MCP 2026-07-28, basic/patterns/mrtr.
 */
#ifndef MCP_CALL_H
#define MCP_CALL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/revision.h"

struct call_question;
struct json_writer;
struct mcp_call;
struct text;

/* What a client declared that it can do: in initialize, or with each modern request. */
enum ability {
    ABILITY_FORM = 1,
    ABILITY_URL = 2,
    ABILITY_SAMPLING = 4,
    ABILITY_ROOTS = 8,
};
bool call_has(const struct mcp_call *call, unsigned abilities); /* all of them */
enum mcp_revision call_revision(const struct mcp_call *call);

/* Each of these answers the call, and it is gone. */
void call_reply_result(struct mcp_call *call, const char *result_json); /* whole, of its revision */
void call_reply_error(struct mcp_call *call, int code, const char *message);
void content_write_text(struct json_writer *writer, const char *key, const char *text);
/* The same in steps: what is between is written by the caller, `out` is released at the end. */
enum call_cache { CACHE_NONE, CACHE_PUBLIC, CACHE_PRIVATE }; /* may a client keep it, and who */
struct json_writer call_begin_result(const struct mcp_call *call, struct text *out);
void call_end_result(struct mcp_call *call, struct json_writer *writer, enum call_cache cache);
/* Of prompts/get, resources/read and completion/complete. */
void call_reply_prompt(struct mcp_call *call, const char *description, const char *messages_json);
void call_reply_prompt_text(struct mcp_call *call, const char *description, const char *text);
struct call_contents {
    const char *uri, *mime_type;
    const char *text, *blob; /* one of them; the latter in base64 */
};
void call_reply_contents(struct mcp_call *call, const struct call_contents *contents);
void call_reply_no_resource(struct mcp_call *call, const char *uri);
void call_reply_values(struct mcp_call *call, const char *const *values, size_t count);
/* -32021: it cannot be done without these. */
void call_reply_unable(struct mcp_call *call, unsigned abilities);
/* Modern only. `requests_json` is an object of {method, params} by keys of ours, NULL: none;
 * `state`, NULL: none, comes back with the next call unless nothing can be sealed here. */
void call_need_input(struct mcp_call *call, const char *requests_json, const char *state);
/* What came back: NULL in the first round. */
const struct json *call_responses(const struct mcp_call *call);
const char *call_state(const struct mcp_call *call);

/* Called once when the client no longer wants the answer; the call is gone when it returns. A tool
 * that does not answer immediately needs this. */
void call_on_gone(struct mcp_call *call, void (*gone)(void *context), void *context);

/* A log message, for clients that want this level. */
enum mcp_level {
    LEVEL_DEBUG,
    LEVEL_INFO,
    LEVEL_NOTICE,
    LEVEL_WARNING,
    LEVEL_ERROR,
    LEVEL_CRITICAL,
    LEVEL_ALERT,
    LEVEL_EMERGENCY,
    LEVEL_NONE, /* no message has it: nothing is wanted */
};
void call_log(struct mcp_call *call, enum mcp_level level, const char *data_json);
bool call_logs(const struct mcp_call *call, enum mcp_level level); /* whether it wants these */

/* Only for clients that gave a token. `progress` must rise; `total` 0: unknown; message may be
 * NULL. */
void call_progress(struct mcp_call *call, int64_t progress, int64_t total, const char *message);
/* The client shall come back for the rest of this stream in so long; where it cannot, nothing
 * happens. */
void call_part(struct mcp_call *call, int retry_ms);

/* Our requests to the client, legacy revisions only. */
enum call_answer {
    CALL_ANSWERED, /* `json` is the result */
    CALL_REFUSED,  /* `json` is the error */
    CALL_GONE,     /* the call ended first; withdrawn where that can still be said */
};
typedef void call_answered(void *context, enum call_answer answer, const struct json *json);
/* NULL: this client takes no requests, nothing happens.
 * `done` is called once, unless it is withdrawn. */
struct call_question *call_ask(struct mcp_call *call, const char *method, const char *params_json,
                               call_answered *done, void *context);
void call_withdraw(struct call_question *question);

#endif
