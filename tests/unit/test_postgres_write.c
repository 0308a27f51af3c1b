/*
 * test_postgres_write.c - writes to PostgreSQL do what they do to SQLite: thousands of any kind, in
 * any order, on few asks, and afterwards both hold the same, to the last hash of the chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postgres_twin.h"

#include "base/text.h"

enum { ASKS = 24, PEOPLE = 2, PRINCIPALS = 3, KEYS = 500, ROUNDS = 1600, LONG_ROUNDS = 2500 };

/* Numbers that are the same each time. */
struct dice {
    uint64_t state;
};

static int64_t roll(struct dice *dice, int64_t sides)
{
    dice->state = dice->state * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)((dice->state >> 33) % (uint64_t)sides);
}

static bool now_and_then(struct dice *dice, int64_t one_of)
{
    return roll(dice, one_of) == 0;
}

static const char *const people[PEOPLE] = { "owner", "someone" };
static const char *const principals[PRINCIPALS] = { "0000000000000000000000000000000a",
                                                    "0000000000000000000000000000000b",
                                                    "0000000000000000000000000000000c" };
static const char *const texts[] = {
    "{\"selected_ids\":[\"a\"]}",
    "{}",
    "\"\\\"\\\\\\n\\t'$f$\"",
    "{\"note\":\"\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x99\x82\"}",
    "{\"note\":\"tab\\there, NULL, \\\\x00, %s\"}",
};

static char longer[70000]; /* than its length in one byte, or two */

static const char *any_text(struct dice *dice)
{
    int64_t which = roll(dice, (int64_t)ARRAY_LEN(texts) + 2);

    if (which < (int64_t)ARRAY_LEN(texts))
        return texts[which];
    memset(longer, 'x', sizeof longer - 1);
    return longer + sizeof longer - 1 - (now_and_then(dice, 20) ? 66000 : 300);
}

struct scene {
    struct twin *twin;
    struct dice dice;
    int64_t now_ms;
    char id[ASK_ID_BYTES], more[4 * ASK_ID_BYTES], key[32], key_of_conversation[32];
    int next_ask;
    bool is_just_made; /* an ask: a file finds its id again, if not for long */
};

static void pick_id(struct scene *scene)
{
    int newest = scene->next_ask, oldest = newest > ASKS ? newest - ASKS : 0;

    make_id(scene->id, oldest + (int)roll(&scene->dice, ASKS + 1));
}

static struct write create_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;
    bool is_again = scene->is_just_made && now_and_then(dice, 4); /* is refused */
    struct ask ask = make_ask(is_again ? scene->next_ask - 1 : scene->next_ask++);
    struct write write = { .what = WRITE_create };

    memcpy(ask.principal, principals[roll(dice, PRINCIPALS)], PRINCIPAL_BYTES);
    ask.created_ms = scene->now_ms;
    ask.state = (enum ask_state)(1 + roll(dice, 4));
    ask.flags = (uint32_t)roll(dice, 128);
    ask.deliver_after_ms = now_and_then(dice, 3) ? scene->now_ms + 5 : 0;
    ask.idempotency_key = now_and_then(dice, 3) ? "once" : NULL;
    ask.title = now_and_then(dice, 5) ? NULL : any_text(dice);
    ask.form_json = now_and_then(dice, 9) ? NULL : any_text(dice);
    ask.arguments_json = now_and_then(dice, 9) ? NULL : any_text(dice);
    ask.launch_hash[3] = (uint8_t)roll(dice, 2);
    write.of.create.ask = ask;
    write.of.create.principal = (struct store_principal){ NULL, "local", 1000, NULL, "/tmp" };
    if (now_and_then(dice, 2))
        write.of.create.principal.place = NULL;
    write.of.create.principal.id = principals[0];
    for (int i = 0; i < PRINCIPALS; i++) {
        if (strcmp(ask.principal, principals[i]) == 0)
            write.of.create.principal.id = principals[i];
    }
    return write;
}

