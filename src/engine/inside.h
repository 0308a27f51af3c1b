/*
 * inside.h - what the files of engine/ offer each other, grouped by file: the engine, its asks, who
 * is there and what they came for. What is about one subject has a header of its own.
 */
#ifndef ENGINE_INSIDE_H
#define ENGINE_INSIDE_H
#include "core/response.h"
#include "engine/state.h"
#include "i18n/i18n.h"
#include "settings/settings.h"

struct errand;
struct json;
struct known;

/* engine.c */
static inline struct engine *engine_of(struct desk *desk)
{
    return (struct engine *)desk;
}
int64_t engine_boot_ms(const struct engine *engine);
int64_t engine_setting(const struct engine *engine, enum setting_id id);
void sweep_soon(struct engine *engine);
void sweep_ring(struct engine *engine, struct alarm *alarm);
void load_ring(struct engine *engine, struct alarm *alarm);
void load_asks(struct engine *engine, const struct error *err); /* once own_load has ended */

/* follow.c: asks that other hubs make and change, where they share the store */
bool follow_is_shared(const struct engine *engine);
/* Of a row that is not in memory; NULL: it is over. */
struct live *follow_take_up(struct engine *engine, const struct store_row *row);
/* The same of one that was read a moment ago. */
struct live *follow_found(struct engine *engine, const struct store_row *row);
void follow_row(struct engine *engine, const struct store_row *row); /* as it stands by now */
void follow_ask(struct engine *engine, const char *id);              /* to be read, then that */
/* Before memory says no: another hub may have done what it does not know of yet. True: the ask is
 * being read and `again` called then; false, at the second time or where nobody shares the store.
 */
bool follow_looks_first(struct errand *errand, void (*again)(struct errand *errand));
/* Within its undo window, by the store's clock. */
bool follow_is_held_back(const struct engine *engine, const struct ask *ask);
void follow_store(struct engine *engine);

/* live.c: the asks that are alive */
struct live *live_new(struct engine *engine, const struct ask *ask, const struct match *match,
                      const struct asker *asker, const char *agent);
void live_free(struct engine *engine, struct live *live);
void live_forget(struct engine *engine, struct live *live);            /* it never was */
struct table_link *id_find(const struct table *table, const char *id); /* of asks, by any text */
struct live *live_find(const struct engine *engine, const char *id);   /* may miss */
const struct live_rare *live_rare(const struct live *live);
void live_set_version(struct live *live, int64_t version);
struct live_rare *live_need_rare(struct live *live); /* to be written to */
struct submission *live_take_late(struct live *live);
void live_set_stored_times(struct live *live, int64_t hold_used_ms, int64_t decided_ms);
/* Open asks are counted. */
void live_set_state(struct engine *engine, struct live *live, enum ask_state state);
struct match live_match(const struct ask *ask);
struct live *live_find_match(const struct engine *engine, const struct match *match,
                             const struct visit *visit);
/* Keeps the form if it is small and few are kept; afterwards `take_form` is empty or untouched. */
void live_keep_form(struct engine *engine, struct live *live, struct form *take_form,
                    size_t json_bytes);
struct store_row
live_row(const struct live *live);                /* borrowed; texts of form and answer left out */
struct attention *live_attend(struct live *live); /* made at its first use */
void live_mark_dirty(struct engine *engine, struct live *live);
struct principal *principal_get(struct engine *engine, const char *id);
/* False with rate_limited: too many pending, or too many new ones within a minute. */
bool principal_admit(struct engine *engine, struct principal *principal, struct error *err);

/* access.c: who may do what */
bool access_may(struct engine *engine, struct visit *visit, enum method method,
                const struct json *params, struct error *err);

