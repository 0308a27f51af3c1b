/*
 * state.h - the engine's own structs, for the files of this folder only.
 *
 * An ask is alive here while it is open, or decided but still within its undo window. All else is
 * in the store; texts of forms and answers are not kept here, but for the small forms of the first
 * asks: most answers come to one of those, and then nothing has to be read back.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/metrics.h"
#include "base/os.h"
#include "base/seal.h"
#include "base/table.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/lifecycle.h"
#include "core/response.h"
#include "engine/alarm.h"
#include "engine/engine.h"
#include "i18n/i18n.h"
#include "rpc/service.h"
#include "settings/settings.h"
#include "store/store.h"

struct ask_tool;
struct operation;
struct known;
struct launch;
struct active_ask;
struct rule_subject;
struct wait_terms;

enum {
    MATCH_BYTES = 16,
    RATE_SLOTS = 60,
    CODE_DIGITS = 3,
    PRINCIPALS_KEPT = 1024,
    UNDELIVERED_KEPT = 1024,
    IN_FLIGHT_RETURNED = 1024, /* results that may still be confirmed elsewhere */
    LINE_KEPT_BYTES = 16384,
    ACTIVE_FORMS = 1024,      /* kept at most, */
    ACTIVE_FORM_BYTES = 4096, /* each of at most so many bytes of JSON */
    PORTAL_CODES = 16,        /* valid at the same time; the oldest goes */
    PORTAL_URL_BYTES = 64,
    PUBLIC_URL_BYTES = 300,
    SNOOZES_KEPT = 64,
    ANNOUNCING_KEPT = 256,
    HIDDEN_KEPT = 1024,
    HIDDEN_BYTES = 17, /* of the name of a hidden option */
};

/* What rings; time.c has the functions. */
enum alarm_kind {
    ALARM_DEADLINE,
    ALARM_DRAFT,
    ALARM_WAIT,
    ALARM_SWEEP,
    ALARM_INDEX,
    ALARM_REMAINING,
    ALARM_ANNOUNCE,
    ALARM_QUESTION,
    ALARM_TOKENS,
    ALARM_LOAD,
    ALARM_KINDS
};

/* What the client behind a call can show, as its front says. */
struct client_side {
    bool has_form : 1;
    bool has_url : 1;     /* it opens an address for its person */
    bool is_modern : 1;   /* it is asked by a reply, and calls again */
    bool stops_clock : 1; /* its patience does not wear out while a form is open */
};

/* How often a modern client was asked in one exchange, and when last. */
struct round_trip {
    int64_t asked_ms;
    int number;
    bool is_bad;         /* what it brought was not good once */
    bool is_url;         /* it was given an address, not the form */
    struct error *lacks; /* owned; what a form came back without; NULL: nothing */
};

/* One call that is parked until its ask is over or its time is up. Without `done` it stands for a
 * modern client that shows the form: there is no call to reply to, but the client is there. */
struct waiter {
    struct waiter *next;                            /* of the same ask */
    struct waiter *session_next, *session_previous; /* of the same session */
    struct active_ask *active;
    struct session *session;
    struct alarm alarm; /* only for waits with an end */
    reply_done *done;
    void *context;
    struct round_trip *round_trip; /* owned; NULL: its client has not been asked again */
    int64_t wait_ms : 48;          /* as it was asked for; -1: no end */
    struct client_side client;
    bool is_overdue : 1; /* its time was up before its ask was stored */
    bool is_owed : 1;    /* counted in engine->under_way */
    bool resumes : 1;    /* its client is not shown that it is pending */
    bool shows_form : 1; /* a legacy client, until it answers */
    bool is_url : 1;     /* what its client shows is an address */
};

struct principal {
    struct table_link link;
    char id[PRINCIPAL_BYTES];
    size_t open_count;
    size_t active_count; /* asks that point here */
    /* New asks in each of the last RATE_SLOTS seconds; slot_s says for which second. */
    uint32_t slots[RATE_SLOTS];
    int64_t slot_s;
    int64_t late_count;     /* changes when one of its answers becomes late */
    struct origin *origins; /* latest used first */
};

/* What an ask is found again by. */
struct match {
    uint8_t call[MATCH_BYTES]; /* of principal, tool and arguments */
    uint8_t key[MATCH_BYTES];  /* of principal and idempotency key */
    bool has_key;
};

