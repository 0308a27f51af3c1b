/* history.c - looking back: what was answered, in a line, and how fast and how often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/fields/form.h"
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
    errand_ok_take(&counting->errand, &out);
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
