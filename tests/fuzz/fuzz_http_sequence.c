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

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "hub/door.h"
#include "loop/loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A store is opened for many inputs, because that takes longer than they do. */
enum {
    PEERS = 5,
    ASKS = 6,
    STEPS = 40,
    TURNS = 6,
    TOKENS = 6,
    PERSON = 2, /* its place among the tokens */
    MOST_ID = 256,
    INPUTS_A_STORE = 200,
};

static const struct {
    const char *kind, *more;
} kinds[TOKENS] = {
    { "agent", "" },  { "agent", "" },
    { "person", "" }, { "agent", ",'sub_agent':true" },
    { "host", "" },   { "host", ",'may_answer':true" },
};

struct peer {
    int socket; /* -1: not connected */
    int token;  /* of the last request; TOKENS: none */
    bool is_modern;
    struct text in;
    char session[512]; /* of its legacy session; "": none */
};

static struct stage *stage;
static struct door *door;
static char tokens[TOKENS][128];
static unsigned input_count;

static struct {
    struct peer peers[PEERS];
    char asks[ASKS][ASK_ID_BYTES];
    int owners[ASKS]; /* tokens */
    int decided[ASKS];
    size_t ask_count;
    int last_id, answers[MOST_ID], sender[MOST_ID];
    const uint8_t *at, *end;
} world;

