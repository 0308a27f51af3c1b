/*
 * test_seal.c - what a client carries for us: whole, by whom it was given to, for that call, in
 * time, or not at all.
 * Proves: B6, P14, R13.1 (keys rotate)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "base/seal.h"
#include "base/text.h"

static const int64_t NOW = 1800000000000;
static const int64_t HOUR_MS = 3600000;
static const int64_t DAY_MS = 86400000;

static const struct hash_part ours[] = { { "principal A", 11 }, { "tools/call {}", 13 } };
static const char payload[] = "{\"ask\":\"abcdefghijklmnopqrstuvwxyz\"}";

static void add_key(struct seal_ring *ring, int64_t id, int64_t created_ms)
{
    struct seal_key key = { .id = id, .created_ms = created_ms };

    random_bytes(key.secret, sizeof key.secret);
    seal_ring_add(ring, &key);
}

static void close_ours(const struct seal_ring *ring, int64_t now_ms, int64_t expires_ms,
                       struct text *out)
{
    text_clear(out);
    assert_true(seal_close(ring, ours, ARRAY_LEN(ours), now_ms, expires_ms, payload,
                           sizeof payload - 1, out));
}

static bool opens(const struct seal_ring *ring, const struct hash_part *bound, size_t count,
                  int64_t now_ms, const char *sealed, size_t length)
{
    struct text out = { 0 };
    bool ok = seal_open(ring, bound, count, now_ms, sealed, length, &out);

    if (ok)
        assert_string_equal(text_string(&out), payload);
    else
        assert_int_equal(out.used, 0); /* nothing of what is not vouched for gets out */
    text_release(&out);
    return ok;
}

static bool opens_ours(const struct seal_ring *ring, int64_t now_ms, const struct text *sealed)
{
    return opens(ring, ours, ARRAY_LEN(ours), now_ms, sealed->bytes, sealed->used);
}

static void test_round_trip(void **state)
{
    struct seal_ring ring = { 0 };
    struct text sealed = { 0 }, again = { 0 };

    (void)state;
    assert_false(seal_close(&ring, ours, ARRAY_LEN(ours), NOW, NOW + 1, "", 0, &sealed));
    add_key(&ring, 12, NOW);
    close_ours(&ring, NOW, NOW + HOUR_MS, &sealed);
    assert_memory_equal(sealed.bytes, "v1.12.", 6);
    assert_true(opens_ours(&ring, NOW, &sealed));
    close_ours(&ring, NOW, NOW + HOUR_MS, &again);
    assert_string_not_equal(text_string(&sealed), text_string(&again)); /* a nonce each */
    assert_null(strstr(text_string(&sealed), "abcdefgh"));
    text_release(&sealed);
    text_release(&again);
}

