/*
 * elicit_schema.c - the fields of a form out of a JSON Schema: what the revisions of MCP allow in
 * requestedSchema (2025-06-18, client/elicitation; 2025-11-25 added defaults, titles and lists).
 * Nothing is ever followed: what no table knows, $ref too, is unsupported_schema.
 */
#include "core/elicit_schema.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/sensitive.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

enum { NAME_BYTES = 80 }; /* of a property as a pointer shows it */

struct root_values {
    const char *dialect, *type;
    const struct json *properties, *required;
};
#define ROOT(name) offsetof(struct root_values, name)

static const char *const object_type[] = { "object", NULL };

/* published: elicit_schema */
static const struct argument root_rows[] = {
    ARGUMENT("$schema", TEXT, ROOT(dialect), "leave it out",
             ARGUMENT_LIMITS(0, LIMIT_DESCRIPTION_CHARS, CHARS)),
    ARGUMENT("type", ENUM, ROOT(type), "a form is {type: object, properties, required}",
             .choices = object_type, .is_needed = true),
    ARGUMENT("properties", OBJECT, ROOT(properties),
             "an object of 1 to 32 properties, none of them nested", .is_needed = true),
    ARGUMENT("required", IDS, ROOT(required), "names of properties",
             ARGUMENT_LIMITS(0, LIMIT_FORM_FIELDS, ITEMS)),
};

/* By these rows. In a schema, what no table knows is one thing: not supported. */
static bool read_keywords(const struct argument *rows, size_t row_count, const struct json *object,
                          const struct place *place, void *values, struct error *err)
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

static bool check_name(void *member, const struct place *place, struct error *err)
{
    const char *name = json_key(member);

    if (visible_count(name, strlen(name), 1) == 0)
        return argument_refuse(place, ERROR_empty_text, err, TEXT_REASON_FORM_NO_NAME, NULL);
    if (strlen(name) > LIMIT_FIELD_NAME_BYTES)
        return argument_refuse(place, ERROR_too_long, err, TEXT_REASON_FORM_NAME_LONG, "most",
                               TEXT_NUMBER(LIMIT_FIELD_NAME_BYTES), NULL);
    return true;
}

static bool read_property(void *member, const struct place *outer, struct field *field,
                          struct error *err)
{
    char shown[NAME_BYTES];
    const struct place place = { .outer = outer, .name = shown };
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
    if (json_is_yes(values.secret) ||
        (kind->takes_words &&
         (sensitive_is_name(field->name) || (values.title && sensitive_is_name(values.title)))))
        return argument_refuse(&place, ERROR_sensitive_input_refused, err, TEXT_REASON_ARG_SECRET,
                               NULL);
    return kind->fill(&values, field, &place, err);
}

static bool mark_required(const struct json *required, const struct place *root, struct form *form,
                          struct error *err)
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

bool elicit_read_schema(const struct json *schema, const struct place *root, struct form *form,
                        struct error *err)
{
    const struct place place = { .outer = root, .name = "properties" };
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
