/* inside.h - what the files of engine/ offer each other, grouped by file. */
#ifndef ENGINE_INSIDE_H
#define ENGINE_INSIDE_H
#include "core/answer.h"
#include "core/conversation.h"
#include "core/response.h"
#include "engine/state.h"
#include "settings/settings.h"

struct ask_call;
struct known;
struct json;
struct json_writer;
struct response_facts;

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
struct errand;
bool follow_looks_first(struct errand *errand, void (*again)(struct errand *errand));
/* Within its undo window, by the store's clock. */
bool follow_is_held_back(const struct engine *engine, const struct ask *ask);
void follow_store(struct engine *engine);

/* live.c: the asks that are alive */
struct live *live_new(struct engine *engine, const struct ask *ask, const struct match *match,
                      const struct asker *asker, const char *agent);
void live_free(struct engine *engine, struct live *live);
void live_forget(struct engine *engine, struct live *live);          /* it never was */
struct live *live_find(const struct engine *engine, const char *id); /* may miss */
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

/* visit.c: who stands at the desk */
struct desk_visit *visit_enter(struct desk *desk, const struct desk_visitor *visitor);
void visit_leave(struct desk *desk, struct desk_visit *leaving);
void visit_release(struct visit *visit);
void visit_follow(struct engine *engine, struct visit *visit); /* an agent, of its own */
/* False, and replied: this act is for the other role (R12.1). */
bool visit_may(const struct desk_visit *acting, enum desk_role role, desk_done *done,
               void *context);
void visit_tell(struct visit *visit, const char *line, size_t length);
void visit_watch(struct engine *engine, struct visit *visit, bool wants_remaining);
bool visit_sees(const struct visit *visit, const char *id); /* it is told of changes of this ask */
/* The client behind it, by which is known what was learnt; without a transport it is none. */
struct store_client visit_client(const struct visit *visit);
bool visit_is_of(const struct visit *visit, const struct store_client *client);
const char *visit_origin(struct visit *visit);          /* JSON for its asks; the visit's own */
struct asker visit_read_asker(const char *origin_json); /* of an ask that is not in memory */
struct answered_by visit_actor(const struct engine *engine, struct visit *visit,
                               const struct asker *asker);
/* {person, via, uid, pid or token, tty, same_process_tree}: who decides, as the answer keeps it. */
void visit_write_actor(const struct answered_by *by, struct text *out);

/* errand.c: an act of a visitor that waits for the store; acts that need more embed it first */
struct errand {
    struct engine *engine;
    struct visit *visit; /* NULL: the engine's own */
    desk_done *done;
    void *context;
    char id[ASK_ID_BYTES];
    bool is_write;             /* counted in engine->unsaved */
    int64_t utc_minus_boot_ms; /* by which the times it writes were reckoned */
    size_t found;              /* asks a prefix may mean */
    bool is_prefix;
    bool is_ours; /* `done` is the engine's own: told even where the visit has left */
    bool has_looked;
    void (*next)(struct errand *errand);
    void (*drop)(struct errand *errand); /* NULL: nothing embedded to free */
    size_t bytes;                        /* of the struct it begins */
};
void *errand_new(size_t bytes, struct engine *engine, struct desk_visit *visit, desk_done *done,
                 void *context);
void errand_begin_write(struct errand *errand);
void errand_end(struct errand *errand); /* drops what it embeds and frees it */
void errand_reply(const struct errand *errand, const struct desk_reply *reply);
/* Reply, then end. */
void errand_ok(struct errand *errand, const char *json);
void errand_fail(struct errand *errand, const struct error *err, const char *data_json);
/* Calls `next` once errand->id is known: the ask named by params.session_id, whole or by a unique
 * prefix, or, where it is left out, the only one that is open. Agents must give whole ids. Where
 * there is no such ask the errand fails and ends. */
void errand_find_ask(struct errand *errand, const struct json *params,
                     void (*next)(struct errand *errand));

/* undelivered.c: which answers the agents have not confirmed */
void undelivered_init(struct engine *engine);
void undelivered_add(struct engine *engine, const char *id, const char *principal,
                     const uint8_t call_match[MATCH_BYTES]);
