/* session.c - connections at the desk: identity, events, and what an answer keeps of them. */
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

/* Whose ask it is (spec 1): over HTTP the token, at whichever hub and whoever runs that, or the
 * client's name where none is wanted; else uid and --as NAME, else uid, client name and working
 * directory. It groups and limits; inside one uid it is no wall. */
static void name_principal(const struct desk_visitor *visitor, char out[PRINCIPAL_BYTES])
{
    char uid[24];
    const char *texts[4] = { "client", uid, visitor->name, visitor->directory };
    struct hash_part parts[ARRAY_LEN(texts)];
    uint8_t hash[HASH_BYTES];

    snprintf(uid, sizeof uid, "%lld", (long long)visitor->uid);
    if (visitor->token_id && visitor->token_id[0])
        memcpy(texts, (const char *[4]){ "token", NULL, visitor->token_id, NULL }, sizeof texts);
    else if (visitor->token_id)
        memcpy(texts, (const char *[4]){ "http", uid, visitor->name, NULL }, sizeof texts);
    else if (visitor->as_name)
        memcpy(texts, (const char *[4]){ "as", uid, visitor->as_name, NULL }, sizeof texts);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        parts[i] = (struct hash_part){ texts[i], texts[i] ? strlen(texts[i]) : 0 };
    hash_parts(parts, ARRAY_LEN(parts), hash);
    hash_hex(hash, (PRINCIPAL_BYTES - 1) / 2, out);
}

/* What is known of its client, before it may ask: where an ask is shown depends on it. */
static void load_client(struct engine *engine, struct visit *visit)
{
    struct store *store = engine->parts.store;
    struct store_client client = visit_client(visit);
    const struct method_call call = { .engine = engine, .visit = visit };

    if (!client.transport)
        return;
    visit->loading = 2;
    store->ops->get_client_fact(store, &client, false, patience_loaded,
                                errand_new(sizeof(struct errand), call));
    store->ops->get_client_fact(store, &client, true, form_fact_loaded,
                                errand_new(sizeof(struct errand), call));
}

struct desk_visit *visit_open(struct desk *desk, const struct desk_visitor *visitor)
{
    struct engine *engine = engine_of(desk);
    struct visit *visit = pool_new(sizeof *visit);
    enum language language;

    visit->references = 1;
    visit->role = visitor->role;
    snprintf(visit->via, sizeof visit->via, "%s", visitor->via);
    visit->uid = visitor->uid;
    visit->pid = visitor->pid;
    visit->start = visitor->start;
    visit->tty = visitor->tty[0] ? mem_text(visitor->tty) : NULL;
    name_principal(visitor, visit->principal);
    visit->name = mem_text(visitor->name);
    visit->version = mem_text(visitor->version);
    visit->as_name = mem_text(visitor->as_name);
    visit->directory = mem_text(visitor->directory);
    visit->token = mem_text(visitor->token);
    visit->token_id = mem_text(visitor->token_id);
    if (visitor->language && language_find(visitor->language, &language))
        visit->language = language_tag(language);
    visit->transport = mem_text(visitor->transport);
    visit->is_sub_agent = visitor->is_sub_agent;
    visit->may_answer = visitor->may_answer;
    visit->context = visitor->context;
    visit->event = visitor->event;
    visit->locate = visitor->locate;
    LIST_ADD(engine->visits, visit);
    if (!visit->locate && visit->role == ROLE_AGENT)
        own_enter(engine, visit);
    else if (!visit->locate)
        own_look(visit); /* now, while it is there to be looked at */
    load_client(engine, visit);
    return (struct desk_visit *)visit;
}

/* Pages and inboxes are told apart: what reaches a person in one need not be opened in the other.
 */
static size_t *watcher_count(struct engine *engine, const struct visit *visit)
{
    return strcmp(visit->via, "web") == 0 ? &engine->page_count : &engine->inbox_count;
}

void visit_watch(struct engine *engine, struct visit *visit, bool wants_remaining)
{
    if (!visit->is_watching)
        (*watcher_count(engine, visit))++;
    if (visit->wants_remaining != wants_remaining)
        engine->ticking_count += wants_remaining ? 1 : (size_t)-1;
    visit->is_watching = true;
    visit->wants_remaining = wants_remaining;
}

