/* argument_class.c - what each type of argument must be: its kind of JSON, its form, its limits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "core/arguments_inside.h"
#include "core/ask.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

bool argument_is_kind_in(const struct json *value, unsigned kinds)
{
    return kinds >> json_kind(value) & 1;
}

bool argument_is_empty(const struct json *value)
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
               (row->otherwise_text && strcmp(json_text(value), row->otherwise_text) == 0);
    case KIND_BOOL:
        return row->type == ARGUMENT_BOOL && json_is_yes(value) == row->otherwise;
    case KIND_INTEGER:
        return row->type == ARGUMENT_INTEGER && row->otherwise >= row->least &&
               json_integer_of(value, &number) && number == row->otherwise;
    default:
        return argument_is_empty(value);
    }
}

bool argument_whole_number(const struct json *value, int64_t *ret_number)
{
    double number = json_number_of(value);

    if (json_integer_of(value, ret_number))
        return true;
    *ret_number = number > 0 ? INT64_MAX : INT64_MIN;
    return floor(number) == number;
}

static bool check_text(const struct json *value, const struct place *place, struct error *err)
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
        struct place place = { .outer = given->place, .index = i };

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
    if (number >= row->least && number <= row->most)
        return true;
    if (row->most == ARGUMENT_UNBOUNDED)
        return argument_refuse(given->place, ERROR_out_of_range, err, TEXT_REASON_ARG_AT_LEAST,
                               "name", row->name, "least", TEXT_NUMBER(row->least), "hint",
                               row->help, NULL);
    return argument_refuse(given->place, ERROR_out_of_range, err, TEXT_REASON_ARG_RANGE, "name",
                           row->name, "least", TEXT_NUMBER(row->least), "most",
                           TEXT_NUMBER(row->most), "hint", row->help, NULL);
}

/* Maximums count what was received, emptiness looks at what is left for the eye. Whether a text
 * that is not empty says enough is a later rule. */
static bool check_length(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    const char *text = json_text(given->value);
    size_t length = json_length(given->value);
    bool is_bytes = row->unit == UNIT_BYTES;
    size_t count = text && !is_bytes ? text_count(text, length) : length;

    if (!text) /* the object form of a preview */
        return true;
    if (row->least > 0 && visible_is_empty(text, length))
        return argument_refuse(given->place, ERROR_empty_text, err, TEXT_REASON_ARG_EMPTY, "name",
                               row->name, "hint", row->help, NULL);
    if ((int64_t)count > row->most)
        return argument_refuse(given->place, ERROR_too_long, err, TEXT_REASON_ARG_LONG, "name",
                               row->name, "count", TEXT_NUMBER(count), "kind",
                               is_bytes ? "bytes" : "characters", "most", TEXT_NUMBER(row->most),
                               NULL);
    return true;
}

static bool check_count(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    int64_t count = (int64_t)json_length(given->value);

    return (count >= row->least && count <= row->most) ||
           argument_refuse(
               given->place, count < row->least ? given->class->too_few : given->class->too_many,
               err, TEXT_REASON_ARG_COUNT, "name", row->name, "count", TEXT_NUMBER(count), "least",
               TEXT_NUMBER(row->least), "most", TEXT_NUMBER(row->most), "hint", row->help, NULL);
}

/* Several questions may have options: the message says whose are meant. */
static bool check_question_options(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    const struct json *question = json_member(given->beside, "question");
    const char *text = json_text(question); /* NULL: refused at its own place */
    int64_t count = (int64_t)json_length(given->value);
    char quote[ARGUMENT_QUOTE_BYTES];

    if (count >= row->least && count <= row->most)
        return true;
    arguments_quote(text ? text : "", text ? json_length(question) : 0, quote);
    return argument_refuse(
        given->place, count < row->least ? given->class->too_few : given->class->too_many, err,
        TEXT_REASON_QUESTIONS_OPTIONS, "question", quote, "least", TEXT_NUMBER(row->least), "most",
        TEXT_NUMBER(row->most), "count", TEXT_NUMBER(count), NULL);
}

static bool check_questions(const struct given *given, struct error *err)
{
    const struct argument *row = given->row;
    int64_t count = (int64_t)json_length(given->value);

    return (count >= row->least && count <= row->most) ||
           argument_refuse(
               given->place, count < row->least ? given->class->too_few : given->class->too_many,
               err, TEXT_REASON_QUESTIONS_COUNT, "least", TEXT_NUMBER(row->least), "most",
               TEXT_NUMBER(row->most), "count", TEXT_NUMBER(count), "hint", row->help, NULL);
}

static bool check_texts(const struct given *given, struct error *err)
{
    if (!check_count(given, err))
        return false;
    for (size_t i = 0; i < json_length(given->value); i++) {
        struct place place = { .outer = given->place, .index = i };
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
    [ARGUMENT_TEXT] = { "a text", TEXT, .check_limits = check_length },
    [ARGUMENT_MARKDOWN] = { "a text", TEXT, .check_limits = check_length },
    [ARGUMENT_BOOL] = { "true or false", BOOL, .storage = STORE_NUMBER },
    [ARGUMENT_INTEGER] = { "a whole number", NUMBER, .storage = STORE_NUMBER,
                           .check_type = check_whole, .check_limits = check_range },
    [ARGUMENT_ENUM] = { "a text", TEXT, .check_type = check_choice },
    [ARGUMENT_ID] = { "a text", TEXT, .check_type = check_id },
    [ARGUMENT_OPTIONS] = { "a list of objects", LIST, STORE_JSON, check_items, check_count, OBJECT,
                           ERROR_too_few_options, ERROR_too_many_options },
    [ARGUMENT_IDS] = { "a list of texts", LIST, STORE_JSON, check_items, check_count, TEXT,
                       ERROR_too_few_options, ERROR_too_many_defaults },
    [ARGUMENT_NUMBER] = { "a number", NUMBER, .storage = STORE_JSON },
    [ARGUMENT_TEXTS] = { "a list of texts", LIST, STORE_JSON, check_items, check_texts, TEXT,
                         ERROR_too_few_options, ERROR_too_many_options },
    [ARGUMENT_OBJECT] = { "an object", OBJECT, .storage = STORE_JSON },
    [ARGUMENT_ANY] = { "anything", ~0u, .storage = STORE_JSON },
    [ARGUMENT_QUESTIONS] = { "a list of objects", LIST, STORE_JSON, check_items, check_questions,
                             OBJECT, ERROR_too_few_questions, ERROR_too_many_questions },
    [ARGUMENT_QUESTION_OPTIONS] = { "a list of objects", LIST, STORE_JSON, check_items,
                                    check_question_options, OBJECT, ERROR_too_few_options,
                                    ERROR_too_many_options },
    [ARGUMENT_PREVIEW] = { "a text or an object", TEXT | OBJECT, STORE_JSON,
                           .check_limits = check_length },
};

const struct argument_class *argument_class_of(enum argument_type type)
{
    return &classes[type];
}

bool argument_check_type(const struct given *given, struct error *err)
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
