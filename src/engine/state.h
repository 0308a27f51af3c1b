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

#include "base/metrics.h"
#include "base/os.h"
#include "base/table.h"
#include "base/text.h"
#include "core/ask.h"
#include "crypto/seal.h"
#include "engine/alarm.h"
#include "engine/engine.h"
#include "ports/clock.h"
#include "ports/desk.h"
#include "ports/store.h"

enum {
    MATCH_BYTES = 16,
    RATE_SLOTS = 60,
    CODE_DIGITS = 3,
    PRINCIPALS_KEPT = 1024,
    UNDELIVERED_KEPT = 1024,
    HANDED_RETURNED = 1024, /* results that may still be confirmed elsewhere */
    LINE_KEPT_BYTES = 16384,
    LIVE_FORMS = 1024,      /* kept at most, */
    LIVE_FORM_BYTES = 4096, /* each of at most so many bytes of JSON */
    PORTAL_CODES = 16,      /* at once; the oldest goes */
    PORTAL_URL_BYTES = 64,
    PUBLIC_URL_BYTES = 300,
    LATER_KEPT = 64,
    ANNOUNCING_KEPT = 256,
    HIDDEN_KEPT = 1024,
    HIDDEN_BYTES = 17, /* of the name of a hidden option */
};

struct ask_tool;
struct launch;
struct visit;
struct live;

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
    bool has_form;
    bool has_url;     /* it opens an address for its person */
    bool is_modern;   /* it is asked by a reply, and calls again */
    bool stops_clock; /* its patience does not wear out while a form is open */
};

/* How often a modern client was asked in one exchange, and when last. */
struct round {
    int64_t asked_ms;
    int number;
    bool is_bad;         /* what it brought was not good once */
    bool is_url;         /* it was given an address, not the form */
    struct error *lacks; /* owned; what a form came back without; NULL: nothing */
};

/* One call that is parked until its ask is over or its time is up. Without `done` it stands for a
 * modern client that shows the form: nobody is to be told, but somebody is there. */
struct waiter {
    struct waiter *next;                        /* of the same ask */
    struct waiter *visit_next, *visit_previous; /* of the same visit */
    struct live *live;
    struct visit *visit;
    struct alarm alarm; /* only for waits with an end */
    int64_t wait_ms;    /* as it was asked for; -1: no end */
    desk_done *done;
    void *context;
    struct round *round; /* owned; NULL: its client has not been asked again */
    struct client_side client;
    bool is_overdue : 1; /* its time was up before its ask was stored */
    bool is_owed : 1;    /* counted in engine->under_way */
    bool comes_back : 1; /* its client is not shown that it is pending */
    bool shows_form : 1; /* a legacy client, until it answers */
    bool is_url : 1;     /* what its client shows is an address */
};

