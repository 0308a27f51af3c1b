/*
 * session_state.c - what every hub on this store must know of MCP sessions beside what their ids
 * say: that one was ended, what it subscribed to, which request it gave up. Few sessions have any.
 *
 * A note is a row of the store's settings, under a name that is no person's: rows are written and
 * removed one by one, so two hubs that write at the same time do not undo each other, and every hub
 * has all of them in memory. A note that is over is removed by whichever hub notices.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "core/limits.h"
#include "engine/state.h"

enum {
    NOTES_OF_TOKEN = 1024,
    SESSION_STATES_MAX = 16384,
    NOTE_NAME_BYTES = 512,
    NOTE_TOKEN_BYTES = 17,
};
static const char owner[] = "#sessions"; /* no user can be called so */
static const char no_token[] = "-";

struct session_state {
    struct table_link link;
    char session[LIMIT_ID_CHARS + 1];
    char token[NOTE_TOKEN_BYTES];
    char *what, *value; /* owned */
    int64_t expires_ms;
    unsigned writes; /* on their way: until then the store knows less than we do */
    bool is_gone, is_seen;
};

/* All of them, in no order: begins with NULL, ends with NULL. */
static struct session_state *note_each(const struct engine *engine,
                                       const struct session_state *after)
{
    struct table_link *link = table_each(&engine->session_states, after ? &after->link : NULL);

    return link ? TABLE_THING(session_state, link, link) : NULL;
}

static struct session_state *find_next(const struct engine *engine, const char *session,
                                       const struct session_state *after)
{
    struct table_link *link = after ? table_find_next(&engine->session_states, &after->link)
                                    : id_find(&engine->session_states, session);

    return link ? TABLE_THING(session_state, link, link) : NULL;
}

static struct session_state *find(const struct engine *engine, const char *session,
                                  const char *what)
{
    struct session_state *state = NULL;

    while ((state = find_next(engine, session, state)) && strcmp(state->what, what) != 0)
        ;
    return state;
}

static void state_free(struct engine *engine, struct session_state *state)
{
    table_remove(&engine->session_states, &state->link);
    free(state->what);
    free(state->value);
    free(state);
}

/* Takes the place of an earlier one of that name. */
static struct session_state *put(struct engine *engine, const struct engine_session_state *given,
                                 int64_t expires_ms)
{
    struct session_state *state = find(engine, given->session, given->what);

    if (!state) {
        state = mem_new(sizeof *state);
        text_put(state->session, sizeof state->session, given->session);
        state->what = mem_text(given->what);
        table_insert(&engine->session_states, &state->link);
    }
    text_put(state->token, sizeof state->token, given->token);
    free(state->value);
    state->value = mem_text(given->value);
    state->expires_ms = expires_ms;
    state->is_gone = false;
    if (!engine->session_states_over_ms || expires_ms < engine->session_states_over_ms)
        engine->session_states_over_ms = expires_ms;
    return state;
}

static void tell(const struct engine *engine, const struct session_state *state)
{
    if (engine->parts.on_session_state)
        engine->parts.on_session_state(engine->parts.context, state->session, state->what,
                                       state->is_gone ? NULL : state->value);
}

/* Writing */

struct state_operation {
    struct operation operation; /* first; its text is what is noted */
    char session[LIMIT_ID_CHARS + 1];
};

static void on_written(void *context, const struct store_reply *reply)
{
    struct state_operation *own = context;
    struct engine *engine = own->operation.engine;
    struct session_state *state = find(engine, own->session, own->operation.text);
    bool is_failed = reply->outcome == STORE_FAILED;

    if (state)
        state->writes--;
    if (state && is_failed)
        state->is_gone = true;
    if (state && state->is_gone && state->writes == 0)
        state_free(engine, state);
    if (is_failed) {
        log_error("session_note.failed", "reason=%s", error_name(reply->err.code));
        operation_fail(&own->operation, &reply->err, NULL);
    } else {
        operation_ok(&own->operation, "{}");
    }
}

static void write_state(struct engine *engine, struct session_state *state, reply_done *done,
                        void *context)
{
    struct state_operation *own = operation_new(
        sizeof *own, (struct method_call){ engine, NULL, NULL, done, context, false });
    char *name = mem_format("%s %s", state->session, state->what);
    char *value = mem_format("%" PRId64 " %s %s", state->expires_ms,
                             state->token[0] ? state->token : no_token, state->value);

    memcpy(own->session, state->session, sizeof own->session);
    own->operation.text = mem_text(state->what);
    state->writes++;
    operation_begin_write(&own->operation);
    store_write_setting(engine->parts.store,
                        &(struct store_setting){ owner, name, state->is_gone ? NULL : value },
                        on_written, own);
    free(name);
    free(value);
}

static void remove_state(struct engine *engine, struct session_state *state, reply_done *done,
                         void *context)
{
    state->is_gone = true;
    write_state(engine, state, done, context);
}

/* Those that are over; looked for when the first of them must be. */
static void drop_over(struct engine *engine)
{
    int64_t now = engine_utc_ms(engine), next = 0;

    if (!engine->session_states_over_ms || now < engine->session_states_over_ms)
        return;
    for (struct session_state *state = NULL; (state = note_each(engine, state));) {
        if (state->is_gone)
            continue;
        if (state->expires_ms <= now)
            remove_state(engine, state, NULL, NULL);
        else if (!next || state->expires_ms < next)
            next = state->expires_ms;
    }
    engine->session_states_over_ms = next;
}

