/*
 * record.h - one ask as it is exported: what the hub told of it, written in a format. To add a
 * format: a struct record_format and a row in export.c.
 */
#ifndef CLI_HISTORY_RECORD_H
#define CLI_HISTORY_RECORD_H
#include <stdbool.h>
#include <stddef.h>

struct json;
struct text;

struct record_format {
    const char *name;
    void (*begin)(struct text *out); /* NULL: nothing stands first */
    void (*add)(const struct json *record, struct text *out);
};
extern const struct record_format record_jsonl, record_csv, record_markdown;

/* What was given for the field at `index` of its form. */
struct given {
    const struct json *field;
    const struct json *picks; /* ids, as a list; NULL: none */
    const char *text;         /* own words; NULL: none */
    const struct json *value; /* a number, or yes or no; NULL: none */
    const char *note;         /* NULL: none */
};
size_t record_field_count(const struct json *record);
struct given record_given(const struct json *record, size_t index);
bool record_is_picked(const struct given *given, const struct json *option);
/* The value in words: labels, text, number, yes or no; other people's words through the sanitizer.
 */
void record_add_value(const struct given *given, const char *between, struct text *out);

#endif
