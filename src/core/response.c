/*
 * response.c - how an ask ended, one row each, and the JSON that tells it (R2.2).
 * Values are printed only where somebody, or a setting of theirs, decided: never a guess.
 */
#include "core/response.h"

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "core/visible_text.h"

enum {
    SUMMARY_CHARS = 200,
    MS_A_DAY = 86400000,
    DAYS_OF_400_YEARS = 146097,
    DAYS_BEFORE_1970 = 719468, /* since 0000-03-01 */
};
static const int64_t LAST_MS = 253402300799999; /* of the year 9999 */

#define COLLECT                                                                                    \
    "call provide_choice with this session_id to collect the answer. Do not ask again, assume "    \
    "nothing meanwhile."

struct outcome {
    const char *status;
    const char *summary;      /* how it ended; stands before the values where there are any */
    const char *instructions; /* for agents; NULL: none needed */
    bool is_open;
    bool has_values;  /* the answer counts */
    bool has_decider; /* a person, or a standing answer of theirs */
    bool is_explicit, is_auto, is_declined, is_withdrawn;
};

static const struct outcome outcomes[STATE_COUNT] = {
    [STATE_NEW] = {
        .status = "pending",
        .summary = "Waiting for an answer",
        .instructions = "Nobody has answered yet: " COLLECT,
        .is_open = true,
    },
    [STATE_PENDING_TERMINAL_LAUNCH] = {
        .status = "pending_terminal_launch",
        .summary = "Waiting for a terminal",
        .instructions = "No terminal has shown this ask yet: " COLLECT
                        " With interface \"terminal\" beside session_id you get a fresh "
                        "terminal_command.",
        .is_open = true,
    },
    [STATE_PENDING] = {
        .status = "pending",
        .summary = "Waiting for an answer",
        .instructions = "Nobody has answered yet: " COLLECT,
        .is_open = true,
    },
    [STATE_SUBMITTED] = {
        .status = "selected",
        .summary = "",
        .has_values = true,
        .has_decider = true,
        .is_explicit = true,
    },
    [STATE_AUTO_SUBMITTED] = {
        .status = "timeout",
        .summary = "Nobody answered in time, defaults submitted: ",
        .instructions = "Nobody answered in time. The person's own setting submitted the "
                        "defaults in selected_ids; nobody looked at this ask. To have it decided, "
                        "ask again with a longer timeout_seconds.",
        .has_values = true,
        .is_auto = true,
    },
    [STATE_CANCELLED] = {
        .status = "cancelled",
        .summary = "Cancelled",
        .instructions = "The person cancelled. Stop this subtask and assume nothing; what they "
                        "wrote, if anything, is selection.global_annotation.",
        .has_decider = true,
        .is_explicit = true,
    },
    [STATE_DECLINED] = {
        .status = "cancelled",
        .summary = "Declined",
        .instructions = "The person said no. Do not do what you asked about, nor by another way; "
                        "stop this subtask and assume nothing.",
        .has_decider = true,
        .is_explicit = true,
        .is_declined = true,
    },
    [STATE_TIMEOUT] = {
        .status = "timeout",
        .summary = "Nobody answered in time",
        .instructions = "Nobody answered in time and nothing was chosen: assume nothing. Ask "
                        "again with the same arguments or with a longer timeout_seconds.",
    },
    [STATE_WITHDRAWN] = {
        .status = "cancelled",
        .summary = "Withdrawn by the agent",
        .instructions = "The ask was withdrawn before anybody decided. Nothing was chosen: assume "
                        "nothing.",
        .is_withdrawn = true,
    },
};
static const struct outcome text_alone = {
    .status = "custom_input",
    .summary = "",
    .has_values = true,
    .has_decider = true,
    .is_explicit = true,
};
static const struct outcome by_rule = {
    .status = "selected",
    .summary = "Standing answer: ",
    .has_values = true,
    .has_decider = true,
    .is_auto = true,
};
static const struct outcome hand_off = {
    .status = "pending_terminal_launch",
    .instructions = "Run terminal_command where the person sees it; it works once. Then " COLLECT
                    " Do not parse url or summary.",
    .is_open = true,
};
static const struct outcome asked_back = {
    .status = "pending",
    .summary = "The person asks back",
    .instructions = "The person asks something before deciding: read asked_back. The ask stays "
                    "open: " COLLECT,
    .is_open = true,
};

