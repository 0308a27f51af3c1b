/*
 * agent.c - agents as the product's fronts let them reach the hub: calls that park, calls that
 * poll, clients that come back with a state, clients that show the form themselves. Each asks few
 * different questions, so that the same call comes again and again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "net.h"
#include "world.h"

static const int64_t timeouts_s[] = { 3, 40, 100, 4000, 8000, 20000 };
static const char *const front_names[FRONTS] = { "stdio",  "command", "polling",
                                                 "modern", "legacy",  "mcp" };

/* The revisions of MCP that a client behind `sayso mcp` speaks; the last has no handshake. */
enum { ERAS = 3, ERA_MODERN = 2 };
static const char *const eras[ERAS] = { "2025-06-18", "2025-11-25", "2026-07-28" };

static struct front fronts[AGENTS_MAX];

void agents_prepare(void)
{
    for (int i = 0; i < AGENTS_MAX; i++)
        front_prepare(&fronts[i]);
}

static const char *name_of(const struct agent *agent)
{
    static char name[32];

    snprintf(name, sizeof name, "agent%d(%s)", agent->number, front_names[agent->front]);
    return name;
}

int64_t agent_timeout_s(int principal, int call)
{
    uint64_t seed = world.first_seed + (uint64_t)(principal * CALLS + call) * 77777;

    return timeouts_s[draw_below(&seed, ARRAY_LEN(timeouts_s))];
}

void agent_begin(struct agent *agent, int number)
{
    *agent = (struct agent){ .number = number,
                             .principal = number,
                             .front = (enum front_kind)draw_below(&world.seed, FRONTS) };
    if (agent->front == FRONT_MCP) {
        agent->mcp = &fronts[number];
        agent->era = (int)draw_below(&world.seed, ERAS);
        agent->mcp->is_up = false; /* its cables and its memory were those of the last history */
        agent->mcp->out = (struct text){ 0 };
    }
    if (number > 0 && draw_chance(&world.seed, 1, 8)) { /* two at a time that say the same name */
        agent->principal = number - 1;
        observer.is_shared[number - 1] = true;
    }
}

static bool come(struct agent *agent)
{
    char hello[200];

    snprintf(hello, sizeof hello, "\"role\":\"agent\",\"name\":\"%s\",\"as\":\"%s-%d\"%s",
             front_names[agent->front], world.is_rehearsal ? "old" : "agent", agent->principal,
             agent->front == FRONT_COMMAND ? "" : ",\"transport\":\"stdio\"");
    return client_connect(&agent->client, 5000000 + agent->number, name_of(agent), hello);
}

static struct agent_request *request_new(struct agent *agent, const char *method)
{
    for (int i = 0; i < REQUESTS_MAX; i++) {
        struct agent_request *request = &agent->requests[i];

        if (!request->method) {
            *request = (struct agent_request){ .method = method, .id = agent->client.next_id };
            return request;
        }
    }
    return NULL;
}

static struct agent_request *find_request(struct agent *agent, int64_t id)
{
    for (int i = 0; i < REQUESTS_MAX; i++) {
        if (agent->requests[i].method && agent->requests[i].id == id)
            return &agent->requests[i];
    }
    return NULL;
}

static void note_call(struct agent *agent, struct agent_request *request)
{
    request->is_first = !agent->has_asked[request->call];
    agent->has_asked[request->call] |=
        strcmp(request->method, "ask/create") == 0 || strcmp(request->method, "ask/wait") == 0;
    observer_on_call(agent->principal, request);
}

