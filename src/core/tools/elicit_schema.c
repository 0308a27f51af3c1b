/*
 * elicit_schema.c - the fields of a form out of a JSON Schema: what the revisions of MCP allow in
 * requestedSchema (2025-06-18, client/elicitation; 2025-11-25 added defaults, titles and lists).
 * Nothing is ever followed: what no table knows, $ref too, is unsupported_schema.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/fields/field_class.h"
#include "core/tools/elicit.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

enum { NOT_GIVEN = -1 };

/* As the tables fill them: borrowed from the call. */
struct property_values {
    const char *type, *title, *description, *format, *default_text;
    int64_t min_chars, max_chars, min_items, max_items, default_yes;
    const struct json *minimum, *maximum, *default_number, *values, *names, *labels, *labelled;
    const struct json *items, *defaults, *secret;
};
struct items_values {
    const char *type;
    const struct json *values, *labelled;
};

/* The kinds of properties a form may have, and the keywords of each. */

#define VALUE(name) offsetof(struct property_values, name)
#define ITEMS(name) offsetof(struct items_values, name)

static const char *const string_type[] = { "string", NULL };
static const char *const property_types[] = { "string",  "number", "integer",
                                              "boolean", "array",  NULL };

static const struct argument labelled_rows[] = { ELICIT_PAIR("const", "title") };

/* published: elicit_keywords */
#define ENUM_ROW(slot)                                                                             \
    ARGUMENT("enum", TEXTS, slot, "1 to 100 strings", ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS),    \
             .properties = &elicit_value_row)
#define LABELLED_ROW(key, slot)                                                                    \
    ARGUMENT(key, OPTIONS, slot, "1 to 100 of {const, title}",                                     \
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), ARGUMENT_PROPERTIES(labelled_rows))
#define LABELS_ROW(key, slot, hidden)                                                              \
    ARGUMENT(key, TEXTS, slot, "labels for enum, in order",                                        \
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_label_row,            \
             .is_hidden = hidden)
#define COUNT_ROW(key, lowest, highest, slot)                                                      \
    ARGUMENT(key, INTEGER, slot, "a count", ARGUMENT_LIMITS(lowest, highest, NUMBER))
#define DEFAULT_TEXT_ROW                                                                           \
    ARGUMENT("default", TEXT, VALUE(default_text), "preset text",                                  \
             ARGUMENT_LIMITS(0, LIMIT_ANSWER_TEXT_BYTES, BYTES))
/* Of every kind. */
#define PROPERTY_ROWS                                                                              \
    ARGUMENT("type", ENUM, VALUE(type), "string, number, integer, boolean, or array",              \
             .choices = property_types, .is_required = true),                                      \
        ARGUMENT("title", TEXT, VALUE(title), "label of the field",                                \
                 ARGUMENT_LIMITS(0, LIMIT_LABEL_CHARS, CHARS)),                                    \
        ARGUMENT("description", TEXT, VALUE(description), "what to enter",                         \
                 ARGUMENT_LIMITS(0, LIMIT_DESCRIPTION_CHARS, CHARS)),                              \
        ARGUMENT("secret", ANY, VALUE(secret), NULL, .is_hidden = true)