static void demand(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static unsigned next(unsigned most)
{
    return world.at < world.end ? *world.at++ % most : 0;
}

static void write_status(void *context, struct text *out)
{
    (void)context;
    text_add_text(out, "{}");
}

/* What the peers sent reaches the desk, and what it says goes out: all in this process. */
static void turn(void)
{
    for (int i = 0; i < TURNS; i++) {
        uv_run(loop_uv(stage->loop), UV_RUN_NOWAIT);
        stage_settle(stage);
        door_flush(door);
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
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)door_port(door)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    peer->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    demand(peer->socket >= 0 &&
               connect(peer->socket, (struct sockaddr *)&address, sizeof address) == 0,
           "no connection");
    fcntl(peer->socket, F_SETFL, O_NONBLOCK);
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

/* Every session_id that an agent reads is of an ask of its own; the first time is how we know. */
static void check_ids(const struct peer *peer, const char *text)
{
    static const char name[] = "\"session_id\":\"";

    for (const char *at = strstr(text, name); at; at = strstr(at, name)) {
        int ask;

        at += strlen(name);
        if (strcspn(at, "\"") != ASK_ID_BYTES - 1 || peer->token >= TOKENS || peer->token == PERSON)
            continue;
        ask = known_ask(at, ASK_ID_BYTES - 1);
        if (ask >= 0) {
            demand(world.owners[ask] == peer->token, "an agent read of another's ask");
        } else if (world.ask_count < ASKS) {
            memcpy(world.asks[world.ask_count], at, ASK_ID_BYTES - 1);
            world.owners[world.ask_count++] = peer->token;
        }
    }
}

/* Replies to ids that this connection sent, each once. */
static void check_answers(int which, const char *text)
{
    static const char name[] = "{\"jsonrpc\":\"2.0\",\"id\":";

    for (const char *at = strstr(text, name); at; at = strstr(at, name)) {
        long id = strtol(at += strlen(name), NULL, 10);

        if (id <= 0 || id >= MOST_ID || strncmp(at, "\"", 1) == 0)
            continue;
        demand(world.sender[id] == which, "an answer on the connection of another");
        demand(++world.answers[id] == 1, "a request was answered twice");
    }
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
}

static int status_of(const struct peer *peer)
{
    int status = 0;

    return sscanf(text_string(&peer->in), "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

static int send_request(int which, int token, const char *method, const char *path,
                        const char *headers, const char *body)
{
    struct peer *peer = &world.peers[which];
    struct text out = { 0 };

    if (peer->socket < 0)
        dial(peer);
    hear(which); /* what came for the request before, with the token it had */
    peer->token = token;
    text_add_format(&out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", method, path,
                    door_port(door), headers);
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
    return status_of(peer);
}

static int next_id(int which)
{
    int id = world.last_id + 1 < MOST_ID ? ++world.last_id : MOST_ID - 1;

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
    return mem_format("{\"title\":\"%u of %u\",\"prompt\":\"Two are ready, one must go out today."
                      "\",\"selection_mode\":\"single\",\"options\":[{\"id\":\"a\",\"label\":"
                      "\"Alpha\",\"recommended\":true},{\"id\":\"b\",\"label\":\"Beta\"}]}",
                      title, input_count);
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

static void step(void)
{
    static const int64_t spans_ms[] = { 10, 1000, 61000, 3600000 };
    unsigned what = next(10);
    int which = (int)next(PEERS), token = (int)next(TOKENS + 1);
    size_t ask = next(world.ask_count ? (unsigned)world.ask_count : 1);
    char *arguments = what < 4 ? choice(next(3)) : NULL;

    if (what < 2)
        modern_call(which, token, "provide_choice", arguments);
    else if (what == 2)
        legacy_call(which, token, "POST", arguments);
    else if (what == 3)
        legacy_open(which, token);
    else if (what == 4)
        legacy_call(which, token, next(2) ? "GET" : "DELETE", "{}");
    else if (what == 5)
        drop(&world.peers[which]);
    else if (what == 6)
        stage_advance(stage, spans_ms[next(ARRAY_LEN(spans_ms))]);
    else
        act(which, token, ask, next(ARRAY_LEN(rest)));
    free(arguments);
    turn();
    for (int i = 0; i < PEERS; i++)
        hear(i);
}

static void make_tokens(void)
{
    struct desk_visitor visitor = visitor_person("cli");
    struct caller *owner = caller_enter(stage, "owner", &visitor);

    for (int i = 0; i < TOKENS; i++) {
        struct call made = { 0 };

        call_run(&made, owner, stage->desk->ops->token_new, "{'kind':'%s','label':'t%d'%s}",
                 kinds[i].kind, i, kinds[i].more);
        snprintf(tokens[i], sizeof tokens[i], "%s", call_text(&made, "/token"));
        demand(tokens[i][0] != '\0', "no token");
        call_release(&made);
    }
}

static void close_all(void)
{
    door_free(door);
    door = NULL;
    turn(); /* what it closed ends now */
    stage_close(stage);
}

static void open_all(void)
{
    struct door_parts parts = { .write_status = write_status };
    struct error err = { 0 };

    stage = stage_open(NULL);
    parts.loop = stage->loop;
    parts.engine = stage->engine;
    parts.store = stage->store.inner;
    parts.settings = stage->settings;
    demand(door_open(&parts, &door, &err) && door, "no door");
    make_tokens();
}

/* Nothing of this input is left for the next one. */
static void clean_up(void)
{
    for (size_t i = 0; i < world.ask_count; i++) {
        char path[96];

        snprintf(path, sizeof path, "/api/asks/%s/cancel", world.asks[i]);
        drop(&world.peers[0]);
        send_request(0, PERSON, "POST", path, "", "{}");
    }
    for (int i = 0; i < PEERS; i++) {
        drop(&world.peers[i]);
        text_release(&world.peers[i].in);
    }
    turn();
    stage_forget(stage);
    stage_advance(stage, 61000); /* limits are by the minute */
    turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memset(&world, 0, sizeof world);
    world.at = data;
    world.end = data + size;
    for (int i = 0; i < PEERS; i++)
        world.peers[i].socket = -1;
    if (input_count == 0)
        atexit(close_all);
    if (input_count++ % INPUTS_A_STORE == 0) {
        if (stage)
            close_all();
        open_all();
    }
    for (int i = 0; i < STEPS && world.at < world.end; i++)
        step();
    clean_up();
    return 0;
}
