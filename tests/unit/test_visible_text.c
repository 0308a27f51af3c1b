/*
 * test_visible_text.c - what people are shown of texts others wrote, and which labels look alike.
 * Proves: R2.1, R6.5, P13
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/visible_text.h"

enum { HIDDEN = VISIBLE_HIDDEN, BIDI = VISIBLE_BIDI, MIXED = VISIBLE_MIXED_SCRIPT };
enum { SHAPELESS = VISIBLE_HIDDEN | VISIBLE_INVISIBLE, STEERED = HIDDEN | BIDI };

static struct json *read_corpus(const char *path)
{
    struct text bytes = { 0 };
    struct error err = { 0 };
    struct json *value = NULL;
    FILE *file = fopen(path, "rb");
    int byte;

    assert_non_null(file);
    while ((byte = getc(file)) != EOF)
        text_add_char(&bytes, (char)byte);
    fclose(file);
    assert_true(json_parse(bytes.bytes, bytes.used, &value, &err));
    text_release(&bytes);
    return value;
}

static enum visible_lines lines_of_field(const char *field)
{
    static const char *const long_fields[] = { "prompt", "question",    "message",
                                               "notes",  "description", "preview" };

    for (size_t i = 0; i < ARRAY_LEN(long_fields); i++) {
        if (strcmp(field, long_fields[i]) == 0)
            return VISIBLE_LINES;
    }
    return VISIBLE_ONE_LINE;
}

static unsigned flag_of_name(const char *name)
{
    static const struct {
        const char *name;
        unsigned flag;
    } names[] = {
        { "bidi", VISIBLE_BIDI },
        { "invisible", VISIBLE_INVISIBLE },
        { "mixed_script", VISIBLE_MIXED_SCRIPT },
    };

    for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i].name) == 0)
            return names[i].flag;
    }
    return 0;
}

static void check_corpus_case(const struct json *item)
{
    const struct json *text = json_member(item, "text");
    const char *id = json_member_text(item, "id"), *shown = json_member_text(item, "shown");
    const unsigned wanted = flag_of_name(json_member_text(item, "flag"));
    enum visible_lines lines = lines_of_field(json_member_text(item, "field"));
    struct text out = { 0 };
    unsigned flags = visible_text(json_text(text), json_length(text), lines, &out);

    if (strcmp(text_string(&out), shown) != 0)
        fail_msg("%s is shown as %s", id, text_string(&out));
    if ((flags & ~(unsigned)VISIBLE_HIDDEN) != wanted)
        fail_msg("%s has the flags %u", id, flags);
    text_release(&out);
}

static void corpus_is_shown_as_written_down(void **state)
{
    struct json *corpus = read_corpus(TEST_CORPUS "/strings.json");
    const struct json *cases = json_member(corpus, "cases");

    (void)state;
    assert_true(json_length(cases) >= 24);
    for (size_t i = 0; i < json_length(cases); i++)
        check_corpus_case(json_item(cases, i));
    json_free(corpus);
}

static const struct shown_case {
    const char *name, *text, *shown;
    enum visible_lines lines;
    unsigned flags;
} shown_cases[] = {
    { "empty", "", "", VISIBLE_LINES, 0 },
    { "ascii", " a~\\x1b", " a~\\x1b", VISIBLE_ONE_LINE, 0 },
    { "lf kept", "a\nb", "a\nb", VISIBLE_LINES, 0 },
    { "lf written", "a\nb", "a\\nb", VISIBLE_ONE_LINE, HIDDEN },
    { "tab spaced", "a\tb", "a    b", VISIBLE_LINES, 0 },
    { "tab written", "a\tb", "a\\tb", VISIBLE_ONE_LINE, HIDDEN },
    { "crlf is lf", "a\r\nb\r\n", "a\nb\n", VISIBLE_LINES, 0 },
    { "crlf written", "a\r\nb", "a\\nb", VISIBLE_ONE_LINE, HIDDEN },
    { "lone cr", "a\rb\r", "a\\x0db\\x0d", VISIBLE_LINES, HIDDEN },
    { "cr cr lf", "\r\r\n", "\\x0d\n", VISIBLE_LINES, HIDDEN },
    { "c0", "\x01\x08\x0b\x0c\x1f", "\\x01\\x08\\x0b\\x0c\\x1f", VISIBLE_LINES, HIDDEN },
    { "del", "\x7f", "\\x7f", VISIBLE_LINES, HIDDEN },
    { "c1", "\xc2\x80\xc2\x85\xc2\x9f", "\\u0080\\u0085\\u009f", VISIBLE_LINES, HIDDEN },
    { "first after c1", "\u00a0\u00a1", "\u00a0\u00a1", VISIBLE_LINES, 0 },
    { "stray byte", "a\xff\xc3z", "a\\xff\\xc3z", VISIBLE_LINES, HIDDEN },
    { "overlong", "\xc0\xaf", "\\xc0\\xaf", VISIBLE_LINES, HIDDEN },
    { "surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80", VISIBLE_LINES, HIDDEN },
    { "cut off", "\xf0\x9f\x91", "\\xf0\\x9f\\x91", VISIBLE_LINES, HIDDEN },
    { "past the last", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", VISIBLE_LINES, HIDDEN },
    { "raw c1 byte",
      "\x9b"
      "2J",
      "\\x9b2J", VISIBLE_LINES, HIDDEN },
    { "arabic letter mark", "\u061c", "\\u061c", VISIBLE_LINES, STEERED },
    { "marks of direction", "\u200e\u200f", "\\u200e\\u200f", VISIBLE_LINES, STEERED },
    { "embeddings", "\u202a\u202d", "\\u202a\\u202d", VISIBLE_LINES, STEERED },
    { "isolates", "\u2066\u2068", "\\u2066\\u2068", VISIBLE_LINES, STEERED },
    { "soft hyphen", "a\u00adb", "a\\u00adb", VISIBLE_LINES, SHAPELESS },
    { "grapheme joiner", "\u034f", "\\u034f", VISIBLE_LINES, SHAPELESS },
    { "separators", "\u2028\u2029", "\\u2028\\u2029", VISIBLE_LINES, SHAPELESS },
    { "word joiner", "\u2060\u2064\u2065", "\\u2060\\u2064\\u2065", VISIBLE_LINES, SHAPELESS },
    { "deprecated", "\u206a\u206f", "\\u206a\\u206f", VISIBLE_LINES, SHAPELESS },
    { "fillers", "\u115f\u1160\u3164\uffa0", "\\u115f\\u1160\\u3164\\uffa0", VISIBLE_LINES,
      SHAPELESS },
    { "khmer vowels", "\u17b4\u17b5", "\\u17b4\\u17b5", VISIBLE_LINES, SHAPELESS },
    { "mongolian", "\u180b\u180e\u180f", "\\u180b\\u180e\\u180f", VISIBLE_LINES, SHAPELESS },
    { "annotation", "\ufff0\ufff9\ufffb", "\\ufff0\\ufff9\\ufffb", VISIBLE_LINES, SHAPELESS },
    { "tags", "\U000e0000\U000e007f\U000e0fff", "\\u{e0000}\\u{e007f}\\u{e0fff}", VISIBLE_LINES,
      SHAPELESS },
    { "private use", "\ue000\U000f0000\U0010fffd", "\\ue000\\u{f0000}\\u{10fffd}", VISIBLE_LINES,
      SHAPELESS },
    { "noncharacters", "\ufdd0\uffff\U0001fffe", "\\ufdd0\\uffff\\u{1fffe}", VISIBLE_LINES,
      SHAPELESS },
    { "selectors 17 on", "a\U000e0100\U000e01ef", "a\\u{e0100}\\u{e01ef}", VISIBLE_LINES,
      SHAPELESS },
    { "selectors to 16", "a\ufe00 \u2601\ufe0f", "a\ufe00 \u2601\ufe0f", VISIBLE_LINES, 0 },
    { "shorthand", "\U0001bca0\U0001d173", "\\u{1bca0}\\u{1d173}", VISIBLE_LINES, SHAPELESS },
    { "signs around numbers", "\u0600\u06dd\u08e2\U000110bd", "\u0600\u06dd\u08e2\U000110bd",
      VISIBLE_LINES, 0 },
    { "replacement", "\ufffc\ufffd", "\ufffc\ufffd", VISIBLE_LINES, 0 },
    { "blank braille", "\u2800", "\u2800", VISIBLE_LINES, 0 },
    { "four marks", "e\u0301\u0302\u0303\u0304", "e\u0301\u0302\u0303\u0304", VISIBLE_LINES, 0 },
    { "five marks", "e\u0301\u0302\u0303\u0304\u0305z", "e\u0301\u0302\u0303\u0304z", VISIBLE_LINES,
      HIDDEN },
    { "enclosing marks", "e\u20dd\u20dd\u20dd\u20dd\u20dd", "e\u20dd\u20dd\u20dd\u20dd",
      VISIBLE_LINES, HIDDEN },
    { "marks on the next letter", "e\u0301\u0301\u0301\u0301a\u0301",
      "e\u0301\u0301\u0301\u0301a\u0301", VISIBLE_LINES, 0 },
    { "a joiner does not start a new row", "\u0628\u064b\u064b\u064b\u200d\u064b\u064b",
      "\u0628\u064b\u064b\u064b\u200d\u064b", VISIBLE_LINES, HIDDEN },
    { "a joiner before a mark too many joins nothing", "\u0628\u064b\u064b\u064b\u064b\u200d\u064b",
      "\u0628\u064b\u064b\u064b\u064b\\u200d\u064b", VISIBLE_LINES, SHAPELESS },
    { "a dropped mark is no neighbour", "\u0628\u0301\u0301\u0301\u0301\u064b\u200d\u0628",
      "\u0628\u0301\u0301\u0301\u0301\\u200d\u0628", VISIBLE_LINES, SHAPELESS },
    { "a joiner behind four marks", "\u0628\u064b\u064b\u064b\u064b\u200d\u0628",
      "\u0628\u064b\u064b\u064b\u064b\u200d\u0628", VISIBLE_LINES, 0 },
    { "an escape does", "\u0301\u0301\u0301\u0301\u200b\u0301",
      "\u0301\u0301\u0301\u0301\\u200b\u0301", VISIBLE_LINES, SHAPELESS },
    { "a broken byte does", "\u0301\u0301\u0301\u0301\xff\u0301",
      "\u0301\u0301\u0301\u0301\\xff\u0301", VISIBLE_LINES, HIDDEN },
};

static const struct shown_case joiner_cases[] = {
    { "between letters", "a\u200db\u200cc", "a\\u200db\\u200cc", VISIBLE_LINES, SHAPELESS },
    { "at the ends", "\u200d\U0001f468\u200d", "\\u200d\U0001f468\\u200d", VISIBLE_LINES,
      SHAPELESS },
    { "before a broken byte", "\U0001f468\u200d\xff", "\U0001f468\\u200d\\xff", VISIBLE_LINES,
      SHAPELESS },
    { "behind a broken byte", "\U0001f468\xff\u200d\U0001f468", "\U0001f468\\xff\\u200d\U0001f468",
      VISIBLE_LINES, SHAPELESS },
    { "rainbow flag", "\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f3f3\ufe0f\u200d\U0001f308",
      VISIBLE_LINES, 0 },
    { "tinted astronaut", "\U0001f469\U0001f3fd\u200d\U0001f680",
      "\U0001f469\U0001f3fd\u200d\U0001f680", VISIBLE_LINES, 0 },
    { "heart on fire", "\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525",
      VISIBLE_LINES, 0 },
    { "tint without a figure", "\U0001f3fd\u200d\U0001f680", "\U0001f3fd\\u200d\U0001f680",
      VISIBLE_LINES, SHAPELESS },
    { "emoji and letter", "\U0001f469\u200da", "\U0001f469\\u200da", VISIBLE_LINES, SHAPELESS },
    { "doubled", "\U0001f469\u200d\u200d\U0001f680", "\U0001f469\\u200d\\u200d\U0001f680",
      VISIBLE_LINES, SHAPELESS },
    { "other selector", "\U0001f469\ufe01\u200d\U0001f680", "\U0001f469\ufe01\\u200d\U0001f680",
      VISIBLE_LINES, SHAPELESS },
    { "Persian", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
      "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", VISIBLE_LINES, 0 },
    { "Arabic and Latin", "\u0645\u200ca", "\u0645\\u200ca", VISIBLE_LINES, SHAPELESS },
    { "Arabic digits", "\u0661\u200c\u0662", "\u0661\\u200c\u0662", VISIBLE_LINES, SHAPELESS },
    { "Devanagari", "\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937", VISIBLE_LINES, 0 },
    { "Sinhala", "\u0d9a\u0dca\u200d\u0dbb", "\u0d9a\u0dca\u200d\u0dbb", VISIBLE_LINES, 0 },
    { "Mongolian", "\u1820\u200d\u1820", "\u1820\u200d\u1820", VISIBLE_LINES, 0 },
    { "Phags-pa", "\ua840\u200d\ua840", "\ua840\u200d\ua840", VISIBLE_LINES, 0 },
    { "Adlam", "\U0001e922\u200d\U0001e923", "\U0001e922\u200d\U0001e923", VISIBLE_LINES, 0 },
    { "behind a shapeless vowel", "\u1780\u17b4\u200d\u1780", "\u1780\\u17b4\\u200d\u1780",
      VISIBLE_LINES, SHAPELESS },
    { "Han", "\u4e2d\u200d\u56fd", "\u4e2d\\u200d\u56fd", VISIBLE_LINES, SHAPELESS },
};

static const struct shown_case script_cases[] = {
    { "Latin and Cyrillic", "p\u0430y", "p\u0430y", VISIBLE_LINES, MIXED },
    { "Latin and Greek", "\u0391pprove", "\u0391pprove", VISIBLE_LINES, MIXED },
    { "Latin and Armenian", "st\u0585p", "st\u0585p", VISIBLE_LINES, MIXED },
    { "Latin and Cherokee", "\u13aapprove", "\u13aapprove", VISIBLE_LINES, MIXED },
    { "Latin and Lisu", "\ua4e2top", "\ua4e2top", VISIBLE_LINES, MIXED },
    { "Greek and Cyrillic", "\u03bf\u0430", "\u03bf\u0430", VISIBLE_LINES, MIXED },
    { "Greek and Coptic", "\u03bf\u2c9f", "\u03bf\u2c9f", VISIBLE_LINES, MIXED },
    { "accents go with their letter", "e\u0301\u0430", "e\u0301\u0430", VISIBLE_LINES, MIXED },
    { "digits do not end a word", "H2\u041e", "H2\u041e", VISIBLE_LINES, MIXED },
    { "mathematical letters", "\U0001d40f\u0430", "\U0001d40f\u0430", VISIBLE_LINES, MIXED },
    { "what is hidden does not end a word", "a\u200b\u0430", "a\\u200b\u0430", VISIBLE_LINES,
      MIXED | SHAPELESS },
    { "nor a direction", "a\u202e\u0430", "a\\u202e\u0430", VISIBLE_LINES, MIXED | STEERED },
    { "nor a dropped mark", "a\u0301\u0301\u0301\u0301\u0301\u0430",
      "a\u0301\u0301\u0301\u0301\u0430", VISIBLE_LINES, MIXED | HIDDEN },
    { "two words", "pay \u043c\u043d\u0435", "pay \u043c\u043d\u0435", VISIBLE_LINES, 0 },
    { "hyphen", "MP3-\u043f\u043b\u0435\u0435\u0440", "MP3-\u043f\u043b\u0435\u0435\u0440",
      VISIBLE_LINES, 0 },
    { "line", "a\n\u0430", "a\n\u0430", VISIBLE_LINES, 0 },
    { "control", "a\x1b\u0430", "a\\x1b\u0430", VISIBLE_LINES, HIDDEN },
    { "micrometre", "5 \u00b5m", "5 \u00b5m", VISIBLE_LINES, 0 },
    { "Japanese and Latin", "T\u30b7\u30e3\u30c4", "T\u30b7\u30e3\u30c4", VISIBLE_LINES, 0 },
    { "Chinese and Latin", "\u90e8\u7f72API", "\u90e8\u7f72API", VISIBLE_LINES, 0 },
};

static void check_shown(const struct shown_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct text out = { 0 };
        unsigned flags = visible_text(cases[i].text, strlen(cases[i].text), cases[i].lines, &out);

        if (strcmp(text_string(&out), cases[i].shown) != 0)
            fail_msg("%s: shown as %s", cases[i].name, text_string(&out));
        if (flags != cases[i].flags)
            fail_msg("%s: flags %u", cases[i].name, flags);
        text_release(&out);
    }
}

static void every_rule_has_its_form(void **state)
{
    (void)state;
    check_shown(shown_cases, ARRAY_LEN(shown_cases));
}

static void joiners_stay_only_where_they_join(void **state)
{
    (void)state;
    check_shown(joiner_cases, ARRAY_LEN(joiner_cases));
}

static void mixed_words_are_flagged(void **state)
{
    (void)state;
    check_shown(script_cases, ARRAY_LEN(script_cases));
}

static void nul_is_shown_and_what_is_there_stays(void **state)
{
    struct text out = { 0 };

    (void)state;
    text_add_text(&out, "before ");
    assert_int_equal(visible_text("a\0b", 3, VISIBLE_LINES, &out), VISIBLE_HIDDEN);
    assert_string_equal(text_string(&out), "before a\\x00b");
    text_release(&out);
}

/* Asks utf8proc instead of the tables under test. */
static bool is_forbidden(int32_t code_point)
{
    static const int32_t drawn[] = { 0x600, 0x601, 0x602, 0x603, 0x604,   0x605,  0x6dd,
                                     0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd };
    utf8proc_category_t category = utf8proc_category(code_point);

    for (size_t i = 0; i < ARRAY_LEN(drawn); i++) {
        if (code_point == drawn[i])
            return false;
    }
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_CO || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP || (code_point & 0xfffe) == 0xfffe ||
           (code_point >= 0xfdd0 && code_point <= 0xfdef) ||
           (utf8proc_get_property(code_point)->ignorable &&
            !(code_point >= 0xfe00 && code_point <= 0xfe0f));
}