static void add_answer(struct scene *scene, struct store_change *how)
{
    struct dice *dice = &scene->dice;

    how->answer_json = now_and_then(dice, 4) ? NULL : any_text(dice);
    how->person = now_and_then(dice, 4) ? NULL : people[roll(dice, PEOPLE)];
    snprintf(scene->key, sizeof scene->key, "key %d", (int)roll(dice, KEYS));
    how->answer_key = now_and_then(dice, 4) ? NULL : scene->key;
}

static struct write change_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;
    struct write write = { .what = WRITE_change };
    struct store_change *how = &write.of.change;

    pick_id(scene);
    *how = store_change_of(scene->id, (enum ask_event)roll(dice, EVENT_COUNT));
    how->from_states = (uint32_t)roll(dice, 1 << STATE_COUNT) | (uint32_t)roll(dice, 1 << 4);
    how->now_ms = scene->now_ms;
    how->if_version = now_and_then(dice, 5) ? roll(dice, 4) : 0;
    how->raises_version = now_and_then(dice, 2);
    how->principal = now_and_then(dice, 4) ? principals[roll(dice, PRINCIPALS)] : NULL;
    if (!now_and_then(dice, 3))
        how->to_state = (int)(1 + roll(dice, STATE_COUNT - 1));
    if (now_and_then(dice, 3))
        how->deadline_ms = scene->now_ms + 60000;
    if (now_and_then(dice, 3))
        how->deliver_after_ms = scene->now_ms + 5000;
    if (now_and_then(dice, 5))
        how->delivered_ms = scene->now_ms;
    how->set_flags = (uint32_t)roll(dice, 128) & (uint32_t)roll(dice, 128);
    how->clear_flags = (uint32_t)roll(dice, 128) & (uint32_t)roll(dice, 128);
    how->actor_json = now_and_then(dice, 3) ? NULL : any_text(dice);
    how->said = now_and_then(dice, 3) ? any_text(dice) : NULL;
    how->skips_row = now_and_then(dice, 2);
    how->removes_answer = now_and_then(dice, 4);
    how->launch_hash[3] = (uint8_t)now_and_then(dice, 6);
    how->if_launch_hash[3] = (uint8_t)now_and_then(dice, 6);
    if (now_and_then(dice, 2))
        add_answer(scene, how);
    return write;
}

static struct write deliver_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;
    struct write write = { .what = WRITE_change };
    struct store_change *how = &write.of.change;
    struct text more = { 0 };
    int next = (int)roll(dice, scene->next_ask + 1);

    pick_id(scene);
    *how = store_change_of(scene->id, EVENT_DELIVERED);
    how->from_states = (uint32_t)roll(dice, 1 << STATE_COUNT);
    how->now_ms = how->delivered_ms = scene->now_ms;
    how->principal = now_and_then(dice, 3) ? principals[roll(dice, PRINCIPALS)] : NULL;
    how->actor_json = now_and_then(dice, 3) ? any_text(dice) : NULL;
    for (int i = 0; i < (int)roll(dice, 4); i++) {
        char id[ASK_ID_BYTES];

        make_id(id, next + i);
        if (strcmp(id, scene->id) != 0) /* a call never hands over the same id twice */
            text_add_format(&more, "%s%s", more.used ? " " : "", id);
    }
    text_put(scene->more, sizeof scene->more, text_string(&more));
    how->more_ids = more.used ? scene->more : NULL;
    text_release(&more);
    return write;
}

static struct write mark_write(struct scene *scene)
{
    pick_id(scene);
    return (struct write){ .what = WRITE_mark,
                           .of.mark = { scene->id, (uint32_t)roll(&scene->dice, 8),
                                        (uint32_t)roll(&scene->dice, 8) } };
}

static struct write draft_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;

    pick_id(scene);
    return (struct write){ .what = WRITE_draft,
                           .of.draft = { scene->id, people[roll(dice, PEOPLE)],
                                         now_and_then(dice, 3) ? "" : any_text(dice),
                                         scene->now_ms } };
}

static struct write token_write(struct scene *scene)
{
    static const char *const kinds[] = { "agent", "person", "tab", "device", "host", "robot" };
    struct dice *dice = &scene->dice;
    struct write write = { .what = WRITE_token };