void visit_follow(struct engine *engine, struct visit *visit)
{
    engine->follower_count += !visit->is_following;
    visit->is_following = true;
}

void visit_close(struct desk *desk, struct desk_visit *leaving)
{
    struct engine *engine = engine_of(desk);
    struct visit *visit = (struct visit *)leaving;
    struct token *token = visit->token_id ? token_find_id(engine, visit->token_id) : NULL;

    visit->is_gone = true;
    if (token)
        token_use(engine, token);
    if (visit->is_watching)
        (*watcher_count(engine, visit))--;
    if (visit->wants_remaining)
        engine->ticking_count--;
    engine->attached_count -= visit->attached[0] != '\0';
    engine->follower_count -= visit->is_following;
    engine->listener_count -= visit->conversation[0] != '\0';
    LIST_REMOVE(engine->visits, visit);
    launch_lose(engine, visit);
    wait_drop_visit(engine, visit);
    handed_return_all(engine, visit);
    visit_release(visit);
}

void visit_release(struct visit *visit)
{
    if (--visit->references > 0)
        return;
    notices_repeat(visit);
    look_drop(visit);
    for (struct shown_code *code; (code = visit->codes); free(code))
        visit->codes = code->next;
    free(visit->tty);
    free(visit->name);
    free(visit->version);
    free(visit->as_name);
    free(visit->directory);
    free(visit->token);
    free(visit->token_id);
    free(visit->transport);
    free(visit->origin_json);
    free(visit->line);
    pool_free(visit, sizeof *visit);
}

void visit_end_load(struct errand *errand)
{
    if (--errand->visit->loading == 0)
        submit_held_back(errand->visit);
    errand_end(errand);
}

struct store_client visit_client(const struct visit *visit)
{
    return (struct store_client){
        .name = visit->name,
        .version = visit->version ? visit->version : "",
        .transport = visit->transport,
    };
}

bool visit_is_of(const struct visit *visit, const struct store_client *client)
{
    struct store_client own = visit_client(visit);

    return own.transport && strcmp(own.transport, client->transport) == 0 &&
           strcmp(own.name, client->name) == 0 && strcmp(own.version, client->version) == 0;
}

void visit_tell(struct visit *visit, const char *line, size_t length)
{
    if (!visit->is_gone && visit->event && !look_holds(visit, line, length))
        visit->event(visit->context, line, length);
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

bool visit_sees(const struct visit *visit, const char *id)
{
    return visit->is_watching || strcmp(visit->attached, id) == 0;
}

/* Nothing of it changes during a visit. */
const char *visit_origin(const struct engine *engine, struct visit *visit)
{
    struct text origin = { 0 };
    struct json_writer writer;

    if (visit->origin_json)
        return visit->origin_json;
    writer = json_object_to(&origin);
    json_write_text(&writer, "name", visit->name);
    json_write_text_if(&writer, "version", visit->version);
    json_write_text_if(&writer, "as", visit->as_name);
    json_write_text_if(&writer, "directory", visit->directory);
    json_write_text_if(&writer, "language", visit->language);
    json_write_integer(&writer, "uid", visit->uid);
    if (visit->token_id) {
        json_write_text(&writer, "via", "http");
        json_write_text_if(&writer, "token", visit->token);
        json_write_text_if(&writer, "token_id", visit->token ? visit->token_id : NULL);
    }
    own_write(engine, &visit->asker, &writer);
    json_write_bool_if(&writer, "sub_agent", visit->is_sub_agent);
    json_write_end_object(&writer);
    return visit->origin_json = text_take(&origin);
}

struct answered_by visit_actor(const struct engine *engine, struct visit *visit,
                               const struct asker *asker)
{
    return (struct answered_by){
        .person = engine->parts.person,
        .via = visit->via,
        .uid = visit->uid,
        .pid = visit->pid,
        .tty = visit->tty,
        .token = visit->token && *visit->token ? visit->token : NULL,
        .same_process_tree = own_is_agents(engine, visit, asker),
    };
}

void visit_write_actor(const struct answered_by *by, struct text *out)
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
