/* call.h - what the files of http/rest offer each other, grouped by file. */
#ifndef HTTP_REST_CALL_H
#define HTTP_REST_CALL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_writer.h"
#include "base/table.h"
#include "base/text.h"
#include "core/ask.h"
#include "http/rest/rest.h"
#include "net/guard.h"
#include "rpc/service.h"

struct call;

/* shapes.c: JSON as the document describes it, a row each. A shape is a row, and those of its
 * members behind it. The shape of a body also says what is refused. */
enum member_type {
    MEMBER_NONE,
    MEMBER_TEXT,
    MEMBER_TIME, /* 2026-11-15T12:00:00.000Z */
    MEMBER_ID,
    MEMBER_INTEGER,
    MEMBER_BOOL,
    MEMBER_ANY_OBJECT,
    MEMBER_TEXT_BY_NAME, /* an object whose values are texts */
    MEMBER_TYPES,        /* behind them the shapes */
    SHAPE_ANSWER = MEMBER_TYPES,
    SHAPE_NOTE,
    SHAPE_SECONDS,
    SHAPE_QUESTION,
    SHAPE_SAID,
    SHAPE_NOTHING,
    SHAPE_ACTOR,
    SHAPE_ASK,
    SHAPE_LIST,
    SHAPE_WHOLE,
    SHAPE_RECEIPT,
    SHAPE_WINNER,
    SHAPE_ERROR,
    SHAPE_PROBLEM,
    SHAPE_MISTAKE,
    SHAPE_HEALTH,
    SHAPE_INDEX,
    SHAPE_NEW_CONVERSATION,
    SHAPE_TOOL_CALL,
    SHAPE_TURN,
    SHAPE_TOOL_RESULT,
    SHAPE_ATTEMPT,
    SHAPE_RESPONSE,
    SHAPE_EFFECT,
    SHAPE_CONVERSATION,
    SHAPE_CONVERSATION_LIST
};
enum member_flags {
    NEEDED = 1,
    OR_NULL = 2,
    ONE_OF = 4,  /* of the members marked so at least one is needed */
    EACH = 8,    /* a list of such */
    SHAPE = 16,  /* the members follow */
    CLOSED = 32, /* of a shape: what is not named is refused */
};
struct member {
    const char *name;
    enum member_type type;
    unsigned flags;
    const char *about;
};
extern const struct member members[];                      /* all shapes; the last has no name */
const struct member *shape_find(enum member_type shape);   /* its own row */
const struct member *shape_next(const struct member *row); /* a member; NULL: no more */
bool shape_has(enum member_type shape, unsigned flag);
/* Unknown, missing: the field by its JSON pointer. The code that uses a value checks it. */
bool shape_check(enum member_type shape, const struct json *body, struct error *err);

/* operations.c: one row a route */
enum parameter_id {
    PARAMETER_ID,
    PARAMETER_WAIT,
    PARAMETER_STATUS,
    PARAMETER_AGENT,
    PARAMETER_LIMIT,
    PARAMETER_PAGE,
    PARAMETER_BEFORE,
    PARAMETER_IF_MATCH,
    PARAMETER_IF_NONE_MATCH,
    PARAMETER_KEY,
    PARAMETER_AFTER,
    PARAMETER_LAST_EVENT,
    PARAMETER_COUNT,
};
struct parameter {
    const char *name;
    const char *place; /* "path" "query" "header" */
    enum member_type type;
    int64_t min, max; /* of a number; 0 and 0: none */
    const char *about;
};
struct rest_operation {
    const char *method, *path, *id, *summary;
    enum guard_access access;
    unsigned parameters;    /* a bit each */
    enum member_type body;  /* 0: none is taken */
    enum member_type reply; /* 0: the type below is all there is to say */
    const char *reply_type;
    const char *statuses; /* beside 200; "400 401 …" */
    void (*serve)(struct call *call);
    enum method calls; /* of the service; METHOD_COUNT: `serve` does it all */
    const char *said;  /* conversations: the event it is */
};
extern const struct rest_operation operations[];
extern const size_t operation_count;
extern const struct parameter parameters[PARAMETER_COUNT];
static inline bool operation_takes(const struct rest_operation *operation, unsigned parameter)
{
    return operation->parameters >> parameter & 1;
}

