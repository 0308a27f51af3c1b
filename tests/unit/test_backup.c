/*
 * test_backup.c - the whole store as lines and back: the same rows, the same chain; nothing secret,
 * nothing damaged, nothing twice.
 * Proves: R9.2 G10 P23
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

#include "base/text.h"
#include "store/sqlite/schema.h"
#include "store/transfer/backup.h"
#include "store/transfer/backup_line.h"

struct lines {
    char *list[4096]; /* with their ends */
    size_t count;
};

static bool keep_line(void *context, const char *line, size_t length, int64_t done, int64_t all)
{
    struct lines *lines = context;

    assert_true(lines->count < ARRAY_LEN(lines->list));
    assert_true(done <= all);
    assert_true(line[length - 1] == '\n' && !memchr(line, '\n', length - 1));
    lines->list[lines->count++] = mem_text_n(line, length);
    return true;
}

static struct lines *back_up(struct place *place)
{
    struct lines *lines = mem_new(sizeof *lines);
    struct error err;

    if (!store_backup(place->path, keep_line, lines, &err))
        fail_msg("%s", err.message);
    return lines;
}

static void lines_free(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->list[i]);
    free(lines);
}

static struct ask real_ask(int number)
{
    struct ask ask = make_ask(number);

    ask.form_json = "{\"version\":1,\"title\":\"t\",\"prompt\":\"p\",\"fields\":["
                    "{\"name\":\"choice\",\"kind\":\"text\"}]}";
    return ask;
}

/* A store with what stores have: answers, an undone one, notes, a draft, something swept. */
static void fill(struct place *place)
{
    struct store *store = place->store;
    struct seen seen = { 0 };
    struct store_token token = { .kind = "agent", .label = "laptop", .created_ms = 5 };
    struct store_key key = { .purpose = "request_state", .created_ms = 5 };

    for (int i = 1; i <= 9; i++) {
        struct ask ask = real_ask(i);
        struct store_change how;
        char name[32];

        ask.title = i == 4 ? "\x1b[31m\xe9\x83\xa8\xe7\xbd\xb2 \"quoted\" \\ \x7f" : "Which one?";
        memset(ask.launch_hash, 0xab, sizeof ask.launch_hash);
        create_done(place, &ask);
        snprintf(name, sizeof name, "key-%d", i);
        how = answer_of(ask.id, name);
        if (i < 8)
            change_done(place, &how);
        if (i == 3) {
            struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);

            undo.from_states = 1U << STATE_SUBMITTED;
            undo.to_state = STATE_PENDING;
            undo.removes_answer = true;
            change_done(place, &undo);
        }
    }
    memset(token.hash, 0xcd, sizeof token.hash);
    memset(key.secret, 0xef, sizeof key.secret);
    store_write_token(store, &token, on_reply, &seen);
    wait_for(place, &seen);
    forget(&seen);
    store_write_key(store, &key, on_reply, &seen);
    wait_for(place, &seen);
    forget(&seen);
    store_write_setting(store, &(struct store_setting){ "owner", "language", "zh" }, on_reply,
                        &seen);
    wait_for(place, &seen);
    forget(&seen);
    store_write_sweep(store, &(struct store_sweep){ .keep_ended = 5, .batch = 1 }, on_reply, &seen);
    wait_for(place, &seen);
    forget(&seen);
}

static struct place *other_place(void)
{
    void *made;

    set_up_place(&made);
    return made;
}

static void drop_place(struct place *place)
{
    void *state = place;

    tear_down(&state);
}

/* Gives lines [from, to) and returns whether all were taken. */
static bool give(struct restore *restore, const struct lines *lines, size_t from, size_t to,
                 struct error *err)
{
    for (size_t i = from; i < to; i++) {
        if (!restore_line(restore, lines->list[i], strlen(lines->list[i]) - 1, err))
            return false;
    }
    return true;
}

static bool read_in(struct place *place, const struct lines *lines, struct restored *out,
                    struct error *err)
{
    struct restore *restore = restore_open(place->path, err);
    bool ok =
        restore && give(restore, lines, 0, lines->count, err) && restore_finish(restore, out, err);

    restore_close(restore);
    return ok;
}

static void assert_same_lines(const struct lines *a, const struct lines *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->list[i], b->list[i]);
}

