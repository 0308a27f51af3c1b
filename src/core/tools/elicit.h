/*
 * elicit.h - what the elicit tools share (R4.1): the arguments all of them have, and how they
 * begin a form. A tool's own struct begins with `struct elicit_values`.
 */
#ifndef CORE_TOOLS_ELICIT_H
#define CORE_TOOLS_ELICIT_H
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "core/tools/arguments.h"

struct elicit_values {
    const char *message, *title, *interface, *idempotency_key;
    int64_t timeout_s;
};
#define ELICIT(name) offsetof(struct elicit_values, name)

/* The first row of every table, and the last four. */
#define ELICIT_MESSAGE                                                                             \
    ARGUMENT("message", MARKDOWN, ELICIT(message), "the question and its context",                 \
             ARGUMENT_LIMITS(1, LIMIT_MESSAGE_CHARS, CHARS), .is_required = true,                  \
             .is_obvious = true)
#define ELICIT_REST                                                                                \
    ARGUMENT("title", TEXT, ELICIT(title),                                                         \
             "one line for lists (default: the first line of the message)",                        \
             ARGUMENT_LIMITS(1, LIMIT_TITLE_CHARS, CHARS), .is_hidden = true),                     \
        ARGUMENT("timeout_seconds", INTEGER, ELICIT(timeout_s), "time to answer in seconds",       \
                 ARGUMENT_LIMITS(1, LIMIT_TIMEOUT_S, NUMBER), .is_obvious = true),                 \
        ARGUMENT("interface", ENUM, ELICIT(interface), "where to notify the user",                 \
                 .choices = interface_choices, .is_hidden = true),                                 \
        ARGUMENT("idempotency_key", TEXT, ELICIT(idempotency_key), "a key that never asks twice",  \
                 ARGUMENT_LIMITS(0, LIMIT_IDEMPOTENCY_KEY_BYTES, BYTES), .is_hidden = true)

/* A value that the agent gets back, and its label: in a list of either, or in an object of both. */
#define ELICIT_VALUE(key, words)                                                                   \
    ARGUMENT(key, TEXT, 0, words, ARGUMENT_LIMITS(1, LIMIT_OPTION_ID_BYTES, BYTES),                \
             .is_required = true, .is_obvious = true)
#define ELICIT_LABEL(key, words)                                                                   \
    ARGUMENT(key, TEXT, 0, words, ARGUMENT_LIMITS(1, LIMIT_LABEL_CHARS, CHARS),                    \
             .is_required = true, .is_obvious = true)
#define ELICIT_PAIR(value_key, label_key)                                                          \
    ELICIT_VALUE(value_key, "returned if chosen, 1 to 128 bytes"),                                 \
        ELICIT_LABEL(label_key, "shown to the user, 1 to 200 characters")

extern const struct argument elicit_value_row, elicit_label_row;

/* Everything of the call but the fields, of which there are so many, empty; returns the first. */
struct field *elicit_begin(const struct elicit_values *values, size_t field_count,
                           struct ask_call *call);
/* `values` and `labels` are lists of texts, the latter as long or NULL: values are labels then. */
void elicit_fill_options(struct field *field, const struct json *values, const struct json *labels);
/* From a list of objects that have these two members. */
void elicit_fill_labelled(struct field *field, const struct json *items, const char *value_key,
                          const char *label_key);
/* Bounds that were given as numbers, or not. */
void elicit_fill_bounds(struct field *field, const struct json *minimum,
                        const struct json *maximum);

/* The fields of elicit_form out of `schema`, each pointer below /requestedSchema. */
bool elicit_read_schema(const struct json *schema, const struct argument_path *place,
                        struct form *form, struct error *err);

#endif
