/*
 * arguments.c - reads a call by its tool's table, in passes: unknown properties, presence and type,
 * limits; then the tool builds its call and core/validation looks at the whole.
 * A pass that fails says where by JSON pointer. Nothing a caller wrote reaches a path or a message
 * except in its shown form and cut (core/visible_text).
 */
#include "core/arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/arguments_inside.h"
#include "core/ask.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

enum {
    PATH_BYTES = sizeof(((struct error *)0)->path),
    MESSAGE_BYTES = sizeof(((struct error *)0)->message),
    /* Together with a quote in the message an error repeats at most LIMIT_ECHO_CHARS. */
    FOREIGN_CHARS = LIMIT_ECHO_CHARS - ARGUMENT_QUOTE_CHARS,
    FOREIGN_BYTES = PATH_BYTES - 40, /* before it stand our own names and an index */
};

static const struct ask_tool *const tools[] = {
#define TOOL(name) &tool_##name,
#include "core/ask_tools.def"
#undef TOOL
};

/* Clients put these into every tool's schema and pass them on when the model fills them in. */
static const char *const added_by_clients[] = { "wait_for_previous" };

/* An object of the call and the rows that describe it. */
struct scope {
    const struct argument *rows;
    size_t row_count;
    const struct json *object;
    const struct place *place;
    bool is_call;       /* as the tool was called, not an object in it */
    bool is_collecting; /* an earlier ask: nothing is needed */
    bool has_own_names; /* the members are the agent's own */
};

static size_t place_write(const struct place *place, char *out, size_t bytes)
{
    size_t used;

    if (!place)
        return 0;
    used = place_write(place->outer, out, bytes);
    if (place->name)
        return used + (size_t)snprintf(out + used, bytes - used, "/%s", place->name);
    return used + (size_t)snprintf(out + used, bytes - used, "/%zu", place->index);
}

bool argument_refuse(const struct place *place, enum error_code code, struct error *err,
                     enum text_id text, ...)
{
    char path[PATH_BYTES] = "";
    struct error one;
    va_list arguments;

    place_write(place, path, sizeof path);
    va_start(arguments, text);
    error_say_list(&one, code, path, text, arguments);
    va_end(arguments);
    return error_add(err, &one);
}

/* The shown form of a foreign text as far as it fits, and dots where it does not. */
static void show(const char *bytes, size_t length, size_t max_chars, bool is_pointer, char *out,
                 size_t out_bytes)
{
    const char *at = bytes, *next, *end = bytes + length;
    struct text shown = { 0 };
    size_t used = 0;

    for (size_t chars = 0; at < end && chars <= max_chars; chars++)
        text_decode(&at, end);
    visible_text(bytes, (size_t)(at - bytes), VISIBLE_ONE_LINE, &shown);
    at = text_string(&shown);
    end = at + shown.used;
    for (size_t chars = 0; at < end; at = next, chars++) {
        const char *piece = at;
        size_t piece_bytes;

        next = at;
        text_decode(&next, end);
        piece_bytes = (size_t)(next - at);
        if (is_pointer && (*at == '~' || *at == '/')) {
            piece = *at == '~' ? "~0" : "~1";
            piece_bytes = 2;
        }
        if (chars == max_chars || used + piece_bytes + sizeof "..." > out_bytes)
            break;
        memcpy(out + used, piece, piece_bytes);
        used += piece_bytes;
    }
    snprintf(out + used, out_bytes - used, "%s", at < end ? "..." : "");
    text_release(&shown);
}

void arguments_quote(const char *bytes, size_t length, char out[ARGUMENT_QUOTE_BYTES])
{
    show(bytes, length, ARGUMENT_QUOTE_CHARS, false, out, ARGUMENT_QUOTE_BYTES);
}

/* Does `pass` with every object inside an argument: the items of a list, or the value itself. */
static bool pass_inside(const struct given *given,
                        bool (*pass)(const struct scope *, struct error *), struct error *err)
{
    struct scope inner = { .rows = given->row->properties,
                           .row_count = given->row->property_count,
                           .object = given->value,
                           .place = given->place };
    bool ok = true;

    if (!inner.rows || !argument_is_kind_in(given->value, given->class->kinds))
        return true;
    if (json_kind(given->value) == KIND_OBJECT)
        return pass(&inner, err);
    for (size_t i = 0; i < json_length(given->value); i++) {
        struct place place = { .outer = given->place, .index = i };

        inner.object = json_item(given->value, i);
        inner.place = &place;
        if (json_kind(inner.object) == KIND_OBJECT &&
            argument_is_kind_in(inner.object, given->class->item_kinds))
            ok = pass(&inner, err) && ok;
    }
    return ok;
}

const struct argument *argument_find(const struct argument *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].name[0] == name[0] && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

/* The first one here names those that are known. */
static bool refuse_unknown(const struct scope *scope, void *member, bool is_first,
                           struct error *err)
{
    struct text names = { .max_bytes = MESSAGE_BYTES - 80 };
    char foreign[FOREIGN_BYTES];
    struct place place = { .outer = scope->place, .name = foreign };

