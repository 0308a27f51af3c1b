/* backup.h - a backup into a stream, showing how far it is. */
#ifndef CLI_HISTORY_BACKUP_H
#define CLI_HISTORY_BACKUP_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;

/* False: `err`; without a code where the stream took no more. */
bool backup_write(FILE *stream, int64_t *ret_lines, struct error *err);

#endif
