/* patterns.c - see patterns.h. */
#include "store/postgres/patterns.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "core/search_text.h"

/* As an element of an array of texts, behind the others. */
static void add_element(struct text *array, const char *bytes, size_t length)
{
    text_add_text(array, array->used ? ",\"" : "{\"");
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"' || bytes[i] == '\\')
            text_add_char(array, '\\');
        text_add_char(array, bytes[i]);
    }
    text_add_char(array, '"');
}

static void add_pattern(struct text *array, const char *term)
{
    struct text pattern = { 0 };

    text_add_char(&pattern, '%');
    for (; *term; term++) {
        if (strchr("%_\\", *term))
            text_add_char(&pattern, '\\');
        text_add_char(&pattern, *term);
    }
    text_add_char(&pattern, '%');
    add_element(array, text_string(&pattern), pattern.used);
    text_release(&pattern);
}

static bool step(const char **at, const char *end)
{
    return *at < end && text_decode(at, end) >= 0;
}

/* Every three characters of the term; a shorter one has none. */
static void add_threes(struct text *array, const char *term)
{
    const char *first = term, *end = term + strlen(term), *behind = term;

    for (int i = 0; i < 2; i++) {
        if (!step(&behind, end))
            return;
    }
    while (step(&behind, end)) {
        add_element(array, first, (size_t)(behind - first));
        step(&first, end);
    }
}

void patterns_write(const struct search_terms *search, struct text *patterns, struct text *threes)
{
    for (size_t i = 0; i < search->count; i++) {
        add_pattern(patterns, search->terms[i]);
        add_threes(threes, search->terms[i]);
    }
    if (patterns->used)
        text_add_char(patterns, '}');
    if (threes->used)
        text_add_char(threes, '}');
}