void undelivered_remove(struct engine *engine, const char *id, const char *principal);
/* False: the store has none for this call. */
bool undelivered_may_match(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                           bool has_key);
void undelivered_release(struct engine *engine);

/* origin.c */
/* The principal's that has these words, or a new one; each use is given back. */
struct origin *origin_use(struct principal *principal, const char *json, const char *agent,
                          const struct asker *asker);
void origin_release(struct principal *principal, struct origin *origin);

/* wait.c: parked calls */
void wait_ring(struct engine *engine, struct alarm *alarm);
struct wait_terms {
    int64_t wait_ms;   /* -1: until it is over */
    bool comes_back;   /* the client is not shown that it is pending */
    bool is_retried;   /* by state: what was delivered before is marked as replayed */
    bool wants_launch; /* a fresh command to open it in a terminal, if it is open */
    struct client_side client;
    struct round round; /* where it is retried */
};
void wait_add(struct engine *engine, struct live *live, struct visit *visit,
              const struct wait_terms *terms, desk_done *done, void *context);
/* For an ask that may be over; `id` is whole. */
void wait_begin(struct engine *engine, struct visit *visit, const char *id,
                const struct wait_terms *terms, desk_done *done, void *context);
/* All who wait for this ask wait for that one instead. */
void wait_move(struct engine *engine, struct live *live, const char *id);
/* Its client shows the form and will call again: told so, and then it stands for that client. */
void wait_turn_silent(struct engine *engine, struct waiter *waiter, const char *json);
void wait_end_silent(struct engine *engine, struct live *live, const struct visit *visit);
/* Only those of this visit; the ask stays as it is. */
void wait_fail_visit(struct engine *engine, struct live *live, const struct visit *visit,
                     const struct error *err);
/* Ends every wait of this ask, which is over, and the ask. `change` is the decision that was just
 * committed; NULL: the store knows how it ended. `known` may be NULL. */
void wait_finish(struct engine *engine, struct live *live, const struct store_change *change,
                 const struct known *known);
void wait_fail(struct engine *engine, struct live *live, const struct error *err);
/* Its creation is on disk: waits whose time was up meanwhile may end. */
void wait_stored(struct engine *engine, struct live *live);
/* All who wait get this reply, which is not the end of the ask. False: nobody was there. */
bool wait_tell_open(struct engine *engine, struct live *live, const struct desk_reply *reply);
/* How patient its client is became known: those of its waits that would be too long end sooner. */
void wait_bound_visit(struct engine *engine, struct visit *visit);
void wait_drop_visit(struct engine *engine, struct visit *visit);
void wait_forget_visit(struct engine *engine,
                       struct visit *visit); /* without a word to the store */
/* The deadline of an ask they wait for was moved. */
void wait_tell_time(struct engine *engine, const struct live *live);
desk_act wait_act, detach_act;
void wait_reply_row(const struct errand *errand, const struct store_row *row, bool is_replayed);

/* detached.c: the mark that no agent waits */
void detached_save(struct engine *engine, struct live *live, bool is_detached);
void detached_set(struct engine *engine, struct live *live, bool is_detached); /* in memory alone */
void detached_judge(struct engine *engine, const char *id); /* the hub where it waited is gone */

/* delivered.c: results that the agent has */
/* Its delivery is on the way to the store: it is nobody else's any more. */
bool wait_is_delivering(const struct engine *engine, const char *id);
desk_act delivered_act;

/* come_back.c: state with which a client comes back for its ask */
/* `round` counts from 1. */
bool come_back_may(const struct engine *engine, const struct visit *visit, int round);
bool come_back_seal(struct engine *engine, const uint8_t call_match[MATCH_BYTES], const char *id,
                    const struct round *round, struct text *out);
/* `ret_id` has ASK_ID_BYTES. False, whatever is wrong with it. */
bool come_back_open(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                    const char *sealed, char *ret_id, struct round *ret_round);

