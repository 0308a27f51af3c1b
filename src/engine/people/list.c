/* list.c - lists of asks: a person's, now and in the past, and an agent's own; figures of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/fields/form.h"
#include "core/search_text.h"
#include "core/visible_text.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

enum { HISTORY_SUMMARY_BYTES = 400 };

static void add_shown(struct text *out, const char *text)
{
    if (out->used > 0)
        text_add_text(out, "; ");
    visible_text(text, strlen(text), VISIBLE_ONE_LINE, out);
}

static void add_value(struct text *out, const struct field *field, const struct field_value *value)
{
    char number[32];

    for (size_t i = 0; value->is_selected && i < value->option_count; i++) {
        if (value->is_selected[i])
            add_shown(out, field->options[i].label);
    }
    if (value->text)
        add_shown(out, value->text);
    if (value->has_number) {
        snprintf(number, sizeof number, "%.10g", value->number);
        add_shown(out, number);
    }
}

/* An answer as the store has it, read back. */
struct row_answer {
    struct json *given;
    struct form form;
    struct answer answer;
};

/* False: nothing was answered, or no answer to what was asked. */
static bool row_answer_read(struct row_answer *read, const struct store_row *row)
{
    *read = (struct row_answer){ .given = json_of(row->answer_json) };
    return read->given &&
           form_parse(row->ask.form_json, strlen(row->ask.form_json), &read->form, NULL) &&
           answer_check(&read->form, read->given, &read->answer, NULL);
}

static void row_answer_release(struct row_answer *read)
{
    answer_release(&read->answer);
    form_release(&read->form);
    json_free(read->given);
}

/* What was answered, in one line; yes and no are words of the reader's own language. */
void history_write_answer(struct json_writer *writer, const struct store_row *row)
{
    struct text summary = { .max_bytes = HISTORY_SUMMARY_BYTES };
    struct row_answer read;
    bool is_answer = row_answer_read(&read, row) && row->ask.state != STATE_CANCELLED &&
                     row->ask.state != STATE_DECLINED;
    const struct answer *answer = &read.answer;
    const char *note = json_member_text(read.given, "global_annotation");

    for (size_t i = 0; is_answer && i < answer->value_count; i++)
        add_value(&summary, &read.form.fields[i], &answer->values[i]);
    if (is_answer && answer->value_count == 1 && answer->values[0].has_confirm)
        json_write_bool(writer, "confirmed", answer->values[0].confirmed);
    if (summary.used == 0 && note)
        add_shown(&summary, note);
    if (summary.used > 0)
        json_write_text_n(writer, "summary", text_string(&summary), summary.used);
    row_answer_release(&read);
    text_release(&summary);
}

/* Looking: lists, one ask whole, and watching from now on. */

enum {
    LIST_MAX = 10000,
    HISTORY_MAX = 200,
    HISTORY_DEFAULT = 20,
    HISTORY_WHOLE = 50,           /* at most so many with everything, */
    HISTORY_WHOLE_BYTES = 262144, /* and no more once there are so many bytes */
};

/* A page of asks, newest first. */
struct page {
    struct writing writing; /* first */
    size_t limit, count;
    int64_t last_ms, last_number; /* of the newest row written: where the next page begins */
    bool has_more, has_answers;
    bool is_whole; /* with form, answer and result */
};

/* How it ended, or that it has not. */
static void write_result(const struct engine *engine, const struct store_row *row,
                         struct json_writer *writer)
{
    struct text result = { 0 };

    describe_result(engine, row, NULL, NULL, false, &result);
    json_write_raw(writer, "result", text_string(&result));
    text_release(&result);
}

static void write_whole(struct page *page, const struct store_row *row)
{
    struct json_writer *writer = &page->writing.writer;

    json_write_text(writer, "tool", row->ask.tool ? row->ask.tool : "");
    json_write_raw(writer, "form", row->ask.form_json);
    json_write_raw(writer, "answer", row->answer_json ? row->answer_json : "null");
    write_result(page->writing.operation.engine, row, writer);
}

/* How much of everything is older than what was looked at, roughly: for who shows how far it is. */
static void write_left(struct page *page, int64_t number)
{
    struct store *store = page->writing.operation.engine->parts.store;
    int64_t newest = store->ops->last_seq(store);

    if (page->is_whole && newest > 0)
        json_write_integer(&page->writing.writer, "left_permille", number * 1000 / newest);
}

