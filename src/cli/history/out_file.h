/*
 * out_file.h - where an export goes: standard output, or a file that appears whole or not at all
 * and that nobody else can read.
 */
#ifndef CLI_HISTORY_OUT_FILE_H
#define CLI_HISTORY_OUT_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct error;

struct out_file {
    FILE *stream;        /* to write to */
    char *path, *beside; /* owned; NULL: standard output */
};
bool out_file_open(const char *path_or_null, struct out_file *ret_file, struct error *err);
/* False: something could not be written; what was begun is removed. `is_good` false: remove it. */
bool out_file_close(struct out_file *file, bool is_good, struct error *err);

#endif
