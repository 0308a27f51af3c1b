/*
 * desk.h - what fronts and channels need: the desk at which agents ask and people answer.
 * The engine is one; in a process without an engine the wire's client side is another.
 *
 * A connection is a visit: it has one role and one identity for its whole life. Every act takes
 * its parameters as JSON (the wire's, docs/wire.md) and answers once through `done`, maybe before
 * it returns; after desk_leave nothing of that visit is called any more. Who has written them as
 * text calls desk_pass, because not every desk needs to read them.
 */
#ifndef PORTS_DESK_H
#define PORTS_DESK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "core/outcome.h"

struct desk;
struct desk_visit; /* the desk's own record of a visitor */
struct json;
struct text;

enum desk_role { ROLE_AGENT = 1, ROLE_PERSON = 2 };

/* Who stands at the desk. Borrowed for desk_enter only. */
struct desk_visitor {
    enum desk_role role;
    const char *via;            /* people: "cli" "terminal" "web" "api" "client" */
    int64_t uid, pid;           /* pid 0: no process is known, as over HTTP; uid -1: nor whose */
    uint64_t start;             /* of pid, so that a reused pid is another process; 0: not read */
    const char *tty;            /* "" without */
    const char *name, *version; /* what the client calls itself: a claim */
    const char *as_name;        /* --as NAME; NULL: none */
    const char *token;          /* what the person called the token it came with; NULL: none */
    const char *token_id;       /* its id; "" over HTTP without a token; NULL: a local process */
    const char *directory;      /* working directory; may be NULL */
    const char *language;       /* agents: what their asks are read in; NULL: not said */
    const char *transport; /* agents: how its client reaches us, "stdio"; NULL: it is no client */
    bool is_sub_agent;
    bool may_answer; /* a host: questions of its own conversations */
    void *context;   /* handed to all of these */
    /* Whose process it is, where finding that out costs something; NULL: said above. False:
     * unknown. Called once at most, when it counts. */
    bool (*locate)(void *context, int64_t *ret_uid, int64_t *ret_pid);
    /* A JSON-RPC notification as one line without the line end; the bytes are shared by all
     * visitors and live for the call. */
    void (*event)(void *context, const char *line, size_t length);
    /* The same by a desk that had to read it; NULL: `event` is called. */
    void (*message)(void *context, const char *method, const struct json *params);
};

/* A browser that stays signed in shows its id, and that it signed the hub's challenge at this port.
 */
struct desk_device {
    const char *id;
    int port;
    const char *challenge, *signature;
};

struct desk_reply {
    struct error err;       /* code ERROR_NONE: it worked */
    const char *json;       /* result, or data for the error; NULL: nothing to add */
    enum reply_kind kind;   /* submit, wait: what it is */
    const char *session_id; /* where one is concerned; else NULL */
};
typedef void desk_done(void *context, const struct desk_reply *reply);
typedef void desk_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                      desk_done *done, void *context);

struct desk_ops {
    struct desk_visit *(*enter)(struct desk *desk, const struct desk_visitor *visitor);
    void (*leave)(struct desk *desk, struct desk_visit *visit);
    /* Whether this visitor may do that (one of DESK_ACT or enum desk_hub_act). False: `err` has the
     * reason, wrong_role or not_allowed. NULL: the desk that these acts are passed to decides. */
    bool (*may)(struct desk *desk, const struct desk_visit *visit, size_t act,
                const struct json *params, struct error *err);
    /* An act by its words, which are passed on to where it is done; then there are no others here.
     * NULL: it is done here, and its words must be read first. */
    void (*pass)(struct desk *desk, struct desk_visit *visit, size_t act, const struct text *params,
                 desk_done *done, void *context);

