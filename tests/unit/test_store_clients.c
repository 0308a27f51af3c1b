/*
 * test_store_clients.c - what is kept of clients: how long each name, version and transport waits,
 * and whether its forms work.
 * Proves: R4.3 R5.7
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

static void save_cut_off(struct place *place, const char *name, int64_t cut_off_ms)
{
    struct store_client client = { name, "1", "stdio" };
    struct seen seen = { 0 };

    store_write_client(place->store, &(struct store_client_fact){ client, false, cut_off_ms },
                       on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
}

/* 0: nothing is known. */
static int64_t cut_off_of(struct place *place, const char *name, const char *version,
                          const char *transport)
{
    struct store_client client = { name, version, transport };
    struct seen seen = { 0 };

    place->store->ops->get_client_fact(place->store, &client, false, on_reply, &seen);
    wait_for(place, &seen);
    return seen.reply.outcome == STORE_DONE ? seen.reply.seq : 0;
}

static void cut_offs_are_kept_by_client_until_forgotten(void **state)
{
    struct place *place = *state;
    struct seen seen = { 0 };

    assert_int_equal(cut_off_of(place, "quick", "1", "stdio"), 0);
    save_cut_off(place, "quick", -60000);
    assert_int_equal(cut_off_of(place, "quick", "1", "stdio"), -60000);
    save_cut_off(place, "quick", 59000);
    assert_int_equal(cut_off_of(place, "quick", "1", "stdio"), 59000);
    assert_int_equal(cut_off_of(place, "quick", "2", "stdio"), 0);
    assert_int_equal(cut_off_of(place, "quick", "1", "http"), 0);
    assert_int_equal(cut_off_of(place, "Quick", "1", "stdio"), 0);
    store_write_client(place->store, &(struct store_client_fact){ 0 }, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_int_equal(cut_off_of(place, "quick", "1", "stdio"), 0);
    save_cut_off(place, "quick", 30000);
    assert_int_equal(cut_off_of(place, "quick", "1", "stdio"), 30000);
}

static void save_form_fact(struct place *place, const char *name, int64_t fact)
{
    struct store_client client = { name, "1", "stdio" };
    struct seen seen = { 0 };

    store_write_client(place->store, &(struct store_client_fact){ client, true, fact }, on_reply,
                       &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
}

static int64_t form_fact_of(struct place *place, const char *name, const char *version)
{
    struct store_client client = { name, version, "stdio" };
    struct seen seen = { 0 };

    place->store->ops->get_client_fact(place->store, &client, true, on_reply, &seen);
    wait_for(place, &seen);
    return seen.reply.outcome == STORE_DONE ? seen.reply.seq : 0;
}

static void forms_and_cut_offs_are_kept_apart(void **state)
{
    struct place *place = *state;
    struct seen seen = { 0 };

    assert_int_equal(form_fact_of(place, "quick", "1"), 0);
    save_form_fact(place, "quick", -1800000000000);
    assert_int_equal(cut_off_of(place, "quick", "1", "stdio"), 0);
    save_cut_off(place, "quick", 59000);
    assert_int_equal(form_fact_of(place, "quick", "1"), -1800000000000);
    assert_int_equal(form_fact_of(place, "quick", "2"), 0); /* a new version starts again */
    save_form_fact(place, "quick", 1);
    store_write_client(place->store, &(struct store_client_fact){ 0 }, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(form_fact_of(place, "quick", "1"), 1);
}

/* Clients can invent names: those seen once make room, those with something learned stay. */
static void clients_are_remembered_in_bounded_number(void **state)
{
    struct place *place = *state;
    char name[32];

    save_cut_off(place, "first", 60000);
    for (int i = 0; i < 1100; i++) {
        snprintf(name, sizeof name, "client %d", i);
        save_cut_off(place, name, i < 600 ? -20000 : 20000);
    }
    assert_int_equal(cut_off_of(place, "first", "1", "stdio"), 60000);
    assert_int_equal(cut_off_of(place, "client 0", "1", "stdio"), 0);
    assert_int_equal(cut_off_of(place, "client 1099", "1", "stdio"), 20000);
    for (int i = 1100; i < 1700; i++) {
        snprintf(name, sizeof name, "client %d", i);
        save_cut_off(place, name, 20000);
    }
    assert_int_equal(cut_off_of(place, "client 1699", "1", "stdio"), 0);
    save_cut_off(place, "first", 50000); /* one that is there is kept up to date */
    assert_int_equal(cut_off_of(place, "first", "1", "stdio"), 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(cut_offs_are_kept_by_client_until_forgotten),
        CASE(forms_and_cut_offs_are_kept_apart),
        CASE(clients_are_remembered_in_bounded_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
