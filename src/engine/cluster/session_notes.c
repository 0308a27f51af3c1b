/*
 * session_notes.c - what every hub on this store must know of MCP sessions beside what their ids
 * say: that one was ended, what it subscribed to, which request it gave up. Few sessions have any.
 *
 * A note is a row of the store's settings, of somebody who is no person: rows are written and
 * removed one by one, so two hubs that write at once do not undo each other, and every hub has all
 * of them in memory. A note that is over is removed by whichever hub notices.
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
    NOTES_MOST = 16384,
    NOTE_NAME_BYTES = 512,
    NOTE_TOKEN_BYTES = 17,
};
static const char owner[] = "#sessions"; /* no user can be called so */
static const char no_token[] = "-";

struct session_note {
    struct table_link link;
    char session[LIMIT_ID_CHARS + 1];
    char token[NOTE_TOKEN_BYTES];
    char *what, *value; /* owned */
    int64_t expires_ms;
    unsigned writes; /* on their way: until then the store knows less than we do */
    bool is_gone, is_seen;
};

/* All of them, in no order: begins with NULL, ends with NULL. */
static struct session_note *note_each(const struct engine *engine, const struct session_note *after)
{
    struct table_link *link = table_each(&engine->notes, after ? &after->link : NULL);

    return link ? TABLE_THING(session_note, link, link) : NULL;
}

static struct session_note *find_next(const struct engine *engine, const char *session,
                                      const struct session_note *after)
{
    struct table_link *link =
        after ? table_find_next(&engine->notes, &after->link) : id_find(&engine->notes, session);

    return link ? TABLE_THING(session_note, link, link) : NULL;
}

static struct session_note *find(const struct engine *engine, const char *session, const char *what)
{
    struct session_note *note = NULL;

    while ((note = find_next(engine, session, note)) && strcmp(note->what, what) != 0)
        ;
    return note;
}

static void note_free(struct engine *engine, struct session_note *note)
{
    table_remove(&engine->notes, &note->link);
    free(note->what);
    free(note->value);
    free(note);
}

/* Takes the place of an earlier one of that name. */
static struct session_note *put(struct engine *engine, const struct engine_note *given,
                                int64_t expires_ms)
{
    struct session_note *note = find(engine, given->session, given->what);

    if (!note) {
        note = mem_new(sizeof *note);
        text_put(note->session, sizeof note->session, given->session);
        note->what = mem_text(given->what);
        table_insert(&engine->notes, &note->link);
    }
    text_put(note->token, sizeof note->token, given->token);
    free(note->value);
    note->value = mem_text(given->value);
    note->expires_ms = expires_ms;
    note->is_gone = false;
    if (!engine->notes_over_ms || expires_ms < engine->notes_over_ms)
        engine->notes_over_ms = expires_ms;
    return note;
}

static void tell(const struct engine *engine, const struct session_note *note)
{
    if (engine->parts.on_session_note)
        engine->parts.on_session_note(engine->parts.context, note->session, note->what,
                                      note->is_gone ? NULL : note->value);
}

/* Writing */

struct note_operation {
    struct operation operation; /* first; its text is what is noted */
    char session[LIMIT_ID_CHARS + 1];
};

static void on_written(void *context, const struct store_reply *reply)
{
    struct note_operation *own = context;
    struct engine *engine = own->operation.engine;
    struct session_note *note = find(engine, own->session, own->operation.text);
    bool is_failed = reply->outcome == STORE_FAILED;

    if (note)
        note->writes--;
    if (note && is_failed)
        note->is_gone = true;
    if (note && note->is_gone && note->writes == 0)
        note_free(engine, note);
    if (is_failed) {
        log_error("session_note.failed", "reason=%s", error_name(reply->err.code));
        operation_fail(&own->operation, &reply->err, NULL);
    } else {
        operation_ok(&own->operation, "{}");
    }
}

static void write_note(struct engine *engine, struct session_note *note, reply_done *done,
                       void *context)
{
    struct note_operation *own = operation_new(
        sizeof *own, (struct method_call){ engine, NULL, NULL, done, context, false });
    char *name = mem_format("%s %s", note->session, note->what);
    char *value = mem_format("%" PRId64 " %s %s", note->expires_ms,
                             note->token[0] ? note->token : no_token, note->value);

    memcpy(own->session, note->session, sizeof own->session);
    own->operation.text = mem_text(note->what);
    note->writes++;
    operation_begin_write(&own->operation);
    store_write_setting(engine->parts.store,
                        &(struct store_setting){ owner, name, note->is_gone ? NULL : value },
                        on_written, own);
    free(name);
    free(value);
}

