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

void engine_call(struct service *service, struct session *calling, const struct request *request,
                 reply_done *done, void *context)
{
    struct engine *engine = engine_of(service);
    struct session *session = (struct session *)calling;
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

static void count(struct errand *errand)
{
    errand->is_counted = true;
    errand->engine->under_way++;
}

void *errand_new(size_t bytes, struct method_call call)
{
    struct errand *errand = spare_new(bytes);

    memset(errand, 0, bytes);
    errand->bytes = bytes;
    errand->engine = call.engine;
    errand->session = call.session;
    errand->done = call.done;
    errand->context = call.context;
    errand->is_ours = call.is_ours;
    if (call.session) {
        engine_check_clock(call.engine); /* before anything is dated by a clock that was set */
        call.session->references++;
    }
    if (call.session && call.session == call.engine->reader) {
        errand->holds_news = true;
        call.session->look_count++;
    }
    if (call.done)
        count(errand); /* also while it only reads: it may write next, and its reply is owed */
    return errand;
}

void *errand_of_ours(size_t bytes, struct engine *engine, const char *id)
{
    struct errand *errand = errand_new(bytes, (struct method_call){ .engine = engine });

    if (id)
        memcpy(errand->id, id, sizeof errand->id);
    return errand;
}

struct method_call errand_call(const struct errand *errand)
{
    return (struct method_call){
        .engine = errand->engine,
        .session = errand->session,
        .done = errand->done,
        .context = errand->context,
    };
}

void errand_begin_write(struct errand *errand)
{
    errand->utc_minus_boot_ms = errand->engine->utc_minus_boot_ms;
    if (!errand->is_counted) /* it may be written again */
        count(errand);
}

struct errand *errand_to_write(struct engine *engine)
{
    struct errand *errand = errand_of_ours(sizeof *errand, engine, NULL);

    errand_begin_write(errand);
    return errand;
}

void look_drop(struct session *session)
{
    if (session->unheard)
        text_release(session->unheard);
    free(session->unheard);
    session->unheard = NULL;
}

/* Lines are JSON, which has no line ends inside. Who is told may leave, and may look again. */
static void tell_unheard(struct session *session)
{
    struct text *lines = session->unheard;
    char *at = lines ? lines->bytes : NULL;

    session->unheard = NULL;
    for (char *end; at && !session->is_gone && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        session->event(session->context, at, (size_t)(end - at));
    }
    if (lines)
        text_release(lines);
    free(lines);
}

static void look_end(struct session *session)
{
    if (--session->look_count == 0)
        tell_unheard(session);
}

void errand_end(struct errand *errand)
{
    if (errand->drop)
        errand->drop(errand);
    errand->engine->under_way -= errand->is_counted;
    if (errand->holds_news)
        look_end(errand->session);
    if (errand->session)
        session_release(errand->session);
    free(errand->text);
    spare_free(errand, errand->bytes);
}

void errand_forget(void *context, const struct store_reply *reply)
{
    (void)reply;
    errand_end(context);
}

void errand_reply(const struct errand *errand, const struct reply *reply)
{
    if (errand->done && (errand->is_ours || !(errand->session && errand->session->is_gone)))
        errand->done(errand->context, reply);
}

void errand_ok(struct errand *errand, const char *json)
{
    struct reply reply = { .json = json, .session_id = errand->id[0] ? errand->id : NULL };

    errand_reply(errand, &reply);
    errand_end(errand);
}

void errand_ok_take(struct errand *errand, struct text *take_json)
{
    errand_ok(errand, text_string(take_json));
    text_release(take_json);
}

void errand_fail(struct errand *errand, const struct error *err, const char *data_json)
{
    struct reply reply = { .err = *err, .json = data_json };

    errand_reply(errand, &reply);
    errand_end(errand);
}

void errand_refuse(struct errand *errand, enum error_code code, const char *path,
                   const char *format, ...)
{
    struct error err = { .code = code };
    va_list arguments;

    text_put(err.path, sizeof err.path, path);
    va_start(arguments, format);
    vsnprintf(err.message, sizeof err.message, format, arguments);
    va_end(arguments);
    errand_fail(errand, &err, NULL);
}

void errand_say(struct errand *errand, enum error_code code, const char *path, enum text_id text,
                ...)
{
    struct error err;
    va_list arguments;

    va_start(arguments, text);
    error_say_list(&err, code, path, text, arguments);
    va_end(arguments);
    errand_fail(errand, &err, NULL);
}

bool errand_may(struct errand *errand, bool may, const struct error *err)
{
    if (!may)
        errand_fail(errand, err, NULL);
    return may;
}

bool errand_fails(struct errand *errand, const struct store_reply *reply)
{
    if (reply->outcome != STORE_FAILED)
        return false;
    errand_fail(errand, &reply->err, NULL);
    return true;
}

void errand_saved(void *context, const struct store_reply *reply)
{
    if (!errand_fails(context, reply))
        errand_ok(context, "{}");
}

void errand_not_found(struct errand *errand, const struct store_reply *reply)
{
    if (!errand_fails(errand, reply))
        errand_say(errand, ERROR_not_found, "/session_id", TEXT_REASON_NO_SUCH_ASK, NULL);
}

void errand_is_over(struct errand *errand)
{
    errand_say(errand, ERROR_already_answered, "/session_id", TEXT_REASON_IS_OVER, NULL);
}

enum { PREFIX_LEAST_CHARS = 4 };

bool id_begins(const char *id, const char *given)
{
    return given && strncmp(id, given, strlen(given)) == 0;
}

bool id_is_one(const char *given, size_t count, const struct named_by_prefix *words,
               struct error *err)
{
    if (!given || strlen(given) < PREFIX_LEAST_CHARS)
        return error_say(err, ERROR_bad_format, "/id", TEXT_REASON_RULE_FIRST, "count",
                         TEXT_NUMBER(PREFIX_LEAST_CHARS), NULL);
    if (count > 1)
        return error_say(err, ERROR_conflicting_arguments, "/id", words->several, NULL);
    return count == 1 || error_say(err, ERROR_not_found, "/id", words->none, NULL);
}

static void fail_to_find(struct errand *errand)
{
    if (errand->found > 1)
        errand_refuse(
            errand, ERROR_conflicting_arguments, "/session_id", "%s: give the id, or more of it",
            errand->is_prefix ? "more than one ask begins so" : "several asks are waiting");
    else if (errand->is_prefix)
        errand_say(errand, ERROR_not_found, "/session_id", TEXT_REASON_NO_SUCH_ASK, NULL);
    else
        errand_say(errand, ERROR_not_found, "/session_id", TEXT_REASON_NOTHING_WAITS, NULL);
}

static void on_made_elsewhere(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_DONE && !live_find(errand->engine, errand->id))
        follow_found(errand->engine, reply->row);
    errand->next(errand);
}

