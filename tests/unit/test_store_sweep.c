/*
 * test_store_sweep.c - what the store forgets and leaves behind, and the chain of its events.
 * Proves: R9.1, G10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "store/sqlite/write.h"
#include "store/writes.h"
#include "store_fixture.h"

static int64_t sweep_as(struct place *place, const struct store_sweep *how)
{
    struct seen seen = { 0 };

    store_write_sweep(place->store, how, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    return seen.reply.seq;
}

static int64_t sweep(struct place *place, int64_t older_than_ms, int64_t keep, int64_t batch)
{
    const struct store_sweep how = { older_than_ms, keep, batch, 0 };

    return sweep_as(place, &how);
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
    assert_int_equal(sweep(place, 0, 0, 1000), 0);
    assert_true(is_there(place, 1) && is_there(place, 2) && is_there(place, 6));
    assert_true(is_there(place, 9));
}

/* They are counted once; what ends, and what is open again, is known from then on. */
static void what_ends_later_is_counted_too(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(6);
    struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);

    for (int i = 1; i <= 3; i++)
        end_ask(place, i, STATE_SUBMITTED, 100 + i, true);
    assert_int_equal(sweep(place, 0, 5, 100), 0);
    for (int i = 4; i <= 6; i++)
        end_ask(place, i, STATE_SUBMITTED, 100 + i, true);
    assert_int_equal(sweep(place, 0, 5, 100), 1);
    assert_false(is_there(place, 1));
    undo.from_states = 1U << STATE_SUBMITTED;
    undo.to_state = STATE_PENDING;
    undo.removes_answer = true;
    change_done(place, &undo);
    end_ask(place, 7, STATE_SUBMITTED, 107, true);
    assert_int_equal(sweep(place, 0, 5, 100), 0);
    end_ask(place, 8, STATE_SUBMITTED, 108, true);
    assert_int_equal(sweep(place, 0, 5, 100), 1);
    assert_false(is_there(place, 2));
}

/* Each ask has a principal of its own, named by its number. */
static struct ask ask_of(int number)
{
    struct ask ask = make_ask(number);

    snprintf(ask.principal, sizeof ask.principal, "%032x", (unsigned)number);
    return ask;
}

static void take_up_all(struct place *place)
{
    const struct store_index index = { 1700000200000, 10, 0 };

    for (int64_t more = 1; more > 0;) {
        struct seen seen = { 0 };

        store_write_index(place->store, &index, on_reply, &seen);
        wait_for(place, &seen);
        more = seen.reply.seq;
    }
}

static bool knows_principal(struct place *place, int number)
{
    char text[96];

    snprintf(text, sizeof text, "SELECT count(*) FROM principals WHERE id = '%032x'",
             (unsigned)number);
    return sql_number(place, text) == 1;
}

static void who_has_no_ask_any_more_goes_too(void **state)
{
    enum { INDEXED = 1, YOUNG, TALKING, OPEN, GONE };
    struct place *place = *state;
    int64_t older = 1700000000000 + 10;

    for (int i = INDEXED; i <= GONE; i++) {
        struct ask ask = ask_of(i);
        struct store_change how = answer_of(ask.id, ask.id);

        how.now_ms = 100;
        ask.created_ms += i == YOUNG ? 1000 : 0;
        create_done(place, &ask);
        if (i == INDEXED)
            take_up_all(place);
        else if (i != OPEN)
            change_done(place, &how);
    }
    sql(place, "INSERT INTO conversations (id, principal, state, body, version, created_ms,"
               " changed_ms) VALUES ('talk', '00000000000000000000000000000003',"
               " 'awaiting_user_response', '{}', 1, 5, 5)");
    assert_int_equal(sweep(place, older, 1000, 10), 4);
    for (int i = INDEXED; i <= OPEN; i++)
        assert_true(knows_principal(place, i));
    assert_false(knows_principal(place, GONE));
    assert_int_equal(sweep(place, older, 1000, 10), 0);
    for (int again = 0; again < 2; again++) { /* a principal that comes back is stored again */
        struct ask ask = ask_of(GONE);

        make_id(ask.id, 100 + again);
        create_done(place, &ask);
        assert_true(knows_principal(place, GONE));
    }
}

/* Each sweep looks at a part of them, from a random place on, so that those that stay don't block
 * the others. */
static void principals_go_a_part_at_a_time(void **state)
{
    static const int64_t gone[] = { 100, 100, 50, 0 };
    struct place *place = *state;

    sql(place, "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 250)"
               " INSERT INTO principals SELECT 'p' || n, 'local', 0, '', NULL, 1 FROM n"
               " UNION ALL SELECT ' ' || n, 'local', 0, '', NULL, 300 FROM n");
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        assert_int_equal(sweep(place, 200, 1000, 10), gone[i]);
}

