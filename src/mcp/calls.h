/* calls.h - what the files of mcp/ share, grouped by file. */
#ifndef MCP_CALLS_H
#define MCP_CALLS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/jsonrpc.h"
#include "base/table.h"
#include "base/text.h"
#include "mcp/call.h"
#include "mcp/mcp.h"
#include "mcp/revision.h"
#include "rpc/service.h"

struct ask_tool;
struct tool_plan;

/* A session with the service: asks of one client name belong together. */
struct hub_session {
    struct hub_session *next;
    struct mcp *mcp;
    char *name, *version; /* owned; the version may be NULL */
    struct session *session;
    size_t uses;      /* calls, deliveries and subscriptions that point here */
    bool is_used;     /* the service was reached through it */
    bool is_followed; /* the service tells of changes */
    size_t subscription_count;
    /* after which its calls must be answered, as the service has learned; 0: unknown */
    int64_t hold_ms;
};

/* A final result that is on its way to the client. */
struct mcp_delivery {
    struct mcp_delivery *next;
    struct hub_session *session;
    char session_id[27];
    bool has_notices; /* which the client was shown */
};

enum { CANCELLED_KEPT = 8 };

struct mcp {
    struct mcp_parts parts;
    enum mcp_revision negotiated;       /* by initialize; until then the newest legacy one */
    char *client_name, *client_version; /* of initialize; NULL before */
    unsigned abilities;                 /* of initialize */
    char *ask_url;        /* of the last ask, without its id; NULL: shown nowhere, or not known */
    char *modern_name;    /* of the client that 2026-07-28 was last spoken with; NULL: none */
    enum mcp_level level; /* of log messages to a legacy client */
    struct hub_session *sessions;
    struct mcp_call *calls;
    struct table by_tag;
    size_t call_count;
    struct mcp_delivery *confirmed; /* the service has not been told yet */
    struct call_question *questions;
    struct mcp_subscription *subscriptions;
    size_t subscription_count;
    struct mcp_stream *standing; /* for what belongs to no request; NULL: none is open */
    /* Ids of calls that were cancelled last, in a ring; owned. Some clients come back for the
     * stream of such a call, which has ended without a response. */
    char *cancelled[CANCELLED_KEPT];
    size_t cancelled_next;
    int64_t next_tag, next_question;
    int64_t wake_boot_ms; /* what the clock was asked for; 0: nothing */
    struct text line;     /* the one being written; its memory is used again */
};

/* JSON-RPC batch, which only 2025-03-26 has: one array of responses once all are there. */
struct mcp_batch {
    struct text items;
    struct mcp_delivery *deliveries; /* in these items */
    size_t open; /* requests not answered yet, and the reading of the batch itself */
};

/* Where the response to a request goes. */
struct mcp_to {
    struct mcp *mcp;
    struct mcp_stream *stream; /* NULL: no response is wanted any more */
    struct mcp_batch *batch;   /* NULL: it came alone */
    const char *id_json;       /* NULL: it could not be read */
};

/* What a client that wants progress is told. */
struct call_progress {
    int64_t next_boot_ms; /* 0: nothing more */
    int64_t last;
    char token_json[];
};

/* Of calls that do their work themselves and do not wait for a person. */
struct call_work {
    char *subject; /* what is read; NULL: it is a tool's */
    char *binding; /* what state of this call is sealed for; NULL: not modern */
    char *state;   /* opened; NULL: none came */
    struct json *responses;
    void (*gone)(void *context);
    void *context;
    void (*leave)(struct mcp_call *call); /* replies when we leave; NULL: it is a tool's */
};

struct compat_call {
    const struct tool *tool;
    char *given; /* its arguments, as JSON */
};

/* One tools/call on its way. Thousands may wait for a person, so what those do not need is outside.
 */
