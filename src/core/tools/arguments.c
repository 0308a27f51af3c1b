/*
 * arguments.c - reads a call by its tool's table, in passes: unknown properties, presence and
 * type, limits; then the tool builds its call and core/validation looks at the whole. A pass that
 * fails says where by JSON pointer. What a caller wrote is repeated only in its shown form and cut.
 */
#include "core/tools/arguments.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/limits.h"
#include "core/tools/validation.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

/* What each type of argument must be: its kind of JSON, its form, its limits. */

/* Kind, NUL and what the class says itself; limits are another pass. */
static bool argument_is_kind_in(const struct json *value, unsigned kinds)
{
    return kinds >> json_kind(value) & 1;
}

/* An empty text or list, or null. */
static bool argument_is_empty(const struct json *value)
{
    enum json_kind kind = json_kind(value);

    return kind == KIND_NULL || ((kind == KIND_TEXT || kind == KIND_LIST) && !json_length(value));
}

bool argument_says_nothing(const struct argument *row, const struct json *value)
{
    int64_t number;

    switch (json_kind(value)) {
    case KIND_TEXT:
        return argument_is_empty(value) ||
               (row->fallback_text && strcmp(json_text(value), row->fallback_text) == 0);
    case KIND_BOOL:
        return row->type == ARGUMENT_BOOL && json_is_true(value) == row->fallback;
    case KIND_INTEGER:
        return row->type == ARGUMENT_INTEGER && row->fallback >= row->min &&
               json_integer_of(value, &number) && number == row->fallback;
    default:
        return argument_is_empty(value);
    }
}

/* True for what has no fraction; what does not fit is the nearest that does. */
static bool argument_whole_number(const struct json *value, int64_t *ret_number)
{
    double number = json_number_of(value);

    if (json_integer_of(value, ret_number))
        return true;
    *ret_number = number > 0 ? INT64_MAX : INT64_MIN;
    return floor(number) == number;
}

static bool check_text(const struct json *value, const struct argument_path *place,
                       struct error *err)
{
    return strlen(json_text(value)) == json_length(value) ||
           argument_refuse(place, ERROR_nul_character, err, TEXT_REASON_ARG_ZERO, NULL);
}

static bool check_whole(const struct given *given, struct error *err)
{
    int64_t number;

    return argument_whole_number(given->value, &number) ||
           argument_refuse(given->place, ERROR_bad_type, err, TEXT_REASON_ARG_FRACTION, "name",
                           given->row->name, "hint", given->row->help, NULL);
}

static bool check_choice(const struct given *given, struct error *err)
{
    struct text names = { .max_bytes = sizeof err->message / 2 };
    char quote[ARGUMENT_QUOTE_BYTES];

    for (const char *const *choice = given->row->choices; *choice; choice++) {
        if (strcmp(*choice, json_text(given->value)) == 0)
            return true;
    }
    for (const char *const *choice = given->row->choices; *choice; choice++)
        text_add_format(&names, "%s%s", names.used ? ", " : "", *choice);
    arguments_quote(json_text(given->value), json_length(given->value), quote);
    argument_refuse(given->place, ERROR_bad_enum, err, TEXT_REASON_ARG_ENUM, "name",
                    given->row->name, "value", quote, "choices", text_string(&names), NULL);
    text_release(&names);
    return false;
}

static bool check_id(const struct given *given, struct error *err)
{
    return ask_id_is_valid(json_text(given->value)) ||
           argument_refuse(given->place, ERROR_bad_format, err, TEXT_REASON_ARG_ID, "name",
                           given->row->name, "count", TEXT_NUMBER(LIMIT_ID_CHARS), NULL);
}

