/* i18n.c - looks texts up in the catalogues and fills in their placeholders; times for people. */
#include "i18n/i18n.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/text.h"

static const struct {
    const char *tag, *name;
} languages[LANGUAGE_COUNT] = {
#define LANGUAGE(id, tag, name, pages) [LANGUAGE_##id] = { #tag, name },
#include "i18n/languages.def"
#undef LANGUAGE
};
static const struct {
    const char *key, *in[LANGUAGE_COUNT];
} texts[TEXT_COUNT] = {
#define SPOKEN(name, english, chinese) [TEXT_##name] = { #name, { english, chinese } },
#include "i18n/texts.def"
#undef SPOKEN
};
static const enum text_id state_texts[STATE_COUNT] = {
    [STATE_NEW] = TEXT_STATE_PENDING,
    [STATE_PENDING_TERMINAL_LAUNCH] = TEXT_STATE_PENDING,
    [STATE_PENDING] = TEXT_STATE_PENDING,
    [STATE_SUBMITTED] = TEXT_STATE_SUBMITTED,
    [STATE_AUTO_SUBMITTED] = TEXT_STATE_AUTO_SUBMITTED,
    [STATE_CANCELLED] = TEXT_STATE_CANCELLED,
    [STATE_DECLINED] = TEXT_STATE_DECLINED,
    [STATE_TIMEOUT] = TEXT_STATE_TIMEOUT,
    [STATE_WITHDRAWN] = TEXT_STATE_WITHDRAWN,
};
static const char NAME_CHARACTERS[] = "abcdefghijklmnopqrstuvwxyz_";

static enum language current = LANGUAGE_EN;

void i18n_use(enum language language)
{
    current = language;
}

enum language i18n_language(void)
{
    return current;
}

const char *i18n_text_in(enum language language, enum text_id id)
{
    return texts[id].in[language];
}

const char *i18n_text(enum text_id id)
{
    return i18n_text_in(current, id);
}

const char *i18n_key(enum text_id id)
{
    return texts[id].key;
}

const char *i18n_state(enum ask_state state)
{
    return i18n_text(state_texts[state]);
}

struct pairs {
    size_t count;
    const char *names[I18N_MAX_PAIRS], *values[I18N_MAX_PAIRS];
};

static void read_pairs(struct pairs *pairs, va_list arguments)
{
    const char *name;

    pairs->count = 0;
    while (pairs->count < I18N_MAX_PAIRS && (name = va_arg(arguments, const char *))) {
        const char *value = va_arg(arguments, const char *);

        pairs->names[pairs->count] = name;
        pairs->values[pairs->count++] = value ? value : "";
    }
}

static const char *find_value(const struct pairs *pairs, const char *name, size_t length)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strlen(pairs->names[i]) == length && memcmp(pairs->names[i], name, length) == 0)
            return pairs->values[i];
    }
    return NULL;
}

/* One pass over our own text: what a value brings along is never looked at. */
static void fill_in(struct text *out, const char *text, const struct pairs *pairs)
{
    const char *brace;

    while ((brace = strchr(text, '{'))) {
        size_t length = strspn(brace + 1, NAME_CHARACTERS);
        const char *value = NULL;

        if (length && brace[1 + length] == '}')
            value = find_value(pairs, brace + 1, length);
        text_add(out, text, (size_t)(brace - text));
        if (value) {
            text_add_text(out, value);
            text = brace + length + 2;
        } else {
            text_add_char(out, '{');
            text = brace + 1;
        }
    }
    text_add_text(out, text);
}

void i18n_format(struct text *out, enum text_id id, ...)
{
    struct pairs pairs;
    va_list arguments;

    va_start(arguments, id);
    read_pairs(&pairs, arguments);
    va_end(arguments);
    fill_in(out, i18n_text(id), &pairs);
}

void i18n_format_in(enum language language, struct text *out, enum text_id id, ...)
{
    struct pairs pairs;
    va_list arguments;

    va_start(arguments, id);
    read_pairs(&pairs, arguments);
    va_end(arguments);
    fill_in(out, i18n_text_in(language, id), &pairs);
}

const char *language_tag(enum language language)
{
    return languages[language].tag;
}

const char *language_name(enum language language)
{
    return languages[language].name;
}

bool language_find(const char *tag, enum language *ret_language)
{
    size_t length = strcspn(tag, "_-.@");

    if (strcasecmp(tag, "POSIX") == 0 || (length == 1 && *tag == 'C')) {
        *ret_language = LANGUAGE_EN;
        return true;
    }
    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        const char *ours = languages[language].tag;

        if (strlen(ours) == length && strncasecmp(ours, tag, length) == 0) {
            *ret_language = (enum language)language;
            return true;
        }
    }
    return false;
}

static bool is_same_day(const struct tm *one, const struct tm *other)
{
    return one->tm_year == other->tm_year && one->tm_yday == other->tm_yday;
}

void i18n_add_when(struct text *out, int64_t utc_ms, int64_t now_utc_ms)
{
    time_t then_s = (time_t)(utc_ms / 1000), now_s = (time_t)(now_utc_ms / 1000);
    struct tm then, now, yesterday;
    char minute[8], day[32];

    if (!localtime_r(&then_s, &then) || !localtime_r(&now_s, &now))
        return;
    yesterday = now;
    yesterday.tm_mday--;
    yesterday.tm_hour = 12; /* days may have 23 or 25 hours */
    yesterday.tm_isdst = -1;
    mktime(&yesterday);
    strftime(minute, sizeof minute, "%H:%M", &then);
    strftime(day, sizeof day, "%Y-%m-%d ", &then);
    if (is_same_day(&then, &yesterday))
        i18n_format(out, TEXT_YESTERDAY, "time", minute, NULL);
    else
        text_add_format(out, "%s%s", is_same_day(&then, &now) ? "" : day, minute);
}
