/*
 * response.c - the JSON that tells how an ask ended (R2.2, R4.1).
 * Values are printed only where a person, or a setting of theirs, decided: never a guess.
 */
#include "core/response.h"

#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/outcome.h"
#include "core/visible_text.h"

enum {
    SUMMARY_CHARS = 200,
    MS_A_DAY = 86400000,
    DAYS_OF_400_YEARS = 146097,
    DAYS_BEFORE_1970 = 719468, /* since 0000-03-01 */
};
static const int64_t LAST_MS = 253402300799999; /* of the year 9999 */

/* Of this ask, or what holds while it is open. */
static const struct outcome *outcome_find(const struct response_facts *facts)
{
    bool is_open = outcome_rows[facts->state].ending == ENDING_PENDING;

    if (facts->state == STATE_SUBMITTED && facts->answer && facts->shape && facts->shape->no_key &&
        !facts->answer->values[0].confirmed)
        return &outcome_rows[OUTCOME_SAID_NO];
    if (facts->state == STATE_SUBMITTED && facts->answer && answer_is_text_only(facts->answer))
        return &outcome_rows[OUTCOME_TEXT_ALONE];
    if (facts->state == STATE_AUTO_SUBMITTED && facts->rule)
        return &outcome_rows[OUTCOME_BY_RULE];
    if (facts->asked_back && is_open)
        return &outcome_rows[OUTCOME_ASKED_BACK];
    if (facts->state == STATE_PENDING_TERMINAL_LAUNCH && facts->terminal_command)
        return &outcome_rows[OUTCOME_HAND_OFF];
    return &outcome_rows[facts->state];
}

/* By a person, or a standing answer of theirs. */
static bool is_decided(const struct outcome *outcome)
{
    return outcome->ending == ENDING_ANSWERED || outcome->ending == ENDING_DECLINED ||
           outcome->ending == ENDING_CANCELLED;
}

static bool is_explicit(const struct outcome *outcome)
{
    return is_decided(outcome) && !outcome->is_auto;
}

/* of an ask whose tool is not known here */
static const struct response_shape response_unknown = {
    .has_status = true,
    .has_action = true,
    .has_reply = true,
};

static const struct response_shape *shape_of(const struct response_facts *facts)
{
    return facts->shape ? facts->shape : &response_unknown;
}

/* Their notes stand beside what they are about, and the seed has words for how they end. */
static bool is_about_questions(const struct response_facts *facts)
{
    return shape_of(facts)->has_reply && !shape_of(facts)->has_status;
}

/* The answer, where it counts; else NULL: never a guess. */
static const struct answer *answer_of(const struct response_facts *facts)
{
    return outcome_find(facts)->has_values && facts->form ? facts->answer : NULL;
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
    if (value->has_number) {
        snprintf(number, sizeof number, "%.15g", value->number);
        summarize(out, is_first, "", number);
    }
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
    const struct outcome *outcome = outcome_find(facts);
    const struct answer *answer = answer_of(facts);
    struct text line = { 0 };
    bool is_first = true;

    /* The command is what the hand-off is about, and must be whole to be run. */
    if (outcome == &outcome_rows[OUTCOME_HAND_OFF]) {
        text_add_text(out, facts->terminal_command);
        return;
    }
    text_add_text(&line, is_about_questions(facts) && outcome->reply_summary
                             ? outcome->reply_summary
                         : outcome->summary ? outcome->summary
                                            : "");
    for (size_t i = 0; answer && i < answer->value_count; i++)
        summarize_value(&line, &is_first, &facts->form->fields[i], &answer->values[i]);
    if (outcome->has_values && is_first)
        text_add_text(&line, "nothing chosen");
    add_cut(out, &line, SUMMARY_CHARS);
    text_release(&line);
}

/* Writes over the zeros that end at `last`. By hand, for speed: each ask has four times. */
static void write_digits(char *last, unsigned number)
{
    for (; number > 0; number /= 10)
        *last-- = (char)('0' + number % 10);
}

/* Eras of 400 years that begin in March make the leap rule a division. Times outside the years
 * 1970 to 9999 are not ours; they are printed as the nearest that is. */
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

static void write_notes(struct json_writer *writer, const struct response_facts *facts)
{
    const struct answer *answer = answer_of(facts);

    if (answer && !is_about_questions(facts))
        answer_write_field_notes(writer, facts->form, answer);
    if (answer)
        answer_write_notes(writer, facts->form, answer);
    else if (is_decided(outcome_find(facts)))
        json_write_text_if(writer, "global_annotation", facts->cancel_note);
}