static const struct argument text_rows[] = {
    PROPERTY_ROWS,
    COUNT_ROW("minLength", 0, LIMIT_ANSWER_TEXT_BYTES, VALUE(min_chars)),
    COUNT_ROW("maxLength", 1, LIMIT_ANSWER_TEXT_BYTES, VALUE(max_chars)),
    ARGUMENT("format", ENUM, VALUE(format), "email, uri, date, or date-time",
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
    ARGUMENT("default", BOOL, VALUE(default_yes), "a boolean", .fallback = NOT_GIVEN),
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
    ARGUMENT("type", ENUM, ITEMS(type), "items are strings", .choices = string_type,
             .is_required = true, .spared_by = "anyOf"),
    ENUM_ROW(ITEMS(values)),
    LABELLED_ROW("anyOf", ITEMS(labelled)),
};
static const struct argument array_rows[] = {
    PROPERTY_ROWS,
    ARGUMENT("items", OBJECT, VALUE(items), "{type: string, enum} or {anyOf: [{const, title}]}",
             .is_required = true, ARGUMENT_PROPERTIES(items_rows)),
    COUNT_ROW("minItems", 0, LIMIT_OPTIONS, VALUE(min_items)),
    COUNT_ROW("maxItems", 1, ARGUMENT_UNBOUNDED, VALUE(max_items)),
    ARGUMENT("default", IDS, VALUE(defaults), "values of items",
             ARGUMENT_LIMITS(0, LIMIT_OPTIONS, ITEMS)),
};

/* A field out of a property whose keywords are well-formed. */

/* A default is judged like an answer: it is one if the person leaves it alone. */
static bool check_default(const struct field *field, const struct json *given,
                          const struct argument_path *place, struct error *err)
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

static bool fill_text(const struct property_values *values, struct field *field,
                      const struct argument_path *place, struct error *err)
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

static bool fill_number(const struct property_values *values, struct field *field,
                        const struct argument_path *place, struct error *err)
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

static bool fill_boolean(const struct property_values *values, struct field *field,
                         const struct argument_path *place, struct error *err)
{
    (void)place;
    (void)err;
    field->kind = FIELD_CONFIRM;
    if (values->default_yes != NOT_GIVEN)
        field->default_confirm = values->default_yes ? CONFIRM_YES : CONFIRM_NO;
    return true;
}

/* What options are made of: values that may have labels, or pairs of both; and the lists' names. */
struct option_lists {
    const struct argument_path *outer;
    const struct json *values, *labels, *pairs;
    const char *labels_name, *pairs_name;
};

static bool fill_options(const struct option_lists *lists, struct field *field, struct error *err)
{
    const char *values_name = lists->pairs ? lists->pairs_name : "enum";
    const char *labels_name = lists->labels ? lists->labels_name : values_name;
    const struct argument_path *item;
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

static bool preselect(struct field *field, const char *value, const struct argument_path *place,
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

static bool fill_single(const struct property_values *values, struct field *field,
                        const struct argument_path *place, struct error *err)
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
                       const struct argument_path *place, struct error *err)
{
    struct items_values items = { 0 };
    struct option_lists lists = { .outer = place, .pairs_name = "anyOf" };

    arguments_fill(items_rows, ARRAY_LEN(items_rows), values->items, &items);
    lists.values = items.values;
    lists.pairs = items.labelled;
    return !items.values == !items.labelled
               ? argument_refuse(place, ERROR_unsupported_schema, err, TEXT_REASON_FORM_ITEMS, NULL)
               : fill_options(&lists, field, err);
}

static bool fill_array(const struct property_values *values, struct field *field,
                       const struct argument_path *place, struct error *err)
{
    const struct argument_path *presets = PLACE_IN(place, "default");
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

static const struct schema_kind {
    const char *type;
    const char *keyword; /* that tells it from others of its type; NULL: none */
    const struct argument *rows;
    size_t row_count;
    bool (*fill)(const struct property_values *values, struct field *field,
                 const struct argument_path *place, struct error *err);
    bool takes_words; /* the person writes what they like */
} kinds[] = {
    { "string", "enum", enum_rows, ARRAY_LEN(enum_rows), fill_single, false },
    { "string", "oneOf", labelled_enum_rows, ARRAY_LEN(labelled_enum_rows), fill_single, false },
    { "string", NULL, text_rows, ARRAY_LEN(text_rows), fill_text, true },
    { "number", NULL, number_rows, ARRAY_LEN(number_rows), fill_number, true },
    { "integer", NULL, number_rows, ARRAY_LEN(number_rows), fill_number, true },
    { "boolean", NULL, boolean_rows, ARRAY_LEN(boolean_rows), fill_boolean, false },
    { "array", NULL, array_rows, ARRAY_LEN(array_rows), fill_array, false },
};

/* NULL: its type is none of ours. Without any it is read as a text, which says what is wrong. */
static const struct schema_kind *schema_kind_find(const struct json *property)
{
    const char *type = json_member_text(property, "type");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(type ? type : "string", kinds[i].type) == 0 &&
            (!kinds[i].keyword || json_member(property, kinds[i].keyword)))
            return &kinds[i];
    }
    return NULL;
}

enum { NAME_BYTES = 80 }; /* of a property as a pointer shows it */

struct root_values {
    const char *dialect, *type;
    const struct json *properties, *required;
};
#define ROOT(name) offsetof(struct root_values, name)

static const char *const object_type[] = { "object", NULL };

/* published: elicit_schema */
static const struct argument root_rows[] = {
    ARGUMENT("$schema", TEXT, ROOT(dialect), "omit it",
             ARGUMENT_LIMITS(0, LIMIT_DESCRIPTION_CHARS, CHARS)),
    ARGUMENT("type", ENUM, ROOT(type), "a form is {type: object, properties, required}",
             .choices = object_type, .is_required = true),
    ARGUMENT("properties", OBJECT, ROOT(properties),
             "an object of 1 to 32 properties, none of them nested", .is_required = true),
    ARGUMENT("required", IDS, ROOT(required), "names of properties",
             ARGUMENT_LIMITS(0, LIMIT_FORM_FIELDS, ITEMS)),
};

/* By these rows. In a schema, what no table knows is one thing: not supported. */
static bool read_keywords(const struct argument *rows, size_t row_count, const struct json *object,
                          const struct argument_path *place, void *values, struct error *err)
{
    static const enum error_code codes[] = { ERROR_unknown_property, ERROR_bad_type, ERROR_bad_enum,
                                             ERROR_missing_property, ERROR_too_many_defaults };
    struct error found, one;

    if (argument_read_object(rows, row_count, object, place, values, &found))
        return true;
    for (size_t k = 0; error_at(&found, k, &one); k++) {
        for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
            if (one.code == codes[i])
                one.code = ERROR_unsupported_schema;
        }
        error_add(err, &one);
    }
    return false;
}

