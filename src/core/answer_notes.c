/* answer_notes.c - the notes of an answer: one for all, one for each option or field. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/field_class.h"
#include "core/limits.h"

/* Leaves *ret_note NULL when there is nothing to see in it: an empty note is no note. */
static bool read_note(const struct json *given, const char *path, char **ret_note,
                      struct error *err)
{
    if (!answer_check_text(given, path, err))
        return false;
    if (text_count(json_text(given), json_length(given)) > LIMIT_ANNOTATION_CHARS)
        return error_set(err, ERROR_too_long, path, "must have at most %d characters",
                         LIMIT_ANNOTATION_CHARS);
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
        return error_set(err, ERROR_duplicate_option_id, "", "this option has a note already");
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
        return error_set(err, ERROR_unknown_property, "", "the form has no field of this name");
    if (!read_note(given, "", &note, err))
        return false;
    answer->values[field - form->fields].note = note;
    *has_any = *has_any || note;
    return true;
}

static bool has_notes(const struct answer *answer)
{
    for (size_t i = 0; i < answer->option_note_count; i++) {
        if (answer->option_notes[i])
            return true;
    }
    return false;
}

void answer_keep_notes(const struct form *form, const struct json *given, struct answer *answer)
{
    const struct field *field = &form->fields[0];
    const struct json *notes = json_member(given, "option_annotations");
    const char *common = form->global_annotation;

    if (!form->allow_annotations)
        return;
    for (size_t i = 0; i < field->option_count; i++) {
        const char *prefilled = field->options[i].annotation;
        char **note = &notes_of(field, answer)[i];

        if (!prefilled || !*prefilled)
            continue;
        if (answer->values[0].is_selected[i] && !json_member(notes, field->options[i].id)) {
            *note = mem_text(prefilled);
        } else if (!answer->values[0].is_selected[i] && *note && strcmp(*note, prefilled) == 0) {
            free(*note); /* it only stood there */
            *note = NULL;
        }
    }
    if (!has_notes(answer)) {
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
    for (void *it = json_first(notes); it && mistakes->count < mistakes->most;
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

void answer_read_notes(const struct form *form, const struct json *given, struct answer *answer,
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
        mistakes_count(mistakes, error_set(mistakes_next(mistakes), ERROR_unsupported_flag,
                                           answer->option_notes ? by_option
                                           : has_field_notes    ? by_field
                                                                : common,
                                           "notes are switched off in this ask"));
}