static void what_was_kept_comes_back(void **state)
{
    struct place *place = *state, *other = other_place();
    struct lines *first, *second;
    struct restored restored;
    struct error err;

    fill(place);
    first = back_up(place); /* while the store is open */
    if (!read_in(other, first, &restored, &err))
        fail_msg("%s", err.message);
    assert_int_equal(restored.lines, first->count);
    second = back_up(other);
    assert_same_lines(first, second);
    open_store(other);
    assert_int_equal(bad_event(other), 0);
    for (int i = 1; i <= 9; i++)
        assert_true(is_there(place, i) == is_there(other, i));
    assert_int_equal(sql_number(other, "SELECT count(*) FROM tokens"), 0);
    {
        struct ask more = real_ask(77); /* and it goes on from there */

        create_done(other, &more);
        assert_int_equal(bad_event(other), 0);
    }
    lines_free(first);
    lines_free(second);
    drop_place(other);
}

static void nothing_secret_is_in_it(void **state)
{
    static const char *const secrets[] = { "abababab", "cdcdcdcd", "efefefef", "laptop",
                                           "launch_code" };
    struct lines *lines;

    fill(*state);
    lines = back_up(*state);
    for (size_t i = 0; i < lines->count; i++) {
        for (size_t k = 0; k < ARRAY_LEN(secrets); k++)
            assert_null(strstr(lines->list[i], secrets[k]));
        assert_null(strchr(lines->list[i], '\x1b')); /* and nothing acts on a terminal */
    }
    lines_free(lines);
}

/* For every column it is decided whether a backup keeps it. */
static void every_column_is_kept_or_left_out(void **state)
{
    struct place *place = *state;
    sqlite3_stmt *columns;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT m.name, c.name FROM sqlite_schema m,"
                                        " pragma_table_info(m.name) c WHERE m.type = 'table'"
                                        " AND m.name NOT LIKE 'words_%'"
                                        " AND m.name NOT LIKE 'sqlite_%'",
                                        -1, &columns, NULL),
                     SQLITE_OK);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(columns, 0);
        const char *column = (const char *)sqlite3_column_text(columns, 1);
        char *both = mem_format("%s.%s", table, column);
        bool is_decided = false;

        for (const char *const *out = backup_left_out; *out; out++)
            is_decided |= strcmp(*out, table) == 0 || strcmp(*out, both) == 0;
        for (int i = 0; i < BACKUP_TABLES; i++) {
            for (size_t k = 0; k < backup_tables[i].column_count; k++)
                is_decided |= strcmp(backup_tables[i].name, table) == 0 &&
                              strcmp(backup_tables[i].columns[k].name, column) == 0;
        }
        if (!is_decided)
            fail_msg("%s is neither in backups nor left out", both);
        free(both);
    }
    sqlite3_finalize(columns);
    sqlite3_close(db);
}

static void it_goes_on_where_it_was_ended(void **state)
{
    struct place *place = *state;
    struct lines *lines;
    size_t rounds = 0;

    fill(place);
    lines = back_up(place);
    for (size_t cut = 1; cut < lines->count; cut++, rounds++) {
        struct place *other = other_place();
        struct restored restored;
        struct error err;
        struct restore *restore = restore_open(other->path, &err);
        struct lines *again;

        assert_true(give(restore, lines, 0, cut, &err));
        assert_false(restore_finish(restore, &restored, &err));
        assert_non_null(strstr(err.message, "the backup is incomplete"));
        restore_close(restore);
        assert_false(sqlite_store_open(other->loop, other->path, &other->store, &err));
        assert_non_null(strstr(err.message, "sayso import"));
        other->store = NULL;
        if (!read_in(other, lines, &restored, &err))
            fail_msg("%zu: %s", cut, err.message);
        again = back_up(other);
        assert_same_lines(lines, again);
        lines_free(again);
        drop_place(other);
    }
    assert_true(rounds > 30);
    lines_free(lines);
}