static void write_row(struct page *page, const struct store_row *row)
{
    struct json_writer *writer = &page->writing.writer;

    page->count++;
    page->last_ms = row->ask.created_ms;
    page->last_number = row->number;
    json_write_object(writer, NULL);
    describe_members(page->writing.operation.engine, row, writer);
    if (page->has_answers)
        history_write_answer(writer, row);
    if (page->is_whole)
        write_whole(page, row);
    json_write_end_object(writer);
}

/* `looked_to` also of a page that is not full: the next call continues there. */
static void end_page(struct page *page, int64_t looked_to)
{
    struct json_writer *writer = &page->writing.writer;
    int64_t number = page->has_more ? page->last_number : looked_to;
    char next[48];

    json_write_end_list(writer);
    if (number) {
        snprintf(next, sizeof next, "%" PRId64 "-%" PRId64, page->has_more ? page->last_ms : 1,
                 number);
        json_write_text(writer, "next", next);
        write_left(page, number);
    }
    writing_end(&page->writing);
}

static void on_found(void *context, const struct store_row *row, int64_t looked_to,
                     const struct error *err)
{
    struct page *page = context;
    bool is_full = page->count == page->limit ||
                   (page->is_whole && page->writing.out.used > HISTORY_WHOLE_BYTES);

    if (row && is_full) /* one more was asked for than is shown */
        page->has_more = true;
    else if (row)
        write_row(page, row);
    else if (err)
        operation_fail(&page->writing.operation, err, NULL);
    else
        end_page(page, looked_to);
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

/* which, agent, before and before_ms. */
static bool read_query(const struct json *params, struct store_list_query *query, struct error *err)
{
    query->before_ms = json_member_integer(params, "before_ms", 0);
    query->agent = json_member_text(params, "agent");
    if (!read_which(params, query))
        return error_say(err, ERROR_bad_enum, "/which", TEXT_REASON_LIST_WHICH, NULL);
    if (!read_cursor(params, query))
        return error_say(err, ERROR_bad_format, "/before", TEXT_REASON_LIST_BEFORE, NULL);
    return true;
}

static void begin_page(struct page *page, int64_t limit, int64_t max,
                       struct store_list_query *query)
{
    page->limit = limit < 1 ? 1 : limit > max ? (size_t)max : (size_t)limit;
    query->limit = page->limit + 1;
}

void ask_list_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct page *page = writing_new(sizeof *page, call);
    int64_t usual = engine_setting(call.engine, SETTING_LIST_COUNT);
    struct store_history_query query = { .list.which = STORE_LIST_ALL };
    struct error err;

    if (!operation_may(&page->writing.operation, read_query(call.params, &query.list, &err), &err))
        return;
    begin_page(page, json_member_integer(call.params, "limit", usual), LIST_MAX, &query.list);
    page->has_answers = json_is_true(json_member(call.params, "answers"));
    json_write_integer(&page->writing.writer, "seq", store->ops->last_seq(store));
    json_write_list(&page->writing.writer, "asks");
    /* No index helps to find these, so the store looks at a limited number of asks for a page. */
    if (query.list.which != STORE_LIST_OPEN &&
        (query.list.states || page->has_answers ||
         (query.list.before_ms && !query.list.before_number)))
        store->ops->history(store, &query, on_found, page);
    else
        store->ops->list(store, &query.list, on_listed, page);
}

static bool read_filters(const struct json *params, struct store_history_query *query,
                         struct search_terms *terms, struct error *err)
{
    const struct json *search = json_member(params, "search");

    if (!read_query(params, &query->list, err))
        return false;
    query->via = json_member_text(params, "via");
    query->since_ms = json_member_integer(params, "since_ms", 0);
    query->until_ms = json_member_integer(params, "until_ms", 0);
    if (search && (!json_text(search) || strlen(json_text(search)) != json_length(search)))
        return error_say(err, ERROR_bad_type, "/search", TEXT_REASON_SEARCH_TEXT, NULL);
    if (search && !search_terms_read(json_text(search), terms, err))
        return false;
    query->search = terms->count ? terms : NULL;
    return true;
}

