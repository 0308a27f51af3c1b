/*
 * test_store_sweep.c - what the store forgets and leaves behind, and the chain of its events.
 * Proves: R9.1, G10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

static int64_t sweep(struct place *place, int64_t older_than_ms, size_t keep, size_t batch)
{
    struct seen seen = { 0 };

    place->store->ops->sweep(place->store, older_than_ms, keep, batch, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    return seen.reply.seq;
}

/* Ends ask `number` at `at_ms` in the given state. */
static void end_ask(struct place *place, int number, enum ask_state to, int64_t at_ms,
                    bool is_delivered)
{
    struct ask ask = make_ask(number);
    struct store_change how;
    char key[32];

    snprintf(key, sizeof key, "key-%d", number);
    how = answer_of(ask.id, key);
    how.to_state = (int)to;
    how.now_ms = at_ms;
    how.delivered_ms = is_delivered ? at_ms : STORE_KEEP;
    create_done(place, &ask);
    change_done(place, &how);
}

static void what_is_too_old_goes(void **state)
{
    struct place *place = *state;
    struct ask open = make_ask(9);

    end_ask(place, 1, STATE_SUBMITTED, 100, true);
    end_ask(place, 2, STATE_SUBMITTED, 100, false); /* older than retention: not waited for */
    end_ask(place, 3, STATE_TIMEOUT, 199, false);
    end_ask(place, 4, STATE_SUBMITTED, 200, true);
    create_done(place, &open);
    assert_int_equal(sweep(place, 200, 1000, 2), 2);
    assert_int_equal(sweep(place, 200, 1000, 2), 1);
    assert_int_equal(sweep(place, 200, 1000, 2), 0);
    for (int i = 1; i <= 3; i++)
        assert_false(is_there(place, i));
    assert_true(is_there(place, 4));
    assert_true(is_there(place, 9));
    assert_int_equal(bad_event(place), 0);
}

static void what_is_too_many_goes_unless_awaited(void **state)
{
    struct place *place = *state;
    struct ask open = make_ask(9);

    end_ask(place, 1, STATE_SUBMITTED, 101, false);
    end_ask(place, 2, STATE_CANCELLED, 102, false);
    end_ask(place, 3, STATE_TIMEOUT, 103, false);
    end_ask(place, 4, STATE_SUBMITTED, 104, true);
    end_ask(place, 5, STATE_WITHDRAWN, 105, false);
    end_ask(place, 6, STATE_AUTO_SUBMITTED, 106, false);
    end_ask(place, 7, STATE_SUBMITTED, 107, true);
    create_done(place, &open);
    assert_int_equal(sweep(place, 0, 7, 100), 0);
    assert_int_equal(sweep(place, 0, 6, 100), 1);
    assert_false(is_there(place, 3));
    assert_int_equal(sweep(place, 0, 4, 100), 2);
    assert_false(is_there(place, 4));
    assert_false(is_there(place, 5));
    assert_int_equal(sweep(place, 0, 0, 100), 1);
    assert_false(is_there(place, 7));
    assert_int_equal(sweep(place, 0, 0, SIZE_MAX), 0);
    assert_true(is_there(place, 1) && is_there(place, 2) && is_there(place, 6));
    assert_true(is_there(place, 9));
}

static void an_ask_that_was_undone_is_not_ended(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);

    end_ask(place, 1, STATE_SUBMITTED, 100, false);
    undo.from_states = 1U << STATE_SUBMITTED;
    undo.to_state = STATE_PENDING;
    undo.removes_answer = true;
    change_done(place, &undo);
    assert_int_equal(sweep(place, INT64_MAX, 0, 100), 0);
    assert_true(is_there(place, 1));
}

struct counted {
    int rows, ends;
};

static void count_row(void *context, const struct store_row *row, const struct error *err)
{
    struct counted *counted = context;

    assert_null(err);
    counted->rows += row != NULL;
    counted->ends += row == NULL;
}

static int count_live(struct place *place)
{
    struct counted counted = { 0 };

    place->store->ops->list_live(place->store, 0, count_row, &counted);
    wait_until(place, &counted.ends);
    return counted.rows;
}

/* A file has a mark below which all is settled; a database has an index of what is not. */
static void assert_unsettled(struct place *place, int64_t from)
{
    if (!chosen_is_postgres())
        assert_int_equal(sql_number(place, "SELECT unsettled FROM counter"), from);
}

static void what_is_settled_is_not_looked_at_again(void **state)
{
    struct place *place = *state;
    struct ask late = make_ask(1), open = make_ask(9);
    struct store_change undo = store_change_of(late.id, EVENT_UNDONE);

    end_ask(place, 1, STATE_SUBMITTED, 100, true);
    end_ask(place, 2, STATE_TIMEOUT, 100, true);
    assert_unsettled(place, 1);
    sweep(place, 0, 1000, 10);
    assert_unsettled(place, 5);
    end_ask(place, 3, STATE_DECLINED, 100, false);
    create_done(place, &open);
    sweep(place, 0, 1000, 10);
    assert_unsettled(place, 5);
    assert_int_equal(count_live(place), 2);
    undo.from_states = 1U << STATE_SUBMITTED;
    undo.to_state = STATE_PENDING;
    undo.removes_answer = true;
    change_done(place, &undo);
    close_store(place);
    open_store(place);
    assert_int_equal(count_live(place), 3);
    assert_int_equal(bad_event(place), 0);
}

