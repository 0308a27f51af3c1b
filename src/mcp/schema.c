/* schema.c - see schema.h. Dialect: JSON Schema 2020-12, no root combinators. */
#include "mcp/schema.h"

#include "base/json_writer.h"
#include "core/arguments.h"

static void write_properties(struct json_writer *writer, const struct argument *rows, size_t count,
                             bool may_collect);

/* Another argument can't stand in for it. */
static bool is_required(const struct argument *row)
{
    return row->is_needed && !row->spared_by;
}

static void write_required(struct json_writer *writer, const struct argument *rows, size_t count)
{
    bool is_any = false;

    for (size_t i = 0; i < count; i++)
        is_any = is_any || is_required(&rows[i]);
    if (!is_any)
        return;
    json_write_list(writer, "required");
    for (size_t i = 0; i < count; i++) {
        if (is_required(&rows[i]))
            json_write_text(writer, NULL, rows[i].name);
    }
    json_write_end_list(writer);
}

static void write_object(struct json_writer *writer, const struct argument *rows, size_t count,
                         bool may_collect)
{
    json_write_text(writer, "type", "object");
    write_properties(writer, rows, count, may_collect);
    if (!may_collect)
        write_required(writer, rows, count);
    json_write_bool(writer, "additionalProperties", false);
}

static void write_text_type(struct json_writer *writer, const struct argument *row)
{
    json_write_text(writer, "type", "string");
    if (row->unit == UNIT_CHARS && row->most > 0 && row->most != ARGUMENT_UNBOUNDED)
        json_write_integer(writer, "maxLength", row->most);
}

static void write_number_type(struct json_writer *writer, const struct argument *row)
{
    json_write_text(writer, "type", "integer");
    json_write_integer(writer, "minimum", row->least);
    if (row->most != ARGUMENT_UNBOUNDED)
        json_write_integer(writer, "maximum", row->most);
}

static void write_enum_type(struct json_writer *writer, const struct argument *row)
{
    json_write_text(writer, "type", "string");
    json_write_list(writer, "enum");
    for (const char *const *choice = row->choices; *choice; choice++)
        json_write_text(writer, NULL, *choice);
    json_write_end_list(writer);
}

static void write_list_type(struct json_writer *writer, const struct argument *row)
{
    json_write_text(writer, "type", "array");
    if (row->least > 0)
        json_write_integer(writer, "minItems", row->least);
    if (row->most > 0 && row->most != ARGUMENT_UNBOUNDED)
        json_write_integer(writer, "maxItems", row->most);
    json_write_object(writer, "items");
    if (row->property_count > 0)
        write_object(writer, row->properties, row->property_count, false);
    else
        json_write_text(writer, "type", "string");
    json_write_end_object(writer);
}

static void write_preview_type(struct json_writer *writer, const struct argument *row)
{
    json_write_list(writer, "anyOf");
    json_write_object(writer, NULL);
    json_write_text(writer, "type", "string");
    json_write_end_object(writer);
    json_write_object(writer, NULL);
    write_object(writer, row->properties, row->property_count, false);
    json_write_end_object(writer);
    json_write_end_list(writer);
}

static void write_real_type(struct json_writer *writer, const struct argument *row)
{
    (void)row;
    json_write_text(writer, "type", "number");
}

static void write_object_type(struct json_writer *writer, const struct argument *row)
{
    (void)row;
    json_write_text(writer, "type", "object");
}

static void write_bool_type(struct json_writer *writer, const struct argument *row)
{
    (void)row;
    json_write_text(writer, "type", "boolean");
}

/* What counts where the argument is left out, as far as a table says it. */
static void write_default(struct json_writer *writer, const struct argument *row)
{
    if (row->type == ARGUMENT_BOOL && row->otherwise >= 0)
        json_write_bool(writer, "default", row->otherwise);
    else if (row->type == ARGUMENT_INTEGER && row->otherwise > 0)
        json_write_integer(writer, "default", row->otherwise);
    json_write_text_if(writer, "default", row->otherwise_text);
}

static void write_properties(struct json_writer *writer, const struct argument *rows, size_t count,
                             bool may_collect)
{
    static void (*const types[])(struct json_writer * writer, const struct argument *row) = {
        [ARGUMENT_TEXT] = write_text_type,       [ARGUMENT_MARKDOWN] = write_text_type,
        [ARGUMENT_BOOL] = write_bool_type,       [ARGUMENT_INTEGER] = write_number_type,
        [ARGUMENT_ENUM] = write_enum_type,       [ARGUMENT_ID] = write_text_type,
        [ARGUMENT_OPTIONS] = write_list_type,    [ARGUMENT_IDS] = write_list_type,
        [ARGUMENT_PREVIEW] = write_preview_type, [ARGUMENT_NUMBER] = write_real_type,
        [ARGUMENT_TEXTS] = write_list_type,      [ARGUMENT_OBJECT] = write_object_type,
        [ARGUMENT_QUESTIONS] = write_list_type,  [ARGUMENT_QUESTION_OPTIONS] = write_list_type,
    };

    json_write_object(writer, "properties");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_hidden)
            continue;
        json_write_object(writer, rows[i].name);
        types[rows[i].type](writer, &rows[i]);
        if (!may_collect)
            write_default(writer, &rows[i]);
        if (!rows[i].is_obvious)
            json_write_text(writer, "description", rows[i].help);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

void schema_write_input(struct json_writer *writer, const char *key,
                        const struct argument *arguments, size_t count)
{
    bool may_collect = false;

    for (size_t i = 0; i < count; i++)
        may_collect = may_collect || (arguments[i].type == ARGUMENT_ID && !arguments[i].is_needed);
    json_write_object(writer, key);
    write_object(writer, arguments, count, may_collect);
    json_write_end_object(writer);
}

void schema_write_output(struct json_writer *writer, const char *key,
                         const struct schema_property *properties, size_t count)
{
    json_write_object(writer, key);
    json_write_text(writer, "type", "object");
    json_write_object(writer, "properties");
    for (size_t i = 0; i < count; i++) {
        json_write_object(writer, properties[i].name);
        text_add_text(writer->out, properties[i].type_json);
        writer->needs_comma = true;
        json_write_text_if(writer, "description", properties[i].help);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    json_write_end_object(writer);
}
