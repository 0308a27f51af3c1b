/*
 * record_csv.c - asks as a table (RFC 4180), one row each, everything in quotes. A cell that a
 * spreadsheet would take for a formula begins with an apostrophe, which shows it as text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/history/record.h"
#include "core/visible_text.h"

/* What begins a formula, in fullwidth too; a tab or a return are written as escapes already. */
static const char *const formula_marks[] = {
    "=", "+", "-", "@", "\t", "\r", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"
};

static bool is_formula(const char *shown)
{
    shown += strspn(shown, " \n");
    for (size_t i = 0; i < ARRAY_LEN(formula_marks); i++) {
        if (strncmp(shown, formula_marks[i], strlen(formula_marks[i])) == 0)
            return true;
    }
    return false;
}

static void add_cell(struct text *out, const char *shown)
{
    text_add_text(out, is_formula(shown) ? "\"'" : "\"");
    for (; *shown; shown++)
        text_add_text(out, *shown == '"' ? "\"\"" : (char[]){ *shown, '\0' });
    text_add_char(out, '"');
}

static void add_words(struct text *shown, const struct json *record, const char *const path[3])
{
    const struct json *at = record;
    const char *words;

    for (int i = 0; i < 3 && path[i]; i++)
        at = json_member_n(at, path[i], strlen(path[i]));
    words = json_text(at);
    if (words)
        visible_text(words, strlen(words), VISIBLE_LINES, shown);
    else if (json_kind(at) == KIND_BOOL)
        text_add_text(shown, json_is_yes(at) ? "true" : "false");
}

/* "label (recommended)" of every option, a line each. */
static void add_options(struct text *shown, const struct json *record)
{
    for (size_t i = 0; i < record_field_count(record); i++) {
        const struct json *options = json_member(record_given(record, i).field, "options");

        for (size_t k = 0; k < json_length(options); k++) {
            const char *label = json_member_text(json_item(options, k), "label");

            if (shown->used)
                text_add_char(shown, '\n');
            if (label)
                visible_text(label, strlen(label), VISIBLE_ONE_LINE, shown);
        }
    }
}

static void add_answer(struct text *shown, const struct json *record)
{
    size_t count = record_field_count(record);

    for (size_t i = 0; i < count; i++) {
        struct given given = record_given(record, i);
        const char *label = json_member_text(given.field, "label");
        const char *name = label ? label : json_member_text(given.field, "name");
        struct text value = { 0 };

        record_add_value(&given, "\n", &value);
        if (value.used && shown->used)
            text_add_char(shown, '\n');
        if (value.used && count > 1 && name) {
            visible_text(name, strlen(name), VISIBLE_ONE_LINE, shown);
            text_add_text(shown, ": ");
        }
        text_add(shown, text_string(&value), value.used);
        text_release(&value);
    }
}

static const struct column {
    const char *name;
    const char *path[3];                                        /* of a member, */
    void (*add)(struct text *shown, const struct json *record); /* or made of several */
} columns[] = {
    { "session_id", { "session_id" }, NULL },
    { "created_at", { "created_at" }, NULL },
    { "decided_at", { "decided_at" }, NULL },
    { "status", { "status" }, NULL },
    { "agent", { "agent" }, NULL },
    { "tool", { "tool" }, NULL },
    { "title", { "title" }, NULL },
    { "prompt", { "form", "prompt" }, NULL },
    { "options", { NULL }, add_options },
    { "answer", { NULL }, add_answer },
    { "note", { "answer", "global_annotation" }, NULL },
    { "person", { "answered_by", "person" }, NULL },
    { "via", { "answered_by", "via" }, NULL },
    { "destructive", { "destructive" }, NULL },
};

static void begin(struct text *out)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        text_add_format(out, "%s\"%s\"", i ? "," : "", columns[i].name);
    text_add_text(out, "\r\n");
}

static void add(const struct json *record, struct text *out)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        struct text shown = { 0 };

        if (columns[i].add)
            columns[i].add(&shown, record);
        else
            add_words(&shown, record, columns[i].path);
        if (i)
            text_add_char(out, ',');
        add_cell(out, text_string(&shown));
        text_release(&shown);
    }
    text_add_text(out, "\r\n");
}

const struct record_format record_csv = { "csv", begin, add };