/* What was committed before an interruption is not read again. */
static void batches_stay(void **state)
{
    enum { MANY = 1200 };
    struct place *place = *state, *other = other_place();
    struct restored restored;
    struct error err;
    struct restore *restore;
    struct lines *lines, *again;

    for (int i = 1; i <= MANY; i++) {
        struct ask ask = real_ask(i);
        struct store_principal principal = principal_of(&ask);

        store_write_create(place->store, &(struct store_create){ ask, principal }, NULL, NULL);
    }
    close_store(place);
    lines = back_up(place);
    assert_true(lines->count > 2 * MANY);
    restore = restore_open(other->path, &err);
    assert_true(give(restore, lines, 0, lines->count - 100, &err));
    restore_close(restore);
    assert_int_equal(sql_number(other, "SELECT count(*) FROM events"), MANY);
    assert_in_range(sql_number(other, "SELECT count(*) FROM asks"), 1, MANY - 1);
    if (!read_in(other, lines, &restored, &err))
        fail_msg("%s", err.message);
    assert_in_range(restored.added, 1, MANY - 1);
    again = back_up(other);
    assert_same_lines(lines, again);
    lines_free(again);
    lines_free(lines);
    drop_place(other);
}

static void a_second_time_adds_nothing(void **state)
{
    struct place *place = *state, *other = other_place();
    struct restored restored;
    struct error err;
    struct lines *lines;
    struct ask own = real_ask(500);

    fill(place);
    lines = back_up(place);
    assert_true(read_in(other, lines, &restored, &err));
    assert_true(restored.added > 20);
    assert_true(read_in(other, lines, &restored, &err));
    assert_int_equal(restored.added, 0);
    open_store(other); /* and when it was used since */
    create_done(other, &own);
    close_store(other);
    assert_true(read_in(other, lines, &restored, &err));
    assert_int_equal(restored.added, 0);
    open_store(other);
    assert_true(is_there(other, 500));
    assert_int_equal(bad_event(other), 0);
    lines_free(lines);
    drop_place(other);
}

static void a_store_with_asks_of_its_own_is_left_alone(void **state)
{
    struct place *place = *state, *other = other_place();
    struct restored restored;
    struct error err;
    struct lines *lines, *before, *after;
    struct ask own = real_ask(500);

    fill(place);
    lines = back_up(place);
    open_store(other);
    create_done(other, &own);
    before = back_up(other);
    close_store(other);
    assert_false(read_in(other, lines, &restored, &err));
    assert_int_equal(err.code, ERROR_wrong_state);
    after = back_up(other);
    assert_same_lines(before, after);
    assert_false(read_in(place, before, &restored, &err)); /* longer, and another's */
    assert_int_equal(err.code, ERROR_wrong_state);
    lines_free(lines);
    lines_free(before);
    lines_free(after);
    drop_place(other);
}

static void what_was_begun_can_be_taken_back(void **state)
{
    struct place *place = *state, *other = other_place();
    struct restored restored;
    struct error err;
    struct lines *lines, *shorter;
    struct restore *restore;
    bool was_begun;

    fill(place);
    shorter = back_up(place);
    {
        struct ask more = real_ask(40);

        create_done(place, &more);
    }
    lines = back_up(place);
    restore = restore_open(other->path, &err);
    assert_true(give(restore, shorter, 0, shorter->count - 1, &err));
    restore_close(restore);
    assert_true(read_in(other, lines, &restored, &err)); /* another store starts afresh */
    drop_place(other);
    other = other_place();
    restore = restore_open(other->path, &err);
    assert_true(give(restore, lines, 0, lines->count - 1, &err));
    restore_close(restore);
    restore = restore_open(other->path, &err);
    assert_true(restore_discard(restore, &was_begun, &err) && was_begun);
    assert_true(restore_discard(restore, &was_begun, &err) && !was_begun);
    restore_close(restore);
    open_store(other);
    assert_int_equal(sql_number(other, "SELECT count(*) FROM events"), 0);
    lines_free(lines);
    lines_free(shorter);
    drop_place(other);
}

/* Reads a damaged backup; the line at which it is refused, 0: it was taken. */
static int64_t refused_at(const struct lines *lines)
{
    struct backup_place place = { 0 };
    struct place *other = other_place();
    struct restored restored;
    struct error err = { 0 }, second = { 0 };
    long long line = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < lines->count; i++)
        ok = backup_check_line(&place, lines->list[i], strlen(lines->list[i]) - 1, &err);
    if (ok)
        ok = backup_check_end(&place, &err);
    assert_true(read_in(other, lines, &restored, &second) == ok); /* both see the same */
    if (!ok) {
        assert_string_equal(err.message, second.message);
        if (sscanf(err.message, "line %lld", &line) != 1)
            line = -1;
    }
    drop_place(other);
    return line;
}

