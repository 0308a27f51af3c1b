/* form.c - the form as a value: its end, look-ups in it, and the names of its kinds. */
#include "core/fields/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/visible_text.h"

#define FIELD_KIND(id, name, ...) [FIELD_##id] = (name),
const char *const field_kind_names[] = {
#include "core/field_kinds.def"
    [FIELD_KIND_COUNT] = NULL,
};
#undef FIELD_KIND
const char *const preview_type_names[] = {
    [PREVIEW_NONE] = "",     [PREVIEW_TEXT] = "text", [PREVIEW_MARKDOWN] = "markdown",
    [PREVIEW_CODE] = "code", [PREVIEW_DIFF] = "diff", [PREVIEW_DIFF + 1] = NULL,
};
const char *const number_style_names[] = {
    [NUMBER_FIELD] = "field",
    [NUMBER_SLIDER] = "slider",
    [NUMBER_RATING] = "rating",
    [NUMBER_RATING + 1] = NULL,
};

const char *const confirm_default_names[] = {
    [CONFIRM_OPEN] = "",
    [CONFIRM_NO] = "no",
    [CONFIRM_YES] = "yes",
    [CONFIRM_YES + 1] = NULL,
};

unsigned form_name_find(const char *const *names, const char *name, unsigned fallback)
{
    for (unsigned value = 0; names[value]; value++) {
        if (*name && strcmp(names[value], name) == 0)
            return value;
    }
    return fallback;
}

static void field_release(struct field *field)
{
    for (size_t i = 0; i < field->option_count; i++) {
        struct option *option = &field->options[i];

        free(option->id);
        free(option->label);
        free(option->description);
        free(option->annotation);
        free(option->preview.text);
        free(option->preview.language);
    }
    free(field->options);
    free(field->name);
    free(field->label);
    free(field->header);
    free(field->description);
    free(field->placeholder);
    free(field->format);
    free(field->unit);
    free(field->default_text);
}

void form_release(struct form *form)
{
    if (!form)
        return;
    for (size_t i = 0; i < form->field_count; i++)
        field_release(&form->fields[i]);
    free(form->fields);
    free(form->title);
    free(form->prompt);
    free(form->global_annotation);
    *form = (struct form){ 0 };
}

const struct field *form_find_field(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->field_count; i++) {
        if (strcmp(form->fields[i].name, name) == 0)
            return &form->fields[i];
    }
    return NULL;
}

const struct option *field_find_option(const struct field *field, const char *id)
{
    const struct option *found = NULL;
    struct text wanted = { 0 }, normal = { 0 };

    for (size_t i = 0; i < field->option_count; i++) {
        if (strcmp(field->options[i].id, id) == 0)
            return &field->options[i];
    }
    if (!text_is_utf8(id, strlen(id)))
        return NULL;
    visible_nfc(id, strlen(id), &wanted);
    for (size_t i = 0; i < field->option_count && !found; i++) {
        text_clear(&normal);
        visible_nfc(field->options[i].id, strlen(field->options[i].id), &normal);
        if (strcmp(text_string(&normal), text_string(&wanted)) == 0)
            found = &field->options[i];
    }
    text_release(&normal);
    text_release(&wanted);
    return found;
}

bool form_has_confirm(const struct form *form)
{
    for (size_t i = 0; i < form->field_count; i++) {
        if (class_of(&form->fields[i])->is_yes_no)
            return true;
    }
    return false;
}

static bool marks_options(const struct form *form)
{
    for (size_t i = 0; i < form->field_count; i++) {
        for (size_t k = 0; k < form->fields[i].option_count; k++) {
            if (form->fields[i].options[k].is_destructive)
                return true;
        }
    }
    return false;
}

bool form_may_destroy(const struct form *form)
{
    return form->is_destructive || marks_options(form);
}

bool form_option_destroys(const struct form *form, const struct option *option)
{
    return option->is_destructive || (form->is_destructive && !marks_options(form));
}

static int64_t count_defaults(const struct field *field)
{
    int64_t count = 0;

    for (size_t i = 0; i < field->option_count; i++)
        count += field->options[i].is_default;
    return count;
}

bool field_has_default(const struct field *field)
{
    return count_defaults(field) > 0 || field->default_text || field->has_default_number ||
           field->default_confirm != CONFIRM_OPEN;
}

/* A form without any default has not enough: silence would decide. */
bool form_has_enough_defaults(const struct form *form)
{
    bool has_any = false;

    if (form_may_destroy(form) || form_has_confirm(form))
        return false;
    for (size_t i = 0; i < form->field_count; i++) {
        const struct field *field = &form->fields[i];
        int64_t count = count_defaults(field);

        if (!field_has_default(field) && field->is_required)
            return false;
        if (count > 0 && (count < field->min_selections || count > field->max_selections))
            return false;
        has_any = has_any || field_has_default(field);
    }
    return has_any;
}

/* Options that must not be mistaken for each other: by their ids, by the eye. */

/* Ids are compared in NFC, since channels and stores may normalise what they pass on. */
bool field_find_same_ids(const struct field *field, size_t *ret_first, size_t *ret_second)
{
    struct text *normal = mem_new((field->option_count + 1) * sizeof *normal);
    bool is_found = false;

    for (size_t i = 0; i < field->option_count; i++) {
        visible_nfc(field->options[i].id, strlen(field->options[i].id), &normal[i]);
        for (size_t k = 0; !is_found && k < i; k++) {
            is_found = strcmp(text_string(&normal[i]), text_string(&normal[k])) == 0;
            *ret_first = k;
            *ret_second = i;
        }
    }
    for (size_t i = 0; i < field->option_count; i++)
        text_release(&normal[i]);
    free(normal);
    return is_found;
}

bool field_find_same_labels(const struct field *field, size_t *ret_first, size_t *ret_second)
{
    struct visible_look *looks = mem_new((field->option_count + 1) * sizeof *looks);
    bool is_found = false;

    for (size_t i = 0; i < field->option_count; i++) {
        visible_look_init(&looks[i], field->options[i].label, strlen(field->options[i].label));
        for (size_t k = 0; !is_found && k < i; k++) {
            is_found = visible_look_alike(&looks[i], &looks[k]);
            *ret_first = k;
            *ret_second = i;
        }
    }
    for (size_t i = 0; i < field->option_count; i++)
        visible_look_release(&looks[i]);
    free(looks);
    return is_found;
}
