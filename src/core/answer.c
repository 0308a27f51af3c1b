/*
 * answer.c - reads an answer against its form: first where each field's value stands, then whether
 * it may stand there, then whether it is enough.
 * Every refusal carries the JSON pointer of the culprit. Texts are kept as they came.
 */
#include "core/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/field_class.h"
#include "core/visible_text.h"

void answer_from_defaults(const struct form *form, struct answer *ret_answer)
{
    *ret_answer = (struct answer){ .value_count = form->field_count };
    ret_answer->values = mem_new(form->field_count * sizeof *ret_answer->values);
    for (size_t i = 0; i < form->field_count; i++) {
        const struct field *field = &form->fields[i];
        struct field_value *value = &ret_answer->values[i];

        value->text = mem_text(field->default_text);
        value->has_number = field->has_default_number;
        value->number = field->default_number;
        value->has_confirm = field->default_confirm != CONFIRM_OPEN;
        value->confirmed = field->default_confirm == CONFIRM_YES;
        if (field->option_count == 0)
            continue;
        value->option_count = field->option_count;
        value->is_selected = mem_new(field->option_count * sizeof *value->is_selected);
        for (size_t k = 0; k < field->option_count; k++)
            value->is_selected[k] = field->options[k].is_default;
    }
}

static bool value_needs_code(const struct form *form, const struct field *field,
                             const struct field_value *value)
{
    bool is_safe = value->has_confirm && !value->confirmed;

    for (size_t i = 0; i < value->option_count; i++) {
        if (value->is_selected[i] && form_option_destroys(form, &field->options[i]))
            return true;
        is_safe = is_safe || value->is_selected[i];
    }
    return form->is_destructive && (!is_safe || value->text);
}

bool answer_needs_code(const struct form *form, const struct answer *answer)
{
    for (size_t i = 0; i < form->field_count; i++) {
        if (value_needs_code(form, &form->fields[i], &answer->values[i]))
            return true;
    }
    return false;
}

bool answer_will_need_code(const struct form *form, const char *given)
{
    struct answer answer = { 0 };
    struct json *value = NULL;
    bool needs = json_parse(given, strlen(given), &value, NULL) &&
                 answer_check(form, value, &answer, NULL) && answer_needs_code(form, &answer);

    answer_release(&answer);
    json_free(value);
    return needs;
}

void answer_release(struct answer *answer)
{
    if (!answer)
        return;
    for (size_t i = 0; i < answer->value_count; i++) {
        free(answer->values[i].is_selected);
        free(answer->values[i].text);
        free(answer->values[i].note);
    }
    for (size_t i = 0; i < answer->option_note_count; i++)
        free(answer->option_notes[i]);
    free(answer->values);
    free(answer->option_notes);
    free(answer->global_note);
    *answer = (struct answer){ 0 };
}

bool answer_error_below(struct error *err, const char *parent, const char *key)
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

bool answer_refuse_type(const struct json *value, const char *path, const char *wanted,
                        struct error *err)
{
    return error_set(err, ERROR_bad_type, path, "must be %s, not %s", wanted,
                     json_kind_name(json_kind(value)));
}

bool answer_check_text(const struct json *value, const char *path, struct error *err)
{
    const char *text = json_text(value);

    if (!text)
        return answer_refuse_type(value, path, "a text", err);
    if (strlen(text) != json_length(value))
        return error_set(err, ERROR_nul_character, path, "must not contain the character U+0000");
    return true;
}

bool answer_has_visible(const struct json *text)
{
    return !visible_is_empty(json_text(text), json_length(text));
}

/* From an object that has selected_ids and custom_input: the whole answer, or a hybrid's value. */
static bool said_by_members(const struct json *object, struct said *said, struct error *err)
{
    *said = (struct said){ .picks = json_member(object, "selected_ids"),
                           .words = json_member(object, "custom_input"),
                           .picks_path = "/selected_ids",
                           .words_path = "/custom_input" };
    if (said->picks && json_kind(said->picks) != KIND_LIST)
        return answer_refuse_type(said->picks, said->picks_path, "a list of ids", err);
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
    const struct field_class *class = class_of(field);

    if (class->has_options && class->has_words && json_kind(value) == KIND_OBJECT)
        return said_by_hybrid(value, said, err);
    *said = (struct said){ .picks_path = "", .words_path = "" };
    if (class->has_options)
        said->picks = value;
    else if (class->has_words)
        said->words = value;
    else
        said->scalar = value;
    return true;
}

struct error *mistakes_next(const struct mistakes *mistakes)
{
    bool has_room = mistakes->errors && mistakes->count < mistakes->most;

    return has_room ? &mistakes->errors[mistakes->count] : NULL;
}

void mistakes_count(struct mistakes *mistakes, bool is_right)
{
    mistakes->count += !is_right && mistakes->count < mistakes->most;
}