/* What another hub made a moment ago is not in memory yet: acts find it there. What we make
 * ourselves may be in a list before the store's word has come back to us: acts wait for it. */
static void go_on(struct errand *errand)
{
    struct engine *engine = errand->engine;
    const struct live *live = live_find(engine, errand->id);

    if (live && !live->is_stored) {
        errand->next_early = engine->early;
        engine->early = errand;
    } else if (!live && follow_is_shared(engine)) {
        errand_get(errand, on_made_elsewhere);
    } else {
        errand->next(errand);
    }
}

static struct errand *take_early(struct engine *engine, const char *id)
{
    for (struct errand **at = &engine->early; *at; at = &(*at)->next_early) {
        struct errand *errand = *at;

        if (strcmp(errand->id, id) == 0) {
            *at = errand->next_early;
            return errand;
        }
    }
    return NULL;
}

void errand_stored(struct engine *engine, const char *id)
{
    struct errand *errand;

    while ((errand = take_early(engine, id)))
        errand->next(errand);
}

static void on_candidate(void *context, const struct store_row *row, const struct error *err)
{
    struct errand *errand = context;

    if (row) {
        if (errand->found++ == 0)
            memcpy(errand->id, row->ask.id, sizeof errand->id);
        return;
    }
    if (err) {
        errand_fail(errand, err, NULL);
        return;
    }
    if (errand->found == 1) {
        go_on(errand);
        return;
    }
    errand->id[0] = '\0';
    fail_to_find(errand);
}

static bool is_id_prefix(const char *text)
{
    size_t length = strlen(text);

    return length >= LIMIT_ID_PREFIX_CHARS && length <= LIMIT_ID_CHARS &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz234567") == length;
}

static bool check_given_id(const struct errand *errand, const struct json *given, struct error *err)
{
    const char *id = json_text(given);
    bool is_agent = errand->session->role == ROLE_AGENT;

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

void errand_find_ask(struct errand *errand, const struct json *params,
                     void (*next)(struct errand *errand))
{
    const struct json *given = json_member(params, "session_id");
    const char *id = json_text(given);
    struct store *store = errand->engine->parts.store;
    struct store_list_query query = { .limit = 2, .id_prefix = id };
    struct error err;

    errand->next = next;
    errand->is_prefix = id != NULL;
    if (!errand_may(errand, check_given_id(errand, given, &err), &err))
        return;
    if (id && ask_id_is_valid(id)) {
        memcpy(errand->id, id, sizeof errand->id);
        go_on(errand);
        return;
    }
    query.which = id ? STORE_LIST_ALL : STORE_LIST_OPEN;
    store->ops->list(store, &query, on_candidate, errand);
}

void errand_for_ask(void (*next)(struct errand *errand), struct method_call call)
{
    errand_find_ask(errand_new(sizeof(struct errand), call), call.params, next);
}

void errand_get(struct errand *errand, store_done *done)
{
    struct store *store = errand->engine->parts.store;

    store->ops->get(store, errand->id, done, errand);
}

static void writing_drop(struct errand *errand)
{
    text_release(&((struct writing *)errand)->out);
}

void *writing_new(size_t bytes, struct method_call call)
{
    struct writing *writing = errand_new(bytes, call);

    writing->errand.drop = writing_drop;
    writing->writer = json_object_to(&writing->out);
    return writing;
}

void writing_end(struct writing *writing)
{
    json_write_end_object(&writing->writer);
    errand_ok(&writing->errand, text_string(&writing->out));
}

/* News that wait while a reply about asks is read for the same peer. */

/* So much is kept for one peer; with more he is told, and to look again. */
enum { UNHEARD_BYTES = 262144 };

bool look_holds(struct session *session, const char *line, size_t length)
{
    static const char resync[] = "{\"jsonrpc\":\"2.0\",\"method\":\"resync\",\"params\":{}}";

    if (session->look_count == 0)
        return false;
    if (!session->unheard)
        session->unheard = mem_new(sizeof *session->unheard);
    text_add(session->unheard, line, length);
    text_add(session->unheard, "\n", 1);
    if (session->unheard->used <= UNHEARD_BYTES)
        return true;
    if (session->is_watching) { /* a list that is on its way may be older than all this */
        text_add(session->unheard, resync, strlen(resync));
        text_add(session->unheard, "\n", 1);
    }
    tell_unheard(session);
    return true;
}
