/* elicit_fields.c - a field out of a property whose keywords are well-formed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/answer_inside.h"
#include "core/elicit_schema.h"

bool schema_refuse(const struct place *outer, const char *keyword, enum error_code code,
                   struct error *err, const char *format, ...)
{
    const struct place place = { .outer = outer, .name = keyword };
    char message[sizeof err->message];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return argument_refuse(&place, code, err, "%s", message);
}

/* The answer's own judge looks at what would stand there if nobody touched it. */
static bool check_default(const struct field *field, const struct json *given,
                          const struct place *place, struct error *err)
{
    const struct answer_rule *rule = answer_rule(field->kind);
    struct field_value value = { .text = field->default_text };
    struct error why = { 0 };

    if (!field_has_default(field))
        return true;
    if (rule->read ? rule->read(field, given, &value, &why)
                   : rule->judge(field, &(struct said){ .words_path = "" }, &value, &why))
        return true;
    return schema_refuse(place, "default", why.code, err, "the default does not fit: it %s",
                         why.message);
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
        return schema_refuse(place, "minLength", ERROR_min_exceeds_max, err,
                             "minLength is greater than maxLength");
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
        return schema_refuse(place, "minimum", ERROR_min_exceeds_max, err,
                             "minimum is greater than maximum");
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

/* Where an option's value and label stand: below an item of these lists, or as the item itself. */
struct option_places {
    const struct place *outer;
    const char *values, *value, *labels, *label;
};

static bool refuse_option(const struct place *outer, const char *list, const char *member,
                          size_t index, enum error_code code, struct error *err)
{
    const struct place lists = { .outer = outer, .name = list };
    const struct place item = { .outer = &lists, .index = index };
    const struct place inner = { .outer = &item, .name = member };

    return argument_refuse(member ? &inner : &item, code, err,
                           code == ERROR_ambiguous_label
                               ? "a person cannot tell this label from an earlier one: use other "
                                 "words"
                               : "this value stands in the list before: name each once");
}

static bool check_options(const struct field *field, const struct option_places *places,
                          struct error *err)
{
    size_t first, second;

    if (field_find_same_ids(field, &first, &second))
        return refuse_option(places->outer, places->values, places->value, second,
                             ERROR_duplicate_option_id, err);
    if (field_find_same_labels(field, &first, &second))
        return refuse_option(places->outer, places->labels, places->label, second,
                             ERROR_ambiguous_label, err);
    return true;
}

static bool preselect(struct field *field, const char *value, const struct place *place,
                      struct error *err)
{
    const struct option *option = field_find_option(field, value);

    if (!option)
        return argument_refuse(place, ERROR_default_not_in_options, err,
                               "the default is none of the values");
    if (option->is_default)
        return argument_refuse(place, ERROR_duplicate_default, err,
                               "this value stands in the list before: name each once");
    field->options[option - field->options].is_default = true;
    return true;
}

bool schema_fill_single(const struct property_values *values, struct field *field,
                        const struct place *place, struct error *err)
{
    const struct place preset = { .outer = place, .name = "default" };
    struct option_places places = { place, "enum", NULL, "enum", NULL };
    const struct json *names = values->names ? values->names : values->labels;
    const char *key = values->names ? "enumNames" : "enumLabels";

    field->kind = FIELD_SINGLE;
    field->min_selections = field->max_selections = 1;
    if (values->names && values->labels)
        return schema_refuse(place, "enumLabels", ERROR_conflicting_arguments, err,
                             "%s says the same as another argument: keep one of them",
                             "enumLabels");
    if (names && json_length(names) != json_length(values->values))
        return schema_refuse(place, key, ERROR_label_count_mismatch, err,
                             "%s must have as many items as enum", key);
    if (values->labelled) {
        places = (struct option_places){ place, "oneOf", "const", "oneOf", "title" };
        elicit_fill_labelled(field, values->labelled, "const", "title");
    } else {
        places.labels = names ? key : "enum";
        elicit_fill_options(field, values->values, names);
    }
    return check_options(field, &places, err) &&
           (!values->default_text || preselect(field, values->default_text, &preset, err));
}

static bool fill_items(const struct property_values *values, struct field *field,
                       const struct place *place, struct error *err)
{
    const struct place inner = { .outer = place, .name = "items" };
    struct option_places places = { &inner, "enum", NULL, "enum", NULL };
    struct items_values items = { 0 };

    schema_fill_items(values->items, &items);
    if (!items.values == !items.labelled)
        return argument_refuse(&inner, ERROR_unsupported_schema, err,
                               "items must have either enum or anyOf");
    if (items.labelled) {
        places = (struct option_places){ &inner, "anyOf", "const", "anyOf", "title" };
        elicit_fill_labelled(field, items.labelled, "const", "title");
    } else {
        elicit_fill_options(field, items.values, NULL);
    }
    return check_options(field, &places, err);
}

bool schema_fill_array(const struct property_values *values, struct field *field,
                       const struct place *place, struct error *err)
{
    const struct place presets = { .outer = place, .name = "default" };
    int64_t count;

    field->kind = FIELD_MULTI;
    if (!fill_items(values, field, place, err))
        return false;
    count = (int64_t)field->option_count;
    field->min_selections = values->min_items;
    field->max_selections =
        values->max_items > 0 && values->max_items < count ? values->max_items : count;
    if (values->max_items > 0 && values->min_items > values->max_items)
        return schema_refuse(place, "minItems", ERROR_min_exceeds_max, err,
                             "minItems is greater than maxItems");
    if (values->min_items > count)
        return schema_refuse(place, "minItems", ERROR_min_exceeds_options, err,
                             "minItems is greater than the number of values");
    if ((int64_t)json_length(values->defaults) > field->max_selections)
        return argument_refuse(&presets, ERROR_too_many_defaults, err,
                               "more values than may be chosen");
    for (size_t i = 0; i < json_length(values->defaults); i++) {
        const struct place item = { .outer = &presets, .index = i };

        if (!preselect(field, json_text(json_item(values->defaults, i)), &item, err))
            return false;
    }
    return true;
}
