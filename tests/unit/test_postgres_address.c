/* test_postgres_address.c - what a PostgreSQL URL says, and that no password is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"

static void passwords_are_never_shown(void **state)
{
    static const char *const wrong[] = {
        "postgres://me:geheim@geheim@host/db",   "postgres://me:geheim/geheim@host/db",
        "postgres://me:geheim%zzgeheim@host/db", "postgres://me:geheim@host/db?geheim=geheim",
        "postgres://me:geheim geheim",           "postgres://me:geheim@[host/db",
        "postgres://me:geheim:geheim@ho st/db",
    };
    struct address *address;
    struct error err;
    char said[200];

    (void)state;
    if (!libpq_load(&err))
        skip();
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        err = (struct error){ 0 };
        assert_false(address_parse(wrong[i], &address, &err));
        assert_null(strstr(err.message, "geheim"));
        assert_non_null(strstr(err.message, "%40"));
    }
    assert_true(address_parse("postgres://me:ge%40heim@a.example,b.example:5433/db?sslmode=require",
                              &address, &err));
    assert_string_equal(address_shown(address), "postgres://me@a.example,b.example:,5433/db");
    address_clean(address, "no ge@heim \xff\nsecond line", said, sizeof said);
    assert_string_equal(said, "no *** ?");
    address_free(address);
}

static const char *value_of(const struct address_keywords *keywords, const char *name)
{
    const char *value = NULL;

    for (int i = 0; keywords->keywords[i]; i++) {
        if (strcmp(keywords->keywords[i], name) == 0)
            value = keywords->values[i];
    }
    return value;
}

static void what_is_wanted_of_connections_can_be_said_otherwise(void **state)
{
    char *numbers[] = { (char *)"10.0.0.1,10.0.0.2", (char *)"::1", NULL };
    struct address_keywords keywords;
    struct address *address;
    struct error err;

    (void)state;
    if (!libpq_load(&err))
        skip();
    assert_true(address_parse("postgres://a,b:5433/d?options=-csearch_path%3Dx&connect_timeout=9"
                              "&application_name=mine",
                              &address, &err));
    assert_string_equal(address_host(address, 0), "a");
    assert_string_equal(address_host(address, 1), "b");
    assert_null(address_host(address, 2));
    assert_int_equal(address_connect_ms(address), 9000);
    assert_true(address_keywords_init(address, numbers, 1, &keywords));
    assert_string_equal(value_of(&keywords, "host"), "b,a,a");
    assert_string_equal(value_of(&keywords, "hostaddr"), "::1,10.0.0.1,10.0.0.2");
    assert_string_equal(value_of(&keywords, "port"), "5433,,");
    assert_string_equal(value_of(&keywords, "application_name"), "mine");
    assert_string_equal(value_of(&keywords, "target_session_attrs"), "read-write");
    assert_non_null(strstr(value_of(&keywords, "options"), "statement_timeout=10s"));
    /* a plan that was made when a table was small is kept when it is large */
    assert_non_null(strstr(value_of(&keywords, "options"), "enable_seqscan=off"));
    assert_non_null(strstr(value_of(&keywords, "options"), " -csearch_path=x"));
    address_keywords_release(&keywords);
    address_drop_options(address);
    numbers[0] = NULL;
    assert_true(address_keywords_init(address, numbers, 0, &keywords));
    assert_string_equal(value_of(&keywords, "host"), "b");
    assert_null(value_of(&keywords, "options"));
    address_keywords_release(&keywords);
    numbers[1] = NULL;
    assert_false(address_keywords_init(address, numbers, 0, &keywords));
    address_free(address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_never_shown),
        cmocka_unit_test(what_is_wanted_of_connections_can_be_said_otherwise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
