/*
 * test_store_conversations.c - conversations as the store keeps them: one step wins, events have
 * numbers without a gap, an answer that went into a step is delivered with it, and what is kept has
 * a bound.
 * Proves: R3.4, R9.1, G10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

#include "base/text.h"

static const struct store_principal host = {
    .id = "0123456789abcdef0123456789abcdef", .kind = "token", .uid = -1, .name = "builder"
};

static enum store_outcome make(struct place *place, const char *id, const char *key)
{
    const struct store_conversation made = {
        .id = id,
        .principal = host.id,
        .token_id = "0123456789abcdef",
        .label = "builder",
        .state = "idle",
        .body = "{}",
        .key = key,
        .created_ms = 100,
    };
    struct seen seen = { 0 };

    store_write_conversation(place->store,
                             &(struct store_new_conversation){ made, host, "state_change {}\n" },
                             on_reply, &seen);
    wait_for(place, &seen);
    return seen.reply.outcome;
}

static struct store_reply step(struct place *place, const char *id, int64_t version,
                               const char *state, const char *events, const char *delivered)
{
    const struct store_conversation_step taken = {
        .id = id,
        .if_version = version,
        .state = state,
        .body = "{}",
        .ask_id = "ask",
        .earlier_ask_id = "earlier",
        .events = events,
        .now_ms = 200,
        .delivered_ask = delivered,
        .delivered_states = state_bit(STATE_SUBMITTED),
    };
    struct seen seen = { 0 };

    store_write_conversation_step(place->store, &taken, on_reply, &seen);
    wait_for(place, &seen);
    return seen.reply;
}

struct heard {
    int64_t first, last, count;
    char kinds[256], last_body[64];
    int ends;
};

static void on_event(void *context, const struct store_conversation_event *event,
                     const struct error *err)
{
    struct heard *heard = context;

    assert_null(err);
    if (!event) {
        heard->ends++;
        return;
    }
    if (heard->count > 0)
        assert_int_equal(event->number, heard->last + 1);
    heard->first = heard->first ? heard->first : event->number;
    heard->last = event->number;
    heard->count++;
    snprintf(heard->kinds + strlen(heard->kinds), sizeof heard->kinds - strlen(heard->kinds), "%s ",
             event->kind);
    snprintf(heard->last_body, sizeof heard->last_body, "%s", event->body);
}

static struct heard hear(struct place *place, const char *id, int64_t after, size_t limit)
{
    struct heard heard = { 0 };

    place->store->ops->list_conversation_events(place->store, id, after, limit, on_event, &heard);
    wait_until(place, &heard.ends);
    assert_int_equal(heard.ends, 1);
    return heard;
}

struct looked {
    int calls;
    bool is_there;
    int64_t version, last_event;
    char id[32], state[32], ask[32], earlier[32];
};

static void on_conversation(void *context, const struct store_conversation *found,
                            const struct error *err)
{
    struct looked *looked = context;

    assert_null(err);
    looked->calls++;
    if (!found)
        return;
    looked->is_there = true;
    looked->version = found->version;
    looked->last_event = found->last_event;
    snprintf(looked->id, sizeof looked->id, "%s", found->id);
    snprintf(looked->state, sizeof looked->state, "%s", found->state);
    snprintf(looked->ask, sizeof looked->ask, "%s", found->ask_id);
    snprintf(looked->earlier, sizeof looked->earlier, "%s", found->earlier_ask_id);
}

static struct looked look(struct place *place, const char *id)
{
    struct looked looked = { 0 };

    place->store->ops->get_conversation(place->store, id, on_conversation, &looked);
    wait_until(place, &looked.calls);
    assert_int_equal(looked.calls, 1);
    return looked;
}

static void one_step_wins(void **state)
{
    struct place *place = *state;
    struct store_reply reply;
    struct looked seen;

    assert_int_equal(make(place, "one", NULL), STORE_DONE);
    reply =
        step(place, "one", 1, "tool_executing", "persist_state {\"a\":1}\nexecute_tool {}\n", NULL);
    assert_int_equal(reply.outcome, STORE_DONE);
    assert_int_equal(reply.seq, 3);
    assert_int_equal(step(place, "one", 1, "idle", "agent_done {}\n", NULL).outcome, STORE_LOST);
    assert_int_equal(step(place, "two", 1, "idle", "agent_done {}\n", NULL).outcome, STORE_MISSING);
    seen = look(place, "one");
    assert_int_equal(seen.version, 2);
    assert_int_equal(seen.last_event, 3);
    assert_string_equal(seen.state, "tool_executing");
    assert_string_equal(seen.ask, "ask");
    assert_string_equal(seen.earlier, "earlier");
    assert_string_equal(hear(place, "one", 0, 100).kinds,
                        "state_change persist_state execute_tool ");
    assert_string_equal(hear(place, "one", 1, 1).last_body, "{\"a\":1}");
    assert_int_equal(hear(place, "one", 3, 100).count, 0);
    assert_false(look(place, "two").is_there);
}

static void a_key_makes_one_conversation(void **state)
{
    struct place *place = *state;
    struct looked looked = { 0 };

    assert_int_equal(make(place, "one", "k"), STORE_DONE);
    assert_int_equal(make(place, "two", "k"), STORE_REPEATED);
    assert_int_equal(make(place, "three", "other"), STORE_DONE);
    assert_int_equal(make(place, "four", NULL), STORE_DONE);
    assert_int_equal(make(place, "five", NULL), STORE_DONE);
    place->store->ops->find_conversation(place->store, host.id, "k", on_conversation, &looked);
    wait_until(place, &looked.calls);
    assert_string_equal(looked.id, "one");
    assert_false(look(place, "two").is_there);
    assert_int_equal(hear(place, "two", 0, 10).count, 0);
}

static void an_answer_is_delivered_with_its_step(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key");

    create_done(place, &ask);
    change_done(place, &how);
    assert_int_equal(make(place, "one", NULL), STORE_DONE);
    assert_int_equal(step(place, "one", 9, "idle", "agent_done {}\n", ask.id).outcome, STORE_LOST);
    assert_int_equal(sql_number(place, "SELECT delivered_ms FROM asks"), 0);
    assert_int_equal(step(place, "one", 1, "idle", "agent_done {}\n", ask.id).outcome, STORE_DONE);
    assert_int_equal(sql_number(place, "SELECT delivered_ms FROM asks"), 200);
    assert_int_equal(bad_event(place), 0);
}

static void what_is_kept_has_a_bound(void **state)
{
    struct place *place = *state;
    struct text lines = { 0 };
    int64_t version = 1;
    struct heard heard;

    assert_int_equal(make(place, "one", NULL), STORE_DONE);
    assert_int_equal(make(place, "other", NULL), STORE_DONE);
    for (int i = 0; i < 500; i++)
        text_add_text(&lines, "persist_state {}\n");
    while (version <= 4)
        assert_int_equal(step(place, "one", version++, "idle", text_string(&lines), NULL).outcome,
                         STORE_DONE);
    heard = hear(place, "one", 0, 5000);
    assert_int_equal(heard.last, 2001);
    assert_int_equal(heard.count, STORE_CONVERSATION_EVENTS);
    text_clear(&lines);
    text_add_text(&lines, "persist_tool_results \"");
    for (int i = 0; i < STORE_CONVERSATION_BYTES / 4; i++)
        text_add_char(&lines, 'x');
    text_add_text(&lines, "\"\n");
    for (int i = 0; i < 5; i++)
        assert_int_equal(step(place, "one", version++, "idle", text_string(&lines), NULL).outcome,
                         STORE_DONE);
    heard = hear(place, "one", 0, 5000);
    assert_int_equal(heard.last, 2006);
    assert_int_equal(heard.count, 3); /* a fourth would be too many bytes */
    assert_int_equal(hear(place, "other", 0, 10).count, 1);
    text_release(&lines);
}

