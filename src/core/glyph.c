/* glyph.c - see glyph.h. Clusters by utf8proc; Unicode 15 tables. */
#include "core/glyph.h"

#include <ctype.h>
#include <stdint.h>
#include <utf8proc.h>

#include "base/text.h"

enum {
    VARIATION_EMOJI = 0xfe0f,
    KEYCAP = 0x20e3,
    FLAG_FIRST = 0x1f1e6,
    FLAG_LAST = 0x1f1ff,
    RECENT_EMOJI = 0x1fa70, /* from here on terminals have gaps in their tables */
};

static bool is_within(int32_t code_point, int32_t first, int32_t last)
{
    return code_point >= first && code_point <= last;
}

/* Terminals may not know its width even where it stands alone: it is newer than their tables, not
 * assigned, or for private use. */
static bool is_doubtful(int32_t code_point, int columns)
{
    utf8proc_category_t category = utf8proc_category(code_point);

    return columns == 0 || code_point >= RECENT_EMOJI || category == UTF8PROC_CATEGORY_CN ||
           category == UTF8PROC_CATEGORY_CO || is_within(code_point, FLAG_FIRST, FLAG_LAST);
}

/* A sign that joins the letter behind it. Terminals give each a column: here each stands alone. */
static bool is_prepended(int32_t code_point)
{
    return utf8proc_get_property(code_point)->boundclass == UTF8PROC_BOUNDCLASS_PREPEND;
}

/* What one more code point does to the width of its cluster. Whatever a cluster is made of, some
 * terminal gives its parts columns of their own: only what stands alone is trusted. */
static void widen(struct glyph *glyph, int32_t code_point, bool is_first)
{
    int columns = utf8proc_charwidth(code_point);

    if (!is_first || is_doubtful(code_point, columns))
        glyph->is_disputed = true;
    /* a mark beside its letter: many terminals give it a column, it must not be drawn over */
    if (utf8proc_category(code_point) == UTF8PROC_CATEGORY_MC)
        columns = glyph->columns < 2 ? glyph->columns + 1 : 2;
    else if (is_prepended(code_point))
        columns = 1;
    if (code_point == VARIATION_EMOJI || code_point == KEYCAP ||
        is_within(code_point, FLAG_FIRST, FLAG_LAST))
        columns = 2;
    if (columns > glyph->columns)
        glyph->columns = columns;
}

/* Most text is of ASCII, where nothing joins what is before it. */
static bool is_plain(const char *text, size_t length)
{
    return text[0] >= ' ' && text[0] <= '~' && (length == 1 || !((unsigned char)text[1] & 0x80));
}

struct glyph glyph_first(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    struct glyph glyph = { .bytes = 1, .shown = 1, .columns = 1 };
    int32_t before, state = 0;

    if (is_plain(text, length))
        return glyph;
    before = text_decode(&at, end);
    if (before < 0)
        return glyph;
    glyph.columns = 0;
    glyph.shown = (size_t)(at - text);
    widen(&glyph, before, true);
    while (at < end) {
        const char *next = at;
        int32_t code_point = text_decode(&next, end);

        if (code_point < 0 || is_prepended(before) ||
            utf8proc_grapheme_break_stateful(before, code_point, &state))
            break;
        before = code_point;
        at = next;
        if ((size_t)(at - text) <= GLYPH_BYTES) {
            widen(&glyph, code_point, false);
            glyph.shown = (size_t)(at - text);
        }
    }
    glyph.bytes = (size_t)(at - text);
    return glyph;
}

size_t glyph_before(const char *text, size_t at)
{
    size_t begin = at, here;

    /* a break is certain before the last line feed or blank; from there on we count */
    while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != ' ')
        begin--;
    if (begin == at)
        return at > 0 ? at - 1 : 0;
    for (here = begin;;) {
        size_t bytes = glyph_first(text + here, at - here).bytes;

        if (here + bytes >= at)
            return here;
        here += bytes;
    }
}

int glyph_columns(const char *text, size_t length)
{
    int columns = 0;

    for (size_t at = 0; at < length;) {
        struct glyph glyph = glyph_first(text + at, length - at);

        columns += glyph.columns;
        at += glyph.bytes;
    }
    return columns;
}

/* Closing signs never begin a line, opening ones never end it. */
static bool is_among(const char *text, size_t bytes, const char *signs)
{
    for (; *signs; signs += 3) { /* each has three bytes */
        if (bytes == 3 && signs[0] == text[0] && signs[1] == text[1] && signs[2] == text[2])
            return true;
    }
    return false;
}

bool glyph_may_break(const char *text, size_t before, size_t at, struct glyph glyph)
{
    static const char closing[] = "，。；：？！）》、」』】”’";
    static const char opening[] = "（《「『【“‘";
    size_t bytes = at - before;
    bool was_wide = glyph_columns(text + before, bytes) == 2;

    return (was_wide || glyph.columns == 2) && text[before] != ' ' && text[at] != ' ' &&
           !is_among(text + at, glyph.bytes, closing) && !is_among(text + before, bytes, opening) &&
           (glyph.columns == 2 || !ispunct((unsigned char)text[at]));
}

size_t glyph_wrap(const char *text, size_t length, int columns, size_t *ret_next)
{
    size_t at = 0, before = 0, end = 0, next = 0; /* of the line, as far as a good break is known */
    int used = 0;

    while (at < length && text[at] != '\n') {
        struct glyph glyph = glyph_first(text + at, length - at);

        if (at > 0 && glyph_may_break(text, before, at, glyph))
            end = next = at;
        if (used + glyph.columns > columns && at > 0) {
            if (text[at] == ' ') { /* the blank itself is what does not fit */
                *ret_next = at + 1;
                return at;
            }
            *ret_next = next ? next : at;
            return next ? end : at;
        }
        if (text[at] == ' ') {
            end = at;
            next = at + 1;
        }
        used += glyph.columns;
        before = at;
        at += glyph.bytes;
    }
    *ret_next = at < length ? at + 1 : at;
    return at;
}