static bool check_items(const struct given *given, struct error *err)
{
    for (size_t i = 0; i < json_length(given->value); i++) {
        const struct json *item = json_item(given->value, i);
        struct argument_path place = { .outer = given->place, .index = i };

        if (!argument_is_kind_in(item, given->class->item_kinds))
            return argument_refuse(&place, ERROR_bad_type, err, TEXT_REASON_ARG_ITEM_KIND, "name",
                                   given->row->name, "kind", given->class->wanted, "number",
                                   TEXT_NUMBER(i), "given", json_kind_name(json_kind(item)), "hint",
                                   given->row->help, NULL);
        if (json_text(item) && !check_text(item, &place, err))
            return false;
    }
    return true;
}

static bool check_range(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    int64_t number;

    argument_whole_number(given->value, &number);
    if (number >= row->min && number <= row->max)
        return true;
    if (row->max == ARGUMENT_UNBOUNDED)
        return argument_refuse(given->place, ERROR_out_of_range, err, TEXT_REASON_ARG_AT_LEAST,
                               "name", row->name, "least", TEXT_NUMBER(row->min), "hint", row->help,
                               NULL);
    return argument_refuse(given->place, ERROR_out_of_range, err, TEXT_REASON_ARG_RANGE, "name",
                           row->name, "least", TEXT_NUMBER(row->min), "most", TEXT_NUMBER(row->max),
                           "hint", row->help, NULL);
}

/* Maximums count what was received, emptiness is about what is left for the eye. */
static bool check_length(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    const char *text = json_text(given->value);
    size_t length = json_length(given->value);
    bool is_bytes = row->unit == UNIT_BYTES;
    size_t count = text && !is_bytes ? text_count(text, length) : length;

    if (!text) /* the object form of a preview */
        return true;
    if (row->min > 0 && visible_is_empty(text, length))
        return argument_refuse(given->place, ERROR_empty_text, err, TEXT_REASON_ARG_EMPTY, "name",
                               row->name, "hint", row->help, NULL);
    if ((int64_t)count > row->max)
        return argument_refuse(given->place, ERROR_too_long, err, TEXT_REASON_ARG_LONG, "name",
                               row->name, "count", TEXT_NUMBER(count), "kind",
                               is_bytes ? "bytes" : "characters", "most", TEXT_NUMBER(row->max),
                               NULL);
    return true;
}

/* Several questions may have options: the message says whose are meant. */
static bool check_count(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    const struct json *question = json_member(given->beside, "question");
    const char *text = json_text(question); /* NULL: refused at its own place */
    int64_t count = (int64_t)json_length(given->value);
    char quote[ARGUMENT_QUOTE_BYTES];

    if (count >= row->min && count <= row->max)
        return true;
    arguments_quote(text ? text : "", text ? json_length(question) : 0, quote);
    return argument_refuse(given->place,
                           count < row->min ? given->class->too_few : given->class->too_many, err,
                           given->class->wrong_count, "name", row->name, "question", quote, "count",
                           TEXT_NUMBER(count), "least", TEXT_NUMBER(row->min), "most",
                           TEXT_NUMBER(row->max), "hint", row->help, NULL);
}

static bool check_texts(const struct given *given, struct error *err)
{
    if (!check_count(given, err))
        return false;
    for (size_t i = 0; i < json_length(given->value); i++) {
        struct argument_path place = { .outer = given->place, .index = i };
        struct given item = { .row = given->row->properties,
                              .value = json_item(given->value, i),
                              .place = &place };

        if (!check_length(&item, err))
            return false;
    }
    return true;
}

enum {
    TEXT = 1u << KIND_TEXT,
    OBJECT = 1u << KIND_OBJECT,
    LIST = 1u << KIND_LIST,
    BOOL = 1u << KIND_BOOL,
    NUMBER = 1u << KIND_INTEGER | 1u << KIND_REAL,
};

