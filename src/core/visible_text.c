/*
 * visible_text.c - reads a text code point by code point, gives each a treatment, writes it down.
 * The treatments are the rules of tests/corpus/strings.json; look-alikes after Unicode Technical
 * Standard 39. What is counted and compared is read by the same function as what is shown.
 */
#include "core/visible_text.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/confusables.h"

enum { MARKS_IN_A_ROW = 4 };

enum treatment {
    KEPT,
    LINE_BREAK,
    TAB,
    SWALLOWED, /* CR before LF */
    CONTROL,
    STEERING,
    SHAPELESS,
    EXCESSIVE, /* one mark too many on a letter */
    BROKEN,    /* a byte that is not UTF-8 */
};

static const unsigned flags_of[] = {
    [CONTROL] = VISIBLE_HIDDEN,
    [STEERING] = VISIBLE_HIDDEN | VISIBLE_BIDI,
    [SHAPELESS] = VISIBLE_HIDDEN | VISIBLE_INVISIBLE,
    [EXCESSIVE] = VISIBLE_HIDDEN,
    [BROKEN] = VISIBLE_HIDDEN,
};

/* A text being read, with as much of what went before as the next treatment depends on. */
struct reading {
    const char *at, *end;
    int32_t before; /* 0: nothing, or a broken byte */
    int32_t figure; /* the last one that does not merely style or tint a pictograph */
    unsigned marks; /* stacked so far */
};

static struct reading reading_of(const char *bytes, size_t length)
{
    return (struct reading){ .at = bytes, .end = bytes + length };
}

static bool is_joiner(int32_t code_point)
{
    return code_point == UNICODE_ZERO_WIDTH_JOINER || code_point == UNICODE_ZERO_WIDTH_NON_JOINER;
}

static bool joins_neighbours(const struct reading *reading)
{
    const char *ahead = reading->at;
    int32_t next = text_decode(&ahead, reading->end);

    if (unicode_is_pictograph(reading->figure) && unicode_is_pictograph(next))
        return true;
    if (reading->marks == MARKS_IN_A_ROW && unicode_is_stacking(next))
        return false; /* the mark will be dropped, and the joiner join nothing */
    return unicode_is_joining(reading->before) && unicode_is_joining(next);
}

static bool is_plain_ascii(int32_t code_point)
{
    return code_point >= ' ' && code_point <= '~';
}

static enum treatment treat(const struct reading *reading, int32_t code_point)
{
    if (code_point == '\n')
        return LINE_BREAK;
    if (code_point == '\t')
        return TAB;
    if (code_point == '\r' && reading->at < reading->end && *reading->at == '\n')
        return SWALLOWED;
    if (unicode_is_control(code_point))
        return CONTROL;
    if (unicode_is_steering(code_point))
        return STEERING;
    if (is_joiner(code_point) && joins_neighbours(reading))
        return KEPT;
    return unicode_is_shapeless(code_point) ? SHAPELESS : KEPT;
}

/* Moves on by one code point, or by one byte where there is none. */
static enum treatment read_next(struct reading *reading, int32_t *ret_code_point)
{
    int32_t code_point = text_decode(&reading->at, reading->end);
    enum treatment treatment;

    if (code_point < 0) {
        *ret_code_point = (uint8_t)*reading->at++;
        reading->before = reading->figure = 0;
        reading->marks = 0;
        return BROKEN;
    }
    *ret_code_point = code_point;
    if (is_plain_ascii(code_point)) {
        reading->before = reading->figure = code_point;
        reading->marks = 0;
        return KEPT;
    }
    treatment = treat(reading, code_point);
    if (treatment == KEPT && unicode_is_stacking(code_point)) {
        if (reading->marks == MARKS_IN_A_ROW)
            return EXCESSIVE;
        reading->marks++;
    } else if (treatment != KEPT || !is_joiner(code_point)) {
        reading->marks = 0;
    }
    reading->before = code_point;
    if (code_point != UNICODE_EMOJI_STYLE && !unicode_is_skin_tone(code_point))
        reading->figure = code_point;
    return treatment;
}

/* By hand, since printf would make a prompt full of controls four times as slow to show. */
static void write_escape(struct text *out, int32_t code_point, bool is_byte)
{
    const uint32_t number = (uint32_t)code_point;
    const bool is_long = number > 0xffff;
    const int digits = is_byte || number < 0x80 ? 2 : !is_long ? 4 : number > 0xfffff ? 6 : 5;
    char escape[sizeof "\\u{10ffff}"];
    size_t used = 0;

    escape[used++] = '\\';
    escape[used++] = digits == 2 ? 'x' : 'u';
    if (is_long)
        escape[used++] = '{';
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        escape[used++] = "0123456789abcdef"[number >> shift & 15];
    if (is_long)
        escape[used++] = '}';
    text_add(out, escape, used);
}