/* The front that asked and the agent's client above it; pid 0: unknown, or none. */
struct asker {
    struct os_identity front, client;
    bool is_certain; /* it is an agent's: people run `sayso ask` too */
};

/* Where asks come from; those of one connection have it in common. */
struct origin {
    struct origin *next, *previous; /* of the same principal */
    size_t uses;
    struct asker asker;
    const char *agent; /* behind the JSON; NULL: nameless */
    char json[];
};

/* What a person does with an ask before deciding; few asks have it at any time. */
struct activity {
    struct active_ask *active;
    struct alarm draft_alarm;
    char *draft; /* not yet saved; NULL: none */
    int64_t draft_saved_boot_ms;
};

/* To be typed before something destructive: good for one ask, on the connection it was shown on. */
struct shown_code {
    struct shown_code *next;
    char ask_id[ASK_ID_BYTES];
    char digits[CODE_DIGITS + 1]; /* "": none was shown, or it is used up */
    int tries_left;
    int64_t until_boot_ms;
};

/* The key its agent gave an ask; few do. */
struct active_key {
    struct table_link link;
    struct active_ask *active;
    uint8_t key[MATCH_BYTES];
};

/* What few of the asks in memory have. */
struct active_rare {
    struct submission *late;     /* found it before it was stored: to be told its id then */
    struct launch *launch;       /* NULL: it was never handed to a terminal */
    struct active_key *key;      /* NULL: none */
    struct activity *activity;   /* NULL: none yet */
    int64_t hold_used_ms;        /* as stored */
    int64_t quiet_until_boot_ms; /* nothing else makes a sound until then: a client shows it */
    int64_t decided_ms;          /* UTC; 0: it is not */
};

/* There may be a hundred thousand, so what most asks never need is outside. */
struct active_ask {
    struct table_link by_id, by_call;
    char id[ASK_ID_BYTES];
    bool is_stored : 1;     /* false while its creation is being committed */
    bool is_deciding : 1;   /* expiry is on its way to the store */
    bool is_undoing : 1;    /* so is an undo: the answer must not be delivered until it ends */
    bool is_sending : 1;    /* so is the end of its undo window */
    bool is_back_told : 1;  /* an agent was told what is asked back */
    bool is_dirty : 1;      /* watchers have not seen the newest change */
    bool is_other_hubs : 1; /* another hub made it, or had it before us: that one ends it on time */
    bool is_overtaken : 1;  /* it was changed before we knew that it is stored */
    bool is_told : 1;       /* agents were told of this version */
    uint8_t call_match[MATCH_BYTES];
    uint8_t state, interface; /* enum ask_state, enum ask_interface */
    uint32_t flags, load_pass;
    int64_t version, seq;
    int64_t created_ms, deadline_ms, original_ms; /* UTC, as stored */
    int64_t detached_ms;                          /* 0: it is not */
    struct principal *principal;
    struct origin *origin;
    struct alarm deadline; /* while open; the end of the undo window afterwards */
    struct waiter *waiters;
    struct active_rare *rare; /* NULL: nothing of it; active_rare() reads it */
    struct active_ask *next_dirty;
    const struct ask_tool *tool; /* NULL: one that is not known here */
    struct form *form;           /* NULL: only the store has it */
    char title[];
};

/* A session of the service. Counted, because store work may still refer to it when it is gone. */
struct session {
    struct session *next, *previous;
    int references;
    bool is_gone;
    bool is_watching;
    bool wants_remaining;     /* what time is left, again and again */
    bool is_following;        /* an agent's: told of its own asks */
    uint32_t read_count;      /* replies about asks that are being read for it */
    struct text *held_events; /* lines that wait for those replies; NULL: none */
    struct waiter *waiters;
    struct shown_code *codes;    /* owned; one for an ask */
    char attached[ASK_ID_BYTES]; /* the ask this terminal shows, told of as if it watched */
    bool is_attach_kept;         /* the store knows that it does */
    struct in_flight *in_flight; /* results it has not confirmed */
    size_t in_flight_count;
    struct announced *announced; /* late answers it was told of; NULL: of none */
    int64_t late_seen;           /* the principal's late_count when it was told of all */
    enum session_role role;
    char via[16];
    int64_t uid, pid;
    uint64_t start;
    struct asker asker;       /* an agent's */
    struct os_identity *line; /* owned; it and its ancestors; NULL: not looked at yet */
    size_t line_count;
    char principal[PRINCIPAL_BYTES];
    char *tty;                                                     /* owned; NULL: none */
    char *name, *version, *as_name, *directory, *token, *token_id; /* owned */
    const char *language; /* of its asks, where the person has saved none; NULL: not said */
    char *transport;      /* owned; NULL: no client's calls are held */
    char *origin_json;    /* owned; NULL until it asks */
    int64_t cut_off_ms;   /* what is known of its patience */
    int64_t form_fact;    /* and of its form (core/fields/field_class.h) */
    int loading;          /* how many of the two are being read; asks wait for them */
    struct submission *held_back, **held_end; /* the asks that do, in order */
    bool is_hold_told;
    bool is_sub_agent, may_answer;
    char conversation[ASK_ID_BYTES]; /* it is told of its events; "": of none */
    void *context;
    void (*event)(void *context, const char *line, size_t length);
    bool (*locate)(void *context, int64_t *ret_uid, int64_t *ret_pid); /* NULL: nothing to add */
};

