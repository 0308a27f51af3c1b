/*
 * test_settings_address.c - the password in an address is never shown with the settings.
 * Proves: R8.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "settings_fixture.h"

#include <string.h>

#include "base/json_writer.h"

static void the_password_of_an_address_is_not_shown(void **state)
{
    static const struct {
        const char *given, *shown;
    } cases[] = {
        { "postgres://me:a%3Ab@host/db", "\"postgres://me:****@host/db\"" },
        { "postgres://me:p:q@r@host:5432/db?x=1", "\"postgres://me:****@host:5432/db?x=1\"" },
        { "postgres://me@host:5432/db", "\"postgres://me@host:5432/db\"" },
        { "postgres://host:5432/db", "\"postgres://host:5432/db\"" },
        { "postgres://host/db?user=me&password=a%26b&sslmode=require",
          "\"postgres://host/db?user=me&password=****&sslmode=require\"" },
        { "postgres://host/db?PassWord=a", "\"postgres://host/db?PassWord=****\"" },
        { "postgres://host/db?p%61ssword=a&sslpassword=b",
          "\"postgres://host/db?p%61ssword=****&sslpassword=****\"" },
    };
    struct settings *settings = ((struct place *)*state)->settings;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text out = { 0 };
        struct json_writer writer = json_writer_to(&out);

        assert_true(settings_put_saved(settings, "store", cases[i].given));
        settings_write(settings, SETTING_STORE, &writer, NULL);
        assert_string_equal(text_string(&out), cases[i].shown);
        text_release(&out);
    }
}

/* What was shown is not what was meant: who pastes it, or edits around it, is told so. */
static void stars_are_no_password(void **state)
{
    static const char *const refused[] = { "postgres://me:****@host/db",
                                           "postgres://host/db?password=****&sslmode=require" };
    static const char *const taken[] = { "postgres://me:*****@host/db", "postgres://me@host/db",
                                         "postgres://host/****", "" };
    struct setting_value value = { 0 };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_false(settings_parse(SETTING_STORE, refused[i], &value, &err));
        assert_int_equal(err.code, ERROR_bad_format);
        assert_string_equal(err.path, "/store");
        assert_non_null(strstr(err.message, ".pgpass"));
    }
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        assert_true(settings_parse(SETTING_STORE, taken[i], &value, &err));
        setting_value_release(&value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_password_of_an_address_is_not_shown),
        CASE(stars_are_no_password),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
