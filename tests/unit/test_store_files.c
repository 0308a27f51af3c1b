/*
 * test_store_files.c - the files of the store: who may read them, which are refused, and what
 * happens to damaged ones.
 * Proves: E6, E14, C2, C4
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/text.h"
#include "store/sqlite/schema.h"
#include "store_fixture.h"

#define PLACE_CASE(name) cmocka_unit_test_setup_teardown(name, set_up_place, tear_down)
enum { MAX_FILE = 4 * 1024 * 1024 };

static const char *const suffixes[] = { "", "-wal", "-shm" };

static void assert_private(struct place *place)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        char *name = mem_format("%s%s", place->path, suffixes[i]);
        struct stat info;

        assert_int_equal(stat(name, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0600);
        free(name);
    }
}

static void files_are_for_us_alone(void **state)
{
    static const mode_t masks[] = { 0, 022, 077, 0177, 0277 };
    struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
        mode_t before = umask(masks[i]);
        struct ask ask = make_ask(1);

        open_store(place);
        create_done(place, &ask);
        assert_private(place);
        assert_int_equal(umask(before), masks[i]);
        close_store(place);
        unlink(place->path);
    }
}

static void an_open_file_is_closed_to_others(void **state)
{
    struct place *place = *state;

    open_store(place);
    close_store(place);
    assert_int_equal(chmod(place->path, 0666), 0);
    open_store(place);
    assert_private(place);
}

static void assert_refused(struct place *place, const char *path, const char *words)
{
    struct error err = { 0 };
    struct store *store;

    assert_false(sqlite_store_open(place->loop, path, &store, &err));
    assert_int_equal(err.code, ERROR_storage_failed);
    if (!strstr(err.message, words))
        fail_msg("\"%s\" is not in: %s", words, err.message);
}

static void links_and_other_things_are_refused(void **state)
{
    struct place *place = *state;
    char *link = mem_format("%s/link.db", place->directory);
    char *folder = mem_format("%s/folder.db", place->directory);
    char *fifo = mem_format("%s/fifo.db", place->directory);
    char *nowhere = mem_format("%s/none/store.db", place->directory);

    open_store(place);
    close_store(place);
    assert_int_equal(symlink(place->path, link), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_refused(place, link, "symbolic link");
    assert_refused(place, folder, "can't open");
    assert_refused(place, fifo, "not a regular file");
    assert_refused(place, nowhere, "create the directory");
    rmdir(folder);
    free(link);
    free(folder);
    free(fifo);
    free(nowhere);
}

static void a_directory_may_be_reached_by_a_link(void **state)
{
    struct place *place = *state;
    char *link = mem_format("%s/here", place->directory);
    struct error err = { 0 };

    assert_int_equal(symlink(place->directory, link), 0);
    snprintf(place->path, sizeof place->path, "%s/store.db", link);
    if (!sqlite_store_open(place->loop, place->path, &place->store, &err))
        fail_msg("%s", err.message);
    free(link);
}

static struct text read_whole(const char *path)
{
    struct text bytes = { 0 };
    struct error err = { 0 };

    if (!os_read_file(path, MAX_FILE, &bytes, &err))
        fail_msg("%s: %s", path, err.message);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void a_newer_file_is_refused_and_left_alone(void **state)
{
    struct place *place = *state;
    char raise[64];
    struct text before, after;

    open_store(place);
    close_store(place);
    snprintf(raise, sizeof raise, "PRAGMA user_version = %d", schema_version() + 1);
    sql(place, raise);
    before = read_whole(place->path);
    assert_refused(place, place->path, "newer version of sayso");
    after = read_whole(place->path);
    assert_int_equal(before.used, after.used);
    assert_memory_equal(before.bytes, after.bytes, before.used);
    text_release(&before);
    text_release(&after);
}

static void another_programs_file_is_refused_and_left_alone(void **state)
{
    struct place *place = *state;

    sql(place, "CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')");
    assert_refused(place, place->path, "another program");
    assert_int_equal(sql_number(place, "SELECT count(*) FROM recipes"), 1);
}

static void all_tables_are_there_from_the_first_day(void **state)
{
    static const char *const tables[] = {
        "people", "principals",   "tokens",        "asks", "ask_texts", "answers", "drafts",
        "events", "client_facts", "conversations", "keys", "settings",  "meta",    "counter",
    };
    struct place *place = *state;

    open_store(place);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char *query = mem_format("SELECT count(*) FROM pragma_table_list WHERE name = '%s'"
                                 " AND (strict = 1 OR type = 'view')",
                                 tables[i]);

        assert_int_equal(sql_number(place, query), 1);
        free(query);
    }
    assert_int_equal(sql_number(place, "SELECT count(*) FROM people"), 1);
    assert_int_equal(sql_number(place, "PRAGMA user_version"), schema_version());
    assert_int_equal(sql_number(place, "PRAGMA application_id"), SCHEMA_APPLICATION_ID);
}

static void a_clean_end_leaves_one_file(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    char *log = mem_format("%s-wal", place->path);

    open_store(place);
    create_done(place, &ask);
    assert_int_equal(access(log, F_OK), 0);
    close_store(place);
    assert_int_not_equal(access(log, F_OK), 0);
    free(log);
}

static int64_t log_bytes(struct place *place)
{
    char *log = mem_format("%s-wal", place->path);
    struct stat info = { 0 };

    assert_int_equal(stat(log, &info), 0);
    free(log);
    return info.st_size;
}

static void the_log_stays_small_and_is_folded_when_idle(void **state)
{
    struct place *place = *state;
    char *form = mem_new(100000);

    memset(form, 'x', 99999);
    open_store(place);
    for (int i = 1; i <= 200; i++) {
        struct ask ask = make_ask(i);

        ask.form_json = form;
        create_done(place, &ask);
    }
    assert_in_range(log_bytes(place), 1, 6 * 1024 * 1024);
    for (int i = 0; log_bytes(place) > 0 && i < 600; i++)
        usleep(100000);
    assert_int_equal(log_bytes(place), 0);
    free(form);
}

/* Copies the files of the open store, as a kill would leave them; most of it is in the log. */
static void become_copy(struct place *place)
{
    char copy[sizeof place->path];

    snprintf(copy, sizeof copy, "%.60s/copy.db", place->directory);
    for (size_t i = 0; i < 2; i++) {
        char *from = mem_format("%s%s", place->path, suffixes[i]);
        char *to = mem_format("%s%s", copy, suffixes[i]);
        struct text bytes = read_whole(from);

        write_whole(to, bytes.bytes, bytes.used);
        text_release(&bytes);
        free(from);
        free(to);
    }
    close_store(place);
    memcpy(place->path, copy, sizeof copy);
    memcpy(place->where, copy, sizeof copy);
}

