/* base64.h - base64url without padding (RFC 4648, 5): for secrets and seals in texts. */
#ifndef CRYPTO_BASE64_H
#define CRYPTO_BASE64_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

void base64_encode(const uint8_t *bytes, size_t length, struct text *out);
/* Exactly what base64_encode writes: no blanks, no padding, no spare bits, so that two different
 * texts never mean the same bytes. False also where it would be more than `size` bytes. */
bool base64_decode(const char *text, size_t length, uint8_t *out, size_t size, size_t *ret_length);

#endif
