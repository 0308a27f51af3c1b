/*
 * notices.c - a late answer, decided while nobody waited for it, is announced in the results of its
 * principal's next calls (R5.7): once on each connection, until it is collected. The store is asked
 * only when there may be something new for that connection.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/notice.h"
#include "engine/inside.h"
#include "engine/waits.h"

enum { NOTICES_LOOKED = 64 }; /* the newest; what is older is found by its id */

/* What a connection was told of. */
struct announced {
    char ids[NOTICES_LOOKED][ASK_ID_BYTES];
    size_t next;
};

/* A result on its way out, while the store is asked what else there is to tell. */
struct announcement {
    struct errand errand; /* first; its id is the ask's whose result it is */
    struct text result;
    enum reply_kind kind;
    int64_t late_count;
    struct notice notices[NOTICES_MOST]; /* texts owned */
    size_t count, more;
};

static void announcement_drop(struct errand *errand)
{
    struct announcement *announcement = (struct announcement *)errand;

    for (size_t i = 0; i < announcement->count; i++) {
        free((char *)announcement->notices[i].session_id);
        free((char *)announcement->notices[i].title);
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

static void remember(struct visit *visit, const char *id)
{
    if (!visit->announced)
        visit->announced = mem_new(sizeof *visit->announced);
    memcpy(visit->announced->ids[visit->announced->next], id, ASK_ID_BYTES);
    visit->announced->next = (visit->announced->next + 1) % NOTICES_LOOKED;
}

/* Neither on its way to somebody, nor within its undo window, nor told before. */
static bool is_news(const struct announcement *announcement, const char *id)
{
    const struct engine *engine = announcement->errand.engine;

    return strcmp(announcement->errand.id, id) != 0 && !live_find(engine, id) &&
           !handed_is_out(engine, id) && !wait_is_delivering(engine, id) &&
           !is_announced(announcement->errand.visit, id);
}

static void send(struct announcement *announcement)
{
    struct visit *visit = announcement->errand.visit;
    struct desk_reply reply = { .session_id = announcement->errand.id, .kind = announcement->kind };

    for (size_t i = 0; i < announcement->count; i++)
        remember(visit, announcement->notices[i].session_id);
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
    struct announcement *announcement = context;

    if (err)
        announcement->late_count = announcement->errand.visit->late_seen;
    if (!row) {
        send(announcement);
    } else if (is_news(announcement, row->ask.id)) {
        if (announcement->count < NOTICES_MOST)
            announcement->notices[announcement->count++] = (struct notice){
                .session_id = mem_text(row->ask.id),
                .title = mem_text(row->ask.title),
                .state = row->ask.state,
                .decided_ms = row->ask.decided_ms,
            };
        else
            announcement->more++;
    }
}

void notices_reply(struct engine *engine, struct visit *visit, desk_done *done, void *context,
                   const struct desk_reply *reply)
{
    struct store *store = engine->parts.store;
    int64_t late_count = principal_get(engine, visit->principal)->late_count;
    struct announcement *announcement;

    if (reply->kind == REPLY_FINAL)
        handed_add(engine, visit, reply->session_id);
    if (reply->err.code != ERROR_NONE || visit->late_seen == late_count) {
        done(context, reply);
        return;
    }
    announcement =
        errand_new(sizeof *announcement, engine, (struct desk_visit *)visit, done, context);
    announcement->errand.drop = announcement_drop;
    memcpy(announcement->errand.id, reply->session_id, sizeof announcement->errand.id);
    text_add_text(&announcement->result, reply->json);
    announcement->kind = reply->kind;
    announcement->late_count = late_count;
    store->ops->list_undelivered(store, visit->principal, NOTICES_LOOKED, on_late, announcement);
}