static void write_summary(struct json_writer *writer, const struct response_facts *facts)
{
    struct text summary = { 0 };

    response_summary(facts, &summary);
    json_write_text(writer, "summary", text_string(&summary));
    text_release(&summary);
}

static void write_selection(struct json_writer *writer, const struct response_facts *facts)
{
    const struct answer *answer = answer_of(facts);
    const struct form *form = facts->form;
    bool has_words = form && class_of(&form->fields[0])->has_words;

    json_write_object(writer, "selection");
    if (form && answer) {
        answer_write_picks(writer, "selected_ids", &form->fields[0], &answer->values[0]);
        json_write_text_if(writer, "custom_input", answer->values[0].text);
    } else {
        json_write_list(writer, "selected_ids");
        json_write_end_list(writer);
    }
    write_notes(writer, facts);
    if (has_words)
        json_write_bool(writer, "placeholder_visible",
                        is_explicit(outcome_find(facts)) && form->fields[0].placeholder &&
                            *form->fields[0].placeholder && form->fields[0].placeholder_visible &&
                            !facts->hides_placeholder);
    json_write_text_if(writer, "interface", interface_name(facts->interface));
    write_summary(writer, facts);
    if (facts->state == STATE_PENDING_TERMINAL_LAUNCH) /* R6.2 has it here as well */
        json_write_text_if(writer, "url", facts->url);
    json_write_end_object(writer);
}

const struct response_shape response_selection = { .has_status = true };

static void write_values(struct json_writer *writer, const struct response_facts *facts)
{
    const struct response_shape *shape = shape_of(facts);
    const struct answer *answer = answer_of(facts);

    if (!shape->write_values) {
        write_selection(writer, facts);
        return;
    }
    if (answer)
        shape->write_values(writer, facts->form, answer);
    else if (shape->no_key && outcome_find(facts)->ending == ENDING_DECLINED)
        json_write_bool(writer, shape->no_key, false);
    write_notes(writer, facts);
    write_summary(writer, facts);
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

static void write_instructions(struct json_writer *writer, const struct response_facts *facts)
{
    const struct outcome *outcome = outcome_find(facts);
    struct text words = { 0 };

    if (!outcome->instructions)
        return;
    text_add_text(&words, outcome->instructions);
    if (outcome->ending == ENDING_PENDING)
        text_add_text(&words, "call get_answer with this session_id to collect the answer. Do not "
                              "ask again, and assume nothing until then.");
    if (outcome->afterwards)
        text_add_text(&words, outcome->afterwards);
    json_write_text(writer, "instructions", text_string(&words));
    text_release(&words);
}

enum reply_kind response_write(const struct response_facts *facts, struct text *out)
{
    const struct response_shape *shape = shape_of(facts);
    const struct outcome *outcome = outcome_find(facts);
    struct json_writer writer = json_object_to(out);

    if (shape->has_status)
        json_write_text(&writer, "action_status", outcome_status(outcome));
    if (shape->has_action)
        json_write_text(&writer, "action", outcome_words[outcome->ending].action);
    if (shape->has_reply)
        json_write_text(&writer, "status", outcome_words[outcome->ending].reply);
    json_write_text(&writer, "session_id", facts->session_id);
    write_values(&writer, facts);
    json_write_bool(&writer, "explicit", is_explicit(outcome));
    json_write_bool_if(&writer, "auto_submitted", outcome->is_auto);
    json_write_bool_if(&writer, "declined",
                       outcome->ending == ENDING_DECLINED &&
                           (shape->has_status || shape->has_reply));
    json_write_bool_if(&writer, "withdrawn", outcome->ending == ENDING_WITHDRAWN);
    json_write_bool_if(&writer, "replayed", facts->is_replayed);
    if (outcome == &outcome_rows[OUTCOME_BY_RULE])
        json_write_text(&writer, "rule", facts->rule);
    if (is_decided(outcome))
        write_decider(&writer, facts);
    write_instructions(&writer, facts);
    if (outcome->ending == ENDING_PENDING) {
        json_write_text_if(&writer, "asked_back", facts->asked_back);
        json_write_text_if(&writer, "terminal_command", facts->terminal_command);
        json_write_text_if(&writer, "url", facts->url);
    }
    if (facts->warnings && *facts->warnings) {
        json_write_list(&writer, "warnings");
        for (const char *const *warning = facts->warnings; *warning; warning++)
            json_write_text(&writer, NULL, *warning);
        json_write_end_list(&writer);
    }
    json_write_end_object(&writer);
    return outcome->ending != ENDING_PENDING ? REPLY_FINAL
           : outcome->is_told                ? REPLY_TOLD
                                             : REPLY_PENDING;
}