/* A link into the portal that was given out and not used yet. */
struct portal_code {
    uint8_t hash[HASH_BYTES];
    int64_t until_boot_ms; /* 0: a free place */
};

/* Counted since the start. */
struct counters {
    int64_t created, undone, ended[STATE_COUNT];
    struct metrics_histogram waited_ms;
};

/* An ask that is silent until a time. */
struct snooze {
    char id[ASK_ID_BYTES];
    int64_t until_ms; /* UTC */
};

/* An ask that is to be told of at a moment. */
struct announcing {
    char id[ASK_ID_BYTES];
    bool is_reminder;
    int64_t boot_ms;
};

struct engine {
    struct service service; /* first: a service is an engine */
    struct engine_parts parts;
    struct table by_id, by_call, by_key, by_launch, principals, in_flight, tokens;
    struct table session_states;    /* of sessions: engine/cluster/session_state.c */
    int64_t session_states_over_ms; /* when the first of them is over; 0: there is none */
    struct alarm_heap alarms;
    int64_t grace_until_boot_ms; /* after a suspend nothing ends before */
    int64_t utc_minus_boot_ms;
    struct session *sessions;
    size_t attached_count, follower_count; /* of them; most of the time no one is to be told */
    struct active_ask *dirty;
    struct operation *early;      /* acts on asks whose storing we have not heard of yet */
    const struct session *reader; /* it calls METHOD_READS; NULL: no session does right now */
    struct seal_ring seals;
    bool is_making_key;
    size_t open_count;
    int64_t late_count;       /* given to principals, so that no two are the same */
    size_t form_count;        /* kept in memory */
    bool is_leaving;          /* see engine_leave */
    size_t under_way;         /* acts without a reply yet, and writes */
    int64_t armed_boot_ms;    /* what the clock was last asked for */
    struct alarm sweep_alarm; /* soon after a new ask, else once an hour */
    bool is_sweeping;
    int64_t swept_at_seq;     /* the newest event when it began */
    struct alarm index_alarm; /* some time after an ask came or ended */
    bool is_indexing;
    int64_t indexed_at_seq;    /* the newest event when it began */
    struct alarm tokens_alarm; /* when the next token expires */
    struct alarm load_alarm;   /* to take up what is alive once more */
    uint32_t load_pass;        /* how often that was begun */
    bool is_loaded;
    struct counters counters;
    struct text line;                               /* see line_take */
    struct table undelivered, undelivered_calls;    /* see engine/delivery/delivery.c */
    bool forgets_undelivered;                       /* there are more than these */
    struct in_flight *returned[IN_FLIGHT_RETURNED]; /* a ring: see engine/delivery/delivery.c */
    size_t returned_count;                          /* ever */
    struct table delivering; /* results whose confirmations are on their way */
    struct confirm_operation *unsure, *last_unsure; /* the first is with the store, others wait */
    struct portal_code codes[PORTAL_CODES];
    struct snooze snoozes[SNOOZES_KEPT];
    size_t snooze_count;
    struct announcing announcing[ANNOUNCING_KEPT];
    size_t announcing_count;
    struct alarm announce_alarm;
    struct rule *rules; /* owned; newest first */
    size_t rule_count;
    struct asker *clients; /* owned; of agents: access.c */
    size_t client_count, client_capacity;
    char boot_id[OS_BOOT_BYTES];
    char (*hidden)[HIDDEN_BYTES]; /* HIDDEN_KEPT of them; owned */
    size_t hidden_count;
    char portal_url[PORTAL_URL_BYTES]; /* "": there is no portal */
    char public_url[PUBLIC_URL_BYTES]; /* "": none is set */
    int64_t browser_boot_ms;           /* when one was opened last; 0: never */
    int64_t asked_open_boot_ms;        /* likewise, for a page that asked for it */
    size_t page_count, inbox_count;    /* that watch */
    size_t ticking_count;              /* of these, who wants to know what time is left */
    struct alarm remaining_alarm;
    /* of conversations that wait for a person: engine/conversation/question.c */
    struct table questions;
    size_t listener_count; /* sessions that are told of a conversation */
};

