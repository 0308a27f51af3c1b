/*
 * webhook.h - signs what is sent to an address, so that who gets it knows from whom it is: the
 * scheme of standardwebhooks.com, HMAC-SHA256 over "id.timestamp.body".
 */
#ifndef CRYPTO_WEBHOOK_H
#define CRYPTO_WEBHOOK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

void webhook_make_secret(struct text *out); /* "whsec_" and 32 bytes as base64 */
/* "v1," and the signature as base64; false: that is no secret. */
bool webhook_sign(const char *secret, const char *id, int64_t time_s, const char *body,
                  size_t length, struct text *out);

#endif