static const struct outcome *find_outcome(const struct response_facts *facts)
{
    if (facts->state == STATE_SUBMITTED && facts->answer && answer_is_text_only(facts->answer))
        return &text_alone;
    if (facts->state == STATE_AUTO_SUBMITTED && facts->rule)
        return &by_rule;
    if (facts->asked_back && outcomes[facts->state].is_open)
        return &asked_back;
    if (facts->state == STATE_PENDING_TERMINAL_LAUNCH && facts->terminal_command)
        return &hand_off;
    return &outcomes[facts->state];
}

const char *response_status(const struct response_facts *facts)
{
    return find_outcome(facts)->status;
}

/* NULL unless the answer counts. */
static const struct answer *decided_answer(const struct response_facts *facts)
{
    return find_outcome(facts)->has_values && facts->form ? facts->answer : NULL;
}

/* One piece of the list of values; `is_first` says whether a separator is due. */
static void summarize(struct text *out, bool *is_first, const char *quote, const char *words)
{
    if (!*is_first)
        text_add_text(out, ", ");
    *is_first = false;
    text_add_text(out, quote);
    visible_text(words, strlen(words), VISIBLE_ONE_LINE, out);
    text_add_text(out, quote);
}

static void summarize_value(struct text *out, bool *is_first, const struct field *field,
                            const struct field_value *value)
{
    char number[32];

    for (size_t i = 0; i < value->option_count; i++) {
        if (value->is_selected[i])
            summarize(out, is_first, "", field->options[i].label);
    }
    if (value->text)
        summarize(out, is_first, "\"", value->text);
    snprintf(number, sizeof number, "%.15g", value->number);
    if (value->has_number)
        summarize(out, is_first, "", number);
    if (value->has_confirm)
        summarize(out, is_first, "", value->confirmed ? "yes" : "no");
}

/* Appends at most so many characters, the last an ellipsis when there were more. */
static void add_cut(struct text *out, const struct text *whole, size_t max_chars)
{
    const char *at = text_string(whole), *end = at + whole->used;

    if (text_count(at, whole->used) > max_chars) {
        for (size_t i = 1; i < max_chars; i++)
            text_decode(&at, end);
        text_add(out, text_string(whole), (size_t)(at - text_string(whole)));
        text_add_text(out, "\xe2\x80\xa6");
    } else {
        text_add(out, at, whole->used);
    }
}

void response_summary(const struct response_facts *facts, struct text *out)
{
    const struct outcome *outcome = find_outcome(facts);
    const struct answer *answer = decided_answer(facts);
    struct text line = { 0 };
    bool is_first = true;

    /* The command is what the hand-off is about, and must be whole to be run. */
    if (outcome == &hand_off) {
        text_add_text(out, facts->terminal_command);
        return;
    }
    text_add_text(&line, outcome->summary);
    for (size_t i = 0; answer && i < answer->value_count; i++)
        summarize_value(&line, &is_first, &facts->form->fields[i], &answer->values[i]);
    if (outcome->has_values && is_first)
        text_add_text(&line, "nothing chosen");
    add_cut(out, &line, SUMMARY_CHARS);
    text_release(&line);
}

/* Eras of 400 years that begin in March make the leap rule a division. Times outside the years
 * 1970 to 9999 are not ours; they are printed as the nearest that is. */
/* Over the noughts that end at `last`; by hand, since four times are written for each ask. */
static void write_digits(char *last, unsigned number)
{
    for (; number > 0; number /= 10)
        *last-- = (char)('0' + number % 10);
}

