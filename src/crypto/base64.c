/* base64.c - see base64.h. */
#include "crypto/base64.h"

#include <string.h>

#include "base/text.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64_encode(const uint8_t *bytes, size_t length, struct text *out)
{
    uint32_t held = 0;
    int bits = 0;

    for (size_t i = 0; i < length; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6)
            text_add_char(out, digits[held >> (bits - 6) & 63]);
    }
    if (bits > 0)
        text_add_char(out, digits[held << (6 - bits) & 63]);
}

bool base64_decode(const char *text, size_t length, uint8_t *out, size_t size, size_t *ret_length)
{
    uint32_t held = 0;
    int bits = 0;
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (!digit)
            return false;
        held = held << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        if (used == size)
            return false;
        out[used++] = (uint8_t)(held >> bits);
    }
    *ret_length = used;
    return bits < 6 && (held & ((1U << bits) - 1)) == 0;
}
