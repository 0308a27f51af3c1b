/*
 * export.c - `sayso export`: asks and answers for other programs and for people, page by page, so
 * that memory does not grow with them; with --all the whole store as a backup.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/history/history.h"
#include "cli/say.h"
#include "core/visible_text.h"
#include "hub/maintenance.h"

/* An answer is as core/fields/answer.c writes it: the first field's picks and words stand for
 * themselves, everything else under the names of the fields. */

static const struct json *answer_of(const struct json *record)
{
    const struct json *answer = json_member(record, "answer");
    const struct json *result = json_member(record, "result");

    if (json_kind(answer) == KIND_OBJECT)
        return answer;
    return json_member(result, "selection"); /* the defaults were sent at the deadline */
}

size_t record_field_count(const struct json *record)
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

struct given record_given(const struct json *record, size_t index)
{
    const struct json *answer = answer_of(record);
    const struct json *fields = json_member(json_member(record, "form"), "fields");
    struct given given = { .field = json_item(fields, index) };
    const char *name = json_member_text(given.field, "name");

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

bool record_is_picked(const struct given *given, const struct json *option)
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

void record_add_value(const struct given *given, struct text *out)
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
        add_part(out, start, i18n_text(json_is_yes(given->value) ? TEXT_TUI_YES : TEXT_TUI_NO));
    } else if (given->value) {
        char *number = json_encode(given->value);

        add_part(out, start, number);
        free(number);
    }
}

static void add_line(const struct json *record, struct text *out)
{
    char *encoded = json_encode(record);

    text_add_text(out, "{\"sayso_export\":1,");
    say_add_json(out, encoded + 1); /* behind the brace that opens it */
    text_add_char(out, '\n');
    free(encoded);
}

const struct record_format record_jsonl = { "jsonl", NULL, add_line };

struct writing {
    FILE *stream;
    struct progress progress;
    int64_t lines;
};

static bool take_line(void *context, const char *line, size_t length, int64_t done, int64_t all)
{
    struct writing *writing = context;

    writing->lines++;
    progress_show(&writing->progress, done, all);
    return fwrite(line, 1, length, writing->stream) == length;
}

/* Showing how far it is. False: `err`; without a code where the stream took no more. */
static bool write_backup(FILE *stream, int64_t *ret_lines, struct error *err)
{
    struct writing writing = { stream, progress_begin(TEXT_PROGRESS_WRITING), 0 };
    bool ok = hub_backup(take_line, &writing, err);

    progress_end(&writing.progress);
    *ret_lines = writing.lines;
    return ok;
}

enum { EXPORT_PAGE = 50, PERMILLE = 1000 };

static const struct record_format *const formats[] = { &record_jsonl, &record_csv,
                                                       &record_markdown };

static const struct record_format *find_format(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    say_problem(TEXT_CLI_BAD_EXPORT_FORMAT, "name", name);
    return NULL;
}

/* Standard output, or a file that appears whole or not at all and that no other user can read. */
struct out_file {
    FILE *stream;     /* to write to */
    const char *path; /* borrowed; NULL: standard output */
    char *beside;     /* owned; what is renamed to it */
};

static bool out_file_open(const char *path_or_null, struct out_file *ret_file, struct error *err)
{
    int fd;

    *ret_file = (struct out_file){ .stream = stdout, .path = path_or_null };
    if (!path_or_null)
        return true;
    ret_file->beside = mem_format("%s.%ld.new", path_or_null, (long)getpid());
    unlink(ret_file->beside); /* left by a process that died here: the name has our pid */
    fd = open(ret_file->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    ret_file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (ret_file->stream)
        return true;
    error_say(err, ERROR_storage_failed, "", TEXT_REASON_CANT_WRITE, "path", path_or_null, "reason",
              strerror(errno), NULL);
    if (fd >= 0)
        close(fd);
    free(ret_file->beside);
    return false;
}

/* False: something could not be written; what was begun is removed. `is_good` false: remove it. */
static bool out_file_close(struct out_file *file, bool is_good, struct error *err)
{
    bool ok = fflush(file->stream) == 0 && !ferror(file->stream);
    const char *path = file->path ? file->path : "standard output"; /* not for people */

    if (file->path) {
        ok = ok && (!is_good || fsync(fileno(file->stream)) == 0);
        ok = fclose(file->stream) == 0 && ok;
        ok = ok && (!is_good || rename(file->beside, file->path) == 0);
    }
    if (!ok)
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_CANT_WRITE, "path", path, "reason",
                  strerror(errno), NULL);
    if (file->path && (!ok || !is_good))
        unlink(file->beside);
    free(file->beside);
    return ok;
}

