/*
 * elicit_schema.h - what the files that read a requestedSchema share: elicit_keywords.c has the
 * kinds of properties and their keywords, elicit_fields.c makes a field of each, elicit_schema.c
 * goes through the whole.
 */
#ifndef CORE_ELICIT_SCHEMA_H
#define CORE_ELICIT_SCHEMA_H
#include "core/arguments_inside.h"
#include "core/elicit.h"

enum { SCHEMA_NOT_GIVEN = -1 };

/* As the tables fill them: borrowed from the call. */
struct property_values {
    const char *type, *title, *description, *format, *default_text;
    int64_t min_chars, max_chars, min_items, max_items, default_yes;
    const struct json *minimum, *maximum, *default_number, *values, *names, *labels, *labelled;
    const struct json *items, *defaults, *secret;
};
struct items_values {
    const char *type;
    const struct json *values, *labelled;
};

typedef bool schema_fill(const struct property_values *values, struct field *field,
                         const struct place *place, struct error *err);
struct schema_kind {
    const char *type;
    const char *keyword; /* that tells it from others of its type; NULL: none */
    const struct argument *rows;
    size_t row_count;
    schema_fill *fill; /* false: the values do not go together */
    bool takes_words;  /* the person writes what they like */
};

/* NULL: its type is none of ours. Without any it is read as a text, which says what is wrong. */
const struct schema_kind *schema_kind_find(const struct json *property);
void schema_fill_items(const struct json *items, struct items_values *values);

schema_fill schema_fill_text, schema_fill_number, schema_fill_boolean;
schema_fill schema_fill_single, schema_fill_array;

#endif
