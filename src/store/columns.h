/*
 * columns.h - which members of a struct are columns in SQL, and in which order. One list serves
 * both stores: for the values of a statement, for a row that is read, and for a copy that owns its
 * texts.
 */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H
#include <stddef.h>
#include <stdint.h>

struct column {
    enum column_kind {
        COLUMN_TEXT,   /* a pointer; NULL is NULL */
        COLUMN_FILLED, /* likewise, but NULL is written as "" */
        COLUMN_CHARS,  /* an array that ends with NUL */
        COLUMN_BYTES,  /* an array */
        COLUMN_HASH,   /* likewise; zero is NULL */
        COLUMN_NUMBER, /* int64_t, int or bool */
        COLUMN_BITS,   /* uint32_t */
        COLUMN_KEEP,   /* as COLUMN_NUMBER; STORE_KEEP is NULL */
        COLUMN_FIXED,  /* no member: its offset is the number */
    } kind;
    size_t offset, size;
};
#define COLUMN_OF(kind, type, member)                                                              \
    {                                                                                              \
        COLUMN_##kind, offsetof(type, member), sizeof(((type *)0)->member)                         \
    }

struct columns {
    const struct column *list;
    size_t count;
    size_t size; /* of the struct */
};

/* What is written of a member, or stands for a parameter of a statement. */
struct column_value {
    enum { VALUE_NULL, VALUE_TEXT, VALUE_BYTES, VALUE_NUMBER } kind;
    const char *bytes; /* of a text too; borrowed */
    size_t length;     /* of bytes */
    int64_t number;
};
static inline struct column_value value_text(const char *text) /* NULL is NULL */
{
    return (struct column_value){ .kind = text ? VALUE_TEXT : VALUE_NULL, .bytes = text };
}
static inline struct column_value value_number(int64_t number)
{
    return (struct column_value){ .kind = VALUE_NUMBER, .number = number };
}
static inline struct column_value value_bytes(const void *bytes, size_t length)
{
    return (struct column_value){ .kind = VALUE_BYTES, .bytes = bytes, .length = length };
}
/* Some values, and how many they are: two arguments. */
#define VALUES(...)                                                                                \
    (const struct column_value[]){ __VA_ARGS__ },                                                  \
        sizeof((struct column_value[]){ __VA_ARGS__ }) / sizeof(struct column_value)

struct column_value column_value(const struct column *column, const void *from);
/* What was read, into its member. */
void column_take_number(const struct column *column, int64_t number, void *out);
void column_take_text(const struct column *column, const char *borrowed, void *out);
/* Never more than the member takes: a damaged file may hold anything. NULL is fine. */
void column_take_bytes(const struct column *column, const void *bytes, size_t length, void *out);

int column_hex_byte(const char *two); /* what two hexadecimal digits say; -1: they are none */

/* Less than zero, zero or more, as strcmp; NULL is as "". */
int column_compare(const struct column *column, const void *left, const void *right);

/* The texts of `from`, with their ends. */
size_t columns_text_bytes(const struct columns *columns, const void *from);
/* Lets the texts of a copy be copies too, that lie behind each other from `room` on. */
void columns_copy_texts(const struct columns *columns, void *copy, char *room);

#endif
