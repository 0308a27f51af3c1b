/* text.c - growing bytes and strict UTF-8. */
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TEXT_FIRST_BYTES = 64, TEXT_SHORT_BYTES = 1024 };

void text_release(struct text *text)
{
    free(text->bytes);
    *text = (struct text){ .max_bytes = text->max_bytes };
}

void text_clear(struct text *text)
{
    text->used = 0;
    text->has_overflowed = false;
    if (text->bytes)
        text->bytes[0] = '\0';
}

/* What is short moves by malloc, which has such memory at hand; glibc's realloc looks for it in its
 * lists. What is long may stay. No memory, where that ends no process, is as over the maximum. */
static bool move(struct text *text, size_t capacity)
{
    bool is_short = capacity <= TEXT_SHORT_BYTES;
    char *bytes = mem_resize(is_short ? NULL : text->bytes, capacity);

    if (!bytes) {
        text->has_overflowed = true;
        return false;
    }
    if (is_short) {
        memcpy(bytes, text->used ? text->bytes : "", text->used + 1);
        free(text->bytes);
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

bool text_grow(struct text *text, size_t more)
{
    size_t needed = text->used + more + 1;
    size_t capacity = text->capacity ? text->capacity : TEXT_FIRST_BYTES;

    if (text->max_bytes && text->used + more > text->max_bytes)
        text->has_overflowed = true;
    /* Nothing shorter may follow what did not fit: a gap would read as if nothing was missing. */
    if (text->has_overflowed)
        return false;
    while (capacity < needed)
        capacity *= 4;
    return capacity == text->capacity || move(text, capacity);
}

void text_add(struct text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, length))
        return;
    if (length)
        memcpy(text->bytes + text->used, bytes, length);
    text->used += length;
    text->bytes[text->used] = '\0';
}

const char *text_of_integer(int64_t number, char room[TEXT_INTEGER_BYTES])
{
    char *at = &room[TEXT_INTEGER_BYTES - 1];
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    return at;
}

void text_add_integer(struct text *text, int64_t number)
{
    char digits[TEXT_INTEGER_BYTES];

    text_add_text(text, text_of_integer(number, digits));
}

size_t text_encode(int32_t code_point, char bytes[4])
{
    static const uint8_t leads[] = { 0, 0xc0, 0xe0, 0xf0 };
    size_t more = (code_point >= 0x80) + (code_point >= 0x800) + (code_point >= 0x10000);

    for (size_t i = more; i > 0; i--, code_point >>= 6)
        bytes[i] = (char)(0x80 | (code_point & 0x3f));
    bytes[0] = (char)(leads[more] | code_point);
    return more + 1;
}

void text_add_code_point(struct text *text, int32_t code_point)
{
    char bytes[4];

    text_add(text, bytes, text_encode(code_point, bytes));
}

void text_add_format(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    int length;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->used, (size_t)length + 1, format, again);
        text->used += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void text_drop_front(struct text *text, size_t bytes)
{
    if (!bytes)
        return;
    memmove(text->bytes, text->bytes + bytes, text->used - bytes);
    text->used -= bytes;
    text->bytes[text->used] = '\0';
}

char *text_take(struct text *text)
{
    char *bytes = text->bytes ? text->bytes : mem_new(1);

    *text = (struct text){ .max_bytes = text->max_bytes };
    return bytes;
}

const char *text_string(const struct text *text)
{
    return text->used ? text->bytes : "";
}

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Each of fewer than eight, some of them twice, blanks instead of the rest. */
static uint64_t few_at(const char *bytes, size_t length)
{
    const uint8_t *byte = (const uint8_t *)bytes;
    uint32_t first, last;

    if (length < sizeof first)
        return PLAIN_EACH * ' ' << 24 | byte[0] | (uint64_t)byte[length / 2] << 8 |
               (uint64_t)byte[length - 1] << 16;
    memcpy(&first, bytes, sizeof first);
    memcpy(&last, bytes + length - sizeof last, sizeof last);
    return (uint64_t)last << 32 | first;
}

static size_t plain_run_of_few(const char *bytes, size_t length)
{
    size_t run = 0;

    if (length > 0 && !plain_bytes_not(few_at(bytes, length)))
        return length;
    while (run < length && is_plain((uint8_t)bytes[run]))
        run++;
    return run;
}

size_t text_plain_run(const char *bytes, size_t length)
{
    size_t run = 0;
    uint64_t found;

    if (length < sizeof found)
        return plain_run_of_few(bytes, length);
    for (; run < length; run += sizeof found) {
        if (length - run < sizeof found)
            run = length - sizeof found; /* some of them once more */
        found = plain_bytes_not(plain_bytes_eight(bytes + run));
        if (found)
            return run + (size_t)__builtin_ctzll(found) / 8;
    }
    return length;
}

