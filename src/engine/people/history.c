/* history.c - looking back: asks with what was answered, found by words, channel, agent and time.
 */
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

enum {
    HISTORY_MOST = 200,
    HISTORY_DEFAULT = 20,
    HISTORY_SUMMARY_BYTES = 400,
    HISTORY_WHOLE = 50,           /* at most so many with everything, */
    HISTORY_WHOLE_BYTES = 262144, /* and no more once there are so many bytes */
};

struct looking {
    struct errand errand; /* first */
    struct text out;
    struct json_writer writer;
    size_t limit, count;
    int64_t last_ms, last_number;
    bool has_more;
    bool is_whole; /* with form, answer and result */
};

static void looking_drop(struct errand *errand)
{
    text_release(&((struct looking *)errand)->out);
}

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

/* What was answered, in one line; yes and no are words of the reader's own language. */
void history_write_answer(struct json_writer *writer, const struct store_row *row)
{
    struct text summary = { .max_bytes = HISTORY_SUMMARY_BYTES };
    struct answer answer = { 0 };
    struct form form = { 0 };
    struct json *given = NULL;
    const char *note;

    if (!row->answer_json || !json_parse(row->answer_json, strlen(row->answer_json), &given, NULL))
        return;
    note = json_member_text(given, "global_annotation");
    if (form_parse(row->ask.form_json, strlen(row->ask.form_json), &form, NULL) &&
        row->ask.state != STATE_CANCELLED && row->ask.state != STATE_DECLINED &&
        answer_check(&form, given, &answer, NULL)) {
        for (size_t i = 0; i < answer.value_count; i++)
            add_value(&summary, &form.fields[i], &answer.values[i]);
        if (answer.value_count == 1 && answer.values[0].has_confirm)
            json_write_bool(writer, "confirmed", answer.values[0].confirmed);
    }
    if (summary.used == 0 && note)
        add_shown(&summary, note);
    if (summary.used > 0)
        json_write_text_n(writer, "summary", text_string(&summary), summary.used);
    answer_release(&answer);
    form_release(&form);
    json_free(given);
    text_release(&summary);
}

static void write_whole(struct looking *looking, const struct store_row *row)
{
    struct json_writer *writer = &looking->writer;
    struct text result = { 0 };

    json_write_text(writer, "tool", row->ask.tool ? row->ask.tool : "");
    json_write_raw(writer, "form", row->ask.form_json);
    json_write_raw(writer, "answer", row->answer_json ? row->answer_json : "null");
    describe_result(looking->errand.engine, row, NULL, NULL, false, &result);
    json_write_raw(writer, "result", text_string(&result));
    text_release(&result);
}

/* How much of everything is older than what was looked at, roughly: for who shows how far it is. */
static void write_left(struct looking *looking, int64_t number)
{
    struct store *store = looking->errand.engine->parts.store;
    int64_t newest = store->ops->last_seq(store);

    if (looking->is_whole && newest > 0)
        json_write_integer(&looking->writer, "left_permille", number * 1000 / newest);
}

static void on_row(void *context, const struct store_row *row, int64_t looked_to,
                   const struct error *err)
{
    struct looking *looking = context;
    bool is_full = looking->count == looking->limit ||
                   (looking->is_whole && looking->out.used > HISTORY_WHOLE_BYTES);

    if (row && is_full) {
        looking->has_more = true;
        return;
    }
    if (row) {
        looking->count++;
        looking->last_ms = row->ask.created_ms;
        looking->last_number = row->number;
        json_write_object(&looking->writer, NULL);
        describe_members(looking->errand.engine, row, &looking->writer);
        history_write_answer(&looking->writer, row);
        if (looking->is_whole)
            write_whole(looking, row);
        json_write_end_object(&looking->writer);
        return;
    }
    if (err) {
        errand_fail(&looking->errand, err, NULL);
        return;
    }
    json_write_end_list(&looking->writer);
    looked_to = looking->has_more ? looking->last_number : looked_to;
    if (looked_to) { /* also of a page that is not full: the next call continues there */
        list_write_next(&looking->writer, looking->has_more ? looking->last_ms : 1, looked_to);
        write_left(looking, looked_to);
    }
    json_write_end_object(&looking->writer);
    errand_ok(&looking->errand, text_string(&looking->out));
}

static bool read_filters(const struct json *params, struct store_history_query *query,
                         struct search_terms *terms, struct error *err)
{
    const struct json *search = json_member(params, "search");

    if (!list_read_query(params, &query->list, err))
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

void ask_history_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct looking *looking = errand_new(sizeof *looking, call);
    int64_t limit = json_member_integer(call.params, "limit", HISTORY_DEFAULT);
    struct store_history_query query = { .list.which = STORE_LIST_ALL };
    struct search_terms terms = { 0 };
    struct error err;
    int64_t most;

