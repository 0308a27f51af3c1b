/* access.c - who may do what, and what is the agent's own (R12.1). */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ownership.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* The roles of each method are in rpc/methods.def, what a token is worth less stands here. Only
 * what the hub saw itself counts: the way in, the role, the token. A process of our own user on the
 * unix socket is the owner. A token allows less, on this machine too, because tokens get stolen:
 * what is kept for the owner leads to commands that run as this user, to more tokens, or to answers
 * without a person. For the same reasons an agent's own processes may not do that either, but for
 * stopping the hub. tests/access.txt has the outcome for every way in and identity. */

static const struct restriction {
    enum method method;
    unsigned roles;      /* with a token, or over HTTP where none is needed */
    const char *command; /* the remedy; a setting adds its name */
} restrictions[] = {
    { METHOD_rule_add, 0, "sayso rule add" },
    { METHOD_rule_remove, 0, "sayso rule remove" },
    { METHOD_settings_set, ROLE_PERSON, "sayso settings set " }, /* a person's own */
    { METHOD_token_new, 0, "sayso token new" },
    { METHOD_token_revoke, ROLE_PERSON, "sayso token revoke" }, /* itself */
    { METHOD_portal_link, 0, "sayso open" },
    { METHOD_hub_status, ROLE_PERSON, "sayso status" },
    { METHOD_hub_stop, 0, "sayso stop" },
    { METHOD_hub_retire, 0, "sayso stop" },
};

static const struct restriction *restriction_of(enum method method)
{
    for (size_t i = 0; i < ARRAY_LEN(restrictions); i++) {
        if (restrictions[i].method == method)
            return &restrictions[i];
    }
    return NULL;
}

/* The rows that a token may use in part: the settings of the person, and signing itself out.
 * Without a token it may be an agent's process, which does not say whose answers count, or that
 * none is needed. */
static bool is_within(const struct session *session, enum method method, const struct json *params)
{
    const char *name = json_member_text(params, "name"), *id = json_member_text(params, "id");
    enum setting_id setting;

    if (method == METHOD_settings_set) /* an unknown name is refused as such */
        return !name || !setting_find(name, &setting) ||
               (setting_row(setting)->scope != SETTING_SCOPE_HOST &&
                (session->token_id ||
                 (setting != SETTING_CLI_ANSWERS && setting != SETTING_TIMEOUT_ACTION)));
    if (method == METHOD_token_revoke)
        return id && session->token_id && strcmp(id, session->token_id) == 0;
    return true;
}

static bool refuse(const struct restriction *restriction, const struct json *params,
                   struct error *err)
{
    bool is_setting = restriction->method == METHOD_settings_set;
    const char *name = is_setting ? json_member_text(params, "name") : "";
    const char *path = is_setting ? "/name" : "";
    struct text command = { 0 };

    text_add_format(&command, "%s%s", restriction->command, name);
    error_say(err, ERROR_not_allowed, path, TEXT_REASON_TOKEN_CANNOT, "command",
              text_string(&command), NULL);
    text_release(&command);
    return false;
}

/* What is no number must not be taken for a number that was left out: a rule would stand for a
 * month, an answer to an older version would count. */
static bool has_numbers(const struct json *params, struct error *err)
{
    static const char *const names[] = { "after",    "before_ms", "days",        "held_ms",
                                         "limit",    "seconds",   "shown_ms",    "since_ms",
                                         "until_ms", "version",   "wait_seconds" };
    int64_t number;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct json *given = json_member(params, names[i]);

        if (json_kind(given) == KIND_NULL || json_integer_of(given, &number))
            continue;
        error_say(err, ERROR_out_of_range, "/", TEXT_REASON_WHOLE_NUMBER, NULL);
        text_put(err->path + 1, sizeof err->path - 1, names[i]);
        return false;
    }
    return true;
}