static void nothing_of_a_swept_ask_is_left_but_its_places(void **state)
{
    static const char *const empty[] = {
        "SELECT count(*) FROM asks WHERE created_ms = 1700000000001",
        "SELECT count(*) FROM ask_texts WHERE number = 1",
        "SELECT count(*) FROM answers WHERE answer_key = 'key-1'",
        "SELECT count(*) FROM drafts",
        "SELECT count(*) FROM events WHERE seq IN (1, 2) AND (actor IS NOT NULL OR body IS NOT "
        "NULL)",
    };
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct seen seen = { 0 };

    end_ask(place, 1, STATE_SUBMITTED, 100, true);
    end_ask(place, 2, STATE_SUBMITTED, 300, true);
    place->store->ops->save_draft(place->store, ask.id, "owner", "{}", 1, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(sweep(place, 200, 1000, 10), 1);
    for (size_t i = 0; i < ARRAY_LEN(empty); i++)
        assert_int_equal(sql_number(place, empty[i]), 0);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM events"), 4);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM answers"), 1);
    assert_int_equal(bad_event(place), 0);
    end_ask(place, 3, STATE_SUBMITTED, 400, true);
    assert_int_equal(bad_event(place), 0);
}

static void the_chain_shows_every_forgery(void **state)
{
    static const struct {
        const char *forge;
        int64_t bad_seq;
    } cases[] = {
        { "UPDATE events SET body = 'x' WHERE seq = 2", 2 },
        { "UPDATE events SET actor = '{}' WHERE seq = 3", 3 },
        { "UPDATE events SET kind = kind + 1 WHERE seq = 4", 4 },
        { "UPDATE events SET ask = 'b' WHERE seq = 1", 1 },
        { "UPDATE events SET prev_hash = (SELECT prev_hash FROM events WHERE seq = 1)"
          " WHERE seq = 3",
          2 },
        { "DELETE FROM events WHERE seq = 2", 1 },
        { "DELETE FROM events WHERE seq = 4", 3 },
        { "UPDATE counter SET seq = 3", 4 },
        { "UPDATE counter SET hash = (SELECT prev_hash FROM events WHERE seq = 1)", 4 },
        { "DELETE FROM events", 1 },
    };
    struct place *place = *state;

    end_ask(place, 1, STATE_SUBMITTED, 100, true);
    end_ask(place, 2, STATE_SUBMITTED, 100, true);
    assert_int_equal(bad_event(place), 0);
    close_store(place);
    sql(place, "CREATE TABLE kept AS SELECT * FROM events; CREATE TABLE kept_counter AS"
               " SELECT * FROM counter");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sql(place, cases[i].forge);
        assert_int_equal(bad_event(place), cases[i].bad_seq);
        sql(place, "DELETE FROM events; INSERT INTO events SELECT * FROM kept;"
                   "DELETE FROM counter; INSERT INTO counter SELECT * FROM kept_counter");
        assert_int_equal(bad_event(place), 0);
    }
}

/* Whoever changes an event and mends the hash behind it only moves the fault one on. */
static void mending_one_hash_breaks_the_next(void **state)
{
    struct place *place = *state;
    struct event event = { .seq = 1, .kind = EVENT_CREATED, .actor = "", .body = "forged" };
    struct ask ask = make_ask(1);
    uint8_t hash[HASH_BYTES];
    char hex[HASH_HEX_BYTES], *mend;

    end_ask(place, 1, STATE_SUBMITTED, 100, true);
    end_ask(place, 2, STATE_SUBMITTED, 100, true);
    close_store(place);
    event.ask = ask.id;
    event_hash(&event, hash);
    hash_hex(hash, HASH_BYTES, hex);
    mend = mem_format(chosen_is_postgres()
                          ? "UPDATE events SET prev_hash = decode('%s', 'hex') WHERE seq = 2"
                          : "UPDATE events SET prev_hash = x'%s' WHERE seq = 2",
                      hex);
    sql(place, "UPDATE events SET body = 'forged' WHERE seq = 1");
    assert_int_equal(bad_event(place), 1);
    sql(place, mend);
    assert_int_equal(bad_event(place), 2);
    free(mend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_too_old_goes),
        CASE(what_is_too_many_goes_unless_awaited),
        CASE(an_ask_that_was_undone_is_not_ended),
        CASE(what_is_settled_is_not_looked_at_again),
        CASE(nothing_of_a_swept_ask_is_left_but_its_places),
        CASE(the_chain_shows_every_forgery),
        CASE(mending_one_hash_breaks_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
