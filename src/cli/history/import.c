/*
 * import.c - `sayso import`: a backup into an empty store. A file is looked through before
 * anything is written, so that a damaged one leaves no trace; standard input is read as it comes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/history/history.h"
#include "cli/say.h"
#include "hub/maintenance.h"

enum { READ_BYTES = 65536 };

struct source {
    FILE *stream;
    bool is_file;
    int64_t bytes; /* of the file; 0: not known */
};

static bool source_open(const char *path, struct source *out, struct error *err)
{
    struct stat found;

    *out = (struct source){ .stream = stdin };
    if (strcmp(path, "-") == 0)
        return true;
    out->stream = fopen(path, "re");
    if (!out->stream || fstat(fileno(out->stream), &found) != 0 || S_ISDIR(found.st_mode))
        return error_say(err, ERROR_not_found, "", TEXT_REASON_CANT_READ, "path", path, "reason",
                         strerror(out->stream ? EISDIR : errno), NULL);
    out->is_file = S_ISREG(found.st_mode);
    out->bytes = out->is_file ? found.st_size : 0;
    return true;
}

/* Into the check, else into the store. */
static bool take_line(struct backup_place *check, struct hub_restore *restore,
                      const struct text *line, struct error *err)
{
    return check ? backup_check_line(check, text_string(line), line->used, err)
                 : restore_line(restore->restore, text_string(line), line->used, err);
}

/* Every line without its end. None is kept beyond its maximum: what reads it refuses that one. */
static bool read_lines(struct source *source, struct backup_place *check,
                       struct hub_restore *restore, struct error *err)
{
    struct progress progress =
        progress_begin(check ? TEXT_PROGRESS_CHECKING : TEXT_PROGRESS_READING);
    struct text line = { 0 };
    int64_t read = 0;
    bool ok = true;
    char *part = mem_new(READ_BYTES);

    while (ok && fgets(part, READ_BYTES, source->stream)) {
        size_t length = strlen(part);
        bool is_end = length > 0 && part[length - 1] == '\n';

        read += (int64_t)length;
        text_add(&line, part, length - is_end);
        if (is_end || line.used > BACKUP_MAX_BYTES || length == 0) {
            ok = take_line(check, restore, &line, err);
            text_clear(&line);
        }
        if (source->bytes > 0)
            progress_show(&progress, read, source->bytes);
    }
    if (ok && line.used > 0)
        ok = take_line(check, restore, &line, err);
    if (ok && ferror(source->stream))
        ok = error_say(err, ERROR_storage_failed, "", TEXT_REASON_BACKUP_UNREAD, "reason",
                       strerror(errno), NULL);
    progress_end(&progress);
    text_release(&line);
    free(part);
    return ok;
}

static bool import_into(const struct arguments *arguments, struct source *source,
                        struct hub_restore *restore, struct error *err)
{
    struct backup_place location = { 0 };
    struct restored restored;

    if (source->is_file &&
        !(read_lines(source, &location, NULL, err) && backup_check_end(&location, err)))
        return false;
    if (source->is_file)
        rewind(source->stream);
    if (!read_lines(source, NULL, restore, err) ||
        !restore_finish(restore->restore, &restored, err))
        return false;
    if (arguments->is_json)
        printf("{\"lines\":%s,\"added\":%s}\n", TEXT_NUMBER(restored.lines),
               TEXT_NUMBER(restored.added));
    else
        say_result(TEXT_CLI_IMPORTED, "count", TEXT_NUMBER(restored.lines), "added",
                   TEXT_NUMBER(restored.added));
    return true;
}

static bool discard(const struct arguments *arguments, struct hub_restore *restore,
                    struct error *err)
{
    bool was_begun;

    if (!restore_discard(restore->restore, &was_begun, err))
        return false;
    if (arguments->is_json)
        printf("{\"discarded\":%s}\n", was_begun ? "true" : "false");
    else
        say_result(was_begun ? TEXT_CLI_IMPORT_DISCARDED : TEXT_CLI_IMPORT_NONE);
    return true;
}

static enum exit_code run_import(const struct arguments *arguments)
{
    bool is_discard = arguments_value(arguments, "discard") != NULL, ok = false;
    struct hub_restore restore = { .lock_fd = -1 };
    struct source source = { 0 };
    struct error err = { 0 };

