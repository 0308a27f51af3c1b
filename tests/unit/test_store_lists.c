/*
 * test_store_lists.c - what the store finds and lists.
 * Proves: R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

enum { MAX_ROWS = 64 };

struct rows {
    int count, ends;
    struct store_row *rows[MAX_ROWS];
};

static void on_row(void *context, const struct store_row *row, const struct error *err)
{
    struct rows *rows = context;

    assert_null(err);
    if (!row) {
        rows->ends++;
        return;
    }
    assert_int_equal(rows->ends, 0);
    assert_null(row->ask.form_json);
    assert_null(row->ask.arguments_json);
    assert_true(rows->count < MAX_ROWS);
    rows->rows[rows->count++] = row_copy(row);
}

static void forget_rows(struct rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        free(rows->rows[i]);
    *rows = (struct rows){ 0 };
}

/* `expected`: the numbers of the asks, in the order they must come in. */
static void assert_list(struct place *place, const struct store_list_query *query,
                        const char *expected)
{
    struct rows rows = { 0 };
    char found[256] = "", id[ASK_ID_BYTES];

    place->store->ops->list(place->store, query, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.ends, 1);
    for (int i = 0; i < rows.count; i++) {
        for (int number = 1; number <= 400; number++) {
            make_id(id, number);
            if (strcmp(id, rows.rows[i]->ask.id) == 0)
                snprintf(found + strlen(found), sizeof found - strlen(found), "%d ", number);
        }
    }
    assert_string_equal(found, expected);
    forget_rows(&rows);
}

static void lists_are_newest_first(void **state)
{
    static const char principal[] = "ffffffffffffffffffffffffffffffff";
    static const struct {
        struct store_list_query query;
        const char *expected;
    } cases[] = {
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, NULL }, "40 6 5 4 3 2 1 " },
        { { STORE_LIST_ALL, 3, 0, NULL, NULL, 0, 0, NULL }, "40 6 5 " },
        { { STORE_LIST_ALL, 0, 0, NULL, NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, SIZE_MAX, 1700000000004, NULL, NULL, 0, 0, NULL }, "3 2 1 " },
        { { STORE_LIST_OPEN, 50, 0, NULL, NULL, 0, 0, NULL }, "40 5 3 1 " },
        { { STORE_LIST_ENDED, 50, 0, NULL, NULL, 0, 0, NULL }, "6 4 2 " },
        { { STORE_LIST_ENDED, 1, 1700000000006, NULL, NULL, 0, 0, NULL }, "4 " },
        { { STORE_LIST_ALL, 50, 0, NULL, principal, 0, 0, NULL }, "4 " },
        { { STORE_LIST_OPEN, 50, 0, NULL, principal, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "aaaaaaaaaaaaaaaaaaaaaaaab", NULL, 0, 0, NULL }, "40 " },
        { { STORE_LIST_OPEN, 50, 0, "aaaaaaaaaaaaaaaaaaaaaaaaa", NULL, 0, 0, NULL }, "5 3 1 " },
        { { STORE_LIST_ENDED, 2, 0, "aaaa", NULL, 0, 0, NULL }, "6 4 " },
        { { STORE_LIST_ALL, 50, 0, "aaaa", principal, 0, 0, NULL }, "4 " },
        { { STORE_LIST_ALL, 50, 0, "b", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "", NULL, 0, 0, NULL }, "40 6 5 4 3 2 1 " },
        { { STORE_LIST_ALL, 50, 0, "%", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "%' OR 1", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "\xf4\x8f\xbf\xbf", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 1700000000004, NULL, NULL, 4, 0, NULL }, "3 2 1 " },
        { { STORE_LIST_ALL, 50, 1700000000004, NULL, NULL, 5, 0, NULL }, "4 3 2 1 " },
        { { STORE_LIST_ENDED, 50, 1700000000004, NULL, NULL, 5, 0, NULL }, "4 2 " },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 1U << STATE_CANCELLED, NULL }, "6 " },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, ~0U, NULL }, "40 6 5 4 3 2 1 " },
        { { STORE_LIST_ENDED, 50, 0, NULL, NULL, 0, 1U << STATE_PENDING, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, "bot" }, "40 6 4 3 2 1 " },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, "boss" }, "5 " },
        { { STORE_LIST_ALL, 50, 0, "aaaa", NULL, 0, 0, "bo" }, "" },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, "" }, "" },
    };

    for (int i = 1; i <= 7; i++) {
        struct ask ask = make_ask(i < 7 ? i : 40);

        if (i % 2 == 0)
            ask.state = (enum ask_state)(STATE_PENDING + i / 2);
        if (i == 4)
            memcpy(ask.principal, principal, sizeof principal);
        ask.origin_json = i == 5 ? "{\"name\":\"bot\",\"as\":\"boss\"}" : "{\"name\":\"bot\"}";
        create_done(*state, &ask);
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_list(*state, &cases[i].query, cases[i].expected);
}

