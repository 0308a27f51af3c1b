/* inside.h - what the files of mcp/ share. */
#ifndef MCP_INSIDE_H
#define MCP_INSIDE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/jsonrpc.h"
#include "base/text.h"
#include "mcp/mcp.h"
#include "mcp/revision.h"
#include "ports/clock.h"
#include "ports/desk.h"

struct ask_tool;
struct json;
struct json_writer;

/* An identity at the desk: asks of one client name belong together. */
struct mcp_visit {
    struct mcp_visit *next;
    struct mcp *mcp;
    char *name; /* owned */
    struct desk_visit *visit;
    size_t uses; /* calls and deliveries that point here */
    int64_t
        hold_ms; /* after which its calls must be answered, as the desk has learnt; 0: unknown */
};

/* A final result that is on its way to the client. */
struct mcp_delivery {
    struct mcp_delivery *next;
    struct mcp_visit *visit;
    char session_id[27];
};

struct mcp {
    struct mcp_parts parts;
    enum mcp_revision negotiated;       /* by initialize; until then the newest legacy one */
    char *client_name, *client_version; /* of initialize; NULL before */
    struct mcp_visit *visits;
    struct mcp_call *calls;
    size_t call_count;
    struct mcp_delivery *deliveries; /* in lines that are not written yet */
    struct text out;                 /* lines of this turn, written together */
    struct mcp_batch *batch; /* whose responses are being collected; NULL: each goes out alone */
    int64_t next_tag;
};

/* JSON-RPC batch, which only 2025-03-26 has: one array of responses once all are there. */
struct mcp_batch {
    struct text items;
    struct mcp_delivery *deliveries; /* in these items */
    size_t open; /* requests not answered yet, and the reading of the batch itself */
};

/* One tools/call on its way. */
struct mcp_call {
    struct mcp_call *next, *previous;
    struct mcp *mcp;
    struct mcp_visit *visit;
    struct mcp_batch *batch; /* NULL: it came alone */
    bool is_over; /* cancelled or answered without the desk, which still owes its reply */
    const struct ask_tool *tool; /* NULL: it collects, whatever was asked */
    char *id_json;
    enum mcp_revision revision;
    char *token_json; /* progressToken; NULL: none */
    int64_t tag;
    int64_t started_boot_ms, deadline_boot_ms; /* the latter 0: not known yet */
    int64_t next_progress_boot_ms;             /* 0: no progress wanted */
    int64_t patience_boot_ms;                  /* from then on the client may give up; 0: over */
    int64_t last_progress_s;
    char session_id[27];
};

/* A request as the methods see it. */
struct mcp_request {
    struct mcp *mcp;
    const char *method;
    const struct json *id, *params;
    char *id_json; /* NULL: a notification */
    enum mcp_revision revision;
    const char *client_name, *client_version;
};

typedef void mcp_method_call(struct mcp_request *request);
struct mcp_method {
    const char *name;
    mcp_method_call *call;
};

/* visit.c */
/* NULL: the client has given itself too many names. */
struct mcp_visit *visit_get(struct mcp_request *request);
void visit_leave_all(struct mcp *mcp);
void delivery_add(struct mcp_delivery **list, struct mcp_visit *visit, const char *session_id);
void delivery_move(struct mcp_delivery **from, struct mcp_delivery **to);
void delivery_drop(struct mcp_delivery **list);
void delivery_confirm(struct mcp *mcp);

/* mcp.c */
void mcp_reply(struct mcp *mcp, const char *id_json, const char *result_json);
void mcp_reply_error(struct mcp *mcp, const char *id_json, int code, const char *message,
                     const char *data_json);
void mcp_notify(struct mcp *mcp, const char *method, const char *params_json);
/* By the row of its method, or with an error where there is none. */
void mcp_serve(struct mcp_request *request, const struct mcp_method *methods, size_t count);
/* A cancelled request of a batch is answered by nothing. */
void mcp_skip(struct mcp *mcp, struct mcp_batch *batch);
/* The client is gone, and so is one of the requests this batch waits for. */
void mcp_drop_batch(struct mcp_batch *batch);
void mcp_flush(struct mcp *mcp);

/* legacy/methods.c and modern/methods.c: the only two ways a request is served */
void legacy_serve(struct mcp_request *request);
void modern_serve(struct mcp_request *request);

/* content.c: what both eras say alike */
/* The list of tools as the revision knows it; who calls this keeps the bytes. */
void content_write_tools(struct json_writer *writer, enum mcp_revision revision);
extern const char content_instructions[];
void content_write_server_info(struct json_writer *writer, const char *key, bool has_title);
void content_write_prompts(struct json_writer *writer);
/* False: there is no such prompt. */
bool content_write_prompt(struct json_writer *writer, const char *name);

/* hold.c: calls that are held open */
int64_t hold_limit_s(const struct mcp_visit *visit);
void hold_begin(struct mcp_call *call, int64_t hold_s, const struct json *progress_token);
void hold_end(struct mcp_call *call); /* neither progress nor patience any more */
/* The desk knows how long this client really waits: {hold_ms}. */
void hold_take(struct mcp_visit *visit, const struct json *params);
/* The client gave up on a call, for the reason it gives; NULL: for none. */
void hold_report_cut_off(const struct mcp_call *call, const char *reason);
void hold_on_time(struct mcp *mcp);

/* tool_call.c */
mcp_method_call tool_call;
void tool_cancel(struct mcp *mcp, const struct json *request_id, const char *reason);
void tool_drop_calls(struct mcp *mcp);
void tool_on_event(struct mcp_visit *visit, const char *line, size_t length);
/* One act of the desk with parameters written by us; `done` NULL: whatever comes of it. */
void tool_act(desk_act *chosen, struct mcp_visit *visit, const struct text *params, desk_done *done,
              void *context);
/* The desk did not even say `pending`: the client must hear something before it gives up. */
void tool_reply_pending(struct mcp_call *call);
/* Writes the result object of a tools/call: text and structured content each complete. */
void tool_write_result(struct text *out, enum mcp_revision revision, const char *structured_json,
                       bool is_error);

#endif