/* `key` is what a tool is called by. */
static void write_arguments(const char *key, int principal, int call, char *out, size_t size)
{
    static const char *const forms[CALLS] = {
        "\"%s\":\"provide_choice\",\"arguments\":{\"title\":\"A%dC%d\",\"prompt\":\"Two of them "
        "fit. Which one?\","
        "\"selection_mode\":\"hybrid\",\"options\":[{\"id\":\"La\",\"label\":\"First\","
        "\"recommended\":true},"
        "{\"id\":\"Lb\",\"label\":\"Second\"}],\"default_selection_ids\":[\"Lb\"],\"timeout_"
        "seconds\":%lld}",
        "\"%s\":\"ask_user_question\",\"arguments\":{\"questions\":[{\"question\":\"A%dC%d?\","
        "\"options\":[{\"label\":\"La\"},{\"label\":\"Lb\"}]}],\"timeout_seconds\":%lld}",
        "\"%s\":\"elicit_input\",\"arguments\":{\"message\":\"A%dC%d\",\"timeout_seconds\":%lld}",
    };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, size, forms[call], key, principal, call,
             (long long)agent_timeout_s(principal, call));
#pragma GCC diagnostic pop
}

static const char *extras_of(const struct agent *agent, int call, int id, char *out, size_t size)
{
    const char *state = agent->state[call];
    bool has_form = draw_chance(&world.seed, 1, 2);

    switch (agent->front) {
    case FRONT_STDIO:
        snprintf(out, size, ",\"tag\":\"%d\"", id);
        break;
    case FRONT_COMMAND:
        snprintf(out, size, ",\"tag\":\"%d\",\"wait_seconds\":-1", id);
        break;
    case FRONT_POLLING:
        snprintf(out, size, ",\"tag\":\"%d\",\"wait_seconds\":%u", id,
                 draw_below(&world.seed, 3) * 10);
        break;
    case FRONT_MODERN:
        snprintf(out, size, ",\"tag\":\"%d\",\"comes_back\":true,\"wait_seconds\":%u%s%s%s", id,
                 draw_below(&world.seed, 2) * 20, *state ? ",\"state\":\"" : "", state,
                 *state ? "\"" : "");
        break;
    default:
        snprintf(out, size, ",\"tag\":\"%d\"%s", id,
                 has_form ? ",\"client\":{\"era\":\"legacy\",\"form\":true}" : "");
        break;
    }
    return out;
}

/* The same again more often than not: that is where retries are. */
static int draw_call(struct agent *agent)
{
    if (draw_chance(&world.seed, 1, 2))
        agent->last_call = (int)draw_below(&world.seed, CALLS);
    return agent->last_call;
}

static bool ask(struct agent *agent)
{
    struct agent_request *request = request_new(agent, "ask/create");
    int call = draw_call(agent);
    char arguments[600], extras[800];

    if (!request)
        return false;
    request->call = call;
    request->has_state = agent->front == FRONT_MODERN && agent->state[call][0];
    write_arguments("tool", agent->principal, call, arguments, sizeof arguments);
    note_call(agent, request);
    client_send(&agent->client, name_of(agent), "ask/create", "{%s%s}", arguments,
                extras_of(agent, call, request->id, extras, sizeof extras));
    return true;
}

/* One of its asks that fits; NULL: none. */
static struct ask_seen *draw_ask(const struct agent *agent,
                                 bool (*fits)(const struct agent *agent,
                                              const struct ask_seen *ask))
{
    size_t start = draw_below(&world.seed, (unsigned)observer.ask_count);

    for (size_t i = 0; i < observer.ask_count; i++) {
        struct ask_seen *ask = &observer.asks[(start + i) % observer.ask_count];

        if (fits(agent, ask))
            return ask;
    }
    return NULL;
}

static bool is_own(const struct agent *agent, const struct ask_seen *ask)
{
    return ask->principal == agent->principal;
}

static bool is_own_open(const struct agent *agent, const struct ask_seen *ask)
{
    return is_own(agent, ask) && ask->ending == END_NONE;
}

static bool is_in_hands(const struct agent *agent, const struct ask_seen *ask)
{
    return is_own(agent, ask) && ask->ending != END_NONE && !ask->confirmed_at && ask->hands &&
           ask->hands == agent->client.cable;
}

static bool is_anybodys(const struct agent *agent, const struct ask_seen *ask)
{
    (void)agent;
    return ask->id[0] != '\0';
}

