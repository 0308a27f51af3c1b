#include "store/transfer/backup_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "store/columns.h"
#include "store/transfer/backup.h"

static const char check_key[] = ",\"check\":\"";
enum { CHECK_BYTES = sizeof check_key - 1 + BACKUP_CHECK_CHARS + 2 };

static void move_on(struct backup_place *place, const char *bytes, size_t length)
{
    hash_parts((struct hash_part[]){ { place->hash, HASH_BYTES }, { bytes, length } }, 2,
               place->hash);
}

void backup_line_end(struct backup_place *place, struct text *line)
{
    char hex[HASH_HEX_BYTES];

    move_on(place, line->bytes, line->used);
    hash_hex(place->hash, BACKUP_CHECK_CHARS / 2, hex);
    text_add_text(line, check_key);
    text_add_text(line, hex);
    text_add_text(line, "\"}\n");
    place->line++;
}

bool backup_is_damaged(const struct backup_place *place, const char *why, struct error *err)
{
    return error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_LINE, "line",
                     TEXT_NUMBER(place->line), "why", why, NULL);
}

bool backup_is_short(const struct backup_place *place, struct error *err)
{
    return error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_SHORT, "line",
                     TEXT_NUMBER(place->line), NULL);
}

static bool read_blob(const struct json *value, uint8_t *out, size_t bytes)
{
    const char *hex = json_text(value);

    if (!hex || json_length(value) != 2 * bytes)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        int byte = column_hex_byte(&hex[2 * i]);

        if (byte < 0)
            return false;
        out[i] = (uint8_t)byte;
    }
    return true;
}

static bool is_json(const char *text, size_t length)
{
    struct json *value = NULL;
    bool ok = json_parse(text, length, &value, NULL);

    json_free(value);
    return ok;
}

static bool read_cell(const struct backup_column *column, const struct json *value,
                      struct backup_cell *out)
{
    out->is_there = value != NULL;
    if (!value)
        return !column->is_required;
    switch (column->value) {
    case BACKUP_INTEGER:
        return json_kind(value) == KIND_INTEGER && json_integer_of(value, &out->number) &&
               ((column->min == 0 && column->max == 0) ||
                (out->number >= column->min && out->number <= column->max));
    case BACKUP_BLOB:
        return read_blob(value, out->blob, column->bytes);
    case BACKUP_TEXT:
    case BACKUP_JSON:
    case BACKUP_JSON_IF_ANY:
        out->text = json_text(value);
        out->length = json_length(value);
        return out->text && strlen(out->text) == out->length &&
               (column->bytes == 0 || out->length <= column->bytes) &&
               (column->value == BACKUP_TEXT || is_json(out->text, out->length) ||
                (column->value == BACKUP_JSON_IF_ANY && out->length == 0));
    }
    return false;
}

static bool is_column(const struct backup_table *table, void *member)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, json_key(member)) == 0)
            return true;
    }
    return false;
}

static bool read_cells(struct backup_place *place, const struct json *row, struct backup_line *out,
                       struct error *err)
{
    const struct backup_table *table = &backup_tables[out->table];

    for (size_t i = 0; i < table->column_count; i++) {
        const char *name = table->columns[i].name;

        if (!read_cell(&table->columns[i], json_member_n(row, name, strlen(name)), &out->cells[i]))
            return backup_is_damaged(place, name, err);
    }
    for (void *it = json_first(row); it; it = json_next(row, it)) {
        if (!is_column(table, it))
            return backup_is_damaged(place, "a column that is not known", err);
    }
    place->rows++;
    return true;
}

/* Tables come one after the other, each once. */
static bool read_row(struct backup_place *place, struct backup_line *out, struct error *err)
{
    out->kind = BACKUP_ROW;
    for (int i = place->table; i < BACKUP_TABLES; i++) {
        const char *name = backup_tables[i].name;
        const struct json *row = json_member_n(out->json, name, strlen(name));

        if (json_kind(row) == KIND_OBJECT && json_length(out->json) == 2) {
            place->table = i;
            out->table = (enum backup_table_id)i;
            return read_cells(place, row, out, err);
        }
    }
    return backup_is_damaged(place, "neither a row nor the end", err);
}

static bool read_head(struct backup_place *place, struct backup_line *out, struct error *err)
{
    struct backup_head *head = &out->head;
    int64_t version = json_member_integer(out->json, "sayso_backup", 0);

    out->kind = BACKUP_HEAD;
    if (version > BACKUP_VERSION)
        return error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_NEWER, NULL);
    head->schema = json_member_integer(out->json, "schema", 0);
    head->seq = json_member_integer(out->json, "seq", -1);
    head->rows = json_member_integer(out->json, "rows", -1);
    if (version != BACKUP_VERSION || head->schema < 1 || head->seq < 0 || head->rows < 0 ||
        !read_blob(json_member(out->json, "hash"), head->hash, HASH_BYTES))
        return error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_FOREIGN, NULL);
    place->announced_rows = head->rows;
    place->has_head = true;
    return true;
}

static bool read_end(struct backup_place *place, struct backup_line *out, struct error *err)
{
    out->kind = BACKUP_END;
    if (json_member_integer(out->json, "end", -1) != place->rows ||
        place->rows != place->announced_rows)
        return backup_is_damaged(place, "rows are missing before it", err);
    place->is_over = true;
    return true;
}

static bool check_line(struct backup_place *place, const char *bytes, size_t length,
                       struct error *err)
{
    char hex[HASH_HEX_BYTES];
    const char *check = bytes + length - CHECK_BYTES;

    if (length <= CHECK_BYTES || memcmp(check, check_key, sizeof check_key - 1) != 0 ||
        memcmp(bytes + length - 2, "\"}", 2) != 0)
        return backup_is_damaged(place, "it does not end as it should", err);
    move_on(place, bytes, length - CHECK_BYTES);
    hash_hex(place->hash, BACKUP_CHECK_CHARS / 2, hex);
    if (memcmp(check + sizeof check_key - 1, hex, BACKUP_CHECK_CHARS) != 0)
        return backup_is_damaged(place, "its check does not fit it and the lines before it", err);
    return true;
}

bool backup_line_read(struct backup_place *place, const char *bytes, size_t length,
                      struct backup_line *ret_line, struct error *err)
{
    *ret_line = (struct backup_line){ 0 };
    place->line++;
    if (place->is_over)
        return backup_is_damaged(place, "it stands behind the end", err);
    if (length > BACKUP_MAX_BYTES)
        return backup_is_damaged(place, "it is too long", err);
    if (!json_parse(bytes, length, &ret_line->json, NULL))
        return place->has_head
                   ? backup_is_damaged(place, "it is no JSON", err)
                   : error_say(err, ERROR_bad_format, "", TEXT_REASON_BACKUP_FOREIGN, NULL);
    if (!place->has_head)
        return read_head(place, ret_line, err) && check_line(place, bytes, length, err);
    if (!check_line(place, bytes, length, err))
        return false;
    return json_member(ret_line->json, "end") ? read_end(place, ret_line, err)
                                              : read_row(place, ret_line, err);
}

void backup_line_release(struct backup_line *line)
{
    json_free(line->json);
    *line = (struct backup_line){ 0 };
}

bool backup_check_line(struct backup_place *place, const char *bytes, size_t length,
                       struct error *err)
{
    struct backup_line line;
    bool ok = backup_line_read(place, bytes, length, &line, err);

    backup_line_release(&line);
    return ok;
}

bool backup_check_end(const struct backup_place *place, struct error *err)
{
    return place->is_over || backup_is_short(place, err);
}