struct mcp_call {
    struct mcp_call *next, *previous;
    struct table_link by_tag;
    const struct ask_tool *tool; /* NULL: it collects, whatever was asked */
    int64_t tag;
    struct mcp_to to;
    struct hub_session *session; /* NULL: it does not concern the service */
    int64_t started_boot_ms : 48;
    uint64_t revision : 8, abilities : 8; /* enum mcp_revision, enum ability */
    int64_t deadline_boot_ms : 48;        /* 0: not known yet */
    uint64_t level : 8;                   /* enum mcp_level */
    bool needs_session : 1;               /* which owes a reply */
    bool is_away : 1;                     /* its stream is paused */
    bool is_let_go : 1;                   /* it was, and the service will say `pending` for that */
    bool detaches_soon : 1;
    bool has_returned : 1; /* the client's form did, or is shown by another server's request */
    bool has_opened : 1;   /* its person agreed to look at an address of ours */
    struct call_progress *progress; /* NULL: none is wanted */
    struct call_work *work;         /* NULL: it waits for a person */
    struct shown_form *shown;       /* at the client, for the service; NULL: none */
    struct compat_call *compat;     /* of another server's tool; NULL: of one of ours */
    char *resume; /* with which its client may call again, sealed; NULL: it may not */
    int64_t hold_until_boot_ms : 48; /* from then on the client may give up */
    char session_id[27];
    char id_json[];
};

/* A request as the methods see it. */
struct mcp_request {
    struct mcp_to to;
    const char *method;
    const struct json *id, *params;
    const struct mcp_headers *headers; /* NULL: not HTTP */
    enum mcp_revision revision;
    const char *client_name, *client_version;
    unsigned abilities;
    enum mcp_level level;
};

typedef void mcp_method_call(struct mcp_request *request);
struct mcp_method {
    const char *name;
    mcp_method_call *call;
};

/* mcp.c */
int64_t mcp_boot_ms(const struct mcp *mcp);
/* What is known of the client that sends a request on this stream, apart from the request. */
struct mcp_request mcp_request_of(struct mcp *mcp, struct mcp_stream *stream);
/* By the row of its method, one of these or of both eras, or with an error where there is none:
 * `status` is that one's. */
void mcp_serve(struct mcp_request *request, const struct mcp_method *rows, size_t count,
               int status);

/* stream.c: what goes out */
void mcp_reply(const struct mcp_to *to, const char *result_json);
void mcp_reply_error(const struct mcp_to *to, int code, const char *message, const char *data_json);
/* The same where HTTP has a status for it. */
void mcp_refuse(const struct mcp_to *to, int status, int code, const char *message,
                const char *data_json);
/* Ends the object, sends it, and releases its text. */
void mcp_notify(const struct mcp_to *to, const char *method, struct json_writer *params);
void mcp_ask_client(const struct mcp_to *to, const char *id, const char *method,
                    const char *params_json);
void mcp_open(const struct mcp_to *to); /* one more response will come */
void mcp_skip(const struct mcp_to *to); /* it will not: the request was cancelled */
/* The client is gone, and so is one of the requests this batch waits for. */
void mcp_drop_batch(struct mcp_batch *batch);
/* The frame of results. */
struct json_writer result_begin(enum mcp_revision revision, struct text *out);
void result_end(struct json_writer *writer, enum mcp_revision revision, enum call_cache cache);
void result_reply(struct mcp_request *request, struct json_writer *writer, enum call_cache cache);

/* hub_session.c */
/* NULL: the client has given itself too many names. */
struct hub_session *hub_session_get(struct mcp_request *request);
void hub_session_use(struct hub_session *session); /* before it is called through it */
void hub_session_leave_all(struct mcp *mcp);
char *hub_session_short_name(const char *name); /* as much of it as counts; the caller frees */
void delivery_add(struct mcp_delivery **list, struct hub_session *session, const char *session_id,
                  bool has_notices);
void delivery_move(struct mcp_delivery **from, struct mcp_delivery **to);
void delivery_return(const struct mcp_delivery *list);
void delivery_drop(struct mcp_delivery **list);
void delivery_confirm(struct mcp_delivery **list);

/* revision.c: what a client says it can do */
unsigned ability_read(const struct json *capabilities, enum mcp_revision revision);
void ability_write(struct json_writer *writer, const char *key, unsigned abilities);

/* mcp/legacy.c and mcp/modern.c: the only two ways a request is served */
void legacy_serve(struct mcp_request *request);
void modern_serve(struct mcp_request *request);

