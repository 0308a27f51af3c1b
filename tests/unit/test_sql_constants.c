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
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "store/postgres/schema.h"

/* Of what is sent to a database, less the comments. A released step never changes. Functions may,
 * but every database makes them anew then, and hubs of two versions would do so in turn: another
 * hash here is a decision. */
extern const char schema_open[], schema_drop[], schema_functions[], schema_step_1[],
    schema_step_2[], schema_step_3[], schema_step_4[];
static const struct {
    const char *name, *text, *hash;
} texts[] = {
    { "open", schema_open, "8ab9b473c8467a299f7d77dbdb816500af4579e02eade3b755c20c537ac7cc66" },
    { "drop", schema_drop, "c8da941712aae008c0d85637e20c4949d38bfe380c5f3e0039eab5e63acceb51" },
    { "functions", schema_functions,
      "53ed7c8e75781b3a60c831aeb309bf4a8ce6feb6a515a3d255fc23e36b49c4f1" },
    { "step_1", schema_step_1, "e530917304bbb490d1cbfbbbe0bab65d12d4d2ce7da0113e96b7401bc8c422cb" },
    { "step_2", schema_step_2, "f2fa0f2e3a5e9153eecaad8aa4f1304c5840177a19b199a46bb28dfbc862bb45" },
    { "step_3", schema_step_3, "84c9f30d6ad81a7baf7214a6fad6ac3dc7e811cdbf90b690ee1f67f20c2fb7a2" },
    { "step_4", schema_step_4, "0dcc3d6cc5beae1a9137c5ebda0baf1c6f7c35f05a28d63d3f75352877ecf7e8" },
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
                         "06bacd456786d914fb91562889c15037c97e4cccc3bfe7c36ce24229bd25d1d7");
    text_release(&all);
    assert_int_equal(same, ARRAY_LEN(texts) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_databases_hold_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