    write.of.token = (struct store_token){ .kind = kinds[roll(dice, (int64_t)ARRAY_LEN(kinds))],
                                           .label = any_text(dice),
                                           .is_sub_agent = now_and_then(dice, 2),
                                           .may_answer = now_and_then(dice, 2),
                                           .created_ms = scene->now_ms };
    write.of.token.hash[0] = (uint8_t)roll(dice, 40); /* some come twice */
    return write;
}

static struct write token_revoke_write(struct scene *scene)
{
    struct write write = { .what = WRITE_token_revoke, .of.token_revoke.now_ms = scene->now_ms };

    write.of.token_revoke.hash[0] = (uint8_t)roll(&scene->dice, 40);
    return write;
}

static struct write token_use_write(struct scene *scene)
{
    struct write write = token_revoke_write(scene);

    write.what = WRITE_token_use;
    return write;
}

static struct write rule_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;
    struct write write = { .what = WRITE_rule };

    make_id(scene->id, (int)roll(dice, 60));
    write.of.rule = (struct store_rule){ .id = scene->id,
                                         .facts_json = any_text(dice),
                                         .answer_json = any_text(dice),
                                         .actor_json = any_text(dice),
                                         .created_ms = scene->now_ms,
                                         .expires_ms = scene->now_ms + roll(dice, 200) };
    write.of.rule.kind[0] = (uint8_t)roll(dice, 10);
    return write;
}

static struct write rule_revoke_write(struct scene *scene)
{
    make_id(scene->id, (int)roll(&scene->dice, 60));
    return (struct write){ .what = WRITE_rule_revoke,
                           .of.rule_revoke = { scene->id, scene->now_ms } };
}

static struct write setting_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;

    return (struct write){ .what = WRITE_setting,
                           .of.setting = { people[roll(dice, PEOPLE)], any_text(dice),
                                           now_and_then(dice, 3) ? NULL : any_text(dice) } };
}

static struct write key_write(struct scene *scene)
{
    return (struct write){ .what = WRITE_key,
                           .of.key = { .purpose = any_text(&scene->dice),
                                       .created_ms = scene->now_ms } };
}

static struct write meta_write(struct scene *scene)
{
    return (struct write){ .what = WRITE_meta,
                           .of.meta = { any_text(&scene->dice), any_text(&scene->dice) } };
}

static struct write client_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;

    return (struct write){ .what = WRITE_client,
                           .of.client = { { now_and_then(dice, 8) ? NULL : any_text(dice),
                                            any_text(dice), any_text(dice) },
                                          now_and_then(dice, 2),
                                          roll(dice, 5) - 1 } };
}

static const char *const happened[] = {
    "", "said {\"a\":1}\n", "asked {}\nanswered {\"x\":\"\xe4\xbd\xa0 y z\"}\nmore \"  \"\n"
};

static struct write conversation_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;
    struct write write = { .what = WRITE_conversation };
    const char *principal = principals[roll(dice, PRINCIPALS)];

    make_id(scene->id, (int)roll(dice, 40));
    snprintf(scene->key_of_conversation, sizeof scene->key_of_conversation, "k%d",
             (int)roll(dice, 30));
    write.of.conversation.conversation = (struct store_conversation){
        .id = scene->id,
        .principal = principal,
        .token_id = "t",
        .label = any_text(dice),
        .state = now_and_then(dice, 2) ? "idle" : "awaiting_user_response",
        .body = any_text(dice),
        .key = now_and_then(dice, 2) ? NULL : scene->key_of_conversation,
        .created_ms = scene->now_ms,
    };
    write.of.conversation.principal =
        (struct store_principal){ principal, "token", 0, "host", NULL };
    write.of.conversation.events = happened[roll(dice, (int64_t)ARRAY_LEN(happened))];
    return write;
}

static struct write step_write(struct scene *scene)
{
    struct dice *dice = &scene->dice;
    struct write write = { .what = WRITE_conversation_step };