static void check_output(const struct text *out, enum visible_lines lines, int32_t from)
{
    const char *at = out->bytes, *end = out->bytes + out->used;

    while (at < end) {
        int32_t code_point = text_decode(&at, end);
        bool is_kept_joiner = code_point == from && (from == 0x200c || from == 0x200d);

        if (code_point < 0)
            fail_msg("U+%04X gives bad UTF-8", (unsigned)from);
        if (is_forbidden(code_point) && !is_kept_joiner &&
            !(code_point == '\n' && lines == VISIBLE_LINES))
            fail_msg("U+%04X lets U+%04X out", (unsigned)from, (unsigned)code_point);
    }
}

/* Among Latin letters, pictographs and Arabic letters, since joiners depend on their neighbors. */
static void no_code_point_gets_through(void **state)
{
    struct text in = { 0 }, out = { 0 };

    (void)state;
    for (int32_t code_point = 0; code_point <= 0x10ffff; code_point++) {
        if (code_point >= 0xd800 && code_point <= 0xdfff)
            continue;
        text_clear(&in);
        text_add_char(&in, 'a');
        text_add_code_point(&in, code_point);
        text_add_text(&in, "b \U0001f44d");
        text_add_code_point(&in, code_point);
        text_add_text(&in, "\U0001f44d \u0628");
        text_add_code_point(&in, code_point);
        text_add_text(&in, "\u0628");
        for (enum visible_lines lines = VISIBLE_ONE_LINE; lines <= VISIBLE_LINES; lines++) {
            unsigned flags;

            text_clear(&out);
            flags = visible_text(in.bytes, in.used, lines, &out);
            check_output(&out, lines, code_point);
            if (lines == VISIBLE_ONE_LINE)
                assert_int_equal(!!(flags & HIDDEN), strcmp(in.bytes, out.bytes) != 0);
        }
    }
    text_release(&in);
    text_release(&out);
}

