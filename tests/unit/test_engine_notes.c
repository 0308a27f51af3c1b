/*
 * test_engine_notes.c - what every hub must know of MCP sessions: noted, changed, taken back, over
 * restarts and crashes, from another hub, too many, over, and where the disk fails.
 * Proves: R13.1, P10
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/state.h"

static const int64_t DAY_MS = 86400000;
static const char ONE[] = "aaaaaaaaaaaaaaaaaaaaaaaaaa", TWO[] = "bbbbbbbbbbbbbbbbbbbbbbbbbb";
static const char TOKEN[] = "0123456789abcdef";

struct told {
    int replies;
    enum error_code code;
};

static void on_done(void *context, const struct reply *reply)
{
    struct told *told = context;

    told->replies++;
    told->code = reply->err.code;
}

static struct told note(struct stage *stage, const char *session, const char *what,
                        const char *value)
{
    const struct engine_session_state note = { session, TOKEN, what, value, DAY_MS };
    struct told told = { 0 };

    engine_put_session_state(stage->engine, &note, on_done, &told);
    stage_settle(stage);
    assert_int_equal(told.replies, 1);
    return told;
}

static void add(void *context, const char *what, const char *value)
{
    text_add_format(context, "[%s=%s]", what, value);
}

static void assert_notes(struct stage *stage, const char *session, const char *expected)
{
    struct text found = { 0 };

    engine_each_session_state(stage->engine, session, add, &found);
    assert_string_equal(text_string(&found), expected);
    text_release(&found);
}

static void test_kept(void **state)
{
    struct stage *stage = *state;

    assert_int_equal(note(stage, ONE, "level", "info").code, ERROR_NONE);
    assert_int_equal(note(stage, ONE, "level", "error with blanks").code, ERROR_NONE);
    note(stage, TWO, "subscribed sayso://asks", "");
    assert_notes(stage, ONE, "[level=error with blanks]");
    stage_restart(stage);
    assert_notes(stage, ONE, "[level=error with blanks]");
    assert_notes(stage, TWO, "[subscribed sayso://asks=]");
    note(stage, TWO, "subscribed sayso://asks", NULL);
    note(stage, TWO, "never noted", NULL);
    assert_notes(stage, TWO, "");
    stage_crash(stage);
    assert_notes(stage, ONE, "[level=error with blanks]");
    assert_notes(stage, TWO, "");
    note(stage, ONE, "ended", "");
    engine_drop_session_state(stage->engine, ONE);
    assert_notes(stage, ONE, "");
    note(stage, ONE, "ended", ""); /* while the earlier one is being removed */
    assert_notes(stage, ONE, "[ended=]");
    stage_restart(stage);
    assert_notes(stage, ONE, "[ended=]");
}

static void test_without_token(void **state)
{
    struct stage *stage = *state;
    const struct engine_session_state anybody = { ONE, "", "ended", "", DAY_MS };

    engine_put_session_state(stage->engine, &anybody, NULL, NULL);
    stage_settle(stage);
    stage_restart(stage);
    assert_notes(stage, ONE, "[ended=]");
}

static void test_over(void **state)
{
    struct stage *stage = *state;

    note(stage, ONE, "ended", "");
    stage_advance(stage, DAY_MS - 1000);
    assert_notes(stage, ONE, "[ended=]");
    note(stage, TWO, "ended", "");
    stage_advance(stage, 2000);
    assert_notes(stage, ONE, "");
    note(stage, TWO, "level", "info"); /* who writes next tidies up */
    assert_int_equal(stage->engine->session_states.count, 2);
    stage_restart(stage);
    assert_int_equal(stage->engine->session_states.count, 2);
    stage_advance(stage, 2 * DAY_MS);
    stage_restart(stage);
    stage_settle(stage);
    assert_int_equal(stage->engine->session_states.count, 0);
}