/* What the files of engine/ offer each other, grouped by file: the engine, its asks, who is there
 * and what they came for. What is about one subject has a header of its own. */

/* engine.c */
static inline struct engine *engine_of(struct service *service)
{
    return (struct engine *)service;
}
int64_t engine_boot_ms(const struct engine *engine);
void alarm_in(struct engine *engine, struct alarm *alarm, int64_t ms); /* from now on */
int64_t engine_setting(const struct engine *engine, enum setting_id id);
void sweep_soon(struct engine *engine);
void sweep_on_alarm(struct engine *engine, struct alarm *alarm);
void load_on_alarm(struct engine *engine, struct alarm *alarm);
void load_asks(struct engine *engine, const struct error *err); /* once own_load has ended */
void index_later(struct engine *engine);
void index_on_alarm(struct engine *engine, struct alarm *alarm);
void count_ended(struct engine *engine, const struct active_ask *active);

/* engine/cluster/follow.c: asks that other hubs make and change, where they share the store */
bool follow_is_shared(const struct engine *engine);
/* Of a row that is not in memory; NULL: it is over. */
struct active_ask *follow_take_up(struct engine *engine, const struct store_row *row);
/* The same of one that was read a moment ago. */
struct active_ask *follow_found(struct engine *engine, const struct store_row *row);
void follow_row(struct engine *engine, const struct store_row *row); /* as it stands by now */
void follow_ask(struct engine *engine, const char *id);              /* to be read, then that */
/* Before memory says no: another hub may have done what it does not know of yet. True: the ask is
 * being read and `again` called then; false, at the second time or where no other hub shares the
 * store. */
bool follow_looks_first(struct operation *operation, void (*again)(struct operation *operation));
/* Within its undo window, by the store's clock. */
bool follow_is_held_back(const struct engine *engine, const struct ask *ask);
void follow_store(struct engine *engine);

/* engine/ask/active.c: the asks that are alive */
struct active_ask *active_new(struct engine *engine, const struct ask *ask,
                              const struct match *match, const struct asker *asker,
                              const char *agent);
void active_free(struct engine *engine, struct active_ask *active);
void active_forget(struct engine *engine, struct active_ask *active);  /* it never was */
struct table_link *id_find(const struct table *table, const char *id); /* of asks, by any text */
struct active_ask *active_find(const struct engine *engine, const char *id); /* may miss */
/* All of them, in no order: begins with NULL, ends with NULL. */
struct active_ask *active_each(const struct engine *engine, const struct active_ask *after);
const struct active_rare *active_rare(const struct active_ask *active);
void active_set_version(struct active_ask *active, int64_t version);
struct active_rare *active_need_rare(struct active_ask *active); /* to be written to */
struct submission *active_take_late(struct active_ask *active);
void active_set_stored_times(struct active_ask *active, int64_t hold_used_ms, int64_t decided_ms);
/* Pending asks are counted. */
void active_set_state(struct engine *engine, struct active_ask *active, enum ask_state state);
struct match active_match(const struct ask *ask);
struct active_ask *active_find_match(const struct engine *engine, const struct match *match,
                                     const struct session *session);
/* Keeps the form if it is small and few are kept; afterwards `take_form` is empty or untouched. */
void active_keep_form(struct engine *engine, struct active_ask *active, struct form *take_form,
                      size_t json_bytes);
struct store_row
active_row(const struct active_ask *active); /* borrowed; texts of form and answer left out */
struct activity *active_need_activity(struct active_ask *active); /* made at its first use */
void active_mark_dirty(struct engine *engine, struct active_ask *active);
struct principal *principal_get(struct engine *engine, const char *id);
/* False with rate_limited: too many pending, or too many new ones within a minute. */
bool principal_admit(struct engine *engine, struct principal *principal, struct error *err);