/* launch.c: asks that are handed to a terminal by a command that works once (R6.2) */
struct launch_code {
    char text[ASK_ID_BYTES]; /* 130 random bits; nobody keeps it */
    uint8_t hash[DIGEST_BYTES];
};
void launch_init(struct engine *engine);
struct launch_code launch_make(void);
/* Zero: forgets it. */
void launch_keep(struct engine *engine, struct live *live, const uint8_t hash[DIGEST_BYTES]);
bool launch_is_usable(const struct engine *engine);
/* Tells whoever asked for it how to open this ask, which is open; notices go along. */
void launch_reply(struct engine *engine, struct visit *visit, const struct live *live,
                  const struct launch_code *code, desk_done *done, void *context);
/* The same with a fresh code; the one before is worth nothing any more. */
void launch_renew(struct engine *engine, struct visit *visit, struct live *live, desk_done *done,
                  void *context);
void launch_lose(struct engine *engine, const struct visit *visit); /* a terminal is gone */
desk_act attach_act;

/* handed.c: results the agent's side was given and has not confirmed */
void handed_init(struct engine *engine);
void handed_add(struct engine *engine, struct visit *visit, const char *id);
/* In the hands of a visit other than `but`, which may be NULL. */
bool handed_is_out(const struct engine *engine, const char *id, const struct visit *but);
void handed_confirm(struct engine *engine, const char *principal, const char *id);
void handed_return(struct engine *engine, struct visit *visit, const char *id);
void handed_return_all(struct engine *engine, struct visit *visit);

/* notices.c: late answers */
void notices_mark(struct engine *engine, struct principal *principal); /* it has a new one */
void notices_repeat(struct visit *visit); /* what it was told may not have arrived */
/* Hands a result over, with what else there is to tell this visit. */
void notices_reply(struct engine *engine, struct visit *visit, desk_done *done, void *context,
                   const struct desk_reply *reply);

/* patience.c: how long a client lets its calls be held */
void patience_load(struct engine *engine, struct visit *visit);
int64_t patience_bound_ms(struct visit *visit, int64_t wait_ms); /* -1: no end */
/* Everything that was learnt; `done` gets the errand. */
void patience_forget(struct engine *engine, store_done *done, struct errand *errand);
desk_act cut_off_act;

/* form_fact.c: what is known of a client's own forms */
void form_fact_load(struct engine *engine, struct visit *visit);
bool form_fact_may_show(const struct engine *engine, const struct visit *visit,
                        const struct client_side *client);
/* `worked`: the person did something there. */
void form_fact_learn(struct engine *engine, const struct visit *visit, bool worked);

/* client.c: the agent's own client as a channel (R4.2, R4.3) */
struct client_side client_read(const struct json *params);
/* To clients of this ask that can show it and do not; `form_json` NULL: only the store has it. */
void client_offer(struct engine *engine, struct live *live, const char *form_json);
bool client_shows(const struct live *live); /* one does, or is to bring it back (round.c) */
/* An ask is over, or was taken back: who still shows it learns so, where the result does not say
 * it. Who showed it to the very end without a word shows it to nobody. */
void client_end(struct engine *engine, struct live *live, enum ask_event event);
/* What came back, to errand->id; `errand` ends. */
void client_take(struct errand *errand, const char *action, const struct json *content,
                 int64_t shown_ms);
/* {form, language, notes, url?}: members of what a front is told. */
void client_write_form(const struct engine *engine, const struct waiter *waiter,
                       struct json_writer *writer, const char *form_json);
desk_act client_result_act, client_failed_act;

/* round.c: calls that come back with what their client was asked for (MCP 2026-07-28) */
void round_ask(struct engine *engine, struct waiter *waiter, const char *form_json);
/* Once more, because what came was no answer. False: it was asked often enough. */
bool round_ask_again(struct engine *engine, struct live *live, const struct visit *visit);
struct submission;
/* With what it brought, to an ask that is alive. */
void round_resume(struct submission *submission, struct live *live);

/* submit.c: an ask on its way in */
struct submission {
    struct errand errand; /* first */
    const struct ask_tool *tool;
    struct ask_call *call;
    struct ask ask;
    struct match match;
    struct lifecycle_step step;
    int64_t quiet_ms;
    struct wait_terms terms;
    char *state;           /* the client came back with it; NULL: it asks for the first time */
    struct json *response; /* and with this; NULL: nothing */
    struct submission *next_late;
    char *tag;                 /* chosen by the front, comes back with ask/created */
    struct launch_code launch; /* of an ask that waits for a terminal */
    struct text form_json;
    bool opens_browser;      /* once it is stored */
    char rule[ASK_ID_BYTES]; /* the standing answer to it; "": none */
    bool is_question; /* of a conversation: admitted, has its id, and no deadline of our own */
};
/* The question a conversation waits with, under the id it was given, asked by `visit`, which waits
 * for it. */
