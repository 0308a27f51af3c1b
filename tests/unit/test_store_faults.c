/*
 * test_store_faults.c - every I/O failure in turn, once and for good; full disks.
 * Proves: P16, R5.2, E2, E4
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/os.h"
#include "fault_vfs.h"
#include "store/sqlite/database.h"
#include "store_fixture.h"

#define PLACE_CASE(name) cmocka_unit_test_setup_teardown(name, set_up_place, tear_down)
enum {
    ALL_CHANGES = 1 << FAULT_WRITE | 1 << FAULT_SYNC | 1 << FAULT_TRUNCATE | 1 << FAULT_OPEN |
                  1 << FAULT_DELETE
};

static int64_t free_bytes = -1; /* -1: ask the system */
int64_t __real_os_free_bytes(const char *path);
int64_t __wrap_os_free_bytes(const char *path);
int64_t __wrap_os_free_bytes(const char *path)
{
    return free_bytes >= 0 ? free_bytes : __real_os_free_bytes(path);
}

/* One write of the scripted session: how it is asked for, and the SQL that counts what it left. */
struct step {
    void (*ask_for)(struct place *place, struct seen *seen);
    const char *trace; /* NULL: leaves none */
    const char *given; /* counts 1 where the trace means anything; NULL: always */
};

static void create_plain(struct place *place, int number, const char *form, struct seen *seen)
{
    struct ask ask = make_ask(number);
    struct store_principal principal = principal_of(&ask);

    if (form)
        ask.form_json = form;
    store_write_create(place->store, &(struct store_create){ ask, principal }, on_reply, seen);
}

static void create_one(struct place *place, struct seen *seen)
{
    create_plain(place, 1, NULL, seen);
}

static void create_large(struct place *place, struct seen *seen)
{
    static char form[40000];

    memset(form, 'x', sizeof form - 1);
    create_plain(place, 2, form, seen);
}

static void answer(struct place *place, const char *key, struct seen *seen)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, key);

    store_write_change(place->store, &how, on_reply, seen);
}

static void answer_one(struct place *place, struct seen *seen)
{
    answer(place, "k-0", seen);
}

static void answer_again(struct place *place, struct seen *seen)
{
    answer(place, "k-1", seen);
}

static void undo_one(struct place *place, struct seen *seen)
{
    struct ask ask = make_ask(1);
    struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);

    undo.from_states = 1U << STATE_SUBMITTED;
    undo.to_state = STATE_PENDING;
    undo.needs_sync = true;
    undo.removes_answer = true;
    store_write_change(place->store, &undo, on_reply, seen);
}

static void draft_one(struct place *place, struct seen *seen)
{
    struct ask ask = make_ask(2);

    store_write_draft(place->store, &(struct store_draft){ ask.id, "owner", "{\"d\":1}", 1 },
                      on_reply, seen);
}

static void save_theme(struct place *place, struct seen *seen)
{
    store_write_setting(place->store, &(struct store_setting){ "owner", "theme", "dark" }, on_reply,
                        seen);
}

static void shift_all(struct place *place, struct seen *seen)
{
    store_write_shift(place->store, &(struct store_shift){ 1000 }, on_reply, seen);
}

static void index_all(struct place *place, struct seen *seen)
{
    const struct store_index index = { INT64_MAX / 2, 100, 0 };

    store_write_index(place->store, &index, on_reply, seen);
}

static void reopen_here(struct place *place, struct seen *seen)
{
    struct error err = { 0 };

    close_store(place);
    seen->count = 1;
    if (!sqlite_store_open_with_vfs(place->loop, place->path, FAULT_VFS, &place->store, &err)) {
        assert_int_equal(err.code, ERROR_storage_failed);
        seen->reply.outcome = STORE_FAILED;
    }
}

static const struct step steps[] = {
    { .ask_for = reopen_here },
    { create_one,
      "SELECT count(*) FROM asks WHERE tool = 'provide_choice'"
      " AND created_ms = 1700000000001",
      NULL },
    { answer_one, "SELECT count(*) FROM answers WHERE answer_key = 'k-0'", NULL },
    { index_all,
      "SELECT count(*) FROM asks WHERE created_ms = 1700000000001"
      " AND number < (SELECT next FROM search)",
      "SELECT count(*) FROM asks WHERE created_ms = 1700000000001" },
    { create_large,
      "SELECT count(*) FROM asks JOIN ask_texts USING (number)"
      " WHERE created_ms = 1700000000002 AND length(form) = 39999",
      NULL },
    { save_theme, "SELECT count(*) FROM settings WHERE name = 'theme' AND value = 'dark'", NULL },
    { draft_one, "SELECT count(*) FROM drafts WHERE body = '{\"d\":1}'", NULL },
    { .ask_for = reopen_here },
    { undo_one, "SELECT count(*) FROM answers WHERE answer_key = 'k-0' AND decisive = 0", NULL },
    { answer_again,
      "SELECT count(*) FROM answers JOIN asks ON asks.answer_seq = answers.seq"
      " WHERE answer_key = 'k-1'",
      NULL },
    { shift_all,
      "SELECT count(*) FROM asks WHERE created_ms = 1700000000002 AND deadline_ms = 1700000601002",
      "SELECT count(*) FROM asks WHERE created_ms = 1700000000002" },
};

