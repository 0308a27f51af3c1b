/*
 * toml.h - where things are in a TOML text: every table and every value with its full path, however
 * it is written (under a header, dotted, inline). TOML 1.0; dates and numbers are only looked over.
 */
#ifndef CLI_INSTALL_TOML_H
#define CLI_INSTALL_TOML_H
#include <stdbool.h>
#include <stddef.h>

struct text;

enum toml_kind {
    TOML_TABLE,  /* [a.b] */
    TOML_TABLES, /* [[a.b]] */
    TOML_VALUE,  /* a.b = … */
    TOML_INLINE, /* the same inside of { } */
};
struct toml_item {
    enum toml_kind kind;
    char *path;              /* owned; keys, each with TOML_SEPARATOR behind it */
    size_t table;            /* index of the header it stands under, or its own; count: none */
    size_t from;             /* of the header or the key */
    size_t value, value_end; /* of a header: what is behind the bracket */
};
#define TOML_SEPARATOR '\x1f'

struct toml_items {
    struct toml_item *items;
    size_t count, capacity;
};
/* False: not TOML; *ret_at is where. The items are released either way. */
bool toml_scan(const struct text *text, struct toml_items *ret_items, size_t *ret_at);
void toml_release(struct toml_items *items);
/* Appends a scanned value as JSON; what JSON has no word for becomes a text. */
void toml_add_json(struct text *out, const char *value, size_t length);

#endif