/* selected_ids and custom_input speak of the first field; only one of the two ways may be used.
 * What this field does not take is a mistake, and nothing more is said about it. */
static bool said_by_answer(const struct field *field, const struct json *given,
                           const struct json *value, struct said *said, struct mistakes *mistakes)
{
    const struct field_class *class = class_of(field);
    struct error *err = mistakes_next(mistakes);

    if (!said_by_members(given, said, err))
        return false;
    said->is_top = !value && (class->has_options || class->has_words);
    if (said->picks && !class->has_options) {
        mistakes_count(mistakes, error_set(err, ERROR_unsupported_flag, "/selected_ids",
                                           "there is nothing to select in this ask"));
        said->picks = NULL;
    }
    if (said->words && !class->has_words) {
        mistakes_count(mistakes, error_set(mistakes_next(mistakes), ERROR_unsupported_flag,
                                           "/custom_input", "this ask takes no text of one's own"));
        said->words = NULL;
    }
    if (value && (said->picks || said->words)) {
        err = mistakes_next(mistakes);
        error_set(err, ERROR_conflicting_arguments, "",
                  "this question is answered twice: give its answer once");
        return answer_error_below(err, "/fields", field->name);
    }
    return true;
}

/* How many may be chosen is judged where the choices themselves are right. */
static void read_field(const struct form *form, size_t index, const struct json *given,
                       struct field_value *value, struct mistakes *mistakes)
{
    const struct field *field = &form->fields[index];
    const struct json *own = json_member(json_member(given, "fields"), field->name);
    const struct field_class *class = class_of(field);
    size_t before = mistakes->count, first;
    struct said said = { 0 };

    if (index == 0 && !said_by_answer(field, given, own, &said, mistakes)) {
        mistakes_count(mistakes, false);
        return;
    }
    first = mistakes->count;
    if (!said.is_top)
        mistakes_count(mistakes, said_by_value(field, own, &said, mistakes_next(mistakes)));
    if (said.picks && mistakes->count == first)
        answer_read_picks(field, &said, value, mistakes);
    if (said.words && mistakes->count == first)
        mistakes_count(mistakes, answer_read_words(&said, value, mistakes_next(mistakes)));
    if (said.scalar)
        mistakes_count(mistakes, class->read(field, said.scalar, value, mistakes_next(mistakes)));
    if (mistakes->count == (said.picks ? first : before))
        mistakes_count(mistakes, class->judge(field, &said, value, mistakes_next(mistakes)));
    for (size_t i = first; !said.is_top && mistakes->errors && i < mistakes->count; i++)
        answer_error_below(&mistakes->errors[i], "/fields", field->name);
}

/* Fields that were named and are in no form. */
static void find_strangers(const struct form *form, const struct json *fields,
                           struct mistakes *mistakes)
{
    if (fields && json_kind(fields) != KIND_OBJECT) {
        answer_refuse_type(fields, "/fields", "an object", mistakes_next(mistakes));
        mistakes_count(mistakes, false);
        return;
    }
    for (void *it = json_first(fields); it && mistakes->count < mistakes->most;
         it = json_next(fields, it)) {
        struct error *err = mistakes_next(mistakes);

        if (form_find_field(form, json_key(it)))
            continue;
        error_set(err, ERROR_unknown_property, "", "the form has no field of this name");
        mistakes_count(mistakes, answer_error_below(err, "/fields", json_key(it)));
    }
}

size_t answer_read(const struct form *form, const struct json *given, struct answer *ret_answer,
                   struct error *ret_errors, size_t most)
{
    struct mistakes mistakes = { .errors = ret_errors, .most = most };
    struct answer answer;

    if (json_kind(given) != KIND_OBJECT)
        return !answer_refuse_type(given, "", "an object", ret_errors);
    answer_from_defaults(form, &answer);
    find_strangers(form, json_member(given, "fields"), &mistakes);
    for (size_t i = 0; i < form->field_count; i++)
        read_field(form, i, given, &answer.values[i], &mistakes);
    answer_read_notes(form, given, &answer, &mistakes);
    if (mistakes.count == 0)
        *ret_answer = answer;
    else
        answer_release(&answer);
    return mistakes.count;
}

bool answer_check(const struct form *form, const struct json *given, struct answer *ret_answer,
                  struct error *err)
{
    return answer_read(form, given, ret_answer, err, 1) == 0;
}

bool answer_is_text_only(const struct answer *answer)
{
    bool has_text = false;

    for (size_t i = 0; i < answer->value_count; i++) {
        const struct field_value *value = &answer->values[i];

        if (answer_count_picks(value) > 0 || value->has_number || value->has_confirm)
            return false;
        has_text = has_text || value->text;
    }
    return has_text;
}
