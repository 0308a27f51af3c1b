/*
 * plain_bytes.h - printable ASCII that JSON writes as it is, neither a quote nor a backslash,
 * looked for in eight bytes at once; for text.c and those who read and write JSON.
 */
#ifndef BASE_PLAIN_BYTES_H
#define BASE_PLAIN_BYTES_H
#include <stdint.h>
#include <string.h>

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
