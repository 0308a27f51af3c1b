/*
 * test_store.c - what every function of the store's port promises, on every store.
 * Proves: R5.2, R5.3, R5.5, R5.9
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

static void assert_same_text(const char *a, const char *b)
{
    if (!a || !b)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

static void assert_same_ask(const struct ask *a, const struct ask *b)
{
    assert_string_equal(a->id, b->id);
    assert_string_equal(a->principal, b->principal);
    assert_memory_equal(a->digest, b->digest, DIGEST_BYTES);
    assert_same_text(a->tool, b->tool);
    assert_same_text(a->title, b->title);
    assert_same_text(a->form_json, b->form_json);
    assert_same_text(a->arguments_json, b->arguments_json);
    assert_same_text(a->origin_json, b->origin_json);
    assert_same_text(a->idempotency_key, b->idempotency_key);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->interface, b->interface);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->form_version, b->form_version);
    assert_int_equal(a->created_ms, b->created_ms);
    assert_int_equal(a->deadline_ms, b->deadline_ms);
    assert_int_equal(a->original_ms, b->original_ms);
    assert_int_equal(a->hold_used_ms, b->hold_used_ms);
    assert_int_equal(a->deliver_after_ms, b->deliver_after_ms);
    assert_int_equal(a->delivered_ms, b->delivered_ms);
    assert_int_equal(a->decided_ms, b->decided_ms);
}

static struct ask full_ask(int number)
{
    struct ask ask = make_ask(number);

    ask.title = "\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80";
    ask.idempotency_key = "again";
    ask.state = STATE_PENDING_TERMINAL_LAUNCH;
    ask.interface = INTERFACE_TERMINAL;
    ask.flags = 0x80000001U;
    ask.version = 7;
    ask.form_version = 3;
    ask.hold_used_ms = 12;
    ask.deliver_after_ms = 13;
    ask.delivered_ms = 14;
    ask.decided_ms = 15;
    memset(ask.digest, 0xa5, DIGEST_BYTES);
    return ask;
}

static void an_ask_is_read_back_whole(void **state)
{
    struct ask asks[] = { full_ask(1), make_ask(2), make_ask(3) };

    asks[2].tool = asks[2].title = asks[2].origin_json = NULL;
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        struct seen seen;

        create_done(*state, &asks[i]);
        seen = get(*state, asks[i].id);
        assert_int_equal(seen.reply.outcome, STORE_DONE);
        assert_same_ask(&seen.row->ask, &asks[i]);
        assert_null(seen.row->answer_json);
        assert_null(seen.row->answer_key);
        assert_null(seen.row->actor_json);
        assert_int_equal(seen.row->seq, i + 1);
        forget(&seen);
    }
}

static void an_event_of_another_ask_misleads_nobody(void **state)
{
    static const int64_t guesses[] = { 0, 1, 2, 9 };
    struct place *place = *state;
    struct ask asks[] = { make_ask(1), make_ask(2), make_ask(3) };

    create_done(place, &asks[0]);
    create_done(place, &asks[1]);
    for (size_t i = 0; i < ARRAY_LEN(asks) * ARRAY_LEN(guesses); i++) {
        const char *id = asks[i % ARRAY_LEN(asks)].id;
        bool is_there = i % ARRAY_LEN(asks) < 2;
        struct store_change how = store_change_of(id, EVENT_EXTENDED);
        struct seen seen;

        reopen(place); /* then nothing is remembered of them */
        how.from_states = OPEN_STATES;
        how.seq = guesses[i / ARRAY_LEN(asks)];
        seen = get_by(place, id, how.seq);
        assert_int_equal(seen.reply.outcome, is_there ? STORE_DONE : STORE_MISSING);
        assert_true(!is_there || strcmp(seen.row->ask.id, id) == 0);
        forget(&seen);
        seen = change(place, &how);
        assert_int_equal(seen.reply.outcome, is_there ? STORE_DONE : STORE_MISSING);
        assert_true(!is_there || strcmp(seen.row->ask.id, id) == 0);
        forget(&seen);
    }
    assert_int_equal(bad_event(place), 0);
}

static void a_write_never_completes_before_it_returns(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_principal principal = principal_of(&ask);
    struct seen seen = { 0 };

    store_write_create(place->store, &(struct store_create){ ask, principal }, on_reply, &seen);
    usleep(20000);
    assert_int_equal(seen.count, 0);
    memset(ask.id, 'z', 5); /* borrowed for the call only */
    wait_for(place, &seen);
    assert_int_equal(seen.reply.seq, 1);
    assert_int_equal(place->store->ops->last_seq(place->store), 1);
}

