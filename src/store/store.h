/*
 * store.h - the port behind which asks, answers and settings are kept: one user's SQLite file, or a
 * PostgreSQL database that several hubs share.
 *
 * Every function takes a completion that runs on the loop's thread, exactly once; reads may run it
 * before they return, writes never do. Lists call `each` for every row and once more without one:
 * that is the end of it, and `err` then says why it is not complete, or is NULL. What a completion
 * is handed is borrowed for its length. Writes are grouped into transactions; a write is durable as
 * asked for (needs_sync) before its completion runs. After STORE_FAILED nothing of that write is
 * there. One conditional update decides every race: a change names the states it may start from,
 * and who comes too late gets STORE_LOST with the row as it stands.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/ask.h"

struct search_terms;
struct store;

enum store_outcome {
    STORE_DONE,
    STORE_LOST,     /* the row is in another state or version; reply.row says which */
    STORE_REPEATED, /* this answer_key was stored before; reply.row has that ask and answer */
    STORE_MISSING,  /* no such ask */
    STORE_FAILED,   /* reply.err: storage_failed; nothing was stored */
};

/* An ask and, where a person decided, the decision. */
struct store_row {
    struct ask ask;
    const char *answer_json; /* NULL: no one decided (open, timeout, withdrawn) */
    const char *answer_key;
    const char *actor_json; /* who decided; NULL likewise */
    int64_t answered_ms;
    int64_t seq;    /* of the newest event of this ask */
    int64_t number; /* in the order of creation; for store_list_query */
};

struct store_reply {
    enum store_outcome outcome;
    struct error err; /* set with STORE_FAILED */
    const struct store_row
        *row;    /* get, find; change: the row afterwards, unless skipped; else NULL */
    int64_t seq; /* writes: number of the event written */
};
typedef void store_done(void *context, const struct store_reply *reply);

/* Whose ask it is; inserted with an ask where it is not there. */
struct store_principal {
    const char *id;   /* PRINCIPAL_BYTES - 1 hex characters */
    const char *kind; /* "local", "token", "http" */
    int64_t uid;
    const char *name;  /* claimed name, or --as NAME */
    const char *place; /* working directory or token label; may be NULL */
};
/* STORE_REPEATED: ask->joins, and another hub has one of the same call (by its key, or by its
 * digest) that is open or whose answer no agent has heard yet; nothing was made, and of reply.row
 * only the id is to be relied on. STORE_LOST: so it is, but its key stood for other words. */
struct store_create {
    struct ask ask;
    struct store_principal principal; /* its id is NULL: it is there already */
};
/* Marks of an open ask that are no events, such as that people were told. STORE_LOST: it has
 * them so already, or is over: of all who share the store one does what a mark stands for. */
struct store_mark {
    const char *ask_id;
    uint32_t set_flags, clear_flags;
};
/* One draft per ask and person; last write wins. */
struct store_draft {
    const char *ask_id, *person;
    const char *json; /* "" removes it */
    int64_t now_ms;
};
struct store_setting {
    const char *person, *name;
    const char *value; /* NULL removes it */
};
struct store_meta {
    const char *name, *value;
};

/* A token by its hash; the secret itself is nowhere. */
struct store_token {
    uint8_t hash[32];
    const char *kind;  /* "agent" "person" "tab" "device" "host" */
    const char *label; /* what the person calls it */
    bool is_sub_agent, may_answer;
    int64_t created_ms, expires_ms; /* expires_ms 0: never */
    int64_t used_ms;                /* about when it was used last; 0: never */
    const char *browser; /* a device: "ORIGIN KEY", where it signs and with what; NULL: a secret */
};
typedef void store_token_each(void *context, const struct store_token *token);
/* STORE_MISSING: there is none, or it was revoked before. */
struct store_token_use {
    uint8_t hash[32];
    int64_t now_ms; /* when it was used, or is revoked */
};

/* An answer that stands for asks to come (core/rule.h). STORE_LOST: one of its kind is in force. */
struct store_rule {
    const char *id;         /* 26 characters, as an ask's */
    uint8_t kind[32];       /* hash of what those asks have in common */
    const char *facts_json; /* the same for people to read, and from which ask it comes */
    const char *answer_json;
    const char *actor_json; /* who let it stand */
    int64_t created_ms, expires_ms;
};
typedef void store_rule_each(void *context, const struct store_rule *rule);
/* STORE_MISSING: there is none, or it was revoked before. */
struct store_rule_revoke {
    const char *id;
    int64_t now_ms;
};

