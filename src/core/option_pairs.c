/* option_pairs.c - options that must not be mistaken for each other: by their ids, by the eye. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/form.h"
#include "core/visible_text.h"

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
