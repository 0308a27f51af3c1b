/*
 * store_fixture.h - a directory, a loop and a store for each test about the store, and replies that
 * can be waited for. To be included behind cmocka's four headers.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H
#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "chosen_store.h"
#include "make_directory.h"
#include "remove_tree.h"
#include "store/event.h"
#include "store/row.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#define CASE(name)  cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define OPEN_STATES (1U << STATE_PENDING_TERMINAL_LAUNCH | 1U << STATE_PENDING)

struct place {
    char directory[64], path[96];
    char where[POSTGRES_URL_BYTES]; /* the path, unless the store is chosen to be another */
    struct loop *loop;
    struct store *store;
};

/* One reply; the row is a copy. */
struct seen {
    struct loop *loop;
    int count;
    struct store_reply reply;
    struct store_row *row;
};

static inline void open_store(struct place *place)
{
    place->store = chosen_open(place->loop, place->where);
}

static inline void close_store(struct place *place)
{
    if (place->store)
        place->store->ops->close(place->store);
    place->store = NULL;
}

static inline void reopen(struct place *place)
{
    close_store(place);
    open_store(place);
}

static inline int set_up_place(void **state)
{
    struct place *place = mem_new(sizeof *place);

    assert_non_null(make_directory(place->directory, sizeof place->directory, "sayso-store"));
    snprintf(place->path, sizeof place->path, "%s/store.db", place->directory);
    chosen_begin(place->path, place->where);
    place->loop = loop_new();
    *state = place;
    return 0;
}

static inline int set_up(void **state)
{
    set_up_place(state);
    open_store(*state);
    return 0;
}

static inline int tear_down(void **state)
{
    struct place *place = *state;

    close_store(place);
    loop_free(place->loop);
    remove_tree(place->directory);
    free(place);
    return 0;
}

static inline void on_reply(void *context, const struct store_reply *reply)
{
    struct seen *seen = context;

    seen->count++;
    seen->reply = *reply;
    free(seen->row);
    seen->row = reply->row ? row_copy(reply->row) : NULL;
    seen->reply.row = seen->row;
    if (seen->loop)
        loop_stop(seen->loop);
}

static inline void forget(struct seen *seen)
{
    free(seen->row);
    *seen = (struct seen){ .loop = seen->loop };
}

static inline void wait_for(struct place *place, struct seen *seen)
{
    seen->loop = place->loop;
    while (seen->count == 0)
        loop_run(place->loop);
    assert_int_equal(seen->count, 1);
}

static inline bool is_counted(void *context)
{
    return *(const int *)context > 0;
}

/* For reads that are counted when they end: some stores complete them later. */
static inline void wait_until(struct place *place, int *count)
{
    assert_true(loop_run_until(place->loop, is_counted, count, loop_boot_ms() + 300000));
}

/* An id that sorts by its number: 26 characters, the last ones count. */
static inline void make_id(char out[ASK_ID_BYTES], int number)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

    memset(out, 'a', ASK_ID_BYTES - 1);
    out[ASK_ID_BYTES - 1] = '\0';
    for (int at = ASK_ID_BYTES - 2; number > 0; number /= 32)
        out[at--] = digits[number % 32];
}

static inline struct ask make_ask(int number)
{
    struct ask ask = {
        .tool = "provide_choice",
        .title = "Which one?",
        .form_json = "{\"title\":\"Which one?\",\"fields\":[]}",
        .arguments_json = "{\"title\":\"Which one?\"}",
        .origin_json = "{\"name\":\"tester\"}",
        .state = STATE_PENDING,
        .interface = INTERFACE_AUTO,
        .version = 1,
        .form_version = 1,
        .created_ms = 1700000000000 + number,
        .deadline_ms = 1700000600000 + number,
        .original_ms = 600000,
    };

    make_id(ask.id, number);
    memset(ask.principal, '0', PRINCIPAL_BYTES - 1);
    memcpy(ask.digest, &number, sizeof number);
    return ask;
}

static inline struct store_principal principal_of(const struct ask *ask)
{
    return (struct store_principal){
        .id = ask->principal, .kind = "local", .uid = 1000, .name = "tester", .place = "/tmp"
    };
}

static inline struct seen create(struct place *place, const struct ask *ask)
{
    struct store_principal principal = principal_of(ask);
    struct seen seen = { 0 };

    store_write_create(place->store, &(struct store_create){ *ask, principal }, on_reply, &seen);
    wait_for(place, &seen);
    return seen;
}

static inline void create_done(struct place *place, const struct ask *ask)
{
    struct seen seen = create(place, ask);

    if (seen.reply.outcome != STORE_DONE)
        fail_msg("%s: %s", ask->id, seen.reply.err.message);
}

static inline struct seen change(struct place *place, const struct store_change *how)
{
    struct seen seen = { 0 };

    store_write_change(place->store, how, on_reply, &seen);
    wait_for(place, &seen);
    return seen;
}

static inline void change_done(struct place *place, const struct store_change *how)
{
    struct seen seen = change(place, how);

    if (seen.reply.outcome != STORE_DONE)
        fail_msg("outcome %d: %s", seen.reply.outcome, seen.reply.err.message);
    forget(&seen);
}

static inline struct seen get_by(struct place *place, const char *id, int64_t seq)
{
    struct seen seen = { 0 };

    place->store->ops->get(place->store, id, seq, on_reply, &seen);
    wait_for(place, &seen);
    return seen;
}

static inline struct seen get(struct place *place, const char *id)
{
    return get_by(place, id, 0);
}

static inline bool is_there(struct place *place, int number)
{
    struct ask ask = make_ask(number);
    struct seen seen = get(place, ask.id);
    bool is_done = seen.reply.outcome == STORE_DONE;

    forget(&seen);
    return is_done;
}

static inline struct store_change answer_of(const char *id, const char *key)
{
    struct store_change how = store_change_of(id, EVENT_ANSWERED);

    how.from_states = OPEN_STATES;
    how.to_state = STATE_SUBMITTED;
    how.raises_version = true;
    how.needs_sync = true;
    how.now_ms = 1700000100000;
    how.decided_ms = how.now_ms;
    how.deliver_after_ms = how.now_ms + 5000;
    how.actor_json = "{\"via\":\"web\"}";
    how.person = "owner";
    how.answer_json = "{\"selected_ids\":[\"a\"]}";
    how.answer_key = key;
    return how;
}

static inline void sql(struct place *place, const char *text)
{
    chosen_run(place->where, text);
}

static inline int64_t sql_number(struct place *place, const char *text)
{
    return chosen_number(place->where, text);
}

/* The first event that does not fit; 0: all do. */
static inline int64_t bad_event(struct place *place)
{
    return chosen_bad_event(place->where);
}

static inline int64_t count_sql(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement;
    int64_t number;

    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static inline void assert_sound(sqlite3 *db, bool has_tables)
{
    sqlite3_stmt *statement;
    int64_t bad = 0;

    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    if (!has_tables)
        return;
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    assert_int_equal(event_check_chain(db, &bad), SQLITE_OK);
    assert_int_equal(bad, 0);
}

#endif
