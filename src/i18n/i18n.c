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
/* All texts behind each other, and where each begins: pointers would have to be adjusted at each
 * start of a process. */
static const struct {
#define TEXT(name, english, chinese)                                                               \
    char key_##name[sizeof #name], english_##name[sizeof(english)], chinese_##name[sizeof(chinese)];
#include "i18n/texts.def"
#undef TEXT
} texts = {
#define TEXT(name, english, chinese) #name, english, chinese,
#include "i18n/texts.def"
#undef TEXT
};
static const struct {
    uint32_t key, in[LANGUAGE_COUNT];
} starts[TEXT_COUNT] = {
#define START(member) offsetof(__typeof__(texts), member)
#define TEXT(name, a, b)                                                                           \
    [TEXT_##name] = { START(key_##name), { START(english_##name), START(chinese_##name) } },
#include "i18n/texts.def"
#undef TEXT
};

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
    return (const char *)&texts + starts[id].in[language];
}

const char *i18n_text(enum text_id id)
{
    return i18n_text_in(current, id);
}

const char *i18n_key(enum text_id id)
{
    return (const char *)&texts + starts[id].key;
}

static void fill_in(struct text *out, const char *text, va_list arguments)
{
    struct text_pairs pairs;
    struct text_piece piece;

    text_read_pairs(&pairs, arguments);
    while (text_next_piece(&text, &pairs, &piece))
        text_add(out, piece.bytes, piece.length);
}

void i18n_format(struct text *out, enum text_id id, ...)
{
    va_list arguments;

    va_start(arguments, id);
    fill_in(out, i18n_text(id), arguments);
    va_end(arguments);
}

void i18n_format_in(enum language language, struct text *out, enum text_id id, ...)
{
    va_list arguments;

    va_start(arguments, id);
    fill_in(out, i18n_text_in(language, id), arguments);
    va_end(arguments);
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
