/* operation.c - what a peer calls: by its row of the table, on its way through the store, and
 * naming the ask it is about. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/pool.h"
#include "core/limits.h"
#include "engine/state.h"
#include "i18n/i18n.h"

static method_handler *const handlers[METHOD_COUNT] = {
#define HUB_METHOD(id, name, roles, flags)
#define METHOD(id, name, roles, flags) [METHOD_##id] = id##_method,
#include "rpc/methods.def"
};

void engine_call(struct service *service, struct session *session, const struct request *request,
                 reply_done *done, void *context)
{
    struct engine *engine = engine_of(service);
    enum method method = request->method;
    struct reply reply = { 0 };
    struct json *parsed = NULL;
    const struct json *params = request->params;

    if (request->text && json_parse(request->text->bytes, request->text->used, &parsed, &reply.err))
        params = parsed;
    /* the path of a number out of range begins in an ask's arguments if it is there, as all paths
     * about arguments do */
    if (reply.err.code != ERROR_NONE || !access_may(engine, session, method, params, &reply.err) ||
        !json_check_range(json_member(params, "arguments"), &reply.err) ||
        !json_check_range(params, &reply.err) || methods[method].flags & METHOD_OF_HUB) {
        done(context, &reply);
    } else {
        engine->reader = methods[method].flags & METHOD_READS ? session : NULL;
        handlers[method]((struct method_call){ engine, session, params, done, context, false });
        engine->reader = NULL;
    }
    json_free(parsed);
}

static void count(struct operation *operation)
{
    operation->is_counted = true;
    operation->engine->under_way++;
}

void *operation_new(size_t bytes, struct method_call call)
{
    struct operation *operation = freelist_new(bytes);

    memset(operation, 0, bytes);
    operation->bytes = bytes;
    operation->engine = call.engine;
    operation->session = call.session;
    operation->done = call.done;
    operation->context = call.context;
    operation->is_ours = call.is_ours;
    if (call.session) {
        engine_check_clock(call.engine); /* before anything is dated by a clock that was set */
        call.session->references++;
    }
    if (call.session && call.session == call.engine->reader) {
        operation->holds_news = true;
        call.session->read_count++;
    }
    if (call.done)
        count(operation); /* also while it only reads: it may write next, and its reply is owed */
    return operation;
}

void *operation_of_ours(size_t bytes, struct engine *engine, const char *id)
{
    struct operation *operation = operation_new(bytes, (struct method_call){ .engine = engine });

    if (id)
        memcpy(operation->id, id, sizeof operation->id);
    return operation;
}

struct method_call operation_call(const struct operation *operation)
{
    return (struct method_call){
        .engine = operation->engine,
        .session = operation->session,
        .done = operation->done,
        .context = operation->context,
    };
}

void operation_begin_write(struct operation *operation)
{
    operation->utc_minus_boot_ms = operation->engine->utc_minus_boot_ms;
    if (!operation->is_counted) /* it may be written again */
        count(operation);
}

struct operation *operation_to_write(struct engine *engine)
{
    struct operation *operation = operation_of_ours(sizeof *operation, engine, NULL);

    operation_begin_write(operation);
    return operation;
}

void held_events_drop(struct session *session)
{
    if (session->held_events)
        text_release(session->held_events);
    free(session->held_events);
    session->held_events = NULL;
}

/* Lines are JSON, which has no line ends inside. Who is told may leave, and may look again. */
static void send_held_events(struct session *session)
{
    struct text *lines = session->held_events;
    char *at = lines ? lines->bytes : NULL;

    session->held_events = NULL;
    for (char *end; at && !session->is_gone && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        session->event(session->context, at, (size_t)(end - at));
    }
    if (lines)
        text_release(lines);
    free(lines);
}

void operation_end(struct operation *operation)
{
    if (operation->drop)
        operation->drop(operation);
    operation->engine->under_way -= operation->is_counted;
    if (operation->holds_news && --operation->session->read_count == 0)
        send_held_events(operation->session);
    if (operation->session)
        session_release(operation->session);
    free(operation->text);
    freelist_free(operation, operation->bytes);
}

void operation_forget(void *context, const struct store_reply *reply)
{
    (void)reply;
    operation_end(context);
}

void operation_reply(const struct operation *operation, const struct reply *reply)
{
    if (operation->done &&
        (operation->is_ours || !(operation->session && operation->session->is_gone)))
        operation->done(operation->context, reply);
}

