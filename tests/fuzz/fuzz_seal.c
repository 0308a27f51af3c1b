/*
 * fuzz_seal.c - what a client may send back as requestState: nothing opens but what was sealed, as
 * it was sealed, whole and by the same key.
 * Proves: P14, B6
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/seal.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t NOW = 1800000000000;
static const struct hash_part bound[] = { { "principal", 9 }, { "call", 4 } };

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static bool opens(const struct seal_ring *ring, const char *sealed, size_t length,
                  struct text *payload)
{
    text_clear(payload);
    return seal_open(ring, bound, 2, NOW, sealed, length, payload);
}

/* The input seals, and then says where the seal is damaged and how. */
static void check_round_trip(const struct seal_ring *ring, const uint8_t *data, size_t size)
{
    struct text sealed = { 0 }, payload = { 0 };
    size_t at;

    demand(seal_close(ring, bound, 2, NOW, NOW + 1, data, size, &sealed) ==
           (size <= SEAL_PAYLOAD_BYTES));
    if (size > 0 && size <= SEAL_PAYLOAD_BYTES) {
        demand(sealed.used <= SEAL_TEXT_BYTES);
        demand(opens(ring, sealed.bytes, sealed.used, &payload));
        demand(payload.used == size && memcmp(payload.bytes, data, size) == 0);
        at = (data[0] | (size_t)data[size - 1] << 8) % sealed.used;
        if (data[size / 2] != 0) {
            sealed.bytes[at] = (char)(sealed.bytes[at] ^ data[size / 2]);
            demand(!opens(ring, sealed.bytes, sealed.used, &payload) && payload.used == 0);
        }
        demand(!opens(ring, sealed.bytes, at, &payload));
    }
    text_release(&sealed);
    text_release(&payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seal_ring ring = { 0 };
    struct text payload = { 0 };

    for (int64_t id = 1; id <= 2; id++) {
        struct seal_key key = { .id = id, .created_ms = NOW };

        memset(key.secret, (int)id, sizeof key.secret);
        seal_ring_add(&ring, &key);
    }
    demand(!opens(&ring, (const char *)data, size, &payload)); /* 128 bits are not guessed */
    text_release(&payload);
    check_round_trip(&ring, data, size);
    return 0;
}
