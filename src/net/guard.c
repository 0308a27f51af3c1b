/*
 * guard.c - see guard.h. A request gets the refusal of the first check below that it fails. The
 * head is judged again when the body is complete, so that a token that was revoked in between does
 * not count. To add a check: a function, and its place in `checks`.
 */
#include "net/guard.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/text.h"
#include "net/http.h"
#include "net/origin.h"

enum { GUARD_BAD_TOKENS = 10, GUARD_BAD_TOKENS_MS = 60000 };

/* Replies by the first digit of their status. */
struct route_count {
    int64_t of[6];
};
struct route_table {
    const struct guard_route *rows;
    size_t count;
    void *context;
    struct route_count *replies; /* owned; one each */
};

/* When the last unknown tokens came, oldest at `oldest`. Peers are not told apart: on loopback all
 * have one address, and elsewhere an attacker has many. */
struct guesses {
    int64_t bad_token_ms[GUARD_BAD_TOKENS];
    size_t oldest;
};

struct guard {
    struct guard_options options;
    struct route_table *tables; /* owned */
    size_t table_count;
    struct route_count other_replies;    /* to what has no route */
    struct guesses guesses[GUARD_SIDES]; /* guesses at one side do not block the other */
};

/* One request on its way through the checks. */
struct passage {
    struct guard *guard;
    struct http_exchange *exchange;
    const struct route_table *table;
    const struct guard_route *path_row; /* the first whose path it is */
    const struct guard_route *route;    /* the one that serves it */
    struct route_values values;
    bool has_token; /* one that is alive */
    struct guard_identity who;
};

struct guard *guard_new(const struct guard_options *options)
{
    struct guard *guard = mem_new(sizeof *guard);

    guard->options = *options;
    for (size_t side = 0; side < GUARD_SIDES; side++)
        for (size_t i = 0; i < GUARD_BAD_TOKENS; i++)
            guard->guesses[side].bad_token_ms[i] = INT64_MIN / 2;
    return guard;
}

void guard_free(struct guard *guard)
{
    for (size_t i = 0; guard && i < guard->table_count; i++)
        free(guard->tables[i].replies);
    if (guard)
        free(guard->tables);
    free(guard);
}

void guard_add_routes(struct guard *guard, const struct guard_route *routes, size_t count,
                      void *context)
{
    guard->tables = mem_resize(guard->tables, (guard->table_count + 1) * sizeof *guard->tables);
    guard->tables[guard->table_count++] =
        (struct route_table){ routes, count, context, mem_new(count * sizeof(struct route_count)) };
}

const struct guard_route *guard_route_at(const struct guard *guard, size_t index)
{
    for (size_t i = 0; i < guard->table_count; i++) {
        if (index < guard->tables[i].count)
            return &guard->tables[i].rows[index];
        index -= guard->tables[i].count;
    }
    return NULL;
}

void guard_refuse(struct http_exchange *exchange, int status, const char *code, const char *message)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_object(&writer, "error");
    json_write_text(&writer, "code", code);
    json_write_text(&writer, "message", message);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    http_reply(exchange, status, "application/json", out.bytes, out.used);
    text_release(&out);
}

/* Always returns false: the request goes no further. */
static bool refuse(const struct passage *passage, int status, const char *code, const char *message)
{
    guard_refuse(passage->exchange, status, code, message);
    return false;
}

static const char *header(const struct passage *passage, const char *name)
{
    return http_header(passage->exchange, name);
}

static const char *own_address(const struct passage *passage, char *out, size_t size)
{
    return http_own_address(passage->exchange, out, size) ? out : NULL;
}

static bool check_host(struct passage *passage)
{
    const struct http_virtual_host *virtual_host = http_virtual_host(passage->exchange);
    const char *host = header(passage, "host");
    char address[80];

    if (!virtual_host)
        return origin_is_our_host(host, http_port(passage->exchange)) ||
               refuse(passage, 403, "foreign_host",
                      "Host must be 127.0.0.1, [::1] or localhost with this port");
    /* a listener for other machines: no name of this machine's own is good there */
    return origin_is_host_of(virtual_host, own_address(passage, address, sizeof address), host) ||
           refuse(passage, 403, "foreign_host",
                  "Host must be that of the setting public_url, or the address of this hub");
}

