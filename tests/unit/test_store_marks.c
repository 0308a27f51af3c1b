/*
 * test_store_marks.c - marks of an ask that no event tells of: the first to set a mark has set
 * it, and the next is told so.
 * Proves: R6.6 R13.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

static enum store_outcome mark(struct place *place, const char *id, uint32_t set, uint32_t clear)
{
    struct seen seen = { 0 };

    store_write_mark(place->store, &(struct store_mark){ id, set, clear }, on_reply, &seen);
    wait_for(place, &seen);
    return seen.reply.outcome;
}

static void of_two_who_mark_one_does(void **state)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key-1");
    struct seen first = { 0 }, second = { 0 }, seen;
    struct place *place = *state;

    ask.flags = ASK_UNTOLD | ASK_CANCEL_ALWAYS;
    create_done(place, &ask);
    store_write_mark(place->store, &(struct store_mark){ ask.id, ASK_REMINDED, 0 }, on_reply,
                     &first);
    store_write_mark(place->store, &(struct store_mark){ ask.id, ASK_REMINDED, 0 }, on_reply,
                     &second);
    wait_for(place, &first);
    if (second.count == 0)
        wait_for(place, &second);
    assert_int_equal(first.reply.outcome, STORE_DONE);
    assert_int_equal(second.reply.outcome, STORE_LOST);
    assert_int_equal(mark(place, ask.id, 0, ASK_UNTOLD), STORE_DONE);
    reopen(place);
    assert_int_equal(mark(place, ask.id, 0, ASK_UNTOLD), STORE_LOST);
    seen = get(place, ask.id);
    assert_int_equal(seen.row->ask.flags, ASK_CANCEL_ALWAYS | ASK_REMINDED | ASK_DETACHED);
    assert_int_equal(seen.row->ask.version, 1);
    forget(&seen);
    assert_int_equal(mark(place, "zzzzzzzzzzzzzzzzzzzzzzzzzz", 1, 0), STORE_MISSING);
    change_done(place, &how);
    assert_int_equal(mark(place, ask.id, ASK_UNTOLD, 0), STORE_LOST); /* it is over */
}

/* Every agent that waited did so at the hub that has closed the store: all asks are marked, with
 * one event. */
static void what_is_open_is_abandoned_with_its_hub(void **state)
{
    enum { OPEN = 1200, EACH = 500, MAX = 1000 }; /* asks; BEAT_LEFT, and what a hub marks */
    struct place *place = *state;
    struct store_change how;
    struct ask ask;

    for (int i = 1; i <= OPEN; i++) {
        ask = make_ask(i);
        create_done(place, &ask);
    }
    how = answer_of(ask.id, "key-1");
    change_done(place, &how);
    reopen(place);
    assert_int_equal(chosen_number(place->where, "SELECT count(*) FROM asks WHERE flags = 1"),
                     chosen_is_postgres() ? MAX : OPEN - 1); /* other hubs mark the rest */
    assert_int_equal(chosen_number(place->where, "SELECT count(*) FROM asks"
                                                 " WHERE flags = 0 AND state = 3"),
                     1);
    assert_int_equal(
        chosen_number(place->where, "SELECT count(*) FROM events WHERE kind = 11 AND ask = ''"),
        chosen_is_postgres() ? MAX / EACH : 1);
    assert_int_equal(bad_event(place), 0);
    reopen(place);
    assert_true(chosen_number(place->where, "SELECT count(*) FROM events WHERE kind = 11") <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(of_two_who_mark_one_does),
        CASE(what_is_open_is_abandoned_with_its_hub),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
