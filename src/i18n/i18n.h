/*
 * i18n.h - every word a person reads, in every language (R8.2).
 * To add a text: one row, in texts.def or a file it includes. Placeholders are {named}, since word
 * order differs. What only agents and logs read is English and not here.
 */
#ifndef I18N_I18N_H
#define I18N_I18N_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct text;

enum text_id {
#define TEXT(name, english, chinese) TEXT_##name,
#include "i18n/texts.def"
#undef TEXT
    TEXT_COUNT,
};

enum language {
#define LANGUAGE(id, tag, name, pages) LANGUAGE_##id,
#include "i18n/languages.def"
#undef LANGUAGE
    LANGUAGE_COUNT,
};

/* The language of this process, at first English; for its one thread that speaks with people. */
void i18n_use(enum language language);
enum language i18n_language(void);

const char *i18n_text(enum text_id id); /* never NULL */
const char *i18n_text_in(enum language language, enum text_id id);
const char *i18n_key(enum text_id id); /* "STATE_PENDING", for tables handed to others */

/*
 * Appends the text with {name} replaced: pairs of const char * name and value, ended by NULL.
 * A value goes in as it is, so a caller that passes foreign words sanitizes them first; braces in
 * it mean nothing. A placeholder that was not given stays visible.
 *
 *     i18n_format(&line, TEXT_TUI_WAITING, "count", "3", NULL);
 */
void i18n_format(struct text *out, enum text_id id, ...);
void i18n_format_in(enum language language, struct text *out, enum text_id id, ...);

/*
 * An error in the words of a text, for people: error_set is for what only programs and logs read.
 *
 *     return error_say(err, ERROR_too_long, "/note", TEXT_REASON_NOTE_TOO_LONG, "limit", "500",
 * NULL);
 */
bool error_say(struct error *err, enum error_code code, const char *path, enum text_id text, ...);
bool error_say_list(struct error *err, enum error_code code, const char *path, enum text_id text,
                    va_list arguments);
static inline bool error_is(const struct error *err, enum text_id text)
{
    return err->text == (unsigned)text + 1;
}
/* {takes} of the text is the inner text; names of both are given. */
bool error_say_within(struct error *err, enum error_code code, enum text_id text,
                      enum text_id inner, ...);
/* Appends its message, of several the first, its values as they are. False: only in English. */
bool error_write_in(const struct error *err, enum language language, struct text *out);
/* Members text and values, where there is a text; and the error's words from them, where we can. */
void error_write_words(const struct error *err, struct json_writer *writer);
/* The message, NUL, and its words as JSON: for who starts a hub (os_read_why). */
void error_pack(const struct error *err, struct text *out);
void error_read_words(struct error *err, const struct json *said);

const char *language_tag(enum language language);
const char *language_name(enum language language); /* "English", "中文" */
/* A tag or a locale: en, zh, zh_CN.UTF-8, zh-Hans, C and POSIX (English). False: none of ours. */
bool language_find(const char *tag, enum language *ret_language);

/* A time as people read it, on their own clock: "14:03" today, "yesterday 14:03", and with
 * the date on any other day, which takes no more room than that. */
void i18n_add_when(struct text *out, int64_t utc_ms, int64_t now_utc_ms);

#endif
