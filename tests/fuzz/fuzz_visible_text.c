/*
 * fuzz_visible_text.c - any bytes: what is shown can't act, and showing it again changes nothing.
 * Proves: R6.5, P13, P14
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/text.h"
#include "core/visible_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static bool is_same(const struct text *a, const char *bytes, size_t length)
{
    return a->used == length && memcmp(text_string(a), bytes, length) == 0;
}

/* The signs drawn around numbers are the only format characters with a shape; joiners may stay. */
static bool may_be_shown(int32_t code_point)
{
    switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    case UTF8PROC_CATEGORY_CF:
        return code_point == 0x200c || code_point == 0x200d ||
               utf8proc_get_property(code_point)->boundclass == UTF8PROC_BOUNDCLASS_PREPEND;
    default:
        return (code_point & 0xfffe) != 0xfffe && !(code_point >= 0xfdd0 && code_point <= 0xfdef);
    }
}

static void check_shown(const char *bytes, size_t length, enum visible_lines lines)
{
    struct text shown = { 0 }, again = { 0 };
    unsigned flags = visible_text(bytes, length, lines, &shown);
    const char *at = text_string(&shown), *end = at + shown.used;

    while (at < end) {
        int32_t code_point = text_decode(&at, end);

        demand(code_point >= 0);
        demand(may_be_shown(code_point) || (code_point == '\n' && lines == VISIBLE_LINES));
    }
    visible_text(text_string(&shown), shown.used, lines, &again);
    demand(is_same(&shown, text_string(&again), again.used));
    if (lines == VISIBLE_ONE_LINE) {
        demand(!(flags & VISIBLE_HIDDEN) == is_same(&shown, bytes, length));
        demand(visible_alike(bytes, length, text_string(&shown), shown.used));
    }
    demand((flags & VISIBLE_HIDDEN) || !(flags & (VISIBLE_BIDI | VISIBLE_INVISIBLE)));
    text_release(&shown);
    text_release(&again);
}

static void check_composed(const char *bytes, size_t length)
{
    struct text once = { 0 }, twice = { 0 };

    visible_nfc(bytes, length, &once);
    visible_nfc(text_string(&once), once.used, &twice);
    demand(is_same(&once, text_string(&twice), twice.used));
    text_release(&once);
    text_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    size_t half = size / 2;

    check_shown(bytes, size, VISIBLE_ONE_LINE);
    check_shown(bytes, size, VISIBLE_LINES);
    check_composed(bytes, size);
    demand(visible_count(bytes, size, SIZE_MAX) <= size);
    demand((visible_count(bytes, size, 1) > 0) == (visible_count(bytes, size, SIZE_MAX) > 0));
    demand(visible_alike(bytes, size, bytes, size));
    demand(visible_alike(bytes, half, bytes + half, size - half) ==
           visible_alike(bytes + half, size - half, bytes, half));
    return 0;
}