/* Looking back: asks with what was answered, found by words, channel, agent and time. */
void ask_history_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct page *page = writing_new(sizeof *page, call);
    int64_t limit = json_member_integer(call.params, "limit", HISTORY_DEFAULT);
    struct store_history_query query = { .list.which = STORE_LIST_ALL };
    struct search_terms terms = { 0 };
    struct error err;

    if (read_filters(call.params, &query, &terms, &err)) {
        page->has_answers = true;
        page->is_whole = json_is_true(json_member(call.params, "whole"));
        begin_page(page, limit, page->is_whole ? HISTORY_WHOLE : HISTORY_MAX, &query.list);
        json_write_list(&page->writing.writer, "asks");
        store->ops->history(store, &query, on_found, page);
    } else {
        operation_fail(&page->writing.operation, &err, NULL);
    }
    search_terms_release(&terms);
}

/* One ask with all there is of it, gathered from the store piece by piece. */
struct view {
    struct operation *operation;
    struct text out;
    struct json_writer writer;
    bool has_talk;
};

/* `err` NULL: all of it is written. */
static void view_end(struct view *view, const struct error *err)
{
    if (err)
        operation_fail(view->operation, err, NULL);
    else
        operation_ok(view->operation, text_string(&view->out));
    text_release(&view->out);
    free(view);
}

static void on_talk(void *context, const struct store_said *said, const struct error *err)
{
    struct view *view = context;

    if (said) {
        ask_back_write(said, &view->writer);
        return;
    }
    if (view->has_talk)
        json_write_end_list(&view->writer);
    json_write_end_object(&view->writer);
    view_end(view, err);
}

static void on_draft(void *context, const char *json, const struct error *err)
{
    struct view *view = context;
    struct store *store = view->operation->engine->parts.store;

    if (err) {
        view_end(view, err);
        return;
    }
    if (json)
        json_write_raw(&view->writer, "draft", json);
    if (!view->has_talk) {
        on_talk(view, NULL, NULL);
        return;
    }
    json_write_list(&view->writer, "talk");
    store->ops->list_said(store, view->operation->id, on_talk, view);
}

static void on_got(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct engine *engine = operation->engine;
    const struct store_row *row = reply->row;
    struct view *view;

    if (reply->outcome != STORE_DONE) {
        operation_not_found(operation, reply);
        return;
    }
    if (operation->session->tty) /* a page may be open with no one in front of it */
        seen_mark(engine, operation->session, row->ask.id);
    view = mem_new(sizeof *view);
    view->operation = operation;
    view->has_talk = row->ask.flags & ASK_TALKED;
    view->writer = json_object_to(&view->out);
    json_write_integer(&view->writer, "seq", row->seq);
    describe_summary(engine, row, &view->writer, "ask");
    json_write_bool_if(&view->writer, "answer_elsewhere", own_must_leave(operation, row));
    json_write_raw(&view->writer, "form", row->ask.form_json);
    json_write_raw(&view->writer, "answer", row->answer_json ? row->answer_json : "null");
    hidden_write(engine, &row->ask, &view->writer);
    write_result(engine, row, &view->writer);
    engine->parts.store->ops->get_draft(engine->parts.store, row->ask.id, engine->parts.person,
                                        on_draft, view);
}

void list_reply_ask(struct operation *operation)
{
    operation_get(operation, on_got);
}

HANDLER(ask_get, operation_for_ask, list_reply_ask)

void ask_watch_method(struct method_call call)
{
    session_watch(call.engine, call.session, json_is_true(json_member(call.params, "remaining")));
    ask_list_method(call);
}

/* What an agent may see of its own asks: lists, one whole, and that something changed. Another
 * principal's ask is like none. What a person decided and can still take back is not yet decided
 * for the agent (R5.2), and what they are typing is never shown. */

enum { OWN_ASKS_MAX = 200 };

struct own_asks {
    struct writing writing; /* first */
    enum store_list_which which;
};

/* As the agent sees it: open until it can no longer be taken back. */
static bool is_open(const struct engine *engine, const struct store_row *row)
{
    return active_find(engine, row->ask.id) != NULL || state_is_open(row->ask.state);
}