static const struct argument_class classes[] = {
    [ARGUMENT_TEXT] = { "a string", TEXT, .check_limits = check_length },
    [ARGUMENT_MARKDOWN] = { "a string", TEXT, .check_limits = check_length },
    [ARGUMENT_BOOL] = { "a boolean", BOOL, .storage = STORE_NUMBER },
    [ARGUMENT_INTEGER] = { "a whole number", NUMBER, .storage = STORE_NUMBER,
                           .check_type = check_whole, .check_limits = check_range },
    [ARGUMENT_ENUM] = { "a string", TEXT, .check_type = check_choice },
    [ARGUMENT_ID] = { "a string", TEXT, .check_type = check_id },
    [ARGUMENT_OPTIONS] = { "an array of objects", LIST, STORE_JSON, check_items, check_count,
                           OBJECT, ERROR_too_few_options, ERROR_too_many_options,
                           TEXT_REASON_ARG_COUNT },
    [ARGUMENT_IDS] = { "an array of strings", LIST, STORE_JSON, check_items, check_count, TEXT,
                       ERROR_too_few_options, ERROR_too_many_defaults, TEXT_REASON_ARG_COUNT },
    [ARGUMENT_NUMBER] = { "a number", NUMBER, .storage = STORE_JSON },
    [ARGUMENT_TEXTS] = { "an array of strings", LIST, STORE_JSON, check_items, check_texts, TEXT,
                         ERROR_too_few_options, ERROR_too_many_options, TEXT_REASON_ARG_COUNT },
    [ARGUMENT_OBJECT] = { "an object", OBJECT, .storage = STORE_JSON },
    [ARGUMENT_ANY] = { "anything", ~0u, .storage = STORE_JSON },
    [ARGUMENT_QUESTIONS] = { "an array of objects", LIST, STORE_JSON, check_items, check_count,
                             OBJECT, ERROR_too_few_questions, ERROR_too_many_questions,
                             TEXT_REASON_QUESTIONS_COUNT },
    [ARGUMENT_QUESTION_OPTIONS] = { "an array of objects", LIST, STORE_JSON, check_items,
                                    check_count, OBJECT, ERROR_too_few_options,
                                    ERROR_too_many_options, TEXT_REASON_QUESTIONS_OPTIONS },
    [ARGUMENT_PREVIEW] = { "a text or an object", TEXT | OBJECT, STORE_JSON,
                           .check_limits = check_length },
};

static bool argument_check_type(const struct given *given, struct error *err)
{
    if (!argument_is_kind_in(given->value, given->class->kinds))
        return argument_refuse(given->place, ERROR_bad_type, err, TEXT_REASON_ARG_KIND, "name",
                               given->row->name, "kind", given->class->wanted, "given",
                               json_kind_name(json_kind(given->value)), "hint", given->row->help,
                               NULL);
    if (json_text(given->value) && !check_text(given->value, given->place, err))
        return false;
    return !given->class->check_type || given->class->check_type(given, err);
}

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
    const struct argument_path *place;
    bool is_call;       /* as the tool was called, not an object in it */
    bool is_collecting; /* an earlier ask: nothing is needed */
    bool has_own_names; /* the members are the agent's own */
};

static size_t place_write(const struct argument_path *place, char *out, size_t bytes)
{
    size_t used;

    if (!place)
        return 0;
    used = place_write(place->outer, out, bytes);
    if (place->name)
        return used + (size_t)snprintf(out + used, bytes - used, "/%s", place->name);
    return used + (size_t)snprintf(out + used, bytes - used, "/%zu", place->index);
}

