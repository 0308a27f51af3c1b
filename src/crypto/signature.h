/*
 * signature.h - whether a browser's key signed a text: ECDSA on P-256 with SHA-256 (FIPS 186-4), in
 * the forms of WebCrypto. Nettle behind it.
 */
#ifndef CRYPTO_SIGNATURE_H
#define CRYPTO_SIGNATURE_H
#include <stdbool.h>

/* Both in base64url: a point that isn't compressed, and r and s. False too where one is not that.
 */
bool signature_is_good(const char *key, const char *signature, const char *text);

#endif