static void the_log_is_played_in_after_a_kill(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct seen seen;

    open_store(place);
    create_done(place, &ask);
    become_copy(place);
    open_store(place);
    assert_private(place);
    seen = get(place, ask.id);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    forget(&seen);
}

static void fill(struct place *place)
{
    open_store(place);
    for (int i = 1; i <= 40; i++) {
        struct ask ask = make_ask(i);
        struct store_change how;
        char key[16];

        snprintf(key, sizeof key, "k-%d", i);
        how = answer_of(ask.id, key);
        create_done(place, &ask);
        change_done(place, &how);
    }
    close_store(place);
}

/* Left behind, the log would be played into the new file. */
static void the_log_goes_with_a_damaged_file(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_change how = store_change_of(ask.id, EVENT_DELIVERED);
    char *log = mem_format("%s/copy.db-wal", place->directory), *aside;
    struct text before, after;
    struct seen seen;

    how.from_states = ~0U;
    fill(place); /* so that the log has some pages only */
    open_store(place);
    change_done(place, &how);
    become_copy(place);
    before = read_whole(log);
    write_whole(place->path,
                "not a database, and longer than its first hundred bytes; "
                "not a database, and longer than its first hundred bytes",
                112);
    open_store(place);
    seen = get(place, ask.id);
    assert_int_equal(seen.reply.outcome, STORE_MISSING);
    aside = mem_format("%s-wal", place->store->ops->meta(place->store, "recovered_from"));
    after = read_whole(aside);
    assert_int_equal(before.used, after.used);
    assert_memory_equal(before.bytes, after.bytes, before.used);
    text_release(&before);
    text_release(&after);
    free(log);
    free(aside);
}

/* The file that was moved aside has exactly these bytes. */
static void assert_kept_aside(struct place *place, const char *bytes, size_t length)
{
    char aside[256];
    struct text kept;

    snprintf(aside, sizeof aside, "%s", place->store->ops->meta(place->store, "recovered_from"));
    assert_non_null(strstr(aside, "store.db.damaged-"));
    kept = read_whole(aside);
    assert_int_equal(kept.used, length);
    assert_memory_equal(kept.bytes, bytes, length);
    text_release(&kept);
}

