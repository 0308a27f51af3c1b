/* migrate.c - `sayso migrate`: the store from its file into PostgreSQL; prints no password. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/history/history.h"
#include "cli/say.h"
#include "hub/maintenance.h"
#include "settings/settings.h"

static const char source_scheme[] = "sqlite:";
/* The hub that takes the setting still has the file: it has to go. */
static const char set_store[] = "sayso settings set store "; /* not for people */
static const char then_stop[] = " && sayso stop";            /* not for people */

struct shown {
    bool is_quiet;
    enum migrate_phase phase; /* MIGRATE_PHASES: none yet */
    struct progress progress;
};

static void show(void *context, enum migrate_phase phase, int64_t done, int64_t all)
{
    static const enum text_id words[MIGRATE_PHASES] = {
        [MIGRATE_CHECKING] = TEXT_PROGRESS_CHECKING,
        [MIGRATE_COPYING] = TEXT_PROGRESS_COPYING,
        [MIGRATE_COMPARING] = TEXT_PROGRESS_COMPARING,
    };
    struct shown *shown = context;

    if (phase != shown->phase) {
        progress_end(&shown->progress);
        shown->progress = progress_begin_counted(words[phase], shown->is_quiet);
        shown->phase = phase;
    }
    progress_show(&shown->progress, done, all);
}

static bool write_command(const char *url, struct text *out)
{
    struct text address = { 0 };
    bool is_masked = setting_hide_password(url, &address);

    text_add_text(out, set_store);
    text_add_shell_word(out, text_string(&address));
    text_add_text(out, then_stop);
    text_release(&address);
    return is_masked;
}

static int64_t count_of(const struct migrated *migrated, const char *table)
{
    for (size_t i = 0; i < SCAN_TABLES; i++) {
        if (strcmp(table_scan_tables[i].name, table) == 0)
            return migrated->counts[i];
    }
    return 0;
}

static void print_json(const struct migrated *migrated, const char *name, const char *command)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_text(&writer, "store", name);
    json_write_integer(&writer, "rows", migrated->rows);
    json_write_integer(&writer, "earlier", migrated->was_done ? migrated->rows : migrated->earlier);
    json_write_integer(&writer, "last_event", migrated->seq);
    json_write_object(&writer, "tables");
    for (size_t i = 0; i < SCAN_TABLES; i++)
        json_write_integer(&writer, table_scan_tables[i].name, migrated->counts[i]);
    json_write_end_object(&writer);
    json_write_text(&writer, "next", command);
    say_object(&writer);
}

static void say_migrated(const struct arguments *arguments, const struct migrated *migrated,
                         const char *path, const char *url)
{
    struct text name = { 0 }, command = { 0 };
    bool is_masked = write_command(url, &command);

    hub_write_database_name(url, &name);
    if (arguments->is_json) {
        print_json(migrated, text_string(&name), text_string(&command));
    } else {
        if (migrated->was_done)
            say_result(TEXT_CLI_MIGRATED_BEFORE, "name", text_string(&name));
        else
            say_result(TEXT_CLI_MIGRATED, "name", text_string(&name), "count",
                       TEXT_NUMBER(migrated->rows), "asks",
                       TEXT_NUMBER(count_of(migrated, "asks")));
        if (migrated->earlier > 0)
            say_result(TEXT_CLI_MIGRATE_RESUMED, "count", TEXT_NUMBER(migrated->earlier));
        say_result(TEXT_CLI_MIGRATED_NEXT, "path", path);
        printf("  %s\n", text_string(&command)); /* alone on its line: to be copied */
        if (is_masked)
            say_result(TEXT_CLI_MIGRATED_MASKED);
    }
    text_release(&name);
    text_release(&command);
}

static enum exit_code migrate(const struct arguments *arguments, const char *path, const char *url)
{
    struct shown shown = { .is_quiet = arguments->is_json, .phase = MIGRATE_PHASES };
    struct hub_move move = { .path = path, .url = url, .told = show, .context = &shown };
    struct migrated migrated;
    struct text read = { 0 };
    struct error err = { 0 };
    enum hub_outcome outcome = hub_migrate(&move, &migrated, &read, &err);

    progress_end(&shown.progress);
    if (outcome == HUB_ENDED)
        say_migrated(arguments, &migrated, text_string(&read), url);
    else if (outcome == HUB_BUSY)
        error_say(&err, ERROR_unavailable, "", TEXT_REASON_MIGRATE_BUSY, NULL);
    if (err.code)
        say_error(arguments, &err, NULL);
    if (outcome != HUB_ENDED && migrated.was_begun && !arguments->is_json)
        say_note(TEXT_CLI_MIGRATE_KEPT);
    text_release(&read);
    return outcome == HUB_ENDED ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code discard(const struct arguments *arguments, const char *url)
{
    struct error err = { 0 };
    bool was_begun;

    if (!hub_migrate_discard(url, &was_begun, &err)) {
        say_error(arguments, &err, NULL);
        return EXIT_ERROR;
    }
    if (arguments->is_json)
        printf("{\"discarded\":%s}\n", was_begun ? "true" : "false");
    else
        say_result(was_begun ? TEXT_CLI_MIGRATE_DISCARDED : TEXT_CLI_MIGRATE_NONE);
    return EXIT_DONE;
}

static enum exit_code say_bad(enum text_id text, const char *address)
{
    struct text name = { 0 };

    setting_hide_password(address, &name);
    say_problem(text, "name", text_string(&name));
    text_release(&name);
    return EXIT_USAGE;
}

static enum exit_code run_migrate(const struct arguments *arguments)
{
    bool is_discard = arguments_value(arguments, "discard") != NULL;
    size_t count = arguments->word_count;
    const char *first = count == 2 ? arguments->words[0] : NULL, *url;

    if (count == 0 || (is_discard && count != 1))
        return say_needs(arguments, "[sqlite:PATH] postgres://USER@HOST/DATABASE");
    url = arguments->words[count - 1];
    if (first && (strncmp(first, source_scheme, strlen(source_scheme)) != 0 ||
                  !first[strlen(source_scheme)]))
        return say_bad(TEXT_CLI_MIGRATE_SOURCE, first);
    if (!hub_is_database(url))
        return say_bad(TEXT_CLI_MIGRATE_TARGET, url);
    if (is_discard)
        return discard(arguments, url);
    return migrate(arguments, first ? first + strlen(source_scheme) : NULL, url);
}

static const struct verb_option options[] = {
    { "discard", 0, NULL, TEXT_OPT_MIGRATE_DISCARD, false },
};
static const char *const usage[] = { "migrate [sqlite:PATH] postgres://USER@HOST/DATABASE",
                                     "migrate --discard postgres://USER@HOST/DATABASE", NULL };
static const char *const examples[] = { "migrate postgres://sayso@db.example/sayso", NULL };
VERB_ROW(migrate, TEXT_CLI_MIGRATE, VERB_TABLES, .max_words = 2);