    if (is_discard == (arguments->word_count == 1))
        return say_needs(arguments, "FILE | -");
    if (is_discard || source_open(arguments->words[0], &source, &err)) {
        enum hub_outcome outcome = hub_restore_open(&restore, &err);

        if (outcome == HUB_ENDED)
            ok = is_discard ? discard(arguments, &restore, &err)
                            : import_into(arguments, &source, &restore, &err);
        else if (outcome == HUB_BUSY)
            error_say(&err, ERROR_unavailable, "", TEXT_REASON_BACKUP_BUSY, NULL);
    }
    hub_restore_close(&restore);
    if (source.stream && source.stream != stdin)
        fclose(source.stream);
    if (err.code)
        say_error(arguments, &err, NULL);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static const struct verb_option options[] = {
    { "discard", 0, NULL, TEXT_OPT_IMPORT_DISCARD, false },
};
static const char *const usage[] = { "import FILE|-", "import --discard", NULL };
static const char *const examples[] = { "import sayso-backup.jsonl", NULL };
VERB_ROW(import, TEXT_CLI_IMPORT, VERB_TABLES, .max_words = 1);

/* Drawn a few times a second, so that it costs nothing. */

enum { BAR_CELLS = 30, DRAW_EVERY_MS = 100, SAY_EVERY_MS = 5000, PERMILLE = 1000 };

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct progress progress_begin(enum text_id what)
{
    const char *terminal = getenv("TERM");
    bool is_on = isatty(STDERR_FILENO) && (!terminal || strcmp(terminal, "dumb") != 0);

    return (struct progress){ .what = what, .is_on = is_on, .shown = -1 };
}

struct progress progress_begin_counted(enum text_id what, bool is_quiet)
{
    struct progress progress = progress_begin(what);

    progress.is_counted = true;
    progress.is_plain = !progress.is_on && !is_quiet;
    progress.began_ms = now_ms();
    progress.drawn_ms = progress.began_ms;
    progress.first = -1;
    return progress;
}

static void say_line(struct progress *progress, int permille, int64_t done, int64_t all)
{
    int64_t now = now_ms();

    if (now - progress->drawn_ms < SAY_EVERY_MS && (done < all || progress->shown == PERMILLE))
        return;
    progress->drawn_ms = now;
    progress->shown = permille;
    say_note(TEXT_PROGRESS_LINE, "what", i18n_text(progress->what), "percent",
             TEXT_NUMBER(permille / 10), "done", TEXT_NUMBER(done), "all", TEXT_NUMBER(all));
}

/* What an earlier attempt did is not counted. */
static void draw_rate(struct progress *progress, int64_t done, int64_t now)
{
    int64_t took_ms = now - progress->began_ms;
    struct text rate = { 0 };

    if (!progress->is_counted || took_ms < DRAW_EVERY_MS)
        return;
    i18n_format(&rate, TEXT_PROGRESS_RATE, "count",
                TEXT_NUMBER((done - progress->first) * 1000 / took_ms), NULL);
    fprintf(stderr, "  %s\x1b[K", text_string(&rate));
    text_release(&rate);
}

void progress_show(struct progress *progress, int64_t done, int64_t all)
{
    int permille = all > 0 && done < all ? (int)(done * PERMILLE / all) : PERMILLE;
    int64_t now = progress->is_on ? now_ms() : 0;
    char bar[BAR_CELLS + 1];

    if (progress->is_counted && progress->first < 0)
        progress->first = done;
    if (progress->is_plain)
        say_line(progress, permille, done, all);
    if (!progress->is_on || permille == progress->shown ||
        (progress->shown >= 0 && now - progress->drawn_ms < DRAW_EVERY_MS))
        return;
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < permille * BAR_CELLS / PERMILLE ? '#' : '-';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%s [%s] %3d %%", i18n_text(progress->what), bar, permille / 10);
    draw_rate(progress, done, now);
    fflush(stderr);
    progress->shown = permille;
    progress->drawn_ms = now;
}

void progress_end(struct progress *progress)
{
    if (progress->is_on && progress->shown >= 0)
        fprintf(stderr, "\r\x1b[K");
    progress->shown = -1;
}