enum { ASKING = 5 };
/* A list, and what was asked for at each of its rows. */
struct asking {
    struct place *place;
    int count, ended;
    struct seen seen[ASKING];
    struct rows inner[ASKING];
};

static void on_row_asking(void *context, const struct store_row *row, const struct error *err)
{
    struct asking *asking = context;
    struct store *store = asking->place->store;
    struct store_list_query query = { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, NULL };

    assert_null(err);
    asking->ended += row == NULL;
    if (!row)
        return;
    assert_true(asking->count < ASKING);
    store->ops->get(store, row->ask.id, 0, on_reply, &asking->seen[asking->count]);
    store->ops->list(store, &query, on_row, &asking->inner[asking->count++]);
}

static void a_list_may_ask_again_while_it_is_read(void **state)
{
    struct place *place = *state;
    struct store_list_query query = { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, NULL };
    struct asking asking = { .place = place };

    for (int i = 1; i <= ASKING; i++) {
        struct ask ask = make_ask(i);

        create_done(place, &ask);
    }
    place->store->ops->list(place->store, &query, on_row_asking, &asking);
    wait_until(place, &asking.ended);
    assert_int_equal(asking.count, ASKING);
    for (int i = 0; i < ASKING; i++) {
        struct ask ask = make_ask(ASKING - i);

        wait_for(place, &asking.seen[i]);
        assert_string_equal(asking.seen[i].row->ask.id, ask.id);
        wait_until(place, &asking.inner[i].ends);
        assert_int_equal(asking.inner[i].count, ASKING);
        forget(&asking.seen[i]);
        forget_rows(&asking.inner[i]);
    }
}

static void an_answer_shows_in_lists(void **state)
{
    struct place *place = *state;
    struct store_list_query query = { STORE_LIST_ENDED, 50, 0, NULL, NULL, 0, 0, NULL };
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key");
    struct rows rows = { 0 };

    create_done(place, &ask);
    change_done(place, &how);
    place->store->ops->list(place->store, &query, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.rows[0]->answer_json, how.answer_json);
    assert_string_equal(rows.rows[0]->ask.title, ask.title);
    assert_string_equal(rows.rows[0]->ask.origin_json, ask.origin_json);
    assert_int_equal(rows.rows[0]->seq, 2);
    forget_rows(&rows);
}

static void the_living_are_open_or_not_delivered(void **state)
{
    static const struct {
        enum ask_state state;
        int64_t deliver_after_ms, delivered_ms;
        bool is_live;
    } cases[] = {
        { STATE_PENDING, 0, 0, true },           { STATE_PENDING_TERMINAL_LAUNCH, 0, 0, true },
        { STATE_SUBMITTED, 1001, 0, true },      { STATE_CANCELLED, 1001, 0, true },
        { STATE_AUTO_SUBMITTED, 1001, 0, true }, { STATE_SUBMITTED, 1000, 0, true },
        { STATE_SUBMITTED, 0, 0, true },         { STATE_SUBMITTED, 1001, 900, false },
        { STATE_CANCELLED, 0, 0, true },         { STATE_DECLINED, 0, 0, true },
        { STATE_AUTO_SUBMITTED, 0, 0, false },   { STATE_DECLINED, 0, 900, false },
        { STATE_AUTO_SUBMITTED, 999, 0, false }, { STATE_TIMEOUT, 0, 0, false },
        { STATE_WITHDRAWN, 0, 0, false },
    };
    struct place *place = *state;
    struct rows rows = { 0 };
    int live = 0;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ask ask = make_ask((int)i + 1);

        ask.state = cases[i].state;
        ask.deliver_after_ms = cases[i].deliver_after_ms;
        ask.delivered_ms = cases[i].delivered_ms;
        create_done(place, &ask);
        live += cases[i].is_live;
    }
    place->store->ops->list_active(place->store, 1000, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.ends, 1);
    assert_int_equal(rows.count, live);
    for (int i = 0; i < rows.count; i++)
        assert_true(cases[rows.rows[i]->ask.digest[0] - 1].is_live);
    forget_rows(&rows);
}

