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

#define ENUM_ROW(place)                                                                            \
    {                                                                                              \
        .name = "enum", .type = ARGUMENT_TEXTS, .least = 1, .most = LIMIT_OPTIONS,                 \
        .unit = UNIT_ITEMS, .offset = place, .help = "1 to 100 texts",                             \
        .properties = &elicit_value_row                                                            \
    }
#define LABELLED_ROW(key, place)                                                                   \
    {                                                                                              \
        .name = key, .type = ARGUMENT_OPTIONS, .least = 1, .most = LIMIT_OPTIONS,                  \
        .unit = UNIT_ITEMS, .offset = place, .help = "1 to 100 of {const, title}",                 \
        .properties = labelled_rows, .property_count = ARRAY_LEN(labelled_rows)                    \
    }
#define LABELS(place)                                                                              \
    ARGUMENT_RANGE(TEXTS, 1, LIMIT_OPTIONS, ITEMS),                                                \
        .offset = place, .properties = &elicit_label_row, .help = "labels of enum, as many"
#define COUNT_ROW(key, lowest, highest, place)                                                     \
    {                                                                                              \
        .name = key, .type = ARGUMENT_INTEGER, .least = lowest, .most = highest,                   \
        .unit = UNIT_NUMBER, .offset = place, .help = "a count"                                    \
    }
#define NUMBER_ROW(key, place)                                                                     \
    {                                                                                              \
        .name = key, .type = ARGUMENT_NUMBER, .offset = place, .help = "a number"                  \
    }
#define DEFAULT_TEXT_ROW                                                                           \
    {                                                                                              \
        .name = "default", .type = ARGUMENT_TEXT, .most = LIMIT_ANSWER_TEXT_BYTES,                 \
        .unit = UNIT_BYTES, .offset = VALUE(default_text), .help = "what stands there beforehand"  \
    }
/* Of every kind. */
#define PROPERTY_ROWS                                                                              \
    { .name = "type",                                                                              \
      .type = ARGUMENT_ENUM,                                                                       \
      .choices = property_types,                                                                   \
      .is_needed = true,                                                                           \
      .offset = VALUE(type),                                                                       \
      .help = "string, number, integer, boolean or array" },                                       \
        { .name = "title",                                                                         \
          .type = ARGUMENT_TEXT,                                                                   \
          .most = LIMIT_LABEL_CHARS,                                                               \
          .unit = UNIT_CHARS,                                                                      \
          .offset = VALUE(title),                                                                  \
          .help = "what the field is called" },                                                    \
        { .name = "description",                                                                   \
          .type = ARGUMENT_TEXT,                                                                   \
          .most = LIMIT_DESCRIPTION_CHARS,                                                         \
          .unit = UNIT_CHARS,                                                                      \
          .offset = VALUE(description),                                                            \
          .help = "what to put there" },                                                           \
    {                                                                                              \
        .name = "secret", .type = ARGUMENT_ANY, .offset = VALUE(secret), .is_hidden = true         \
    }

static const struct argument text_rows[] = {
    PROPERTY_ROWS,
    COUNT_ROW("minLength", 0, LIMIT_ANSWER_TEXT_BYTES, VALUE(min_chars)),
    COUNT_ROW("maxLength", 1, LIMIT_ANSWER_TEXT_BYTES, VALUE(max_chars)),
    { .name = "format",
      .type = ARGUMENT_ENUM,
      .choices = text_format_names,
      .offset = VALUE(format),
      .help = "email, uri, date or date-time" },
    DEFAULT_TEXT_ROW,
};
static const struct argument number_rows[] = {
    PROPERTY_ROWS,
    NUMBER_ROW("minimum", VALUE(minimum)),
    NUMBER_ROW("maximum", VALUE(maximum)),
    NUMBER_ROW("default", VALUE(default_number)),
};
static const struct argument boolean_rows[] = {
    PROPERTY_ROWS,
    { .name = "default",
      .type = ARGUMENT_BOOL,
      .otherwise = SCHEMA_NOT_GIVEN,
      .offset = VALUE(default_yes),
      .help = "true or false" },
};
static const struct argument enum_rows[] = {
    PROPERTY_ROWS,
    ENUM_ROW(VALUE(values)),
    { .name = "enumNames", LABELS(VALUE(names)) },
    { .name = "enumLabels", LABELS(VALUE(labels)), .is_hidden = true },
    DEFAULT_TEXT_ROW,
};
static const struct argument labelled_enum_rows[] = {
    PROPERTY_ROWS,
    LABELLED_ROW("oneOf", VALUE(labelled)),
    DEFAULT_TEXT_ROW,
};
static const struct argument items_rows[] = {
    { .name = "type",
      .type = ARGUMENT_ENUM,
      .choices = string_type,
      .is_needed = true,
      .spared_by = "anyOf",
      .offset = ITEMS(type),
      .help = "items are texts" },
    ENUM_ROW(ITEMS(values)),
    LABELLED_ROW("anyOf", ITEMS(labelled)),
};
static const struct argument array_rows[] = {
    PROPERTY_ROWS,
    { .name = "items",
      .type = ARGUMENT_OBJECT,
      .is_needed = true,
      .offset = VALUE(items),
      .help = "{type: string, enum} or {anyOf: [{const, title}]}",
      ARGUMENT_PROPERTIES(items_rows) },
    COUNT_ROW("minItems", 0, LIMIT_OPTIONS, VALUE(min_items)),
    COUNT_ROW("maxItems", 1, ARGUMENT_UNBOUNDED, VALUE(max_items)),
    { .name = "default",
      ARGUMENT_RANGE(IDS, 0, LIMIT_OPTIONS, ITEMS),
      .offset = VALUE(defaults),
      .help = "values of items" },
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
