/*
 * fuzz_backup.c - any bytes as a backup: as they are, and line by line with checks that fit, since
 * the author of a forged backup can make these. What is taken is within its limits, in order,
 * and an error names the line. Proves: R9.2
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "store/transfer/backup_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_cell(const struct backup_column *column, const struct backup_cell *cell)
{
    struct json *value = NULL;

    require(cell->is_there || !column->is_required);
    if (!cell->is_there)
        return;
    switch (column->value) {
    case BACKUP_INTEGER:
        require((column->min == 0 && column->max == 0) ||
                (cell->number >= column->min && cell->number <= column->max));
        break;
    case BACKUP_BLOB:
        require(column->bytes == sizeof cell->blob);
        break;
    case BACKUP_TEXT:
    case BACKUP_JSON:
    case BACKUP_JSON_IF_ANY:
        require(strlen(cell->text) == cell->length && text_is_utf8(cell->text, cell->length));
        require(column->bytes == 0 || cell->length <= column->bytes);
        if (column->value == BACKUP_JSON || cell->length > 0)
            require(column->value == BACKUP_TEXT ||
                    json_parse(cell->text, cell->length, &value, NULL));
        json_free(value);
        break;
    }
}

static bool read_line(struct backup_place *place, const char *bytes, size_t length)
{
    struct backup_line line;
    struct error err = { 0 };
    int table = place->table;
    bool ok = backup_line_read(place, bytes, length, &line, &err);

    require(ok == (err.code == ERROR_NONE));
    if (ok && line.kind == BACKUP_ROW) {
        const struct backup_table *found = &backup_tables[line.table];

        require((int)line.table >= table && place->has_head);
        for (size_t i = 0; i < found->column_count; i++)
            check_cell(&found->columns[i], &line.cells[i]);
    }
    if (ok && line.kind == BACKUP_END)
        require(place->rows == place->announced_rows && place->is_over);
    backup_line_release(&line);
    return ok;
}

/* `is_forged`: each line gets the check that fits it. */
static void read_all(const char *bytes, size_t length, bool is_forged)
{
    struct backup_place place = { 0 }, forger = { 0 };
    const char *end = bytes + length;
    bool ok = true;

    while (ok && bytes < end) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t part = (size_t)((stop ? stop : end) - bytes);
        struct text line = { 0 };

        text_add(&line, bytes, part);
        if (is_forged && part > 0) {
            backup_line_end(&forger, &line);
            line.used--; /* its end */
        }
        ok = read_line(&place, text_string(&line), line.used);
        text_release(&line);
        bytes += part + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    read_all((const char *)bytes, length, false);
    read_all((const char *)bytes, length, true);
    return 0;
}