static int found(struct place *place, const char *principal, const uint8_t *digest, const char *key)
{
    struct seen seen = { 0 };
    int number;

    place->store->ops->find_undelivered(place->store, principal, digest, key, on_reply, &seen);
    wait_for(place, &seen);
    if (seen.reply.outcome == STORE_MISSING)
        return 0;
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_non_null(seen.row->ask.form_json);
    number = (int)(seen.row->ask.created_ms - 1700000000000);
    forget(&seen);
    return number;
}

static void only_undelivered_answers_of_people_are_found(void **state)
{
    static const char other[] = "ffffffffffffffffffffffffffffffff";
    struct place *place = *state;
    uint8_t digest[DIGEST_BYTES] = { 7 }, unknown[DIGEST_BYTES] = { 8 };
    struct store_change how = store_change_of("", EVENT_DELIVERED);
    struct ask ask = make_ask(1);

    for (int i = 1; i < STATE_COUNT; i++) {
        ask = make_ask(i);
        ask.state = (enum ask_state)i;
        ask.idempotency_key = i == STATE_CANCELLED ? "again" : NULL;
        memcpy(ask.digest, digest, sizeof digest);
        create_done(place, &ask);
    }
    assert_int_equal(found(place, ask.principal, digest, NULL), STATE_DECLINED);
    assert_int_equal(found(place, ask.principal, digest, "again"), STATE_CANCELLED);
    assert_int_equal(found(place, ask.principal, NULL, "again"), STATE_CANCELLED);
    assert_int_equal(found(place, ask.principal, unknown, NULL), 0);
    assert_int_equal(found(place, ask.principal, unknown, "never"), 0);
    assert_int_equal(found(place, other, digest, NULL), 0);
    make_id(ask.id, STATE_DECLINED);
    how.ask_id = ask.id;
    how.from_states = ~0U;
    how.delivered_ms = 5;
    change_done(place, &how);
    assert_int_equal(found(place, ask.principal, digest, NULL), STATE_CANCELLED);
}

static void one_event_tells_of_many_deliveries(void **state)
{
    struct place *place = *state;
    struct ask asks[] = { make_ask(1), make_ask(2), make_ask(3), make_ask(4) };
    struct store_change how = store_change_of(asks[0].id, EVENT_DELIVERED);
    char more[3 * ASK_ID_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        asks[i].state = i == 3 ? STATE_PENDING : STATE_SUBMITTED;
        if (i == 2)
            memset(asks[i].principal, 'f', sizeof asks[i].principal - 1);
        create_done(place, &asks[i]);
    }
    snprintf(more, sizeof more, "%s %s %s", asks[1].id, asks[2].id, asks[3].id);
    how.more_ids = more;
    how.principal = asks[0].principal;
    how.from_states = 1U << STATE_SUBMITTED;
    how.delivered_ms = 5;
    how.skips_row = true;
    change_done(place, &how);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM asks WHERE delivered_ms = 5"), 2);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM asks WHERE delivered_ms = 5"
                                       " AND number <= 2"),
                     2);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM events"), 5);
    assert_int_equal(bad_event(place), 0);
}