    looking->errand.drop = looking_drop;
    if (!read_filters(call.params, &query, &terms, &err)) {
        search_terms_release(&terms);
        errand_fail(&looking->errand, &err, NULL);
        return;
    }
    looking->is_whole = json_is_yes(json_member(call.params, "whole"));
    most = looking->is_whole ? HISTORY_WHOLE : HISTORY_MOST;
    looking->limit = limit < 1 ? 1 : limit > most ? (size_t)most : (size_t)limit;
    query.list.limit = looking->limit + 1;
    looking->writer = json_writer_to(&looking->out);
    json_write_object(&looking->writer, NULL);
    json_write_list(&looking->writer, "asks");
    store->ops->history(store, &query, on_row, looking);
    search_terms_release(&terms);
}

/*
 * How much is asked, how fast it is answered and whose advice is taken (R7.8), out of the
 * newest asks: as many as can be read without keeping others waiting.
 */

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
    struct errand errand; /* first */
    struct figures all;
    struct agent_figures agents[STATISTICS_AGENTS];
    size_t agent_count;
    int64_t buckets[BUCKET_COUNT];
    int64_t first_ms; /* the oldest ask that was counted */
    int64_t days;     /* asked for; 0: all */
    bool is_cut;
};

static void counting_drop(struct errand *errand)
{
    struct counting *counting = (struct counting *)errand;

    free(counting->all.times_ms);
    for (size_t i = 0; i < counting->agent_count; i++) {
        free(counting->agents[i].name);
        free(counting->agents[i].figures.times_ms);
    }
}

static struct figures *find_agent(struct counting *counting, const struct store_row *row)
{
    struct json *origin = NULL;
    const char *json = row->ask.origin_json, *name = NULL;
    struct figures *found = NULL;

    if (json && json_parse(json, strlen(json), &origin, NULL))
        name = json_member_text(origin, "as") ? json_member_text(origin, "as")
                                              : json_member_text(origin, "name");
    for (size_t i = 0; name && i < counting->agent_count && !found; i++) {
        if (strcmp(counting->agents[i].name, name) == 0)
            found = &counting->agents[i].figures;
    }
    if (name && !found && counting->agent_count < STATISTICS_AGENTS) {
        struct agent_figures *added = &counting->agents[counting->agent_count++];

        added->name = mem_text(name);
        found = &added->figures;
    }
    json_free(origin);
    return found;
}

/* Whether a recommendation was there, and whether what was chosen is what was recommended. */
static void compare_advice(const struct store_row *row, bool *ret_had, bool *ret_taken)
{
    struct json *given = NULL;
    struct answer answer = { 0 };
    struct form form = { 0 };

    *ret_had = *ret_taken = false;
    if (row->answer_json && json_parse(row->answer_json, strlen(row->answer_json), &given, NULL) &&
        form_parse(row->ask.form_json, strlen(row->ask.form_json), &form, NULL) &&
        answer_check(&form, given, &answer, NULL)) {
        const struct field *field = &form.fields[0];
        bool is_same = !answer.values[0].text;

        for (size_t i = 0; i < field->option_count; i++) {
            *ret_had |= field->options[i].is_recommended;
            is_same &= field->options[i].is_recommended == answer.values[0].is_selected[i];
        }
        *ret_taken = *ret_had && is_same;
    }
    answer_release(&answer);
    form_release(&form);
    json_free(given);
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
    struct figures *places[2] = { &counting->all, find_agent(counting, row) };
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
    struct table_link *link = NULL;

    while ((link = table_each(&engine->by_id, link))) {
        const struct live *live = TABLE_THING(live, by_id, link);

        if (state_is_open(live->state) && now_ms - live->created_ms > longest_ms)
            longest_ms = now_ms - live->created_ms;
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
    struct engine *engine = counting->errand.engine;
    int64_t age_ms = counting->first_ms ? engine_utc_ms(engine) - counting->first_ms : 0;
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    qsort(counting->agents, counting->agent_count, sizeof *counting->agents, compare_agents);
    json_write_object(&writer, NULL);
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
    errand_ok(&counting->errand, text_string(&out));
    text_release(&out);
}

static void on_counted(void *context, const struct store_row *row, int64_t looked_to,
                       const struct error *err)
{
    struct counting *counting = context;

    (void)looked_to; /* the newest are looked at first, and no more than these count */
    if (err)
        errand_fail(&counting->errand, err, NULL);
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
    struct counting *counting = errand_new(sizeof *counting, call);
    struct store_history_query query = { .list.limit = STATISTICS_ASKS + 1 };

    counting->errand.drop = counting_drop;
    counting->days = json_member_integer(call.params, "days", 0);
    if (counting->days < 0 || counting->days > STATISTICS_DAYS) {
        errand_say(&counting->errand, ERROR_out_of_range, "/days", TEXT_REASON_DAYS, "most",
                   TEXT_NUMBER(STATISTICS_DAYS), NULL);
        return;
    }
    if (counting->days > 0)
        query.since_ms = engine_utc_ms(call.engine) - counting->days * DAY_MS;
    store->ops->history(store, &query, on_counted, counting);
}
