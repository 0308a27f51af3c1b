/*
 * openapi.c - the description of this front (OpenAPI 3.1), printed from the rows that serve it, and
 * shapes.c as JSON Schema (draft 2020-12, as OpenAPI 3.1 has it).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "http/rest/call.h"

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

static void write_reference(struct json_writer *writer, const char *key, const struct shape *shape)
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

static void write_type(struct json_writer *writer, const char *key, enum member_type type)
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
        write_reference(writer, NULL, member->shape);
        json_write_raw(writer, NULL, "{\"type\":\"null\"}");
        json_write_end_list(writer);
    } else if (member->type == MEMBER_SHAPE) {
        write_ref(writer, member->shape);
    } else {
        write_type_members(writer, member->type, or_null);
        if (member->type == MEMBER_SHAPES)
            write_reference(writer, "items", member->shape);
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

static void write_schemas(struct json_writer *writer, const char *key)
{
    json_write_object(writer, key);
    for (size_t i = 0; i < shape_count; i++)
        write_schema(writer, shapes[i]);
    json_write_end_object(writer);
}

static void write_parameter(struct json_writer *writer, const struct parameter *parameter)
{
    bool is_path = strcmp(parameter->place, "path") == 0;

    json_write_object(writer, NULL);
    json_write_text(writer, "name", parameter->name);
    json_write_text(writer, "in", parameter->place);
    json_write_bool(writer, "required", is_path);
    json_write_text(writer, "description", parameter->about);
    if (parameter->type == MEMBER_INTEGER) {
        json_write_object(writer, "schema");
        json_write_text(writer, "type", "integer");
        json_write_integer(writer, "minimum", parameter->least);
        json_write_integer(writer, "maximum", parameter->most);
        json_write_end_object(writer);
    } else {
        write_type(writer, "schema", parameter->type);
    }
    json_write_end_object(writer);
}

static void write_content(struct json_writer *writer, const char *type, const struct shape *shape)
{
    json_write_object(writer, "content");
    json_write_object(writer, type);
    if (shape)
        write_reference(writer, "schema", shape);
    json_write_end_object(writer);
    json_write_end_object(writer);
}

static void write_body(struct json_writer *writer, const struct shape *shape)
{
    json_write_object(writer, "requestBody");
    json_write_bool(writer, "required", shape_has(shape, NEEDED | ONE_OF));
    write_content(writer, "application/json", shape);
    json_write_end_object(writer);
}

static const char *describe_status(int status)
{
    static const struct {
        int status;
        const char *meaning;
    } meanings[] = {
        { 304, "Still the version in If-None-Match." },
        { 400, "A parameter, a header or the JSON is not right." },
        { 401, "No token, or one that is not known." },
        { 403, "Not with this token, or from this page." },
        { 404, "No such ask or conversation." },
        { 409, "Decided already, or not possible as it stands." },
        { 410, "Over: nobody decided in time, or the agent took it back; or no longer kept." },
        { 412, "Changed since it was looked at." },
        { 413, "The body is too long." },
        { 415, "The body is not called application/json." },
        { 422, "The body is not valid; path says where." },
        { 429, "Too many; Retry-After says when." },
        { 503, "Not now; Retry-After says when." },
    };

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].status == status)
            return meanings[i].meaning;
    }
    return "See error.code.";
}

static void write_reply(struct json_writer *writer, const struct operation *operation, int status)
{
    bool is_own = strcmp(operation->id, "readiness") == 0 && status == 503;
    char key[8];

    snprintf(key, sizeof key, "%d", status);
    json_write_object(writer, key);
    if (status == 200) {
        json_write_text(writer, "description", operation->summary);
        write_content(writer, operation->reply_type, operation->reply);
    } else {
        json_write_text(writer, "description", describe_status(status));
        if (status != 304)
            write_content(writer, "application/json", is_own ? operation->reply : &shape_error);
    }
    json_write_end_object(writer);
}

static void write_operation(struct json_writer *writer, const struct operation *operation)
{
    char method[8] = "";

    for (size_t i = 0; i < sizeof method - 1 && operation->method[i]; i++)
        method[i] = (char)tolower((unsigned char)operation->method[i]);
    json_write_object(writer, method);
    json_write_text(writer, "operationId", operation->id);
    json_write_text(writer, "summary", operation->summary);
    if (operation->access == GUARD_OPEN)
        json_write_raw(writer, "security", "[]");
    json_write_list(writer, "parameters");
    for (const struct parameter *const *at = operation->parameters; *at; at++)
        write_parameter(writer, *at);
    json_write_end_list(writer);
    if (operation->body)
        write_body(writer, operation->body);
    json_write_object(writer, "responses");
    write_reply(writer, operation, 200);
    for (char *at = (char *)operation->statuses; *at;)
        write_reply(writer, operation, (int)strtol(at, &at, 10));
    json_write_end_object(writer);
    json_write_end_object(writer);
}

static void write_paths(struct json_writer *writer)
{
    json_write_object(writer, "paths");
    for (size_t i = 0; i < operation_count; i++) {
        json_write_object(writer, operations[i].path);
        for (size_t k = i;
             k < operation_count && strcmp(operations[k].path, operations[i].path) == 0; i = k++)
            write_operation(writer, &operations[k]);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

void openapi_write(struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_text(&writer, "openapi", "3.1.0");
    json_write_object(&writer, "info");
    json_write_text(&writer, "title", "sayso");
    json_write_text(&writer, "summary", "Asks of agents, and the answers of people.");
    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_end_object(&writer);
    json_write_raw(&writer, "security", "[{\"token\":[]}]");
    write_paths(&writer);
    json_write_object(&writer, "components");
    write_schemas(&writer, "schemas");
    json_write_raw(&writer, "securitySchemes",
                   "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}");
    json_write_end_object(&writer);
    json_write_end_object(&writer);
}

void serve_document(struct call *call)
{
    struct text *document = &call->rest->document;

    if (!document->used)
        openapi_write(document);
    reply_json(call, 200, document->bytes, document->used);
}
