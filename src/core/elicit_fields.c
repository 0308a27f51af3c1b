/* elicit_fields.c - a field out of a property whose keywords are well-formed. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/elicit_schema.h"
#include "core/field_class.h"
#include "i18n/i18n.h"

/* The answer's own judge looks at what would stand there if nobody touched it. */
static bool check_default(const struct field *field, const struct json *given,
                          const struct place *place, struct error *err)
{
    const struct field_class *class = class_of(field);
    struct field_value value = { .text = field->default_text };
    struct error why = { 0 };

    if (!field_has_default(field))
        return true;
    if (class->read ? class->read(field, given, &value, &why)
                    : class->judge(field, &(struct said){ .words_path = "" }, &value, &why))
        return true;
    return argument_refuse(PLACE_IN(place, "default"), why.code, err, TEXT_REASON_FORM_DEFAULT,
                           "hint", why.message, NULL);
}

bool schema_fill_text(const struct property_values *values, struct field *field,
                      const struct place *place, struct error *err)
{
    field->kind = FIELD_TEXT;
    field->min_chars = values->min_chars;
    field->max_chars = values->max_chars;
    field->format = mem_text(values->format);
    field->default_text = arguments_copy_if_any(values->default_text);
    if (field->max_chars > 0 && field->min_chars > field->max_chars)
        return argument_refuse(PLACE_IN(place, "minLength"), ERROR_min_exceeds_max, err,
                               TEXT_REASON_FORM_LENGTHS, NULL);
    return check_default(field, NULL, place, err);
}

bool schema_fill_number(const struct property_values *values, struct field *field,
                        const struct place *place, struct error *err)
{
    field->kind = FIELD_NUMBER;
    field->is_integer = strcmp(values->type, "integer") == 0;
    elicit_fill_bounds(field, values->minimum, values->maximum);
    field->style = field->has_minimum && field->has_maximum ? NUMBER_SLIDER : NUMBER_FIELD;
    field->has_default_number = values->default_number != NULL;
    field->default_number = json_number_of(values->default_number);
    if (field->has_minimum && field->has_maximum && field->minimum > field->maximum)
        return argument_refuse(PLACE_IN(place, "minimum"), ERROR_min_exceeds_max, err,
                               TEXT_REASON_FORM_BOUNDS, NULL);
    return check_default(field, values->default_number, place, err);
}

bool schema_fill_boolean(const struct property_values *values, struct field *field,
                         const struct place *place, struct error *err)
{
    (void)place;
    (void)err;
    field->kind = FIELD_CONFIRM;
    if (values->default_yes != SCHEMA_NOT_GIVEN)
        field->default_confirm = values->default_yes ? CONFIRM_YES : CONFIRM_NO;
    return true;
}

/* What options are made of: values that may have labels, or pairs of both; and what the lists that
 * differ are called. */
struct option_lists {
    const struct place *outer;
    const struct json *values, *labels, *pairs;
    const char *labels_name, *pairs_name;
};

static bool fill_options(const struct option_lists *lists, struct field *field, struct error *err)
{
    const char *values_name = lists->pairs ? lists->pairs_name : "enum";
    const char *labels_name = lists->labels ? lists->labels_name : values_name;
    const struct place *item;
    size_t first, second;

    if (lists->pairs)
        elicit_fill_labelled(field, lists->pairs, "const", "title");
    else
        elicit_fill_options(field, lists->values, lists->labels);
    if (field_find_same_ids(field, &first, &second)) {
        item = PLACE_AT(PLACE_IN(lists->outer, values_name), second);
        return argument_refuse(lists->pairs ? PLACE_IN(item, "const") : item,
                               ERROR_duplicate_option_id, err, TEXT_REASON_FORM_TWICE, NULL);
    }
    if (field_find_same_labels(field, &first, &second)) {
        item = PLACE_AT(PLACE_IN(lists->outer, labels_name), second);
        return argument_refuse(lists->pairs ? PLACE_IN(item, "title") : item, ERROR_ambiguous_label,
                               err, TEXT_REASON_FORM_LABEL, NULL);
    }
    return true;
}

static bool preselect(struct field *field, const char *value, const struct place *place,
                      struct error *err)
{
    const struct option *option = field_find_option(field, value);

    if (!option)
        return argument_refuse(place, ERROR_default_not_in_options, err,
                               TEXT_REASON_FORM_DEFAULT_NONE, NULL);
    if (option->is_default)
        return argument_refuse(place, ERROR_duplicate_default, err, TEXT_REASON_FORM_TWICE, NULL);
    field->options[option - field->options].is_default = true;
    return true;
}

bool schema_fill_single(const struct property_values *values, struct field *field,
                        const struct place *place, struct error *err)
{
    const struct json *names = values->names ? values->names : values->labels;
    const char *key = values->names ? "enumNames" : "enumLabels";
    const struct option_lists lists = {
        place, values->values, names, values->labelled, key, "oneOf"
    };

    field->kind = FIELD_SINGLE;
    field->min_selections = field->max_selections = 1;
    if (values->names && values->labels)
        return argument_refuse(PLACE_IN(place, "enumLabels"), ERROR_conflicting_arguments, err,
                               TEXT_REASON_ELICIT_SAME, "name", "enumLabels", NULL);
    if (names && json_length(names) != json_length(values->values))
        return argument_refuse(PLACE_IN(place, key), ERROR_label_count_mismatch, err,
                               TEXT_REASON_FORM_NAMES, "name", key, NULL);
    return fill_options(&lists, field, err) &&
           (!values->default_text ||
            preselect(field, values->default_text, PLACE_IN(place, "default"), err));
}

static bool fill_items(const struct property_values *values, struct field *field,
                       const struct place *place, struct error *err)
{
    struct items_values items = { 0 };
    struct option_lists lists = { .outer = place, .pairs_name = "anyOf" };

    schema_fill_items(values->items, &items);
    lists.values = items.values;
    lists.pairs = items.labelled;
    return !items.values == !items.labelled
               ? argument_refuse(place, ERROR_unsupported_schema, err, TEXT_REASON_FORM_ITEMS, NULL)
               : fill_options(&lists, field, err);
}

bool schema_fill_array(const struct property_values *values, struct field *field,
                       const struct place *place, struct error *err)
{
    const struct place *presets = PLACE_IN(place, "default");
    int64_t count;

    field->kind = FIELD_MULTI;
    if (!fill_items(values, field, PLACE_IN(place, "items"), err))
        return false;
    count = (int64_t)field->option_count;
    field->min_selections = values->min_items;
    field->max_selections =
        values->max_items > 0 && values->max_items < count ? values->max_items : count;
    if (values->max_items > 0 && values->min_items > values->max_items)
        return argument_refuse(PLACE_IN(place, "minItems"), ERROR_min_exceeds_max, err,
                               TEXT_REASON_FORM_ITEMS_BOUNDS, NULL);
    if (values->min_items > count)
        return argument_refuse(PLACE_IN(place, "minItems"), ERROR_min_exceeds_options, err,
                               TEXT_REASON_FORM_ITEMS_COUNT, NULL);
    if ((int64_t)json_length(values->defaults) > field->max_selections)
        return argument_refuse(presets, ERROR_too_many_defaults, err, TEXT_REASON_FORM_TOO_MANY,
                               NULL);
    for (size_t i = 0; i < json_length(values->defaults); i++) {
        if (!preselect(field, json_text(json_item(values->defaults, i)), PLACE_AT(presets, i), err))
            return false;
    }
    return true;
}