    make_id(scene->id, (int)roll(dice, 45));
    make_id(scene->more, (int)roll(dice, scene->next_ask + 1));
    write.of.conversation_step = (struct store_conversation_step){
        .id = scene->id,
        .if_version = 1 + roll(dice, 3),
        .state = now_and_then(dice, 2) ? "idle" : "awaiting_user_response",
        .body = any_text(dice),
        .ask_id = now_and_then(dice, 2) ? "" : scene->more,
        .earlier_ask_id = "",
        .events = happened[roll(dice, (int64_t)ARRAY_LEN(happened))],
        .now_ms = scene->now_ms,
        .delivered_ask = now_and_then(dice, 2) ? scene->more : NULL,
        .delivered_states = (uint32_t)roll(dice, 1 << STATE_COUNT),
    };
    return write;
}

static struct write sweep_write(struct scene *scene)
{
    return (struct write){ .what = WRITE_sweep,
                           .of.sweep = { scene->now_ms - 20000, 20 + roll(&scene->dice, 40),
                                         1 + roll(&scene->dice, 30), 0 } };
}

static struct write change_or_deliver_write(struct scene *scene)
{
    return now_and_then(&scene->dice, 4) ? deliver_write(scene) : change_write(scene);
}

/* Of each row of writes.def that both stores do; how often compared with the others. */
static const struct {
    struct write (*make)(struct scene *scene);
    int weight;
} makers[WRITE_KINDS] = {
    [WRITE_create] = { create_write, 22 },
    [WRITE_change] = { change_or_deliver_write, 43 },
    [WRITE_mark] = { mark_write, 3 },
    [WRITE_draft] = { draft_write, 6 },
    [WRITE_setting] = { setting_write, 1 },
    [WRITE_token] = { token_write, 4 },
    [WRITE_token_revoke] = { token_revoke_write, 2 },
    [WRITE_token_use] = { token_use_write, 2 },
    [WRITE_rule] = { rule_write, 2 },
    [WRITE_rule_revoke] = { rule_revoke_write, 2 },
    [WRITE_key] = { key_write, 1 },
    [WRITE_meta] = { meta_write, 1 },
    [WRITE_client] = { client_write, 1 },
    [WRITE_conversation] = { conversation_write, 7 },
    [WRITE_conversation_step] = { step_write, 4 },
    [WRITE_sweep] = { sweep_write, 1 },
};

static struct write any_write(struct scene *scene)
{
    int total = 0, kind = 0;
    struct write write;
    int64_t at;

    for (int i = 0; i < WRITE_KINDS; i++)
        total += makers[i].weight;
    for (at = roll(&scene->dice, total); at >= makers[kind].weight; kind++)
        at -= makers[kind].weight;
    write = makers[kind].make(scene);
    scene->is_just_made = kind == WRITE_create;
    return write;
}

static void do_the_same(void **state)
{
    struct scene scene = { .twin = *state, .dice.state = 9, .now_ms = 1700000000000 };
    int outcomes[STORE_FAILED + 1] = { 0 }, done[WRITE_KINDS] = { 0 };
    int rounds = getenv("SAYSO_SCALE") ? LONG_ROUNDS : ROUNDS; /* `make soak` says how long */

    if (!scene.twin)
        skip();
    for (int i = 0; i < rounds; i++) {
        struct write write = any_write(&scene);
        enum store_outcome outcome = twin_run(scene.twin, &write);

        scene.now_ms += roll(&scene.dice, 100);
        outcomes[outcome]++;
        done[write.what] += outcome == STORE_DONE;
        if (i % 250 == 0)
            twin_compare(scene.twin);
    }
    twin_compare(scene.twin);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        assert_true(outcomes[i] > 10); /* else the dice are loaded */
    for (int i = 0; i < WRITE_KINDS; i++) {
        if (!(write_rows[i].flags & WRITE_IS_OF_FILE) && !done[i])
            fail_msg("%s was never written to both stores", write_rows[i].name);
    }
    assert_int_equal(bad_event(scene.twin->place), 0);
}

/* Rows without end, for the bounds; N is 1, 2 and so on up to `count` in `sql`. */
static void fill(struct twin *twin, const char *table, const char *values, int count)
{
    char text[512];

    snprintf(text, sizeof text,
             "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < %d)"
             " INSERT INTO %s SELECT %s FROM n",
             count, table, values);
    sql(twin->place, text);
    postgres_run(twin->url, text);
}

