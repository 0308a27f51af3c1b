/* webhook.c - see webhook.h. */
#include "crypto/webhook.h"

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"

enum { SECRET_BYTES = 32, SECRET_CHARS = BASE64_ENCODE_RAW_LENGTH(SECRET_BYTES), MOST_BYTES = 256 };
static const char prefix[] = "whsec_";

static void add_base64(const uint8_t *bytes, size_t length, struct text *out)
{
    char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];

    base64_encode_raw(encoded, length, bytes);
    text_add(out, encoded, BASE64_ENCODE_RAW_LENGTH(length));
}

void webhook_make_secret(struct text *out)
{
    uint8_t secret[SECRET_BYTES];

    random_bytes(secret, sizeof secret);
    text_add_text(out, prefix);
    add_base64(secret, sizeof secret, out);
    explicit_bzero(secret, sizeof secret);
}

static bool read_secret(const char *text, uint8_t out[MOST_BYTES], size_t *ret_length)
{
    struct base64_decode_ctx context;
    size_t length = MOST_BYTES;

    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    text += sizeof prefix - 1;
    if (strlen(text) < SECRET_CHARS / 2 || BASE64_DECODE_LENGTH(strlen(text)) > MOST_BYTES)
        return false;
    base64_decode_init(&context);
    if (!base64_decode_update(&context, &length, out, strlen(text), text) ||
        !base64_decode_final(&context))
        return false;
    *ret_length = length;
    return true;
}

bool webhook_sign(const char *secret, const char *id, int64_t time_s, const char *body,
                  size_t length, struct text *out)
{
    uint8_t key[MOST_BYTES], digest[SHA256_DIGEST_SIZE];
    struct hmac_sha256_ctx context;
    struct text front = { 0 };
    size_t key_length;

    if (!read_secret(secret, key, &key_length))
        return false;
    text_add_format(&front, "%s.%lld.", id, (long long)time_s);
    hmac_sha256_set_key(&context, key_length, key);
    hmac_sha256_update(&context, front.used, (const uint8_t *)front.bytes);
    hmac_sha256_update(&context, length, (const uint8_t *)body);
    hmac_sha256_digest(&context, sizeof digest, digest);
    text_add_text(out, "v1,");
    add_base64(digest, sizeof digest, out);
    explicit_bzero(key, sizeof key);
    explicit_bzero(&context, sizeof context);
    text_release(&front);
    return true;
}