    show(json_key(member), json_key_length(member), FOREIGN_CHARS, true, foreign, sizeof foreign);
    for (size_t i = 0; i < scope->row_count; i++) {
        if (!scope->rows[i].is_hidden)
            text_add_format(&names, "%s%s", names.used ? ", " : "", scope->rows[i].name);
    }
    argument_refuse(&place, ERROR_unknown_property, err,
                    is_first ? TEXT_REASON_ARG_UNKNOWN : TEXT_REASON_ARG_UNKNOWN_TOO, "names",
                    text_string(&names), NULL);
    text_release(&names);
    return false;
}

static struct given given_at(const struct scope *scope, size_t i, struct place *place)
{
    const struct argument *row = &scope->rows[i];

    *place = (struct place){ .outer = scope->place, .name = row->name };
    return (struct given){ row, argument_class_of(row->type), json_member(scope->object, row->name),
                           place, scope->object };
}

static bool pass_unknown(const struct scope *scope, struct error *err)
{
    bool ok = true;

    for (void *it = json_first(scope->object); it; it = json_next(scope->object, it)) {
        if (!argument_find(scope->rows, scope->row_count, json_key(it)))
            ok = refuse_unknown(scope, it, ok, err);
    }
    for (size_t i = 0; i < scope->row_count; i++) {
        struct place place;
        struct given given;

        if (!scope->rows[i].properties)
            continue;
        given = given_at(scope, i, &place);
        ok = pass_inside(&given, pass_unknown, err) && ok;
    }
    return ok;
}

static bool is_needed(const struct scope *scope, const struct argument *row)
{
    const struct json *other = row->spared_by ? json_member(scope->object, row->spared_by) : NULL;
    const char *value = json_text(other);
    bool is_spared = row->spared_value ? value && strcmp(value, row->spared_value) == 0
                                       : !argument_is_empty(other);

    return row->is_needed && !scope->is_collecting && !is_spared;
}

static bool pass_types(const struct scope *scope, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < scope->row_count; i++) {
        struct place place;
        struct given given = given_at(scope, i, &place);

        if (given.value)
            ok = argument_check_type(&given, err) && pass_inside(&given, pass_types, err) && ok;
        else if (is_needed(scope, given.row))
            ok = argument_refuse(&place, ERROR_missing_property, err, TEXT_REASON_ARG_MISSING,
                                 "name", place.name, "hint", given.row->help, NULL);
    }
    return ok;
}

static bool pass_limits(const struct scope *scope, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < scope->row_count; i++) {
        struct place place;
        struct given given = given_at(scope, i, &place);

        if (!given.value || !argument_check_type(&given, NULL))
            continue; /* its type was refused */
        if (given.class->check_limits)
            ok = given.class->check_limits(&given, err) && ok;
        ok = pass_inside(&given, pass_limits, err) && ok;
    }
    return ok;
}

static bool run_passes(const struct scope *scope, struct error *err)
{
    struct error huge = { 0 };
    bool ok = pass_unknown(scope, err);

    if (scope->is_call && !json_check_range(scope->object, &huge))
        ok = error_add(err, &huge);
    ok = pass_types(scope, err) && ok;
    return pass_limits(scope, err) && ok;
}

static int64_t number_of(const struct argument *row, const struct json *value)
{
    int64_t number = row->otherwise;

    if (json_kind(value) == KIND_BOOL)
        return json_is_yes(value);
    if (value)
        argument_whole_number(value, &number);
    return number;
}

void arguments_fill(const struct argument *rows, size_t row_count, const struct json *object,
                    void *values)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct json *value = json_member(object, rows[i].name);
        void *slot = (char *)values + rows[i].offset;

        switch (argument_class_of(rows[i].type)->storage) {
        case STORE_TEXT:
            *(const char **)slot = value ? json_text(value) : rows[i].otherwise_text;
            break;
        case STORE_NUMBER:
            *(int64_t *)slot = number_of(&rows[i], value);
            break;
        case STORE_JSON:
            *(const struct json **)slot = value;
            break;
        }
    }
}

char *arguments_copy_if_any(const char *text)
{
    return text && !visible_is_empty(text, strlen(text)) ? mem_text(text) : NULL;
}

/* Null, what clients add, and what is empty where the argument may be left out but not be empty;
 * except that null doesn't say whether something may be lost. */
static bool is_absent(const struct scope *scope, const struct argument *row, const char *name,
                      const struct json *value)
{
    if (json_kind(value) == KIND_NULL)
        return !scope->has_own_names && strcmp(name, "destructive") != 0;
    if (!row)
        return scope->is_call && text_is_among(name, added_by_clients, ARRAY_LEN(added_by_clients));
    return argument_is_empty(value) && !is_needed(scope, row) &&
           argument_is_kind_in(value, argument_class_of(row->type)->kinds) &&
           (row->least > 0 || row->type == ARGUMENT_ID || row->type == ARGUMENT_ENUM);
}

/* From `copy`, which is as the scope's object; NULL: only looks. False: there is nothing to drop.
 */