/* visit.c: who stands at the desk */
struct desk_visit *visit_open(struct desk *desk, const struct desk_visitor *visitor);
void visit_close(struct desk *desk, struct desk_visit *leaving);
void visit_release(struct visit *visit);
void visit_follow(struct engine *engine, struct visit *visit); /* an agent, of its own */
void visit_tell(struct visit *visit, const char *line, size_t length);
void visit_watch(struct engine *engine, struct visit *visit, bool wants_remaining);
bool visit_sees(const struct visit *visit, const char *id); /* it is told of changes of this ask */
/* The client behind it, by which is known what was learnt; without a transport it is none. */
struct store_client visit_client(const struct visit *visit);
void visit_end_load(struct errand *errand); /* one thing that is known of it was read */
bool visit_is_of(const struct visit *visit, const struct store_client *client);
/* JSON for its asks; the visit's own */
const char *visit_origin(const struct engine *engine, struct visit *visit);
struct answered_by visit_actor(const struct engine *engine, struct visit *visit,
                               const struct asker *asker);
/* {person, via, uid, pid or token, tty, same_process_tree}: who decides, as the answer keeps it. */
void visit_write_actor(const struct answered_by *by, struct text *out);

/* own.c: what is the agent's own */
struct json_writer;
void own_load(struct engine *engine); /* before any ask, so that an agent's process is known */
/* A front: its client is known from now on. Over HTTP that is looked for when it asks. */
void own_enter(struct engine *engine, struct visit *visit);
void own_look(struct visit *visit); /* where it runs, as long as it is there */
/* Members of an ask's origin, and back. */
void own_write(const struct engine *engine, const struct asker *asker, struct json_writer *writer);
struct asker own_read(const struct engine *engine, const char *origin_json);
/* The process that asked, on its terminal. */
bool own_is_in_place(const struct visit *visit, const struct asker *asker);
/* It runs below the client that asked, and is not the person who asked and answers in place. */
bool own_is_agents(const struct engine *engine, struct visit *visit, const struct asker *asker);
/* False: a destructive ask is not for it, whose it may be. */
bool own_may_destroy(const struct engine *engine, struct visit *visit, const struct asker *asker,
                     const char *id, struct error *err);
/* The same of an ask that is shown to it: it is destructive, and must be answered elsewhere. */
bool own_must_leave(const struct errand *errand, const struct store_row *row);
/* False: rules, tokens, links into the portal and settings of the host are not for agents. */
bool own_may_govern(const struct engine *engine, struct visit *visit, struct error *err);

/* errand.c: an act of a visitor that waits for the store; acts that need more embed it first */
struct errand {
    struct engine *engine;
    struct visit *visit; /* NULL: the engine's own */
    desk_done *done;
    void *context;
    char id[ASK_ID_BYTES];
    bool is_counted;           /* in engine->under_way */
    int64_t utc_minus_boot_ms; /* by which the times it writes were reckoned */
    size_t found;              /* asks a prefix may mean */
    bool is_prefix;
    bool is_ours; /* `done` is the engine's own: told even where the visit has left */
    bool has_looked;
    bool holds_news; /* it is of METHOD_READS, see look_end */
    void (*next)(struct errand *errand);
    struct errand *next_early;           /* of engine->early */
    void (*drop)(struct errand *errand); /* NULL: nothing embedded to free */
    size_t bytes;                        /* of the struct it begins */
};
/* What the rows of methods.def do, each as id_method. */
typedef void method_handler(struct engine *engine, struct visit *visit, const struct json *params,
                            desk_done *done, void *context);
#define HUB_METHOD(id, name, roles, flags)
#define METHOD(id, name, roles, flags) method_handler id##_method;
#include "ports/methods.def"
void engine_call(struct desk *desk, struct desk_visit *visit, const struct request *request,
                 desk_done *done, void *context);
void *errand_new(size_t bytes, struct engine *engine, struct visit *visit, desk_done *done,
                 void *context);