static bool is_origin_ours(const struct passage *passage)
{
    const struct http_virtual_host *virtual_host = http_virtual_host(passage->exchange);
    const char *origin = header(passage, "origin");
    char address[80];

    return virtual_host
               ? origin_is_of(virtual_host, own_address(passage, address, sizeof address), origin)
               : origin_is_ours(origin, http_port(passage->exchange));
}

static bool check_origin(struct passage *passage)
{
    return (is_origin_ours(passage) &&
            origin_is_from_our_page(header(passage, "sec-fetch-site"))) ||
           refuse(passage, 403, "foreign_origin", "pages of other origins are not served");
}

/* What stands in an address is in histories and logs of others by then. */
static bool check_address(struct passage *passage)
{
    static const char *const names[] = { "token", "access_token" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (http_parameter(passage->exchange, names[i]))
            return refuse(passage, 400, "token_in_address",
                          "a token in an address is not taken: send Authorization: Bearer, and "
                          "revoke this one (sayso token revoke)");
    }
    return true;
}

static bool find_path(struct passage *passage)
{
    const struct guard *guard = passage->guard;
    const char *path = http_path(passage->exchange);

    for (size_t i = 0; i < guard->table_count; i++) {
        passage->table = &guard->tables[i];
        for (size_t k = 0; k < passage->table->count; k++) {
            passage->path_row = &passage->table->rows[k];
            if (route_matches(passage->path_row->path, path, &passage->values))
                return true;
        }
    }
    return false;
}

static bool check_path(struct passage *passage)
{
    return find_path(passage) || refuse(passage, 404, "not_found", "there is nothing at this path");
}