void submit_question(struct engine *engine, struct visit *visit, const char *id,
                     const struct conversation *machine, desk_done *done, void *context);
void submission_tell_created(const struct submission *submission, const char *id);
void submission_park(struct submission *submission, struct live *live);

/* decide.c */
/* Through the agent's own client. `done` is the engine's own. */
void decide_by_client(enum ask_event event, struct engine *engine, struct visit *visit,
                      const char *id, const struct json *content, desk_done *done, void *context);

/* What was said to a conversation, about the ask of its question. `done` is the engine's own. */
void decide_question(enum ask_event event, struct engine *engine, struct visit *visit,
                     const char *id, const struct json *params, desk_done *done, void *context);

/* submit.c, decide.c, undo.c, retime.c, draft.c, list.c, preferences.c: the acts */
desk_act submit_act;
desk_act answer_act, cancel_act, decline_act, withdraw_act, undo_act, challenge_act;
desk_act extend_act, send_now_act, switch_act;
desk_act draft_act;
desk_act list_act, get_act, watch_act;
void look_reply(struct errand *errand); /* errand->id whole, then it ends */
/* which, agent, before and before_ms of a list. */
struct store_list_query;
bool list_read_query(const struct json *params, struct store_list_query *query, struct error *err);

/* retime.c: what is said about an ask that stays open, from errand->id; `done` is told of it */
struct retime_words {
    enum ask_event event;
    const char *said;
    int64_t version; /* only if it has this one; 0: any */
    bool is_ours;    /* `done` is the engine's own */
};
void retime_say(const struct errand *errand, const struct retime_words *words, desk_done *done,
                void *context);

/* ask_back.c: a person asks back, the agent explains */
desk_act ask_back_act;
void back_tell_waiters(struct engine *engine, struct live *live, const char *question);
/* What others were asked back here is told to who waits here. */
void back_tell_of(struct engine *engine, const struct live *live);
bool back_is_news(const struct live *live); /* nobody was told yet what is asked back */
/* That this open ask is asked back, and what. */
void back_reply(const struct errand *errand, const struct store_row *row);
/* `explanation` of the params of ask/wait, whose session_id is one; then it waits. */
void back_explain(struct engine *engine, struct visit *visit, const struct json *params,
                  const struct wait_terms *terms, desk_done *done, void *context);
/* One object of `talk`. */
void back_write(const struct store_said *said, struct json_writer *writer);

/* rules.c: answers that stand for asks to come; rule_acts.c: what people do with them */
struct rule_subject;
void rules_load(struct engine *engine);
void rules_reload(struct engine *engine); /* others made or revoked some */
void rules_release(struct engine *engine);
/* The id of the one for asks like this; NULL: there is none. */
const char *rules_match(const struct engine *engine, const struct rule_subject *subject);
/* False: it is gone, or does not fit any more. True: it is on its way to the store, and if it comes
 * to nothing the ask is shown. */
bool rules_apply(struct engine *engine, struct live *live, const char *id);
desk_act rule_preview_act, rule_add_act, rule_list_act, rule_remove_act, rule_suggest_act;

/* announce.c: telling a person who looks at none of our screens */
void announce_new(struct engine *engine, const struct live *live);
void announce_taken_up(struct engine *engine, const struct live *live);
void announce_retime(struct engine *engine); /* after remind_minutes has changed */
void announce_ring(struct engine *engine, struct alarm *alarm);
/* index.c */
void index_start(struct engine *engine);
void index_later(struct engine *engine);
void index_ring(struct engine *engine, struct alarm *alarm);

/* history.c, statistics.c */
desk_act history_act, statistics_act;
/* `summary` and `confirmed`, where something was answered. */
void history_write_answer(struct json_writer *writer, const struct store_row *row);

