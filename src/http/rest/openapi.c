/*
 * openapi.c - the description of this front (OpenAPI 3.1), printed from the rows that serve it, and
 * shapes.c as JSON Schema (draft 2020-12, as OpenAPI 3.1 has it).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "http/rest/call.h"

static const struct {
    const char *type, *format;
} types[MEMBER_TYPES] = {
    [MEMBER_TEXT] = { "string", NULL },         [MEMBER_TIME] = { "string", "date-time" },
    [MEMBER_ID] = { "string", NULL },           [MEMBER_INTEGER] = { "integer", NULL },
    [MEMBER_BOOL] = { "boolean", NULL },        [MEMBER_ANY_OBJECT] = { "object", NULL },
    [MEMBER_TEXT_BY_NAME] = { "object", NULL },
};

static void write_ref(struct json_writer *writer, enum member_type shape)
{
    char path[64];

    snprintf(path, sizeof path, "#/components/schemas/%s", shape_find(shape)->name);
    json_write_text(writer, "$ref", path);
}

static void write_reference(struct json_writer *writer, const char *key, enum member_type shape)
{
    json_write_object(writer, key);
    write_ref(writer, shape);
    json_write_end_object(writer);
}

static void write_type_name(struct json_writer *writer, const char *name, bool or_null)
{
    if (!or_null) {
        json_write_text(writer, "type", name);
        return;
    }
    json_write_list(writer, "type");
    json_write_text(writer, NULL, name);
    json_write_text(writer, NULL, "null");
    json_write_end_list(writer);
}

/* The members of a schema. */
static void write_type(struct json_writer *writer, enum member_type type, unsigned flags)
{
    bool or_null = flags & OR_NULL;

    if (flags & EACH) {
        write_type_name(writer, "array", or_null);
        json_write_object(writer, "items");
        write_type(writer, type, 0);
        json_write_end_object(writer);
    } else if (type >= MEMBER_TYPES && or_null) {
        json_write_list(writer, "anyOf");
        write_reference(writer, NULL, type);
        json_write_raw(writer, NULL, "{\"type\":\"null\"}");
        json_write_end_list(writer);
    } else if (type >= MEMBER_TYPES) {
        write_ref(writer, type);
    } else {
        write_type_name(writer, types[type].type, or_null);
        json_write_text_if(writer, "format", types[type].format);
        if (type == MEMBER_ID)
            json_write_text(writer, "pattern", "^[a-z2-7]{26}$");
        if (type == MEMBER_TEXT_BY_NAME)
            json_write_raw(writer, "additionalProperties", "{\"type\":\"string\"}");
    }
}

static void write_names(struct json_writer *writer, const struct member *row, unsigned flag)
{
    json_write_list(writer, flag == ONE_OF ? "anyOf" : "required");
    while ((row = shape_next(row))) {
        if (!(row->flags & flag))
            continue;
        if (flag == NEEDED) {
            json_write_text(writer, NULL, row->name);
            continue;
        }
        json_write_object(writer, NULL);
        json_write_list(writer, "required");
        json_write_text(writer, NULL, row->name);
        json_write_end_list(writer);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

static void write_schema(struct json_writer *writer, const struct member *shape)
{
    json_write_object(writer, shape->name);
    json_write_text(writer, "type", "object");
    json_write_text(writer, "description", shape->about);
    json_write_object(writer, "properties");
    for (const struct member *row = shape; (row = shape_next(row));) {
        json_write_object(writer, row->name);
        json_write_text(writer, "description", row->about);
        write_type(writer, row->type, row->flags);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    if (shape_has(shape->type, NEEDED))
        write_names(writer, shape, NEEDED);
    if (shape_has(shape->type, ONE_OF))
        write_names(writer, shape, ONE_OF);
    if (shape->flags & CLOSED)
        json_write_bool(writer, "additionalProperties", false);
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
    json_write_object(writer, "schema");
    write_type(writer, parameter->type, 0);
    if (parameter->type == MEMBER_INTEGER) {
        json_write_integer(writer, "minimum", parameter->min);
        json_write_integer(writer, "maximum", parameter->max);
    }
    json_write_end_object(writer);
    json_write_end_object(writer);
}

static void write_content(struct json_writer *writer, const char *type, enum member_type shape)
{
    json_write_object(writer, "content");
    json_write_object(writer, type);
    if (shape)
        write_reference(writer, "schema", shape);
    json_write_end_object(writer);
    json_write_end_object(writer);
}

static void write_body(struct json_writer *writer, enum member_type shape)
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
        { 410, "Completed: timed out, withdrawn by the agent, or no longer kept." },
        { 412, "Changed since it was looked at." },
        { 413, "The body is too long." },
        { 415, "The body is not called application/json." },
        { 422, "The body is not valid; path says where." },
        { 429, "Too many; Retry-After says when." },
        { 503, "Not now; Retry-After says when." },
    };

    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (meanings[i].status == status)
            return meanings[i].meaning;
    }
    return "See error.code.";
}

static void write_reply(struct json_writer *writer, const struct rest_operation *operation,
                        int status)
{
    bool is_own = strcmp(operation->id, "readiness") == 0 && status == 503;

    json_write_object(writer, TEXT_NUMBER(status));
    if (status == 200) {
        json_write_text(writer, "description", operation->summary);
        write_content(writer, operation->reply_type, operation->reply);
    } else {
        json_write_text(writer, "description", describe_status(status));
        if (status != 304)
            write_content(writer, "application/json", is_own ? operation->reply : SHAPE_ERROR);
    }
    json_write_end_object(writer);
}

static void write_operation(struct json_writer *writer, const struct rest_operation *operation)
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
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (operation_takes(operation, i))
            write_parameter(writer, &parameters[i]);
    }
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
    json_write_object(&writer, "schemas");
    for (const struct member *row = members; row->name; row++) {
        if (row->flags & SHAPE)
            write_schema(&writer, row);
    }
    json_write_end_object(&writer);
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
