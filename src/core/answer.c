/*
 * answer.c - reads an answer against its form: first where each field's value stands, then whether
 * it may stand there, then whether it is enough.
 * Every refusal carries the JSON pointer of the culprit. Texts are kept as they came.
 */
#include "core/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/text_format.h"
#include "core/visible_text.h"

/* Steps are written as decimal fractions, which doubles miss by a little. */
static const double STEP_TOLERANCE = 1e-6;

/* What was said about one field; NULL: nothing. Pointers are relative to where the field stands. */
struct said {
    const struct json *picks, *words, *scalar;
    const char *picks_path, *words_path;
    bool is_top; /* by selected_ids and custom_input of the answer itself */
};

struct kind_rule {
    bool takes_picks, takes_words;
    bool (*read)(const struct field *field, const struct json *scalar, struct field_value *value,
                 struct error *err); /* NULL: picks and words are all there is */
    bool (*judge)(const struct field *field, const struct said *said,
                  const struct field_value *value, struct error *err);
};

void answer_from_defaults(const struct form *form, struct answer *ret_answer)
{
    *ret_answer = (struct answer){ .value_count = form->field_count };
    ret_answer->values = mem_new(form->field_count * sizeof *ret_answer->values);
    for (size_t i = 0; i < form->field_count; i++) {
        const struct field *field = &form->fields[i];
        struct field_value *value = &ret_answer->values[i];

        if (field->option_count == 0)
            continue;
        value->option_count = field->option_count;
        value->is_selected = mem_new(field->option_count * sizeof *value->is_selected);
        for (size_t k = 0; k < field->option_count; k++)
            value->is_selected[k] = field->options[k].is_default;
    }
}

void answer_release(struct answer *answer)
{
    if (!answer)
        return;
    for (size_t i = 0; i < answer->value_count; i++) {
        free(answer->values[i].is_selected);
        free(answer->values[i].text);
    }
    for (size_t i = 0; i < answer->option_note_count; i++)
        free(answer->option_notes[i]);
    free(answer->values);
    free(answer->option_notes);
    free(answer->global_note);
    *answer = (struct answer){ 0 };
}

/* Puts parent/key before the error's path. Keys are other people's text: shown form, pointer
 * escapes, cut between characters. */
static bool error_below(struct error *err, const char *parent, const char *key)
{
    struct text shown = { 0 }, path = { 0 };
    size_t length;

    if (!err)
        return false;
    visible_text(key, strlen(key), VISIBLE_ONE_LINE, &shown);
    text_add_format(&path, "%s/", parent);
    for (const char *at = text_string(&shown); *at != '\0'; at++) {
        text_add_char(&path, *at == '/' ? '~' : *at);
        if (*at == '~' || *at == '/')
            text_add_char(&path, *at == '~' ? '0' : '1');
    }
    text_add_text(&path, err->path);
    length = path.used < sizeof err->path ? path.used : sizeof err->path - 1;
    while ((path.bytes[length] & 0xc0) == 0x80)
        length--;
    snprintf(err->path, length + 1, "%s", path.bytes);
    text_release(&path);
    text_release(&shown);
    return false;
}

static bool refuse_type(const struct json *value, const char *path, const char *wanted,
                        struct error *err)
{
    return error_set(err, ERROR_bad_type, path, "must be %s, not %s", wanted,
                     json_kind_name(json_kind(value)));
}

static bool check_text(const struct json *value, const char *path, struct error *err)
{
    const char *text = json_text(value);

    if (!text)
        return refuse_type(value, path, "a text", err);
    if (strlen(text) != json_length(value))
        return error_set(err, ERROR_nul_character, path, "must not contain the character U+0000");
    return true;
}

static bool has_visible(const struct json *text)
{
    return !visible_is_empty(json_text(text), json_length(text));
}

static bool refuse_id(const struct field *field, const char *path, struct error *err)
{
    struct text ids = { .max_bytes = LIMIT_ECHO_CHARS }, next = { 0 };

    for (size_t i = 0; i < field->option_count && !ids.has_overflowed; i++) {
        const char *id = field->options[i].id;

        text_clear(&next);
        text_add_text(&next, i ? ", " : "");
        visible_text(id, strlen(id), VISIBLE_ONE_LINE, &next);
        text_add(&ids, text_string(&next), next.used);
    }
    error_set(err, ERROR_bad_enum, path, "no option has this id; the ids are: %s%s",
              text_string(&ids), ids.has_overflowed ? ", ..." : "");
    text_release(&next);
    text_release(&ids);
    return false;
}

