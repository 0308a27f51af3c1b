/*
 * schema.c - see schema.h; the SQL is in sql/. Released steps are never edited, only followed by
 * new ones. Functions are made anew whenever their text is another one than the database has.
 */
#include "store/postgres/schema.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "ports/store.h"
#include "store/row.h"

_Static_assert(STORE_DONE == 0 && STORE_LOST == 1 && STORE_REPEATED == 2 && STORE_MISSING == 3,
               "the functions return them by number");
_Static_assert(STORE_PAST_DEADLINE == 1 && STORE_BEFORE_DELIVERY == 2 && STORE_ABANDONED == 3,
               "sayso_change knows them");

/* Made of sql/ by tools/bundle_sql. */
extern const char schema_open[], schema_drop[], schema_functions[], schema_step_1[],
    schema_step_2[], schema_step_3[], schema_step_4[];

static const char *const steps[] = { schema_step_1, schema_step_2, schema_step_3, schema_step_4 };

/* What stands for the columns of struct store_row in the functions. */
#define TYPE_CHARS                     "text"
#define TYPE_TEXT                      "text"
#define TYPE_BYTES                     "bytea"
#define TYPE_NUMBER                    "bigint"
#define COLUMN_TYPE(sql, kind, member) "\"" sql "\" " TYPE_##kind ", "
static const struct {
    const char *mark, *text;
} marks[] = {
    { "@ROW_WHOLE@", ROW_WHOLE },
    { "@ROW_TYPES@",
      ROW_ASK_COLUMNS(COLUMN_TYPE) ROW_LONG_COLUMNS(COLUMN_TYPE) ROW_ANSWER_COLUMNS(COLUMN_TYPE) },
};

static const struct {
    const char *sqlstate, *remedy;
} refusals[] = {
    { "SY001", "it was written by a later sayso: use that one, or a newer one" },
    { "SY002", "it holds somebody else's tables: give sayso a database of its own, or a schema "
               "(options=-csearch_path=NAME)" },
    { "SY003", "its tables and its version do not belong together: restore it from a backup" },
    { "SY004", "create the database with ENCODING 'UTF8'" },
    { "SY005", "PostgreSQL 13 or later is needed" },
    { "SY006", "no schema that it names is there: create it, or name another" },
};

int postgres_schema_version(void)
{
    return (int)ARRAY_LEN(steps);
}

bool postgres_schema_refused(const char *sqlstate, const char *message, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (strcmp(sqlstate, refusals[i].sqlstate) != 0)
            continue;
        error_set(err, ERROR_storage_failed, "", "the database cannot be used (%s): %s", message,
                  refusals[i].remedy);
        return true;
    }
    return false;
}

static void write_marked(const char *sql, struct text *out)
{
    for (const char *at; (at = strchr(sql, '@')); sql = at) {
        size_t i = 0;

        while (i < ARRAY_LEN(marks) && strncmp(at, marks[i].mark, strlen(marks[i].mark)) != 0)
            i++;
        text_add(out, sql, (size_t)(at - sql));
        if (i < ARRAY_LEN(marks)) {
            text_add_text(out, marks[i].text);
            at += strlen(marks[i].mark);
        } else {
            text_add_char(out, *at++);
        }
    }
    text_add_text(out, sql);
}

static void write_functions(struct text *out)
{
    struct text functions = { 0 };
    struct hash_part part;
    uint8_t hash[HASH_BYTES];
    char hex[HASH_HEX_BYTES];

    write_marked(schema_functions, &functions);
    part = (struct hash_part){ text_string(&functions), functions.used };
    hash_parts(&part, 1, hash);
    hash_hex(hash, HASH_BYTES, hex);
    text_add_format(out, "IF behind < %d OR made_of <> '%s' THEN\n", postgres_schema_version(),
                    hex);
    text_add_text(out, schema_drop);
    text_add_text(out, text_string(&functions));
    text_add_format(out, "UPDATE sayso SET version = %d, functions = '%s';\nEND IF;\n",
                    postgres_schema_version(), hex);
    text_release(&functions);
}

void postgres_schema_write(struct text *out)
{
    text_add_text(out, schema_open);
    text_add_format(out,
                    "IF behind > %d THEN RAISE EXCEPTION 'version %%', behind"
                    " USING ERRCODE = 'SY001'; END IF;\n",
                    postgres_schema_version());
    for (int step = 0; step < postgres_schema_version(); step++) {
        text_add_format(out, "IF behind < %d THEN\n", step + 1);
        text_add_text(out, steps[step]);
        text_add_text(out, "END IF;\n");
    }
    write_functions(out);
    text_add_text(out, "END $sayso$");
}
