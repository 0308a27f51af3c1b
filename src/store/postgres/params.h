/*
 * params.h - what stands for $1, $2 and so on in a statement, in that order; copied, so that a
 * statement may wait for its connection and be sent twice. Zeroed is empty.
 */
#ifndef STORE_POSTGRES_PARAMS_H
#define STORE_POSTGRES_PARAMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct column;

enum { PARAMS_MOST = 48 };

struct params {
    struct text bytes; /* all values, a NUL behind each */
    int count;
    struct param {
        size_t at; /* in bytes */
        int length;
        bool is_null, is_binary;
    } each[PARAMS_MOST];
};

void params_text(struct params *params, const char *text_or_null);
void params_integer(struct params *params, int64_t number);
void params_flag(struct params *params, bool flag);
/* For a bytea. */
void params_bytes(struct params *params, const void *bytes_or_null, size_t length);
/* Members of `from`. */
void params_values(struct params *params, const struct column *list, size_t count,
                   const void *from);
void params_release(struct params *params);
/* A text as PostgreSQL writes it in an array. */
void params_add_element(struct text *out, const char *text);

/* As libpq wants them; borrowed until the next value is added. */
struct params_view {
    const char *values[PARAMS_MOST];
    int lengths[PARAMS_MOST], formats[PARAMS_MOST];
};
void params_look(const struct params *params, struct params_view *out);

#endif