static void what_is_not_there_is_missing(void **state)
{
    struct store_change how = answer_of("zzzzzzzzzzzzzzzzzzzzzzzzzz", "k");
    struct seen seen = get(*state, how.ask_id);

    assert_int_equal(seen.reply.outcome, STORE_MISSING);
    assert_null(seen.row);
    seen = change(*state, &how);
    assert_int_equal(seen.reply.outcome, STORE_MISSING);
    assert_null(seen.row);
}

static void a_change_keeps_what_it_does_not_name(void **state)
{
    struct ask ask = full_ask(1);
    struct store_change how = store_change_of(ask.id, EVENT_EXTENDED);
    struct seen seen;

    create_done(*state, &ask);
    how.from_states = OPEN_STATES;
    seen = change(*state, &how);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_int_equal(seen.reply.seq, 2);
    assert_int_equal(seen.row->seq, 2);
    assert_same_ask(&seen.row->ask, &ask);
    forget(&seen);
}

static void a_change_sets_what_it_names(void **state)
{
    struct ask ask = full_ask(1);
    struct store_change how = store_change_of(ask.id, EVENT_EXTENDED);
    struct seen seen;

    create_done(*state, &ask);
    how.from_states = OPEN_STATES;
    how.raises_version = true;
    ask.version++;
    ask.state = STATE_PENDING;
    how.to_state = STATE_PENDING;
    ask.interface = INTERFACE_WEB;
    how.interface = INTERFACE_WEB;
    ask.deadline_ms = how.deadline_ms = 101;
    ask.original_ms = how.original_ms = 102;
    ask.hold_used_ms = how.hold_used_ms = 103;
    ask.deliver_after_ms = how.deliver_after_ms = 0;
    ask.delivered_ms = how.delivered_ms = 0;
    ask.decided_ms = how.decided_ms = 0;
    how.set_flags = ASK_DETACHED | ASK_DESTRUCTIVE;
    how.clear_flags = ASK_DETACHED | 0x80000000U;
    ask.flags = ASK_DESTRUCTIVE;
    seen = change(*state, &how);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_same_ask(&seen.row->ask, &ask);
    forget(&seen);
    seen = get(*state, ask.id);
    assert_same_ask(&seen.row->ask, &ask);
    forget(&seen);
}

static void who_comes_too_late_sees_the_row(void **state)
{
    static const struct {
        uint32_t from;
        int64_t if_version;
        enum store_outcome outcome;
    } cases[] = {
        { 1U << STATE_SUBMITTED, 0, STORE_LOST }, { 0, 0, STORE_LOST },
        { OPEN_STATES, 6, STORE_LOST },           { OPEN_STATES, 8, STORE_LOST },
        { OPEN_STATES, 7, STORE_DONE },           { ~0U, 0, STORE_DONE },
    };
    struct ask ask = full_ask(1);

    create_done(*state, &ask);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store_change how = store_change_of(ask.id, EVENT_EXTENDED);
        struct seen seen;

        how.from_states = cases[i].from;
        how.if_version = cases[i].if_version;
        how.hold_used_ms = 12 + (cases[i].outcome == STORE_LOST);
        seen = change(*state, &how);
        assert_int_equal(seen.reply.outcome, cases[i].outcome);
        assert_same_ask(&seen.row->ask, &ask);
        forget(&seen);
    }
}

static void an_answer_is_kept_with_who_gave_it(void **state)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key-1");
    struct seen seen;

    create_done(*state, &ask);
    change_done(*state, &how);
    reopen(*state);
    seen = get(*state, ask.id);
    assert_int_equal(seen.row->ask.state, STATE_SUBMITTED);
    assert_int_equal(seen.row->ask.version, 2);
    assert_string_equal(seen.row->answer_json, how.answer_json);
    assert_string_equal(seen.row->answer_key, "key-1");
    assert_string_equal(seen.row->actor_json, how.actor_json);
    assert_int_equal(seen.row->answered_ms, how.now_ms);
    forget(&seen);
}

static void a_cancel_without_words_still_names_the_actor(void **state)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key-1");
    struct seen seen;

    how.event = EVENT_CANCELLED;
    how.to_state = STATE_CANCELLED;
    how.answer_json = NULL;
    create_done(*state, &ask);
    seen = change(*state, &how);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_null(seen.row->answer_json);
    assert_string_equal(seen.row->actor_json, how.actor_json);
    forget(&seen);
    seen = change(*state, &how);
    assert_int_equal(seen.reply.outcome, STORE_REPEATED);
    forget(&seen);
}

