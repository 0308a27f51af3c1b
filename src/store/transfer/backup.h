/*
 * backup.h - the whole store as lines, and back. Writing reads one state of the file, whether or
 * not a hub has it open, row by row. Reading in is for a caller that holds the hub's lock: batches
 * of rows, each a transaction; what was interrupted goes on with the same backup, and until it is
 * complete no hub opens the store.
 */
#ifndef STORE_TRANSFER_BACKUP_H
#define STORE_TRANSFER_BACKUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"

struct error;
struct restore;

enum { BACKUP_MAX_BYTES = 16777216 }; /* of a line: texts and arguments, every character escaped */

/* One line with its end; `done` of `all` rows were handed on. False ends the backup. */
typedef bool backup_sink(void *context, const char *line, size_t length, int64_t done, int64_t all);
/* False: `err`; where the sink refused, without a code. */
bool store_backup(const char *path, backup_sink *sink, void *context, struct error *err);

/* Where a backup is; begins zeroed. */
struct backup_place {
    uint8_t hash[HASH_BYTES];
    int64_t line; /* how many there were */
    int64_t rows; /* of them */
    int table;    /* of the last row */
    bool has_head, is_over;
    int64_t announced_rows;
};
/* Looks through a backup without a store: one line after the other, then the end. */
bool backup_check_line(struct backup_place *place, const char *bytes, size_t length,
                       struct error *err);
bool backup_check_end(const struct backup_place *place, struct error *err);

/* NULL: `err`. */
struct restore *restore_open(const char *path, struct error *err);
/* One line without its end. False: `err` names it; what earlier batches brought stays. */
bool restore_line(struct restore *restore, const char *bytes, size_t length, struct error *err);
struct restored {
    int64_t lines, added; /* rows that were not there before */
};
/* All lines were given: makes sure that it was all and that the chain of events holds. */
bool restore_finish(struct restore *restore, struct restored *out, struct error *err);
/* Takes back what was read of a backup that is not complete, so that the store is empty again. */
bool restore_discard(struct restore *restore, bool *ret_was_begun, struct error *err);
void restore_close(struct restore *restore); /* NULL is fine */

/* What a backup holds: rows of tables, in the order in which they are read in again. Left out are
 * secrets (tokens, keys, codes of launches), what belongs to the machine (meta) and what is made
 * of the rest (the index). tests/unit/test_backup.c compares with the schema. */

enum backup_value { BACKUP_INTEGER, BACKUP_TEXT, BACKUP_JSON, BACKUP_JSON_IF_ANY, BACKUP_BLOB };
struct backup_column {
    const char *name;
    enum backup_value value;
    bool is_required;
    int64_t min, max; /* of an integer; both 0: whatever fits */
    size_t bytes;     /* of a blob; of a text at most; 0: any */
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