struct principal {
    struct table_link link;
    char id[PRINCIPAL_BYTES];
    size_t open_count;
    size_t live_count; /* asks that point here */
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
struct attention {
    struct live *live;
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
struct live_key {
    struct table_link link;
    struct live *live;
    uint8_t key[MATCH_BYTES];
};

/* What few of the asks in memory have. */
struct live_rare {
    struct submission *late;     /* found it before it was stored: to be told its id then */
    struct launch *launch;       /* NULL: it was never handed to a terminal */
    int64_t hold_used_ms;        /* as stored */
    int64_t quiet_until_boot_ms; /* nobody else makes a noise before, while a client shows it */
    int64_t decided_ms;          /* UTC; 0: it is not */
};

/* There may be a hundred thousand, so what most asks never need is outside. */
struct live {
    struct table_link by_id, by_call;
    char id[ASK_ID_BYTES];
    bool is_stored : 1;    /* false while its creation is being committed */
    bool is_deciding : 1;  /* expiry is on its way to the store */
    bool is_undoing : 1;   /* so is an undo: what it takes back may not be delivered meanwhile */
    bool is_sending : 1;   /* so is the end of its undo window */
    bool is_back_told : 1; /* an agent was told what is asked back */
    bool is_dirty : 1;     /* watchers have not seen the newest change */
    bool is_elsewhere : 1; /* another hub made it, or had it before us: that one ends it on time */
    bool is_overtaken : 1; /* somebody changed it before we knew that it is stored */
    bool is_told : 1;      /* agents were told of this version */
    uint8_t call_match[MATCH_BYTES];
    uint8_t state, interface; /* enum ask_state, enum ask_interface */
    uint32_t flags, load_pass;
    struct live_key *key; /* NULL: none */
    int64_t version, seq;
    int64_t created_ms, deadline_ms, original_ms; /* UTC, as stored */
    int64_t detached_ms;                          /* 0: it is not */
    struct principal *principal;
    struct origin *origin;
    struct alarm deadline;       /* while open; the end of the undo window afterwards */
    struct attention *attention; /* NULL: none yet */
    struct waiter *waiters;
    struct live_rare *rare; /* NULL: nothing of it; live_rare() reads it */
    struct live *next_dirty;
    const struct ask_tool *tool; /* NULL: one that is not known here */
    struct form *form;           /* NULL: only the store has it */
    char title[];
};

/* A connection at the desk. Counted, because store work may still name it when it is gone. */
struct visit {
    struct visit *next, *previous;
    int references;
    bool is_gone;
    bool is_watching;
    bool wants_remaining; /* what time is left, again and again */
    bool is_following;    /* an agent's: told of its own asks */
    uint32_t look_count;  /* replies about asks that are being read for it */
    struct text *unheard; /* lines that wait for those replies; NULL: none */
    struct waiter *waiters;
    struct shown_code *codes;    /* owned; one for an ask */
    char attached[ASK_ID_BYTES]; /* the ask this terminal shows, told of as if it watched */
    bool is_attach_kept;         /* the store knows that it does */
    struct handed *handed;       /* results it has not confirmed */
    size_t handed_count;
    struct announced *announced; /* late answers it was told of; NULL: of none */
    int64_t late_seen;           /* the principal's late_count when it was told of all */
    enum desk_role role;
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
    int64_t form_fact;    /* and of its form (core/field_class.h) */
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
struct tally {
    int64_t created, undone, ended[STATE_COUNT];
    struct metrics_histogram waited_ms;
};

/* An ask that is silent until a time. */
struct later {
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
    struct desk desk; /* first: a desk is an engine */
    struct engine_parts parts;
    struct table by_id, by_call, by_key, by_launch, principals, handed, tokens;
    struct table notes;    /* of sessions: session_notes.c */
    int64_t notes_over_ms; /* when the first of them is over; 0: there is none */
    struct alarm_heap alarms;
    int64_t grace_until_boot_ms; /* after a suspend nothing ends before */
    int64_t utc_minus_boot_ms;
    struct visit *visits;
    size_t attached_count, follower_count; /* of them; most of the time nobody is to be told */
    struct live *dirty;
    struct errand *early;       /* acts on asks whose storing we have not heard of yet */
    const struct visit *reader; /* it calls METHOD_READS; NULL: nobody does right now */
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
    struct tally tally;
    struct text line;                            /* see line_take */
    struct table undelivered, undelivered_calls; /* see delivered.c */
    bool forgets_undelivered;                    /* there are more than these */
    struct handed *returned[HANDED_RETURNED];    /* a ring: see delivered.c */
    size_t returned_count;                       /* ever */
    struct table delivering;                     /* results whose confirmations are on their way */
    struct delivered_errand *unsure, *last_unsure; /* the first is with the store, others wait */
    struct portal_code codes[PORTAL_CODES];
    struct later later[LATER_KEPT];
    size_t later_count;
    struct announcing announcing[ANNOUNCING_KEPT];
    size_t announcing_count;
    struct alarm announce_alarm;
    struct rule *rules; /* owned; newest first */
    size_t rule_count;
    struct asker *clients; /* owned; of agents: own.c */
    size_t client_count, client_capacity;
    char boot_id[OS_BOOT_BYTES];
    char (*hidden)[HIDDEN_BYTES]; /* HIDDEN_KEPT of them; owned */
    size_t hidden_count;
    char portal_url[PORTAL_URL_BYTES]; /* "": there is no portal */
    char public_url[PUBLIC_URL_BYTES]; /* "": nobody comes from elsewhere */
    int64_t browser_boot_ms;           /* when one was opened last; 0: never */
    int64_t asked_open_boot_ms;        /* likewise, for a page that asked for it */
    size_t page_count, inbox_count;    /* that watch */
    size_t ticking_count;              /* of these, who wants to know what time is left */
    struct alarm remaining_alarm;
    struct table questions; /* of conversations that wait for a person: conversation_ask.c */
    size_t listener_count;  /* visits that are told of a conversation */
};

#endif
