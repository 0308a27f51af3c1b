#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

void random_bytes(void *out, size_t length)
{
    char *at = out;

    while (length > 0) {
        ssize_t got = getrandom(at, length, 0);

        if (got < 0 && errno != EINTR)
            abort(); /* an id that can be guessed is worse than none */
        if (got > 0) {
            at += got;
            length -= (size_t)got;
        }
    }
}

/* A call to the system fetches enough for several ids; what is used is wiped. The process must not
 * fork and go on making ids in both; only the hub makes them, and it does not. */
void random_id(char out[27])
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    static _Thread_local uint8_t pool[26 * 16];
    static _Thread_local size_t left;

    if (left == 0) {
        random_bytes(pool, sizeof pool);
        left = sizeof pool;
    }
    for (int i = 0; i < 26; i++) {
        out[i] = alphabet[pool[--left] & 31];
        pool[left] = 0;
    }
    out[26] = '\0';
}

void random_digits(char *out, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint8_t byte;

        random_bytes(&byte, 1);
        if (byte < 250) /* no digit more likely than another */
            out[i++] = (char)('0' + byte % 10);
    }
    out[n] = '\0';
}
