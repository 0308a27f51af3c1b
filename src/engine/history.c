/* history.c - looking back: asks with what was answered, found by words, channel, agent and time.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/answer.h"
#include "core/form.h"
#include "core/search_text.h"
#include "core/visible_text.h"
#include "engine/acts.h"
#include "engine/describe.h"
#include "engine/inside.h"

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
        return error_set(err, ERROR_bad_type, "/search", "search is a text");
    if (search && !search_terms_read(json_text(search), terms, err))
        return false;
    query->search = terms->count ? terms : NULL;
    return true;
}

void history_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                 desk_done *done, void *context)
{
    struct engine *engine = engine_of(desk);
    struct store *store = engine->parts.store;
    struct looking *looking = errand_new(sizeof *looking, engine, visit, done, context);
    int64_t limit = json_member_integer(params, "limit", HISTORY_DEFAULT);
    struct store_history_query query = { .list.which = STORE_LIST_ALL };
    struct search_terms terms = { 0 };
    struct error err;
    int64_t most;

    looking->errand.drop = looking_drop;
    if (!read_filters(params, &query, &terms, &err)) {
        search_terms_release(&terms);
        errand_fail(&looking->errand, &err, NULL);
        return;
    }
    looking->is_whole = json_is_yes(json_member(params, "whole"));
    most = looking->is_whole ? HISTORY_WHOLE : HISTORY_MOST;
    looking->limit = limit < 1 ? 1 : limit > most ? (size_t)most : (size_t)limit;
    query.list.limit = looking->limit + 1;
    looking->writer = json_writer_to(&looking->out);
    json_write_object(&looking->writer, NULL);
    json_write_list(&looking->writer, "asks");
    store->ops->history(store, &query, on_row, looking);
    search_terms_release(&terms);
}
