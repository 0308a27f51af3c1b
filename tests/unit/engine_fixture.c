/* engine_fixture.c - see engine_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "core/ask.h"
#include "make_directory.h"
#include "remove_tree.h"
#include "store/row.h"
#include "store/writes.h"

enum { WAIT_LIMIT_MS = 300000 }; /* only catches hangs */

/* A write on its way through the stage's store. */
struct passage {
    struct passage *next;
    struct stage_store *store;
    char what[40];
    store_done *done;
    void *context;
    struct store_change *change; /* held before it reached the store; owned with its texts */
    struct store_reply reply;
    struct store_row *row; /* owned */
    bool has_reply;
};

static void append(struct passage **list, struct passage *passage)
{
    while (*list)
        list = &(*list)->next;
    passage->next = NULL;
    *list = passage;
}

static struct passage *passage_new(struct stage_store *store, store_done *done, void *context,
                                   const char *what)
{
    struct passage *passage = mem_new(sizeof *passage);

    passage->store = store;
    passage->done = done;
    passage->context = context;
    snprintf(passage->what, sizeof passage->what, "%s", what);
    return passage;
}

static void free_change(struct store_change *change)
{
    const char *const texts[] = { change->ask_id,  change->principal,   change->actor_json,
                                  change->person,  change->answer_json, change->answer_key,
                                  change->more_ids };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free((void *)(uintptr_t)texts[i]);
    free(change);
}

static struct store_change *copy_change(const struct store_change *change)
{
    struct store_change *copy = mem_new(sizeof *copy);

    *copy = *change;
    copy->ask_id = mem_text(change->ask_id);
    copy->more_ids = mem_text(change->more_ids);
    copy->principal = mem_text(change->principal);
    copy->actor_json = mem_text(change->actor_json);
    copy->person = mem_text(change->person);
    copy->answer_json = mem_text(change->answer_json);
    copy->answer_key = mem_text(change->answer_key);
    return copy;
}

static void finish(struct passage *passage, const struct store_reply *reply)
{
    static const char *const outcomes[] = { "done", "lost", "repeated", "missing", "failed" };

    stage_note(passage->store->stage, "%s %s", passage->what, outcomes[reply->outcome]);
    passage->done(passage->context, reply);
    if (passage->change)
        free_change(passage->change);
    free(passage->row);
    free(passage);
}

static void stage_passed(void *context, const struct store_reply *reply)
{
    struct passage *passage = context;
    struct stage_store *store = passage->store;

    store->outstanding--;
    if (!store->holds_replies) {
        finish(passage, reply);
        return;
    }
    passage->reply = *reply;
    passage->row = reply->row ? row_copy(reply->row) : NULL;
    passage->reply.row = passage->row;
    passage->has_reply = true;
    append(&store->held, passage);
}

/* Writes never complete before they return, so the failure waits for the next turn. */
static void fail_later(struct passage *passage)
{
    passage->reply = (struct store_reply){ .outcome = STORE_FAILED };
    error_set(&passage->reply.err, ERROR_storage_failed, "", "the disk said no");
    append(&passage->store->failures, passage);
}

static struct stage_store *own(struct store *store)
{
    return (struct stage_store *)store;
}

static bool fails(const struct stage_store *store, enum write_kind what, const void *values)
{
    switch (what) {
    case WRITE_create:
        return store->fails_create;
    case WRITE_change:
        return store->fails_events >> ((const struct store_change *)values)->event & 1;
    case WRITE_mark:
        return store->fails_marks;
    case WRITE_draft:
        return store->fails_drafts;
    case WRITE_token:
    case WRITE_token_revoke:
    case WRITE_token_use:
        return store->fails_tokens;
    case WRITE_key:
        return store->fails_keys;
    case WRITE_conversation:
    case WRITE_conversation_step:
        return store->fails_conversations;
    case WRITE_shift:
        return store->fails_shifts;
    case WRITE_sweep:
    case WRITE_index:
        return store->fails_sweeps;
    default:
        return store->fails_settings;
    }
}