void operation_ok(struct operation *operation, const char *json)
{
    struct reply reply = { .json = json, .session_id = operation->id[0] ? operation->id : NULL };

    operation_reply(operation, &reply);
    operation_end(operation);
}

void operation_ok_take(struct operation *operation, struct text *take_json)
{
    operation_ok(operation, text_string(take_json));
    text_release(take_json);
}

void operation_fail(struct operation *operation, const struct error *err, const char *data_json)
{
    struct reply reply = { .err = *err, .json = data_json };

    operation_reply(operation, &reply);
    operation_end(operation);
}

void operation_refuse(struct operation *operation, enum error_code code, const char *path,
                      const char *format, ...)
{
    struct error err = { .code = code };
    va_list arguments;

    text_put(err.path, sizeof err.path, path);
    va_start(arguments, format);
    vsnprintf(err.message, sizeof err.message, format, arguments);
    va_end(arguments);
    operation_fail(operation, &err, NULL);
}

void operation_say(struct operation *operation, enum error_code code, const char *path,
                   enum text_id text, ...)
{
    struct error err;
    va_list arguments;

    va_start(arguments, text);
    error_say_list(&err, code, path, text, arguments);
    va_end(arguments);
    operation_fail(operation, &err, NULL);
}

bool operation_may(struct operation *operation, bool may, const struct error *err)
{
    if (!may)
        operation_fail(operation, err, NULL);
    return may;
}

bool operation_fails(struct operation *operation, const struct store_reply *reply)
{
    if (reply->outcome != STORE_FAILED)
        return false;
    operation_fail(operation, &reply->err, NULL);
    return true;
}

void operation_saved(void *context, const struct store_reply *reply)
{
    if (!operation_fails(context, reply))
        operation_ok(context, "{}");
}

void operation_not_found(struct operation *operation, const struct store_reply *reply)
{
    if (!operation_fails(operation, reply))
        operation_say(operation, ERROR_not_found, "/session_id", TEXT_REASON_NO_SUCH_ASK, NULL);
}

void operation_is_over(struct operation *operation)
{
    operation_say(operation, ERROR_already_answered, "/session_id", TEXT_REASON_IS_OVER, NULL);
}

enum { PREFIX_MIN_CHARS = 4 };

bool id_begins(const char *id, const char *given)
{
    return given && strncmp(id, given, strlen(given)) == 0;
}

bool id_is_one(const char *given, size_t count, const struct named_by_prefix *words,
               struct error *err)
{
    if (!given || strlen(given) < PREFIX_MIN_CHARS)
        return error_say(err, ERROR_bad_format, "/id", TEXT_REASON_RULE_FIRST, "count",
                         TEXT_NUMBER(PREFIX_MIN_CHARS), NULL);
    if (count > 1)
        return error_say(err, ERROR_conflicting_arguments, "/id", words->several, NULL);
    return count == 1 || error_say(err, ERROR_not_found, "/id", words->none, NULL);
}

static void fail_to_find(struct operation *operation)
{
    if (operation->found > 1)
        operation_refuse(
            operation, ERROR_conflicting_arguments, "/session_id", "%s: give the id, or more of it",
            operation->is_prefix ? "more than one ask begins so" : "several asks are waiting");
    else if (operation->is_prefix)
        operation_say(operation, ERROR_not_found, "/session_id", TEXT_REASON_NO_SUCH_ASK, NULL);
    else
        operation_say(operation, ERROR_not_found, "/session_id", TEXT_REASON_NOTHING_WAITS, NULL);
}

static void on_made_by_other_hub(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (reply->outcome == STORE_DONE && !active_find(operation->engine, operation->id))
        follow_found(operation->engine, reply->row);
    operation->next(operation);
}

/* What another hub made a moment ago is not in memory yet: acts find it there. What we make
 * ourselves may be in a list before the store's word has come back to us: acts wait for it. */
static void go_on(struct operation *operation)
{
    struct engine *engine = operation->engine;
    const struct active_ask *active = active_find(engine, operation->id);

    if (active && !active->is_stored) {
        operation->next_early = engine->early;
        engine->early = operation;
    } else if (!active && follow_is_shared(engine)) {
        operation_get(operation, on_made_by_other_hub);
    } else {
        operation->next(operation);
    }
}

static struct operation *take_early(struct engine *engine, const char *id)
{
    for (struct operation **at = &engine->early; *at; at = &(*at)->next_early) {
        struct operation *operation = *at;

        if (strcmp(operation->id, id) == 0) {
            *at = operation->next_early;
            return operation;
        }
    }
    return NULL;
}