/* Runs the session under whatever is planned; ends early when the store does not open. */
static void run_session(struct place *place, enum store_outcome outcomes[ARRAY_LEN(steps)])
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        outcomes[i] = STORE_MISSING;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct seen seen = { .loop = place->loop };

        if (steps[i].trace && !place->store)
            break;
        steps[i].ask_for(place, &seen);
        wait_for(place, &seen);
        outcomes[i] = seen.reply.outcome;
        if (outcomes[i] == STORE_FAILED && steps[i].trace)
            assert_int_equal(seen.reply.err.code, ERROR_storage_failed);
        forget(&seen);
    }
}

static void assert_nothing_moved_aside(const char *directory)
{
    DIR *list = opendir(directory);
    struct dirent *entry;

    while ((entry = readdir(list)))
        assert_null(strstr(entry->d_name, "damaged"));
    closedir(list);
}

/* A broken disk that stays broken may keep a commit whose sync failed; it can't be undone there. */
static void check_session(struct place *place, const enum store_outcome *outcomes, bool is_certain)
{
    struct ask another = make_ask(9);
    sqlite3 *db;

    assert_nothing_moved_aside(place->directory);
    open_store(place);
    assert_string_equal(place->store->ops->meta(place->store, "recovered_from"), "");
    create_done(place, &another);
    assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
    assert_sound(db, true);
    assert_int_equal(
        sqlite3_exec(db, "INSERT INTO words (words) VALUES ('integrity-check')", NULL, NULL, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        const struct step *step = &steps[i];

        if (!step->trace || (step->given && count_sql(db, step->given) != 1))
            continue;
        if (outcomes[i] == STORE_DONE)
            assert_int_equal(count_sql(db, step->trace), 1);
        else if (outcomes[i] == STORE_FAILED && is_certain)
            assert_int_equal(count_sql(db, step->trace), 0);
    }
    sqlite3_close(db);
}

static void one_faulty_session(struct fault_plan plan)
{
    enum store_outcome outcomes[ARRAY_LEN(steps)];
    struct place *place;
    void *state;

    set_up_place(&state);
    place = state;
    fault_vfs_plan(plan);
    run_session(place, outcomes);
    if (place->store && plan.is_full)
        assert_false(place->store->ops->is_broken(place->store));
    close_store(place);
    fault_vfs_plan((struct fault_plan){ 0 });
    check_session(place, outcomes, !plan.stays || plan.is_full);
    tear_down(&state);
}

static long count_acts(uint32_t acts)
{
    enum store_outcome outcomes[ARRAY_LEN(steps)];
    void *state;
    long count;

    set_up_place(&state);
    fault_vfs_plan((struct fault_plan){ .acts = acts });
    run_session(state, outcomes);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        assert_int_equal(outcomes[i], STORE_DONE);
    close_store(state);
    count = fault_vfs_count();
    fault_vfs_plan((struct fault_plan){ 0 });
    check_session(state, outcomes, true);
    tear_down(&state);
    return count;
}

static void fail_each(struct fault_plan plan)
{
    long count = count_acts(plan.acts);

    assert_true(count > 20);
    for (plan.at = 1; plan.at <= count; plan.at++)
        one_faulty_session(plan);
    print_message("# %ld places\n", count);
}

static void every_failure_once(void **state)
{
    (void)state;
    fail_each((struct fault_plan){ .acts = ALL_CHANGES });
}

static void every_failure_for_good(void **state)
{
    (void)state;
    fail_each((struct fault_plan){ .acts = ALL_CHANGES, .stays = true });
}

static void every_read_failure_once(void **state)
{
    (void)state;
    fail_each((struct fault_plan){ .acts = 1 << FAULT_READ });
}

static void a_full_disk_once(void **state)
{
    (void)state;
    fail_each((struct fault_plan){ .acts = 1 << FAULT_WRITE, .is_full = true });
}

static void a_full_disk_for_good(void **state)
{
    (void)state;
    fail_each((struct fault_plan){ .acts = 1 << FAULT_WRITE, .is_full = true, .stays = true });
}

static void open_faulty(struct place *place)
{
    struct error err = { 0 };

    assert_true(
        sqlite_store_open_with_vfs(place->loop, place->path, FAULT_VFS, &place->store, &err));
}

static void after_a_failed_sync_nothing_is_acknowledged(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "k-0");
    struct seen seen;

    open_faulty(place);
    create_done(place, &ask);
    fault_vfs_plan((struct fault_plan){ .acts = 1 << FAULT_SYNC, .at = 1 });
    seen = change(place, &how);
    assert_int_equal(seen.reply.outcome, STORE_FAILED);
    assert_int_equal(seen.reply.err.code, ERROR_storage_failed);
    assert_non_null(strstr(seen.reply.err.message, "restart"));
    assert_null(seen.row);
    assert_true(place->store->ops->is_broken(place->store));
    seen = change(place, &how); /* the disk would take it now: too late */
    assert_int_equal(seen.reply.outcome, STORE_FAILED);
    seen = get(place, ask.id);
    assert_int_equal(seen.row->ask.state, STATE_PENDING);
    forget(&seen);
    close_store(place);
    fault_vfs_plan((struct fault_plan){ 0 });
    open_store(place);
    seen = get(place, ask.id);
    assert_int_equal(seen.row->ask.state, STATE_PENDING);
    assert_null(seen.row->answer_json);
    forget(&seen);
    change_done(place, &how);
}