static bool write_out(struct out_file *file, struct text *out)
{
    bool ok = out->used == 0 || fwrite(out->bytes, 1, out->used, file->stream) == out->used;

    text_clear(out);
    return ok;
}

/* False: it could not be read, which was said, or be written, which closing the file tells. */
static bool export_pages(struct look_back *look, struct client *link,
                         const struct record_format *format, struct out_file *file,
                         int64_t *ret_count)
{
    struct progress progress = progress_begin(TEXT_PROGRESS_WRITING);
    struct text out = { 0 };
    bool ok;

    if (format->begin)
        format->begin(&out);
    ok = write_out(file, &out);
    while (ok && !look->is_over) {
        struct wire_message reply = { 0 };
        const struct json *asks;

        ok = look_back_page(look, link, EXPORT_PAGE, &reply);
        asks = ok ? json_member(reply.result, "asks") : NULL;
        for (size_t i = 0; ok && i < json_length(asks); i++) {
            format->add(json_item(asks, i), &out);
            ok = write_out(file, &out);
            ++*ret_count;
        }
        if (ok)
            progress_show(&progress,
                          PERMILLE - json_member_integer(reply.result, "left_permille", 0),
                          PERMILLE);
        wire_release(&reply);
    }
    progress_end(&progress);
    text_release(&out);
    return ok;
}

static void say_exported(const struct arguments *arguments, enum text_id text, int64_t count)
{
    if (arguments_value(arguments, "out") && !arguments->is_json)
        say_note(text, "count", TEXT_NUMBER(count));
    else if (arguments_value(arguments, "out"))
        printf("{\"count\":%s}\n", TEXT_NUMBER(count));
}

/* `format` NULL: everything. */
static bool export(struct look_back *look, const struct record_format *format, struct error *err)
{
    const struct arguments *arguments = look->arguments;
    struct client *link = NULL;
    struct out_file file;
    int64_t count = 0;
    bool ok, is_written;

    if (format && !call_open(arguments, &call_person, &link))
        return false;
    if (!out_file_open(arguments_value(arguments, "out"), &file, err)) {
        client_free(link);
        return false;
    }
    ok = format ? export_pages(look, link, format, &file, &count)
                : write_backup(file.stream, &count, err);
    is_written = out_file_close(&file, ok, ok || format ? err : NULL);
    client_free(link);
    if (ok && is_written)
        say_exported(arguments, format ? TEXT_CLI_EXPORTED : TEXT_CLI_BACKED_UP, count);
    return ok && is_written;
}

static enum exit_code run_export(const struct arguments *arguments)
{
    const char *words = arguments_value(arguments, "search");
    const char *name = arguments_value(arguments, "format");
    const struct record_format *format = find_format(name ? name : "jsonl");
    struct error err = { 0 };
    struct look_back look = { 0 };
    enum exit_code code = EXIT_USAGE;
    bool is_all = arguments_value(arguments, "all") != NULL;

    if (format && look_back_init(&look, arguments, true, words ? mem_text(words) : NULL)) {
        if (is_all && (look_back_has_filters(&look) || name)) {
            say_problem(TEXT_CLI_EXPORT_ALL_ALONE);
        } else if (is_all && !arguments_value(arguments, "out") && isatty(STDOUT_FILENO)) {
            say_problem(TEXT_CLI_BACKUP_NOT_HERE); /* its texts are as they came */
        } else {
            code = export(&look, is_all ? NULL : format, &err) ? EXIT_DONE : EXIT_ERROR;
        }
    }
    if (err.code)
        say_error(arguments, &err, NULL);
    look_back_release(&look);
    return code;
}

static const struct verb_option options[] = {
    { "format", 'f', "jsonl|csv|markdown", TEXT_OPT_EXPORT_FORMAT, false },
    { "out", 'o', "FILE", TEXT_OPT_EXPORT_OUT, false },
    { "all", 0, NULL, TEXT_OPT_EXPORT_ALL, false },
    { "search", 0, "WORDS", TEXT_OPT_EXPORT_SEARCH, false },
    LOOK_BACK_OPTIONS,
};
static const char *const usage[] = {
    "export [--format jsonl|csv|markdown] [--out FILE] [--search WORDS] [--agent NAME] "
    "[--status STATUS] [--via CHANNEL] [--since TIME] [--before TIME]",
    "export --all [--out FILE]", NULL
};
static const char *const examples[] = { "export --format csv --since 30d --out asks.csv",
                                        "export --format markdown --search \"data base\"",
                                        "export --all --out sayso-backup.jsonl", NULL };
VERB_ROW(export, TEXT_CLI_EXPORT, VERB_TABLES);