static void pass_on(struct passage *passage, enum write_kind what, const void *values)
{
    struct store *inner = passage->store->inner;

    passage->store->outstanding++;
    inner->ops->write(inner, what, values, stage_passed, passage);
}

static void change(struct stage_store *store, struct passage *passage,
                   const struct store_change *values)
{
    struct store_change timeless = *values;

    if (!store->stage->is_shared) /* the stage's clock says that it is time, not the store's */
        timeless.when = STORE_ANY_TIME;
    if (store->holds_writes >> values->event & 1) {
        passage->change = copy_change(&timeless);
        append(&store->held, passage);
    } else {
        pass_on(passage, WRITE_change, &timeless);
    }
}

static void stage_store_write(struct store *port, enum write_kind what, const void *values,
                              store_done *done, void *context)
{
    struct stage_store *store = own(port);
    const char *note = what == WRITE_change
                           ? event_name(((const struct store_change *)values)->event)
                           : write_rows[what].name;
    struct passage *passage = passage_new(store, done, context, note);
    void (*meanwhile)(void *context) = what == WRITE_create ? store->meanwhile : NULL;

    if (meanwhile) {
        store->meanwhile = NULL;
        meanwhile(store->meanwhile_context);
    }
    store->writes[what]++;
    if (fails(store, what, values))
        fail_later(passage);
    else if (what == WRITE_change)
        change(store, passage, values);
    else
        pass_on(passage, what, values);
}

static void fail_read(store_done *done, void *context)
{
    struct store_reply reply = { .outcome = STORE_FAILED };

    error_set(&reply.err, ERROR_storage_failed, "", "the disk can't be read");
    done(context, &reply);
}

static void stage_store_get(struct store *port, const char *ask_id, int64_t seq, store_done *done,
                            void *context)
{
    struct stage_store *store = own(port);

    if (store->fails_reads)
        fail_read(done, context);
    else if (store->misses_reads)
        done(context, &(struct store_reply){ .outcome = STORE_MISSING });
    else
        stage_get(port, ask_id, seq, done, context);
}

static void stage_store_undelivered(struct store *port, const char *principal,
                                    const uint8_t *digest, const char *key, store_done *done,
                                    void *context)
{
    if (own(port)->fails_reads)
        fail_read(done, context);
    else
        stage_find_undelivered(port, principal, digest, key, done, context);
}

static const struct store_ops stage_ops = {
    /* the rest is added at the start */
    .write = stage_store_write,
    .get = stage_store_get,
    .find_undelivered = stage_store_undelivered,
};

static void on_news_ask(void *context, const struct store_row *row)
{
    struct stage *stage = context;

    stage_note(stage, "news of ask");
    stage->news->ask(stage->news_context, row);
}

static void on_news_conversation(void *context, const char *id)
{
    struct stage *stage = context;

    stage_note(stage, "news of conversation");
    if (!stage->drops_news)
        stage->news->conversation(stage->news_context, id);
}

static void on_news_abandoned(void *context, const char *id)
{
    struct stage *stage = context;

    stage_note(stage, "news of abandoned");
    stage->news->abandoned(stage->news_context, id);
}

static void on_news_facts(void *context)
{
    struct stage *stage = context;

    stage_note(stage, "news of facts");
    stage->news->facts(stage->news_context);
}

static void on_news_resync(void *context)
{
    struct stage *stage = context;

    stage_note(stage, "resync");
    stage->news->resync(stage->news_context);
}

static void pass_follow(struct store *port, const struct store_news *news, void *context)
{
    static const struct store_news noted = { on_news_ask, on_news_conversation, on_news_facts,
                                             on_news_resync, on_news_abandoned };
    struct stage_store *store = own(port);

    store->stage->news = news;
    store->stage->news_context = context;
    store->inner->ops->follow(store->inner, &noted, store->stage);
}

static int64_t pass_utc_ms(struct store *port)
{
    return own(port)->inner->ops->utc_ms(own(port)->inner);
}

static bool pass_is_reachable(struct store *port)
{
    return own(port)->inner->ops->is_reachable(own(port)->inner);
}