/* A file has no list of whose the newest asks are: while they are many, all principals stay. */
static void principals_wait_for_the_index(void **state)
{
    struct place *place = *state;

    if (chosen_is_postgres())
        skip();
    sql(place, "INSERT INTO principals VALUES ('p', 'local', 0, '', NULL, 1)");
    for (int i = 0; i <= 1000; i++) {
        struct ask ask = make_ask(i);

        create_done(place, &ask);
    }
    assert_int_equal(sweep(place, 200, 1000, 10), 0);
    take_up_all(place);
    assert_int_equal(sweep(place, 200, 1000, 10), 1);
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

static void a_slice_is_shorter_where_somebody_waits(void **state)
{
    atomic_bool is_wanted = false;
    struct slice slice = { .is_wanted = &is_wanted };

    (void)state;
    slice_begin(&slice, 3600000000);
    assert_false(slice_is_over(&slice));
    is_wanted = true;
    assert_false(slice_is_over(&slice));
    slice.began_us -= 1800000000;
    assert_true(slice_is_over(&slice));
    is_wanted = false;
    assert_false(slice_is_over(&slice));
    slice.began_us -= 1800000000;
    assert_true(slice_is_over(&slice));
    slice.is_wanted = NULL;
    slice_begin(&slice, 0);
    slice.began_us = 0;
    assert_false(slice_is_over(&slice));
}

enum { MANY = 60 };

static void end_many(struct place *place)
{
    for (int i = 1; i <= MANY; i++)
        end_ask(place, i, STATE_SUBMITTED, 100 + i, true);
    take_up_all(place);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), MANY);
}

/* Each batch with hardly any time is one ask, and where the hub ended the next one goes on. */
static void a_batch_ends_when_its_time_is_over(void **state)
{
    const struct store_sweep hasty = { INT64_MAX, 1000, 1000, 1 };
    struct place *place = *state;
    int64_t calls = 0;

    if (chosen_is_postgres()) /* bounds rows alone: no writer waits for it */
        skip();
    end_many(place);
    for (; sweep_as(place, &hasty) > 0; calls++) {
        assert_true(sql_number(place, "SELECT count(*) FROM asks") >= MANY - calls - 1);
        if (calls % 7 == 0)
            reopen(place);
    }
    assert_true(calls >= MANY);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM asks"), 0);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), 0);
    sql(place, "INSERT INTO words (words) VALUES ('integrity-check')");
    assert_int_equal(bad_event(place), 0);
}

/* Ends an ask with so many words that they are pages of the index. */
static void end_long_ask(struct place *place, int number)
{
    char form[8192] = "{\"title\":\"";
    size_t used = strlen(form);
    uint32_t dice = (uint32_t)number;
    struct ask ask = make_ask(number);
    struct store_change how = answer_of(ask.id, ask.id);

    for (; used < 6000; used++) {
        dice = dice * 1664525 + 1013904223;
        form[used] = (char)('a' + dice % 65536 / 2521);
    }
    memcpy(form + used, "\",\"fields\":[]}", sizeof "\",\"fields\":[]}");
    ask.form_json = form;
    how.delivered_ms = how.now_ms;
    create_done(place, &ask);
    change_done(place, &how);
}

/* By itself the index merges for as long as it takes, within a commit that a caller waits for. */
static void words_are_merged_in_steps(void **state)
{
    const struct store_index index = { 1700000200000, 1, 0 };
    struct place *place = *state;

    if (chosen_is_postgres())
        skip();
    assert_int_equal(sql_number(place, "SELECT v FROM words_config WHERE k = 'automerge'"), 0);
    for (int i = 1; i <= 12; i++) {
        struct seen seen = { 0 };

        end_long_ask(place, i);
        store_write_index(place->store, &index, on_reply, &seen);
        wait_for(place, &seen);
    }
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), 12);
    assert_in_range(sql_number(place, "SELECT count(DISTINCT id >> 37) FROM words_data"
                                      " WHERE id > 10"),
                    1, 7); /* else there is one for each */
}

struct told {
    int *clock, at;
};

static void tell(void *context, const struct store_reply *reply)
{
    struct told *told = context;

    assert_int_equal(reply->outcome, STORE_DONE);
    told->at = ++*told->clock;
}