static void counts_are_of_what_is_seen(void **state)
{
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {
        { "", 0 },
        { "   \n\t ", 0 },
        { "a", 1 },
        { "  a b  ", 3 },
        { "a \t\u3000\u00a0b", 6 },
        { "a\r\nb", 3 },
        { "\u2060\u200b\u00ad", 0 },
        { "\u200b a\u200b ", 1 },
        { "\u202e\u2066x", 1 },
        { "\u2028\u2029\xc2\x85\x0b\x0c\r", 0 },
        { "\u2800\u2800", 0 },
        { "\x01\x7f\xc2\x9b", 0 },
        { "\ue000\ufdd0\U000e0041", 0 },
        { "\ufe0f\ufe00", 0 },
        { "\u00e9\u4e2d\U0001f600", 3 },
        { "\U0001f468\u200d\U0001f469", 2 },
        { "e\u0301\u0301\u0301\u0301\u0301\u0301", 5 },
        { "\xff\xfe", 2 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t count = visible_count(cases[i].text, strlen(cases[i].text), SIZE_MAX);

        assert_int_equal(visible_is_empty(cases[i].text, strlen(cases[i].text)), count == 0);
        if (count != cases[i].count)
            fail_msg("case %zu counts %zu", i, count);
        for (size_t enough = 0; enough < 8; enough++) {
            size_t found = visible_count(cases[i].text, strlen(cases[i].text), enough);

            assert_int_equal(found >= enough, count >= enough);
        }
    }
}

static bool are_alike(const char *a, const char *b)
{
    bool is_alike = visible_alike(a, strlen(a), b, strlen(b));

    assert_int_equal(is_alike, visible_alike(b, strlen(b), a, strlen(a)));
    return is_alike;
}

static const char *const alike_pairs[][2] = {
    { "", "\u200b" },
    { "Delete nothing", "Delete nothing" },
    { "Same", "same " },
    { "Yes", "Ye\u200bs" },
    { "Yes", "Yes\ufe0f" },
    { "Yes", "\u202eYes" },
    { "Yes", "Yes\x07" },
    { "a b", " a\t\u00a0 b\n" },
    { "a b", "a\u2003b" },
    { "a b", "a\u2800b" },
    { "Continue", "\u0421ontinue" },
    { "CONTINUE", "\u0421\u041e\u039dTINUE" },
    { "paypal", "\u0440\u0430\u0443\u0440\u0430l" },
    { "PAYPAL", "p\u0430ypal" },
    { "stop", "st\u0585p" },
    { "STOP", "\ua4e2\ua4d4\ua4f3\ua4d1" },
    { "DARE", "\u13a0\u13aa\u13a1\u13ac" },
    { "cat", "\u03f2at" },
    { "K", "\u212a" },
    { "Deploy", "\uff24\uff45\uff50\uff4c\uff4f\uff59" },
    { "Deploy", "\U0001d403\U0001d41e\U0001d429\U0001d425\U0001d428\U0001d432" },
    { "file", "\ufb01le" },
    { "Option 1", "Option l" },
    { "Option I", "Option |" },
    { "Option I", "Option 1" },
    { "B0", "BO" },
    { "B0", "bo" },
    { "no\u00ebl", "noe\u0308l" },
    { "no\u00ebl", "n\u043e\u0451l" },
    { "stra\u00dfe", "STRASSE" },
    { "\u0412\u0441\u0451", "\u0432\u0441\u0451" },
    { "\u03a3\u03cc\u03c2", "\u03c3\u03cc\u03c3" },
    { "A \u2013 B", "A - B" },
    { "don\u2019t", "don't" },
    { "\u65b9\u6848\u4e00", "\u65b9\u6848\u30fc" },
    { "\ufdfa", "\ufdfa\u200b" },
    { "e\u0301\u0302\u0303\u0304\u0305", "e\u0301\u0302\u0303\u0304" },
    { "a\xff", "a\xff" },
    { "a\xff", "a\\xff" },
    { "Yes\u200b", "Yes\\u200B" },
    { "a\nb", "a\\nb" },
    { "\x1b[1m", "\\x1b[1m" },
};

static void labels_that_look_alike_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(alike_pairs); i++) {
        if (!are_alike(alike_pairs[i][0], alike_pairs[i][1]))
            fail_msg("%s and %s pass for different", alike_pairs[i][0], alike_pairs[i][1]);
    }
}