static struct store_ops ops_of(const struct stage *stage)
{
    struct store_ops ops = stage_ops;

    stage_add_reads(&ops);
    if (stage->is_shared) {
        ops.follow = pass_follow;
        ops.utc_ms = pass_utc_ms;
        ops.is_reachable = pass_is_reachable;
    }
    return ops;
}

static int64_t clock_boot_ms(struct clock *port)
{
    const struct stage_clock *clock = (struct stage_clock *)port;

    return clock->real ? loop_boot_ms() : clock->boot_ms;
}

static int64_t clock_utc_ms(struct clock *port)
{
    const struct stage_clock *clock = (struct stage_clock *)port;
    struct store *inner = clock->real ? clock->real->store.inner : NULL;

    return inner ? inner->ops->utc_ms(inner) : clock->utc_ms;
}

static void clock_wake_at(struct clock *clock, int64_t boot_ms)
{
    ((struct stage_clock *)clock)->wake_ms = boot_ms;
}

static void before_sleep(void *context)
{
    struct stage *stage = context;

    if (stage->is_settling && stage->store.outstanding + stage->store.reading == 0)
        loop_stop(stage->loop);
}

static void tell_failures(struct stage *stage)
{
    while (stage->store.failures) {
        struct passage *passage = stage->store.failures;

        stage->store.failures = passage->next;
        finish(passage, &passage->reply);
    }
}

void stage_settle(struct stage *stage)
{
    const struct stage_store *store = &stage->store;

    while (store->outstanding + store->reading > 0 || store->failures) {
        tell_failures(stage);
        stage->is_settling = true;
        if (store->outstanding + store->reading > 0)
            loop_run(stage->loop);
        stage->is_settling = false;
    }
    engine_flush(stage->engine);
}

struct stage_watch {
    struct stage *stage;
    struct loop_timer *timer;
    bool (*is_done)(void *context);
    void *context;
};

static void on_tick(void *context)
{
    const struct stage_watch *watch = context;

    loop_timer_at(watch->timer, loop_boot_ms() + 10);
}

static bool look_once(void *context)
{
    const struct stage_watch *watch = context;
    struct stage *stage = watch->stage;

    if (stage->clock.wake_ms >= 0 && stage->clock.wake_ms <= loop_boot_ms()) {
        stage->clock.wake_ms = -1;
        engine_on_time(stage->engine);
    }
    engine_flush(stage->engine);
    return watch->is_done(watch->context);
}

void stage_wait(struct stage *stage, bool (*is_done)(void *context), void *context)
{
    struct stage_watch watch = { stage, NULL, is_done, context };
    bool has_come;

    watch.timer = loop_timer_new(stage->loop, on_tick, &watch);
    on_tick(&watch);
    has_come = loop_run_until(stage->loop, look_once, &watch, loop_boot_ms() + WAIT_LIMIT_MS);
    loop_timer_free(watch.timer);
    for (size_t i = 0; !has_come && i < stage->note_count; i++)
        print_message("noted: %s\n", stage->notes[i]);
    assert_true(has_come);
    stage_settle(stage);
}

void stage_release(struct stage *stage)
{
    struct stage_store *store = &stage->store;

    store->holds_writes = 0;
    store->holds_replies = false;
    while (store->held) {
        struct passage *passage = store->held;

        store->held = passage->next;
        if (passage->has_reply) {
            finish(passage, &passage->reply);
            continue;
        }
        pass_on(passage, WRITE_change, passage->change);
        stage_settle(stage);
    }
    stage_settle(stage);
}

void stage_advance(struct stage *stage, int64_t ms)
{
    struct stage_clock *clock = &stage->clock;
    int64_t until = clock->boot_ms + ms;

    stage_settle(stage);
    while (clock->wake_ms >= 0 && clock->wake_ms <= until) {
        int64_t step = clock->wake_ms > clock->boot_ms ? clock->wake_ms - clock->boot_ms : 0;

        clock->boot_ms += step;
        clock->utc_ms += step;
        clock->wake_ms = -1;
        engine_on_time(stage->engine);
        stage_settle(stage);
    }
    clock->utc_ms += until - clock->boot_ms;
    clock->boot_ms = until;
}