static void write_ask(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer)
{
    bool is_pending = is_open(engine, row);

    json_write_text(writer, "session_id", row->ask.id);
    json_write_text(writer, "title", row->ask.title);
    json_write_text(writer, "status", is_pending ? "pending" : state_name(row->ask.state));
    describe_time_if(writer, "created_at", row->ask.created_ms);
    if (is_pending)
        describe_time_if(writer, "deadline", row->ask.deadline_ms);
    else
        describe_time_if(writer, "decided_at", row->ask.decided_ms);
}

static void add_ask(struct own_asks *own, const struct store_row *row)
{
    struct json_writer *writer = &own->writing.writer;

    json_write_object(writer, NULL);
    write_ask(own->writing.operation.engine, row, writer);
    json_write_end_object(writer);
}

/* Decided in the store, and not yet for the agent. */
static void add_undoable(struct own_asks *own)
{
    const struct engine *engine = own->writing.operation.engine;

    for (struct active_ask *active = NULL; (active = active_each(engine, active));) {
        struct store_row row = active_row(active);

        if (!state_is_open(active->state) &&
            strcmp(active->principal->id, own->writing.operation.session->principal) == 0)
            add_ask(own, &row);
    }
}

static void on_own_listed(void *context, const struct store_row *row, const struct error *err)
{
    struct own_asks *own = context;

    if (row && (own->which != STORE_LIST_ENDED || !is_open(own->writing.operation.engine, row)))
        add_ask(own, row);
    if (row)
        return;
    if (err) {
        operation_fail(&own->writing.operation, err, NULL);
        return;
    }
    if (own->which == STORE_LIST_OPEN)
        add_undoable(own);
    json_write_end_list(&own->writing.writer);
    writing_end(&own->writing);
}

/* Only the characters of ids, or a caller could ask with a pattern. */
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
    struct own_asks *own = writing_new(sizeof *own, call);
    int64_t limit = json_member_integer(call.params, "limit", OWN_ASKS_MAX);
    struct store_list_query query = { .principal = call.session->principal };

    if (!list_read_group(call.params, &query.which)) {
        operation_refuse(&own->writing.operation, ERROR_bad_enum, "/which",
                         "which is all, active or completed");
        return;
    }
    if (!read_prefix(call.params, &query.id_prefix)) {
        operation_refuse(&own->writing.operation, ERROR_bad_format, "/prefix",
                         "an id has characters of a-z and 2-7");
        return;
    }
    own->which = query.which;
    query.limit = limit < 1 || limit > OWN_ASKS_MAX ? OWN_ASKS_MAX : (size_t)limit;
    json_write_list(&own->writing.writer, "asks");
    store->ops->list(store, &query, on_own_listed, own);
}

static void on_own_got(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    const struct store_row *row = reply->row;
    struct text out = { 0 };
    struct json_writer writer;

    if (reply->outcome != STORE_DONE ||
        strcmp(row->ask.principal, operation->session->principal) != 0) {
        operation_not_found(operation, reply);
        return;
    }
    writer = json_object_to(&out);
    write_ask(operation->engine, row, &writer);
    json_write_raw(&writer, "form", row->ask.form_json);
    if (!is_open(operation->engine, row))
        write_result(operation->engine, row, &writer);
    json_write_end_object(&writer);
    operation_ok_take(operation, &out);
}

static void get_found(struct operation *operation)
{
    operation_get(operation, on_own_got);
}

HANDLER(mine_get, operation_for_ask, get_found)

/* Never answered: who lost the hub asks the next one again, and hears that it may have missed
 * something. */
void mine_follow_method(struct method_call call)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"mine/following\",\"params\":{}}";

    session_follow(call.engine, call.session);
    session_send(call.session, line, sizeof line - 1);
}

static void tell(struct engine *engine, const struct active_ask *active, bool is_over)
{
    struct text line = { 0 };
    struct session *session = engine->follower_count ? engine->sessions : NULL;

    for (; session; session = session->next) {
        if (!session->is_following || strcmp(session->principal, active->principal->id) != 0)
            continue;
        if (!line.used)
            text_add_format(&line,
                            "{\"jsonrpc\":\"2.0\",\"method\":\"mine/changed\",\"params\":"
                            "{\"session_id\":\"%s\",\"over\":%s}}",
                            active->id, is_over ? "true" : "false");
        session_send(session, line.bytes, line.used);
    }
    text_release(&line);
}