    /* agents */
    /* {tool, arguments, wait_seconds?, tag?, client?, state?, responses?}: parks until decided */
    desk_act *submit;
    desk_act *wait; /* {session_id, wait_seconds, client?, interface?, explanation?} */
    /* {session_ids, with_notices?}: the agent has these results, and the notices in those */
    desk_act *delivered;
    desk_act *withdraw; /* {session_id} */
    desk_act *detach;   /* {session_id}: this visit waits for it no more */
    desk_act *cut_off;  /* {held_ms, timed_out?}: its client gave up on a call after so long */
    desk_act
        *client_result; /* {session_id, action, content?, shown_ms}: of the client's own form */
    desk_act *client_failed; /* {session_id, why}: it could not show it */
    desk_act *mine_list;     /* {which?, limit?}: its own asks */
    desk_act *mine_get;      /* {session_id}: one of them whole */
    /* {}: from now on events of changes; replies only when there will be no more. */
    desk_act *mine_follow;
    /* hosts of agents, and people who look on (docs/conversations.md) */
    desk_act *conversation_new;    /* {sub_agent?, key?} */
    desk_act *conversation_list;   /* {limit?, before?} */
    desk_act *conversation_get;    /* {conversation} */
    desk_act *conversation_say;    /* {conversation, event, body, version?} */
    desk_act *conversation_events; /* {conversation, after?, limit?} */
    /* {conversation}: from now on events of this visit tell that there is more of it */
    desk_act *conversation_follow;
    /* people */
    desk_act *answer, *cancel, *decline, *extend, *undo, *send_now, *draft, *switch_interface;
    desk_act *challenge; /* {session_id}: the code to type for a destructive ask */
    /* {session_id} or {launch, key}: as get, and a terminal shows it from now on */
    desk_act *attach;
    desk_act *list, *get, *watch;
    desk_act *history; /* {search?, via?, since_ms?, …}: looking back, with what was answered */
    desk_act *statistics; /* {days?} */
    desk_act *ask_back;   /* {session_id?, text, version?}: a question to the agent */
    /* {session_id?, any_prompt?}: to which asks this answer would have been given */
    desk_act *rule_preview;
    desk_act *rule_add;     /* {session_id?, any_prompt?, seconds?}: it stands for asks to come */
    desk_act *rule_list;    /* {} */
    desk_act *rule_remove;  /* {id}: whole, or its unique beginning */
    desk_act *rule_suggest; /* {}: what was answered again and again */
    /* {session_id, global_annotation?, and what an answer has}: of one that timed out */
    desk_act *tell;
    desk_act *unseen; /* {}: how many timed out and nobody looked, since the last visit */
    desk_act *seen;   /* {session_id?}: a person looks at that ask, or at what unseen says */
    desk_act *later;  /* {session_id?, seconds}: silent until then; 0: not any more */
    desk_act *hide;   /* {session_id?, option_id, hidden}: an option nobody wants to see */
    desk_act *settings_list, *settings_set;
    desk_act
        *token_new; /* {kind?, label?, expires_days?, sub_agent?, may_answer?}: its secret, once */
    desk_act *token_list;   /* {} */
    desk_act *token_revoke; /* {id}: whole, or its unique beginning */
    desk_act *portal_open; /* {session_id?, only_look?}: such an address, in the person's browser */
    desk_act *portal_link; /* {session_id?}: an address with which a browser signs in, once */
};
struct desk {
    const struct desk_ops *ops; /* the implementation's own struct begins with this */
};

/* An act as a value, for tables of methods and routes. */
#define DESK_ACT(member) offsetof(struct desk_ops, member)
static inline desk_act *desk_act_at(const struct desk *desk, size_t act)
{
    desk_act *found;

    memcpy(&found, (const char *)desk->ops + act, sizeof found);
    return found;
}
/* What the hub does itself, no desk; an act too, so that the desk decides who may. The first two
 * are for who has no visit yet: there the connection decides. */
enum desk_hub_act {
    DESK_HUB_HELLO = 1,
    DESK_HUB_PROVE, /* of pages alone */
    DESK_HUB_STATUS,
    DESK_HUB_STOP,
    DESK_HUB_RETIRE,
    DESK_HUB_ACTS
};
bool desk_may(struct desk *desk, const struct desk_visit *visit, size_t act,
              const struct json *params, struct error *err);
/* An act of a peer: done only if this visitor may, and not with a number that is out of range. The
 * path of that begins in an ask's arguments if it is there, as all paths about arguments do. */
void desk_serve(struct desk *desk, struct desk_visit *visit, size_t act, const struct json *params,
                desk_done *done, void *context);
/* With parameters that are written, not read: by the desk's own way. */
void desk_pass(struct desk *desk, struct desk_visit *visit, size_t act, const struct text *params,
               desk_done *done, void *context);

#endif