static void what_is_damaged_is_refused_at_its_line(void **state)
{
    struct lines *lines;

    fill(*state);
    lines = back_up(*state);
    assert_int_equal(refused_at(lines), 0);
    for (size_t i = 1; i < lines->count; i++) {
        char *line = lines->list[i], *whole = mem_text(line);
        size_t at = strlen(line) / 2;

        line[at] ^= 1; /* one bit */
        assert_int_equal(refused_at(lines), (int64_t)i + 1);
        memcpy(line, whole, strlen(whole) + 1);
        if (i + 1 < lines->count) { /* one lost */
            memmove(&lines->list[i], &lines->list[i + 1],
                    (lines->count - i - 1) * sizeof *lines->list);
            lines->count--;
            assert_int_equal(refused_at(lines), (int64_t)i + 1);
            memmove(&lines->list[i + 1], &lines->list[i], (lines->count - i) * sizeof *lines->list);
            lines->list[i] = line;
            lines->count++;
        }
        free(whole);
    }
    lines->count--; /* the end is missing */
    assert_int_equal(refused_at(lines), -1);
    lines->count++;
    lines_free(lines);
}

/* A check is no signature: the author of a forged backup can make one that fits. */
static bool takes_forged(const char *const *rows, const char *expected)
{
    struct place *other = other_place();
    struct backup_place at = { 0 };
    struct lines *lines = mem_new(sizeof *lines);
    struct restored restored;
    struct error err = { 0 };
    bool ok;

    for (; *rows; rows++) {
        struct text line = { 0 };

        text_add_text(&line, *rows);
        backup_line_end(&at, &line);
        lines->list[lines->count++] = text_take(&line);
    }
    ok = read_in(other, lines, &restored, &err);
    if (!ok && !strstr(err.message, expected))
        fail_msg("%s instead of %s", err.message, expected);
    lines_free(lines);
    drop_place(other);
    return ok;
}

#define HEAD(seq, rows)                                                                            \
    "{\"sayso_backup\":1,\"schema\":2,\"seq\":" #seq ",\"rows\":" #rows ",\"hash\":\"" ZEROS "\""
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define EVENT(seq, more)                                                                           \
    "{\"events\":{\"seq\":" #seq ",\"ask\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\",\"kind\":1,"             \
    "\"earlier_seq\":0,\"prev_hash\":\"" ZEROS "\"" more "}"
#define ASK(id, state, seq)                                                                        \
    "{\"asks\":{\"number\":1,\"id\":\"" id                                                         \
    "\",\"owner\":\"o\",\"principal\":\"p\",\"digest\":\"" ZEROS "\",\"state\":" #state            \
    ",\"interface\":0,\"flags\":0,\"version\":1,\"form_version\":1,"                               \
    "\"created_ms\":1,\"deadline_ms\":1,\"original_ms\":1,\"hold_used_ms\":0,"                     \
    "\"deliver_after_ms\":0,\"delivered_ms\":1,\"decided_ms\":1,\"ended_ms\":1,\"seq\":" #seq      \
    ",\"earlier_seq\":0,\"answer_seq\":0,\"tool\":\"t\",\"title\":\"t\",\"origin\":\"{}\"}"
#define GOOD_ID "aaaaaaaaaaaaaaaaaaaaaaaaaa"
#define FORM                                                                                       \
    ",\"form\":\"{\\\"version\\\":1,\\\"title\\\":\\\"t\\\",\\\"prompt\\\":\\\"p\\\","             \
    "\\\"fields\\\":["                                                                             \
    "{\\\"name\\\":\\\"choice\\\",\\\"kind\\\":\\\"text\\\"}]}\""

