/*
 * answer.c - reads an answer and its notes against its form: first where each field's value stands,
 * then whether it may stand there, then whether it is enough; and writes it as JSON.
 * Every refusal carries the JSON pointer of the culprit. Texts are kept as they came.
 */
#include "core/fields/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

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
    return error_say(err, ERROR_bad_type, path, TEXT_REASON_ANSWER_KIND, "kind", wanted, "given",
                     json_kind_name(json_kind(value)), NULL);
}

bool answer_check_text(const struct json *value, const char *path, struct error *err)
{
    const char *text = json_text(value);

    if (!text)
        return answer_refuse_type(value, path, "a string", err);
    if (strlen(text) != json_length(value))
        return error_say(err, ERROR_nul_character, path, TEXT_REASON_NUL, NULL);
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
        return answer_refuse_type(said->picks, said->picks_path, "an array of IDs", err);
    return true;
}

/* `value` is the field's in `fields`, NULL when it is not there. */
static bool said_by_value(const struct field *field, const struct json *value, struct said *said,
                          struct error *err)
{
    const struct field_class *class = class_of(field);

    if (class->has_options && class->has_words && json_kind(value) == KIND_OBJECT) {
        if (!said_by_members(value, said, err))
            return false;
        /* a misspelled member would keep the defaults, which the person did not choose */
        return json_length(value) <= (size_t)(said->picks != NULL) + (said->words != NULL) ||
               error_say(err, ERROR_unknown_property, "", TEXT_REASON_ANSWER_MEMBERS, NULL);
    }
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
    bool has_room = mistakes->errors && mistakes->count < mistakes->max;

    return has_room ? &mistakes->errors[mistakes->count] : NULL;
}

void mistakes_count(struct mistakes *mistakes, bool is_right)
{
    mistakes->count += !is_right && mistakes->count < mistakes->max;
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
        mistakes_count(mistakes, error_say(err, ERROR_unsupported_flag, "/selected_ids",
                                           TEXT_REASON_NOTHING_TO_SELECT, NULL));
        said->picks = NULL;
    }
    if (said->words && !class->has_words) {
        mistakes_count(mistakes, error_say(mistakes_next(mistakes), ERROR_unsupported_flag,
                                           "/custom_input", TEXT_REASON_NO_OWN_TEXT, NULL));
        said->words = NULL;
    }
    if (value && (said->picks || said->words)) {
        err = mistakes_next(mistakes);
        error_say(err, ERROR_conflicting_arguments, "", TEXT_REASON_GIVEN_TWICE, NULL);
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
        mistakes_count(mistakes,
                       answer_refuse_type(fields, "/fields", "an object", mistakes_next(mistakes)));
        return;
    }
    for (void *it = json_first(fields); it && mistakes->count < mistakes->max;
         it = json_next(fields, it)) {
        struct error *err = mistakes_next(mistakes);

        if (form_find_field(form, json_key(it)))
            continue;
        error_say(err, ERROR_unknown_property, "", TEXT_REASON_NO_FIELD, NULL);
        mistakes_count(mistakes, answer_error_below(err, "/fields", json_key(it)));
    }
}

/* Leaves *ret_note NULL when there is nothing to see in it: an empty note is no note. */
static bool read_note(const struct json *given, const char *path, char **ret_note,
                      struct error *err)
{
    if (!answer_check_text(given, path, err))
        return false;
    if (text_count(json_text(given), json_length(given)) > LIMIT_ANNOTATION_CHARS)
        return error_say(err, ERROR_too_long, path, TEXT_REASON_MOST_CHARACTERS, "limit",
                         TEXT_NUMBER(LIMIT_ANNOTATION_CHARS), NULL);
    if (answer_has_visible(given))
        *ret_note = mem_text(json_text(given));
    return true;
}

static char **notes_of(const struct field *field, struct answer *answer)
{
    if (!answer->option_notes) {
        answer->option_notes = mem_new(field->option_count * sizeof *answer->option_notes);
        answer->option_note_count = field->option_count;
    }
    return answer->option_notes;
}

/* A note may be for any option, chosen or not. */
static bool read_option_note(const struct field *field, const char *id, const struct json *given,
                             struct answer *answer, struct error *err)
{
    const struct option *option = field_find_option(field, id);
    char *note = NULL;

