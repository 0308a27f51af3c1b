/*
 * test_log_vfs.c - the frames of a transaction go into the log with one write, and none of them is
 * held back when it has ended: a process that is killed then has lost nothing.
 * Proves: P1, E3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fault_vfs.h"
#include "remove_tree.h"
#include "store/sqlite/log_vfs.h"

#define WRITES_ONLY (1 << FAULT_WRITE)

struct here {
    char directory[64], path[96];
    sqlite3 *db;
};

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static int set_up(void **state)
{
    struct here *here = mem_new(sizeof *here);

    snprintf(here->directory, sizeof here->directory, "/tmp/sayso-log-XXXXXX");
    assert_non_null(mkdtemp(here->directory));
    snprintf(here->path, sizeof here->path, "%s/store.db", here->directory);
    fault_vfs_plan((struct fault_plan){ .acts = WRITES_ONLY });
    assert_int_equal(sqlite3_open_v2(here->path, &here->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                     log_vfs_over(FAULT_VFS)),
                     SQLITE_OK);
    run(here->db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                  "PRAGMA synchronous = NORMAL; CREATE TABLE t (n INTEGER PRIMARY KEY, body TEXT);"
                  "INSERT INTO t VALUES (0, '')");
    *state = here;
    return 0;
}

static int tear_down(void **state)
{
    struct here *here = *state;

    sqlite3_close(here->db);
    remove_tree(here->directory);
    free(here);
    return 0;
}

/* Rows so long that each needs a page of its own. */
static void add_rows(sqlite3 *db, int count)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < %d)"
             " INSERT INTO t (body) SELECT printf('%%.3000c', 'x') FROM r",
             count);
    run(db, sql);
}

static long long number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    long long number;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char bytes[65536];
    size_t got;

    assert_non_null(in);
    assert_non_null(out);
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, got, out), got);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* What a process that is killed now leaves behind, read by SQLite alone. */
static void assert_left_behind(struct here *here, long long rows)
{
    char copy[128], from[128], to[160];
    sqlite3 *db;

    snprintf(copy, sizeof copy, "%s/copy.db", here->directory);
    snprintf(from, sizeof from, "%s-wal", here->path);
    snprintf(to, sizeof to, "%s-wal", copy);
    copy_file(here->path, copy);
    copy_file(from, to);
    assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
    assert_int_equal(number_of(db, "SELECT count(*) FROM t"), rows);
    assert_int_equal(number_of(db, "SELECT count(*) FROM pragma_integrity_check"
                                   " WHERE integrity_check = 'ok'"),
                     1);
    sqlite3_close(db);
}

static long long rows_of(struct here *here)
{
    return number_of(here->db, "SELECT count(*) FROM t");
}

static void a_transaction_is_one_write(void **state)
{
    struct here *here = *state;

    add_rows(here->db, 5);
    fault_vfs_plan((struct fault_plan){ .acts = WRITES_ONLY });
    add_rows(here->db, 10);
    assert_int_equal(fault_vfs_count(), 1);
    add_rows(here->db, 100); /* more than is held back at a time */
    assert_in_range(fault_vfs_count(), 4, 6);
    assert_left_behind(here, 116);
}

static void nothing_is_held_back_after_a_commit(void **state)
{
    struct here *here = *state;

    int rows = 1;

    for (int size = 1; size < 80; size += 3) {
        add_rows(here->db, size);
        assert_left_behind(here, rows += size);
    }
    run(here->db, "PRAGMA wal_checkpoint(RESTART)");
    add_rows(here->db, 1); /* the log is begun again */
    assert_left_behind(here, rows += 1);
    run(here->db, "PRAGMA wal_checkpoint(TRUNCATE)");
    add_rows(here->db, 40);
    assert_left_behind(here, rows + 40);
}

/* Pages that do not fit into the cache are in the log before the commit; changed again, they are
 * written over and the headers behind them get new checksums. */
static void frames_are_written_over_before_the_commit(void **state)
{
    struct here *here = *state;

    run(here->db, "PRAGMA cache_size = 10");
    for (int round = 1; round <= 5; round++) {
        run(here->db, "BEGIN");
        add_rows(here->db, 60);
        run(here->db, "UPDATE t SET body = body || 'y' WHERE n % 3 = 0");
        add_rows(here->db, 1);
        run(here->db, "UPDATE t SET body = body || 'z' WHERE n < 30");
        run(here->db, "COMMIT");
        assert_left_behind(here, 1 + 61 * round); /* counting here would read, and so write */
    }
}

static void what_was_taken_back_is_not_there(void **state)
{
    struct here *here = *state;

    run(here->db, "PRAGMA cache_size = 10");
    add_rows(here->db, 20);
    run(here->db, "BEGIN");
    add_rows(here->db, 50);
    run(here->db, "ROLLBACK");
    assert_int_equal(rows_of(here), 21);
    assert_left_behind(here, 21);
    add_rows(here->db, 3);
    assert_left_behind(here, 24);
}

static void a_failed_write_fails_the_commit(void **state)
{
    struct here *here = *state;

    add_rows(here->db, 5);
    for (int i = 1; i <= 3; i++) {
        long long rows = rows_of(here);

        fault_vfs_plan((struct fault_plan){ .acts = WRITES_ONLY, .at = 1, .is_full = i == 2 });
        assert_int_not_equal(sqlite3_exec(here->db, "DELETE FROM t WHERE n > 1", NULL, NULL, NULL),
                             SQLITE_OK);
        assert_true(fault_vfs_has_failed());
        fault_vfs_plan((struct fault_plan){ 0 });
        assert_int_equal(rows_of(here), rows);
        assert_left_behind(here, rows);
        add_rows(here->db, 2);
        assert_left_behind(here, rows + 2);
    }
}

/* Another connection of the same process reads what was committed, from the same file. */
static void readers_see_every_commit(void **state)
{
    struct here *here = *state;
    sqlite3 *reader;

    assert_int_equal(sqlite3_open_v2(here->path, &reader, SQLITE_OPEN_READONLY, FAULT_VFS),
                     SQLITE_OK);
    for (int size = 1; size < 60; size += 7) {
        add_rows(here->db, size);
        assert_int_equal(number_of(reader, "SELECT count(*) FROM t WHERE length(body) < 9999"),
                         rows_of(here));
    }
    sqlite3_close(reader);
}

static void there_is_one_over_each_base(void **state)
{
    (void)state;
    assert_ptr_equal(log_vfs_over(FAULT_VFS), log_vfs_over(FAULT_VFS));
    assert_string_not_equal(log_vfs_over(NULL), log_vfs_over(FAULT_VFS));
    assert_null(log_vfs_over("no such"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_transaction_is_one_write),
        CASE(nothing_is_held_back_after_a_commit),
        CASE(frames_are_written_over_before_the_commit),
        CASE(what_was_taken_back_is_not_there),
        CASE(a_failed_write_fails_the_commit),
        CASE(readers_see_every_commit),
        cmocka_unit_test(there_is_one_over_each_base),
    };

    fault_vfs_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
