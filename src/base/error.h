/*
 * error.h - one shape for every failure: a code of the closed list, where, and what to do.
 * A value of fixed size, so failing never allocates.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct json_writer;
struct text_pairs;

enum error_code {
    ERROR_NONE,
#define ERROR(name) ERROR_##name,
#include "base/errors.def"
#undef ERROR
    ERROR_COUNT,
};

/* What base says to people; i18n has the same texts with the same numbers. */
enum base_text {
#define TEXT(name, english, chinese) BASE_##name,
#include "base/texts.def"
#undef TEXT
};

enum { ERROR_VALUES = 8 };
struct error {
    enum error_code code;
    uint16_t text;  /* that the message is, by i18n's numbers + 1; 0: English alone */
    uint16_t inner; /* the one in the place of its {takes}; 0: none */
    uint16_t lengths[ERROR_VALUES]; /* of the values in the message, as the English text has them */
    char path[160];        /* JSON pointer of the offending field; "" where there is none */
    char message[480];     /* what is wrong and how to fix it; plain ASCII or checked text */
    int64_t retry_after_s; /* only with rate_limited */
    size_t more_bytes;
    char more[1512]; /* error_add's: further mistakes; what is before path, path, and message */
};

/* Always returns false, so that `return error_set(…)` reads as a failure. */
bool error_set(struct error *err, enum error_code code, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* In the words of a text of i18n; error_say there knows them. Always false. */
bool error_fill(struct error *err, enum error_code code, const char *path, unsigned text,
                const char *english, const struct text_pairs *pairs);
bool error_say_base(struct error *err, enum error_code code, const char *path, enum base_text text,
                    ...);
/* How this process reads the words of an error that another one says; else it stays in English. */
typedef void error_words_reader(struct error *err, const struct json *said);
void error_use_words(error_words_reader *reader);
void error_hear(struct error *err, const struct json *said);
/* Several mistakes of one call: `next` becomes the first in `err` or another one after it, one for
 * each path; what does not fit is left for the next try. Always false. */
bool error_add(struct error *err, const struct error *next);
/* The first at 0, then those that were added. False: there are no more. */
bool error_at(const struct error *err, size_t index, struct error *ret_one);
/* For what is also linked where memory may be missing (mem.h); false, as error_set. */
bool error_set_no_memory(struct error *err);
bool error_is_no_memory(const struct error *err);
/* Member message: the first one's, then where the others are. */
void error_write_message(const struct error *err, struct json_writer *writer);
/* More members about one mistake. */
typedef void error_add_words(const struct error *err, struct json_writer *writer);
/* Member errors: all of them, where there are several; `add_words` NULL: nothing more. */
void error_write_list(const struct error *err, error_add_words *add_words,
                      struct json_writer *writer);
/* As members: code, path and, where there are any, retry_after_seconds and errors. */
void error_write(const struct error *err, error_add_words *add_words, struct json_writer *writer);
const char *error_name(enum error_code code); /* "missing_property" */
enum error_code error_find(const char *name); /* ERROR_NONE where unknown */

#endif