/* The same asks as a list: all of one principal, newest first (R5.7). */
static void undelivered_answers_are_listed(void **state)
{
    static const enum ask_state wanted[] = { STATE_DECLINED, STATE_CANCELLED, STATE_SUBMITTED };
    static const char other[] = "ffffffffffffffffffffffffffffffff";
    struct place *place = *state;
    struct store *store = place->store;
    struct store_change how = store_change_of("", EVENT_DELIVERED);
    struct rows rows = { 0 };
    struct ask ask = make_ask(1);

    for (int i = 1; i < STATE_COUNT; i++) {
        ask = make_ask(i);
        ask.state = (enum ask_state)i;
        create_done(place, &ask);
    }
    store->ops->list_undelivered(store, ask.principal, 64, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.ends, 1);
    assert_int_equal(rows.count, ARRAY_LEN(wanted));
    for (int i = 0; i < rows.count; i++) {
        assert_int_equal(rows.rows[i]->ask.state, wanted[i]);
        assert_non_null(rows.rows[i]->ask.title);
        assert_null(rows.rows[i]->ask.form_json);
    }
    forget_rows(&rows);
    store->ops->list_undelivered(store, ask.principal, 2, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.count, 2);
    forget_rows(&rows);
    store->ops->list_undelivered(store, other, 64, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.count, 0);
    forget_rows(&rows);
    make_id(ask.id, STATE_CANCELLED);
    how.ask_id = ask.id;
    how.from_states = ~0U;
    how.delivered_ms = 5;
    change_done(place, &how);
    store->ops->list_undelivered(store, ask.principal, 64, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[1]->ask.state, STATE_SUBMITTED);
    forget_rows(&rows);
}

static void ids_are_found_however_old(void **state)
{
    struct place *place = *state;
    struct ask old = make_ask(1), new = make_ask(2);
    struct store_change how = answer_of(old.id, NULL);
    char prefix[5] = "";
    struct store_list_query query = { .limit = 10, .id_prefix = prefix };
    struct rows rows = { 0 };

    create_done(place, &old);
    close_store(place);
    sql(place, "UPDATE counter SET seq = 20000");
    open_store(place);
    create_done(place, &new);
    assert_true(is_there(place, 1) && is_there(place, 2));
    assert_false(is_there(place, 3));
    memcpy(prefix, old.id, sizeof prefix - 1);
    place->store->ops->list(place->store, &query, on_row, &rows);
    wait_until(place, &rows.ends);
    assert_true(rows.count >= 1);
    assert_string_equal(rows.rows[rows.count - 1]->ask.id, old.id);
    forget_rows(&rows);
    change_done(place, &how);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM asks WHERE number = 1 AND state = 3"),
                     1);
}

/* Of many asks with one prefix a limited number is looked at; a longer prefix finds any of them. */
static void a_prefix_of_many_finds_the_newest_of_a_principal(void **state)
{
    enum { COUNT = 400 };
    struct place *place = *state;
    struct ask ask = make_ask(1);
    char old[ASK_ID_BYTES];
    struct store_list_query query = { .limit = 3, .id_prefix = "aaaa", .principal = ask.principal };

    make_id(old, 100);
    for (int i = 1; i <= COUNT; i++) {
        ask = make_ask(i);
        create_done(place, &ask);
    }
    for (int round = 0; round < 2; round++) { /* the second time most of them are in an index */
        assert_list(place, &query, "400 399 398 ");
        query.id_prefix = old;
        assert_list(place, &query, "100 ");
        query.principal = NULL;
        assert_list(place, &query, "100 ");
        query.which = STORE_LIST_OPEN;
        assert_list(place, &query, "100 ");
        query = (struct store_list_query){ .limit = 3, .id_prefix = "aaaa", .which = query.which };
        assert_list(place, &query, "400 399 398 ");
        query.which = STORE_LIST_ENDED;
        assert_list(place, &query, "");
        query.which = STORE_LIST_ALL;
        query.principal = ask.principal;
        close_store(place);
        sql(place, "INSERT INTO unindexed SELECT number FROM asks WHERE number < 396"
                   " ON CONFLICT DO NOTHING");
        sql(place, "UPDATE search SET next = 396");
        open_store(place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lists_are_newest_first),
        CASE(a_list_may_ask_again_while_it_is_read),
        CASE(an_answer_shows_in_lists),
        CASE(the_living_are_open_or_not_delivered),
        CASE(only_undelivered_answers_of_people_are_found),
        CASE(one_event_tells_of_many_deliveries),
        CASE(undelivered_answers_are_listed),
        CASE(ids_are_found_however_old),
        CASE(a_prefix_of_many_finds_the_newest_of_a_principal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