static bool read_pick(const struct field *field, const struct json *id, const char *path,
                      struct field_value *value, struct error *err)
{
    const struct option *option;
    bool *is_selected;

    if (!check_text(id, path, err))
        return false;
    option = field_find_option(field, json_text(id));
    if (!option)
        return refuse_id(field, path, err);
    is_selected = &value->is_selected[option - field->options];
    if (*is_selected)
        return error_set(err, ERROR_duplicate_option_id, path, "this id was given before");
    *is_selected = true;
    return true;
}

/* A list of ids, or one id. What is said replaces the defaults, an empty list too. */
static bool read_picks(const struct field *field, const struct said *said,
                       struct field_value *value, struct error *err)
{
    for (size_t i = 0; i < value->option_count; i++)
        value->is_selected[i] = false;
    if (json_kind(said->picks) != KIND_LIST)
        return read_pick(field, said->picks, said->picks_path, value, err);
    for (size_t i = 0; i < json_length(said->picks); i++) {
        char path[48];

        snprintf(path, sizeof path, "%s/%zu", said->picks_path, i);
        if (!read_pick(field, json_item(said->picks, i), path, value, err))
            return false;
    }
    return true;
}

static bool read_words(const struct said *said, struct field_value *value, struct error *err)
{
    if (!check_text(said->words, said->words_path, err))
        return false;
    if (json_length(said->words) > LIMIT_ANSWER_TEXT_BYTES)
        return error_set(err, ERROR_too_long, said->words_path, "must have at most %d bytes",
                         LIMIT_ANSWER_TEXT_BYTES);
    if (has_visible(said->words))
        value->text = mem_text(json_text(said->words));
    return true;
}

static bool is_on_step(const struct field *field, double number)
{
    double steps = (number - (field->has_minimum ? field->minimum : 0)) / field->step;

    return fabs(steps - round(steps)) <= STEP_TOLERANCE;
}

static bool read_number(const struct field *field, const struct json *scalar,
                        struct field_value *value, struct error *err)
{
    enum json_kind kind = json_kind(scalar);
    double number = json_number_of(scalar);

    if (kind != KIND_INTEGER && kind != KIND_REAL)
        return refuse_type(scalar, "", "a number", err);
    if (field->is_integer && floor(number) != number)
        return error_set(err, ERROR_out_of_range, "", "must be a whole number");
    if (field->has_minimum && number < field->minimum)
        return error_set(err, ERROR_out_of_range, "", "must be at least %g", field->minimum);
    if (field->has_maximum && number > field->maximum)
        return error_set(err, ERROR_out_of_range, "", "must be at most %g", field->maximum);
    if (field->step > 0 && !is_on_step(field, number))
        return error_set(err, ERROR_out_of_range, "", "must go in steps of %g", field->step);
    value->has_number = true;
    value->number = number;
    return true;
}

static bool read_confirm(const struct field *field, const struct json *scalar,
                         struct field_value *value, struct error *err)
{
    (void)field;
    if (json_kind(scalar) != KIND_BOOL)
        return refuse_type(scalar, "", "true or false", err);
    value->has_confirm = true;
    value->confirmed = json_is_yes(scalar);
    return true;
}

static size_t count_picks(const struct field_value *value)
{
    size_t count = 0;

    for (size_t i = 0; i < value->option_count; i++)
        count += value->is_selected[i];
    return count;
}

static bool refuse_count(const struct field *field, const char *path, struct error *err)
{
    long long least = field->min_selections, most = field->max_selections;
    const char *otherwise = field->kind == FIELD_HYBRID ? ", or answer in your own words" : "";

    if (least == 0)
        return error_set(err, ERROR_out_of_range, path, "choose at most %lld", most);
    if (least == most)
        return error_set(err, ERROR_out_of_range, path, "choose %lld%s", least, otherwise);
    return error_set(err, ERROR_out_of_range, path, "choose %lld to %lld%s", least, most,
                     otherwise);
}

/* In hybrid, own words count as meeting the minimum. */
static bool judge_picks(const struct field *field, const struct said *said,
                        const struct field_value *value, struct error *err)
{
    int64_t count = (int64_t)count_picks(value);

    if (count == 0 && (value->text || !field->is_required))
        return true;
    if (count == 0 && field->kind == FIELD_SINGLE)
        return error_set(err, ERROR_missing_property, said->picks_path, "choose one option");
    if (count > field->max_selections || (count < field->min_selections && !value->text))
        return refuse_count(field, said->picks_path, err);
    return true;
}

