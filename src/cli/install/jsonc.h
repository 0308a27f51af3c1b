/*
 * jsonc.h - where things are in a JSON text that may have comments. Comments are blanked out in a
 * copy of the same length, so places in the copy are places in the text.
 */
#ifndef CLI_INSTALL_JSONC_H
#define CLI_INSTALL_JSONC_H
#include <stdbool.h>
#include <stddef.h>

struct text;

struct jsonc_member {
    size_t key, key_end;     /* with its quotes */
    size_t value, value_end; /* one past its last byte */
};

/* A copy without comments and byte order mark, `used` bytes long; the caller frees. */
char *jsonc_blank(const struct text *text);
/* Of UTF-8 without NUL. False: not JSON; *ret_at is where. Blanks alone are. `is_lenient`: a comma
 * may come last. */
bool jsonc_check(const char *bare, size_t length, bool is_lenient, size_t *ret_at);

/* The rest is for texts that were checked. */
size_t jsonc_skip_blanks(const char *bare, size_t at);
size_t jsonc_skip_value(const char *bare, size_t at);
/* Members of the object at `object` one after the other: begins with *at = object. */
bool jsonc_next(const char *bare, size_t *at, struct jsonc_member *ret_member);
/* Items of a list in the same way; an item has no key, its place stands for both. */
bool jsonc_next_item(const char *bare, size_t *at, struct jsonc_member *ret_item);
bool jsonc_find(const char *bare, size_t object, const char *name,
                struct jsonc_member *ret_member); /* the last of that name */

#endif