/* session.c: who calls the service */
struct session *session_open(struct service *service, const struct identity *identity);
void session_close(struct service *service, struct session *session);
void session_release(struct session *session);
void session_follow(struct engine *engine, struct session *session); /* an agent, of its own */
void session_send(struct session *session, const char *line, size_t length);
/* What it is told: the members of the params are written in between. */
struct json_writer event_begin(struct text *line, const char *method);
void event_end(struct json_writer *writer);
void session_watch(struct engine *engine, struct session *session, bool wants_remaining);
/* it is told of changes of this ask */
bool session_sees(const struct session *session, const char *id);
/* The client of a session: what was learned is kept by it. Without a transport it is none. */
struct store_client session_client(const struct session *session);
void session_end_load(struct operation *operation); /* one thing that is known of it was read */
bool session_is_of(const struct session *session, const struct store_client *client);
/* JSON for its asks; the session's own */
const char *session_origin(const struct engine *engine, struct session *session);
struct answered_by session_actor(const struct engine *engine, struct session *session,
                                 const struct asker *asker);
/* {person, via, uid, pid or token, tty, same_process_tree}: who decides, as the answer keeps it. */
void session_write_actor(const struct answered_by *by, struct text *out);
/* The principal's origin that has these words, or a new one; each use is given back. */
struct origin *origin_use(struct principal *principal, const char *json, const char *agent,
                          const struct asker *asker);
void origin_release(struct principal *principal, struct origin *origin);

/* access.c: who may do what, and what is the agent's own */
bool access_may(struct engine *engine, struct session *session, enum method method,
                const struct json *params, struct error *err);
void own_load(struct engine *engine); /* before any ask, so that an agent's process is known */
/* A front: its client is known from now on. Over HTTP that is looked for when it asks. */
void own_enter(struct engine *engine, struct session *session);
void own_find_process(struct session *session); /* where it runs, as long as it is there */
/* Members of an ask's origin, and back. */
void own_write(const struct engine *engine, const struct asker *asker, struct json_writer *writer);
struct asker own_read(const struct engine *engine, const char *origin_json);
/* The process that asked, on its terminal. */
bool own_is_in_place(const struct session *session, const struct asker *asker);
/* It runs below the client that asked, and is not the person who asked and answers in place. */
bool own_is_agents(const struct engine *engine, struct session *session, const struct asker *asker);
/* False: a destructive ask is not for it, whose it may be. */
bool own_may_destroy(const struct engine *engine, struct session *session,
                     const struct asker *asker, const char *id, struct error *err);
/* The same of an ask that is shown to it: it is destructive, and must be answered elsewhere. */
bool own_must_leave(const struct operation *operation, const struct store_row *row);
/* False: rules, tokens, links into the portal and settings of the host are not for agents. */
bool own_may_govern(const struct engine *engine, struct session *session, struct error *err);

/* operation.c: an act of a peer that waits for the store; acts that need more embed it first */
struct operation {
    struct engine *engine;
    struct session *session; /* NULL: the engine's own */
    reply_done *done;
    void *context;
    char id[ASK_ID_BYTES];
    bool is_counted;           /* in engine->under_way */
    int64_t utc_minus_boot_ms; /* by which the times it writes were reckoned */
    size_t found;              /* asks a prefix may mean */
    bool is_prefix;
    bool is_ours; /* as in method_call */
    bool has_looked;
    bool holds_news; /* it is of METHOD_READS, see held_events_take */
    void (*next)(struct operation *operation);
    struct operation *next_early;              /* of engine->early */
    char *text;                                /* owned; what it brings; NULL: nothing */
    void (*drop)(struct operation *operation); /* NULL: nothing embedded to free */
    size_t bytes;                              /* of the struct it begins */
};
/* Who calls, with what, and who is told of it. Borrowed for the call. */
struct method_call {
    struct engine *engine;
    struct session *session; /* NULL: the engine's own */
    const struct json *params;
    reply_done *done;
    void *context;
    bool is_ours; /* `done` is the engine's own: told even where the session has ended */
};
/* What the rows of rpc/methods.def do, each as id_method. */
typedef void method_handler(struct method_call call);
#define HUB_METHOD(id, name, roles, flags)
#define METHOD(id, name, roles, flags) method_handler id##_method;
#include "rpc/methods.def"
void engine_call(struct service *service, struct session *session, const struct request *request,
                 reply_done *done, void *context);