/* Not of every key a person types: only what raises the version is to be seen by agents. */
void own_asks_publish(struct engine *engine, struct active_ask *active)
{
    if (!state_is_open(active->state) || active->is_told)
        return;
    active->is_told = true;
    tell(engine, active, false);
}

void own_asks_publish_over(struct engine *engine, const struct active_ask *active)
{
    if (!state_is_open(active->state))
        tell(engine, active, true);
}

/* How much is asked, how fast it is answered and whose advice is taken (R7.8), out of the newest
 * asks: as many as can be read without keeping others waiting. */

enum {
    STATISTICS_ASKS = 2000,
    STATISTICS_AGENTS = 64, /* those that asked last; the rest count in the sums only */
    STATISTICS_DAYS = 3650,
    BUCKET_COUNT = 7,
};
static const int64_t DAY_MS = 86400000;
static const int64_t bucket_ends_s[BUCKET_COUNT - 1] = { 5, 15, 30, 60, 120, 300 };

struct figures {
    int64_t asks, timeouts, recommended, taken;
    int64_t *times_ms; /* until it was answered, one each; owned */
    size_t answered;
};
struct agent_figures {
    char *name; /* owned */
    struct figures figures;
};
struct counting {
    struct operation operation; /* first */
    struct figures all;
    struct agent_figures agents[STATISTICS_AGENTS];
    size_t agent_count;
    int64_t buckets[BUCKET_COUNT];
    int64_t first_ms; /* the oldest ask that was counted */
    int64_t days;     /* asked for; 0: all */
    bool is_cut;
};

static void counting_drop(struct operation *operation)
{
    struct counting *counting = (struct counting *)operation;

    free(counting->all.times_ms);
    for (size_t i = 0; i < counting->agent_count; i++) {
        free(counting->agents[i].name);
        free(counting->agents[i].figures.times_ms);
    }
}

/* NULL: it is nameless, or one too many. */
static struct figures *find_agent(struct counting *counting, const char *name)
{
    for (size_t i = 0; name && i < counting->agent_count; i++) {
        if (strcmp(counting->agents[i].name, name) == 0)
            return &counting->agents[i].figures;
    }
    if (!name || counting->agent_count == STATISTICS_AGENTS)
        return NULL;
    counting->agents[counting->agent_count].name = mem_text(name);
    return &counting->agents[counting->agent_count++].figures;
}

/* Whether a recommendation was there, and whether what was chosen is what was recommended. */
static void compare_advice(const struct store_row *row, bool *ret_had, bool *ret_taken)
{
    struct row_answer read;

    *ret_had = *ret_taken = false;
    if (row_answer_read(&read, row)) {
        const struct field *field = &read.form.fields[0];
        const struct field_value *value = &read.answer.values[0];
        bool is_same = !value->text;

        for (size_t i = 0; i < field->option_count; i++) {
            *ret_had |= field->options[i].is_recommended;
            is_same &= field->options[i].is_recommended == value->is_selected[i];
        }
        *ret_taken = *ret_had && is_same;
    }
    row_answer_release(&read);
}

static void add_time(struct figures *figures, int64_t took_ms)
{
    if (!figures->times_ms)
        figures->times_ms = mem_new(STATISTICS_ASKS * sizeof *figures->times_ms);
    figures->times_ms[figures->answered++] = took_ms;
}

static size_t bucket_of(int64_t took_ms)
{
    size_t at = 0;

    while (at < BUCKET_COUNT - 1 && took_ms >= bucket_ends_s[at] * 1000)
        at++;
    return at;
}

static void count_row(struct counting *counting, const struct store_row *row)
{
    struct json *origin = json_of(row->ask.origin_json);
    struct figures *places[2] = { &counting->all, find_agent(counting, describe_agent(origin)) };
    bool is_answered = row->ask.state == STATE_SUBMITTED, had_advice = false, was_taken = false;
    int64_t took_ms = row->ask.decided_ms - row->ask.created_ms;

    if (is_answered) {
        compare_advice(row, &had_advice, &was_taken);
        counting->buckets[bucket_of(took_ms)]++;
    }
    for (size_t i = 0; i < ARRAY_LEN(places) && places[i]; i++) {
        places[i]->asks++;
        places[i]->timeouts += row->ask.state == STATE_TIMEOUT;
        places[i]->recommended += had_advice;
        places[i]->taken += was_taken;
        if (is_answered)
            add_time(places[i], took_ms);
    }
    counting->first_ms = row->ask.created_ms;
    json_free(origin);
}

