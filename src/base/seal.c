/* seal.c - see seal.h. Inside, in front of the payload: the moment it expires, 8 bytes. */
#include "base/seal.h"

#include <inttypes.h>
#include <nettle/chacha-poly1305.h>
#include <string.h>

#include "base/crypto.h"
#include "base/random.h"
#include "base/text.h"

enum {
    EXPIRY_BYTES = 8,
    AROUND_BYTES = CHACHA_POLY1305_NONCE_SIZE + EXPIRY_BYTES + CHACHA_POLY1305_DIGEST_SIZE,
    BOX_BYTES = AROUND_BYTES + SEAL_PAYLOAD_BYTES,
    MAX_BOUND = 8,
};
static const char version[] = "v1";
static const int64_t DAY_MS = 86400000;
static const int64_t SEALS_DAYS = 30;
static const int64_t OPENS_DAYS = 61;
static const int64_t SETTLES_MS = 60000; /* until then another hub may not have it yet */

void seal_ring_add(struct seal_ring *ring, const struct seal_key *key)
{
    size_t at = ring->count;

    for (size_t i = 0; i < ring->count; i++) {
        if (ring->keys[i].id == key->id)
            return;
    }
    if (at == SEAL_KEYS && ring->keys[SEAL_KEYS - 1].created_ms > key->created_ms)
        return;
    if (at == SEAL_KEYS)
        at--;
    else
        ring->count++;
    for (; at > 0 && ring->keys[at - 1].created_ms <= key->created_ms; at--)
        ring->keys[at] = ring->keys[at - 1];
    ring->keys[at] = *key;
}

/* The wall clock may be set back: a key from the future is as good as one of today. */
bool seal_ring_is_stale(const struct seal_ring *ring, int64_t now_ms)
{
    return ring->count == 0 || now_ms - ring->keys[0].created_ms >= SEALS_DAYS * DAY_MS;
}

static const struct seal_key *find_key(const struct seal_ring *ring, int64_t id, int64_t now_ms)
{
    for (size_t i = 0; i < ring->count; i++) {
        if (ring->keys[i].id == id && now_ms - ring->keys[i].created_ms < OPENS_DAYS * DAY_MS)
            return &ring->keys[i];
    }
    return NULL;
}

/* To seal with: the newest that every hub has had time to learn of, as long as what it seals can be
 * opened for the longest time; else the first of those that are new. */
static const struct seal_key *pick(const struct seal_ring *ring, int64_t now_ms)
{
    const struct seal_key *found = NULL;

    for (size_t i = 0; i < ring->count; i++) {
        int64_t age_ms = now_ms - ring->keys[i].created_ms;

        if (age_ms >= (SEALS_DAYS + 1) * DAY_MS && found)
            return found;
        found = find_key(ring, ring->keys[i].id, now_ms);
        if (age_ms >= SETTLES_MS)
            return found;
    }
    return found;
}

/* Everything the box is bound to goes in as one digest: version, key, and what the caller says. */
static bool begin(struct chacha_poly1305_ctx *context, const struct seal_key *key,
                  const struct hash_part *bound, size_t bound_count, const uint8_t *nonce)
{
    struct hash_part parts[MAX_BOUND + 2] = { { version, sizeof version },
                                              { &key->id, sizeof key->id } };
    uint8_t digest[HASH_BYTES];

    if (bound_count > MAX_BOUND)
        return false;
    memcpy(parts + 2, bound, bound_count * sizeof *bound);
    hash_parts(parts, bound_count + 2, digest);
    chacha_poly1305_set_key(context, key->secret);
    chacha_poly1305_set_nonce(context, nonce);
    chacha_poly1305_update(context, sizeof digest, digest);
    return true;
}

bool seal_close(const struct seal_ring *ring, const struct hash_part *bound, size_t bound_count,
                int64_t now_ms, int64_t expires_ms, const void *payload, size_t length,
                struct text *out)
{
    uint8_t inside[EXPIRY_BYTES + SEAL_PAYLOAD_BYTES], box[BOX_BYTES];
    size_t used = EXPIRY_BYTES + length;
    const struct seal_key *key = pick(ring, now_ms);
    struct chacha_poly1305_ctx context;

    if (!key || length > SEAL_PAYLOAD_BYTES)
        return false;
    memcpy(inside, &expires_ms, EXPIRY_BYTES);
    memcpy(inside + EXPIRY_BYTES, payload, length);
    random_bytes(box, CHACHA_POLY1305_NONCE_SIZE);
    if (!begin(&context, key, bound, bound_count, box))
        return false;
    chacha_poly1305_encrypt(&context, used, box + CHACHA_POLY1305_NONCE_SIZE, inside);
    used += CHACHA_POLY1305_NONCE_SIZE;
    chacha_poly1305_digest(&context, CHACHA_POLY1305_DIGEST_SIZE, box + used);
    text_add_format(out, "%s.%" PRId64 ".", version, key->id);
    base64_encode(box, used + CHACHA_POLY1305_DIGEST_SIZE, out);
    return true;
}

/* "v1.12." in front, exactly as seal_close writes it. Returns its length; 0: it is not. */
static size_t read_front(const char *sealed, size_t length, int64_t *ret_id)
{
    char number[24] = "";
    size_t begins = strlen(version) + 1;
    const char *dot;

    if (length <= begins || memcmp(sealed, version, begins - 1) != 0 || sealed[begins - 1] != '.')
        return 0;
    dot = memchr(sealed + begins, '.', length - begins);
    if (!dot || (size_t)(dot - sealed) - begins >= sizeof number || sealed[begins] < '1' ||
        sealed[begins] > '9')
        return 0;
    memcpy(number, sealed + begins, (size_t)(dot - sealed) - begins);
    return text_parse_integer(number, ret_id) ? (size_t)(dot - sealed) + 1 : 0;
}

bool seal_open(const struct seal_ring *ring, const struct hash_part *bound, size_t bound_count,
               int64_t now_ms, const char *sealed, size_t length, struct text *ret_payload)
{
    uint8_t box[BOX_BYTES], inside[BOX_BYTES], digest[CHACHA_POLY1305_DIGEST_SIZE];
    int64_t id = 0, expires_ms;
    size_t front = length <= SEAL_TEXT_BYTES ? read_front(sealed, length, &id) : 0, used;
    const struct seal_key *key = front ? find_key(ring, id, now_ms) : NULL;
    struct chacha_poly1305_ctx context;

    if (!key || !base64_decode(sealed + front, length - front, box, sizeof box, &used) ||
        used < AROUND_BYTES || !begin(&context, key, bound, bound_count, box))
        return false;
    used -= CHACHA_POLY1305_NONCE_SIZE + CHACHA_POLY1305_DIGEST_SIZE;
    chacha_poly1305_decrypt(&context, used, inside, box + CHACHA_POLY1305_NONCE_SIZE);
    chacha_poly1305_digest(&context, sizeof digest, digest);
    if (!hash_same(digest, box + CHACHA_POLY1305_NONCE_SIZE + used, sizeof digest))
        return false;
    memcpy(&expires_ms, inside, EXPIRY_BYTES);
    if (now_ms >= expires_ms)
        return false;
    text_add(ret_payload, (const char *)inside + EXPIRY_BYTES, used - EXPIRY_BYTES);
    return true;
}