static void a_damaged_file_is_moved_aside(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    char *bytes = mem_new(8192);

    for (int round = 0; round < 3; round++) { /* the same second: names must differ */
        memset(bytes, 'A' + round, 8192);
        write_whole(place->path, bytes, 8192);
        open_store(place);
        assert_kept_aside(place, bytes, 8192);
        assert_private(place);
        create_done(place, &ask);
        reopen(place);
        assert_kept_aside(place, bytes, 8192);
        close_store(place);
    }
    free(bytes);
}

static void an_empty_file_is_a_new_one(void **state)
{
    struct place *place = *state;

    write_whole(place->path, "", 0);
    open_store(place);
    assert_string_equal(place->store->ops->meta(place->store, "recovered_from"), "");
}

static void on_any_row(void *context, const struct store_row *row, const struct error *err)
{
    (void)err; /* what is damaged may break off */
    (void)context;
    (void)row;
}

/* Whatever is broken: no crash, and it opens, or is moved aside whole, or is refused with words. */
static void use_damaged(struct place *place, const char *bytes, size_t length)
{
    struct store_list_query query = { STORE_LIST_ALL, 100, 0, NULL, NULL, 0, 0, NULL };
    struct ask ask = make_ask(99);
    struct store_principal principal = principal_of(&ask);
    struct error err = { 0 };
    struct seen seen = { 0 };

    write_whole(place->path, bytes, length);
    if (!sqlite_store_open(place->loop, place->path, &place->store, &err)) {
        assert_int_equal(err.code, ERROR_storage_failed);
        return;
    }
    if (*place->store->ops->meta(place->store, "recovered_from"))
        assert_kept_aside(place, bytes, length);
    place->store->ops->list(place->store, &query, on_any_row, NULL);
    store_write_create(place->store, &(struct store_create){ ask, principal }, on_reply, &seen);
    wait_for(place, &seen);
    forget(&seen);
    close_store(place);
}

static void remove_copies(struct place *place)
{
    DIR *list = opendir(place->directory);
    struct dirent *entry;

    while ((entry = readdir(list))) {
        char *name = mem_format("%s/%s", place->directory, entry->d_name);

        unlink(name);
        free(name);
    }
    closedir(list);
}

static void no_flipped_byte_does_worse_than_that(void **state)
{
    struct place *place = *state;
    struct text whole;

    fill(place);
    whole = read_whole(place->path);
    srand(1);
    for (int round = 0; round < 400; round++) {
        size_t at = (size_t)rand() % (round % 2 ? whole.used : 4096);
        char before = whole.bytes[at];

        remove_copies(place);
        whole.bytes[at] ^= (char)(1 + rand() % 255);
        use_damaged(place, whole.bytes, whole.used);
        whole.bytes[at] = before;
    }
    text_release(&whole);
}

static void no_lost_page_does_worse_than_that(void **state)
{
    struct place *place = *state;
    struct text whole;

    fill(place);
    whole = read_whole(place->path);
    for (size_t at = 0; at < whole.used; at += 4096) {
        char *page = mem_text_n(whole.bytes + at, 4096);

        remove_copies(place);
        memset(whole.bytes + at, 0, 4096);
        use_damaged(place, whole.bytes, whole.used);
        memcpy(whole.bytes + at, page, 4096);
        remove_copies(place);
        use_damaged(place, whole.bytes, at + 1000);
        free(page);
    }
    text_release(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_CASE(files_are_for_us_alone),
        PLACE_CASE(an_open_file_is_closed_to_others),
        PLACE_CASE(links_and_other_things_are_refused),
        PLACE_CASE(a_directory_may_be_reached_by_a_link),
        PLACE_CASE(a_newer_file_is_refused_and_left_alone),
        PLACE_CASE(another_programs_file_is_refused_and_left_alone),
        PLACE_CASE(all_tables_are_there_from_the_first_day),
        PLACE_CASE(a_clean_end_leaves_one_file),
        PLACE_CASE(the_log_stays_small_and_is_folded_when_idle),
        PLACE_CASE(the_log_is_played_in_after_a_kill),
        PLACE_CASE(the_log_goes_with_a_damaged_file),
        PLACE_CASE(a_damaged_file_is_moved_aside),
        PLACE_CASE(an_empty_file_is_a_new_one),
        PLACE_CASE(no_flipped_byte_does_worse_than_that),
        PLACE_CASE(no_lost_page_does_worse_than_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
