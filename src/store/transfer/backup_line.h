/*
 * backup_line.h - one line of a backup, out and in: JSON, and a check over it and all lines before
 * it, so that what was cut, changed, lost or put elsewhere is found at its line. Pure.
 *
 *   {"sayso_backup":1,"schema":2,"version":"0.1.0","seq":9,"hash":"…","rows":20,"check":"…"}
 *   {"events":{"seq":1,"ask":"…",…},"check":"…"}
 *   {"end":20,"check":"…"}
 */
#ifndef STORE_TRANSFER_BACKUP_LINE_H
#define STORE_TRANSFER_BACKUP_LINE_H
#include "base/crypto.h"
#include "core/ask.h"
#include "store/transfer/backup.h"

enum {
    BACKUP_VERSION = 1,
    BACKUP_CHECK_CHARS = 16,
};

struct backup_head {
    int64_t schema, seq, rows;
    uint8_t hash[HASH_BYTES]; /* of the last event */
};
/* A value of a row; absent ones are not there. */
struct backup_cell {
    bool is_there;
    int64_t number;
    const char *text;
    size_t length;
    uint8_t blob[DIGEST_BYTES];
};
enum backup_kind { BACKUP_HEAD, BACKUP_ROW, BACKUP_END };
struct backup_line {
    enum backup_kind kind;
    struct backup_head head;
    enum backup_table_id table;
    struct backup_cell cells[BACKUP_COLUMNS]; /* as the columns of the table */
    struct json *json;                        /* owned; texts lie in it */
};

/* Ends an object without its brace with its check, and moves on. */
void backup_line_end(struct backup_place *place, struct text *line);
/* A line without its end. False: `err` names the line. The caller releases either way. */
bool backup_line_read(struct backup_place *place, const char *bytes, size_t length,
                      struct backup_line *ret_line, struct error *err);
/* Both are false, and say so of the line that was read last. */
bool backup_is_damaged(const struct backup_place *place, const char *why, struct error *err);
bool backup_is_short(const struct backup_place *place, struct error *err);
void backup_line_release(struct backup_line *line);

#endif
