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
#include "hub/maintenance.h"

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

enum { EXPORT_PAGE = 50, PERMILLE = 1000 };

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
        struct rpc_message reply = { 0 };
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
        rpc_release(&reply);
    }
    progress_end(&progress);
    text_release(&out);
    return ok;
}

/* `format` NULL: everything. */
static bool export(struct look_back *look, const struct record_format *format, struct error *err)
{
    const struct arguments *arguments = look->arguments;
    const char *path = arguments_value(arguments, "out");
    struct writing writing = { .progress = progress_begin(TEXT_PROGRESS_WRITING) };
    struct client *link = NULL;
    struct out_file file;
    int64_t count = 0;
    bool ok, is_written;

    if (format && !call_open(arguments, &call_person, &link))
        return false;
    if (!out_file_open(path, &file, err)) {
        client_free(link);
        return false;
    }
    if (format) {
        ok = export_pages(look, link, format, &file, &count);
    } else { /* where the stream took no more, `err` has no code */
        writing.stream = file.stream;
        ok = hub_backup(take_line, &writing, err);
        progress_end(&writing.progress);
        count = writing.lines;
    }
    is_written = out_file_close(&file, ok, ok || format ? err : NULL);
    client_free(link);
    ok = ok && is_written;
    if (ok && path && arguments->is_json)
        printf("{\"count\":%s}\n", TEXT_NUMBER(count));
    else if (ok && path)
        say_note(format ? TEXT_CLI_EXPORTED : TEXT_CLI_BACKED_UP, "count", TEXT_NUMBER(count));
    return ok;
}

static enum exit_code run_export(const struct arguments *arguments)
{
    const char *words = arguments_value(arguments, "search");
    const char *name = arguments_value(arguments, "format");
    const struct record_format *format = record_format_find(name ? name : "jsonl");
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
