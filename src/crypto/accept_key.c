/* accept_key.c - see accept_key.h. */
#include "crypto/accept_key.h"

#include <nettle/base64.h>
#include <nettle/sha1.h>
#include <string.h>

void accept_key(const char *key, char out[ACCEPT_KEY_BYTES])
{
    static const char constant[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    uint8_t digest[SHA1_DIGEST_SIZE];
    struct sha1_ctx context;

    sha1_init(&context);
    sha1_update(&context, strlen(key), (const uint8_t *)key);
    sha1_update(&context, strlen(constant), (const uint8_t *)constant);
    sha1_digest(&context, sizeof digest, digest);
    base64_encode_raw(out, sizeof digest, digest);
    out[ACCEPT_KEY_BYTES - 1] = '\0';
}
