/*
 * seal.h - texts that a client carries for us and can neither read nor change: ChaCha20-Poly1305,
 * "v1.KEY.…" in base64url (B6). What a seal is bound to is not in it, it must be said again to
 * open it: whose it is, which call. One answer for whatever is wrong with it.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"

enum {
    SEAL_SECRET_BYTES = 32,
    SEAL_TEXT_BYTES = 4096,    /* request_state_bytes of limits.json */
    SEAL_PAYLOAD_BYTES = 2048, /* sealed it stays below that */
    SEAL_KEYS = 16,            /* several hubs may make one at the same time */
};

struct seal_key {
    int64_t id; /* 1 and more */
    uint8_t secret[SEAL_SECRET_BYTES];
    int64_t created_ms;
};
/* The keys in force, newest first. */
struct seal_ring {
    struct seal_key keys[SEAL_KEYS];
    size_t count;
};
/* A key seals for 30 days; what it sealed can be opened for as long again, the longest an ask may
 * take, and a day. A new one is used when it is a minute old, unless there is none else: hubs that
 * share a store learn of each other's. None is added twice; the oldest may fall out. */
void seal_ring_add(struct seal_ring *ring, const struct seal_key *key);
bool seal_ring_is_stale(const struct seal_ring *ring, int64_t now_ms); /* time for a new key */

/* False: there is no key, or the payload is too long. */
bool seal_close(const struct seal_ring *ring, const struct hash_part *bound, size_t bound_count,
                int64_t now_ms, int64_t expires_ms, const void *payload, size_t length,
                struct text *out);
/* On true the payload is appended to *ret_payload. */
bool seal_open(const struct seal_ring *ring, const struct hash_part *bound, size_t bound_count,
               int64_t now_ms, const char *sealed, size_t length, struct text *ret_payload);

#endif
