/*
 * test_webhook.c - signatures as the scheme publishes them.
 * Proves: R6.6 (whom a message is from)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/crypto.h"
#include "base/text.h"

static void test_the_published_example(void **state)
{
    static const char body[] = "{\"test\": 2432232314}";
    struct text out = { 0 };

    (void)state;
    assert_true(webhook_sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                             "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, strlen(body), &out));
    assert_string_equal(text_string(&out), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    text_release(&out);
}

static void test_secrets(void **state)
{
    static const char *const bad[] = { "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                                       "whsec_short", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa*w" };
    struct text first = { 0 }, second = { 0 }, out = { 0 };

    (void)state;
    webhook_make_secret(&first);
    webhook_make_secret(&second);
    assert_string_not_equal(text_string(&first), text_string(&second));
    assert_true(webhook_sign(text_string(&first), "a", 1, "x", 1, &out));
    text_clear(&out);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(webhook_sign(bad[i], "a", 1, "x", 1, &out));
        assert_int_equal(out.used, 0);
    }
    text_release(&first);
    text_release(&second);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_example),
        cmocka_unit_test(test_secrets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