/* A secret of the server's own, kept so that what it sealed outlives a restart. */
struct store_key {
    int64_t id;          /* given by the store, as reply.seq: 1 and more */
    const char *purpose; /* "request_state" */
    uint8_t secret[32];
    int64_t created_ms;
};
typedef void store_key_each(void *context, const struct store_key *key);
/* A program that agents reach us with, as it calls itself. */
struct store_client {
    const char *name, *version, *transport;
};
/* After how long it gives up on a call (core/ask.h), or what is known of its form
 * (core/fields/field_class.h). The number of clients is bounded: where there are too many, it is
 * not kept.
 */
struct store_client_fact {
    struct store_client client; /* no name: when they give up is forgotten of all */
    bool is_form;
    int64_t fact;
};

/* A conversation of an agent host (core/conversation.h); `body` is the machine as JSON. */
struct store_conversation {
    const char *id, *principal;
    const char *token_id, *label; /* of the host's token */
    const char *state;            /* the name of the machine's */
    const char *body;
    const char *ask_id, *earlier_ask_id; /* of its newest question and the one before; "": none */
    const char *key; /* the host's own, made once for an attempt to create it; NULL: none */
    int64_t version, created_ms, changed_ms;
    int64_t last_event; /* events are numbered from 1 */
};
typedef void store_conversation_each(void *context, const struct store_conversation *conversation,
                                     const struct error *err);
/* With its first events, as in a step. STORE_REPEATED: this principal made one with this key;
 * STORE_LOST: it has too many, and none is idle. */
struct store_new_conversation {
    struct store_conversation conversation;
    struct store_principal principal;
    const char *events;
};
/* What happened in it, "KIND BODY" a line, in order; BODY is one line of JSON. STORE_LOST: it has
 * another version by now. reply.seq is the number of the last event. */
struct store_conversation_step {
    const char *id;
    int64_t if_version;
    const char *state, *body, *ask_id, *earlier_ask_id, *events;
    int64_t now_ms;
    const char *delivered_ask; /* its answer went into this step; NULL: none did */
    uint32_t delivered_states; /* bits of enum ask_state: in these it can be */
};
struct store_conversation_query {
    const char *principal; /* NULL: any */
    const char *state;     /* NULL: any */
    const char *before_id; /* only those made before this one; NULL: from the newest on */
    size_t limit;
};
struct store_conversation_event {
    int64_t number;
    const char *kind, *body;
};
typedef void store_conversation_event_each(void *context,
                                           const struct store_conversation_event *event,
                                           const struct error *err);
enum {
    STORE_CONVERSATIONS = 1000,          /* of one principal; idle ones make room */
    STORE_CONVERSATION_EVENTS = 1024,    /* of one, the newest; */
    STORE_CONVERSATION_BYTES = 16777216, /* and of no more bytes than these */
};

enum store_when {
    STORE_ANY_TIME,
    STORE_PAST_DEADLINE,   /* once the ask's deadline has passed */
    STORE_BEFORE_DELIVERY, /* while its answer is held back, and was not delivered */
    STORE_ABANDONED, /* its agent was not seen to leave, but the hub where it waited is gone */
};

/* Numbers that are STORE_KEEP, and texts that are NULL, leave the column alone. */
enum { STORE_KEEP = -1 };
struct store_change {
    const char *ask_id;
    int64_t seq;           /* of its newest event; 0: not known */
    const char *more_ids;  /* EVENT_DELIVERED: of other asks, a space between; NULL: none */
    const char *principal; /* only if the ask is this principal's, else STORE_MISSING; NULL: any */
    enum ask_event event;
    uint32_t from_states; /* bits of enum ask_state */
    int64_t if_version;   /* 0: any */
    bool raises_version;
    bool needs_sync;
    int to_state, interface;
    int64_t deadline_ms, original_ms, hold_used_ms;
    int64_t deliver_after_ms, delivered_ms, decided_ms;
    uint32_t set_flags, clear_flags;
    int64_t now_ms;
    const char *actor_json; /* goes into the event, and into the answer */
    const char *person;
    const char *answer_json; /* a decision: stored as the decisive answer under answer_key */
    const char *answer_key;  /* unique per attempt; same key again: STORE_REPEATED */
    const char *said;        /* goes into the event: what was asked back, or explained */
    bool removes_answer;     /* undone: the decisive answer becomes the person's draft */
    /* Where others share the store its clock decides whether it is time; else STORE_LOST. */
    enum store_when when;
    bool skips_row; /* STORE_DONE comes without the row: the caller does not need it */
    /* Zero: left alone; and: whatever it is. */
    uint8_t launch_hash[DIGEST_BYTES], if_launch_hash[DIGEST_BYTES];
};
/* A change that changes nothing but what is set afterwards. */
struct store_change store_change_of(const char *ask_id, enum ask_event event);

