/*
 * fuzz_http_sequence.c - MCP clients of both eras and people's programs over HTTP, in any order and
 * cut off anywhere, on the real door of the hub: guard, routes, engine and store. What must hold: a
 * token does only what its kind may, an agent is told of its own asks alone, an answer has the id
 * of a request of its connection, once, and an ask is decided once. Proves: R5.8 R10.4 R12.1 P14
 * P19
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "hub/listener.h"
#include "one_thread.h"
#include "polls.h"
#include "turns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PEERS = 5,
    ASKS = 6,
    STEPS = 8,
    TURNS_MAX = 64,
    TITLES = 3,
    TOKENS = 6,
    PERSON = 2, /* its place among the tokens */
    MAX_ID = 64,
};

static const struct {
    const char *kind, *more;
} kinds[TOKENS] = {
    { "agent", "" },  { "agent", "" },
    { "person", "" }, { "agent", ",'sub_agent':true" },
    { "host", "" },   { "host", ",'may_answer':true" },
};

struct peer {
    int socket;     /* -1: not connected */
    int token;      /* of the last request; TOKENS: none */
    int open_count; /* requests whose replies have not ended */
    bool is_modern;
    struct text in;
    char session[512]; /* of its legacy session; "": none */
};

static struct stage *stage;
static struct listener *side;
static char tokens[TOKENS][128];

static struct {
    struct peer peers[PEERS];
    char asks[ASKS][ASK_ID_BYTES];
    int owners[ASKS]; /* tokens */
    int decided[ASKS];
    size_t ask_count;
    struct caller *person;
    int last_id, answers[MAX_ID], sender[MAX_ID];
    const uint8_t *at, *end;
} world;

static void demand(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static unsigned next(unsigned max)
{
    return world.at < world.end ? *world.at++ % max : 0;
}

static void write_status(void *context, struct text *out)
{
    (void)context;
    text_add_text(out, "{}");
}

/* What the peers sent reaches the service, and what it says goes out: all in this process. */
static void turn(void)
{
    bool is_busy = true;

    for (int i = 0; is_busy; i++) {
        demand(i < TURNS_MAX, "the loop does not come to rest");
        is_busy = polls_turn();
        turns_ring_timers(stage->loop);
        stage_settle(stage);
        listener_flush(side);
        turns_end(stage->loop);
        turns_wake(stage->loop);
    }
}

static void drop(struct peer *peer)
{
    if (peer->socket >= 0)
        close(peer->socket);
    peer->socket = -1;
    text_clear(&peer->in);
    turn();
}

static void dial(struct peer *peer)
{
    peer->socket = polls_dial();
    demand(peer->socket >= 0, "no connection");
    peer->open_count = 0;
    turn();
}

static int known_ask(const char *id, size_t length)
{
    for (size_t i = 0; i < world.ask_count; i++) {
        if (strlen(world.asks[i]) == length && memcmp(world.asks[i], id, length) == 0)
            return (int)i;
    }
    return -1;
}

/* Every session_id that an agent reads is of an ask of its own. */
static void check_ids(const struct peer *peer, const char *text)
{
    static const char name[] = "\"session_id\":\"";

    for (const char *at = strstr(text, name); at; at = strstr(at, name)) {
        int ask;

        at += strlen(name);
        if (strcspn(at, "\"") != ASK_ID_BYTES - 1 || peer->token >= TOKENS || peer->token == PERSON)
            continue;
        ask = known_ask(at, ASK_ID_BYTES - 1);
        demand(ask < 0 || world.owners[ask] == peer->token, "an agent read of another's ask");
    }
}

/* Replies to ids that this connection sent, each once. */
static void check_answers(int which, const char *text)
{
    static const char name[] = "{\"jsonrpc\":\"2.0\",\"id\":";

    for (const char *at = strstr(text, name); at; at = strstr(at, name)) {
        long id = strtol(at += strlen(name), NULL, 10);

        if (id <= 0 || id >= MAX_ID || strncmp(at, "\"", 1) == 0)
            continue;
        demand(world.sender[id] == which, "an answer on the connection of another");
        demand(++world.answers[id] == 1, "a request was answered twice");
    }
}

/* A reply has a length, or chunks and a last one. */
static int count_ends(const char *text)
{
    static const char *const ends[] = { "\r\nContent-Length: ", "\r\n0\r\n\r\n" };
    int count = 0;

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        for (const char *at = text; (at = strstr(at, ends[i])); at++)
            count++;
    }
    return count;
}