static bool say_of(struct agent *agent, const char *method, struct ask_seen *ask,
                   const char *format)
{
    struct agent_request *request = ask ? request_new(agent, method) : NULL;
    char params[300];

    if (!request)
        return false;
    request->ask = ask;
    request->call = ask->call;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(params, sizeof params, format, ask->id);
#pragma GCC diagnostic pop
    note_call(agent, request);
    client_send(&agent->client, name_of(agent), method, "%s", params);
    return true;
}

static bool confirm(struct agent *agent)
{
    return say_of(agent, "ask/delivered", draw_ask(agent, is_in_hands),
                  "{\"session_ids\":[\"%s\"]}");
}

/* Now and then another agent's, which must be as if there were none. */
static bool collect(struct agent *agent)
{
    bool is_curious = draw_chance(&world.seed, 1, 8);
    struct ask_seen *ask = draw_ask(agent, is_curious ? is_anybodys : is_own_open);

    return say_of(agent, "ask/wait", ask,
                  draw_chance(&world.seed, 1, 2) ? "{\"session_id\":\"%s\",\"wait_seconds\":0}"
                                                 : "{\"session_id\":\"%s\",\"wait_seconds\":20}");
}

static bool look(struct agent *agent)
{
    bool is_curious = draw_chance(&world.seed, 1, 4);
    struct agent_request *request;

    if (draw_chance(&world.seed, 2, 3))
        return say_of(agent, "mine/get", draw_ask(agent, is_curious ? is_anybodys : is_own),
                      "{\"session_id\":\"%s\"}");
    request = request_new(agent, "mine/list");
    if (request)
        client_send(&agent->client, name_of(agent), "mine/list", "{\"which\":\"all\"}");
    return request != NULL;
}

static bool take_back(struct agent *agent)
{
    const char *method = draw_chance(&world.seed, 1, 2) ? "ask/withdraw" : "ask/detach";

    return say_of(agent, method, draw_ask(agent, is_own_open), "{\"session_id\":\"%s\"}");
}

/* Its client's own form came back: an answer like any other. */
static bool return_form(struct agent *agent)
{
    struct ask_seen *ask = observer_find(agent->shown);
    unsigned how = draw_below(&world.seed, 4);
    struct act_seen *act =
        ask && ask->call == 2 && how < 2 ? observer_on_act(ask, ACT_ANSWER) : NULL;

    agent->shown[0] = '\0';
    if (!ask)
        return false;
    if (act) {
        act->tries = 1;
        client_send(&agent->client, name_of(agent), "client/result",
                    "{\"session_id\":\"%s\",\"action\":\"accept\",\"shown_ms\":4000,\"content\":"
                    "{\"input\":\"N:%d\"}}",
                    ask->id, act->nonce);
    } else if (how == 2) {
        ask->is_declining = ask->is_withdrawing = true;
        client_send(&agent->client, name_of(agent), "client/result",
                    "{\"session_id\":\"%s\",\"action\":\"decline\",\"shown_ms\":4000}", ask->id);
    } else {
        client_send(&agent->client, name_of(agent), "client/failed", "{\"session_id\":\"%s\"}",
                    ask->id);
    }
    return true;
}

static void drop(struct agent *agent)
{
    client_drop(&agent->client, name_of(agent));
    agent_lose(agent);
}

/* --- through a process of `sayso mcp` --- */

static void say_to_front(struct agent *agent, const char *line)
{
    world_tell("%s > %s", name_of(agent), line);
    front_take(agent->mcp, line, strlen(line));
}

static bool read_front(struct agent *agent)
{
    struct text *out = &agent->mcp->out;
    const char *end = out->used ? memchr(out->bytes, '\n', out->used) : NULL;

    if (!end)
        return false;
    world_take_line(agent, out->bytes, (size_t)(end - out->bytes));
    text_drop_front(out, (size_t)(end - out->bytes) + 1);
    return true;
}