/* Minimums look at what is visible, maximums at what was received. */
static bool judge_words(const struct field *field, const struct said *said,
                        const struct field_value *value, struct error *err)
{
    const char *text = value->text, *path = said->words_path;

    if (!text && field->is_required)
        return error_set(err, ERROR_empty_text, path, "write something that can be seen");
    if (!text)
        return true;
    if ((int64_t)visible_count(text, strlen(text)) < field->min_chars)
        return error_set(err, ERROR_too_short, path, "must have at least %lld characters",
                         (long long)field->min_chars);
    if (field->max_chars > 0 && (int64_t)text_count(text, strlen(text)) > field->max_chars)
        return error_set(err, ERROR_too_long, path, "must have at most %lld characters",
                         (long long)field->max_chars);
    return !field->format || text_format_check(field->format, text, path, err);
}

static bool judge_scalar(const struct field *field, const struct said *said,
                         const struct field_value *value, struct error *err)
{
    (void)value;
    if (field->is_required && !said->scalar)
        return error_set(err, ERROR_missing_property, "", "this field needs a value");
    return true;
}

static const struct kind_rule kinds[FIELD_KIND_COUNT] = {
    [FIELD_SINGLE] = { .takes_picks = true, .judge = judge_picks },
    [FIELD_MULTI] = { .takes_picks = true, .judge = judge_picks },
    [FIELD_TEXT] = { .takes_words = true, .judge = judge_words },
    [FIELD_HYBRID] = { .takes_picks = true, .takes_words = true, .judge = judge_picks },
    [FIELD_NUMBER] = { .read = read_number, .judge = judge_scalar },
    [FIELD_CONFIRM] = { .read = read_confirm, .judge = judge_scalar },
};

/* From an object that has selected_ids and custom_input: the whole answer, or a hybrid's value. */
static bool said_by_members(const struct json *object, struct said *said, struct error *err)
{
    *said = (struct said){ .picks = json_member(object, "selected_ids"),
                           .words = json_member(object, "custom_input"),
                           .picks_path = "/selected_ids",
                           .words_path = "/custom_input" };
    if (said->picks && json_kind(said->picks) != KIND_LIST)
        return refuse_type(said->picks, said->picks_path, "a list of ids", err);
    return true;
}

/* A misspelt member would leave the defaults standing without anybody having looked at them. */
static bool said_by_hybrid(const struct json *object, struct said *said, struct error *err)
{
    if (!said_by_members(object, said, err))
        return false;
    if (json_length(object) > (size_t)(said->picks != NULL) + (said->words != NULL))
        return error_set(err, ERROR_unknown_property, "",
                         "only selected_ids and custom_input may stand here");
    return true;
}

/* `value` is the field's in `fields`, NULL when it is not there. */
static bool said_by_value(const struct field *field, const struct json *value, struct said *said,
                          struct error *err)
{
    const struct kind_rule *rule = &kinds[field->kind];

    if (field->kind == FIELD_HYBRID && json_kind(value) == KIND_OBJECT)
        return said_by_hybrid(value, said, err);
    *said = (struct said){ .picks_path = "", .words_path = "" };
    if (rule->takes_picks)
        said->picks = value;
    else if (rule->takes_words)
        said->words = value;
    else
        said->scalar = value;
    return true;
}

/* selected_ids and custom_input speak of the first field; only one of the two ways may be used. */
static bool said_by_answer(const struct field *field, const struct json *given,
                           const struct json *value, struct said *said, struct error *err)
{
    const struct kind_rule *rule = &kinds[field->kind];

    if (!said_by_members(given, said, err))
        return false;
    said->is_top = !value && (rule->takes_picks || rule->takes_words);
    if (said->picks && !rule->takes_picks)
        return error_set(err, ERROR_unsupported_flag, "/selected_ids",
                         "there is nothing to select in this ask");
    if (said->words && !rule->takes_words)
        return error_set(err, ERROR_unsupported_flag, "/custom_input",
                         "this ask takes no text of one's own");
    if (value && (said->picks || said->words)) {
        error_set(err, ERROR_conflicting_arguments, "",
                  "selected_ids and custom_input speak of this field too; give it once");
        return error_below(err, "/fields", field->name);
    }
    return true;
}

