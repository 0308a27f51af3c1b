/*
 * notices.c - a late answer, decided while nobody waited for it, is announced in the results of its
 * principal's next calls (R5.7): once on each connection, until it is collected. The store is asked
 * only when there may be something new for that connection.
 *
 * What a person told the agent after a deadline (engine/ask/decide.c) goes along as it is. The
 * agent has heard it once its side confirms a result with the notices in it; else its next
 * connection is told again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"

enum { NOTICES_LOOKED = 64 }; /* the newest; what is older is found by its id */

/* What a connection was told of, and with the result of which ask. */
struct announced {
    char ids[NOTICES_LOOKED][ASK_ID_BYTES];
    char with[NOTICES_LOOKED][ASK_ID_BYTES]; /* "": there is nothing to be heard */
    size_t next;
};

/* A result on its way out, while the store is asked what else there is to tell. */
struct due_notices {
    struct errand errand; /* first; its id is the ask's whose result it is */
    struct text result;
    enum reply_kind kind;
    int64_t late_count;
    struct notice notices[NOTICES_MOST]; /* texts owned */
    size_t count, more;
};

static void announcement_drop(struct errand *errand)
{
    struct due_notices *announcement = (struct due_notices *)errand;

    for (size_t i = 0; i < announcement->count; i++) {
        free((char *)announcement->notices[i].session_id);
        free((char *)announcement->notices[i].title);
        free((char *)announcement->notices[i].told_json);
    }
    text_release(&announcement->result);
}

void notices_mark(struct engine *engine, struct principal *principal)
{
    principal->late_count = ++engine->late_count;
}

void notices_repeat(struct visit *visit)
{
    visit->late_seen = 0;
    free(visit->announced);
    visit->announced = NULL;
}

static bool is_announced(const struct visit *visit, const char *id)
{
    for (size_t i = 0; visit->announced && i < NOTICES_LOOKED; i++) {
        if (strcmp(visit->announced->ids[i], id) == 0)
            return true;
    }
    return false;
}

static void remember(struct visit *visit, const struct notice *notice, const char *with)
{
    struct announced *announced = visit->announced;
    size_t at;

    if (!announced)
        announced = visit->announced = mem_new(sizeof *visit->announced);
    at = announced->next;
    memcpy(announced->ids[at], notice->session_id, ASK_ID_BYTES);
    memcpy(announced->with[at], notice->told_json ? with : "",
           notice->told_json ? ASK_ID_BYTES : 1);
    announced->next = (at + 1) % NOTICES_LOOKED;
}

static void save_heard(struct engine *engine, const char *principal, const char *id)
{
    struct store_change change = effects_change(engine, id, EVENT_DELIVERED, NULL, NULL);

    change.from_states = state_bit(STATE_TIMEOUT);
    change.principal = principal;
    change.set_flags = ASK_HEARD;
    /* where it fails, the agent's next connection is told again */
    store_write_change(engine->parts.store, &change, errand_forget, errand_to_write(engine));
}

void notices_heard(struct engine *engine, struct visit *visit, const struct json *with)
{
    struct announced *announced = visit->announced;

    for (size_t i = 0; announced && i < NOTICES_LOOKED; i++) {
        bool is_heard = false;

        for (size_t k = 0; announced->with[i][0] && k < json_length(with) && !is_heard; k++) {
            const char *id = json_text(json_item(with, k));

            is_heard = id && strcmp(id, announced->with[i]) == 0;
        }
        if (!is_heard)
            continue;
        announced->with[i][0] = '\0';
        save_heard(engine, visit->principal, announced->ids[i]);
    }
}

/* Neither on its way to somebody, nor within its undo window, nor told before. What is no answer
 * can go along with the result of its own ask. */
static bool is_news(const struct due_notices *announcement, const struct ask *ask)
{
    const struct engine *engine = announcement->errand.engine;
    const char *id = ask->id;

    if (is_announced(announcement->errand.visit, id))
        return false;
    return ask->state == STATE_TIMEOUT ||
           (strcmp(announcement->errand.id, id) != 0 && !live_find(engine, id) &&
            !handed_is_out(engine, id) && !wait_is_delivering(engine, id));
}

static void send(struct due_notices *announcement)
{
    struct visit *visit = announcement->errand.visit;
    struct desk_reply reply = { .session_id = announcement->errand.id, .kind = announcement->kind };

    for (size_t i = 0; i < announcement->count; i++)
        remember(visit, &announcement->notices[i], announcement->errand.id);
    if (announcement->more == 0)
        visit->late_seen = announcement->late_count;
    notices_add(announcement->notices, announcement->count, announcement->more,
                &announcement->result);
    reply.json = text_string(&announcement->result);
    errand_reply(&announcement->errand, &reply);
    errand_end(&announcement->errand);
}

/* What could not be read is told of with the next result. */
static void on_late(void *context, const struct store_row *row, const struct error *err)
{
    struct due_notices *announcement = context;

    if (err)
        announcement->late_count = announcement->errand.visit->late_seen;
    if (!row) {
        send(announcement);
    } else if (is_news(announcement, &row->ask)) {
        if (announcement->count < NOTICES_MOST)
            announcement->notices[announcement->count++] = (struct notice){
                .session_id = mem_text(row->ask.id),
                .title = mem_text(row->ask.title),
                .state = row->ask.state,
                .decided_ms = row->ask.decided_ms,
                .told_json = mem_text(row->answer_json),
            };
        else
            announcement->more++;
    }
}

void notices_reply(struct method_call call, const struct desk_reply *reply)
{
    struct engine *engine = call.engine;
    struct visit *visit = call.visit;
    struct due_notices *announcement;
    int64_t late_count;

    if (visit->is_gone || !call.done)
        return;
    late_count = principal_get(engine, visit->principal)->late_count;
    if (reply->kind == REPLY_FINAL)
        handed_add(engine, visit, reply->session_id);
    if (reply->err.code != ERROR_NONE || visit->late_seen == late_count) {
        call.done(call.context, reply);
        return;
    }
    announcement = errand_new(sizeof *announcement, call);
    announcement->errand.drop = announcement_drop;
    memcpy(announcement->errand.id, reply->session_id, sizeof announcement->errand.id);
    text_add_text(&announcement->result, reply->json);
    announcement->kind = reply->kind;
    announcement->late_count = late_count;
    engine->parts.store->ops->list_undelivered(engine->parts.store, visit->principal,
                                               NOTICES_LOOKED, on_late, announcement);
}
