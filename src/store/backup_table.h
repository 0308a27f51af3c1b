/*
 * backup_table.h - what a backup holds: rows of tables, in the order in which they are read in
 * again. Left out are secrets (tokens, keys, codes of launches), what belongs to the machine (meta)
 * and what is made of the rest (the index). tests/unit/test_backup.c compares with the schema.
 */
#ifndef STORE_BACKUP_TABLE_H
#define STORE_BACKUP_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum backup_value { BACKUP_INTEGER, BACKUP_TEXT, BACKUP_JSON, BACKUP_JSON_IF_ANY, BACKUP_BLOB };
struct backup_column {
    const char *name;
    enum backup_value value;
    bool is_needed;
    int64_t least, most; /* of an integer; both 0: whatever fits */
    size_t bytes;        /* of a blob; of a text at most; 0: any */
};
enum { BACKUP_COLUMNS = 32 };
struct backup_table {
    const char *name, *order; /* columns by which its rows come */
    const struct backup_column *columns;
    size_t column_count;
};
enum backup_table_id {
    BACKUP_PEOPLE,
    BACKUP_PRINCIPALS,
    BACKUP_EVENTS,
    BACKUP_ASKS,
    BACKUP_DRAFTS,
    BACKUP_SETTINGS,
    BACKUP_CLIENT_FACTS,
    BACKUP_CONVERSATIONS,
    BACKUP_CONVERSATION_EVENTS,
    BACKUP_RULES,
    BACKUP_TABLES,
};
extern const struct backup_table backup_tables[BACKUP_TABLES];
/* Tables and columns that are left out, NULL-ended: "tokens", "asks.launch_code_hash". */
extern const char *const backup_left_out[];

#endif
