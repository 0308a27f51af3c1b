/* session.c - sessions: identity, events, and what an answer keeps of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/pool.h"
#include "engine/ask/submit.h"
#include "engine/delivery/delivery.h"
#include "engine/people/tokens.h"
#include "engine/state.h"

/* Whose ask it is (spec 1): over HTTP the token, whichever hub it is and whichever user runs
 * that, or the client's name where no token is wanted; else uid and --as NAME, else uid, client
 * name and working directory. It groups and limits; inside one uid it is no wall. */
static void name_principal(const struct identity *identity, char out[PRINCIPAL_BYTES])
{
    char uid[24];
    const char *texts[4] = { "client", uid, identity->name, identity->directory };
    struct hash_part parts[ARRAY_LEN(texts)];
    uint8_t hash[HASH_BYTES];

    snprintf(uid, sizeof uid, "%lld", (long long)identity->uid);
    if (identity->token_id && identity->token_id[0])
        memcpy(texts, (const char *[4]){ "token", NULL, identity->token_id, NULL }, sizeof texts);
    else if (identity->token_id)
        memcpy(texts, (const char *[4]){ "http", uid, identity->name, NULL }, sizeof texts);
    else if (identity->as_name)
        memcpy(texts, (const char *[4]){ "as", uid, identity->as_name, NULL }, sizeof texts);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        parts[i] = (struct hash_part){ texts[i], texts[i] ? strlen(texts[i]) : 0 };
    hash_parts(parts, ARRAY_LEN(parts), hash);
    hash_hex(hash, (PRINCIPAL_BYTES - 1) / 2, out);
}

/* What is known of its client, before it may ask: where an ask is shown depends on it. */
static void load_client(struct engine *engine, struct session *session)
{
    struct store *store = engine->parts.store;
    struct store_client client = session_client(session);
    const struct method_call call = { .engine = engine, .session = session };

    if (!client.transport)
        return;
    session->loading = 2;
    store->ops->get_client_fact(store, &client, false, client_timeout_loaded,
                                operation_new(sizeof(struct operation), call));
    store->ops->get_client_fact(store, &client, true, form_fact_loaded,
                                operation_new(sizeof(struct operation), call));
}

struct session *session_open(struct service *service, const struct identity *identity)
{
    struct engine *engine = engine_of(service);
    struct session *session = pool_new(sizeof *session);
    enum language language;

    session->references = 1;
    session->role = identity->role;
    snprintf(session->via, sizeof session->via, "%s", identity->via);
    session->uid = identity->uid;
    session->pid = identity->pid;
    session->start = identity->start;
    session->tty = identity->tty[0] ? mem_text(identity->tty) : NULL;
    name_principal(identity, session->principal);
    session->name = mem_text(identity->name);
    session->version = mem_text(identity->version);
    session->as_name = mem_text(identity->as_name);
    session->directory = mem_text(identity->directory);
    session->token = mem_text(identity->token);
    session->token_id = mem_text(identity->token_id);
    if (identity->language && language_find(identity->language, &language))
        session->language = language_tag(language);
    session->transport = mem_text(identity->transport);
    session->is_sub_agent = identity->is_sub_agent;
    session->may_answer = identity->may_answer;
    session->context = identity->context;
    session->event = identity->event;
    session->locate = identity->locate;
    LIST_ADD(engine->sessions, session);
    if (!session->locate && session->role == ROLE_AGENT)
        own_enter(engine, session);
    else if (!session->locate)
        own_find_process(session); /* now, while it is there to be looked at */
    load_client(engine, session);
    return session;
}

/* Pages and inboxes are told apart: what reaches a person in one need not be opened in the other.
 */
static size_t *watcher_count(struct engine *engine, const struct session *session)
{
    return strcmp(session->via, "web") == 0 ? &engine->page_count : &engine->inbox_count;
}

void session_watch(struct engine *engine, struct session *session, bool wants_remaining)
{
    if (!session->is_watching)
        (*watcher_count(engine, session))++;
    if (session->wants_remaining != wants_remaining)
        engine->ticking_count += wants_remaining ? 1 : (size_t)-1;
    session->is_watching = true;
    session->wants_remaining = wants_remaining;
}

void session_follow(struct engine *engine, struct session *session)
{
    engine->follower_count += !session->is_following;
    session->is_following = true;
}

void session_close(struct service *service, struct session *session)
{
    struct engine *engine = engine_of(service);
    struct token *token = session->token_id ? token_find_id(engine, session->token_id) : NULL;

    session->is_gone = true;
    if (token)
        token_use(engine, token);
    if (session->is_watching)
        (*watcher_count(engine, session))--;
    if (session->wants_remaining)
        engine->ticking_count--;
    engine->attached_count -= session->attached[0] != '\0';
    engine->follower_count -= session->is_following;
    engine->listener_count -= session->conversation[0] != '\0';
    LIST_REMOVE(engine->sessions, session);
    launch_lose(engine, session);
    wait_drop_session(engine, session);
    in_flight_return_all(engine, session);
    session_release(session);
}

