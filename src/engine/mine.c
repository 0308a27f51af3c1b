/*
 * mine.c - what an agent may see of its own asks: lists, one whole, and that something changed.
 * Another principal's ask is like none. What a person decided and can still take back is not yet
 * decided for the agent (R5.2), and what they are typing is never shown.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/response.h"
#include "engine/acts.h"
#include "engine/describe.h"
#include "engine/inside.h"

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

static void on_listed(void *context, const struct store_row *row, const struct error *err)
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

void mine_list_method(struct engine *engine, struct visit *visit, const struct json *params,
                      desk_done *done, void *context)
{
    struct store *store = engine->parts.store;
    struct mine *mine = errand_new(sizeof *mine, engine, visit, done, context);
    int64_t limit = json_member_integer(params, "limit", MINE_MOST);
    struct store_list_query query = { .principal = visit->principal };

    mine->errand.drop = mine_drop;
    if (!list_read_group(params, &query.which)) {
        errand_refuse(&mine->errand, ERROR_bad_enum, "/which", "which is all, active or completed");
        return;
    }
    if (!read_prefix(params, &query.id_prefix)) {
        errand_refuse(&mine->errand, ERROR_bad_format, "/prefix",
                      "an id has characters of a-z and 2-7");
        return;
    }
    mine->which = query.which;
    query.limit = limit < 1 || limit > MINE_MOST ? MINE_MOST : (size_t)limit;
    mine->writer = json_writer_to(&mine->out);
    json_write_object(&mine->writer, NULL);
    json_write_list(&mine->writer, "asks");
    store->ops->list(store, &query, on_listed, mine);
}

static void on_got(void *context, const struct store_reply *reply)
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

    store->ops->get(store, errand->id, on_got, errand);
}

void mine_get_method(struct engine *engine, struct visit *visit, const struct json *params,
                     desk_done *done, void *context)
{
    struct errand *errand = errand_new(sizeof *errand, engine, visit, done, context);

    errand_find_ask(errand, params, get_found);
}

/* Never answered: who lost the hub asks the next one again, and hears that it may have missed
 * something. */
void mine_follow_method(struct engine *engine, struct visit *visit, const struct json *params,
                        desk_done *done, void *context)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"mine/following\",\"params\":{}}";
    struct visit *follower = visit;

    (void)params;
    (void)done;
    (void)context;
    visit_follow(engine, follower);
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
