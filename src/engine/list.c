/* list.c - looking: lists, one ask whole, and watching from now on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "engine/acts.h"
#include "engine/describe.h"
#include "engine/inside.h"
#include "i18n/i18n.h"

enum { LIST_MOST = 10000 };

struct listing {
    struct errand errand; /* first */
    struct text out;
    struct json_writer writer;
    size_t limit, count;
    int64_t last_ms, last_number; /* of the newest row written: where the next page begins */
    bool has_more, has_answers;
};

static void listing_drop(struct errand *errand)
{
    text_release(&((struct listing *)errand)->out);
}

void list_write_next(struct json_writer *writer, int64_t ms, int64_t number)
{
    char next[48];

    snprintf(next, sizeof next, "%" PRId64 "-%" PRId64, ms, number);
    json_write_text(writer, "next", next);
}

static void on_found(void *context, const struct store_row *row, int64_t looked_to,
                     const struct error *err)
{
    struct listing *listing = context;

    if (row && listing->count == listing->limit) { /* one more was asked for than is shown */
        listing->has_more = true;
        return;
    }
    if (row) {
        listing->count++;
        listing->last_ms = row->ask.created_ms;
        listing->last_number = row->number;
        json_write_object(&listing->writer, NULL);
        describe_members(listing->errand.engine, row, &listing->writer);
        if (listing->has_answers)
            history_write_answer(&listing->writer, row);
        json_write_end_object(&listing->writer);
        return;
    }
    if (err) {
        errand_fail(&listing->errand, err, NULL);
        return;
    }
    json_write_end_list(&listing->writer);
    if (listing->has_more)
        list_write_next(&listing->writer, listing->last_ms, listing->last_number);
    else if (looked_to) /* the page is not full: the next call continues there */
        list_write_next(&listing->writer, 1, looked_to);
    json_write_end_object(&listing->writer);
    errand_ok(&listing->errand, text_string(&listing->out));
}

static void on_listed(void *context, const struct store_row *row, const struct error *err)
{
    on_found(context, row, 0, err);
}

bool list_read_group(const struct json *params, enum store_list_which *ret_which)
{
    static const char *const names[] = {
        [STORE_LIST_ALL] = "all",
        [STORE_LIST_OPEN] = "active",
        [STORE_LIST_ENDED] = "completed",
    };
    const char *name = json_member_text(params, "which");

    *ret_which = STORE_LIST_ALL;
    for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0) {
            *ret_which = (enum store_list_which)i;
            return true;
        }
    }
    return !json_member(params, "which");
}

/* A group of states, or one of them by its name. */
static bool read_which(const struct json *params, struct store_list_query *query)
{
    enum ask_state state = state_find(json_member_text(params, "which"));

    if (list_read_group(params, &query->which))
        return true;
    query->which = state_is_open(state) ? STORE_LIST_OPEN : STORE_LIST_ENDED;
    query->states = state_bit(state);
    return state != STATE_NEW;
}

/* The `next` of an earlier page: the time and the number of its last row. */
static bool read_cursor(const struct json *params, struct store_list_query *query)
{
    const char *cursor = json_member_text(params, "before");
    char first[24];
    size_t length = cursor ? strcspn(cursor, "-") : 0;

    if (!json_member(params, "before"))
        return true;
    if (!cursor || length >= sizeof first || cursor[length] != '-')
        return false;
    memcpy(first, cursor, length);
    first[length] = '\0';
    return text_parse_integer(first, &query->before_ms) && query->before_ms > 0 &&
           text_parse_integer(cursor + length + 1, &query->before_number) &&
           query->before_number > 0;
}

bool list_read_query(const struct json *params, struct store_list_query *query, struct error *err)
{
    query->before_ms = json_member_integer(params, "before_ms", 0);
    query->agent = json_member_text(params, "agent");
    if (!read_which(params, query))
        return error_say(err, ERROR_bad_enum, "/which", TEXT_REASON_LIST_WHICH, NULL);
    if (!read_cursor(params, query))
        return error_say(err, ERROR_bad_format, "/before", TEXT_REASON_LIST_BEFORE, NULL);
    return true;
}