static void test_bounded(void **state)
{
    const struct engine_session_state stranger = { TWO, "fedcba9876543210", "ended", "", DAY_MS };
    struct told told = { 0 };
    struct stage *stage = *state;
    char what[1024];

    memset(what, 'x', sizeof what - 1);
    what[sizeof what - 1] = '\0';
    assert_int_equal(note(stage, ONE, what, "").code, ERROR_too_long);
    assert_int_equal(note(stage, "short", "ended", "").code, ERROR_too_long);
    for (int i = 0; i < 1024; i++) {
        const struct engine_session_state many = { ONE, TOKEN, what, "", DAY_MS };

        snprintf(what, sizeof what, "subscribed %d", i);
        engine_put_session_state(stage->engine, &many, NULL, NULL);
    }
    stage_settle(stage);
    assert_int_equal(note(stage, ONE, "one more", "").code, ERROR_rate_limited);
    assert_int_equal(note(stage, ONE, "subscribed 7", "again").code, ERROR_NONE);
    engine_put_session_state(stage->engine, &stranger, on_done, &told);
    stage_settle(stage);
    assert_int_equal(told.code, ERROR_NONE);
    stage_advance(stage, DAY_MS + 1000);
    assert_int_equal(note(stage, ONE, "one more", "").code, ERROR_NONE);
    stage_settle(stage);
    assert_int_equal(stage->engine->session_states.count, 1);
}

static void on_news(void *context, const char *session, const char *what, const char *value)
{
    stage_note(context, "%s %s %s", session, what, value ? value : "(gone)");
}

static void ignore(void *context, const struct store_reply *reply)
{
    (void)context;
    assert_int_equal(reply->outcome, STORE_DONE);
}

/* As another hub writes it. */
static void write_row(struct stage *stage, const char *name, const char *value)
{
    store_write_setting(&stage->store.port, &(struct store_setting){ "#sessions", name, value },
                        ignore, NULL);
    stage_settle(stage);
}

static void test_news(void **state)
{
    struct stage *stage = *state;
    char name[64], value[64];

    stage->engine->parts.on_session_state = on_news;
    stage->engine->parts.context = stage;
    note(stage, ONE, "level", "info");
    snprintf(name, sizeof name, "%s ended", TWO);
    snprintf(value, sizeof value, "%lld %s ", (long long)stage->clock.utc_ms + 5000, TOKEN);
    write_row(stage, name, value);
    assert_notes(stage, TWO, "");
    session_state_read(stage->engine);
    session_state_read(stage->engine);
    assert_notes(stage, TWO, "[ended=]");
    snprintf(name, sizeof name, "%s ended ", TWO);
    assert_int_equal(stage_count(stage, name), 1);
    assert_int_equal(stage_place(stage, "aaaaaaaaaaaaaaaaaaaaaaaaaa level info"), -1); /* ours */

    snprintf(name, sizeof name, "%s level", ONE);
    write_row(stage, name, NULL);
    session_state_read(stage->engine);
    assert_notes(stage, ONE, "");
    assert_int_equal(stage_count(stage, "aaaaaaaaaaaaaaaaaaaaaaaaaa level (gone)"), 1);
}

static void test_news_while_writing(void **state)
{
    const struct engine_session_state ended = { ONE, TOKEN, "ended", "", DAY_MS };
    struct stage *stage = *state;

    engine_put_session_state(stage->engine, &ended, NULL, NULL);
    session_state_read(stage->engine); /* the store does not have it yet */
    assert_notes(stage, ONE, "[ended=]");
    stage_settle(stage);
    engine_drop_session_state(stage->engine, ONE);
    session_state_read(stage->engine); /* the store has it still */
    assert_notes(stage, ONE, "");
    stage_settle(stage);
    session_state_read(stage->engine);
    assert_notes(stage, ONE, "");
}

static void test_damaged_rows(void **state)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "short ended", "99999999999999 - " },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaa", "99999999999999 - " },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaa ended", "" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaa ended", "soon - " },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaa ended", "99999999999999" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaa ended", "99999999999999 -" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaa ended", "99999999999999 0123456789abcdef0 " },
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        write_row(stage, rows[i][0], rows[i][1]);
        session_state_read(stage->engine);
        assert_notes(stage, ONE, "");
        write_row(stage, rows[i][0], NULL);
    }
}

static void test_disk_fails(void **state)
{
    struct stage *stage = *state;

    stage->store.fails_settings = true;
    assert_int_equal(note(stage, ONE, "ended", "").code, ERROR_storage_failed);
    assert_notes(stage, ONE, "");
    assert_true(engine_is_settled(stage->engine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_kept),         CASE(test_without_token), CASE(test_over),
        CASE(test_bounded),      CASE(test_news),          CASE(test_news_while_writing),
        CASE(test_damaged_rows), CASE(test_disk_fails),
    };

    return cmocka_run_group_tests_name("engine_notes", tests, NULL, NULL);
}