static void write_shown(struct text *out, enum visible_lines lines, enum treatment treatment,
                        int32_t code_point)
{
    switch (treatment) {
    case KEPT:
        text_add_code_point(out, code_point);
        break;
    case LINE_BREAK:
        text_add_text(out, lines == VISIBLE_LINES ? "\n" : "\\n");
        break;
    case TAB:
        text_add_text(out, lines == VISIBLE_LINES ? "    " : "\\t");
        break;
    case SWALLOWED:
    case EXCESSIVE:
        break;
    case CONTROL:
    case STEERING:
    case SHAPELESS:
    case BROKEN:
        write_escape(out, code_point, treatment == BROKEN);
        break;
    }
}

/* Scripts of the word so far. What is not seen does not end a word, or it would hide a mixture. */
static unsigned word_scripts(unsigned scripts, enum treatment treatment, int32_t code_point)
{
    if (treatment == STEERING || treatment == SHAPELESS || treatment == EXCESSIVE ||
        is_joiner(code_point))
        return scripts;
    if (treatment != KEPT || !unicode_is_word(code_point))
        return 0;
    return scripts | unicode_scripts(code_point);
}

unsigned visible_text(const char *bytes, size_t length, enum visible_lines lines, struct text *out)
{
    struct reading reading = reading_of(bytes, length);
    unsigned flags = 0, scripts = 0;

    if (text_plain_run(bytes, length) == length) { /* most are, and shown as they are */
        text_add(out, bytes, length);
        return 0;
    }
    while (reading.at < reading.end) {
        int32_t code_point;
        enum treatment treatment = read_next(&reading, &code_point);

        write_shown(out, lines, treatment, code_point);
        flags |= flags_of[treatment];
        if (lines == VISIBLE_ONE_LINE && (treatment == LINE_BREAK || treatment == TAB))
            flags |= VISIBLE_HIDDEN;
        scripts = word_scripts(scripts, treatment, code_point);
        if (scripts & (scripts - 1))
            flags |= VISIBLE_MIXED_SCRIPT;
    }
    return flags;
}

enum trace { TRACE_NONE, TRACE_BLANK, TRACE_SHAPE };

/* What a code point leaves for the eye, joiners and selectors being only about their neighbors. */
static enum trace trace_of(enum treatment treatment, int32_t code_point)
{
    if (treatment == BROKEN || (is_plain_ascii(code_point) && code_point != ' '))
        return TRACE_SHAPE;
    if (unicode_is_blank(code_point))
        return treatment == SWALLOWED ? TRACE_NONE : TRACE_BLANK;
    if (treatment != KEPT || is_joiner(code_point) || unicode_is_style(code_point))
        return TRACE_NONE;
    return TRACE_SHAPE;
}

/* Moves over printable ASCII without blanks, which needs no closer look; returns how much. */
static size_t skip_ascii(struct reading *reading)
{
    const char *from = reading->at;

    while (reading->at<reading->end && * reading->at> ' ' && *reading->at <= '~')
        reading->at++;
    if (reading->at > from) {
        reading->before = reading->figure = (unsigned char)reading->at[-1];
        reading->marks = 0;
    }
    return (size_t)(reading->at - from);
}

bool visible_is_empty(const char *bytes, size_t length)
{
    struct reading reading = reading_of(bytes, length);
    int32_t code_point;

    while (reading.at < reading.end) {
        enum treatment treatment = read_next(&reading, &code_point);

        if (trace_of(treatment, code_point) == TRACE_SHAPE)
            return false;
    }
    return true;
}

size_t visible_count(const char *bytes, size_t length, size_t enough)
{
    struct reading reading = reading_of(bytes, length);
    size_t count = 0, blanks = 0;

    while (reading.at < reading.end && count < enough) {
        size_t run = skip_ascii(&reading);
        int32_t code_point;
        enum treatment treatment;
        enum trace trace;

        if (run > 0) {
            count += (count ? blanks : 0) + run;
            blanks = 0;
            continue;
        }
        treatment = read_next(&reading, &code_point);
        trace = trace_of(treatment, code_point);

        if (trace == TRACE_BLANK) {
            blanks++;
        } else if (trace == TRACE_SHAPE) {
            count += (count ? blanks : 0) + 1;
            blanks = 0;
        }
    }
    return count;
}