/* mcp.c: what others who serve this session must know; `rest` "": nothing more */
#define NOTE_LEVEL      "level"
#define NOTE_SUBSCRIBED "subscribed"
#define NOTE_CANCELLED  "cancelled"
void session_state(struct mcp *mcp, const char *word, const char *rest, const char *value);

/* takeover.c: what another server of this session began */
/* Its ask will have a name in a moment. */
void takeover_expect(struct mcp_call *call);
/* The ask of this call has one, or its form is about to be shown: its stream is told what its
 * client can come back with. */
void takeover_send_stream(struct mcp_call *call);
/* What the id of a form carries; NULL: nothing. The caller frees. */
char *takeover_seal_form(const struct mcp *mcp, const char *session_id, bool is_url);
void takeover_take_response(struct mcp *mcp, const char *sealed,
                            const struct jsonrpc_message *message);

/* features.c: methods that both eras have, or nearly */
mcp_method_call prompts_list, prompts_get;
mcp_method_call resources_list, resources_list_templates, resources_read;
const char *resources_read_uri(struct mcp_request *request);         /* NULL: refused */
void resources_refuse(struct mcp_request *request, const char *uri); /* there is none */
mcp_method_call complete;
mcp_method_call logging_set_level;
bool logging_read_level(const char *name, enum mcp_level *ret_level); /* NULL is none */
void logging_take_state(struct mcp *mcp, const char *rest, const char *value);

/* subscribe.c: who wants to hear that a resource changed */
mcp_method_call subscribe, unsubscribe, listen_to;
void subscribe_tell(struct hub_session *session, const char *uri); /* NULL: whichever changed */
/* Once the session is used: from now on what changes is watched for those who subscribed. */
void subscribe_follow(struct hub_session *session);
void subscribe_drop_all(struct mcp *mcp);
void subscribe_take_state(struct mcp *mcp, const char *uri, const char *value);

/* asks.c: the product's own resources */
void asks_take_event(struct hub_session *session, const char *method, const struct json *params);

/* content.c: what both eras say alike */
/* What is asked for often and never another is written once for each offer and list of
 * tools, and once more for sub-agents. */
struct content_made {
    const struct mcp_features *features[2];
    char *tools[2];
    struct text json[2];
};
const char *content_make(struct content_made *made, const struct mcp_request *request,
                         void (*write)(struct json_writer *writer,
                                       const struct mcp_request *request));
extern const char content_instructions[]; /* names no tool that may not be listed */
void content_write_server_info(struct json_writer *writer, const char *key, bool has_title);
void content_write_capabilities(struct json_writer *writer, enum mcp_revision revision);
/* tools/list, as the request's revision has it. */
void content_write_tools(struct json_writer *writer, const struct mcp_request *request);

/* tool_call.c: tools/call, and the service */
mcp_method_call tool_call;
/* `context` is a hub session. */
void tool_on_event(void *context, const char *method, const struct json *params);
/* One act of the service with parameters written by us: ends the object and releases its text.
 * `done` NULL: whatever comes of it. */
void tool_act(enum method method, struct hub_session *session, struct json_writer *params,
              reply_done *done, void *context);
/* this ask alone */
void tool_act_on(enum method method, struct hub_session *session, const char *session_id);
void tool_detach(struct mcp_call *call);
void tool_wait_again(struct mcp_call *call);
/* Waits for the ask it names. What is to be said or done first is in `plan`; NULL: nothing. A
 * command that opens the ask in a terminal is sent immediately. */
void tool_wait(struct mcp_call *call, int64_t wait_s, const struct tool_plan *plan);
void tool_refuse_busy(struct mcp_request *request);
/* The service did not even say `pending`: the client must hear something before it gives up. */
void tool_reply_pending(struct mcp_call *call);
/* Writes the result object of a tools/call: text and structured content each complete. */
void tool_write_result(struct text *out, enum mcp_revision revision, const char *structured_json,
                       bool is_error);

/* call.c: the calls under way */
void call_set_compat(struct mcp_call *call, const struct tool *tool, const struct json *given);
struct mcp_call *call_begin(struct mcp_request *request, struct hub_session *session);
struct mcp_call *call_find(struct mcp *mcp, int64_t tag);
void call_end(struct mcp_call *call); /* unlinked and freed; whatever was to be said has been */
/* Its response is about to be written: it lets go of its stream first. Then it is settled: gone,
 * unless the service owes a reply. */