void errand_begin_write(struct errand *errand);
void errand_end(struct errand *errand); /* drops what it embeds and frees it */
void errand_forget(void *context, const struct store_reply *reply); /* the same, however it went */
void errand_reply(const struct errand *errand, const struct desk_reply *reply);
/* Reply, then end. */
void errand_ok(struct errand *errand, const char *json);
void errand_fail(struct errand *errand, const struct error *err, const char *data_json);
void errand_refuse(struct errand *errand, enum error_code code, const char *path,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same in words for people (error_say). */
void errand_say(struct errand *errand, enum error_code code, const char *path, enum text_id text,
                ...);
/* There is no such ask, unless the store failed. */
void errand_not_found(struct errand *errand, const struct store_reply *reply);
/* Calls `next` once errand->id is known: the ask named by params.session_id, whole or by a unique
 * prefix, or, where it is left out, the only one that is open. Agents must give whole ids. Where
 * there is no such ask the errand fails and ends. */
void errand_find_ask(struct errand *errand, const struct json *params,
                     void (*next)(struct errand *errand));
/* The ask is stored, or came to nothing: acts that others began before we knew go on. */
void errand_stored(struct engine *engine, const char *id);

/* A reply that is read from a far store may be older than what is told while it is read; so
 * the visitor hears that behind it, and what it hears last is the newest. */
void look_end(struct visit *visit);
void look_drop(struct visit *visit); /* nobody is there to be told */
/* False: there is no such reply under way, it is told at once. */
bool look_holds(struct visit *visit, const char *line, size_t length);

/* visit.c */
/* The principal's that has these words, or a new one; each use is given back. */
struct origin *origin_use(struct principal *principal, const char *json, const char *agent,
                          const struct asker *asker);
void origin_release(struct principal *principal, struct origin *origin);

/* announce.c: telling a person who looks at none of our screens */
void announce_new(struct engine *engine, const struct live *live);
void announce_taken_up(struct engine *engine, const struct live *live);
void announce_retime(struct engine *engine); /* after remind_minutes has changed */
void announce_ring(struct engine *engine, struct alarm *alarm);

/* engine.c */
void index_start(struct engine *engine);
void index_later(struct engine *engine);
void index_ring(struct engine *engine, struct alarm *alarm);
void tally_ended(struct engine *engine, const struct live *live);

/* session_notes.c: what every hub must know of MCP sessions */
void session_notes_load(struct engine *engine);
void session_notes_read(struct engine *engine); /* again: another hub wrote some */
void session_notes_release(struct engine *engine);

/* portal.c: the way into the portal */
/* Where a browser finds this ask; false: there is no portal. */
bool portal_write_url(const struct engine *engine, const char *id, struct text *out);
void portal_open(struct engine *engine, const char *id);      /* in the person's browser */
int64_t portal_since_browser_ms(const struct engine *engine); /* -1: never */

void keys_load(struct engine *engine);
void keys_release(struct engine *engine);
void keys_refresh(struct engine *engine); /* makes one where it is time */

/* time.c */
void time_start(struct engine *engine, struct live *live); /* deadline, or end of undo window */
void time_arm(struct engine *engine);
void remaining_arm(struct engine *engine);
void remaining_ring(struct engine *engine, struct alarm *alarm);
void deadline_ring(struct engine *engine, struct alarm *alarm);

/* draft.c */
void draft_ring(struct engine *engine, struct alarm *alarm);
void draft_save_now(struct engine *engine, struct live *live);
/* Typed elsewhere than with us: saved now, and shown to who has the ask open. */
void draft_keep(struct engine *engine, struct live *live, const char *json);

/* effects.c */
/* After a SAVE that worked: performs the rest of the step on the ask and on who waits. `ack` may
 * be NULL, and so may `known`. */
void effects_run(struct engine *engine, struct live *live, const struct lifecycle_step *step,
                 const struct store_change *change, const struct known *known,
                 const struct errand *ack);
void effects_write_ack(const struct engine *engine, const char *id, enum ask_state state,
                       int64_t version, bool is_already, struct text *out);

#endif