static int compare_times(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

    return (first > second) - (first < second);
}

static void write_figures(struct json_writer *writer, struct figures *figures)
{
    bool is_known = figures->answered > 0;

    if (is_known)
        qsort(figures->times_ms, figures->answered, sizeof *figures->times_ms, compare_times);
    json_write_integer(writer, "asks", figures->asks);
    json_write_integer(writer, "answered", (int64_t)figures->answered);
    json_write_known(writer, "median_seconds",
                     is_known ? figures->times_ms[figures->answered / 2] / 1000 : 0, is_known);
    json_write_integer(writer, "timeouts", figures->timeouts);
    json_write_integer(writer, "recommended", figures->recommended);
    json_write_integer(writer, "taken", figures->taken);
}

static void write_waiting(const struct engine *engine, struct json_writer *writer)
{
    int64_t now_ms = engine_utc_ms(engine), longest_ms = 0;

    for (struct active_ask *active = NULL; (active = active_each(engine, active));) {
        if (state_is_open(active->state) && now_ms - active->created_ms > longest_ms)
            longest_ms = now_ms - active->created_ms;
    }
    json_write_integer(writer, "waiting", (int64_t)engine->open_count);
    json_write_integer(writer, "longest_seconds", longest_ms / 1000);
}

static void write_agents(struct counting *counting, struct json_writer *writer)
{
    struct text shown = { 0 };

    json_write_list(writer, "agents");
    for (size_t i = 0; i < counting->agent_count; i++) {
        struct agent_figures *agent = &counting->agents[i];

        text_clear(&shown);
        visible_text(agent->name, strlen(agent->name), VISIBLE_ONE_LINE, &shown);
        json_write_object(writer, NULL);
        json_write_text(writer, "agent", agent->name);
        json_write_text(writer, "shown", text_string(&shown));
        write_figures(writer, &agent->figures);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
    text_release(&shown);
}

static int compare_agents(const void *a, const void *b)
{
    const struct agent_figures *first = a, *second = b;

    return (first->figures.asks < second->figures.asks) -
           (first->figures.asks > second->figures.asks);
}

static void finish(struct counting *counting)
{
    struct engine *engine = counting->operation.engine;
    int64_t age_ms = counting->first_ms ? engine_utc_ms(engine) - counting->first_ms : 0;
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    qsort(counting->agents, counting->agent_count, sizeof *counting->agents, compare_agents);
    json_write_integer(&writer, "days",
                       counting->days ? counting->days : (age_ms + DAY_MS - 1) / DAY_MS);
    write_figures(&writer, &counting->all);
    write_waiting(engine, &writer);
    json_write_list(&writer, "buckets");
    for (size_t i = 0; i < BUCKET_COUNT; i++)
        json_write_integer(&writer, NULL, counting->buckets[i]);
    json_write_end_list(&writer);
    write_agents(counting, &writer);
    json_write_bool_if(&writer, "is_cut", counting->is_cut);
    json_write_end_object(&writer);
    operation_ok_take(&counting->operation, &out);
}

static void on_counted(void *context, const struct store_row *row, int64_t looked_to,
                       const struct error *err)
{
    struct counting *counting = context;

    (void)looked_to; /* the newest are looked at first, and no more than these count */
    if (err)
        operation_fail(&counting->operation, err, NULL);
    else if (!row)
        finish(counting);
    else if (counting->all.asks == STATISTICS_ASKS)
        counting->is_cut = true;
    else
        count_row(counting, row);
}

void ask_statistics_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct counting *counting = operation_new(sizeof *counting, call);
    struct store_history_query query = { .list.limit = STATISTICS_ASKS + 1 };

    counting->operation.drop = counting_drop;
    counting->days = json_member_integer(call.params, "days", 0);
    if (counting->days < 0 || counting->days > STATISTICS_DAYS) {
        operation_say(&counting->operation, ERROR_out_of_range, "/days", TEXT_REASON_DAYS, "most",
                      TEXT_NUMBER(STATISTICS_DAYS), NULL);
        return;
    }
    if (counting->days > 0)
        query.since_ms = engine_utc_ms(call.engine) - counting->days * DAY_MS;
    store->ops->history(store, &query, on_counted, counting);
}