bool text_is_ascii(const char *bytes, size_t length)
{
    size_t at = 0;
    uint64_t eight, all = 0;

    for (; length - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, bytes + at, sizeof eight);
        all |= eight;
    }
    for (; at < length; at++)
        all |= (uint8_t)bytes[at];
    return !(all & PLAIN_HIGH);
}

int32_t text_decode(const char **at, const char *end)
{
    static const struct {
        uint8_t mask, lead, more;
        int32_t min;
    } forms[] = {
        { 0xe0, 0xc0, 1, 0x80 },
        { 0xf0, 0xe0, 2, 0x800 },
        { 0xf8, 0xf0, 3, 0x10000 },
    };
    const uint8_t *byte = (const uint8_t *)*at;

    if (*at >= end)
        return -1;
    if (byte[0] < 0x80) {
        ++*at;
        return byte[0];
    }
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        int32_t code_point = byte[0] & (uint8_t)~forms[i].mask;

        if ((byte[0] & forms[i].mask) != forms[i].lead)
            continue;
        if (end - *at <= forms[i].more)
            return -1;
        for (size_t k = 1; k <= forms[i].more; k++) {
            if ((byte[k] & 0xc0) != 0x80)
                return -1;
            code_point = code_point << 6 | (byte[k] & 0x3f);
        }
        if (code_point < forms[i].min || code_point > 0x10ffff ||
            (code_point >= 0xd800 && code_point <= 0xdfff))
            return -1;
        *at += forms[i].more + 1;
        return code_point;
    }
    return -1;
}

bool text_is_utf8(const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length;

    while (at < end) {
        if (text_decode(&at, end) < 0)
            return false;
    }
    return true;
}

size_t text_count(const char *bytes, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += ((uint8_t)bytes[i] & 0xc0) != 0x80;
    return count;
}

/* glibc has it without allocating anything. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void text_of_real(double number, char room[TEXT_REAL_BYTES])
{
    locale_t before = enter_c_locale();

    snprintf(room, TEXT_REAL_BYTES, "%.17g", number);
    uselocale(before);
}

const char *text_of_short(double number, char room[TEXT_REAL_BYTES])
{
    snprintf(room, TEXT_REAL_BYTES, "%g", number);
    return room;
}

double text_parse_real(const char *number)
{
    locale_t before = enter_c_locale();
    double real = strtod(number, NULL);

    uselocale(before);
    return real;
}

bool text_parse_integer(const char *text, int64_t *ret_value)
{
    char *end;
    long long value;

    if (!(text[0] == '-' || (text[0] >= '0' && text[0] <= '9')))
        return false;
    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno || *end != '\0' || end == text)
        return false;
    *ret_value = value;
    return true;
}

void text_add_shell_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+@%=:,";

    if (*word && word[strspn(word, plain)] == '\0') {
        text_add_text(text, word);
        return;
    }
    text_add_char(text, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            text_add_text(text, "'\\''");
        else
            text_add_char(text, *word);
    }
    text_add_char(text, '\'');
}

size_t text_index(const char *word, const char *const *words, size_t count)
{
    size_t index = 0;

    while (index < count && (!word || strcmp(words[index], word) != 0))
        index++;
    return index;
}

void text_read_pairs(struct text_pairs *ret_pairs, va_list arguments)
{
    const char *name;

    ret_pairs->count = 0;
    while (ret_pairs->count < TEXT_MAX_PAIRS && (name = va_arg(arguments, const char *))) {
        const char *value = va_arg(arguments, const char *);

        value = value ? value : "";
        ret_pairs->each[ret_pairs->count++] =
            (struct text_pair){ name, value, strlen(name), strlen(value) };
    }
}

/* With its braces; 0: no name begins here. */
static size_t name_bytes(const char *at)
{
    size_t length = *at == '{' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;

    return length && at[1 + length] == '}' ? length + 2 : 0;
}

bool text_next_piece(const char **at, const struct text_pairs *pairs, struct text_piece *ret_piece)
{
    size_t length = 0, name;

    while (!(name = name_bytes(*at + length)) && (*at)[length])
        length++;
    *ret_piece = (struct text_piece){ *at, length ? length : name, length == 0 };
    for (size_t i = 0; length == 0 && pairs && i < pairs->count; i++) {
        const struct text_pair *pair = &pairs->each[i];

        if (pair->name_bytes + 2 == name && memcmp(pair->name, *at + 1, pair->name_bytes) == 0)
            *ret_piece = (struct text_piece){ pair->value, pair->value_bytes, true };
    }
    *at += length ? length : name;
    return length > 0 || name > 0;
}

uint32_t text_hash(const char *text)
{
    uint32_t hash = 2166136261U;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619U;
    return hash;
}