static void hear(int which)
{
    struct peer *peer = &world.peers[which];
    char bytes[16384];
    ssize_t got = 0;

    text_clear(&peer->in);
    while (peer->socket >= 0 && (got = read(peer->socket, bytes, sizeof bytes)) > 0)
        text_add(&peer->in, bytes, (size_t)got);
    if (peer->socket >= 0 && got == 0) {
        close(peer->socket);
        peer->socket = -1;
    }
    check_ids(peer, text_string(&peer->in));
    check_answers(which, text_string(&peer->in));
    peer->open_count -= count_ends(text_string(&peer->in));
    demand(peer->open_count >= 0, "more replies than requests");
}

static int status_of(const struct peer *peer)
{
    int status = 0;

    return sscanf(text_string(&peer->in), "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* The status, or 0: no reply yet, or it is one to a request before. */
static int send_request(int which, int token, const char *method, const char *path,
                        const char *headers, const char *body)
{
    struct peer *peer = &world.peers[which];
    struct text out = { 0 };
    bool is_first;

    hear(which); /* what came for the request before, with the token it had */
    if (peer->open_count > 0 && peer->token != token)
        drop(peer); /* whose reply it is could not be told */
    if (peer->socket < 0)
        dial(peer);
    peer->token = token;
    is_first = peer->open_count++ == 0;
    text_add_format(&out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", method, path,
                    listener_port(side), headers);
    if (token < TOKENS)
        text_add_format(&out, "Authorization: Bearer %s\r\n", tokens[token]);
    if (body)
        text_add_format(&out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                        strlen(body));
    text_add_format(&out, "\r\n%s", body ? body : "");
    if (send(peer->socket, out.bytes, out.used, MSG_NOSIGNAL) < 0)
        drop(peer);
    text_release(&out);
    turn();
    hear(which);
    return is_first ? status_of(peer) : 0;
}

static int next_id(int which)
{
    int id = world.last_id + 1 < MAX_ID ? ++world.last_id : MAX_ID - 1;

    world.sender[id] = which;
    return id;
}

static void modern_call(int which, int token, const char *tool, const char *arguments)
{
    char headers[256];
    char *body = mem_format(
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
        "\"arguments\":%s,\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"fuzz\",\"version\":\"1\"},"
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
        next_id(which), tool, arguments);
    int status;

    snprintf(headers, sizeof headers,
             "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
             "Mcp-Method: tools/call\r\nMcp-Name: %s\r\n",
             tool);
    status = send_request(which, token, "POST", "/mcp", headers, body);
    demand(status < 200 || status > 299 || (token < TOKENS && token != PERSON),
           "MCP for who is no agent");
    free(body);
}

static void legacy_open(int which, int token)
{
    struct peer *peer = &world.peers[which];
    char *body = mem_format("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"initialize\",\"params\":"
                            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                            "\"clientInfo\":{\"name\":\"fuzz\",\"version\":\"1\"}}}",
                            next_id(which));
    const char *at;

    send_request(which, token, "POST", "/mcp", "Accept: application/json, text/event-stream\r\n",
                 body);
    at = strcasestr(text_string(&peer->in), "mcp-session-id: ");
    if (at)
        snprintf(peer->session, sizeof peer->session, "%.*s", (int)strcspn(at + 16, "\r"), at + 16);
    free(body);
}

static void legacy_call(int which, int token, const char *method, const char *arguments)
{
    char headers[700];
    char *body =
        mem_format("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"provide_choice\",\"arguments\":%s}}",
                   next_id(which), arguments);

    snprintf(headers, sizeof headers,
             "Accept: application/json, text/event-stream\r\nMcp-Session-Id: %s\r\n",
             world.peers[which].session);
    send_request(which, token, method, "/mcp", headers, strcmp(method, "POST") == 0 ? body : NULL);
    free(body);
}

static char *choice(unsigned title)
{
    return mem_format("{\"title\":\"%u\",\"prompt\":\"Two are ready, one must go out today."
                      "\",\"selection_mode\":\"single\",\"options\":[{\"id\":\"a\",\"label\":"
                      "\"Alpha\",\"recommended\":true},{\"id\":\"b\",\"label\":\"Beta\"}]}",
                      title);
}

static const struct {
    const char *method, *act, *body;
    bool decides;
} rest[] = {
    { "GET", "", NULL, false },
    { "POST", "/answer", "{\"selected_ids\":[\"a\"]}", true },
    { "POST", "/answer", "{\"selected_ids\":[\"b\"]}", true },
    { "POST", "/cancel", "{}", true },
    { "POST", "/decline", "{}", true },
    { "POST", "/extend", "{\"seconds\":120}", false },
    { "POST", "/answer", "{\"selected_ids\":[1e400]}", false },
    { "POST", "/answer", "{bad", false },
    { "GET", "?wait=1", NULL, false },
};

static void act(int which, int token, size_t ask, unsigned row)
{
    char path[96];
    int status;

    if (ask >= world.ask_count)
        return;
    snprintf(path, sizeof path, "/api/asks/%s%s", world.asks[ask], rest[row].act);
    status = send_request(which, token, rest[row].method, path, "", rest[row].body);
    if (status < 200 || status > 299)
        return;
    demand(token == PERSON, "REST for who is no person");
    if (rest[row].decides &&
        !strcasestr(text_string(&world.peers[which].in), "idempotency-replayed"))
        demand(++world.decided[ask] == 1, "an ask was decided twice");
}

/* A person sees an ask immediately, its agent when the call ends; the token's label says whose it
 * is. */
static void learn(void)
{
    struct call listed = { 0 };

    call_run(&listed, world.person, METHOD_ask_list, "{}");
    for (size_t i = json_length(json_at(listed.json, "/asks")); i > 0; i--) {
        char id_at[48], token_at[48];
        const char *id;

        snprintf(id_at, sizeof id_at, "/asks/%zu/session_id", i - 1);
        snprintf(token_at, sizeof token_at, "/asks/%zu/origin/token", i - 1);
        id = call_text(&listed, id_at);
        if (world.ask_count == ASKS || known_ask(id, strlen(id)) >= 0)
            continue;
        snprintf(world.asks[world.ask_count], ASK_ID_BYTES, "%s", id);
        demand(sscanf(call_text(&listed, token_at), "t%d", &world.owners[world.ask_count++]) == 1,
               "an ask of nobody");
    }
    call_release(&listed);
}

/* Two bytes: what is done, and by which peer with which token about which ask. */
static void step(void)
{
    static const int64_t spans_ms[] = { 10, 1000, 61000, 3600000 };
    enum {
        MODERN = 4 * TITLES,
        LEGACY = MODERN + 2 * TITLES,
        ACTS = LEGACY + ARRAY_LEN(rest),
        TIME = ACTS + ARRAY_LEN(spans_ms),
        OPEN = TIME + 4,
        DROP = OPEN + 2,
        GET,
        DELETE,
        ALL
    };
    unsigned what = next(ALL), who = next(256);
    int which = (int)(who % PEERS), token = (int)(who / PEERS % (TOKENS + 1));
    size_t ask = who / PEERS / (TOKENS + 1);
    char *arguments = choice(what % TITLES);

    if (what < MODERN)
        modern_call(which, token, "provide_choice", arguments);
    else if (what < LEGACY)
        legacy_call(which, token, "POST", arguments);
    else if (what < ACTS)
        act(which, token, ask, what - LEGACY);
    else if (what < TIME)
        one_thread_advance(stage, spans_ms[what - ACTS]);
    else if (what < OPEN)
        legacy_open(which, token);
    else if (what < DROP)
        drop(&world.peers[which]);
    else
        legacy_call(which, token, what == GET ? "GET" : "DELETE", arguments);
    free(arguments);
    turn();
    if (what < LEGACY)
        learn();
    for (int i = 0; i < PEERS; i++)
        hear(i);
}

/* They are in the store that every input finds. */
static void make_tokens(struct stage *opened)
{
    struct identity identity = visitor_person("cli");
    struct caller *owner = caller_enter(opened, "owner", &identity);

    for (int i = 0; i < TOKENS; i++) {
        struct call made = { 0 };

        call_run(&made, owner, METHOD_token_new, "{'kind':'%s','label':'t%d'%s}", kinds[i].kind, i,
                 kinds[i].more);
        snprintf(tokens[i], sizeof tokens[i], "%s", call_text(&made, "/token"));
        demand(tokens[i][0] != '\0', "no token");
        call_release(&made);
    }
}

static void play(struct stage *opened)
{
    struct listener_parts parts = { .loop = opened->loop,
                                    .engine = opened->engine,
                                    .store = opened->store.inner,
                                    .settings = opened->settings,
                                    .write_status = write_status };
    struct identity identity = visitor_person("cli");
    struct error err = { 0 };

    stage = opened;
    world.person = caller_enter(stage, "person", &identity);
    demand(listener_open(&parts, &side, &err) && side, "no door");
    for (int i = 0; i < STEPS && world.at < world.end; i++)
        step();
    for (int i = 0; i < PEERS; i++) {
        drop(&world.peers[i]);
        text_release(&world.peers[i].in);
    }
    listener_free(side);
    turns_end(stage->loop); /* what it closed ends now */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memset(&world, 0, sizeof world);
    world.at = data;
    world.end = data + size;
    for (int i = 0; i < PEERS; i++)
        world.peers[i].socket = -1;
    one_thread_run(make_tokens, play);
    return 0;
}