void session_release(struct session *session)
{
    if (--session->references > 0)
        return;
    notices_repeat(session);
    held_events_drop(session);
    for (struct shown_code *code; (code = session->codes); free(code))
        session->codes = code->next;
    free(session->tty);
    free(session->name);
    free(session->version);
    free(session->as_name);
    free(session->directory);
    free(session->token);
    free(session->token_id);
    free(session->transport);
    free(session->origin_json);
    free(session->line);
    pool_free(session, sizeof *session);
}

void session_end_load(struct operation *operation)
{
    if (--operation->session->loading == 0)
        submit_held_back(operation->session);
    operation_end(operation);
}

struct store_client session_client(const struct session *session)
{
    return (struct store_client){
        .name = session->name,
        .version = session->version ? session->version : "",
        .transport = session->transport,
    };
}

bool session_is_of(const struct session *session, const struct store_client *client)
{
    struct store_client own = session_client(session);

    return own.transport && strcmp(own.transport, client->transport) == 0 &&
           strcmp(own.name, client->name) == 0 && strcmp(own.version, client->version) == 0;
}

void session_send(struct session *session, const char *line, size_t length)
{
    if (!session->is_gone && session->event && !held_events_take(session, line, length))
        session->event(session->context, line, length);
}

struct json_writer event_begin(struct text *line, const char *method)
{
    struct json_writer writer = json_object_to(line);

    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", method);
    json_write_object(&writer, "params");
    return writer;
}

void event_end(struct json_writer *writer)
{
    json_write_end_object(writer);
    json_write_end_object(writer);
}

bool session_sees(const struct session *session, const char *id)
{
    return session->is_watching || strcmp(session->attached, id) == 0;
}

/* It stays the same for the whole session. */
const char *session_origin(const struct engine *engine, struct session *session)
{
    struct text origin = { 0 };
    struct json_writer writer;

    if (session->origin_json)
        return session->origin_json;
    writer = json_object_to(&origin);
    json_write_text(&writer, "name", session->name);
    json_write_text_if(&writer, "version", session->version);
    json_write_text_if(&writer, "as", session->as_name);
    json_write_text_if(&writer, "directory", session->directory);
    json_write_text_if(&writer, "language", session->language);
    json_write_integer(&writer, "uid", session->uid);
    if (session->token_id) {
        json_write_text(&writer, "via", "http");
        json_write_text_if(&writer, "token", session->token);
        json_write_text_if(&writer, "token_id", session->token ? session->token_id : NULL);
    }
    own_write(engine, &session->asker, &writer);
    json_write_bool_if(&writer, "sub_agent", session->is_sub_agent);
    json_write_end_object(&writer);
    return session->origin_json = text_take(&origin);
}

struct answered_by session_actor(const struct engine *engine, struct session *session,
                                 const struct asker *asker)
{
    return (struct answered_by){
        .person = engine->parts.person,
        .via = session->via,
        .uid = session->uid,
        .pid = session->pid,
        .tty = session->tty,
        .token = session->token && *session->token ? session->token : NULL,
        .same_process_tree = own_is_agents(engine, session, asker),
    };
}

void session_write_actor(const struct answered_by *by, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_text(&writer, "person", by->person);
    json_write_text(&writer, "via", by->via);
    json_write_known(&writer, "uid", by->uid, by->uid >= 0);
    json_write_text_if(&writer, "token", by->token);
    json_write_known(&writer, "pid", by->pid, by->pid > 0);
    json_write_text(&writer, "tty", by->tty);
    json_write_bool_if(&writer, "same_process_tree", by->same_process_tree);
    json_write_end_object(&writer);
}

/* Where asks come from, as people are shown it. All asks of one connection say the same, so it is
 * kept once; only the latest few of a principal are looked at, because a loop that asks from a new
 * process each time has as many as asks. */

enum { ORIGINS_LOOKED_AT = 4 };

static bool is_same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static struct origin *find(const struct principal *principal, const char *json, const char *agent)
{
    struct origin *origin = principal->origins;

    for (int i = 0; origin && i < ORIGINS_LOOKED_AT; i++, origin = origin->next) {
        if (is_same(origin->json, json) && is_same(origin->agent, agent))
            return origin;
    }
    return NULL;
}

static struct origin *origin_new(const char *json, const char *agent, const struct asker *asker)
{
    size_t json_bytes = strlen(json) + 1, agent_bytes = agent ? strlen(agent) + 1 : 0;
    struct origin *origin = mem_new(sizeof *origin + json_bytes + agent_bytes);

    memcpy(origin->json, json, json_bytes);
    if (agent) {
        memcpy(origin->json + json_bytes, agent, agent_bytes);
        origin->agent = origin->json + json_bytes;
    }
    origin->asker = *asker;
    return origin;
}

struct origin *origin_use(struct principal *principal, const char *json, const char *agent,
                          const struct asker *asker)
{
    struct origin *origin;

    json = json ? json : "null";
    origin = find(principal, json, agent);
    if (origin)
        LIST_REMOVE(principal->origins, origin);
    else
        origin = origin_new(json, agent, asker);
    LIST_ADD(principal->origins, origin);
    origin->uses++;
    return origin;
}

void origin_release(struct principal *principal, struct origin *origin)
{
    if (--origin->uses > 0)
        return;
    LIST_REMOVE(principal->origins, origin);
    free(origin);
}