static bool drop_absent(struct scope scope, struct json *copy)
{
    const struct json *whole = scope.object;
    bool has_dropped = false;
    size_t at = 0;

    for (; json_kind(whole) == KIND_LIST && at < json_length(whole); at++) {
        scope.object = json_item(whole, at);
        has_dropped = drop_absent(scope, copy ? json_part(copy, at) : NULL) || has_dropped;
    }
    for (void *it = json_first(whole); it; it = json_next(whole, it)) {
        const struct argument *row = argument_find(scope.rows, scope.row_count, json_key(it));
        const struct scope inner = { .rows = row ? row->properties : NULL,
                                     .row_count = row ? row->property_count : 0,
                                     .object = json_value(it),
                                     .has_own_names =
                                         !row && strcmp(json_key(it), "properties") == 0 };

        if (!is_absent(&scope, row, json_key(it), inner.object)) {
            has_dropped = drop_absent(inner, copy ? json_part(copy, at++) : NULL) || has_dropped;
            continue;
        }
        has_dropped = true;
        if (copy)
            json_drop_part(copy, at);
    }
    return has_dropped;
}

struct json *arguments_without_absent(const struct argument *rows, size_t row_count,
                                      const struct json *arguments)
{
    const struct scope scope = {
        .rows = rows,
        .row_count = row_count,
        .object = arguments,
        .is_call = true,
        .is_collecting = !argument_is_empty(json_member(arguments, "session_id")),
    };
    struct json *copy = NULL;
    char *encoded;

    if (!drop_absent(scope, NULL))
        return NULL;
    encoded = json_encode(arguments);
    json_parse(encoded, strlen(encoded), &copy, NULL);
    free(encoded);
    drop_absent(scope, copy);
    return copy;
}

void argument_show_key(void *member, char *out, size_t out_bytes)
{
    show(json_key(member), json_key_length(member), FOREIGN_CHARS, true, out, out_bytes);
}

bool argument_read_object(const struct argument *rows, size_t row_count, const struct json *object,
                          const struct place *place, void *values, struct error *err)
{
    const struct scope scope = {
        .rows = rows, .row_count = row_count, .object = object, .place = place
    };
    struct error found = { 0 };

    if (!run_passes(&scope, &found)) {
        if (err)
            *err = found;
        return false;
    }
    arguments_fill(rows, row_count, object, values);
    return true;
}

bool arguments_read(const struct argument *rows, size_t row_count, const struct json *arguments,
                    void *values, struct json **ret_owner, struct error *err)
{
    struct json *copy;
    struct scope scope = { .rows = rows, .row_count = row_count, .is_call = true };

    *ret_owner = NULL;
    if (err)
        *err = (struct error){ .code = ERROR_NONE };
    if (json_kind(arguments) != KIND_OBJECT)
        return error_say(err, ERROR_bad_type, "", TEXT_REASON_ARG_OBJECT, "given",
                         json_kind_name(json_kind(arguments)), NULL);
    copy = arguments_without_absent(rows, row_count, arguments);
    scope.object = copy ? copy : arguments;
    scope.is_collecting = !argument_is_empty(json_member(scope.object, "session_id"));
    if (!run_passes(&scope, err)) {
        json_free(copy);
        return false;
    }
    arguments_fill(rows, row_count, scope.object, values);
    *ret_owner = copy ? copy : json_keep(arguments);
    return true;
}

bool arguments_check_call(const struct ask_tool *tool, const struct json *arguments,
                          struct ask_call *ret_call, struct json **ret_owner, struct error *err)
{
    void *values = mem_new(tool->values_bytes);
    bool ok;

    *ret_call = (struct ask_call){ 0 };
    ok = arguments_read(tool->arguments, tool->argument_count, arguments, values, ret_owner, err) &&
         tool->build(values, ret_call, err) &&
         (!tool->check || tool->check(*ret_owner, ret_call, err));
    free(values);
    if (ok)
        return true;
    ask_call_release(ret_call);
    json_free(*ret_owner);
    *ret_owner = NULL;
    return false;
}

bool arguments_check(const struct ask_tool *tool, const struct json *arguments,
                     struct ask_call *ret_call, struct error *err)
{
    struct json *owner;

    if (!arguments_check_call(tool, arguments, ret_call, &owner, err))
        return false;
    ret_call->arguments_json = json_encode_canonical(owner);
    json_free(owner);
    return true;
}

void ask_call_release(struct ask_call *call)
{
    if (!call)
        return;
    form_release(&call->form);
    free(call->idempotency_key);
    free(call->arguments_json);
    *call = (struct ask_call){ 0 };
}

bool ask_tool_allows(const struct ask_tool *tool, bool is_sub_agent, struct error *err)
{
    if (!is_sub_agent || !tool->is_main_agents)
        return true;
    return error_say(err, ERROR_not_available_to_subagents, "", TEXT_REASON_ARG_SUB_AGENT, "name",
                     tool->name, NULL);
}

const struct ask_tool *ask_tool_at(size_t index)
{
    return index < ARRAY_LEN(tools) ? tools[index] : NULL;
}

const struct ask_tool *ask_tool_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    }
    return NULL;
}