static bool has_room(const struct engine *engine, const char *token)
{
    size_t count = 0, of_token = 0;

    if (engine->session_states.count < NOTES_OF_TOKEN)
        return true;
    for (struct session_state *state = NULL; (state = note_each(engine, state));) {
        count += !state->is_gone;
        of_token += !state->is_gone && strcmp(state->token, token) == 0;
    }
    return of_token < NOTES_OF_TOKEN && count < SESSION_STATES_MAX;
}

static bool may_put(const struct engine *engine, const struct engine_session_state *state,
                    struct error *err)
{
    if (strlen(state->session) != LIMIT_ID_CHARS ||
        strlen(state->what) >= NOTE_NAME_BYTES - LIMIT_ID_CHARS)
        return error_set(err, ERROR_too_long, "", "this is too long to be noted");
    if (!has_room(engine, state->token) && !find(engine, state->session, state->what)) {
        error_set(err, ERROR_rate_limited, "", "too much is noted of this token's sessions");
        err->retry_after_s = 60;
        return false;
    }
    return true;
}

void engine_put_session_state(struct engine *engine, const struct engine_session_state *state,
                              reply_done *done, void *context)
{
    struct session_state *known = find(engine, state->session, state->what);
    struct reply reply = { 0 };

    drop_over(engine);
    if (!state->value) {
        if (known && !known->is_gone)
            remove_state(engine, known, done, context);
        else if (done)
            done(context, &reply);
        return;
    }
    if (may_put(engine, state, &reply.err)) {
        known = put(engine, state, engine_utc_ms(engine) + state->lifetime_ms);
        write_state(engine, known, done, context);
    } else if (done) {
        done(context, &reply);
    }
}

void engine_drop_session_state(struct engine *engine, const char *session)
{
    struct session_state *state = NULL;

    while ((state = find_next(engine, session, state))) {
        if (!state->is_gone)
            remove_state(engine, state, NULL, NULL);
    }
}

void engine_each_session_state(const struct engine *engine, const char *session,
                               engine_session_state_each *each, void *context)
{
    int64_t now = engine_utc_ms(engine);
    struct session_state *state = NULL;

    while ((state = find_next(engine, session, state))) {
        if (!state->is_gone && now < state->expires_ms)
            each(context, state->what, state->value);
    }
}

/* Reading */

/* "SESSION WHAT" and "EXPIRES TOKEN VALUE", as they are written above. */
static bool read_row(const char *name, const char *value, struct engine_session_state *ret_note,
                     char session[LIMIT_ID_CHARS + 1], char token[NOTE_TOKEN_BYTES],
                     int64_t *ret_expires_ms)
{
    char *rest;
    size_t length;

    *ret_expires_ms = strtoll(value, &rest, 10);
    if (strcspn(name, " ") != LIMIT_ID_CHARS || !name[LIMIT_ID_CHARS] || *rest != ' ')
        return false;
    rest++;
    length = strcspn(rest, " ");
    if (rest[length] != ' ' || length >= NOTE_TOKEN_BYTES)
        return false;
    text_put(session, LIMIT_ID_CHARS + 1, name);
    text_put(token, NOTE_TOKEN_BYTES, strncmp(rest, "- ", 2) == 0 ? " " : rest);
    token[strcspn(token, " ")] = '\0';
    *ret_note = (struct engine_session_state){ .session = session,
                                               .token = token,
                                               .what = name + LIMIT_ID_CHARS + 1,
                                               .value = rest + length + 1 };
    return true;
}

static void take_up(void *context, const char *name, const char *value)
{
    char session[LIMIT_ID_CHARS + 1], token[NOTE_TOKEN_BYTES];
    struct engine *engine = context;
    struct session_state *known;
    struct engine_session_state given;
    int64_t expires_ms;

    if (!read_row(name, value, &given, session, token, &expires_ms))
        return;
    known = find(engine, session, given.what);
    if (known && (known->writes > 0 ||
                  (strcmp(known->value, given.value) == 0 && known->expires_ms == expires_ms))) {
        known->is_seen = true;
        return;
    }
    known = put(engine, &given, expires_ms);
    known->is_seen = true;
    tell(engine, known);
}

void session_state_read(struct engine *engine)
{
    struct store *store = engine->parts.store;

    store->ops->list_settings(store, owner, take_up, engine);
    for (struct session_state *state = note_each(engine, NULL), *next; state; state = next) {
        bool is_known = state->is_seen || state->writes > 0;

        next = note_each(engine, state);
        state->is_seen = false;
        if (is_known)
            continue;
        state->is_gone = true;
        tell(engine, state);
        state_free(engine, state);
    }
}

void session_state_load(struct engine *engine)
{
    engine->session_states = TABLE_OF(session_state, link, session);
    session_state_read(engine);
    drop_over(engine);
}

void session_state_release(struct engine *engine)
{
    for (struct session_state *state = note_each(engine, NULL), *next; state; state = next) {
        next = note_each(engine, state);
        state_free(engine, state);
    }
    table_release(&engine->session_states);
}