bool access_may(struct engine *engine, struct session *session, enum method method,
                const struct json *params, struct error *err)
{
    const struct restriction *restriction = restriction_of(method);
    bool is_owner = !session->token_id && session->uid == engine->parts.uid;
    bool may =
        !restriction || (restriction->roles & session->role && is_within(session, method, params));

    if (!(methods[method].roles & session->role))
        return error_say(err, ERROR_wrong_role, "", TEXT_REASON_WRONG_ROLE, NULL);
    /* an agent's own processes are the owner's, too */
    if (!may && is_owner && !(methods[method].flags & METHOD_OF_HUB))
        may = own_may_govern(engine, session, err);
    else
        may = may || is_owner || refuse(restriction, params, err);
    return may && has_numbers(params, err);
}

/* What is the agent's own (R12.1). The agent's client is found when its front connects
 * (core/ownership.h) and kept with what it asks; whatever runs below a client is the agent's.
 * Clients of asks that an earlier hub took are read back from the store, while this boot lasts. */

enum { CLIENTS_READ = 256 }; /* of the newest asks */

static bool is_same(const struct os_identity *one, const struct os_identity *other)
{
    return one->pid == other->pid && one->start == other->start;
}

/* Read once: a process that loses its parents later is still what it was when it was first seen. */
void own_find_process(struct session *session)
{
    struct os_identity line[OS_MAX_ANCESTORS];
    size_t count;

    if (session->line)
        return;
    if (session->locate && !session->is_gone)
        session->locate(session->context, &session->uid, &session->pid);
    count = os_lineage(session->pid, line);
    if (count && !session->start)
        session->start = line[0].start;
    if (count && line[0].start != session->start)
        count = 0; /* its number is another one's by now */
    session->line = mem_new((count + 1) * sizeof *line);
    memcpy(session->line, line, count * sizeof *line);
    session->line_count = count;
}

/* It is gone already, or below so many that not all were seen: it may be anybody's. */
static bool is_hidden(const struct session *session)
{
    return session->pid > 1 &&
           (session->line_count == 0 || session->line_count == OS_MAX_ANCESTORS);
}

static bool is_below(struct session *session, const struct os_identity *client)
{
    own_find_process(session);
    if (is_hidden(session))
        return true;
    for (size_t i = 0; i < session->line_count; i++) {
        if (is_same(&session->line[i], client))
            return true;
    }
    return false;
}

/* The nearest one above it; NULL: none. */
static const struct asker *find_known(const struct engine *engine, struct session *session,
                                      bool is_certain)
{
    own_find_process(session);
    for (size_t i = 0; i < session->line_count; i++) {
        for (size_t k = 0; k < engine->client_count; k++) {
            if (is_same(&session->line[i], &engine->clients[k].client) &&
                engine->clients[k].is_certain >= is_certain)
                return &engine->clients[k];
        }
    }
    for (size_t k = 0; is_hidden(session) && k < engine->client_count; k++) {
        if (engine->clients[k].is_certain >= is_certain)
            return &engine->clients[k];
    }
    return NULL;
}

/* All that live: an agent can't push its client out with others. */
static void keep(struct engine *engine, const struct asker *asker)
{
    size_t kept = 0;

    if (asker->client.pid <= 0)
        return;
    for (size_t i = 0; i < engine->client_count; i++) {
        if (is_same(&engine->clients[i].client, &asker->client)) {
            engine->clients[i].is_certain |= asker->is_certain;
            return;
        }
    }
    if (engine->client_count == engine->client_capacity) {
        for (size_t i = 0; i < engine->client_count; i++) {
            if (os_is_alive(engine->clients[i].client.pid, engine->clients[i].client.start))
                engine->clients[kept++] = engine->clients[i];
        }
        engine->client_count = kept;
        engine->client_capacity = 2 * kept + 16;
        engine->clients =
            mem_resize(engine->clients, engine->client_capacity * sizeof *engine->clients);
    }
    engine->clients[engine->client_count++] = *asker;
}

/* A front on a terminal of its own may still be below a client that is known from another one. */
static struct os_identity find_client(const struct engine *engine, struct session *session)
{
    const struct asker *known;
    struct os_names names;
    struct os_process process;

    own_find_process(session);
    for (size_t i = 0; i < session->line_count && os_process(session->line[i].pid, &process); i++) {
        enum client_rank rank;

        os_process_names(process.pid, &names);
        rank = client_rank(&(struct client_facts){ names.program, names.title, names.script,
                                                   process.leads_terminal });
        if (rank == CLIENT_FOUND)
            return session->line[i];
        if (rank == CLIENT_NONE)
            break;
    }
    known = is_hidden(session) ? NULL : find_known(engine, session, false);
    return known ? known->client : (struct os_identity){ 0 };
}

