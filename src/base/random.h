/* random.h - from the kernel, never guessable. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H
#include <stddef.h>

void random_bytes(void *out, size_t length);
void random_id(char out[27]);            /* 26 of a-z2-7: 130 random bits */
void random_digits(char *out, size_t n); /* n decimal digits and a NUL */

#endif