void agent_end(struct agent *agent)
{
    while (agent->mcp && read_front(agent)) /* a pipe can be read after its writer has ended */
        continue;
    if (agent->mcp)
        front_kill(agent->mcp);
    if (agent->client.cable)
        client_drop(&agent->client, name_of(agent));
    agent_lose(agent);
}

static void start_front(struct agent *agent)
{
    char as_name[32], line[300];

    agent_end(agent);
    snprintf(as_name, sizeof as_name, "%s-%d", world.is_rehearsal ? "old" : "agent",
             agent->principal);
    world_tell("%s starts", name_of(agent));
    front_start(agent->mcp, as_name, 5000000 + agent->number, draw(&world.seed));
    agent->client.next_id = 1;
    agent->has_result = false;
    if (!world.closing_at && draw_chance(&world.seed, 1, 2))
        task_kill(&agent->mcp->process, draw_below(&world.seed, 12));
    if (agent->era == ERA_MODERN)
        return;
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{"
             "\"name\":\"simulated\",\"version\":\"1\"}}}",
             eras[agent->era]);
    say_to_front(agent, line);
    say_to_front(agent, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

/* What a modern call says beside its arguments; with a state it goes on with an earlier one. */
static const char *modern_extras(const struct agent *agent, const char *state, char *out,
                                 size_t size)
{
    snprintf(out, size,
             ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"%s\","
             "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"simulated\",\"version\":\"1\"},"
             "\"io.modelcontextprotocol/clientCapabilities\":{}}%s%s%s",
             eras[agent->era], *state ? ",\"requestState\":\"" : "", state, *state ? "\"" : "");
    return out;
}

static bool call_tool(struct agent *agent, int call)
{
    struct agent_request *request = request_new(agent, "tools/call");
    bool is_modern = agent->era == ERA_MODERN;
    const char *state = is_modern && !world.closing_at ? agent->state[call] : "";
    char arguments[600], extras[1000] = "", line[2000];

    if (!request)
        return false;
    request->call = call;
    request->has_state = *state != '\0';
    request->is_first = world.closing_at > 0; /* a front that has just started holds no result */
    write_arguments("name", agent->principal, request->call, arguments, sizeof arguments);
    observer_on_call(agent->principal, request);
    agent->expected[call] = request->expected;
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{%s%s}}",
             agent->client.next_id++, arguments,
             is_modern ? modern_extras(agent, state, extras, sizeof extras) : "");
    say_to_front(agent, line);
    return true;
}

static bool cancel_tool(struct agent *agent)
{
    struct agent_request *request = &agent->requests[draw_below(&world.seed, REQUESTS_MAX)];
    char line[200];

    if (!request->method)
        return false;
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
             "\"requestId\":%d}}",
             request->id);
    say_to_front(agent, line);
    request->method = NULL;
    return true;
}

static bool act_by_front(struct agent *agent)
{
    unsigned what = draw_below(&world.seed, 16);

    if (!agent->mcp->is_up) {
        start_front(agent);
        return true;
    }
    if (agent->state[agent->last_call][0] && what < 14) /* such a client comes back by itself */
        return call_tool(agent, agent->last_call);
    if (what < 12 && !(agent->has_result && what < 4)) /* with what it got it often ends */
        return call_tool(agent, draw_call(agent));
    if (what >= 12 && what < 15)
        return cancel_tool(agent) || call_tool(agent, draw_call(agent));
    world_tell("%s is killed", name_of(agent));
    front_kill(agent->mcp);
    return true;
}

bool agent_move(struct agent *agent)
{
    return agent->mcp && (read_front(agent) || front_move(agent->mcp) || front_ring(agent->mcp));
}

bool agent_act(struct agent *agent)
{
    unsigned what = draw_below(&world.seed, 16);

    if (agent->mcp)
        return act_by_front(agent);
    if (!agent->client.cable)
        return come(agent);
    if (agent->shown[0] && what < 8)
        return return_form(agent);
    if (what < 6)
        return ask(agent);
    if (what < 10)
        return confirm(agent) || collect(agent) || ask(agent);
    if (what < 12)
        return collect(agent);
    if (what < 14)
        return look(agent);
    if (what == 14)
        return take_back(agent);
    drop(agent);
    return true;
}

