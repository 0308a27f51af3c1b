/*
 * record_formats.c - one ask as it is exported: what the hub told of it, as JSON, as a row of a
 * table, or as a decision record.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/history/history.h"
#include "cli/say.h"
#include "core/lifecycle.h"
#include "core/visible_text.h"

/* What was given for the field at `index` of its form. */
struct given {
    const struct json *field;
    const struct json *picks; /* ids, as a list; NULL: none */
    const char *text;         /* own words; NULL: none */
    const struct json *value; /* a number, or yes or no; NULL: none */
    const char *note;         /* NULL: none */
};
/* An answer is as core/fields/answer.c writes it: the first field's picks and words stand for
 * themselves, everything else under the names of the fields. */

static size_t record_field_count(const struct json *record)
{
    return json_length(json_member(json_member(record, "form"), "fields"));
}

static void take_value(const struct json *value, struct given *out)
{
    enum json_kind kind = json_kind(value);

    if (kind == KIND_LIST) {
        out->picks = value;
    } else if (kind == KIND_OBJECT) { /* picks and own words */
        out->picks = json_member(value, "selected_ids");
        out->text = json_member_text(value, "custom_input");
    } else if (kind == KIND_BOOL || kind == KIND_INTEGER || kind == KIND_REAL) {
        out->value = value;
    } else {
        out->text = json_text(value);
    }
}

static struct given record_given(const struct json *record, size_t index)
{
    const struct json *answer = json_member(record, "answer");
    const struct json *fields = json_member(json_member(record, "form"), "fields");
    struct given given = { .field = json_item(fields, index) };
    const char *name = json_member_text(given.field, "name");

    if (json_kind(answer) != KIND_OBJECT) /* the defaults were sent at the deadline */
        answer = json_member(json_member(record, "result"), "selection");
    if (name) {
        take_value(json_member_n(json_member(answer, "fields"), name, strlen(name)), &given);
        given.note =
            json_text(json_member_n(json_member(answer, "field_annotations"), name, strlen(name)));
    }
    if (index == 0 && json_member(answer, "selected_ids"))
        given.picks = json_member(answer, "selected_ids");
    if (index == 0 && json_member_text(answer, "custom_input"))
        given.text = json_member_text(answer, "custom_input");
    if (given.text && !*given.text)
        given.text = NULL;
    return given;
}

static bool record_is_picked(const struct given *given, const struct json *option)
{
    const char *id = json_member_text(option, "id");

    for (size_t i = 0; id && i < json_length(given->picks); i++) {
        const char *picked = json_text(json_item(given->picks, i));

        if (picked && strcmp(picked, id) == 0)
            return true;
    }
    return false;
}

static void add_part(struct text *out, size_t start, const char *words)
{
    if (out->used > start)
        text_add_char(out, '\n');
    visible_text(words, strlen(words), VISIBLE_LINES, out);
}

static void record_add_value(const struct given *given, struct text *out)
{
    const struct json *options = json_member(given->field, "options");
    size_t start = out->used;

    for (size_t i = 0; i < json_length(options); i++) {
        const char *label = json_member_text(json_item(options, i), "label");

        if (label && record_is_picked(given, json_item(options, i)))
            add_part(out, start, label);
    }
    if (given->text)
        add_part(out, start, given->text);
    if (json_kind(given->value) == KIND_BOOL) {
        add_part(out, start, i18n_text(json_is_true(given->value) ? TEXT_TUI_YES : TEXT_TUI_NO));
    } else if (given->value) {
        char *number = json_encode(given->value);

        add_part(out, start, number);
        free(number);
    }
}

static void jsonl_add(const struct json *record, struct text *out)
{
    char *encoded = json_encode(record);

    text_add_text(out, "{\"sayso_export\":1,");
    say_add_json(out, encoded + 1); /* behind the brace that opens it */
    text_add_char(out, '\n');
    free(encoded);
}

/* Asks as a table (RFC 4180), one row each, everything in quotes. A cell that a spreadsheet would
 * take for a formula begins with an apostrophe, which shows it as text. */

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