static void the_same_key_again_is_repeated(void **state)
{
    struct ask ask = make_ask(1), other = make_ask(2);
    struct store_change first = answer_of(ask.id, "key-1");
    struct store_change again = answer_of(ask.id, "key-1");
    struct store_change elsewhere = answer_of(other.id, "key-1");
    const struct store_change *repeats[] = { &again, &elsewhere };

    create_done(*state, &ask);
    create_done(*state, &other);
    change_done(*state, &first);
    again.answer_json = "{\"selected_ids\":[\"b\"]}";
    for (size_t i = 0; i < ARRAY_LEN(repeats); i++) {
        struct seen seen = change(*state, repeats[i]);

        assert_int_equal(seen.reply.outcome, STORE_REPEATED);
        assert_string_equal(seen.row->ask.id, ask.id);
        assert_string_equal(seen.row->answer_json, first.answer_json);
        forget(&seen);
    }
}

static void two_answers_at_once_have_one_winner(void **state)
{
    struct place *place = *state;

    for (int round = 1; round <= 200; round++) {
        struct ask ask = make_ask(round);
        struct store_principal principal = principal_of(&ask);
        struct store_change one = answer_of(ask.id, NULL), two = answer_of(ask.id, NULL);
        struct seen created = { 0 }, first = { 0 }, second = { 0 };
        char keys[2][32];

        snprintf(keys[0], sizeof keys[0], "one-%d", round);
        snprintf(keys[1], sizeof keys[1], "two-%d", round);
        one.answer_key = keys[0];
        two.answer_key = keys[1];
        two.answer_json = "{\"selected_ids\":[\"b\"]}";
        store_write_create(place->store, &(struct store_create){ ask, principal }, on_reply,
                           &created);
        store_write_change(place->store, &one, on_reply, &first);
        store_write_change(place->store, &two, on_reply, &second);
        wait_for(place, &created);
        wait_for(place, &first);
        wait_for(place, &second);
        assert_int_equal(first.reply.outcome, STORE_DONE);
        assert_int_equal(second.reply.outcome, STORE_LOST);
        assert_string_equal(second.row->answer_key, keys[0]);
        assert_string_equal(second.row->answer_json, one.answer_json);
        forget(&first);
        forget(&second);
    }
    assert_int_equal(bad_event(place), 0);
}

struct pairs {
    int count, ends;
    char names[8][64], values[8][64];
};

static void on_pair(void *context, const char *name, const char *value)
{
    struct pairs *pairs = context;

    assert_true(pairs->count < 8);
    snprintf(pairs->names[pairs->count], 64, "%s", name);
    snprintf(pairs->values[pairs->count++], 64, "%s", value);
}

static void on_draft(void *context, const char *json, const struct error *err)
{
    struct pairs *pairs = context;

    assert_null(err);
    pairs->ends++;
    if (json)
        snprintf(pairs->values[pairs->count++], 64, "%s", json);
}

static struct pairs draft_of(struct place *place, const char *id, const char *person)
{
    struct pairs pairs = { 0 };

    place->store->ops->get_draft(place->store, id, person, on_draft, &pairs);
    wait_until(place, &pairs.ends);
    return pairs;
}

static enum store_outcome save_draft(struct place *place, const char *id, const char *person,
                                     const char *json)
{
    struct seen seen = { 0 };

    store_write_draft(place->store, &(struct store_draft){ id, person, json, 5 }, on_reply, &seen);
    wait_for(place, &seen);
    return seen.reply.outcome;
}

static void an_undone_answer_becomes_a_draft(void **state)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key-1");
    struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);
    struct seen seen;
    struct pairs draft;

    create_done(*state, &ask);
    change_done(*state, &how);
    undo.from_states = 1U << STATE_SUBMITTED;
    undo.to_state = STATE_PENDING;
    undo.removes_answer = true;
    seen = change(*state, &undo);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_int_equal(seen.row->ask.state, STATE_PENDING);
    assert_null(seen.row->answer_json);
    assert_null(seen.row->actor_json);
    forget(&seen);
    draft = draft_of(*state, ask.id, "owner");
    assert_int_equal(draft.count, 1);
    assert_string_equal(draft.values[0], how.answer_json);
    seen = change(*state, &how); /* a late retry of what was undone */
    assert_int_equal(seen.reply.outcome, STORE_REPEATED);
    assert_int_equal(seen.row->ask.state, STATE_PENDING);
    assert_string_equal(seen.row->answer_json, how.answer_json);
    forget(&seen);
    how.answer_key = "key-2";
    change_done(*state, &how);
    seen = get(*state, ask.id);
    assert_string_equal(seen.row->answer_key, "key-2");
    forget(&seen);
}

