/* glyph.c - see glyph.h. Clusters by utf8proc; Unicode 15 tables. */
#include "tui/glyph.h"

#include <ctype.h>
#include <stdint.h>
#include <utf8proc.h>

#include "base/text.h"

enum {
    VARIATION_EMOJI = 0xfe0f,
    ZERO_WIDTH_JOINER = 0x200d,
    KEYCAP = 0x20e3,
    SKIN_FIRST = 0x1f3fb,
    SKIN_LAST = 0x1f3ff,
    FLAG_FIRST = 0x1f1e6,
    FLAG_LAST = 0x1f1ff,
    JAMO_FIRST = 0x1100,
    JAMO_LAST = 0x11ff,
    RECENT_EMOJI = 0x1fa70, /* from here on terminals have gaps in their tables */
};

static bool is_within(int32_t code_point, int32_t first, int32_t last)
{
    return code_point >= first && code_point <= last;
}

/* What one more code point does to the width of its cluster. */
static void widen(struct glyph *glyph, int32_t code_point, bool is_first)
{
    int columns = utf8proc_charwidth(code_point);

    if (code_point == VARIATION_EMOJI || code_point == KEYCAP) {
        glyph->columns = 2;
        glyph->is_disputed = true;
    } else if (code_point == ZERO_WIDTH_JOINER || is_within(code_point, SKIN_FIRST, SKIN_LAST) ||
               is_within(code_point, FLAG_FIRST, FLAG_LAST) ||
               (is_within(code_point, JAMO_FIRST, JAMO_LAST) && !is_first)) {
        glyph->is_disputed = true;
    }
    if (is_within(code_point, FLAG_FIRST, FLAG_LAST))
        columns = 2;
    if (code_point >= RECENT_EMOJI && columns > 0)
        glyph->is_disputed = true;
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

        if (code_point < 0 || utf8proc_grapheme_break_stateful(before, code_point, &state))
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
    for (here = begin; here < at;) {
        size_t bytes = glyph_first(text + here, at - here).bytes;

        if (here + bytes >= at)
            return here;
        here += bytes;
    }
    return here;
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

static bool may_break_between(const char *text, size_t before, size_t at, struct glyph glyph)
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

        if (at > 0 && may_break_between(text, before, at, glyph))
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