/* later.c */
desk_act later_act;
void later_load(struct engine *engine);
int64_t later_until_ms(const struct engine *engine, const char *id); /* 0: it is not put off */

/* hidden.c */
desk_act hide_act;
void hidden_load(struct engine *engine);
void hidden_release(struct engine *engine);
/* `hidden`, the ids of the options that are; nothing where none can be. */
void hidden_write(const struct engine *engine, const struct ask *ask, struct json_writer *writer);

desk_act settings_list_act, settings_set_act;
void preferences_load(struct engine *engine); /* the person's, as the store has them */

/* mine.c: what an agent sees of its own asks */
desk_act mine_list_act, mine_get_act, mine_follow_act;
void mine_publish(struct engine *engine, struct live *live);
void mine_publish_over(struct engine *engine, const struct live *live);

/* conversation.c: hosts' conversations as the store has them */
struct talk {
    char id[ASK_ID_BYTES], ask_id[ASK_ID_BYTES], earlier_ask_id[ASK_ID_BYTES];
    char principal[PRINCIPAL_BYTES];
    char *token_id, *label; /* owned */
    int64_t version, created_ms, changed_ms, last_event;
    struct conversation machine;
};
/* False: it is not one of ours, or damaged. */
bool talk_read(struct talk *talk, const struct store_conversation *stored, struct error *err);
void talk_release(struct talk *talk);
/* The id that `params` names; false: it is none, and the same is said as of one that is unknown. */
bool talk_read_id(const struct json *params, char *ret_id, struct error *err);
bool talk_refuse_unknown(struct error *err);
bool talk_is_seen_by(const struct talk *talk, const struct visit *visit);
/* Its members, for an object that has more of them. */
void talk_write(const struct engine *engine, const struct talk *talk, struct json_writer *writer);
desk_act conversation_new_act, conversation_list_act, conversation_get_act;

/* conversation_step.c: what is said to one, and what comes of it */
struct saying {
    struct errand errand; /* first; its id is the conversation's */
    enum conversation_event_kind kind;
    struct json *body;  /* as it was said; NULL: nothing with it */
    int64_t if_version; /* 0: any */
    bool is_admitted;   /* the question it brings may be asked */
    struct talk talk;
    struct tool_use *calls; /* TOOL_CALLS */
    size_t call_count;
    /* RESPONSE: the form that was asked, and what was answered to it */
    struct form form;
    struct answer answer;
    struct conversation_step step;
    char asked[ASK_ID_BYTES];             /* the ask that is over; "": none brought this */
    struct text events;                   /* of the step, as the store takes them */
    struct saying *next;                  /* of those that wait for one question to be settled */
    void (*after)(struct saying *saying); /* kept, or, with `failure`, not; NULL: it is replied */
    struct error failure;
};
struct saying *saying_new(struct engine *engine, struct desk_visit *visit, desk_done *done,
                          void *context);
void saying_drop(struct errand *errand); /* what it holds */
/* Reads the conversation, then calls `next`; fails where there is none that the visit sees. */
void saying_load(struct saying *saying, void (*next)(struct errand *errand));
/* The same of the one that `params` name. */
void saying_about(struct saying *saying, const struct json *params,
                  void (*next)(struct errand *errand));
void saying_step(struct errand *errand);                   /* once it is loaded */
void saying_reply(struct saying *saying, bool is_already); /* and ends it */
/* Says that it has no place in this state; ends it. */
void saying_refuse(struct saying *saying);
desk_act conversation_say_act;

/* conversation_events.c: what happened, and who is told */
void conversation_tell(struct engine *engine, const struct talk *talk); /* there is more of it */
desk_act conversation_events_act, conversation_follow_act;

/* conversation_ask.c: a question of a conversation as an ask, and its end as what was said */
void question_begin(struct engine *engine, const struct talk *talk);
bool question_is(const struct engine *engine, const char *ask_id); /* of a conversation, open */
void question_ring(struct engine *engine, struct alarm *alarm);
/* Told when the conversation has gone on behind this ask; false: it has no question of that id. */
bool question_add_decider(struct engine *engine, const char *ask_id, struct saying *saying);
void questions_init(struct engine *engine);
void questions_load(struct engine *engine); /* those that are not known yet */
/* Another hub did something in this conversation. */
void question_follow(struct engine *engine, const char *conversation_id);
void questions_release(struct engine *engine);

