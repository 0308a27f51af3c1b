/* mcp_fixture.h - a server of the protocol with a service and a clock set by hand, and streams that
 * remember what was said on them. */
#ifndef MCP_FIXTURE_H
#define MCP_FIXTURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "mcp/mcp.h"
#include "rpc/service.h"

struct json;

enum { STAGE_LINES = 32, STAGE_ACTS = 16, STAGE_TOLD_BYTES = 256 };

/* A client's end of a stream. */
struct stage_stream {
    struct mcp_stream mcp; /* first */
    char *lines[STAGE_LINES];
    enum mcp_kind kinds[STAGE_LINES];
    int statuses[STAGE_LINES];
    size_t count;
    size_t waits, finished;
    char *state;   /* with which its call goes on elsewhere; NULL: it can't */
    size_t states; /* how often it was told one */
};

/* What the service was asked and has not answered. */
struct stage_act {
    reply_done *done;
    void *context;
    struct session *session;
    char tag[24], session_id[27];
    int64_t wait_s;
    bool resumes;
    bool has_state;
    char state[64]; /* its client came back with; "" without */
    char arguments[STAGE_TOLD_BYTES];
    char client[96], response[STAGE_TOLD_BYTES]; /* as JSON; "": none */
};

struct stage {
    struct clock clock; /* first */
    struct service service;
    struct mcp *mcp;
    int64_t now_ms, wake_ms;
    bool is_slow; /* who detaches is answered when the test does */
    struct stage_act acts[STAGE_ACTS];
    size_t act_count, submits, waits, detaches;
    size_t delivered, deliveries; /* results, and how often the service was told */
    size_t cut_offs;
    size_t looks, follows;
    int64_t held_ms;   /* of the last of those */
    char detached[27]; /* the last */
    size_t form_results, form_failures;
    char form_told[STAGE_TOLD_BYTES]; /* params of the last of these, as far as there is room */
};

bool mcp_is_idle(const struct mcp *mcp); /* no call and no delivery on its way */
void stage_open(struct stage *stage, const struct mcp_parts *parts); /* others are filled in */
void stage_close(struct stage *stage);
void stage_stream_init(struct stage_stream *stream);
void stage_stream_release(struct stage_stream *stream);
void stage_part(struct stage *stage, struct stage_stream *stream); /* gone, and released */

void stage_take(struct stage *stage, struct stage_stream *stream, const char *line);
void stage_take_http(struct stage *stage, struct stage_stream *stream,
                     const struct mcp_headers *headers, const char *line);
/* The handshake, on a stream of its own. */
void stage_shake_hands(struct stage *stage, const char *revision, const char *capabilities_json);

/* The service names the ask of an act, and answers it. */
void stage_name(struct stage *stage, size_t index, const char *session_id);
/* The same, and gives state for the client to come back with. */
void stage_name_with(struct stage *stage, size_t index, const char *session_id, const char *state);
void stage_answer(struct stage *stage, size_t index, bool is_final);
void stage_reply(struct stage *stage, size_t index, const struct reply *reply);
void stage_tell(struct stage *stage, size_t index, const char *line); /* to its session */
void stage_refuse_state(struct stage *stage, size_t index);
void stage_tell_hold(struct stage *stage, size_t index,
                     int64_t hold_ms);            /* as the service learned */
void stage_pass(struct stage *stage, int64_t ms); /* time, with the wake-up that is due */

/* A line of a stream, parsed; the caller frees. Fails where there is none. */
struct json *stage_line(const struct stage_stream *stream, size_t index);

/* The id, as JSON, of the form that stands there on a call's stream; the caller frees. */
char *stage_asked_id(const struct stage_stream *stream, size_t index);
/* The client responds to a request of ours: `rest` is "result":… or "error":…. */
void stage_respond(struct stage *stage, struct stage_stream *stream, const char *id_json,
                   const char *rest);

extern const char stage_ask[]; /* good arguments of provide_choice */

#endif