void response_write_time(int64_t utc_ms, char out[32])
{
    int64_t ms = utc_ms < 0 ? 0 : utc_ms > LAST_MS ? LAST_MS : utc_ms;
    unsigned time = (unsigned)(ms % MS_A_DAY);
    unsigned days = (unsigned)(ms / MS_A_DAY) + DAYS_BEFORE_1970;
    unsigned day_of_era = days % DAYS_OF_400_YEARS;
    unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned month = (5 * day_of_year + 2) / 153; /* 0 is March */
    unsigned day = day_of_year - (153 * month + 2) / 5 + 1;
    unsigned year = days / DAYS_OF_400_YEARS * 400 + year_of_era + (month >= 10);

    memcpy(out, "0000-00-00T00:00:00.000Z", sizeof "0000-00-00T00:00:00.000Z");
    write_digits(out + 3, year);
    write_digits(out + 6, month < 10 ? month + 3 : month - 9);
    write_digits(out + 9, day);
    write_digits(out + 12, time / 3600000);
    write_digits(out + 15, time / 60000 % 60);
    write_digits(out + 18, time / 1000 % 60);
    write_digits(out + 22, time % 1000);
}

static void write_selection(struct json_writer *writer, const struct response_facts *facts)
{
    const struct outcome *outcome = find_outcome(facts);
    const struct answer *answer = decided_answer(facts);
    const struct field *field = facts->form ? &facts->form->fields[0] : NULL;
    struct text summary = { 0 };

    json_write_object(writer, "selection");
    if (answer) {
        answer_write_picks(writer, "selected_ids", field, &answer->values[0]);
        json_write_text_if(writer, "custom_input", answer->values[0].text);
        answer_write_notes(writer, facts->form, answer);
    } else {
        json_write_list(writer, "selected_ids");
        json_write_end_list(writer);
        if (outcome->has_decider)
            json_write_text_if(writer, "global_annotation", facts->cancel_note);
    }
    if (facts->form && (field->kind == FIELD_TEXT || field->kind == FIELD_HYBRID))
        json_write_bool(writer, "placeholder_visible", field->placeholder_visible);
    json_write_text_if(writer, "interface", interface_name(facts->interface));
    response_summary(facts, &summary);
    json_write_text(writer, "summary", text_string(&summary));
    if (outcome->is_open)
        json_write_text_if(writer, "url", facts->url);
    json_write_end_object(writer);
    text_release(&summary);
}

static void write_decider(struct json_writer *writer, const struct response_facts *facts)
{
    const struct answered_by *by = &facts->by;
    char time[32];

    if (by->person) {
        json_write_object(writer, "answered_by");
        json_write_text(writer, "person", by->person);
        json_write_text(writer, "via", by->via);
        json_write_known(writer, "uid", by->uid, by->uid >= 0);
        json_write_known(writer, "pid", by->pid, by->pid > 0);
        json_write_text(writer, "tty", by->tty);
        json_write_text_if(writer, "token", by->token);
        json_write_bool_if(writer, "same_process_tree", by->same_process_tree);
        json_write_end_object(writer);
    }
    if (facts->answered_ms > 0) {
        response_write_time(facts->answered_ms, time);
        json_write_text(writer, "answered_at", time);
    }
}

static void write_texts(struct json_writer *writer, const char *key, const char *const *texts)
{
    if (!texts || !*texts)
        return;
    json_write_list(writer, key);
    for (; *texts; texts++)
        json_write_text(writer, NULL, *texts);
    json_write_end_list(writer);
}

void response_write(const struct response_facts *facts, struct text *out)
{
    const struct outcome *outcome = find_outcome(facts);
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "action_status", outcome->status);
    json_write_text(&writer, "session_id", facts->session_id);
    write_selection(&writer, facts);
    json_write_bool(&writer, "explicit", outcome->is_explicit);
    json_write_bool_if(&writer, "auto_submitted", outcome->is_auto);
    json_write_bool_if(&writer, "declined", outcome->is_declined);
    json_write_bool_if(&writer, "withdrawn", outcome->is_withdrawn);
    json_write_bool_if(&writer, "replayed", facts->is_replayed);
    if (outcome == &by_rule)
        json_write_text(&writer, "rule", facts->rule);
    if (outcome->has_decider)
        write_decider(&writer, facts);
    json_write_text_if(&writer, "instructions", outcome->instructions);
    if (outcome->is_open) {
        json_write_text_if(&writer, "asked_back", facts->asked_back);
        json_write_text_if(&writer, "terminal_command", facts->terminal_command);
        json_write_text_if(&writer, "url", facts->url);
    }
    write_texts(&writer, "warnings", facts->warnings);
    json_write_end_object(&writer);
}