/* What was said about an open ask without deciding it. */
struct store_said {
    enum ask_event event; /* EVENT_ASKED_BACK: by a person; EVENT_FORM_CHANGED: by the agent */
    const char *text;
    int64_t at_ms;
};
typedef void store_said_each(void *context, const struct store_said *said, const struct error *err);

enum store_list_which { STORE_LIST_ALL, STORE_LIST_OPEN, STORE_LIST_ENDED };
struct store_list_query {
    enum store_list_which which;
    size_t limit;
    int64_t before_ms;     /* only asks created before; 0: no bound */
    const char *id_prefix; /* NULL: any; where more than 256 begin so, not all are found */
    const char *principal; /* NULL: any */
    int64_t before_number; /* only asks numbered lower, whatever before_ms says; 0: no bound */
    uint32_t states;       /* bits of enum ask_state; 0: any */
    const char *agent;     /* what the agent calls itself; NULL: any */
};
/* Looking back: filters that have to read form and answer. id_prefix and principal don't count. */
struct store_history_query {
    struct store_list_query list;
    const char *via;                   /* the channel it was answered through; NULL: any */
    const struct search_terms *search; /* all in question, answer or notes; NULL: any */
    int64_t since_ms, until_ms;        /* created at that time or later, and before; 0: no bound */
};
/* Rows come newest first, texts of form and arguments left out (NULL). */
typedef void store_each(void *context, const struct store_row *row, const struct error *err);
/* The same with form, arguments and answer. Looking ends early when it takes too long: looked_to of
 * the last call is then the number to go on before; 0: that was all. */
typedef void store_found(void *context, const struct store_row *row, int64_t looked_to,
                         const struct error *err);
typedef void store_pair(void *context, const char *name, const char *value);
/* `json` NULL: there is none, or `err` says why it could not be read. */
typedef void store_draft_done(void *context, const char *json, const struct error *err);

/* What others did who share the store, told in the order in which it was done. */
struct store_news {
    /* An ask is new or has changed: as it stands by now, texts and answer left out. */
    void (*ask)(void *context, const struct store_row *row);
    void (*conversation)(void *context, const char *id); /* something was said in it */
    void (*facts)(void *context);  /* tokens, rules, keys, settings or meta: to be read again */
    void (*resync)(void *context); /* so much that it is not told: all is to be read again */
    /* The hub where its agent waited is gone; said again until a change says what is true now. */
    void (*abandoned)(void *context, const char *ask_id);
};

/* The hub at which agents waited has left its file: no agent waits for an ask any more. */
struct store_abandon {
    int64_t at_ms; /* when that was found out */
};
/* The wall clock was set: every open deadline moves along. */
struct store_shift {
    int64_t by_ms;
};
/* What no caller waits for is done in batches, each bounded in rows and in time. It gives way to
 * whatever else is to be written, and ends early where it would take too long.
 *
 * One batch of retention (R9.1): ended and delivered-or-older-than-retention asks. reply.seq is how
 * many steps were made, most of them asks dropped; 0: nothing left to do. Open asks and undelivered
 * answers within retention are never dropped by count. With the last batch conversations go that
 * did not change since and wait for no person, and principals as old as that which have neither ask
 * nor conversation: their next one inserts them again. */
struct store_sweep {
    int64_t older_than_ms, keep_ended, batch;
    int64_t max_us; /* 0: as long as it takes */
};
/* One batch of what searches and lists are found by; asks that are not taken up yet are found too,
 * only slower. reply.seq is how many were taken up; 0: nothing left to do. */
