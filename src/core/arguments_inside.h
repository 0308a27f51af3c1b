/*
 * arguments_inside.h - what the two files that read a call share: arguments.c walks through it in
 * passes, argument_class.c holds what each type of argument must be.
 */
#ifndef CORE_ARGUMENTS_INSIDE_H
#define CORE_ARGUMENTS_INSIDE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/arguments.h"
#include "i18n/i18n.h"

struct json;

/* Where in the call we are; printed as a JSON pointer only when something is wrong. */
struct place {
    const struct place *outer; /* NULL: the call itself */
    const char *name;          /* NULL: item `index` of a list */
    size_t index;
};

/* One within another, for as long as the block it is written in. */
#define PLACE_IN(within, key)  (&(const struct place){ .outer = (within), .name = (key) })
#define PLACE_AT(within, item) (&(const struct place){ .outer = (within), .index = (item) })

/* One argument and what was given for it, NULL where nothing was. */
struct given {
    const struct argument *row;
    const struct argument_class *class;
    const struct json *value;
    const struct place *place;
    const struct json *beside; /* the object it stands in; NULL: it is an item of a list */
};

enum storage { STORE_TEXT, STORE_NUMBER, STORE_JSON };

struct argument_class {
    const char *wanted; /* for messages */
    unsigned kinds;     /* bits of json_kind */
    enum storage storage;
    bool (*check_type)(const struct given *given, struct error *err);   /* NULL: kind says it all */
    bool (*check_limits)(const struct given *given, struct error *err); /* NULL: there are none */
    unsigned item_kinds;
    enum error_code too_few, too_many;
};

const struct argument_class *argument_class_of(enum argument_type type);
/* Kind, NUL and what the class says itself; limits are another pass. */
bool argument_check_type(const struct given *given, struct error *err);
bool argument_is_kind_in(const struct json *value, unsigned kinds);
/* An empty text or list, or null. */
bool argument_is_empty(const struct json *value);
/* Empty, or what counts anyway. */
bool argument_says_nothing(const struct argument *row, const struct json *value);
const struct argument *argument_find(const struct argument *rows, size_t count, const char *name);
/* True for what has no fraction; what does not fit is the nearest that does. */
bool argument_whole_number(const struct json *value, int64_t *ret_number);
/* An object inside a call by its own rows: unknown properties, types, limits; then filled. `err`
 * has the mistakes of this object alone. */
bool argument_read_object(const struct argument *rows, size_t row_count, const struct json *object,
                          const struct place *place, void *values, struct error *err);
/* A key that is not ours as the name of a place: its shown form with a pointer's escapes, cut. */
void argument_show_key(void *member, char *out, size_t out_bytes);
/* Always false; the path is the place's. Adds to what is wrong already. */
bool argument_refuse(const struct place *place, enum error_code code, struct error *err,
                     enum text_id text, ...);

#endif