static void a_full_disk_mends_itself(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "k-0");
    struct seen seen;

    open_faulty(place);
    create_done(place, &ask);
    fault_vfs_plan(
        (struct fault_plan){ .acts = 1 << FAULT_WRITE, .at = 1, .is_full = true, .stays = true });
    seen = change(place, &how);
    assert_int_equal(seen.reply.outcome, STORE_FAILED);
    assert_non_null(strstr(seen.reply.err.message, "free some space"));
    assert_false(place->store->ops->is_broken(place->store));
    fault_vfs_plan((struct fault_plan){ 0 });
    change_done(place, &how);
    assert_int_equal(place->store->ops->last_seq(place->store), 2);
    assert_int_equal(bad_event(place), 0);
}

static void a_file_limit_is_a_full_disk(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct rlimit before, small;
    struct seen seen;
    char *form = mem_new(300000);

    open_store(place);
    create_done(place, &ask);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 200000;
    ask = make_ask(2);
    ask.form_json = memset(form, 'x', 299999);
    setrlimit(RLIMIT_FSIZE, &small);
    seen = create(place, &ask);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(seen.reply.outcome, STORE_FAILED);
    assert_non_null(strstr(seen.reply.err.message, "free some space"));
    assert_false(place->store->ops->is_broken(place->store));
    create_done(place, &ask);
    free(form);
}

static void a_nearly_full_disk_still_takes_answers(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1), late = make_ask(2);
    struct store_change how = answer_of(ask.id, "k-0");
    struct seen seen;

    open_store(place);
    create_done(place, &ask);
    free_bytes = 1024 * 1024 - 1;
    seen = create(place, &late);
    assert_int_equal(seen.reply.outcome, STORE_FAILED);
    assert_int_equal(seen.reply.err.code, ERROR_storage_failed);
    assert_non_null(strstr(seen.reply.err.message, "almost full"));
    change_done(place, &how);
    free_bytes = 1024 * 1024;
    create_done(place, &late);
    free_bytes = -1;
}

static void every_code_has_its_meaning(void **state)
{
    static const struct {
        int rc;
        enum failure failure;
    } cases[] = {
        { SQLITE_FULL, FAILURE_FULL },
        { SQLITE_READONLY, FAILURE_READ_ONLY },
        { SQLITE_READONLY_DBMOVED, FAILURE_READ_ONLY },
        { SQLITE_BUSY, FAILURE_BUSY },
        { SQLITE_BUSY_SNAPSHOT, FAILURE_BUSY },
        { SQLITE_NOMEM, FAILURE_MEMORY },
        { SQLITE_IOERR_NOMEM, FAILURE_MEMORY },
        { SQLITE_IOERR_FSYNC, FAILURE_BROKEN },
        { SQLITE_IOERR_READ, FAILURE_BROKEN },
        { SQLITE_IOERR_SHMSIZE, FAILURE_BROKEN },
        { SQLITE_CORRUPT, FAILURE_BROKEN },
        { SQLITE_CORRUPT_INDEX, FAILURE_BROKEN },
        { SQLITE_NOTADB, FAILURE_BROKEN },
        { SQLITE_CONSTRAINT_UNIQUE, FAILURE_JOB },
        { SQLITE_ERROR, FAILURE_JOB },
        { SQLITE_TOOBIG, FAILURE_JOB },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(failure_of(NULL, cases[i].rc), cases[i].failure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_meaning),
        cmocka_unit_test(every_failure_once),
        cmocka_unit_test(every_failure_for_good),
        cmocka_unit_test(every_read_failure_once),
        cmocka_unit_test(a_full_disk_once),
        cmocka_unit_test(a_full_disk_for_good),
        PLACE_CASE(after_a_failed_sync_nothing_is_acknowledged),
        PLACE_CASE(a_full_disk_mends_itself),
        PLACE_CASE(a_file_limit_is_a_full_disk),
        PLACE_CASE(a_nearly_full_disk_still_takes_answers),
    };

    fault_vfs_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