static void undoing_twice_does_not_bring_it_back(void **state)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key-1");
    struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);
    struct seen seen;

    create_done(*state, &ask);
    change_done(*state, &how);
    undo.from_states = ~0U;
    undo.to_state = STATE_PENDING;
    undo.removes_answer = true;
    change_done(*state, &undo);
    seen = change(*state, &undo);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_null(seen.row->answer_json);
    forget(&seen);
}

static void one_draft_per_ask_and_person(void **state)
{
    struct ask ask = make_ask(1);

    create_done(*state, &ask);
    assert_int_equal(draft_of(*state, ask.id, "owner").count, 0);
    assert_int_equal(save_draft(*state, ask.id, "owner", "{\"a\":1}"), STORE_DONE);
    assert_int_equal(save_draft(*state, ask.id, "owner", "{\"a\":2}"), STORE_DONE);
    assert_int_equal(save_draft(*state, ask.id, "guest", "{\"g\":1}"), STORE_DONE);
    reopen(*state);
    assert_string_equal(draft_of(*state, ask.id, "owner").values[0], "{\"a\":2}");
    assert_string_equal(draft_of(*state, ask.id, "guest").values[0], "{\"g\":1}");
    assert_int_equal(save_draft(*state, ask.id, "owner", ""), STORE_DONE);
    assert_int_equal(draft_of(*state, ask.id, "owner").count, 0);
    assert_int_equal(draft_of(*state, ask.id, "guest").count, 1);
    assert_int_equal(save_draft(*state, "zzzzzzzzzzzzzzzzzzzzzzzzzz", "owner", "{}"),
                     STORE_MISSING);
}