void stage_sleep(struct stage *stage, int64_t ms)
{
    stage->clock.boot_ms += ms;
    stage->clock.utc_ms += ms;
    stage->clock.wake_ms = -1;
    engine_on_time(stage->engine);
    stage_settle(stage);
}

static void on_announcement(void *context, const struct announcement *announcement)
{
    stage_note(context, "%s %s", announcement->is_reminder ? "reminded of" : "told of",
               announcement->title);
}

static void open_engine(struct stage *stage)
{
    struct engine_parts parts = {
        .store = &stage->store.port,
        .clock = &stage->clock.port,
        .settings = stage->settings,
        .uid = 1000,
        .person = "owner",
        .settings_path = stage->settings_path,
        .terminal_built = stage->terminal_built,
        .program = stage->program ? stage->program : "/usr/bin/sayso",
        .announce = stage->announces ? on_announcement : NULL,
        .context = stage,
    };

    stage->store.inner = chosen_open(stage->loop, stage->where);
    stage->clock.wake_ms = -1;
    stage->engine = engine_new(&parts);
    if (stage->portal_url)
        engine_set_portal(stage->engine, stage->portal_url);
    stage->service = engine_service(stage->engine);
}

static void close_engine(struct stage *stage)
{
    for (struct caller *caller = stage->callers; caller; caller = caller->next)
        caller_leave(caller);
    stage_release(stage);
    stage->store.inner->ops->close(stage->store.inner);
    engine_free(stage->engine);
    stage->engine = NULL;
}

struct stage *stage_open(const char *shared_where)
{
    struct stage *stage = mem_new(sizeof *stage);

    log_set_level(LOG_ERROR + 1);
    assert_non_null(make_directory(stage->directory, sizeof stage->directory, "sayso-engine"));
    snprintf(stage->path, sizeof stage->path, "%s/store.db", stage->directory);
    snprintf(stage->settings_path, sizeof stage->settings_path, "%s/settings.json",
             stage->directory);
    stage->is_shared = shared_where != NULL;
    if (shared_where)
        text_put(stage->where, sizeof stage->where, shared_where);
    else
        chosen_begin(stage->path, stage->where);
    stage->ops = ops_of(stage);
    stage->store = (struct stage_store){ .port.ops = &stage->ops, .stage = stage };
    stage->clock = (struct stage_clock){
        .port = { .boot_ms = clock_boot_ms, .utc_ms = clock_utc_ms, .wake_at = clock_wake_at },
        .boot_ms = STAGE_BOOT_MS,
        .utc_ms = STAGE_UTC_MS,
        .real = shared_where ? stage : NULL,
    };
    stage->settings = settings_new();
    stage->loop = loop_new();
    loop_before_sleep(stage->loop, before_sleep, stage);
    open_engine(stage);
    stage_settle(stage);
    return stage;
}

void stage_close(struct stage *stage)
{
    close_engine(stage);
    callers_release(stage);
    loop_free(stage->loop);
    settings_free(stage->settings);
    stage_forget(stage);
    remove_tree(stage->directory);
    free(stage);
}

int stage_set_up(void **state)
{
    *state = stage_open(NULL);
    return 0;
}

int stage_tear_down(void **state)
{
    stage_close(*state);
    return 0;
}

void stage_restart(struct stage *stage)
{
    close_engine(stage);
    stage->store = (struct stage_store){ .port.ops = &stage->ops, .stage = stage };
    open_engine(stage);
    stage_settle(stage);
}

void stage_crash(struct stage *stage)
{
    stage_settle(stage);
    stage->store.fails_create = stage->store.fails_drafts = stage->store.fails_sweeps = true;
    stage->store.fails_shifts = stage->store.fails_settings = true;
    stage->store.fails_events = UINT32_MAX;
    stage_restart(stage);
}

void stage_set(struct stage *stage, const char *name, const char *value)
{
    assert_true(settings_put_saved(stage->settings, name, value));
}
