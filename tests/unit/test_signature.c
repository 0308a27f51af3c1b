/* What a browser's key signed, and what it did not (base/crypto.h). Proves: R12.2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"

/* Made by WebCrypto. */
static const char key[] =
    "BBK5DDz09dxHnaKcyIpR5BS4SyTZx4HkBnrNVLa8HtsY0VsUv8twARIwwzswkLwMeA6bcTA185Z7k7slE31h8Oc";
static const char signature[] =
    "-_IThEYuywOQ-PRpTQUy-bspxC9zP9EAR5M0CyeM55mAUNtO5zZAHkEPNBjVAfOald731Jd5XLAac6EFM7MCAg";
static const char text[] = "sayso browser 7297 abcdefghijklmnopqrstuvwxyz";
static const char other_key[] =
    "BHs5am5sz0heYOhWPPETuKddy01GsnP1wjhxpVwyl7qfSKiQL5i6prkv6NjR-Xa_fPYjWUHul-fPK0Iaqt1BKgU";
static const char off_the_curve[] =
    "BBK5DDz09dxHnaKcyIpR5BS4SyTZx4HkBnrNVLa8HtsY0VsUv8twARMwwzswkLwMeA6bcTA185Z7k7slE31h8Oc";

static void test_good(void **state)
{
    (void)state;
    assert_true(signature_is_good(key, signature, text));
}

static void test_another_text_or_key(void **state)
{
    (void)state;
    assert_false(
        signature_is_good(key, signature, "sayso browser 7298 abcdefghijklmnopqrstuvwxyz"));
    assert_false(signature_is_good(key, signature, "sayso browser 7297 abcdefghijklmnopqrstuvwxy"));
    assert_false(signature_is_good(key, signature, ""));
    assert_false(signature_is_good(other_key, signature, text));
}

static void test_every_changed_character(void **state)
{
    char changed[sizeof signature];

    (void)state;
    for (size_t i = 0; i < sizeof signature - 1; i++) {
        memcpy(changed, signature, sizeof changed);
        changed[i] = changed[i] == 'Q' ? 'g' : 'Q';
        assert_false(signature_is_good(key, changed, text));
    }
}

static void test_no_keys(void **state)
{
    static const char *const keys[] = {
        "",
        "B",
        "not base64url!",
        off_the_curve,
        /* all zero; the point at infinity; compressed; one byte more or less */
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "BP___________________________________________________________________________________38",
        "AhK5DDz09dxHnaKcyIpR5BS4SyTZx4HkBnrNVLa8HtsY",
        "BBK5DDz09dxHnaKcyIpR5BS4SyTZx4HkBnrNVLa8HtsY0VsUv8twARIwwzswkLwMeA6bcTA185Z7k7slE31h8OcA",
        "BBK5DDz09dxHnaKcyIpR5BS4SyTZx4HkBnrNVLa8HtsY0VsUv8twARIwwzswkLwMeA6bcTA185Z7k7slE31h8A",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        assert_false(signature_is_good(keys[i], signature, text));
}

static void test_no_signatures(void **state)
{
    static const char *const signatures[] = {
        "",
        "AA",
        "-_IThEYuywOQ-PRpTQUy-bspxC9zP9EAR5M0CyeM55k",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "_____________________________________________________________________________________w",
        "-_IThEYuywOQ-PRpTQUy-bspxC9zP9EAR5M0CyeM55mAUNtO5zZAHkEPNBjVAfOald731Jd5XLAac6EFM7MCAgAA",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(signatures); i++)
        assert_false(signature_is_good(key, signatures[i], text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_another_text_or_key),
        cmocka_unit_test(test_every_changed_character),
        cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_no_signatures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