static void what_was_forged_does_no_harm(void **state)
{
    static const struct {
        const char *rows[8];
        const char *expected; /* NULL: it is taken */
    } cases[] = {
        { { HEAD(1, 2), EVENT(1, FORM), ASK(GOOD_ID, 3, 1), "{\"end\":2" }, NULL },
        { { HEAD(0, 0), "{\"end\":0" }, NULL },
        { { "{\"sayso_backup\":2,\"schema\":9", "{\"end\":0" }, "newer version of sayso" },
        { { "{\"sayso_backup\":1,\"schema\":99,\"seq\":0,\"rows\":0,\"hash\":\"" ZEROS "\"" },
          "newer version of sayso" },
        { { "{\"sayso_export\":1", "{\"end\":0" }, "not a sayso backup" },
        { { HEAD(1, 2), EVENT(1, FORM), ASK("../../etc/passwd", 3, 1), "{\"end\":2" }, "line 3" },
        { { HEAD(1, 2), EVENT(1, FORM), ASK(GOOD_ID, 99, 1), "{\"end\":2" }, "line 3" },
        { { HEAD(1, 2), EVENT(1, FORM), ASK(GOOD_ID, 0, 1), "{\"end\":2" }, "line 3" },
        { { HEAD(1, 2), EVENT(1, FORM), ASK(GOOD_ID, 3, 7), "{\"end\":2" }, "line 3" },
        { { HEAD(1, 2), EVENT(1, ""), ASK(GOOD_ID, 3, 1), "{\"end\":2" }, "inconsistent" },
        { { HEAD(1, 2), EVENT(1, ",\"form\":\"not json\""), ASK(GOOD_ID, 3, 1), "{\"end\":2" },
          "line 2" },
        { { HEAD(1, 1), EVENT(1, ",\"form\":\"{}\""), "{\"end\":1" }, "line 2" },
        { { HEAD(1, 1), EVENT(1, FORM ",\"actor\":\"x\""), "{\"end\":1" }, "line 2" },
        { { HEAD(1, 1), EVENT(1, FORM ",\"answered_ms\":5"), "{\"end\":1" }, "line 2" },
        { { HEAD(2, 2), EVENT(2, FORM), ASK(GOOD_ID, 3, 1), "{\"end\":2" }, "line 2" },
        { { HEAD(2, 2), EVENT(1, FORM), EVENT(1, FORM), "{\"end\":2" }, "line 3" },
        { { HEAD(9, 1), EVENT(1, FORM), "{\"end\":1" }, "inconsistent" },
        { { HEAD(1, 2), ASK(GOOD_ID, 3, 1), EVENT(1, FORM), "{\"end\":2" }, "line 3" },
        { { HEAD(1, 1), "{\"tokens\":{\"hash\":\"00\"}", "{\"end\":1" }, "line 2" },
        { { HEAD(1, 1), EVENT(1, ",\"evil\":1"), "{\"end\":1" }, "line 2" },
        { { HEAD(1, 3), EVENT(1, FORM), ASK(GOOD_ID, 3, 1), ASK(GOOD_ID, 3, 1), "{\"end\":3" },
          "inconsistent" },
        { { HEAD(1, 1), EVENT(1, FORM), "{\"end\":1", "{\"end\":1" }, "line 4" },
        { { HEAD(1, 2), EVENT(1, FORM), "{\"end\":1" }, "line 3" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (takes_forged(cases[i].rows, cases[i].expected) != (cases[i].expected == NULL))
            fail_msg("case %zu", i);
    }
}

static bool refuse_third(void *context, const char *line, size_t length, int64_t done, int64_t all)
{
    (void)line;
    (void)length;
    (void)done;
    (void)all;
    return ++*(int *)context < 3;
}

static void a_sink_that_is_full_ends_it(void **state)
{
    struct place *place = *state;
    struct error err = { 0 };
    int count = 0;

    fill(place);
    assert_false(store_backup(place->path, refuse_third, &count, &err));
    assert_int_equal(count, 3);
    assert_int_equal(err.code, ERROR_NONE);
    assert_false(store_backup("/tmp/sayso-none/store.db", refuse_third, &count, &err));
    assert_int_equal(err.code, ERROR_not_found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_kept_comes_back),
        CASE(nothing_secret_is_in_it),
        CASE(every_column_is_kept_or_left_out),
        CASE(it_goes_on_where_it_was_ended),
        CASE(batches_stay),
        CASE(a_second_time_adds_nothing),
        CASE(a_store_with_asks_of_its_own_is_left_alone),
        CASE(what_was_begun_can_be_taken_back),
        CASE(what_is_damaged_is_refused_at_its_line),
        CASE(what_was_forged_does_no_harm),
        CASE(a_sink_that_is_full_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
