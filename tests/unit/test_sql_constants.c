/*
 * test_sql_constants.c - the SQL that databases hold word by word, and the names that stand in it
 * for numbers: what SQL says of a state is what core says.
 * Proves: R5.1, R9.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"
#include "postgres_fixture.h"
#include "store/postgres/schema.h"
#include "store/sql_constants.h"
#include "store/sqlite/statement.h"

/* Of what is sent to a database, less the comments. A released step never changes. Functions may,
 * but every database then makes them again, and hubs of two versions would each replace the
 * other's: another hash here is a decision. */
extern const char schema_open[], schema_drop[], schema_functions[], schema_step_1[],
    schema_step_2[], schema_step_3[], schema_step_4[], schema_step_5[];
static const struct {
    const char *name, *text, *hash;
} texts[] = {
    { "open", schema_open, "d2a081a227cb99d48aecf241bf00bea43e4e9f6c75f5ed68075e2be1ca98699e" },
    { "drop", schema_drop, "c8da941712aae008c0d85637e20c4949d38bfe380c5f3e0039eab5e63acceb51" },
    { "functions", schema_functions,
      "f9942b9666b3cee3a02f3b48b17d37dbb7bbef31e8d12f7c1d81eeeb9ed26324" },
    { "step_1", schema_step_1, "e530917304bbb490d1cbfbbbe0bab65d12d4d2ce7da0113e96b7401bc8c422cb" },
    { "step_2", schema_step_2, "f2fa0f2e3a5e9153eecaad8aa4f1304c5840177a19b199a46bb28dfbc862bb45" },
    { "step_3", schema_step_3, "84c9f30d6ad81a7baf7214a6fad6ac3dc7e811cdbf90b690ee1f67f20c2fb7a2" },
    { "step_4", schema_step_4, "0dcc3d6cc5beae1a9137c5ebda0baf1c6f7c35f05a28d63d3f75352877ecf7e8" },
    { "step_5", schema_step_5, "607a04e521cc485ae7cce2ca2f18d6a23af6026af9f42e970b9745909f7d4d0b" },
};

static bool is_as_it_was(const char *name, const char *text, const char *hash)
{
    uint8_t bytes[HASH_BYTES];
    char hex[HASH_HEX_BYTES];

    hash_bytes(text, strlen(text), bytes);
    hash_hex(bytes, HASH_BYTES, hex);
    if (strcmp(hex, hash) == 0)
        return true;
    print_message("%s is another text: its hash is %s\n", name, hex);
    return false;
}

static void test_what_databases_hold_stays(void **state)
{
    struct text all = { 0 };
    size_t same = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        same += is_as_it_was(texts[i].name, texts[i].text, texts[i].hash);
    postgres_schema_write(&all);
    same += is_as_it_was("the whole", text_string(&all),
                         "2f5db4b7f85ea49cea5991c2b4361e26767a954ecdd8073aedc7e14782d9e3cc");
    text_release(&all);
    assert_int_equal(same, ARRAY_LEN(texts) + 1);
}

static void assert_is(const char *sql, int64_t number)
{
    char room[TEXT_INTEGER_BYTES];

    assert_string_equal(sql, text_of_integer(number, room));
}

static void test_names_stand_for_numbers(void **state)
{
    (void)state;
#define STATE(id, number, name, kind) assert_is(SQL_STATE_##id, STATE_##id);
#include "core/states.def"
#undef STATE
#define EVENT(id, number, name) assert_is(SQL_EVENT_##id, EVENT_##id);
#include "core/events.def"
#undef EVENT
#define ASK_FLAG(id, number) assert_is(SQL_ASK_##id, ASK_##id);
#include "core/ask_flags.def"
#undef ASK_FLAG
    assert_is(SQL_ASK_TOLD_OR_HEARD, ASK_TOLD | ASK_HEARD);
}

/* An answer by a rule or by defaults is not a person's, but it is an answer. */
static bool is_by_nobody(enum ask_state state)
{
    return state_is_over(state) && !state_is_decided_by_person(state) &&
           state != STATE_AUTO_SUBMITTED;
}

static const struct predicate {
    const char *sql; /* of k.state */
    bool (*holds)(enum ask_state state);
} predicates[] = {
    { "k.state " SQL_IS_OPEN, state_is_open },
    { "k.state " SQL_IS_OVER, state_is_over },
    { "k.state " SQL_BY_PERSON, state_is_decided_by_person },
    { SQL_EACH_BY_PERSON("k.state"), state_is_decided_by_person },
    { "k.state " SQL_BY_NOBODY, is_by_nobody },
};

/* STATE_NEW is stored nowhere: to SQL it is open. */
static void for_each_state(int64_t (*ask)(void *context, const char *sql), void *context)
{
    for (size_t i = 0; i < ARRAY_LEN(predicates); i++) {
        for (int state = STATE_NEW + 1; state < STATE_COUNT; state++) {
            char *sql = mem_format("SELECT count(*) FROM (SELECT %d AS state) AS k WHERE %s", state,
                                   predicates[i].sql);

            if (ask(context, sql) != predicates[i].holds((enum ask_state)state))
                fail_msg("core says otherwise: %s", sql);
            free(sql);
        }
    }
}

static int64_t ask_sqlite(void *context, const char *sql)
{
    int64_t number = -1;

    assert_int_equal(statement_number(context, sql, &number), SQLITE_OK);
    return number;
}

static int64_t ask_postgres(void *context, const char *sql)
{
    return postgres_number(context, sql);
}

static void test_sqlite_says_what_core_says(void **state)
{
    sqlite3 *db = NULL;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for_each_state(ask_sqlite, db);
    sqlite3_close(db);
}

static void test_postgres_says_what_core_says(void **state)
{
    char url[POSTGRES_URL_BYTES];

    (void)state;
    if (!postgres_is_there())
        skip();
    postgres_create(url);
    for_each_state(ask_postgres, url);
    postgres_drop(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_databases_hold_stays),
        cmocka_unit_test(test_names_stand_for_numbers),
        cmocka_unit_test(test_sqlite_says_what_core_says),
        cmocka_unit_test(test_postgres_says_what_core_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