static void csv_add_words(struct text *shown, const struct json *record, const char *const path[3])
{
    const struct json *at = record;
    const char *words;

    for (int i = 0; i < 3 && path[i]; i++)
        at = json_member_n(at, path[i], strlen(path[i]));
    words = json_text(at);
    if (words)
        visible_text(words, strlen(words), VISIBLE_LINES, shown);
    else if (json_kind(at) == KIND_BOOL)
        text_add_text(shown, json_is_true(at) ? "true" : "false");
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

        record_add_value(&given, &value);
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

static void csv_begin(struct text *out)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        text_add_format(out, "%s\"%s\"", i ? "," : "", columns[i].name);
    text_add_text(out, "\r\n");
}

static void csv_add(const struct json *record, struct text *out)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        struct text shown = { 0 };

        if (columns[i].add)
            columns[i].add(&shown, record);
        else
            csv_add_words(&shown, record, columns[i].path);
        if (i)
            text_add_char(out, ',');
        add_cell(out, text_string(&shown));
        text_release(&shown);
    }
    text_add_text(out, "\r\n");
}

/* Asks as a decision record in Markdown. Words of agents and people can't change its form: a
 * backslash precedes what Markdown or HTML would act upon. */

static bool is_list_number(const char *at)
{
    size_t digits = strspn(at, "0123456789");

    return digits > 0 && (at[digits] == '.' || at[digits] == ')');
}

/* Addresses would become links by themselves. */
static bool begins_link(const char *line, const char *at)
{
    return (*at == ':' && at[1] == '/') ||
           (*at == '.' && at - line >= 3 && strncasecmp(at - 3, "www", 3) == 0);
}

/* `line` without its end; each line stands behind `before`. */
static void add_line(struct text *out, const char *before, const char *line, size_t length)
{
    const char *first = line + strspn(line, " "), *end = line + length;

    text_add_text(out, before);
    for (const char *at = line; at < end; at++) {
        bool is_first = at == first;
        bool is_numbered = is_first && is_list_number(at);

        if (is_numbered) {
            size_t digits = strspn(at, "0123456789");

            text_add(out, at, digits);
            at += digits;
        }
        if (is_numbered || strchr("\\`*_[]<>#|~&!$@", *at) || (is_first && strchr("+-=", *at)) ||
            begins_link(line, at))
            text_add_char(out, '\\');
        text_add_char(out, *at);
    }
}

static void markdown_add_words(struct text *out, const char *words, enum visible_lines lines,
                               const char *before)
{
    struct text shown = { 0 };
    const char *at, *end;

    visible_text(words, strlen(words), lines, &shown);
    at = text_string(&shown);
    for (end = strchr(at, '\n'); end; end = strchr(at, '\n')) {
        add_line(out, before, at, (size_t)(end - at));
        text_add_char(out, '\n');
        at = end + 1;
    }
    add_line(out, before, at, strlen(at));
    text_release(&shown);
}

static void add_one_line(struct text *out, const char *words)
{
    markdown_add_words(out, words ? words : "", VISIBLE_ONE_LINE, "");
}

static void add_row(struct text *out, enum text_id label, const char *words)
{
    if (!words)
        return;
    text_add_format(out, "- **%s:** ", i18n_text(label));
    add_one_line(out, words);
    text_add_char(out, '\n');
}

static void add_quote(struct text *out, const char *words)
{
    if (!words || !*words)
        return;
    text_add_char(out, '\n');
    markdown_add_words(out, words, VISIBLE_LINES, "> ");
    text_add_char(out, '\n');
}

static void add_titled(struct text *out, enum text_id title, const char *words)
{
    if (!words)
        return;
    text_add_format(out, "\n**%s**\n", i18n_text(title));
    add_quote(out, words);
}

