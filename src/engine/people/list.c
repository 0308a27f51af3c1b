/* list.c - lists of asks: a person's, and an agent's own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/response.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* Looking: lists, one ask whole, and watching from now on. */

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

/* `which` alone, where it is left out or names a group of states. */
static bool list_read_group(const struct json *params, enum store_list_which *ret_which)
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

void ask_list_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct listing *listing = errand_new(sizeof *listing, call);
    int64_t limit =
        json_member_integer(call.params, "limit", engine_setting(call.engine, SETTING_LIST_COUNT));
    struct store_history_query query = { .list.which = STORE_LIST_ALL };
    struct error err;

    listing->errand.drop = listing_drop;
    if (!list_read_query(call.params, &query.list, &err)) {
        errand_fail(&listing->errand, &err, NULL);
        return;
    }
    listing->limit = limit < 1 ? 1 : limit > LIST_MOST ? LIST_MOST : (size_t)limit;
    query.list.limit = listing->limit + 1;
    listing->has_answers = json_is_yes(json_member(call.params, "answers"));
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

void ask_get_method(struct method_call call)
{
    struct errand *errand = errand_new(sizeof *errand, call);

    errand_find_ask(errand, call.params, look_reply);
}

void ask_watch_method(struct method_call call)
{
    visit_watch(call.engine, call.visit, json_is_yes(json_member(call.params, "remaining")));
    ask_list_method(call);
}

/* What an agent may see of its own asks: lists, one whole, and that something changed. Another
 * principal's ask is like none. What a person decided and can still take back is not yet decided
 * for the agent (R5.2), and what they are typing is never shown. */

enum { MINE_MOST = 200 };

struct mine {
    struct errand errand; /* first */
    struct text out;
    struct json_writer writer;
    enum store_list_which which;
};

static void mine_drop(struct errand *errand)
{
    text_release(&((struct mine *)errand)->out);
}

/* As the agent sees it: open until it can no longer be taken back. */
static bool is_open(const struct engine *engine, const struct store_row *row)
{
    return live_find(engine, row->ask.id) != NULL || state_is_open(row->ask.state);
}

static void write_time(struct json_writer *writer, const char *key, int64_t utc_ms)
{
    char when[32];

    if (utc_ms <= 0)
        return;
    response_write_time(utc_ms, when);
    json_write_text(writer, key, when);
}

static void write_ask(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer)
{
    bool is_pending = is_open(engine, row);

    json_write_text(writer, "session_id", row->ask.id);
    json_write_text(writer, "title", row->ask.title);
    json_write_text(writer, "status", is_pending ? "pending" : state_name(row->ask.state));
    write_time(writer, "created_at", row->ask.created_ms);
    if (is_pending)
        write_time(writer, "deadline", row->ask.deadline_ms);
    else
        write_time(writer, "decided_at", row->ask.decided_ms);
}

static void add_ask(struct mine *mine, const struct store_row *row)
{
    json_write_object(&mine->writer, NULL);
    write_ask(mine->errand.engine, row, &mine->writer);
    json_write_end_object(&mine->writer);
}

/* Decided in the store, and not yet for the agent. */
static void add_undoable(struct mine *mine)
{
    const struct engine *engine = mine->errand.engine;
    struct table_link *link = table_each(&engine->by_id, NULL);

    for (; link; link = table_each(&engine->by_id, link)) {
        const struct live *live = TABLE_THING(live, by_id, link);
        struct store_row row = live_row(live);

        if (!state_is_open(live->state) &&
            strcmp(live->principal->id, mine->errand.visit->principal) == 0)
            add_ask(mine, &row);
    }
}

static void on_own_listed(void *context, const struct store_row *row, const struct error *err)
{
    struct mine *mine = context;

    if (row && (mine->which != STORE_LIST_ENDED || !is_open(mine->errand.engine, row)))
        add_ask(mine, row);
    if (row)
        return;
    if (err) {
        errand_fail(&mine->errand, err, NULL);
        return;
    }
    if (mine->which == STORE_LIST_OPEN)
        add_undoable(mine);
    json_write_end_list(&mine->writer);
    json_write_end_object(&mine->writer);
    errand_ok(&mine->errand, text_string(&mine->out));
}

