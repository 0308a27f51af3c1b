/*
 * i18n.h - every word a person reads, in every language (R8.2).
 * To add a text: one row, in texts.def or a file it includes. Placeholders are {named}, since word
 * order differs and a translation must never be a printf format. What only agents and logs read is
 * English and not here.
 */
#ifndef I18N_I18N_H
#define I18N_I18N_H
#include <stdbool.h>
#include <stdint.h>

#include "core/lifecycle.h"

struct text;

enum text_id {
#define SPOKEN(name, english, chinese) TEXT_##name,
#include "i18n/texts.def"
#undef SPOKEN
    TEXT_COUNT,
};

enum language {
#define LANGUAGE(id, tag, name, pages) LANGUAGE_##id,
#include "i18n/languages.def"
#undef LANGUAGE
    LANGUAGE_COUNT,
};

/* The language of this process, English until said otherwise; to be called by its one thread that
 * speaks with people. */
void i18n_use(enum language language);
enum language i18n_language(void);

const char *i18n_text(enum text_id id); /* never NULL */
const char *i18n_text_in(enum language language, enum text_id id);
const char *i18n_key(enum text_id id); /* "STATE_PENDING", for tables handed to others */

/*
 * Appends the text with {name} replaced: pairs of const char * name and value, ended by NULL.
 * A value goes in as it is, so whoever passes somebody else's words sanitizes them; braces in it
 * mean nothing. A placeholder nobody gave stays visible.
 *
 *     i18n_format(&line, TEXT_TUI_WAITING, "count", "3", NULL);
 */
void i18n_format(struct text *out, enum text_id id, ...);
void i18n_format_in(enum language language, struct text *out, enum text_id id, ...);
enum { I18N_MAX_PAIRS = 16 };

/* Appends an error's English message in the language of the process, its values as they are.
 * False, and nothing appended: the catalogue does not know it. */
bool i18n_reason(struct text *out, const char *english);
bool i18n_reason_in(enum language language, struct text *out, const char *english);

const char *language_tag(enum language language);
const char *language_name(enum language language); /* "English", "中文" */
/* A tag or a locale: en, zh, zh_CN.UTF-8, zh-Hans, C and POSIX (English). False: none of ours. */
bool language_find(const char *tag, enum language *ret_language);

/* The word for a state; a hand-off nobody took up yet reads as pending. */
const char *i18n_state(enum ask_state state);

/* A time as people read it, on their own clock: "14:03" today, "yesterday 14:03", and with
 * the date on any other day, which takes no more room than that. */
void i18n_add_when(struct text *out, int64_t utc_ms, int64_t now_utc_ms);

#endif
