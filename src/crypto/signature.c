/* signature.c - see signature.h. */
#include "crypto/signature.h"

#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/sha2.h>
#include <string.h>

#include "crypto/base64.h"
#include "crypto/hash.h"

enum { NUMBER_BYTES = 32, KEY_BYTES = 65, SIGNATURE_BYTES = 64, UNCOMPRESSED = 4 };

static bool read_exactly(const char *text, uint8_t *out, size_t size)
{
    size_t length = 0;

    return base64_decode(text, strlen(text), out, size, &length) && length == size;
}

static void read_numbers(const uint8_t *bytes, mpz_t ret_first, mpz_t ret_second)
{
    mpz_import(ret_first, NUMBER_BYTES, 1, 1, 1, 0, bytes);
    mpz_import(ret_second, NUMBER_BYTES, 1, 1, 1, 0, bytes + NUMBER_BYTES);
}

/* False: it isn't on the curve. */
static bool read_key(const char *key, struct ecc_point *out)
{
    uint8_t bytes[KEY_BYTES];
    mpz_t x, y;
    bool ok = read_exactly(key, bytes, sizeof bytes) && bytes[0] == UNCOMPRESSED;

    mpz_inits(x, y, NULL);
    if (ok) {
        read_numbers(bytes + 1, x, y);
        ok = ecc_point_set(out, x, y) != 0;
    }
    mpz_clears(x, y, NULL);
    return ok;
}

bool signature_is_good(const char *key, const char *signature, const char *text)
{
    uint8_t bytes[SIGNATURE_BYTES], digest[HASH_BYTES];
    struct sha256_ctx context;
    struct dsa_signature signed_as;
    struct ecc_point point;
    bool ok;

    sha256_init(&context);
    sha256_update(&context, strlen(text), (const uint8_t *)text);
    sha256_digest(&context, sizeof digest, digest);
    ecc_point_init(&point, nettle_get_secp_256r1());
    dsa_signature_init(&signed_as);
    ok = read_key(key, &point) && read_exactly(signature, bytes, sizeof bytes);
    if (ok) {
        read_numbers(bytes, signed_as.r, signed_as.s);
        ok = ecdsa_verify(&point, sizeof digest, digest, &signed_as) != 0;
    }
    dsa_signature_clear(&signed_as);
    ecc_point_clear(&point);
    return ok;
}