    if (!option)
        return answer_refuse_id(field, "", err);
    if (answer->option_notes && answer->option_notes[option - field->options])
        return error_say(err, ERROR_duplicate_option_id, "", TEXT_REASON_NOTE_TWICE, NULL);
    if (!read_note(given, "", &note, err))
        return false;
    if (note)
        notes_of(field, answer)[option - field->options] = note;
    return true;
}

static bool read_field_note(const struct form *form, const char *name, const struct json *given,
                            struct answer *answer, bool *has_any, struct error *err)
{
    const struct field *field = form_find_field(form, name);
    char *note = NULL;

    if (!field)
        return error_say(err, ERROR_unknown_property, "", TEXT_REASON_NO_FIELD, NULL);
    if (!read_note(given, "", &note, err))
        return false;
    answer->values[field - form->fields].note = note;
    *has_any = *has_any || note;
    return true;
}

void answer_keep_notes(const struct form *form, const struct json *given, struct answer *answer)
{
    const struct field *field = &form->fields[0];
    const struct json *notes = json_member(given, "option_annotations");
    const char *common = form->global_annotation;
    bool has_notes = false;

    if (!form->allow_annotations)
        return;
    for (size_t i = 0; i < field->option_count; i++) {
        const char *prefilled = field->options[i].annotation;
        char **note = &notes_of(field, answer)[i];

        if (prefilled && *prefilled) {
            if (answer->values[0].is_selected[i]) {
                if (!json_member(notes, field->options[i].id))
                    *note = mem_text(prefilled);
            } else if (*note && strcmp(*note, prefilled) == 0) {
                free(*note); /* it only stood there */
                *note = NULL;
            }
        }
        has_notes |= *note != NULL;
    }
    if (!has_notes) {
        free(answer->option_notes);
        answer->option_notes = NULL;
        answer->option_note_count = 0;
    }
    if (common && *common && !json_member(given, "global_annotation"))
        answer->global_note = mem_text(common);
}

/* By their ids or names; whether a field got one. */
static bool read_notes(const struct form *form, const struct json *given, const char *path,
                       bool is_by_option, struct answer *answer, struct mistakes *mistakes)
{
    const struct json *notes = json_member(given, path + 1);
    bool has_any = false;

    if (notes && json_kind(notes) != KIND_OBJECT)
        mistakes_count(mistakes,
                       answer_refuse_type(notes, path, "an object", mistakes_next(mistakes)));
    for (void *it = json_first(notes); it && mistakes->count < mistakes->max;
         it = json_next(notes, it)) {
        const char *key = json_key(it);
        struct error *err = mistakes_next(mistakes);
        bool ok = is_by_option
                      ? read_option_note(&form->fields[0], key, json_value(it), answer, err)
                      : read_field_note(form, key, json_value(it), answer, &has_any, err);

        mistakes_count(mistakes, ok || answer_error_below(err, path, key));
    }
    return has_any;
}

static void read_all_notes(const struct form *form, const struct json *given, struct answer *answer,
                           struct mistakes *mistakes)
{
    static const char common[] = "/global_annotation", by_option[] = "/option_annotations",
                      by_field[] = "/field_annotations";
    const struct json *global_note = json_member(given, common + 1);
    bool has_field_notes;

    read_notes(form, given, by_option, true, answer, mistakes);
    has_field_notes = read_notes(form, given, by_field, false, answer, mistakes);

    if (global_note)
        mistakes_count(mistakes, read_note(global_note, common, &answer->global_note,
                                           mistakes_next(mistakes)));
    if (!form->allow_annotations &&
        (answer->option_notes || has_field_notes || answer->global_note))
        mistakes_count(mistakes, error_say(mistakes_next(mistakes), ERROR_unsupported_flag,
                                           answer->option_notes ? by_option
                                           : has_field_notes    ? by_field
                                                                : common,
                                           TEXT_REASON_NO_NOTES, NULL));
}

size_t answer_read(const struct form *form, const struct json *given, struct answer *ret_answer,
                   struct error *ret_errors, size_t max)
{
    struct mistakes mistakes = { .errors = ret_errors, .max = max };
    struct answer answer;