void ask_list_method(struct engine *engine, struct visit *visit, const struct json *params,
                     desk_done *done, void *context)
{
    struct store *store = engine->parts.store;
    struct listing *listing = errand_new(sizeof *listing, engine, visit, done, context);
    int64_t limit =
        json_member_integer(params, "limit", engine_setting(engine, SETTING_LIST_COUNT));
    struct store_history_query query = { .list.which = STORE_LIST_ALL };
    struct error err;

    listing->errand.drop = listing_drop;
    if (!list_read_query(params, &query.list, &err)) {
        errand_fail(&listing->errand, &err, NULL);
        return;
    }
    listing->limit = limit < 1 ? 1 : limit > LIST_MOST ? LIST_MOST : (size_t)limit;
    query.list.limit = listing->limit + 1;
    listing->has_answers = json_is_yes(json_member(params, "answers"));
    listing->writer = json_writer_to(&listing->out);
    json_write_object(&listing->writer, NULL);
    json_write_integer(&listing->writer, "seq", store->ops->last_seq(store));
    json_write_list(&listing->writer, "asks");
    /* No index helps to find these, so the store looks at a limited number of asks for a page. */
    if (query.list.which != STORE_LIST_OPEN &&
        (query.list.states || listing->has_answers ||
         (query.list.before_ms && !query.list.before_number)))
        store->ops->history(store, &query, on_found, listing);
    else
        store->ops->list(store, &query.list, on_listed, listing);
}

/* One ask with all there is of it, gathered from the store piece by piece. */
struct view {
    struct errand *errand;
    struct text out;
    struct json_writer writer;
    bool has_talk;
};

static void view_fail(struct view *view, const struct error *err)
{
    errand_fail(view->errand, err, NULL);
    text_release(&view->out);
    free(view);
}

static void on_talk(void *context, const struct store_said *said, const struct error *err)
{
    struct view *view = context;

    if (said) {
        back_write(said, &view->writer);
        return;
    }
    if (err) {
        view_fail(view, err);
        return;
    }
    if (view->has_talk)
        json_write_end_list(&view->writer);
    json_write_end_object(&view->writer);
    errand_ok(view->errand, text_string(&view->out));
    text_release(&view->out);
    free(view);
}

static void on_draft(void *context, const char *json, const struct error *err)
{
    struct view *view = context;
    struct store *store = view->errand->engine->parts.store;

    if (err) {
        view_fail(view, err);
        return;
    }
    if (json)
        json_write_raw(&view->writer, "draft", json);
    if (!view->has_talk) {
        on_talk(view, NULL, NULL);
        return;
    }
    json_write_list(&view->writer, "talk");
    store->ops->list_said(store, view->errand->id, on_talk, view);
}

static void on_got(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;
    struct engine *engine = errand->engine;
    const struct store_row *row = reply->row;
    struct text result = { 0 };
    struct view *view;

    if (reply->outcome != STORE_DONE) {
        errand_not_found(errand, reply);
        return;
    }
    if (errand->visit->tty) /* a page may be open where nobody is */
        seen_mark(engine, errand->visit, row->ask.id);
    view = mem_new(sizeof *view);
    view->errand = errand;
    view->has_talk = row->ask.flags & ASK_TALKED;
    view->writer = json_writer_to(&view->out);
    json_write_object(&view->writer, NULL);
    json_write_integer(&view->writer, "seq", row->seq);
    describe_summary(engine, row, &view->writer, "ask");
    json_write_bool_if(&view->writer, "answer_elsewhere", own_must_leave(errand, row));
    json_write_raw(&view->writer, "form", row->ask.form_json);
    json_write_raw(&view->writer, "answer", row->answer_json ? row->answer_json : "null");
    hidden_write(engine, &row->ask, &view->writer);
    describe_result(engine, row, NULL, NULL, false, &result);
    json_write_raw(&view->writer, "result", text_string(&result));
    text_release(&result);
    engine->parts.store->ops->get_draft(engine->parts.store, row->ask.id, engine->parts.person,
                                        on_draft, view);
}

void look_reply(struct errand *errand)
{
    struct store *store = errand->engine->parts.store;

    store->ops->get(store, errand->id, on_got, errand);
}

void ask_get_method(struct engine *engine, struct visit *visit, const struct json *params,
                    desk_done *done, void *context)
{
    struct errand *errand = errand_new(sizeof *errand, engine, visit, done, context);

    errand_find_ask(errand, params, look_reply);
}

void ask_watch_method(struct engine *engine, struct visit *visit, const struct json *params,
                      desk_done *done, void *context)
{
    visit_watch(engine, visit, json_is_yes(json_member(params, "remaining")));
    ask_list_method(engine, visit, params, done, context);
}