static void remove_note(struct engine *engine, struct session_note *note, reply_done *done,
                        void *context)
{
    note->is_gone = true;
    write_note(engine, note, done, context);
}

/* Those that are over; looked for when the first of them must be. */
static void drop_over(struct engine *engine)
{
    int64_t now = engine_utc_ms(engine), next = 0;

    if (!engine->notes_over_ms || now < engine->notes_over_ms)
        return;
    for (struct session_note *note = NULL; (note = note_each(engine, note));) {
        if (note->is_gone)
            continue;
        if (note->expires_ms <= now)
            remove_note(engine, note, NULL, NULL);
        else if (!next || note->expires_ms < next)
            next = note->expires_ms;
    }
    engine->notes_over_ms = next;
}

static bool has_room(const struct engine *engine, const char *token)
{
    size_t count = 0, of_token = 0;

    if (engine->notes.count < NOTES_OF_TOKEN)
        return true;
    for (struct session_note *note = NULL; (note = note_each(engine, note));) {
        count += !note->is_gone;
        of_token += !note->is_gone && strcmp(note->token, token) == 0;
    }
    return of_token < NOTES_OF_TOKEN && count < NOTES_MOST;
}

static bool may_put(const struct engine *engine, const struct engine_note *note, struct error *err)
{
    if (strlen(note->session) != LIMIT_ID_CHARS ||
        strlen(note->what) >= NOTE_NAME_BYTES - LIMIT_ID_CHARS)
        return error_set(err, ERROR_too_long, "", "this is too long to be noted");
    if (!has_room(engine, note->token) && !find(engine, note->session, note->what)) {
        error_set(err, ERROR_rate_limited, "", "too much is noted of this token's sessions");
        err->retry_after_s = 60;
        return false;
    }
    return true;
}

void engine_note_session(struct engine *engine, const struct engine_note *note, reply_done *done,
                         void *context)
{
    struct session_note *known = find(engine, note->session, note->what);
    struct reply reply = { 0 };

    drop_over(engine);
    if (!note->value) {
        if (known && !known->is_gone)
            remove_note(engine, known, done, context);
        else if (done)
            done(context, &reply);
        return;
    }
    if (may_put(engine, note, &reply.err)) {
        known = put(engine, note, engine_utc_ms(engine) + note->lifetime_ms);
        write_note(engine, known, done, context);
    } else if (done) {
        done(context, &reply);
    }
}

void engine_drop_notes(struct engine *engine, const char *session)
{
    struct session_note *note = NULL;

    while ((note = find_next(engine, session, note))) {
        if (!note->is_gone)
            remove_note(engine, note, NULL, NULL);
    }
}

void engine_each_note(const struct engine *engine, const char *session, engine_note_each *each,
                      void *context)
{
    int64_t now = engine_utc_ms(engine);
    struct session_note *note = NULL;

    while ((note = find_next(engine, session, note))) {
        if (!note->is_gone && now < note->expires_ms)
            each(context, note->what, note->value);
    }
}

/* Reading */

/* "SESSION WHAT" and "EXPIRES TOKEN VALUE", as they are written above. */
static bool read_row(const char *name, const char *value, struct engine_note *ret_note,
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
    *ret_note = (struct engine_note){ .session = session,
                                      .token = token,
                                      .what = name + LIMIT_ID_CHARS + 1,
                                      .value = rest + length + 1 };
    return true;
}

static void take_up(void *context, const char *name, const char *value)
{
    char session[LIMIT_ID_CHARS + 1], token[NOTE_TOKEN_BYTES];
    struct engine *engine = context;
    struct session_note *known;
    struct engine_note given;
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

void session_notes_read(struct engine *engine)
{
    struct store *store = engine->parts.store;

    store->ops->list_settings(store, owner, take_up, engine);
    for (struct session_note *note = note_each(engine, NULL), *next; note; note = next) {
        bool is_known = note->is_seen || note->writes > 0;

        next = note_each(engine, note);
        note->is_seen = false;
        if (is_known)
            continue;
        note->is_gone = true;
        tell(engine, note);
        note_free(engine, note);
    }
}

void session_notes_load(struct engine *engine)
{
    engine->notes = TABLE_OF(session_note, link, session);
    session_notes_read(engine);
    drop_over(engine);
}

void session_notes_release(struct engine *engine)
{
    for (struct session_note *note = note_each(engine, NULL), *next; note; note = next) {
        next = note_each(engine, note);
        note_free(engine, note);
    }
    table_release(&engine->notes);
}