/* Trimmed, with single blanks, without what leaves no trace; UTF-8. True: it is not shown as is. */
static bool add_plain(const char *bytes, size_t length, struct text *plain)
{
    struct reading reading = reading_of(bytes, length);
    bool has_blank = false, has_hidden = false;

    while (reading.at < reading.end) {
        const char *from = reading.at;
        size_t run = skip_ascii(&reading);
        int32_t code_point;
        enum treatment treatment;
        enum trace trace;

        if (run > 0) {
            if (has_blank && plain->used)
                text_add_char(plain, ' ');
            text_add(plain, from, run);
            has_blank = false;
            continue;
        }
        treatment = read_next(&reading, &code_point);
        trace = trace_of(treatment, code_point);
        has_hidden |= treatment != KEPT;
        if (trace == TRACE_NONE)
            continue;
        if (trace == TRACE_SHAPE) {
            if (has_blank && plain->used)
                text_add_char(plain, ' ');
            if (treatment == BROKEN)
                write_escape(plain, code_point, true);
            else
                text_add_code_point(plain, code_point);
        }
        has_blank = trace == TRACE_BLANK;
    }
    return has_hidden;
}

struct points {
    int32_t *at; /* owned */
    size_t count;
};

/* utf8proc writes into memory of ours, so that running out of it ends in base/mem. */
static struct points decompose(const char *bytes, size_t length, utf8proc_option_t options,
                               utf8proc_custom_func passes_for)
{
    size_t capacity = length + 1, needed;
    struct points points = { .at = mem_new(capacity * sizeof *points.at) };

    for (;;) {
        needed = (size_t)utf8proc_decompose_custom(
            (const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length, points.at,
            (utf8proc_ssize_t)capacity, options, passes_for, NULL);
        if (needed <= capacity)
            break;
        capacity = needed;
        points.at = mem_resize(points.at, capacity * sizeof *points.at);
    }
    points.count = needed;
    return points;
}

static utf8proc_int32_t passes_for(utf8proc_int32_t code_point, void *unused)
{
    (void)unused;
    return confusable_of(code_point);
}

static int32_t fold_letter(int32_t code_point)
{
    return utf8proc_tolower(confusable_of(code_point));
}

static int32_t fold_stroke(int32_t code_point)
{
    return utf8proc_tolower(confusable_stroke(confusable_of(code_point)));
}

static int32_t fold_nothing(int32_t code_point)
{
    return code_point;
}

static void add_points(const struct points *points, int32_t (*fold)(int32_t), struct text *key)
{
    for (size_t i = 0; i < points->count; i++) {
        int32_t folded = fold(points->at[i]);

        text_add(key, (const char *)&folded, sizeof folded);
    }
}

static int32_t fold_ascii(int32_t code_point)
{
    return code_point >= 'A' && code_point <= 'Z' ? code_point - 'A' + 'a' : code_point;
}

/* ASCII is composed of nothing else and passes for nothing else. */
static void add_ascii_keys(const struct text *plain, struct text *keys)
{
    size_t size = plain->used * sizeof(int32_t);
    char *letters = text_add_room(&keys[0], size), *strokes = text_add_room(&keys[2], size);

    for (size_t i = 0; i < plain->used; i++) {
        int32_t letter = fold_ascii(plain->bytes[i]);
        int32_t stroke = fold_ascii(confusable_stroke(plain->bytes[i]));

        memcpy(letters + i * sizeof letter, &letter, sizeof letter);
        memcpy(strokes + i * sizeof stroke, &stroke, sizeof stroke);
    }
    text_add(&keys[1], letters, size);
}

/* Case is folded after the shapes: capital Cyrillic VE passes for B, the small one for nothing. */
static void add_keys(const struct text *plain, struct text *keys)
{
    const utf8proc_option_t options = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
    struct points cased, shaped;

    if (text_is_ascii(text_string(plain), plain->used)) {
        add_ascii_keys(plain, keys);
        return;
    }
    cased = decompose(text_string(plain), plain->used, options | UTF8PROC_CASEFOLD, NULL);
    shaped = decompose(text_string(plain), plain->used, options, passes_for);
    add_points(&cased, fold_nothing, &keys[0]);
    add_points(&shaped, fold_letter, &keys[1]);
    add_points(&shaped, fold_stroke, &keys[2]);
    free(cased.at);
    free(shaped.at);
}

void visible_look_init(struct visible_look *look, const char *bytes, size_t length)
{
    struct text plain = { 0 }, shown = { 0 };

    *look = (struct visible_look){ 0 };
    look->has_hidden = add_plain(bytes, length, &plain);
    add_keys(&plain, look->keys);
    if (look->has_hidden) { /* an escape we write looks like the same one typed by the agent */
        text_clear(&plain);
        visible_text(bytes, length, VISIBLE_ONE_LINE, &shown);
        add_plain(text_string(&shown), shown.used, &plain);
        add_keys(&plain, look->shown_keys);
    }
    text_release(&shown);
    text_release(&plain);
}

void visible_look_release(struct visible_look *look)
{
    for (size_t i = 0; i < VISIBLE_LOOKS; i++) {
        text_release(&look->keys[i]);
        text_release(&look->shown_keys[i]);
    }
}

static bool have_same_key(const struct text *keys, const struct text *others)
{
    for (size_t i = 0; i < VISIBLE_LOOKS; i++) {
        if (keys[i].used == others[i].used &&
            memcmp(text_string(&keys[i]), text_string(&others[i]), keys[i].used) == 0)
            return true;
    }
    return false;
}

/* Where nothing is hidden the shown form is the text itself, and its keys are the same. */
static const struct text *shown_keys(const struct visible_look *look)
{
    return look->has_hidden ? look->shown_keys : look->keys;
}

bool visible_look_alike(const struct visible_look *a, const struct visible_look *b)
{
    return have_same_key(a->keys, b->keys) ||
           ((a->has_hidden || b->has_hidden) && have_same_key(shown_keys(a), shown_keys(b)));
}

bool visible_alike(const char *a, size_t a_length, const char *b, size_t b_length)
{
    struct visible_look look_a, look_b;
    bool is_alike;

    visible_look_init(&look_a, a, a_length);
    visible_look_init(&look_b, b, b_length);
    is_alike = visible_look_alike(&look_a, &look_b);
    visible_look_release(&look_a);
    visible_look_release(&look_b);
    return is_alike;
}

void visible_nfc(const char *bytes, size_t length, struct text *out)
{
    const utf8proc_option_t options = UTF8PROC_COMPOSE | UTF8PROC_STABLE;
    struct points points;
    utf8proc_ssize_t count;

    if (text_is_ascii(bytes, length) || !text_is_utf8(bytes, length)) {
        text_add(out, bytes, length);
        return;
    }
    points = decompose(bytes, length, options, NULL);
    count = utf8proc_normalize_utf32(points.at, (utf8proc_ssize_t)points.count, options);
    for (utf8proc_ssize_t i = 0; i < count; i++)
        text_add_code_point(out, points.at[i]);
    free(points.at);
}

/* A name is read as words: camelCase, blanks and any other sign divide it, case does not matter. */

enum { WORD_BYTES = 24 }; /* longer ones are none of ours */

/* Secrets wherever the word stands in the name. */
static const char *const anywhere[] = {
    "password", "passwords",  "passwd",      "pwd",    "passphrase", "passcode", "secret",
    "secrets",  "credential", "credentials", "apikey", "cvv",        "cvc",      "otp",
};
/* Secrets where it is the last word: token_count is none. */
static const char *const last[] = { "token", "pin", "mnemonic" };
/* Secrets where the two follow each other. */
static const char *const pairs[][2] = {
    { "api", "key" },        { "private", "key" }, { "access", "key" },    { "ssh", "key" },
    { "encryption", "key" }, { "signing", "key" }, { "seed", "phrase" },   { "pass", "word" },
    { "pass", "phrase" },    { "pin", "code" },    { "security", "code" }, { "token", "value" },
    { "recovery", "code" },  { "card", "number" },
};
/* In Chinese words are not divided: looked for as they stand. */
static const char *const pieces[] = { "密码", "口令", "密钥", "令牌", "私钥" };

/* Takes the next word, in lower case; "" where it is too long. False: there is none any more. */
static bool next_word(const char **at, char word[WORD_BYTES])
{
    const char *start = *at;
    size_t length = 0;

    while (*start && !isalpha((unsigned char)*start))
        start++;
    while (isalpha((unsigned char)start[length])) {
        const char *sign = start + length;
        bool begins = length > 0 && isupper((unsigned char)*sign) &&
                      (islower((unsigned char)sign[-1]) || islower((unsigned char)sign[1]));

        if (begins)
            break;
        length++;
    }
    for (size_t i = 0; i < length && length < WORD_BYTES; i++)
        word[i] = (char)tolower((unsigned char)start[i]);
    word[length < WORD_BYTES ? length : 0] = '\0';
    *at = start + length;
    return length > 0;
}

static bool is_pair(const char *first, const char *second)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (strcmp(pairs[i][0], first) == 0 && strcmp(pairs[i][1], second) == 0)
            return true;
    }
    return false;
}

/* `is_prose`: what counts only as the last word of a name counts anywhere. */
static bool is_found(const char *text, bool is_prose)
{
    char word[WORD_BYTES] = "", before[WORD_BYTES];
    bool is_last = false;

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        if (strstr(text, pieces[i]))
            return true;
    }
    for (;;) {
        memcpy(before, word, sizeof before);
        if (!next_word(&text, word))
            return is_last;
        is_last = text_is_among(word, last, ARRAY_LEN(last));
        if (text_is_among(word, anywhere, ARRAY_LEN(anywhere)) || is_pair(before, word) ||
            (is_prose && is_last))
            return true;
    }
}

bool sensitive_is_name(const char *name)
{
    return is_found(name, false);
}

bool sensitive_is_mentioned(const char *prose)
{
    return is_found(prose, true);
}