static void test_every_bit(void **state)
{
    struct seal_ring ring = { 0 };
    struct text sealed = { 0 };

    (void)state;
    for (int64_t id = 1; id <= SEAL_KEYS; id++)
        add_key(&ring, id, NOW);
    close_ours(&ring, NOW, NOW + HOUR_MS, &sealed);
    for (size_t bit = 0; bit < 8 * sealed.used; bit++) {
        sealed.bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (opens_ours(&ring, NOW, &sealed))
            fail_msg("bit %zu does not count", bit);
        sealed.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(opens_ours(&ring, NOW, &sealed));
    text_release(&sealed);
}

static void test_cut_and_stretched(void **state)
{
    struct seal_ring ring = { 0 };
    struct text sealed = { 0 };

    (void)state;
    add_key(&ring, 1, NOW);
    close_ours(&ring, NOW, NOW + HOUR_MS, &sealed);
    for (size_t length = 0; length < sealed.used; length++)
        assert_false(opens(&ring, ours, ARRAY_LEN(ours), NOW, sealed.bytes, length));
    for (const char *more = "A=.\n -_"; *more; more++) {
        text_add_char(&sealed, *more);
        assert_false(opens_ours(&ring, NOW, &sealed));
        sealed.bytes[--sealed.used] = '\0';
    }
    for (int i = 0; i < SEAL_TEXT_BYTES; i++)
        text_add_char(&sealed, 'A');
    assert_false(opens_ours(&ring, NOW, &sealed));
    text_release(&sealed);
}

static void test_bound(void **state)
{
    static const struct hash_part other_principal[] = { { "principal B", 11 },
                                                        { "tools/call {}", 13 } };
    static const struct hash_part other_call[] = { { "principal A", 11 }, { "tools/call []", 13 } };
    static const struct hash_part moved[] = { { "principal At", 12 }, { "ools/call {}", 12 } };
    struct seal_ring ring = { 0 }, stranger = { 0 };
    struct text sealed = { 0 };

    (void)state;
    add_key(&ring, 1, NOW);
    add_key(&stranger, 1, NOW);
    close_ours(&ring, NOW, NOW + HOUR_MS, &sealed);
    assert_false(opens(&ring, other_principal, 2, NOW, sealed.bytes, sealed.used));
    assert_false(opens(&ring, other_call, 2, NOW, sealed.bytes, sealed.used));
    assert_false(opens(&ring, moved, 2, NOW, sealed.bytes, sealed.used));
    assert_false(opens(&ring, ours, 1, NOW, sealed.bytes, sealed.used));
    assert_false(opens_ours(&stranger, NOW, &sealed)); /* same number, other secret */
    assert_true(opens_ours(&ring, NOW, &sealed));
    text_release(&sealed);
}

static void test_expiry(void **state)
{
    struct seal_ring ring = { 0 };
    struct text sealed = { 0 };

    (void)state;
    add_key(&ring, 1, NOW);
    close_ours(&ring, NOW, NOW + HOUR_MS, &sealed);
    assert_true(opens_ours(&ring, NOW + HOUR_MS - 1, &sealed));
    assert_false(opens_ours(&ring, NOW + HOUR_MS, &sealed));
    assert_false(opens_ours(&ring, NOW + 10 * DAY_MS, &sealed));
    text_release(&sealed);
}

static void test_rotation(void **state)
{
    struct seal_ring ring = { 0 };
    struct text old = { 0 }, new = { 0 };

    (void)state;
    assert_true(seal_ring_is_stale(&ring, NOW));
    add_key(&ring, 1, NOW);
    assert_false(seal_ring_is_stale(&ring, NOW + 30 * DAY_MS - 1));
    assert_true(seal_ring_is_stale(&ring, NOW + 30 * DAY_MS));
    assert_false(seal_ring_is_stale(&ring, NOW - DAY_MS)); /* the clock was set back */
    /* sealed in its last moment, for the longest ask there is */
    close_ours(&ring, NOW + 30 * DAY_MS - 1, NOW + 60 * DAY_MS, &old);
    add_key(&ring, 2, NOW + 30 * DAY_MS);
    close_ours(&ring, NOW + 30 * DAY_MS + 59999, NOW + 60 * DAY_MS, &new);
    assert_memory_equal(new.bytes, "v1.1.", 5); /* not every hub has the new one yet */
    assert_true(opens_ours(&ring, NOW + 60 * DAY_MS - 1, &new));
    close_ours(&ring, NOW + 30 * DAY_MS + 60000, NOW + 40 * DAY_MS, &new);
    assert_memory_equal(new.bytes, "v1.2.", 5);
    assert_true(opens_ours(&ring, NOW + 31 * DAY_MS, &old));
    assert_true(opens_ours(&ring, NOW + 60 * DAY_MS - 1, &old));
    assert_true(opens_ours(&ring, NOW + 31 * DAY_MS, &new));
    close_ours(&ring, NOW + 31 * DAY_MS, NOW + 400 * DAY_MS, &new);
    assert_true(opens_ours(&ring, NOW + 91 * DAY_MS - 1, &new));
    assert_false(opens_ours(&ring, NOW + 91 * DAY_MS, &new)); /* its key is too old */
    text_clear(&new);
    assert_false(seal_close(&ring, ours, 2, NOW + 91 * DAY_MS, NOW + 92 * DAY_MS, "", 0, &new));
    text_release(&old);
    text_release(&new);
}

static void test_ring_order(void **state)
{
    enum { LAST = SEAL_KEYS - 1 };
    struct seal_ring ring = { 0 };

    (void)state;
    for (int64_t id = 1; id <= LAST; id++)
        add_key(&ring, id, NOW + id);
    add_key(&ring, 99, NOW - 1); /* rows may come in any order */
    assert_int_equal(ring.count, SEAL_KEYS);
    assert_int_equal(ring.keys[0].id, LAST);
    assert_int_equal(ring.keys[LAST].id, 99);
    add_key(&ring, 98, NOW - 2);
    assert_int_equal(ring.keys[LAST].id, 99);
    add_key(&ring, 100, NOW + 100);
    assert_int_equal(ring.keys[0].id, 100);
    assert_int_equal(ring.keys[LAST].id, 1);
}

/* Who reads the store again finds what it has; none falls out for that. */
static void test_read_again(void **state)
{
    struct seal_ring ring = { 0 };
    struct text sealed = { 0 };

    (void)state;
    add_key(&ring, 1, NOW);
    add_key(&ring, 2, NOW + DAY_MS);
    close_ours(&ring, NOW + 2 * DAY_MS, NOW + 3 * DAY_MS, &sealed);
    for (int i = 0; i < SEAL_KEYS; i++) {
        add_key(&ring, 2, NOW + DAY_MS);
        add_key(&ring, 1, NOW);
    }
    assert_int_equal(ring.count, 2);
    assert_true(opens_ours(&ring, NOW + 2 * DAY_MS, &sealed));
    text_release(&sealed);
}

static void test_which_seals(void **state)
{
    static const struct {
        int64_t ages_ms[3]; /* of keys 1, 2, 3; -1: there is none */
        int64_t expected;
    } cases[] = {
        { { 0, -1, -1 }, 1 },                    /* there is none else */
        { { 10, 5, -1 }, 1 },                    /* of two hubs that started at the same time */
        { { 60000, 5, -1 }, 1 },                 /* the others may not have the other */
        { { DAY_MS, 60000, 5 }, 2 },             /* the newest that all have */
        { { 30 * DAY_MS, 60000, -1 }, 2 },       /* in its turn */
        { { 40 * DAY_MS, 5, -1 }, 2 },           /* we were away for long */
        { { 40 * DAY_MS, 10, 5 }, 2 },           /* all of us were */
        { { 60 * DAY_MS, -1, -1 }, 1 },          /* no other could be saved */
        { { 30 * DAY_MS, -DAY_MS + 1, -1 }, 1 }, /* the clock was set back */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct seal_ring ring = { 0 };
        struct text sealed = { 0 };
        char front[8];

        for (int key = 0; key < 3; key++) {
            if (cases[i].ages_ms[key] != -1)
                add_key(&ring, key + 1, NOW - cases[i].ages_ms[key]);
        }
        close_ours(&ring, NOW, NOW + HOUR_MS, &sealed);
        snprintf(front, sizeof front, "v1.%d.", (int)cases[i].expected);
        if (strncmp(sealed.bytes, front, strlen(front)) != 0)
            fail_msg("case %zu: %.6s", i, sealed.bytes);
        text_release(&sealed);
    }
}

static void test_sizes(void **state)
{
    static const char max[SEAL_PAYLOAD_BYTES + 1];
    struct seal_ring ring = { 0 };
    struct text sealed = { 0 }, out = { 0 };

    (void)state;
    add_key(&ring, INT64_MAX, NOW);
    assert_false(seal_close(&ring, ours, 2, NOW, NOW + 1, max, sizeof max, &sealed));
    assert_true(seal_close(&ring, ours, 2, NOW, NOW + 1, max, SEAL_PAYLOAD_BYTES, &sealed));
    assert_in_range(sealed.used, SEAL_PAYLOAD_BYTES, SEAL_TEXT_BYTES);
    assert_true(seal_open(&ring, ours, 2, NOW, sealed.bytes, sealed.used, &out));
    assert_int_equal(out.used, SEAL_PAYLOAD_BYTES);
    text_release(&sealed);
    text_release(&out);
}

static void test_rubbish(void **state)
{
    static const char *const fronts[] = { "",       "v1.",    "v1.1.",
                                          "v1.01.", "v1.+1.", "v2.1.",
                                          "v1..",   "v1.1",   "v1.99999999999999999999." };
    static const char digits[] = "AZaz09-_.=";
    struct seal_ring ring = { 0 };
    char sealed[160];

    (void)state;
    add_key(&ring, 1, NOW);
    for (int round = 0; round < 100000; round++) {
        uint8_t dice[128];
        size_t length, front;

        random_bytes(dice, sizeof dice);
        length = (size_t)snprintf(sealed, sizeof sealed, "%s", fronts[dice[0] % ARRAY_LEN(fronts)]);
        front = length;
        while (length < front + dice[1] % 120U) {
            uint8_t byte = dice[length - front + 2];

            sealed[length++] = dice[0] & 128 ? (char)byte : digits[byte % (sizeof digits - 1)];
        }
        assert_false(opens(&ring, ours, ARRAY_LEN(ours), NOW, sealed, length));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_cut_and_stretched),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_ring_order),
        cmocka_unit_test(test_read_again),
        cmocka_unit_test(test_which_seals),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rubbish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