    if (json_kind(given) != KIND_OBJECT)
        return !answer_refuse_type(given, "", "an object", ret_errors);
    answer_from_defaults(form, &answer);
    find_strangers(form, json_member(given, "fields"), &mistakes);
    for (size_t i = 0; i < form->field_count; i++)
        read_field(form, i, given, &answer.values[i], &mistakes);
    read_all_notes(form, given, &answer, &mistakes);
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

/* As JSON: store and agent get the same picks and notes. */

void answer_write_picks(struct json_writer *writer, const char *key, const struct field *field,
                        const struct field_value *value)
{
    json_write_list(writer, key);
    for (size_t i = 0; value->is_selected && i < value->option_count; i++) {
        if (value->is_selected[i])
            json_write_text(writer, NULL, field->options[i].id);
    }
    json_write_end_list(writer);
}

void answer_write_notes(struct json_writer *writer, const struct form *form,
                        const struct answer *answer)
{
    if (answer->option_notes) {
        json_write_object(writer, "option_annotations");
        for (size_t i = 0; i < answer->option_note_count; i++)
            json_write_text_if(writer, form->fields[0].options[i].id, answer->option_notes[i]);
        json_write_end_object(writer);
    }
    json_write_text_if(writer, "global_annotation", answer->global_note);
}

/* The object that holds it begins with the first. */
static void write_note(struct json_writer *writer, const char *object, const char *key,
                       const char *note, bool *has_begun)
{
    if (!*has_begun)
        json_write_object(writer, object);
    *has_begun = true;
    json_write_text(writer, key, note);
}

void answer_write_field_notes(struct json_writer *writer, const struct form *form,
                              const struct answer *answer)
{
    bool has_any = false;

    for (size_t i = 0; i < answer->value_count; i++) {
        if (answer->values[i].note)
            write_note(writer, "field_annotations", form->fields[i].name, answer->values[i].note,
                       &has_any);
    }
    if (has_any)
        json_write_end_object(writer);
}

bool answer_has_value(const struct field_value *value)
{
    return answer_count_picks(value) > 0 || value->has_number || value->has_confirm || value->text;
}

/* As answer_check reads it below `fields`: what is gone is written as gone. */
static void write_stored(struct json_writer *writer, const struct field *field,
                         const struct field_value *value)
{
    if (!value->is_selected && !answer_has_value(value) && !field_has_default(field))
        return;
    json_write_foreign_key(writer, field->name);
    class_of(field)->write_stored(writer, field, value);
}

/* As answer_write_notes, but a prefilled note that was removed is written as an empty one: an
 * answer that is undone becomes a draft, where a note that is left out counts as kept. */
static void write_stored_notes(struct json_writer *writer, const struct form *form,
                               const struct answer *answer)
{
    const struct field *field = &form->fields[0];
    bool has_any = false;

    for (size_t i = 0; form->allow_annotations && i < field->option_count; i++) {
        const char *note = answer->option_notes ? answer->option_notes[i] : NULL;
        bool is_gone = !note && field->options[i].annotation && answer->values[0].is_selected[i];

        if (note || is_gone)
            write_note(writer, "option_annotations", field->options[i].id, note ? note : "",
                       &has_any);
    }
    if (has_any)
        json_write_end_object(writer);
    if (answer->global_note || (form->allow_annotations && form->global_annotation))
        json_write_text(writer, "global_annotation",
                        answer->global_note ? answer->global_note : "");
    if (answer->hides_placeholder)
        json_write_bool(writer, "placeholder_visible", false);
}

/* A prefilled value that was removed is written as empty: left out, it would mean the default. */
void answer_encode(const struct form *form, const struct answer *answer, struct text *out)
{
    const struct field_value *value = &answer->values[0];
    struct json_writer writer = json_object_to(out);
    bool is_said = answer_has_value(value) || field_has_default(&form->fields[0]);
    size_t own_members = class_is_scalar(class_of(&form->fields[0])) && is_said ? 0 : 1;

    if (value->is_selected)
        answer_write_picks(&writer, "selected_ids", &form->fields[0], value);
    if (value->text || form->fields[0].default_text)
        json_write_text(&writer, "custom_input", value->text ? value->text : "");
    if (own_members < answer->value_count) {
        json_write_object(&writer, "fields");
        for (size_t i = own_members; i < answer->value_count; i++)
            write_stored(&writer, &form->fields[i], &answer->values[i]);
        json_write_end_object(&writer);
    }
    answer_write_field_notes(&writer, form, answer);
    write_stored_notes(&writer, form, answer);
    json_write_end_object(&writer);
}