static void what_somebody_waits_for_goes_first(void **state)
{
    const struct store_sweep all = { INT64_MAX, 1000, 1000, 0 };
    struct place *place = *state;
    struct ask ask = make_ask(99);
    struct store_change how = answer_of(ask.id, "key-99");
    int clock = 0;
    struct told swept = { &clock, 0 }, answered = { &clock, 0 };

    for (int i = 1; i <= 5; i++)
        end_ask(place, i, STATE_SUBMITTED, 100 + i, true);
    create_done(place, &ask);
    if (chosen_is_postgres()) /* goes another way, which no writer waits for */
        skip();
    store_write_sweep(place->store, &all, tell, &swept);
    store_write_change(place->store, &how, tell, &answered);
    wait_until(place, &swept.at);
    wait_until(place, &answered.at);
    assert_true(answered.at < swept.at);
    assert_false(is_there(place, 1));
}

static enum write_kind next_kind(struct write_queue *queue, int64_t *ret_count)
{
    struct write_list next = write_queue_take(queue);
    enum write_kind what = next.first->what;

    *ret_count = next.count;
    while (next.first)
        write_free(write_list_take(&next));
    return what;
}

static void add_write(struct write_queue *queue, enum write_kind what)
{
    static const union write_values nothing;

    write_queue_add(queue, write_new(what, &nothing, NULL, NULL));
}

static void retention_has_its_turn(void **state)
{
    struct write_queue queue = { 0 }, more = { 0 };
    int64_t count;

    (void)state;
    assert_true(write_queue_is_empty(&queue));
    add_write(&more, WRITE_sweep);
    add_write(&more, WRITE_token_revoke);
    add_write(&more, WRITE_index);
    add_write(&more, WRITE_token_revoke);
    write_queue_append(&queue, &more);
    assert_true(write_queue_is_empty(&more));
    for (int round = 0; round < 2; round++) { /* where there is always something else */
        for (int i = 0; i < WRITE_QUEUE_MAX_BEFORE; i++) {
            assert_int_equal(next_kind(&queue, &count), WRITE_token_revoke);
            assert_int_equal(count, round == 0 && i == 0 ? 2 : 1);
            add_write(&queue, WRITE_token_revoke);
        }
        assert_int_equal(next_kind(&queue, &count), round == 0 ? WRITE_sweep : WRITE_index);
        assert_int_equal(count, 1);
    }
    assert_int_equal(next_kind(&queue, &count), WRITE_token_revoke);
    add_write(&queue, WRITE_index);
    add_write(&queue, WRITE_sweep);
    assert_int_equal(next_kind(&queue, &count), WRITE_index); /* one at a time */
    assert_int_equal(next_kind(&queue, &count), WRITE_sweep);
    assert_true(write_queue_is_empty(&queue));
    assert_null(write_queue_take(&queue).first);
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

    place->store->ops->list_active(place->store, 0, count_row, &counted);
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
    store_write_draft(place->store, &(struct store_draft){ ask.id, "owner", "{}", 1 }, on_reply,
                      &seen);
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

/* Changing an event and fixing the hash after it only moves the fault to the next one. */
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

/* As many as wait at the same time where agents are busy: one that was lost would be searched for.
 */
static void the_newest_asks_are_remembered(void **state)
{
    enum { ASKS = 100000, NEWEST = 200 };
    struct write_context *writing = mem_new(sizeof *writing);
    char(*ids)[ASK_ID_BYTES] = mem_new(ASKS * sizeof *ids);
    int lost = 0;

    (void)state;
    for (int i = 0; i < ASKS; i++) {
        random_id(ids[i]);
        write_hint(writing, ids[i], &(struct found){ .number = i + 1 });
        if (i >= NEWEST)
            lost += write_hinted(writing, ids[i - NEWEST]).number != i - NEWEST + 1;
    }
    assert_in_range(lost, 0, ASKS / 1000); /* with one place each it was one in twenty */
    assert_int_equal(write_hinted(writing, "another").number, 0);
    free(ids);
    free(writing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_too_old_goes),
        CASE(what_is_too_many_goes_unless_awaited),
        CASE(what_ends_later_is_counted_too),
        CASE(who_has_no_ask_any_more_goes_too),
        CASE(principals_go_a_part_at_a_time),
        CASE(principals_wait_for_the_index),
        CASE(a_slice_is_shorter_where_somebody_waits),
        CASE(a_batch_ends_when_its_time_is_over),
        CASE(words_are_merged_in_steps),
        CASE(what_somebody_waits_for_goes_first),
        CASE(retention_has_its_turn),
        CASE(an_ask_that_was_undone_is_not_ended),
        CASE(what_is_settled_is_not_looked_at_again),
        CASE(nothing_of_a_swept_ask_is_left_but_its_places),
        CASE(the_chain_shows_every_forgery),
        CASE(mending_one_hash_breaks_the_next),
        cmocka_unit_test(the_newest_asks_are_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