/* rest.c */
struct rest {
    struct rest_parts parts;
    struct guard_route *routes; /* owned; made of the operations */
    struct text document;       /* OpenAPI; made at its first use */
    int64_t began_ms;           /* boot clock */
    /* asks.c: calls that wait for a change, found by the ask's id */
    struct table polls;
    struct session *watcher; /* NULL: no look waits */
    struct call *due;
    struct loop_timer *timer;
    int64_t timer_ms; /* -1: not set */
    bool is_draining;
    /* conversations.c */
    struct listening *listenings, *listenings_due;
    struct loop_timer *listening_timer;
};

/* One exchange. It ends with its reply, or when its peer leaves before that. */
struct call {
    struct rest *rest;
    struct http_exchange *exchange;
    const struct rest_operation *operation;
    struct session *session; /* NULL: this one needs no service */
    char id[ASK_ID_BYTES];   /* of {id}; "" where there is none */
    char label[129];         /* of the token */
    char token_id[17];
    bool is_person, is_sub_agent, may_answer;
    struct listening *listening; /* NULL: it is none */
    /* a look that may wait */
    struct table_link link;
    bool is_watched, is_reading, is_due, may_wait;
    bool has_known;    /* the peer said which version it has */
    int64_t heard;     /* version that was told while it was read; 0: none */
    int64_t version;   /* the one it is to change from */
    int64_t until_ms;  /* boot clock */
    struct call *next; /* of those due */
};
/* Opens a session of a person; fills in what is the same for all who come this way. */
struct session *rest_enter(struct rest *rest, struct identity *identity);
/* The process at the other end of a call. */
bool rest_locate(void *context, int64_t *ret_uid, int64_t *ret_pid);
/* Calls a method for this exchange, in the session it has or else as a person; `writer` gets its
 * end. */
void rest_call_method(struct call *call, enum method method, struct json_writer *writer,
                      struct text *take_params, reply_done *done, void *context);
/* Ends the call, as does everything below that replies. */
void rest_call_reply(struct call *call, int status, const char *type, const char *body,
                     size_t length);
/* Of HTTP; `detail` may be NULL, else it is about an ask. */
int rest_status_of(const struct error *err, const struct json *detail);
void reply_json(struct call *call, int status, const char *json, size_t length);
void reply_error(struct call *call, const struct error *err, const char *detail_json);
/* As it stands outside the body: a parameter or a header. */
void reply_bad_parameter(struct call *call, enum error_code code, const char *name,
                         const char *message);
void reply_etag(struct call *call, int64_t version);
bool call_knows_id(struct call *call); /* false: refused, its path names nothing of ours */
void reply_gone(struct call *call, const struct error *err); /* it was there: 410 */

/* asks.c: what stands around the body; false: refused already */
bool query_check(struct call *call);
/* `otherwise` where it is absent. */
bool query_integer(struct call *call, enum parameter_id id, int64_t fallback, int64_t *ret_number);

/* asks.c, rest.c, openapi.c: what the rows do */
void serve_act(struct call *call);
void serve_list(struct call *call);
void serve_look(struct call *call);
void serve_index(struct call *call);
void serve_health(struct call *call);
void serve_readiness(struct call *call);
void serve_metrics(struct call *call);
void serve_document(struct call *call);
void openapi_write(struct text *out);

/* asks.c */
/* Of a list: a page with the way to the next; `context` is the call. */
void look_listed(void *context, const struct reply *reply);
/* False: refused already. */
bool act_read_body(struct call *call, struct json **ret_body);
bool act_read_conditions(struct call *call, int64_t *ret_version, const char **ret_key);
void poll_watch(struct call *call); /* its ask is about to be read */
void poll_park(struct call *call);  /* nothing new was found */
void poll_unpark(struct call *call);
void poll_on_timer(void *context);

/* conversations.c */
void serve_conversation_new(struct call *call);
void serve_conversation_list(struct call *call);
void serve_conversation_get(struct call *call);
void serve_conversation_say(struct call *call);
void serve_conversation_events(struct call *call);
void listening_free(struct listening *listening); /* NULL is fine */
void listening_go_on(struct call *call);          /* its peer has taken what there was */
void listenings_flush(struct rest *rest);
void listenings_drain(struct rest *rest);
void listenings_on_timer(void *context);

#endif