void operation_stored(struct engine *engine, const char *id)
{
    struct operation *operation;

    while ((operation = take_early(engine, id)))
        operation->next(operation);
}

static void on_candidate(void *context, const struct store_row *row, const struct error *err)
{
    struct operation *operation = context;

    if (row) {
        if (operation->found++ == 0)
            memcpy(operation->id, row->ask.id, sizeof operation->id);
        return;
    }
    if (err) {
        operation_fail(operation, err, NULL);
        return;
    }
    if (operation->found == 1) {
        go_on(operation);
        return;
    }
    operation->id[0] = '\0';
    fail_to_find(operation);
}

static bool is_id_prefix(const char *text)
{
    size_t length = strlen(text);

    return length >= LIMIT_ID_PREFIX_CHARS && length <= LIMIT_ID_CHARS &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz234567") == length;
}

static bool check_given_id(const struct operation *operation, const struct json *given,
                           struct error *err)
{
    const char *id = json_text(given);
    bool is_agent = operation->session->role == ROLE_AGENT;

    if (given && (!id || strlen(id) != json_length(given)))
        return error_set(err, ERROR_bad_type, "/session_id", "session_id must be a text");
    if (is_agent && !id)
        return error_set(err, ERROR_missing_property, "/session_id", "session_id is needed");
    if (id && (is_agent ? !ask_id_is_valid(id) : !is_id_prefix(id)))
        return error_say(err, ERROR_bad_format, "/session_id", TEXT_REASON_BAD_ID, "count",
                         TEXT_NUMBER(LIMIT_ID_CHARS), "least", TEXT_NUMBER(LIMIT_ID_PREFIX_CHARS),
                         NULL);
    return true;
}

void operation_find_ask(struct operation *operation, const struct json *params,
                        void (*next)(struct operation *operation))
{
    const struct json *given = json_member(params, "session_id");
    const char *id = json_text(given);
    struct store *store = operation->engine->parts.store;
    struct store_list_query query = { .limit = 2, .id_prefix = id };
    struct error err;

    operation->next = next;
    operation->is_prefix = id != NULL;
    if (!operation_may(operation, check_given_id(operation, given, &err), &err))
        return;
    if (id && ask_id_is_valid(id)) {
        memcpy(operation->id, id, sizeof operation->id);
        go_on(operation);
        return;
    }
    query.which = id ? STORE_LIST_ALL : STORE_LIST_OPEN;
    store->ops->list(store, &query, on_candidate, operation);
}

void operation_for_ask(void (*next)(struct operation *operation), struct method_call call)
{
    operation_find_ask(operation_new(sizeof(struct operation), call), call.params, next);
}

void operation_get(struct operation *operation, store_done *done)
{
    struct store *store = operation->engine->parts.store;
    const struct active_ask *active = active_find(operation->engine, operation->id);

    store->ops->get(store, operation->id, active ? active->seq : 0, done, operation);
}

static void writing_drop(struct operation *operation)
{
    text_release(&((struct writing *)operation)->out);
}

void *writing_new(size_t bytes, struct method_call call)
{
    struct writing *writing = operation_new(bytes, call);

    writing->operation.drop = writing_drop;
    writing->writer = json_object_to(&writing->out);
    return writing;
}

void writing_end(struct writing *writing)
{
    json_write_end_object(&writing->writer);
    operation_ok(&writing->operation, text_string(&writing->out));
}

/* News that wait while a reply about asks is read for the same peer. */

/* So much is kept for one peer; with more it is told to read again. */
enum { HELD_EVENTS_BYTES = 262144 };

bool held_events_take(struct session *session, const char *line, size_t length)
{
    static const char resync[] = "{\"jsonrpc\":\"2.0\",\"method\":\"resync\",\"params\":{}}";

    if (session->read_count == 0)
        return false;
    if (!session->held_events)
        session->held_events = mem_new(sizeof *session->held_events);
    text_add(session->held_events, line, length);
    text_add(session->held_events, "\n", 1);
    if (session->held_events->used <= HELD_EVENTS_BYTES)
        return true;
    if (session->is_watching) { /* a list that is on its way may be older than all this */
        text_add(session->held_events, resync, strlen(resync));
        text_add(session->held_events, "\n", 1);
    }
    send_held_events(session);
    return true;
}