void *operation_new(size_t bytes, struct method_call call);
/* `id` NULL: of none */
void *operation_of_ours(size_t bytes, struct engine *engine, const char *id);
struct method_call
operation_call(const struct operation *operation); /* the one it began with, without params */
void operation_begin_write(struct operation *operation);
struct operation *operation_to_write(struct engine *engine); /* one of ours, which has begun to */
void operation_end(struct operation *operation);             /* drops what it embeds and frees it */
/* the same, however it went */
void operation_forget(void *context, const struct store_reply *reply);
void operation_reply(const struct operation *operation, const struct reply *reply);
/* Reply, then end. */
void operation_ok(struct operation *operation, const char *json);
void operation_ok_take(struct operation *operation, struct text *take_json);
void operation_fail(struct operation *operation, const struct error *err, const char *data_json);
void operation_refuse(struct operation *operation, enum error_code code, const char *path,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same in words for people (error_say). */
void operation_say(struct operation *operation, enum error_code code, const char *path,
                   enum text_id text, ...);
/* Where it may not it fails with `err`, and ends. */
bool operation_may(struct operation *operation, bool may, const struct error *err);
/* True: the store failed, and with it this ends. */
bool operation_fails(struct operation *operation, const struct store_reply *reply);
/* A store_done of an operation: all there was to do was to store it. */
void operation_saved(void *context, const struct store_reply *reply);
/* There is no such ask, unless the store failed; and: it is over. */
void operation_not_found(struct operation *operation, const struct store_reply *reply);
void operation_is_over(struct operation *operation);
/* Things that are named by the first characters of their ids: `id` begins with those that were
 * given, which may be NULL; and false with an error unless that was so of one. */
struct named_by_prefix {
    enum text_id several, none;
};
bool id_begins(const char *id, const char *given);
bool id_is_one(const char *given, size_t count, const struct named_by_prefix *words,
               struct error *err);
/* Calls `next` once operation->id is known: the ask named by params.session_id, whole or by a
 * unique prefix, or, where it is left out, the only one that is open. Agents must give whole ids.
 * Where there is no such ask the operation fails and ends. */
void operation_find_ask(struct operation *operation, const struct json *params,
                        void (*next)(struct operation *operation));
/* A method that does no more than that. */
void operation_for_ask(void (*next)(struct operation *operation), struct method_call call);
/* the row of operation->id, for itself */
void operation_get(struct operation *operation, store_done *done);
/* The ask is stored, or came to nothing: acts that others began before we knew go on. */
void operation_stored(struct engine *engine, const char *id);

/* One whose reply is an object that is written while the store hands out what goes into it. */
struct writing {
    struct operation operation; /* first */
    struct text out;
    struct json_writer writer;
};
void *writing_new(size_t bytes, struct method_call call);
void writing_end(struct writing *writing); /* replies it, then ends */

/* A reply that is read from a far store may be older than what is told while it is read; so
 * the peer hears that after it, and what it hears last is the newest. */
void held_events_drop(struct session *session); /* the peer is gone */
/* False: there is no such reply under way, so the caller sends the line now. */
bool held_events_take(struct session *session, const char *line, size_t length);

/* engine/people/announce.c: telling a person who looks at none of our screens */
void announce_new(struct engine *engine, const struct active_ask *active);
void announce_taken_up(struct engine *engine, const struct active_ask *active);
void announce_reschedule(struct engine *engine); /* after remind_minutes has changed */
void announce_on_alarm(struct engine *engine, struct alarm *alarm);
void snooze_load(struct engine *engine);
int64_t snooze_until_ms(const struct engine *engine, const char *id); /* 0: it is not put off */
/* A person opened this ask; an agent's own process is none. */
void seen_mark(struct engine *engine, struct session *session, const char *id);

/* engine/cluster/session_state.c: what every hub must know of MCP sessions */
void session_state_load(struct engine *engine);
void session_state_read(struct engine *engine); /* again: another hub wrote some */
void session_state_release(struct engine *engine);

/* engine/people/portal.c: the way into the portal */
/* Where a browser finds this ask; false: there is no portal. */
bool portal_write_url(const struct engine *engine, const char *id, struct text *out);
void portal_open(struct engine *engine, const char *id);      /* in the person's browser */
int64_t portal_since_browser_ms(const struct engine *engine); /* -1: never */
void keys_load(struct engine *engine);
void keys_release(struct engine *engine);
void keys_refresh(struct engine *engine); /* makes one where it is time */

/* time.c */
/* deadline, or end of undo window */
void time_start(struct engine *engine, struct active_ask *active);
void time_arm(struct engine *engine);
void remaining_arm(struct engine *engine);

/* engine/ask/change.c */
/* What is said about an ask that stays open; only if it has this version; 0: any. */
void change_say(enum ask_event event, struct method_call call, const char *id, const char *said,
                int64_t version);
/* The code of a destructive ask, as it came with an answer: good once, on the connection it was
 * shown on. On false `err` says why not. */
bool challenge_takes(const struct operation *operation, const char *typed, struct error *err);
void draft_on_alarm(struct engine *engine, struct alarm *alarm);
void draft_save_now(struct engine *engine, struct active_ask *active);
/* Typed elsewhere than with us: saved now, and shown to who has the ask open. */
void draft_keep(struct engine *engine, struct active_ask *active, const char *json);

/* effects.c */
/* The change that this event makes to an ask, for callers that do not look at its row; `step` NULL:
 * it stays in its state. `facts` may be NULL: none of them. */
struct store_change effects_change(const struct engine *engine, const char *id,
                                   enum ask_event event, const struct lifecycle_step *step,
                                   const struct lifecycle_facts *facts);
/* After a SAVE that worked: performs the rest of the step on the ask and on who waits. `ack` may
 * be NULL, and so may `known`. */
void effects_run(struct engine *engine, struct active_ask *active,
                 const struct lifecycle_step *step, const struct store_change *change,
                 const struct known *known, const struct operation *ack);
void effects_write_ack(const struct engine *engine, const char *id, enum ask_state state,
                       int64_t version, bool is_already, struct text *out);

/* Defines a handler that calls `function` with a first argument of its own. */
#define HANDLER(id, function, argument)                                                            \
    void id##_method(struct method_call call)                                                      \
    {                                                                                              \
        function(argument, call);                                                                  \
    }

/* engine/ask/decide.c: through the agent's own client, and what was said to a conversation about
 * the ask of its question. `done` is the engine's own. */
void decide_by_client(enum ask_event event, struct method_call call, const char *id,
                      const struct json *content);
void decide_question(enum ask_event event, struct method_call call, const char *id);

/* engine/ask/ask_back.c: a person asks back, the agent explains */
void ask_back_send_waiters(struct engine *engine, struct active_ask *active, const char *question);
/* What others were asked back here is told to who waits here. */
void ask_back_send(struct engine *engine, const struct active_ask *active);
bool ask_back_is_news(const struct active_ask *active); /* no agent was told of it yet */
/* That this open ask is asked back, and what. */
void ask_back_reply(const struct operation *operation, const struct store_row *row);
/* `explanation` of the params of ask/wait, whose session_id is one; then it waits. */
void ask_back_explain(struct method_call call, const struct wait_terms *terms);
/* One object of `talk`. */
void ask_back_write(const struct store_said *said, struct json_writer *writer);

/* engine/people/rules.c: answers that stand */
void rules_load(struct engine *engine);
void rules_reload(struct engine *engine); /* others made or revoked some */
void rules_release(struct engine *engine);
/* The id of the one for asks like this; NULL: there is none. */
const char *rules_match(const struct engine *engine, const struct rule_subject *subject);
/* False: it is gone, or does not fit any more. True: it is on its way to the store, and if it comes
 * to nothing the ask is shown. */
bool rules_apply(struct engine *engine, struct active_ask *active, const char *id);

/* engine/people/list.c */
void list_reply_ask(struct operation *operation); /* operation->id whole, then it ends */
/* `summary` and `confirmed`, where something was answered. */
void history_write_answer(struct json_writer *writer, const struct store_row *row);

/* engine/people/preferences.c */
void hidden_load(struct engine *engine);
void hidden_release(struct engine *engine);
/* `hidden`, the ids of the options that are; nothing where none can be. */
void hidden_write(const struct engine *engine, const struct ask *ask, struct json_writer *writer);
void preferences_load(struct engine *engine); /* the person's, as the store has them */

#endif
