/* elicit_keywords.c - the kinds of properties a form may have, and the keywords of each. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/elicit_schema.h"
#include "core/text_format.h"

#define VALUE(name) offsetof(struct property_values, name)
#define ITEMS(name) offsetof(struct items_values, name)

static const char *const string_type[] = { "string", NULL };
static const char *const property_types[] = { "string",  "number", "integer",
                                              "boolean", "array",  NULL };

static const struct argument labelled_rows[] = { ELICIT_PAIR("const", "title") };

/* published: elicit_keywords */
#define ENUM_ROW(slot)                                                                             \
    ARGUMENT("enum", TEXTS, slot, "1 to 100 texts", ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS),      \
             .properties = &elicit_value_row)
#define LABELLED_ROW(key, slot)                                                                    \
    ARGUMENT(key, OPTIONS, slot, "1 to 100 of {const, title}",                                     \
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), ARGUMENT_PROPERTIES(labelled_rows))
#define LABELS_ROW(key, slot, hidden)                                                              \
    ARGUMENT(key, TEXTS, slot, "labels of enum, as many",                                          \
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_label_row,            \
             .is_hidden = hidden)
#define COUNT_ROW(key, lowest, highest, slot)                                                      \
    ARGUMENT(key, INTEGER, slot, "a count", ARGUMENT_LIMITS(lowest, highest, NUMBER))
#define DEFAULT_TEXT_ROW                                                                           \
    ARGUMENT("default", TEXT, VALUE(default_text), "what stands there beforehand",                 \
             ARGUMENT_LIMITS(0, LIMIT_ANSWER_TEXT_BYTES, BYTES))
/* Of every kind. */
#define PROPERTY_ROWS                                                                              \
    ARGUMENT("type", ENUM, VALUE(type), "string, number, integer, boolean or array",               \
             .choices = property_types, .is_needed = true),                                        \
        ARGUMENT("title", TEXT, VALUE(title), "what the field is called",                          \
                 ARGUMENT_LIMITS(0, LIMIT_LABEL_CHARS, CHARS)),                                    \
        ARGUMENT("description", TEXT, VALUE(description), "what to put there",                     \
                 ARGUMENT_LIMITS(0, LIMIT_DESCRIPTION_CHARS, CHARS)),                              \
        ARGUMENT("secret", ANY, VALUE(secret), NULL, .is_hidden = true)

static const struct argument text_rows[] = {
    PROPERTY_ROWS,
    COUNT_ROW("minLength", 0, LIMIT_ANSWER_TEXT_BYTES, VALUE(min_chars)),
    COUNT_ROW("maxLength", 1, LIMIT_ANSWER_TEXT_BYTES, VALUE(max_chars)),
    ARGUMENT("format", ENUM, VALUE(format), "email, uri, date or date-time",
             .choices = text_format_names),
    DEFAULT_TEXT_ROW,
};
static const struct argument number_rows[] = {
    PROPERTY_ROWS,
    ARGUMENT("minimum", NUMBER, VALUE(minimum), "a number"),
    ARGUMENT("maximum", NUMBER, VALUE(maximum), "a number"),
    ARGUMENT("default", NUMBER, VALUE(default_number), "a number"),
};
static const struct argument boolean_rows[] = {
    PROPERTY_ROWS,
    ARGUMENT("default", BOOL, VALUE(default_yes), "true or false", .otherwise = SCHEMA_NOT_GIVEN),
};
static const struct argument enum_rows[] = {
    PROPERTY_ROWS,
    ENUM_ROW(VALUE(values)),
    LABELS_ROW("enumNames", VALUE(names), false),
    LABELS_ROW("enumLabels", VALUE(labels), true),
    DEFAULT_TEXT_ROW,
};
static const struct argument labelled_enum_rows[] = {
    PROPERTY_ROWS,
    LABELLED_ROW("oneOf", VALUE(labelled)),
    DEFAULT_TEXT_ROW,
};
static const struct argument items_rows[] = {
    ARGUMENT("type", ENUM, ITEMS(type), "items are texts", .choices = string_type,
             .is_needed = true, .spared_by = "anyOf"),
    ENUM_ROW(ITEMS(values)),
    LABELLED_ROW("anyOf", ITEMS(labelled)),
};
static const struct argument array_rows[] = {
    PROPERTY_ROWS,
    ARGUMENT("items", OBJECT, VALUE(items), "{type: string, enum} or {anyOf: [{const, title}]}",
             .is_needed = true, ARGUMENT_PROPERTIES(items_rows)),
    COUNT_ROW("minItems", 0, LIMIT_OPTIONS, VALUE(min_items)),
    COUNT_ROW("maxItems", 1, ARGUMENT_UNBOUNDED, VALUE(max_items)),
    ARGUMENT("default", IDS, VALUE(defaults), "values of items",
             ARGUMENT_LIMITS(0, LIMIT_OPTIONS, ITEMS)),
};

static const struct schema_kind kinds[] = {
    { "string", "enum", enum_rows, ARRAY_LEN(enum_rows), schema_fill_single, false },
    { "string", "oneOf", labelled_enum_rows, ARRAY_LEN(labelled_enum_rows), schema_fill_single,
      false },
    { "string", NULL, text_rows, ARRAY_LEN(text_rows), schema_fill_text, true },
    { "number", NULL, number_rows, ARRAY_LEN(number_rows), schema_fill_number, true },
    { "integer", NULL, number_rows, ARRAY_LEN(number_rows), schema_fill_number, true },
    { "boolean", NULL, boolean_rows, ARRAY_LEN(boolean_rows), schema_fill_boolean, false },
    { "array", NULL, array_rows, ARRAY_LEN(array_rows), schema_fill_array, false },
};

const struct schema_kind *schema_kind_find(const struct json *property)
{
    const char *type = json_member_text(property, "type");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(type ? type : "string", kinds[i].type) == 0 &&
            (!kinds[i].keyword || json_member(property, kinds[i].keyword)))
            return &kinds[i];
    }
    return NULL;
}

void schema_fill_items(const struct json *items, struct items_values *values)
{
    arguments_fill(items_rows, ARRAY_LEN(items_rows), items, values);
}