struct store_index {
    int64_t now_ms, batch, max_us;
};
enum write_kind {
#define WRITE(name, type, flags) WRITE_##name,
#include "store/writes.def"
#undef WRITE
    WRITE_KINDS
};
struct store_ops {
    void (*close)(struct store *store); /* drains the writes first */

    /* `values` are of the struct that store/writes.def names, and are copied. */
    void (*write)(struct store *store, enum write_kind what, const void *values, store_done *done,
                  void *context);

    /* STORE_DONE with the row, or STORE_MISSING. One whose newest event, `seq`, is the one that
     * made it is found by that; 0: not known, as in a change. */
    void (*get)(struct store *store, const char *ask_id, int64_t seq, store_done *done,
                void *context);
    /* The newest ask of this principal with this digest (or this key, when not NULL) whose answer
     * by a person (submitted, cancelled, declined) is not delivered yet: R5.5. */
    void (*find_undelivered)(struct store *store, const char *principal, const uint8_t *digest,
                             const char *idempotency_key, store_done *done, void *context);
    /* All such asks of a principal, newest first, texts and answers left out: R5.7. */
    void (*list_undelivered)(struct store *store, const char *principal, size_t limit,
                             store_each *each, void *context);
    void (*list)(struct store *store, const struct store_list_query *query, store_each *each,
                 void *context);
    void (*history)(struct store *store, const struct store_history_query *query, store_found *each,
                    void *context);
    /* Recovery: every open ask, every one whose deliver_after lies ahead of now_ms, and every
     * answer by a person that is not delivered. Texts left out. */
    void (*list_active)(struct store *store, int64_t now_ms, store_each *each, void *context);
    /* Called once; NULL: there is none, or `err` says why it could not be read. */
    void (*get_conversation)(struct store *store, const char *id, store_conversation_each *each,
                             void *context);
    void (*find_conversation)(struct store *store, const char *principal, const char *key,
                              store_conversation_each *each, void *context);
    /* Newest first. */
    void (*list_conversations)(struct store *store, const struct store_conversation_query *query,
                               store_conversation_each *each, void *context);
    /* What is kept of those with a greater number, in order. */
    void (*list_conversation_events)(struct store *store, const char *id, int64_t after,
                                     size_t limit, store_conversation_event_each *each,
                                     void *context);
    void (*get_draft)(struct store *store, const char *ask_id, const char *person,
                      store_draft_done *done, void *context);
    /* Oldest first, the newest LIMIT_TALK of them. */
    void (*list_said)(struct store *store, const char *ask_id, store_said_each *each,
                      void *context);
    /* These are few and are at hand: all calls of `each` come before the function returns. */
    void (*list_settings)(struct store *store, const char *person, store_pair *each, void *context);
    /* Those that were not revoked, oldest first. */
    void (*list_tokens)(struct store *store, store_token_each *each, void *context);
    void (*list_rules)(struct store *store, store_rule_each *each, void *context);
    void (*list_keys)(struct store *store, const char *purpose, store_key_each *each,
                      void *context);
    /* STORE_DONE with it as reply.seq, or STORE_MISSING. */
    void (*get_client_fact)(struct store *store, const struct store_client *client, bool is_form,
                            store_done *done, void *context);
    const char *(*meta)(struct store *store, const char *name); /* "" if absent; borrowed */

    /* From now on until it is closed; NULL: no other hub shares this store. */
    void (*follow)(struct store *store, const struct store_news *news, void *context);
    /* The store's own clock, by which deadlines are kept; NULL: this machine's. */
    int64_t (*utc_ms)(struct store *store);
    /* False: it can't be reached at present; NULL: it is always there. */
    bool (*is_reachable)(struct store *store);
    /* True once the disk failed under us in a way that only a restart fixes (EIO on sync). */
    bool (*is_broken)(struct store *store);
    int64_t (*last_seq)(struct store *store); /* of the newest committed event */
    void (*write_metrics)(struct store *store, struct text *out);
};
struct store {
    const struct store_ops *ops; /* the adapter's own struct begins with this */
};

/* store_write_token(store, &token, done, context), and so for each row: with types. */
#define WRITE(name, type, flags)                                                                   \
    static inline void store_write_##name(struct store *store, const struct type *values,          \
                                          store_done *done, void *context)                         \
    {                                                                                              \
        store->ops->write(store, WRITE_##name, values, done, context);                             \
    }
#include "store/writes.def"
#undef WRITE

#endif
