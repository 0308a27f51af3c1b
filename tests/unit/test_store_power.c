/*
 * test_store_power.c - the power goes at any point of a recorded session: what was acknowledged as
 * on disk is there afterwards, and the file is sound. SAYSO_CUTS says how many points are tried
 * (2,000 unless told).
 * Proves: P2, R5.2, E3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "fault_vfs.h"
#include "power_cut.h"
#include "store_fixture.h"

#define PLACE_CASE(name) cmocka_unit_test_setup_teardown(name, set_up_place, tear_down)

static void open_faulty(struct place *place)
{
    struct error err = { 0 };

    assert_true(
        sqlite_store_open_with_vfs(place->loop, place->path, FAULT_VFS, &place->store, &err));
}

/* What was acknowledged as on disk, and where in the log that was. */
enum { MAX_ACKS = 512, HANG_LOOKS = 6000 };
struct acks {
    struct place *place;
    int asked, left, count;
    size_t positions[MAX_ACKS];
};

static void on_ack(void *context, const struct store_reply *reply)
{
    struct acks *acks = context;

    assert_int_equal(reply->outcome, STORE_DONE);
    acks->positions[acks->count++] = fault_vfs_position();
    if (--acks->left == 0)
        loop_stop(acks->place->loop);
}

static void on_created(void *context, const struct store_reply *reply)
{
    struct acks *acks = context;

    assert_int_equal(reply->outcome, STORE_DONE);
    if (--acks->left == 0)
        loop_stop(acks->place->loop);
}

/* Asks and answers `count` in parallel; answer N has the key "k-N" and they end in that order. */
static void ask_and_answer(struct acks *acks, int count, const char *form)
{
    struct store *store = acks->place->store;

    acks->left = 2 * count;
    for (int i = 0; i < count; i++) {
        struct ask ask = make_ask(++acks->asked);
        struct store_principal principal = principal_of(&ask);
        struct store_change how = answer_of(ask.id, NULL);
        char key[32];

        snprintf(key, sizeof key, "k-%d", acks->asked - 1);
        how.answer_key = key;
        if (form)
            ask.form_json = form;
        store_write_create(store, &(struct store_create){ ask, principal }, on_created, acks);
        store_write_change(store, &how, on_ack, acks);
    }
    loop_run(acks->place->loop);
}

static void reopen_recorded(struct place *place)
{
    close_store(place);
    open_faulty(place);
}

/* The idle writer folds the log into the file; what comes then waits behind that. */
static void wait_until_folded(void)
{
    size_t before = fault_vfs_position();

    for (int i = 0; i < HANG_LOOKS && fault_vfs_position() == before; i++)
        usleep(10000);
    assert_true(fault_vfs_position() > before);
}

static void record_small(struct acks *acks)
{
    for (int i = 0; i < 10; i++)
        ask_and_answer(acks, 1 + i % 4, NULL);
    wait_until_folded();
    for (int i = 0; i < 10; i++)
        ask_and_answer(acks, 1 + i % 4, NULL);
    reopen_recorded(acks->place);
    for (int i = 0; i < 10; i++)
        ask_and_answer(acks, 1, NULL);
}

/* Large enough for checkpoints between commits, and for a log that is begun again. */
static void record_large(struct acks *acks)
{
    char *form = mem_new(60000);

    memset(form, 'x', 59999);
    for (int i = 0; i < 30; i++)
        ask_and_answer(acks, 4, form);
    free(form);
}

static void check_cut(const char *path, const struct acks *acks, size_t position)
{
    char text[160];
    sqlite3 *db;
    int must = 0;
    bool has_tables;

    while (must < acks->count && acks->positions[must] <= position)
        must++;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    has_tables = count_sql(db, "SELECT count(*) FROM sqlite_schema") > 0;
    assert_sound(db, has_tables);
    assert_true(has_tables || must == 0);
    if (has_tables) {
        snprintf(text, sizeof text,
                 "SELECT count(*) FROM asks JOIN answers ON answers.seq = asks.answer_seq WHERE"
                 " state = 3 AND CAST(substr(answer_key, 3) AS INTEGER) < %d",
                 must);
        assert_int_equal(count_sql(db, text), must);
    }
    sqlite3_close(db);
}

static void check_store_opens(struct place *place)
{
    open_store(place);
    assert_string_equal(place->store->ops->meta(place->store, "recovered_from"), "");
    close_store(place);
}

static void cut_often(struct place *place, const struct acks *acks, const struct fault_log *log,
                      long cuts)
{
    struct power_cut *cut = power_cut_new(log);
    char *shm = mem_format("%s-shm", place->path);

    for (long i = 0; i < cuts; i++) {
        size_t position = (size_t)((double)(log->count + 1) * (double)i / (double)cuts);

        power_cut_advance(cut, position);
        unlink(shm);
        power_cut_write(cut, (uint64_t)i + 1, place->path);
        check_cut(place->path, acks, position);
        if (i % 20 == 0)
            check_store_opens(place);
    }
    free(shm);
    power_cut_free(cut);
}

static void cut_a_session(struct place *place, void (*record)(struct acks *acks), long cuts)
{
    struct fault_log log = { 0 };
    struct acks acks = { .place = place };

    fault_vfs_record(&log);
    open_faulty(place);
    record(&acks);
    close_store(place);
    fault_vfs_record(NULL);
    assert_int_equal(acks.count, acks.asked);
    cut_often(place, &acks, &log, cuts);
    print_message("# %ld cuts over %zu acts, %d answers\n", cuts, log.count, acks.count);
    fault_log_release(&log);
}

static long cuts_wanted(void)
{
    const char *text = getenv("SAYSO_CUTS");

    return text ? strtol(text, NULL, 10) : 2000;
}

static void the_power_may_go_at_any_time(void **state)
{
    cut_a_session(*state, record_small, cuts_wanted() * 3 / 4);
}

static void the_power_may_go_between_checkpoints(void **state)
{
    cut_a_session(*state, record_large, cuts_wanted() / 4);
}

/* A process that was killed may have left a commit that is in the log and not on disk. The next one
 * acknowledges what it finds, so it syncs the log first. */
static void a_start_syncs_what_was_left(void **state)
{
    struct place *place = *state;
    struct fault_log log = { 0 };
    struct acks acks = { .place = place, .left = 1 };
    struct ask ask = make_ask(1);
    struct store_principal principal = principal_of(&ask);
    struct store *left;
    bool is_synced;
    size_t at;

    fault_vfs_record(&log);
    open_faulty(place);
    store_write_create(place->store, &(struct store_create){ ask, principal }, on_created, &acks);
    loop_run(place->loop);
    left = place->store;
    at = log.count;
    open_faulty(place);
    while (at < log.count &&
           !(log.entries[at].act == FAULT_SYNC && log.entries[at].file == FAULT_LOG))
        at++;
    is_synced = at < log.count;
    left->ops->close(left);
    close_store(place);
    fault_vfs_record(NULL);
    assert_true(is_synced);
    fault_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_CASE(a_start_syncs_what_was_left),
        PLACE_CASE(the_power_may_go_at_any_time),
        PLACE_CASE(the_power_may_go_between_checkpoints),
    };

    fault_vfs_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
