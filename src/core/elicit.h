/*
 * elicit.h - what the elicit tools share (R4.1): the arguments all of them have, and how they begin
 * a form. A tool's own struct begins with `struct elicit_values`.
 */
#ifndef CORE_ELICIT_H
#define CORE_ELICIT_H
#include <stddef.h>
#include <stdint.h>

#include "core/arguments.h"
#include "core/limits.h"

struct place;

struct elicit_values {
    const char *message, *title, *interface, *idempotency_key;
    int64_t timeout_s;
};
#define ELICIT(name) offsetof(struct elicit_values, name)

/* The first row of every table, and the last four. */
#define ELICIT_MESSAGE                                                                             \
    {                                                                                              \
        .name = "message", .type = ARGUMENT_MARKDOWN, .least = 1, .most = LIMIT_MESSAGE_CHARS,     \
        .unit = UNIT_CHARS, .is_needed = true, .offset = ELICIT(message),                          \
        .help = "The question, with what the person must know to answer it."                       \
    }
#define ELICIT_REST                                                                                \
    { .name = "title",                                                                             \
      ARGUMENT_RANGE(TEXT, 1, LIMIT_TITLE_CHARS, CHARS),                                           \
      .offset = ELICIT(title),                                                                     \
      .help = "One line for lists; default: the message's first." },                               \
        { .name = "timeout_seconds",                                                               \
          ARGUMENT_RANGE(INTEGER, 1, LIMIT_TIMEOUT_S, NUMBER),                                     \
          .offset = ELICIT(timeout_s),                                                             \
          .is_obvious = true,                                                                      \
          .help = "Seconds the person has." },                                                     \
        { .name = "interface",                                                                     \
          .type = ARGUMENT_ENUM,                                                                   \
          .choices = interface_choices,                                                            \
          .offset = ELICIT(interface),                                                             \
          .is_obvious = true,                                                                      \
          .help = "Where to announce it." },                                                       \
    {                                                                                              \
        .name = "idempotency_key", ARGUMENT_RANGE(TEXT, 0, LIMIT_IDEMPOTENCY_KEY_BYTES, BYTES),    \
        .offset = ELICIT(idempotency_key), .is_obvious = true, .help = "Same key, same ask."       \
    }

/* A value that the agent gets back, and the label a person reads for it: in a list of either, or as
 * two members of an object. */
#define ELICIT_VALUE(key, words)                                                                   \
    .name = key, .type = ARGUMENT_TEXT, .least = 1, .most = LIMIT_OPTION_ID_BYTES,                 \
    .unit = UNIT_BYTES, .help = words
#define ELICIT_LABEL(key, words)                                                                   \
    .name = key, .type = ARGUMENT_TEXT, .least = 1, .most = LIMIT_LABEL_CHARS, .unit = UNIT_CHARS, \
    .help = words
#define ELICIT_PAIR(value_key, label_key)                                                          \
    { ELICIT_VALUE(value_key, "what you get back, 1 to 128 bytes"), .is_needed = true,             \
      .is_obvious = true },                                                                        \
    {                                                                                              \
        ELICIT_LABEL(label_key, "what the person reads, 1 to 200 characters"), .is_needed = true,  \
                                                                               .is_obvious = true  \
    }
extern const struct argument elicit_value_row, elicit_label_row;

/* The result of a form of one field: its value under its name. */
extern const struct response_shape elicit_one_value;

/* Everything of the call but the fields, of which there are so many, empty. */
void elicit_begin(const struct elicit_values *values, size_t field_count, struct ask_call *call);
/* `values` and `labels` are lists of texts, the latter as long or NULL: values are labels then. */
void elicit_fill_options(struct field *field, const struct json *values, const struct json *labels);
/* From a list of objects that have these two members. */
void elicit_fill_labelled(struct field *field, const struct json *items, const char *value_key,
                          const char *label_key);
/* Bounds that were given as numbers, or not. */
void elicit_fill_bounds(struct field *field, const struct json *minimum,
                        const struct json *maximum);

/* The fields of elicit_form out of `schema`, each pointer below /requestedSchema. */
bool elicit_read_schema(const struct json *schema, const struct place *place, struct form *form,
                        struct error *err);

#endif