/* `sayso ask` may be a person's own; a client that speaks MCP or runs the gate is an agent's. */
static bool is_certain(const char *name)
{
    return !name || strcmp(name, "sayso ask") != 0;
}

void own_enter(struct engine *engine, struct session *session)
{
    own_find_process(session);
    if (session->pid <= 0)
        return;
    session->asker = (struct asker){ .front = { session->pid, session->start },
                                     .client = find_client(engine, session),
                                     .is_certain = is_certain(session->name) };
    keep(engine, &session->asker);
}

void own_write(const struct engine *engine, const struct asker *asker, struct json_writer *writer)
{
    if (asker->front.pid <= 0)
        return;
    json_write_integer(writer, "pid", asker->front.pid);
    json_write_integer(writer, "start", (int64_t)asker->front.start);
    json_write_text(writer, "boot", engine->boot_id);
    if (asker->client.pid > 0) {
        json_write_integer(writer, "client_pid", asker->client.pid);
        json_write_integer(writer, "client_start", (int64_t)asker->client.start);
    }
}

struct asker own_read(const struct engine *engine, const char *origin_json)
{
    struct json *origin = json_of(origin_json);
    struct asker asker = { 0 };
    const char *boot = json_member_text(origin, "boot");

    if (boot && *boot && strcmp(boot, engine->boot_id) == 0) {
        asker.front.pid = json_member_integer(origin, "pid", 0);
        asker.front.start = (uint64_t)json_member_integer(origin, "start", 0);
        asker.client.pid = json_member_integer(origin, "client_pid", 0);
        asker.client.start = (uint64_t)json_member_integer(origin, "client_start", 0);
        asker.is_certain = is_certain(json_member_text(origin, "name"));
    }
    json_free(origin);
    return asker;
}

static void on_asked(void *context, const struct store_row *row, const struct error *err)
{
    struct asker asker;

    if (err)
        log_error("clients.unread", "reason=%s", error_name(err->code));
    if (!row) {
        load_asks(context, err);
        return;
    }
    asker = own_read(context, row->ask.origin_json);
    if (os_is_alive(asker.client.pid, asker.client.start))
        keep(context, &asker);
}

void own_load(struct engine *engine)
{
    const struct store_list_query query = { .limit = CLIENTS_READ };

    os_boot_id(engine->boot_id);
    engine->parts.store->ops->list(engine->parts.store, &query, on_asked, engine);
}

bool own_is_in_place(const struct session *session, const struct asker *asker)
{
    return session->tty && session->pid == asker->front.pid && session->start == asker->front.start;
}

bool own_is_agents(const struct engine *engine, struct session *session, const struct asker *asker)
{
    if (asker->client.pid <= 0 || !is_below(session, &asker->client))
        return false;
    return !own_is_in_place(session, asker) || find_known(engine, session, true);
}

bool own_may_destroy(const struct engine *engine, struct session *session,
                     const struct asker *asker, const char *id, struct error *err)
{
    if (!own_is_agents(engine, session, asker) && !find_known(engine, session, true))
        return true;
    return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_OWN_DESTROYS, "id",
                     text_head(id, 8, (char[9]){ 0 }), NULL);
}

bool own_must_leave(const struct operation *operation, const struct store_row *row)
{
    struct asker asker = own_read(operation->engine, row->ask.origin_json);
    struct error err;

    return (row->ask.flags & ASK_DESTRUCTIVE) && state_is_open(row->ask.state) &&
           operation->session->role == ROLE_PERSON &&
           !own_may_destroy(operation->engine, operation->session, &asker, row->ask.id, &err);
}

bool own_may_govern(const struct engine *engine, struct session *session, struct error *err)
{
    const struct asker *known = find_known(engine, session, false);

    return !known || error_say(err, ERROR_not_allowed, "", TEXT_REASON_OWN_GOVERNS, "pid",
                               TEXT_NUMBER(known->client.pid), NULL);
}