static struct write one_more_conversation(const char *id, const char *key)
{
    return (struct write){ .what = WRITE_conversation,
                           .of.conversation = { { .id = id,
                                                  .principal = principals[0],
                                                  .token_id = "t",
                                                  .label = "host",
                                                  .state = "working",
                                                  .body = "{}",
                                                  .key = key,
                                                  .created_ms = 5000 },
                                                { principals[0], "token", 0, "host", NULL },
                                                "made {}\n" } };
}

static void keep_conversations_in_bounds(void **state)
{
    struct twin *twin = *state;
    struct write write = one_more_conversation("first", NULL);

    if (!twin)
        skip();
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    fill(twin,
         "conversations (id, principal, token_id, label, state, body, version, created_ms,"
         " changed_ms)",
         "'c' || n, '0000000000000000000000000000000a', '', '',"
         " CASE WHEN n IN (7, 8) THEN 'idle' ELSE 'working' END, '{}', 1, n, 1000 - n",
         STORE_CONVERSATIONS - 1);
    write = one_more_conversation("second", NULL);
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM conversations"
                                                " WHERE id IN ('c7', 'second')"),
                     2); /* c8 changed longer ago, and has made room */
    write = one_more_conversation("third", "key");
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    write = one_more_conversation("fourth", NULL);
    assert_int_equal(twin_run(twin, &write), STORE_LOST);
    write = one_more_conversation("fifth", "key");
    assert_int_equal(twin_run(twin, &write), STORE_REPEATED);
    twin_compare(twin);
}

static struct write step_with(int64_t version, const char *events)
{
    return (struct write){ .what = WRITE_conversation_step,
                           .of.conversation_step = { .id = "first",
                                                     .if_version = version,
                                                     .state = "working",
                                                     .body = "{}",
                                                     .ask_id = "",
                                                     .earlier_ask_id = "",
                                                     .events = events,
                                                     .now_ms = 6000 } };
}

static void forget_what_happened_long_ago(void **state)
{
    struct twin *twin = *state;
    struct write write = one_more_conversation("first", NULL);
    struct text events = { 0 };

    if (!twin)
        skip();
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    for (int i = 0; i < STORE_CONVERSATION_EVENTS + 30; i++)
        text_add_format(&events, "said %d\n", i);
    write = step_with(1, text_string(&events));
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    twin_compare(twin);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM conversation_events"),
                     STORE_CONVERSATION_EVENTS);

    text_clear(&events);
    text_add_text(&events, "said ");
    memset(text_add_room(&events, STORE_CONVERSATION_BYTES / 3 - 100), 'y',
           STORE_CONVERSATION_BYTES / 3 - 100);
    text_add_char(&events, '\n');
    for (int i = 0; i < 4; i++) {
        write = step_with(2 + i, text_string(&events));
        assert_int_equal(twin_run(twin, &write), STORE_DONE);
    }
    twin_compare(twin);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM conversation_events"), 3);
    text_release(&events);
}

static void keep_client_facts_in_bounds(void **state)
{
    struct twin *twin = *state;
    struct write write = { .what = WRITE_client,
                           .of.client = { { "newest", "1", "stdio" }, .fact = 60000 } };

    if (!twin)
        skip();
    fill(twin, "client_facts (name, version, transport, cut_off_ms)", "'c' || n, '1', 'stdio', 5",
         1000);
    assert_int_equal(twin_run(twin, &write), STORE_DONE); /* there is no room */
    twin_compare(twin);
    sql(twin->place, "UPDATE client_facts SET cut_off_ms = 0 WHERE name = 'c5'");
    postgres_run(twin->url, "UPDATE client_facts SET cut_off_ms = 0 WHERE name = 'c5'");
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    write.of.client.is_form = true;
    assert_int_equal(twin_run(twin, &write), STORE_DONE);
    twin_compare(twin);
    assert_int_equal(postgres_number(twin->url, "SELECT cut_off_ms + form_works FROM client_facts"
                                                " WHERE name = 'newest'"),
                     120000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWIN(do_the_same),
        TWIN(keep_conversations_in_bounds),
        TWIN(forget_what_happened_long_ago),
        TWIN(keep_client_facts_in_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, twin_group_tear_down);
}
