/*
 * text.h - bytes that grow up to a maximum, and strict UTF-8. A buffer that would exceed its
 * maximum keeps what it has and remembers that it overflowed.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *bytes; /* owned; NUL-terminated whenever used > 0 */
    size_t used, capacity;
    size_t max_bytes; /* 0: no maximum, only for what we make ourselves */
    bool has_overflowed;
};

void text_release(struct text *text); /* zeroed again afterwards, the maximum stays */
void text_clear(struct text *text);   /* empty, memory kept */
void text_add(struct text *text, const char *bytes, size_t length);
static inline void text_add_text(struct text *text, const char *nul_terminated)
{
    text_add(text, nul_terminated, strlen(nul_terminated)); /* known of a literal */
}
bool text_grow(struct text *text, size_t more); /* for text_reserve: room, or has_overflowed */
static inline bool text_reserve(struct text *text, size_t more)
{
    return (text->used + more < text->capacity && !text->max_bytes) || text_grow(text, more);
}
static inline void text_add_char(struct text *text, char byte)
{
    if (!text_reserve(text, 1))
        return;
    text->bytes[text->used++] = byte;
    text->bytes[text->used] = '\0';
}
/* Room for so many bytes behind what is there, which the caller fills all; NULL: too much. */
static inline char *text_add_room(struct text *text, size_t bytes)
{
    if (!text_reserve(text, bytes))
        return NULL;
    text->used += bytes;
    text->bytes[text->used] = '\0';
    return text->bytes + text->used - bytes;
}
void text_add_integer(struct text *text, int64_t number); /* decimal */
enum { TEXT_INTEGER_BYTES = 24 };
const char *text_of_integer(int64_t number, char room[TEXT_INTEGER_BYTES]); /* within `room` */
#define TEXT_NUMBER(number)                                                                        \
    text_of_integer(number, (char[TEXT_INTEGER_BYTES]){ 0 })     /* for a pair */
void text_add_code_point(struct text *text, int32_t code_point); /* as UTF-8 */
size_t text_encode(int32_t code_point, char bytes[4]); /* the same; how many bytes it took */
void text_add_format(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* One word of a shell command, in quotes where a shell would read it otherwise. */
void text_add_shell_word(struct text *text, const char *word);
void text_drop_front(struct text *text, size_t bytes);
char *text_take(struct text *text);               /* the caller owns the bytes; "" when empty */
const char *text_string(const struct text *text); /* borrowed, never NULL */

/* Decodes one code point at `at` (strict: no overlong forms, no surrogates); moves `at` on.
 * Returns -1 and does not move when the bytes there are not UTF-8; `end` is one past the last. */
int32_t text_decode(const char **at, const char *end);
bool text_is_utf8(const char *bytes, size_t length);
bool text_is_ascii(const char *bytes, size_t length);
/* How many bytes from the first on are printable ASCII but no quote or backslash. */
size_t text_plain_run(const char *bytes, size_t length);
size_t text_count(const char *bytes, size_t length); /* code points; bytes must be UTF-8 */

/* As much of it as the room takes, closed by a NUL. */
static inline void text_put(char *room, size_t room_bytes, const char *text)
{
    size_t length = strnlen(text, room_bytes - 1);

    memcpy(room, text, length);
    room[length] = '\0';
}
static inline const char *text_head(const char *text, size_t max, char *room) /* most + 1 bytes */
{
    text_put(room, max + 1, text);
    return room;
}
/* JSON's numbers have a point, whatever the locale of the program we are in writes there. */
enum { TEXT_REAL_BYTES = 40 };
void text_of_real(double number, char room[TEXT_REAL_BYTES]); /* so that it reads back the same */
const char *text_of_short(double number, char room[TEXT_REAL_BYTES]); /* as %g: six digits */
#define TEXT_SHORT(number) text_of_short(number, (char[TEXT_REAL_BYTES]){ 0 })
double text_parse_real(const char *number);

/* What stands at the {names} of a text: pairs of const char *, name and value, ended by NULL. */
enum { TEXT_MAX_PAIRS = 16 };
struct text_pairs {
    size_t count;
    struct text_pair {
        const char *name, *value;
        size_t name_bytes, value_bytes;
    } each[TEXT_MAX_PAIRS];
};
struct text_piece {
    const char *bytes;
    size_t length;
    bool is_value;
};
void text_read_pairs(struct text_pairs *ret_pairs, va_list arguments);
/* The next piece of a text whose names are filled in: its own words up to a name, or the value
 * there, which is the {name} itself if there is no such pair. Moves `at` on; false at the end. */
bool text_next_piece(const char **at, const struct text_pairs *pairs, struct text_piece *ret_piece);

/* Whole decimal integer, nothing before or behind it. */
bool text_parse_integer(const char *text, int64_t *ret_value);

uint32_t text_hash(const char *text); /* a short one, for words no client chooses */
/* Where a word stands among others; `count`: nowhere, or it is NULL. */
size_t text_index(const char *word, const char *const *words, size_t count);
static inline bool text_is_among(const char *word, const char *const *words, size_t count)
{
    return text_index(word, words, count) < count;
}

/* Plain bytes are printable ASCII that JSON writes as it is: neither a quote nor a backslash. The
 * search takes eight bytes at a time. It is for text.c and the code that reads and writes JSON. */

#define PLAIN_EACH 0x0101010101010101U
#define PLAIN_HIGH 0x8080808080808080U

/* A high bit in each byte that is not plain, and perhaps in some behind the first of those. */
static inline uint64_t plain_bytes_not(uint64_t eight)
{
    uint64_t low = (eight - PLAIN_EACH * 0x20) | ((eight ^ PLAIN_EACH * '"') - PLAIN_EACH) |
                   ((eight ^ PLAIN_EACH * '\\') - PLAIN_EACH); /* borrows where one is such */

    return ((low & ~eight) | eight | (eight + PLAIN_EACH)) & PLAIN_HIGH;
}

/* The first byte is the lowest, whatever the machine's order is. */
static inline uint64_t plain_bytes_eight(const char *bytes)
{
    uint64_t eight;

    memcpy(&eight, bytes, sizeof eight);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(eight) : eight;
}

/* The first byte that is not plain. There must be one, and seven more to read behind it. */
static inline char *plain_bytes_end(char *bytes)
{
    uint64_t found;

    while (!(found = plain_bytes_not(plain_bytes_eight(bytes))))
        bytes += sizeof found;
    return bytes + __builtin_ctzll(found) / 8;
}

#endif