static bool check_name(void *member, const struct argument_path *place, struct error *err)
{
    const char *name = json_key(member);

    if (visible_count(name, strlen(name), 1) == 0)
        return argument_refuse(place, ERROR_empty_text, err, TEXT_REASON_FORM_NO_NAME, NULL);
    if (strlen(name) > LIMIT_FIELD_NAME_BYTES)
        return argument_refuse(place, ERROR_too_long, err, TEXT_REASON_FORM_NAME_LONG, "most",
                               TEXT_NUMBER(LIMIT_FIELD_NAME_BYTES), NULL);
    return true;
}

static bool read_property(void *member, const struct argument_path *outer, struct field *field,
                          struct error *err)
{
    char shown[NAME_BYTES];
    const struct argument_path place = { .outer = outer, .name = shown };
    const struct json *property = json_value(member);
    const struct schema_kind *kind = schema_kind_find(property);
    struct property_values values = { 0 };

    argument_show_key(member, shown, sizeof shown);
    if (!check_name(member, &place, err))
        return false;
    if (json_kind(property) != KIND_OBJECT)
        return argument_refuse(&place, ERROR_unsupported_schema, err, TEXT_REASON_FORM_PROPERTY,
                               NULL);
    if (!kind)
        return argument_refuse(PLACE_IN(&place, "type"), ERROR_unsupported_schema, err,
                               TEXT_REASON_FORM_TYPE, NULL);
    if (!read_keywords(kind->rows, kind->row_count, property, &place, &values, err))
        return false;
    field->name = mem_text(json_key(member));
    field->label = arguments_copy_if_any(values.title);
    field->description = arguments_copy_if_any(values.description);
    if (json_is_true(values.secret) ||
        (kind->takes_words &&
         (sensitive_is_name(field->name) || (values.title && sensitive_is_name(values.title)))))
        return argument_refuse(&place, ERROR_sensitive_input_refused, err, TEXT_REASON_ARG_SECRET,
                               NULL);
    return kind->fill(&values, field, &place, err);
}

static bool mark_required(const struct json *required, const struct argument_path *root,
                          struct form *form, struct error *err)
{
    for (size_t i = 0; i < json_length(required); i++) {
        const struct field *field = form_find_field(form, json_text(json_item(required, i)));

        if (!field)
            return argument_refuse(PLACE_AT(PLACE_IN(root, "required"), i),
                                   ERROR_unsupported_schema, err, TEXT_REASON_FORM_REQUIRED, NULL);
        form->fields[field - form->fields].is_required = true;
    }
    return true;
}

bool elicit_read_schema(const struct json *schema, const struct argument_path *root,
                        struct form *form, struct error *err)
{
    const struct argument_path place = { .outer = root, .name = "properties" };
    struct root_values values = { 0 };
    bool ok = true;
    size_t count;

    if (!read_keywords(root_rows, ARRAY_LEN(root_rows), schema, root, &values, err))
        return false;
    count = json_length(values.properties);
    if (count < 1 || count > LIMIT_FORM_FIELDS)
        return argument_refuse(&place, ERROR_unsupported_schema, err, TEXT_REASON_FORM_COUNT,
                               "most", TEXT_NUMBER(LIMIT_FORM_FIELDS), "count", TEXT_NUMBER(count),
                               NULL);
    form->fields = mem_new(count * sizeof *form->fields);
    for (void *it = json_first(values.properties); it; it = json_next(values.properties, it))
        ok = read_property(it, &place, &form->fields[form->field_count++], err) && ok;
    return ok && mark_required(values.required, root, form, err);
}