bool argument_refuse(const struct argument_path *place, enum error_code code, struct error *err,
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

void argument_show_key(void *member, char *out, size_t out_bytes)
{
    show(json_key(member), json_key_length(member), FOREIGN_CHARS, true, out, out_bytes);
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
        struct argument_path place = { .outer = given->place, .index = i };

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
    struct argument_path place = { .outer = scope->place, .name = foreign };

    argument_show_key(member, foreign, sizeof foreign);
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

static struct given given_at(const struct scope *scope, size_t i, struct argument_path *place)
{
    const struct argument *row = &scope->rows[i];

    *place = (struct argument_path){ .outer = scope->place, .name = row->name };
    return (struct given){ row, &classes[row->type], json_member(scope->object, row->name), place,
                           scope->object };
}

static bool pass_unknown(const struct scope *scope, struct error *err)
{
    bool ok = true;

    for (void *it = json_first(scope->object); it; it = json_next(scope->object, it)) {
        if (!argument_find(scope->rows, scope->row_count, json_key(it)))
            ok = refuse_unknown(scope, it, ok, err);
    }
    for (size_t i = 0; i < scope->row_count; i++) {
        struct argument_path place;
        struct given given;

        if (!scope->rows[i].properties)
            continue;
        given = given_at(scope, i, &place);
        ok = pass_inside(&given, pass_unknown, err) && ok;
    }
    return ok;
}

static bool is_required(const struct scope *scope, const struct argument *row)
{
    const struct json *other = row->spared_by ? json_member(scope->object, row->spared_by) : NULL;
    const char *value = json_text(other);
    bool is_spared = row->spared_value ? value && strcmp(value, row->spared_value) == 0
                                       : !argument_is_empty(other);

    return row->is_required && !scope->is_collecting && !is_spared;
}

static bool pass_types(const struct scope *scope, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < scope->row_count; i++) {
        struct argument_path place;
        struct given given = given_at(scope, i, &place);

        if (given.value)
            ok = argument_check_type(&given, err) && pass_inside(&given, pass_types, err) && ok;
        else if (is_required(scope, given.row))
            ok = argument_refuse(&place, ERROR_missing_property, err, TEXT_REASON_ARG_MISSING,
                                 "name", place.name, "hint", given.row->help, NULL);
    }
    return ok;
}

static bool pass_limits(const struct scope *scope, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < scope->row_count; i++) {
        struct argument_path place;
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
    int64_t number = row->fallback;

    if (json_kind(value) == KIND_BOOL)
        return json_is_true(value);
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

        switch (classes[rows[i].type].storage) {
        case STORE_TEXT:
            *(const char **)slot = value ? json_text(value) : rows[i].fallback_text;
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
    return argument_is_empty(value) && !is_required(scope, row) &&
           argument_is_kind_in(value, classes[row->type].kinds) &&
           (row->min > 0 || row->type == ARGUMENT_ID || row->type == ARGUMENT_ENUM);
}

/* From `copy`, which is as the scope's object; NULL: only looks. False: nothing to drop. */
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

bool argument_read_object(const struct argument *rows, size_t row_count, const struct json *object,
                          const struct argument_path *place, void *values, struct error *err)
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
         tool->build(values, ret_call, err) && validation_check(tool, *ret_owner, ret_call, err);
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

enum { PREVIEW_LANGUAGE_CHARS = 64 };

struct preview_values {
    const char *type, *text, *language;
};
#define PREVIEW(name) offsetof(struct preview_values, name)

/* published: preview_argument */
const struct argument preview_properties[PREVIEW_PROPERTIES] = {
    ARGUMENT("type", ENUM, PREVIEW(type), "how to show the preview: text, markdown, code, or diff",
             .choices = preview_type_names + PREVIEW_TEXT, .is_required = true, .is_obvious = true),
    ARGUMENT("text", TEXT, PREVIEW(text), "what to show, up to 64 KiB",
             ARGUMENT_LIMITS(0, LIMIT_PREVIEW_BYTES, BYTES), .is_required = true,
             .is_obvious = true),
    ARGUMENT("language", TEXT, PREVIEW(language), "language of the code, such as c or python",
             ARGUMENT_LIMITS(0, PREVIEW_LANGUAGE_CHARS, CHARS), .is_obvious = true),
};

void preview_build(const struct json *given, struct preview *preview)
{
    struct preview_values values = { .type = preview_type_names[PREVIEW_TEXT] };

    if (json_kind(given) == KIND_OBJECT)
        arguments_fill(preview_properties, PREVIEW_PROPERTIES, given, &values);
    else
        values.text = json_text(given);
    preview->text = arguments_copy_if_any(values.text);
    if (!preview->text)
        return;
    preview->type = form_name_find(preview_type_names, values.type, PREVIEW_TEXT);
    preview->language = arguments_copy_if_any(values.language);
}