static void add_facts(struct text *out, const struct json *record)
{
    const struct json *by = json_member(record, "answered_by");
    const char *status = json_member_text(record, "status");
    struct text whom = { 0 };

    add_row(out, TEXT_RECORD_STATUS, state_text(state_find(status)));
    add_row(out, TEXT_RECORD_AGENT, json_member_text(record, "agent"));
    add_row(out, TEXT_RECORD_ASKED, json_member_text(record, "created_at"));
    add_row(out, TEXT_RECORD_DECIDED, json_member_text(record, "decided_at"));
    if (json_member_text(by, "person")) {
        text_add_format(&whom, "%s, %s", json_member_text(by, "person"),
                        json_member_text(by, "via") ? json_member_text(by, "via") : "");
        add_row(out, TEXT_RECORD_BY, text_string(&whom));
    }
    add_row(out, TEXT_RECORD_ID, json_member_text(record, "session_id"));
    if (json_is_true(json_member(record, "destructive")))
        text_add_format(out, "- %s\n", i18n_text(TEXT_DESTRUCTIVE_TWO_ACTS));
    text_release(&whom);
}

static void add_option(struct text *out, const struct json *record, const struct json *option,
                       bool is_picked)
{
    const struct json *notes = json_member(json_member(record, "answer"), "option_annotations");
    const char *id = json_member_text(option, "id");
    const char *note = id ? json_text(json_member_n(notes, id, strlen(id))) : NULL;

    text_add_text(out, is_picked ? "- [x] " : "- [ ] ");
    add_one_line(out, json_member_text(option, "label"));
    if (json_is_true(json_member(option, "recommended")))
        text_add_format(out, " (%s)", i18n_text(TEXT_RECOMMENDED));
    if (json_member_text(option, "description")) {
        text_add_text(out, ": ");
        add_one_line(out, json_member_text(option, "description"));
    }
    if (note) {
        text_add_format(out, " — %s: ", i18n_text(TEXT_RECORD_NOTE));
        add_one_line(out, note);
    }
    text_add_char(out, '\n');
}

static void add_field(struct text *out, const struct json *record, const struct given *given)
{
    const struct json *options = json_member(given->field, "options");
    const char *label = json_member_text(given->field, "label");
    struct given words = *given;
    struct text value = { 0 };

    if (label) {
        text_add_text(out, "\n### ");
        add_one_line(out, label);
        text_add_char(out, '\n');
    }
    if (json_length(options))
        text_add_format(out, "\n**%s**\n\n", i18n_text(TEXT_RECORD_OPTIONS));
    for (size_t i = 0; i < json_length(options); i++)
        add_option(out, record, json_item(options, i),
                   record_is_picked(given, json_item(options, i)));
    words.picks = NULL; /* they are marked above */
    record_add_value(&words, &value);
    add_titled(out, TEXT_RECORD_ANSWER, value.used ? text_string(&value) : NULL);
    add_titled(out, TEXT_RECORD_NOTE, given->note);
    text_release(&value);
}

static void markdown_begin(struct text *out)
{
    time_t now = time(NULL);
    struct tm utc;
    char when[32];

    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    text_add_format(out, "# %s\n\n", i18n_text(TEXT_RECORD_TITLE));
    i18n_format(out, TEXT_RECORD_EXPORTED, "time", when, NULL);
    text_add_char(out, '\n');
}

static void markdown_add(const struct json *record, struct text *out)
{
    const char *note = json_member_text(json_member(record, "answer"), "global_annotation");

    text_add_text(out, "\n## ");
    add_one_line(out, json_member_text(record, "title"));
    text_add_text(out, "\n\n");
    add_facts(out, record);
    add_quote(out, json_member_text(json_member(record, "form"), "prompt"));
    for (size_t i = 0; i < record_field_count(record); i++) {
        struct given given = record_given(record, i);

        add_field(out, record, &given);
    }
    add_titled(out, TEXT_RECORD_NOTE, note);
}

const struct record_format *record_format_find(const char *name)
{
    static const struct record_format formats[] = {
        { "jsonl", NULL, jsonl_add },
        { "csv", csv_begin, csv_add },
        { "markdown", markdown_begin, markdown_add },
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    say_problem(TEXT_CLI_BAD_EXPORT_FORMAT, "name", name);
    return NULL;
}