static bool method_serves(const struct guard_route *row, const char *method)
{
    return strcmp(row->method, method) == 0 ||
           (strcmp(row->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

/* Only looked up here, so that the token is judged by the right row; check_method speaks. */
static bool find_route(struct passage *passage)
{
    const char *method = http_method(passage->exchange);

    for (size_t i = 0; i < passage->table->count; i++) {
        const struct guard_route *row = &passage->table->rows[i];

        if (strcmp(row->path, passage->path_row->path) == 0 && method_serves(row, method)) {
            passage->route = row;
            break;
        }
    }
    return true;
}

uint64_t guard_owner(const uint8_t *hash)
{
    uint64_t owner;

    memcpy(&owner, hash, sizeof owner);
    return owner;
}

int64_t guard_note_guess(struct guard *guard, enum guard_side side)
{
    struct guesses *guesses = &guard->guesses[side];
    int64_t now_ms = loop_boot_ms();
    int64_t left_ms = guesses->bad_token_ms[guesses->oldest] + GUARD_BAD_TOKENS_MS - now_ms;

    if (left_ms > 0)
        return (left_ms + 999) / 1000;
    guesses->bad_token_ms[guesses->oldest] = now_ms;
    guesses->oldest = (guesses->oldest + 1) % GUARD_BAD_TOKENS;
    return 0;
}

bool guard_knows(struct guard *guard, enum guard_side side, const char *secret,
                 struct guard_identity *ret_who, int64_t *ret_retry_s)
{
    uint8_t hash[HASH_BYTES];

    *ret_retry_s = 0;
    token_hash(secret, hash);
    if (guard->options.find_token(guard->options.context, hash, ret_who))
        return true;
    *ret_retry_s = guard_note_guess(guard, side);
    return false;
}

static bool refuse_unknown(struct passage *passage, bool has_tried)
{
    enum guard_side side = http_virtual_host(passage->exchange) ? GUARD_PUBLIC : GUARD_LOCAL;
    int64_t left_s = has_tried ? guard_note_guess(passage->guard, side) : 0;

    /* Who holds a token is never shut out by those who guess: only guesses are slowed. */
    if (left_s > 0) {
        http_set_header(passage->exchange, "Retry-After", TEXT_NUMBER(left_s));
        return refuse(passage, 429, "rate_limited", "too many unknown tokens: try later");
    }
    http_set_header(passage->exchange, "WWW-Authenticate",
                    has_tried ? "Bearer realm=\"sayso\", error=\"invalid_token\""
                              : "Bearer realm=\"sayso\"");
    return refuse(passage, 401, "unauthorized",
                  "send Authorization: Bearer with a token of sayso token new");
}

static enum guard_access access_of(const struct passage *passage)
{
    return (passage->route ? passage->route : passage->path_row)->access;
}

static bool check_token(struct passage *passage)
{
    const struct guard_options *options = &passage->guard->options;
    const char *sent = header(passage, "authorization");
    const char *token = origin_bearer(sent);
    bool is_free = access_of(passage) == GUARD_AGENT && !http_virtual_host(passage->exchange) &&
                   !options->mcp_needs_token(options->context);
    uint8_t hash[HASH_BYTES];

    if (access_of(passage) == GUARD_OPEN)
        return true;
    if (token) {
        token_hash(token, hash);
        passage->has_token = options->find_token(options->context, hash, &passage->who);
        if (passage->has_token) {
            http_recognise(passage->exchange, guard_owner(hash));
        }
    }
    return passage->has_token || is_free || refuse_unknown(passage, sent != NULL);
}

/* Who is kept out, and what they are told. */
static bool check_role(struct passage *passage)
{
    const struct guard_identity *who = &passage->who;
    bool is_agent = who->is_agent || !passage->has_token;
    const struct {
        bool may_come;
        const char *message;
    } rows[] = {
        [GUARD_OPEN] = { true, NULL },
        [GUARD_ANYONE] = { true, NULL },
        [GUARD_AGENT] = { is_agent,
                          "people's tokens cannot ask: use an agent's (sayso token new)" },
        [GUARD_PERSON] = { who->is_person, "agents' tokens cannot answer: this is for people "
                                           "(sayso token new --kind person)" },
        [GUARD_HOST] = { who->is_host, "this is for the host of an agent "
                                       "(sayso token new --kind host)" },
        [GUARD_HOST_OR_PERSON] = { who->is_host || who->is_person,
                                   "agents' tokens have no conversations: this is for hosts and "
                                   "people (sayso token new --kind host)" },
        [GUARD_ANSWERER] = { who->is_person || (who->is_host && who->may_answer),
                             "this token cannot answer: use a person's (sayso token new --kind "
                             "person), or a host's that may (--kind host --may-answer)" },
    };
    enum guard_access access = access_of(passage);

    return rows[access].may_come || refuse(passage, 403, "wrong_role", rows[access].message);
}

static bool check_method(struct passage *passage)
{
    struct text allowed = { 0 };

    if (passage->route)
        return true;
    for (size_t i = 0; i < passage->table->count; i++) {
        const struct guard_route *row = &passage->table->rows[i];

        if (strcmp(row->path, passage->path_row->path) != 0)
            continue;
        text_add_format(&allowed, "%s%s", allowed.used ? ", " : "", row->method);
        if (strcmp(row->method, "GET") == 0)
            text_add_text(&allowed, ", HEAD");
    }
    http_set_header(passage->exchange, "Allow", text_string(&allowed));
    text_release(&allowed);
    return refuse(passage, 405, "method_not_allowed", "this path has other methods: see Allow");
}

/* -1: the length is not said, as with chunks. */
static int64_t body_length(const struct passage *passage)
{
    const char *said = header(passage, "content-length");
    int64_t length;

    if (header(passage, "transfer-encoding"))
        return -1;
    if (!said)
        return 0;
    return text_parse_integer(said, &length) ? length : INT64_MAX;
}

static bool check_type(struct passage *passage)
{
    const char *wanted = passage->route->body_type, *type = header(passage, "content-type");

    if (!wanted || origin_is_type(type, wanted) || (!type && body_length(passage) == 0))
        return true;
    return refuse(passage, 415, "unsupported_media_type",
                  "this path takes application/json; say so in Content-Type");
}

static bool check_size(struct passage *passage)
{
    if (body_length(passage) <= passage->route->body_bytes)
        return true;
    http_close_after(passage->exchange); /* what follows is not read */
    return refuse(passage, 413, "too_long", "the body is longer than this path takes");
}

/* The order of checks (docs/http.md): a foreign Host learns nothing, not even which paths exist. */
static bool (*const checks[])(struct passage *passage) = {
    check_host,  check_origin, check_address, check_path, find_route,
    check_token, check_role,   check_method,  check_type, check_size,
};

static bool pass(struct guard *guard, struct http_exchange *exchange, struct passage *ret_passage)
{
    *ret_passage = (struct passage){ .guard = guard, .exchange = exchange };
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (!checks[i](ret_passage))
            return false;
    }
    return true;
}

int64_t guard_admit(void *guard, struct http_exchange *exchange)
{
    struct passage passage;

    return pass(guard, exchange, &passage) ? passage.route->body_bytes : -1;
}

void guard_serve(void *guard, struct http_exchange *exchange)
{
    struct passage passage;
    struct guard_match match = { .who = &passage.who };

    if (!pass(guard, exchange, &passage))
        return;
    match.route = passage.route;
    for (size_t i = 0; i < ROUTE_VALUES; i++)
        match.values[i] = passage.values.of[i];
    passage.route->serve(passage.table->context, exchange, &match);
}

void guard_on_reply(void *guard, struct http_exchange *exchange, int status)
{
    struct guard *own = guard;
    struct passage passage = { .guard = own, .exchange = exchange };
    struct route_count *count = &own->other_replies;

    if (exchange && find_path(&passage) && find_route(&passage) && passage.route)
        count = &passage.table->replies[passage.route - passage.table->rows];
    count->of[status / 100 % ARRAY_LEN(count->of)]++;
}

static void write_counts(struct text *out, const char *method, const char *path,
                         const struct route_count *count)
{
    for (size_t i = 1; i < ARRAY_LEN(count->of); i++) {
        if (count->of[i] == 0)
            continue;
        text_add_format(out, "sayso_http_requests_total{method=\"%s\",route=", method);
        metrics_write_quoted(out, path);
        text_add_format(out, ",status=\"%zuxx\"} %lld\n", i, (long long)count->of[i]);
    }
}

void guard_write_metrics(const struct guard *guard, struct text *out)
{
    metrics_write_head(out, "sayso_http_requests_total", "counter",
                       "Replies by route and class of status.");
    for (size_t i = 0; i < guard->table_count; i++) {
        const struct route_table *table = &guard->tables[i];

        for (size_t k = 0; k < table->count; k++)
            write_counts(out, table->rows[k].method, table->rows[k].path, &table->replies[k]);
    }
    write_counts(out, "", "", &guard->other_replies);
}

static bool keep_value(struct route_values *values, size_t *at, const char *part, size_t length)
{
    if (*at == ROUTE_VALUES || length >= ROUTE_VALUE_BYTES)
        return false;
    memcpy(values->of[*at], part, length);
    values->of[(*at)++][length] = '\0';
    return true;
}

bool route_matches(const char *pattern, const char *path, struct route_values *ret_values)
{
    size_t at = 0;

    *ret_values = (struct route_values){ 0 };
    while (*pattern) {
        if (*pattern == '*' && !pattern[1])
            return keep_value(ret_values, &at, path, strlen(path));
        if (*pattern == '{') {
            size_t length = strcspn(path, "/");

            if (length == 0 || !keep_value(ret_values, &at, path, length))
                return false;
            path += length;
            pattern += strcspn(pattern, "}") + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return !*path;
}