static void old_ones_go_unless_they_wait(void **state)
{
    struct place *place = *state;
    struct store_sweep how = { .older_than_ms = 150, .keep_ended = 1000, .batch = 10 };
    struct seen seen = { 0 };

    assert_int_equal(make(place, "old", NULL), STORE_DONE);
    assert_int_equal(make(place, "waiting", NULL), STORE_DONE);
    assert_int_equal(make(place, "new", NULL), STORE_DONE);
    step(place, "waiting", 1, "awaiting_user_response", "state_change {}\n", NULL);
    step(place, "new", 1, "idle", "state_change {}\n", NULL);
    sql(place, "UPDATE conversations SET changed_ms = 50 WHERE id <> 'new'");
    store_write_sweep(place->store, &how, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_false(look(place, "old").is_there);
    assert_int_equal(hear(place, "old", 0, 10).count, 0);
    assert_true(look(place, "waiting").is_there);
    assert_int_equal(hear(place, "new", 0, 10).count, 2);
}

/* One may be large, so not all old ones go in one sweep. */
static void old_ones_go_a_few_at_a_time(void **state)
{
    static const int64_t gone[] = { 2, 2, 1 + 1, 0 }; /* and who had them */
    struct store_sweep how = { .older_than_ms = 150, .keep_ended = 1000, .batch = 2 };
    struct place *place = *state;
    char id[16];

    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "c%d", i);
        assert_int_equal(make(place, id, NULL), STORE_DONE);
    }
    sql(place, "UPDATE conversations SET changed_ms = 50");
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        struct seen seen = { 0 };

        store_write_sweep(place->store, &how, on_reply, &seen);
        wait_for(place, &seen);
        assert_int_equal(seen.reply.seq, gone[i]);
    }
    assert_int_equal(sql_number(place, "SELECT count(*) FROM conversations"), 0);
}

static void too_many_make_room_where_they_are_idle(void **state)
{
    struct place *place = *state;
    char id[16];

    for (int i = 0; i < STORE_CONVERSATIONS; i++) {
        snprintf(id, sizeof id, "c%d", i);
        assert_int_equal(make(place, id, NULL), STORE_DONE);
    }
    step(place, "c0", 1, "tool_executing", "execute_tool {}\n", NULL);
    assert_int_equal(make(place, "one more", NULL), STORE_DONE);
    assert_true(look(place, "c0").is_there);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM conversations"), STORE_CONVERSATIONS);
    sql(place, "UPDATE conversations SET state = 'tool_executing'");
    assert_int_equal(make(place, "too many", NULL), STORE_LOST);
    assert_false(look(place, "too many").is_there);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM conversations"), STORE_CONVERSATIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_step_wins),
        CASE(a_key_makes_one_conversation),
        CASE(an_answer_is_delivered_with_its_step),
        CASE(what_is_kept_has_a_bound),
        CASE(old_ones_go_unless_they_wait),
        CASE(old_ones_go_a_few_at_a_time),
        CASE(too_many_make_room_where_they_are_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