static void labels_that_differ_are_left_alone(void **state)
{
    static const char *const pairs[][2] = {
        { "", "a" },
        { "Option 1", "Option 2" },
        { "Option 1", "Option 10" },
        { "Group I", "Group L" },
        { "Group 1", "Group L" },
        { "Keep", "Kept" },
        { "caf\u00e9", "cafe" },
        { "modern", "modem" },
        { "a b", "ab" },
        { "\u0434\u0430", "\u043d\u0435\u0442" },
        { "\u0443\u0441", "\u0443\u0445" },
        { "\u03b1\u03c3", "\u03b1\u03bf" },
        { "\u7532", "\u4e59" },
        { "\u65b9\u6848\u4e00", "\u65b9\u6848\u4e8c" },
        { "\u0642", "\u0643" },
        { "\U0001f44d", "\U0001f44e" },
        { "a\xff", "a\xfe" },
        { "a\\n", "an" },
        { "x+1", "x-1" },
        { "yes", "no" },
        { "Yes \u200b", "No" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (are_alike(pairs[i][0], pairs[i][1]))
            fail_msg("%s and %s pass for alike", pairs[i][0], pairs[i][1]);
    }
}

static void every_code_point_is_like_itself(void **state)
{
    char bytes[8];

    (void)state;
    for (int32_t code_point = 0; code_point <= 0x10ffff; code_point += 7) {
        size_t length = (size_t)utf8proc_encode_char(code_point, (utf8proc_uint8_t *)bytes);

        assert_true(visible_alike(bytes, length, bytes, length));
    }
}

static void ids_are_composed(void **state)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "plain", "plain" },
        { "e\u0301", "\u00e9" },
        { "\u00e9", "\u00e9" },
        { "\u212b", "\u00c5" },
        { "\u1112\u1161\u11ab", "\ud55c" },
        { "a\u0323\u0307", "\u1ea1\u0307" },
        { "a\u0307\u0323", "\u1ea1\u0307" },
        { "\ufb01", "\ufb01" },
        { "\xff", "\xff" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text out = { 0 };

        visible_nfc(cases[i][0], strlen(cases[i][0]), &out);
        assert_string_equal(text_string(&out), cases[i][1]);
        text_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus_is_shown_as_written_down),
        cmocka_unit_test(every_rule_has_its_form),
        cmocka_unit_test(joiners_stay_only_where_they_join),
        cmocka_unit_test(mixed_words_are_flagged),
        cmocka_unit_test(nul_is_shown_and_what_is_there_stays),
        cmocka_unit_test(no_code_point_gets_through),
        cmocka_unit_test(counts_are_of_what_is_seen),
        cmocka_unit_test(labels_that_look_alike_are_found),
        cmocka_unit_test(labels_that_differ_are_left_alone),
        cmocka_unit_test(every_code_point_is_like_itself),
        cmocka_unit_test(ids_are_composed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