struct mcp_to call_let_go(struct mcp_call *call);
void call_settle(struct mcp_call *call);
struct call_work *call_work(struct mcp_call *call); /* made at its first use */
void call_cancel(struct mcp *mcp, const struct json *request_id, const char *reason);
void call_take_state(struct mcp *mcp, const char *id_json, const char *reason);
bool call_was_cancelled(const struct mcp *mcp, const char *id_json); /* lately */
void call_drop_all(struct mcp *mcp);
/* It was given up before its ask had a name. Others that made the same call learn that name in a
 * moment, and while they want the ask it stays attached. */
void call_detach_soon(struct mcp_call *call);
void call_detach_due(struct mcp *mcp);
/* Requests beside tools/call that may be answered later; NULL: refused. */
struct mcp_call *run_begin(struct mcp_request *request, const struct json *arguments,
                           bool needs_session);
void run_settle(struct mcp *mcp, int64_t tag); /* the call may already be answered */

/* hold.c: calls that are held open */
int64_t hold_limit_s(const struct mcp_call *call);
void hold_begin(struct mcp_call *call, int64_t hold_s);
/* From now on until then; for clients whose clock stood still, and runs again. */
void hold_until(struct mcp_call *call, int64_t boot_ms);
void hold_end(struct mcp_call *call); /* neither progress nor patience any more */
/* The service knows how long this client really waits: {hold_ms}. */
void hold_take(struct hub_session *session, const struct json *params);
/* The client gave up on a call, for the reason it gives; NULL: for none. */
void hold_report_cut_off(const struct mcp_call *call, const char *reason);
void hold_wake_at(struct mcp *mcp, int64_t boot_ms);
void hold_on_time(struct mcp *mcp);
/* Rounds of a call that is held longer than its client waits. */
/* What the client came back with, NULL: nothing. False: refused. */
bool resume_read(struct mcp_request *request, const struct tool_plan *plan, const char **ret_state);
void resume_write(const struct mcp_call *call, const char *state, struct json_writer *writer);
void resume_learn(struct mcp_call *call, const struct json *params);
/* The client is told to come back, or that its state is none. False: this reply is for the agent.
 */
bool resume_reply(struct mcp_call *call, const struct reply *reply);

/* question.c: our requests to the client */
/* As call_ask; its id carries `carried`, letters that JSON needs not escape; NULL: nothing. */
struct call_question *question_ask(struct mcp_call *call, const char *carried, const char *method,
                                   const char *params_json, call_answered *done, void *context);
void question_take_response(struct mcp *mcp, const struct jsonrpc_message *message);
void question_drop_of(struct mcp_call *call);

/* form.c: the client's own form, as the service wants it shown (R4.2) */
/* The member `client` of an act that waits, of a client that can show forms. */
void mcp_form_write_client(struct json_writer *writer, const struct mcp_call *call);
/* A form comes back: a result, or an error. */
struct form_return {
    char session_id[27];
    bool is_url;
    int64_t shown_ms; /* for so long */
};
void mcp_form_return(struct hub_session *session, const struct form_return *form, bool is_error,
                     const struct json *json);
void mcp_form_present(struct hub_session *session, const struct json *params);
void mcp_form_withdraw(struct hub_session *session, const struct json *params);
/* The result is about to be told to a client that opened an address: the person is done there. */
void mcp_form_finish(const struct mcp_call *call);
/* Modern: the reply says what is needed of the client. False: it says something else. */
bool mcp_form_need_input(struct mcp_call *call, const char *reply_json);
/* The member `response`: what came back with a call from the client's own form. */
void mcp_form_write_returned(struct json_writer *writer, const struct json *params);

/* mcp/modern.c: input_required rounds */
/* Sets what the client brought back of an earlier round. False: refused, and the call is gone. */
bool input_read(struct mcp_request *request, const struct json *arguments, struct mcp_call *call);
/* Answers it with what is needed, NULL: nothing, and with state that is sealed already. */
void input_reply(struct mcp_call *call, const char *requests_json, const char *sealed);

#endif