/* Only the characters of ids, or somebody could ask with a pattern. */
static bool read_prefix(const struct json *params, const char **ret_prefix)
{
    const struct json *given = json_member(params, "prefix");
    const char *prefix = json_text(given);

    *ret_prefix = prefix && prefix[0] ? prefix : NULL;
    return !given ||
           (prefix && strspn(prefix, "abcdefghijklmnopqrstuvwxyz234567") == json_length(given));
}

void mine_list_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct mine *mine = errand_new(sizeof *mine, call);
    int64_t limit = json_member_integer(call.params, "limit", MINE_MOST);
    struct store_list_query query = { .principal = call.visit->principal };

    mine->errand.drop = mine_drop;
    if (!list_read_group(call.params, &query.which)) {
        errand_refuse(&mine->errand, ERROR_bad_enum, "/which", "which is all, active or completed");
        return;
    }
    if (!read_prefix(call.params, &query.id_prefix)) {
        errand_refuse(&mine->errand, ERROR_bad_format, "/prefix",
                      "an id has characters of a-z and 2-7");
        return;
    }
    mine->which = query.which;
    query.limit = limit < 1 || limit > MINE_MOST ? MINE_MOST : (size_t)limit;
    mine->writer = json_writer_to(&mine->out);
    json_write_object(&mine->writer, NULL);
    json_write_list(&mine->writer, "asks");
    store->ops->list(store, &query, on_own_listed, mine);
}

static void on_own_got(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;
    const struct store_row *row = reply->row;
    struct text out = { 0 }, result = { 0 };
    struct json_writer writer = json_writer_to(&out);

    if (reply->outcome != STORE_DONE || strcmp(row->ask.principal, errand->visit->principal) != 0) {
        errand_not_found(errand, reply);
        return;
    }
    json_write_object(&writer, NULL);
    write_ask(errand->engine, row, &writer);
    json_write_raw(&writer, "form", row->ask.form_json);
    if (!is_open(errand->engine, row)) {
        describe_result(errand->engine, row, NULL, NULL, false, &result);
        json_write_raw(&writer, "result", text_string(&result));
    }
    json_write_end_object(&writer);
    errand_ok(errand, text_string(&out));
    text_release(&out);
    text_release(&result);
}

static void get_found(struct errand *errand)
{
    struct store *store = errand->engine->parts.store;

    store->ops->get(store, errand->id, on_own_got, errand);
}

void mine_get_method(struct method_call call)
{
    struct errand *errand = errand_new(sizeof *errand, call);

    errand_find_ask(errand, call.params, get_found);
}

/* Never answered: who lost the hub asks the next one again, and hears that it may have missed
 * something. */
void mine_follow_method(struct method_call call)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"mine/following\",\"params\":{}}";
    struct visit *follower = call.visit;

    visit_follow(call.engine, follower);
    visit_tell(follower, line, sizeof line - 1);
}

static void tell(struct engine *engine, const struct live *live, bool is_over)
{
    struct text line = { 0 };
    struct visit *visit = engine->follower_count ? engine->visits : NULL;

    for (; visit; visit = visit->next) {
        if (!visit->is_following || strcmp(visit->principal, live->principal->id) != 0)
            continue;
        if (!line.used)
            text_add_format(&line,
                            "{\"jsonrpc\":\"2.0\",\"method\":\"mine/changed\",\"params\":"
                            "{\"session_id\":\"%s\",\"over\":%s}}",
                            live->id, is_over ? "true" : "false");
        visit_tell(visit, line.bytes, line.used);
    }
    text_release(&line);
}

/* Not of every key a person types: only what raises the version is to be seen by agents. */
void mine_publish(struct engine *engine, struct live *live)
{
    if (!state_is_open(live->state) || live->is_told)
        return;
    live->is_told = true;
    tell(engine, live, false);
}

void mine_publish_over(struct engine *engine, const struct live *live)
{
    if (!state_is_open(live->state))
        tell(engine, live, true);
}
