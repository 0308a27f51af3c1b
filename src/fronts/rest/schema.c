/* schema.c - prints shapes.c as JSON Schema (draft 2020-12, as OpenAPI 3.1 has it). */
#include <stdio.h>

#include "base/json_writer.h"
#include "fronts/rest/inside.h"

static const struct {
    const char *type, *format;
} types[] = {
    [MEMBER_TEXT] = { "string", NULL },  [MEMBER_TIME] = { "string", "date-time" },
    [MEMBER_ID] = { "string", NULL },    [MEMBER_INTEGER] = { "integer", NULL },
    [MEMBER_BOOL] = { "boolean", NULL }, [MEMBER_ANY_OBJECT] = { "object", NULL },
    [MEMBER_SHAPE] = { NULL, NULL },     [MEMBER_SHAPES] = { "array", NULL },
    [MEMBER_TEXTS] = { "array", NULL },  [MEMBER_TEXT_BY_NAME] = { "object", NULL },
};

static void write_ref(struct json_writer *writer, const struct shape *shape)
{
    char path[64];

    snprintf(path, sizeof path, "#/components/schemas/%s", shape->name);
    json_write_text(writer, "$ref", path);
}

void schema_write_reference(struct json_writer *writer, const char *key, const struct shape *shape)
{
    json_write_object(writer, key);
    write_ref(writer, shape);
    json_write_end_object(writer);
}

static void write_type_members(struct json_writer *writer, enum member_type type, bool or_null)
{
    if (or_null) {
        json_write_list(writer, "type");
        json_write_text(writer, NULL, types[type].type);
        json_write_text(writer, NULL, "null");
        json_write_end_list(writer);
    } else {
        json_write_text(writer, "type", types[type].type);
    }
    json_write_text_if(writer, "format", types[type].format);
    if (type == MEMBER_ID)
        json_write_text(writer, "pattern", "^[a-z2-7]{26}$");
    if (type == MEMBER_TEXTS || type == MEMBER_TEXT_BY_NAME) {
        json_write_object(writer, type == MEMBER_TEXTS ? "items" : "additionalProperties");
        json_write_text(writer, "type", "string");
        json_write_end_object(writer);
    }
}

void schema_write_type(struct json_writer *writer, const char *key, enum member_type type)
{
    json_write_object(writer, key);
    write_type_members(writer, type, false);
    json_write_end_object(writer);
}

static void write_member(struct json_writer *writer, const struct member *member)
{
    bool or_null = member->flags & OR_NULL;

    json_write_object(writer, member->name);
    json_write_text(writer, "description", member->about);
    if (member->type == MEMBER_SHAPE && or_null) {
        json_write_list(writer, "anyOf");
        schema_write_reference(writer, NULL, member->shape);
        json_write_raw(writer, NULL, "{\"type\":\"null\"}");
        json_write_end_list(writer);
    } else if (member->type == MEMBER_SHAPE) {
        write_ref(writer, member->shape);
    } else {
        write_type_members(writer, member->type, or_null);
        if (member->type == MEMBER_SHAPES)
            schema_write_reference(writer, "items", member->shape);
    }
    json_write_end_object(writer);
}

static void write_names(struct json_writer *writer, const struct shape *shape, unsigned flag)
{
    json_write_list(writer, flag == ONE_OF ? "anyOf" : "required");
    for (size_t i = 0; i < shape->count; i++) {
        if (!(shape->members[i].flags & flag))
            continue;
        if (flag == NEEDED) {
            json_write_text(writer, NULL, shape->members[i].name);
            continue;
        }
        json_write_object(writer, NULL);
        json_write_list(writer, "required");
        json_write_text(writer, NULL, shape->members[i].name);
        json_write_end_list(writer);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

static void write_schema(struct json_writer *writer, const struct shape *shape)
{
    json_write_object(writer, shape->name);
    json_write_text(writer, "type", "object");
    json_write_text(writer, "description", shape->about);
    json_write_object(writer, "properties");
    for (size_t i = 0; i < shape->count; i++)
        write_member(writer, &shape->members[i]);
    json_write_end_object(writer);
    if (shape_has(shape, NEEDED))
        write_names(writer, shape, NEEDED);
    if (shape_has(shape, ONE_OF))
        write_names(writer, shape, ONE_OF);
    if (shape->is_body)
        json_write_bool(writer, "additionalProperties", false);
    json_write_end_object(writer);
}

void schema_write_all(struct json_writer *writer, const char *key)
{
    json_write_object(writer, key);
    for (size_t i = 0; i < shape_count; i++)
        write_schema(writer, shapes[i]);
    json_write_end_object(writer);
}