void agent_lose(struct agent *agent)
{
    memset(agent->requests, 0, sizeof agent->requests);
    memset(agent->has_asked, 0, sizeof agent->has_asked);
    agent->shown[0] = '\0';
    agent->client = (struct client){ 0 };
}

static void take_created(struct agent *agent, const struct agent_request *request,
                         const struct json *params)
{
    const char *state = json_member_text(params, "state");

    if (agent->front == FRONT_MODERN && state)
        snprintf(agent->state[request->call], sizeof agent->state[0], "%s", state);
}

/* Through a front: `input_required` says with which state to come back, anything else ends that. */
static void take_state(struct agent *agent, const struct agent_request *request,
                       const struct json *json)
{
    const char *state = json_member_text(json_member(json, "result"), "requestState");

    snprintf(agent->state[request->call], sizeof agent->state[0], "%s", state ? state : "");
}

static void take_notification(struct agent *agent, const char *line, const struct json *json)
{
    const char *method = json_member_text(json, "method");
    const struct json *params = json_member(json, "params");
    const char *tag = json_member_text(params, "tag"), *id = json_member_text(params, "session_id");
    struct agent_request *request = tag ? find_request(agent, strtol(tag, NULL, 10)) : NULL;

    observer_on_agent_line(agent->principal, agent->client.cable, request, line, json);
    if (request && strcmp(method, "ask/created") == 0)
        take_created(agent, request, params);
    if (id && strcmp(method, "client/present") == 0)
        snprintf(agent->shown, sizeof agent->shown, "%s", id);
}

void agent_take(struct agent *agent, const char *line, const struct json *json)
{
    struct agent_request *request;

    if (json_member_text(json, "method")) {
        take_notification(agent, line, json);
        return;
    }
    request = find_request(agent, json_member_integer(json, "id", -1));
    if (request)
        request->is_unconfirmed = agent->mcp && agent->mcp->process.is_dead;
    observer_on_agent_line(agent->principal, agent->client.cable, request, line, json);
    if (!request)
        return;
    agent->has_result = agent->has_result || strcmp(request->method, "tools/call") == 0;
    if (agent->mcp)
        take_state(agent, request, json);
    if (agent->front == FRONT_MODERN && strcmp(request->method, "ask/create") == 0 &&
        (json_member(json, "error") || observer_is_over(json_member(json, "result"))))
        agent->state[request->call][0] = '\0';
    request->method = NULL;
}

void agent_ask_all(struct agent *agent)
{
    struct agent_request *request;
    char arguments[600];

    if (agent->mcp) { /* its front has confirmed what it was given */
        start_front(agent);
        for (int call = 0; call < CALLS; call++)
            call_tool(agent, call);
        return;
    }
    if (!agent->client.cable && !come(agent))
        return; /* it came too often in this history */
    for (size_t i = 0; i < observer.ask_count; i++) {
        if (is_own(agent, &observer.asks[i]))
            say_of(agent, "mine/get", &observer.asks[i], "{\"session_id\":\"%s\"}");
    }
    for (int call = 0; call < CALLS; call++) {
        request = request_new(agent, "ask/create");
        if (!request)
            return;
        request->call = call;
        note_call(agent, request);
        write_arguments("tool", agent->principal, call, arguments, sizeof arguments);
        client_send(&agent->client, name_of(agent), "ask/create", "{%s,\"tag\":\"%d\"}", arguments,
                    request->id);
    }
}

void agent_check_all(const struct agent *agent)
{
    for (int call = 0; agent->mcp && call < CALLS; call++) {
        const struct ask_seen *ask = agent->expected[call];

        if (ask && !ask->is_confirming)
            observer_break("P1", "%.8s was acknowledged, and its call through a front got nothing",
                           ask->id);
    }
}