/* conversation_decide.c */
void question_decide(struct errand *errand); /* a saying that is loaded; it ends */

/* tokens.c: who may come through HTTP */
desk_act token_new_act, token_list_act, token_revoke_act;
void tokens_load(struct engine *engine);
void tokens_reload(struct engine *engine); /* others made or revoked some */
void tokens_release(struct engine *engine);
void tokens_ring(struct engine *engine, struct alarm *alarm);

/* A tab's token, for who came with a code; the oldest of too many tabs is signed out. */
void tokens_add_tab(struct engine *engine, const char *label, desk_done *done, void *context);

/* session_notes.c: what every hub must know of MCP sessions */
void session_notes_load(struct engine *engine);
void session_notes_read(struct engine *engine); /* again: another hub wrote some */
void session_notes_release(struct engine *engine);

/* portal.c: the way into the portal */
desk_act portal_link_act;
/* Where a browser finds this ask; false: there is no portal. */
bool portal_write_url(const struct engine *engine, const char *id, struct text *out);
void portal_open(struct engine *engine, const char *id);      /* in the person's browser */
int64_t portal_since_browser_ms(const struct engine *engine); /* -1: never */

/* remaining.c */
void remaining_arm(struct engine *engine);
void remaining_ring(struct engine *engine, struct alarm *alarm);

/* keys.c */
void keys_load(struct engine *engine);
void keys_release(struct engine *engine);
void keys_refresh(struct engine *engine); /* makes one where it is time */

/* time.c */
void time_start(struct engine *engine, struct live *live); /* deadline, or end of undo window */
void time_arm(struct engine *engine);
void deadline_ring(struct engine *engine, struct alarm *alarm);

/* draft.c */
void draft_ring(struct engine *engine, struct alarm *alarm);
void draft_save_now(struct engine *engine, struct live *live);

/* effects.c */
/* After a SAVE that worked: performs the rest of the step on the ask and on who waits. `ack` may
 * be NULL, and so may `known`. */
void effects_run(struct engine *engine, struct live *live, const struct lifecycle_step *step,
                 const struct store_change *change, const struct known *known,
                 const struct errand *ack);
void effects_write_ack(const struct engine *engine, const char *id, enum ask_state state,
                       int64_t version, bool is_already, struct text *out);

/* tally.c */
void tally_ended(struct engine *engine, const struct live *live);

/* publish.c: what watchers are told */
/* Room for a line that is written and sent at once; given back, its memory is used again. */
struct text line_take(struct engine *engine);
void line_give(struct engine *engine, struct text *take_line);
void publish(struct engine *engine, struct live *live);
void publish_dirty(struct engine *engine); /* all that changed, the newest first */

/* describe.c: JSON of asks */
int64_t describe_remaining_s(const struct engine *engine, const struct live *live); /* -1: none */
void describe_summary(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer, const char *key);
/* The members alone, for an object that has more of them. */
/* `shown` of what an agent wrote, where that is not what may be shown. */
void describe_shown(const char *title, const char *agent, const char *directory,
                    struct json_writer *writer);
void describe_members(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer);
void describe_live(const struct engine *engine, const struct live *live, struct json_writer *writer,
                   const char *key);
/* A decision as it was just made, so that its own texts need not be read back. Borrowed. */
struct known {
    const struct answer *answer; /* NULL: cancelled or declined */
    const char *cancel_note;
    struct answered_by by;
    const struct form *form; /* as it was read to check the answer; NULL: it was not */
};
/* The agent's result (R2.2) for a row; `out` gets one JSON object. `form` and `known` may be NULL:
 * then the row's own texts are read. */
void describe_result(const struct engine *engine, const struct store_row *row,
                     const struct form *form, const struct known *known, bool is_replayed,
                     struct text *out);
/* That it is open; how a terminal gets it (`command` is ours alone), or what is asked back. */
void describe_open(const struct engine *engine, const struct store_row *row, const char *command,
                   const char *asked_back, struct text *out);
/* How it ended and by whom, for those who came too late. */
void describe_winner(const struct store_row *row, struct text *out);

#endif