static void save_setting(struct place *place, const char *person, const char *name,
                         const char *value)
{
    struct seen seen = { 0 };

    store_write_setting(place->store, &(struct store_setting){ person, name, value }, on_reply,
                        &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
}

static void settings_belong_to_a_person(void **state)
{
    struct place *place = *state;
    struct pairs mine = { 0 }, yours = { 0 };

    save_setting(place, "owner", "theme", "dark");
    save_setting(place, "owner", "language", "zh");
    save_setting(place, "owner", "theme", "light");
    save_setting(place, "guest", "theme", "dark");
    save_setting(place, "owner", "sound", "on");
    save_setting(place, "owner", "sound", NULL);
    save_setting(place, "owner", "never_there", NULL);
    reopen(place);
    place->store->ops->list_settings(place->store, "owner", on_pair, &mine);
    assert_int_equal(mine.count, 2);
    assert_string_equal(mine.names[0], "language");
    assert_string_equal(mine.values[0], "zh");
    assert_string_equal(mine.names[1], "theme");
    assert_string_equal(mine.values[1], "light");
    place->store->ops->list_settings(place->store, "guest", on_pair, &yours);
    assert_int_equal(yours.count, 1);
}

/* Where others share the store, its own clock is what deadlines are kept by: nothing moves. */
static void shifting_moves_what_is_open(void **state)
{
    const int64_t by_ms = chosen_is_postgres() ? 0 : 1000;
    struct place *place = *state;
    struct ask open = make_ask(1), ended = make_ask(2), timeless = make_ask(3),
               waiting = make_ask(4);
    const struct ask *asks[] = { &open, &ended, &timeless, &waiting };
    const int64_t deadlines[] = { by_ms, 0, 0, 0 };
    struct seen seen = { 0 };

    ended.state = waiting.state = STATE_SUBMITTED;
    timeless.deadline_ms = 0;
    waiting.deliver_after_ms = 5000;
    for (size_t i = 0; i < ARRAY_LEN(asks); i++)
        create_done(place, asks[i]);
    store_write_shift(place->store, &(struct store_shift){ 1000 }, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        struct seen row = get(place, asks[i]->id);

        assert_int_equal(row.row->ask.deadline_ms, asks[i]->deadline_ms + deadlines[i]);
        assert_int_equal(row.row->ask.deliver_after_ms, i == 3 ? 5000 + by_ms : 0);
        forget(&row);
    }
}

static void save_setting_later(struct place *place)
{
    store_write_setting(place->store, &(struct store_setting){ "owner", "n", "1" }, NULL, NULL);
}

static void one_bad_write_leaves_its_neighbours(void **state)
{
    struct place *place = *state;
    struct ask asks[] = { make_ask(1), make_ask(2), make_ask(2), make_ask(3) };
    struct store_principal principal = principal_of(&asks[0]);
    struct seen seen[4] = { 0 };

    save_setting_later(place); /* keeps the writer busy, so that the four share a transaction */
    for (size_t i = 0; i < 4; i++)
        store_write_create(place->store, &(struct store_create){ asks[i], principal }, on_reply,
                           &seen[i]);
    for (size_t i = 0; i < 4; i++) {
        wait_for(place, &seen[i]);
        assert_int_equal(seen[i].reply.outcome, i == 2 ? STORE_FAILED : STORE_DONE);
    }
    assert_int_equal(seen[2].reply.err.code, ERROR_storage_failed);
    assert_int_equal(seen[3].reply.seq, 3);
    assert_false(place->store->ops->is_broken(place->store));
    assert_int_equal(bad_event(place), 0);
}

struct chatty {
    struct place *place;
    int left, ended;
};

static void write_on(void *context, const struct store_reply *reply)
{
    struct chatty *chatty = context;

    assert_int_equal(reply->outcome, STORE_DONE);
    chatty->ended++;
    if (chatty->left-- > 0)
        store_write_setting(chatty->place->store, &(struct store_setting){ "owner", "n", "1" },
                            write_on, chatty);
}

static void closing_finishes_every_write(void **state)
{
    struct place *place = *state;
    struct chatty chatty = { .place = place, .left = 50 };

    for (int i = 0; i < 100; i++)
        store_write_setting(place->store, &(struct store_setting){ "owner", "n", "1" }, write_on,
                            &chatty);
    place->store->ops->close(place->store);
    place->store = NULL;
    assert_int_equal(chatty.ended, 150);
}

static void numbers_go_on_after_a_restart(void **state)
{
    struct place *place = *state;

    for (int i = 1; i <= 5; i++) {
        struct ask ask = make_ask(i);

        create_done(place, &ask);
        assert_int_equal(place->store->ops->last_seq(place->store), 2 * i - 1);
        reopen(place); /* says once that no agent waits for it any more */
        assert_int_equal(place->store->ops->last_seq(place->store), 2 * i);
        reopen(place);
        assert_int_equal(place->store->ops->last_seq(place->store), 2 * i);
    }
    assert_int_equal(bad_event(place), 0);
}

static void look_at_seq(void *context, const struct store_reply *reply)
{
    struct place *place = context;

    assert_int_equal(place->store->ops->last_seq(place->store), reply->seq);
    if (reply->seq == 20)
        loop_stop(place->loop);
}

static void no_completion_sees_ahead_of_itself(void **state)
{
    struct place *place = *state;

    for (int i = 1; i <= 20; i++) {
        struct ask ask = make_ask(i);
        struct store_principal principal = principal_of(&ask);

        store_write_create(place->store, &(struct store_create){ ask, principal }, look_at_seq,
                           place);
    }
    loop_run(place->loop);
}

static void the_file_has_a_name_of_its_own(void **state)
{
    struct place *place = *state;
    char instance[64];

    snprintf(instance, sizeof instance, "%s", place->store->ops->meta(place->store, "instance"));
    assert_int_equal(strlen(instance), 32);
    reopen(place);
    assert_string_equal(place->store->ops->meta(place->store, "instance"), instance);
    assert_string_equal(place->store->ops->meta(place->store, "recovered_from"), "");
    assert_string_equal(place->store->ops->meta(place->store, "no such"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_ask_is_read_back_whole),
        CASE(an_event_of_another_ask_misleads_nobody),
        CASE(a_write_never_completes_before_it_returns),
        CASE(what_is_not_there_is_missing),
        CASE(a_change_keeps_what_it_does_not_name),
        CASE(a_change_sets_what_it_names),
        CASE(who_comes_too_late_sees_the_row),
        CASE(an_answer_is_kept_with_who_gave_it),
        CASE(a_cancel_without_words_still_names_the_actor),
        CASE(the_same_key_again_is_repeated),
        CASE(two_answers_at_once_have_one_winner),
        CASE(an_undone_answer_becomes_a_draft),
        CASE(undoing_twice_does_not_bring_it_back),
        CASE(one_draft_per_ask_and_person),
        CASE(settings_belong_to_a_person),
        CASE(shifting_moves_what_is_open),
        CASE(one_bad_write_leaves_its_neighbours),
        CASE(closing_finishes_every_write),
        CASE(numbers_go_on_after_a_restart),
        CASE(no_completion_sees_ahead_of_itself),
        CASE(the_file_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