static bool read_field(const struct form *form, size_t index, const struct json *given,
                       struct field_value *value, struct error *err)
{
    const struct field *field = &form->fields[index];
    const struct json *own = json_member(json_member(given, "fields"), field->name);
    const struct kind_rule *rule = &kinds[field->kind];
    struct said said = { 0 };
    bool ok;

    if (index == 0 && !said_by_answer(field, given, own, &said, err))
        return false;
    ok = (said.is_top || said_by_value(field, own, &said, err)) &&
         (!said.picks || read_picks(field, &said, value, err)) &&
         (!said.words || read_words(&said, value, err)) &&
         (!said.scalar || rule->read(field, said.scalar, value, err)) &&
         rule->judge(field, &said, value, err);
    return ok || (!said.is_top && error_below(err, "/fields", field->name));
}

static bool check_field_names(const struct form *form, const struct json *fields, struct error *err)
{
    if (fields && json_kind(fields) != KIND_OBJECT)
        return refuse_type(fields, "/fields", "an object", err);
    for (void *it = json_first(fields); it; it = json_next(fields, it)) {
        if (form_find_field(form, json_key(it)))
            continue;
        error_set(err, ERROR_unknown_property, "", "the form has no field of this name");
        return error_below(err, "/fields", json_key(it));
    }
    return true;
}

/* Leaves *ret_note NULL when there is nothing to see in it: an empty note is no note. */
static bool read_note(const struct json *given, const char *path, char **ret_note,
                      struct error *err)
{
    if (!check_text(given, path, err))
        return false;
    if (text_count(json_text(given), json_length(given)) > LIMIT_ANNOTATION_CHARS)
        return error_set(err, ERROR_too_long, path, "must have at most %d characters",
                         LIMIT_ANNOTATION_CHARS);
    if (has_visible(given))
        *ret_note = mem_text(json_text(given));
    return true;
}

/* A note may be for any option, chosen or not. */
static bool read_option_note(const struct field *field, const char *id, const struct json *given,
                             struct answer *answer, struct error *err)
{
    const struct option *option = field_find_option(field, id);
    char *note = NULL;

    if (!option)
        return refuse_id(field, "", err);
    if (answer->option_notes && answer->option_notes[option - field->options])
        return error_set(err, ERROR_duplicate_option_id, "", "this option has a note already");
    if (!read_note(given, "", &note, err))
        return false;
    if (note && !answer->option_notes) {
        answer->option_notes = mem_new(field->option_count * sizeof *answer->option_notes);
        answer->option_note_count = field->option_count;
    }
    if (note)
        answer->option_notes[option - field->options] = note;
    return true;
}

static bool read_notes(const struct form *form, const struct json *given, struct answer *answer,
                       struct error *err)
{
    const struct json *notes = json_member(given, "option_annotations");
    const struct json *global_note = json_member(given, "global_annotation");

    if (notes && json_kind(notes) != KIND_OBJECT)
        return refuse_type(notes, "/option_annotations", "an object", err);
    for (void *it = json_first(notes); it; it = json_next(notes, it)) {
        if (!read_option_note(&form->fields[0], json_key(it), json_value(it), answer, err))
            return error_below(err, "/option_annotations", json_key(it));
    }
    if (global_note && !read_note(global_note, "/global_annotation", &answer->global_note, err))
        return false;
    if (!form->allow_annotations && (answer->option_notes || answer->global_note))
        return error_set(err, ERROR_unsupported_flag,
                         answer->option_notes ? "/option_annotations" : "/global_annotation",
                         "notes are switched off in this ask");
    return true;
}

bool answer_check(const struct form *form, const struct json *given, struct answer *ret_answer,
                  struct error *err)
{
    struct answer answer;
    bool ok;

    if (json_kind(given) != KIND_OBJECT)
        return refuse_type(given, "", "an object", err);
    answer_from_defaults(form, &answer);
    ok = check_field_names(form, json_member(given, "fields"), err);
    for (size_t i = 0; ok && i < form->field_count; i++)
        ok = read_field(form, i, given, &answer.values[i], err);
    ok = ok && read_notes(form, given, &answer, err);
    if (ok)
        *ret_answer = answer;
    else
        answer_release(&answer);
    return ok;
}

bool answer_is_text_only(const struct answer *answer)
{
    bool has_text = false;

    for (size_t i = 0; i < answer->value_count; i++) {
        const struct field_value *value = &answer->values[i];

        if (count_picks(value) > 0 || value->has_number || value->has_confirm)
            return false;
        has_text = has_text || value->text;
    }
    return has_text;
}
