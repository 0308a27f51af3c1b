/* asks.c - operations on asks: decisions, one ask, and lists. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "core/limits.h"
#include "http/rest/call.h"
#include "net/http.h"

/* Parameters and headers: known ones only, each once, each what its row says. */

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

static bool is_query(const struct call *call, unsigned parameter)
{
    return operation_takes(call->operation, parameter) &&
           strcmp(parameters[parameter].place, "query") == 0;
}

/* PARAMETER_COUNT: none */
static unsigned find_parameter(const struct call *call, const char *name, size_t length)
{
    unsigned at = 0;

    while (at < PARAMETER_COUNT && !(is_query(call, at) && strlen(parameters[at].name) == length &&
                                     strncmp(parameters[at].name, name, length) == 0))
        at++;
    return at;
}

static bool refuse_name(struct call *call, const char *name, size_t length, const char *why)
{
    char shown[48] = "", message[256];
    size_t used = 0;

    if (length < sizeof shown && strspn(name, plain) >= length)
        snprintf(shown, sizeof shown, "%.*s", (int)length, name);
    used = (size_t)snprintf(message, sizeof message, "%s; this path takes:", why);
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (is_query(call, i) && used < sizeof message)
            used +=
                (size_t)snprintf(message + used, sizeof message - used, " %s", parameters[i].name);
    }
    reply_bad_parameter(call, ERROR_unknown_property, shown[0] ? shown : NULL, message);
    return false;
}

bool query_check(struct call *call)
{
    const char *at = http_query(call->exchange);
    unsigned seen = 0;

    while (*at) {
        size_t length = strcspn(at, "&"), name_length = strcspn(at, "&=");
        unsigned found = find_parameter(call, at, name_length);

        if (found == PARAMETER_COUNT)
            return refuse_name(call, at, name_length, "a parameter is not known here");
        if (seen >> found & 1)
            return refuse_name(call, at, name_length, "a parameter stands twice");
        seen |= 1u << found;
        at += length;
        at += *at == '&';
    }
    return true;
}

bool query_integer(struct call *call, enum parameter_id id, int64_t fallback, int64_t *ret_number)
{
    const struct parameter *parameter = &parameters[id];
    const char *given = http_parameter(call->exchange, parameter->name);
    char message[96];

    *ret_number = fallback;
    if (!given || (text_parse_integer(given, ret_number) && *ret_number >= parameter->min &&
                   *ret_number <= parameter->max))
        return true;
    snprintf(message, sizeof message, "%s is a whole number, %" PRId64 " to %" PRId64,
             parameter->name, parameter->min, parameter->max);
    reply_bad_parameter(call, ERROR_out_of_range, parameter->name, message);
    return false;
}

/* "7" as in an ETag, weak or not; moves behind it. */
static bool read_etag(const char **at, bool may_be_weak, int64_t *ret_version)
{
    const char *text = *at, *end;
    char number[24];

    if (may_be_weak && strncmp(text, "W/", 2) == 0)
        text += 2;
    end = *text == '"' ? strchr(text + 1, '"') : NULL;
    if (!end || end - text - 1 >= (ptrdiff_t)sizeof number)
        return false;
    memcpy(number, text + 1, (size_t)(end - text - 1));
    number[end - text - 1] = '\0';
    *at = end + 1;
    return text_parse_integer(number, ret_version);
}

/* 0: any */
static bool query_if_match(struct call *call, int64_t *ret_version)
{
    const char *given = http_header(call->exchange, "if-match"), *at = given;

    *ret_version = 0;
    if (!given || strcmp(given, "*") == 0)
        return true;
    if (!read_etag(&at, false, ret_version) || *at) {
        reply_bad_parameter(call, ERROR_bad_format, "If-Match",
                            "If-Match is one ETag of the ask, as \"7\", or *");
        return false;
    }
    if (*ret_version < 1)
        *ret_version = -1; /* no ask was ever that; 0 would mean any */
    return true;
}

static bool query_knows(struct call *call, int64_t version)
{
    const char *at = http_header(call->exchange, "if-none-match");
    int64_t known;

    while (at && *at) {
        at += strspn(at, ", \t");
        if (*at == '*' || (read_etag(&at, true, &known) && known == version))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

/* NULL: none; borrowed */
static bool query_key(struct call *call, const char **ret_key)
{
    const char *key = http_header(call->exchange, "idempotency-key");
    size_t length = 0;

    *ret_key = key;
    if (!key)
        return true;
    while (key[length] > ' ' && key[length] < 0x7f)
        length++;
    if (key[length] == '\0' && length >= 1 && length <= LIMIT_IDEMPOTENCY_KEY_BYTES)
        return true;
    reply_bad_parameter(call, ERROR_bad_format, "Idempotency-Key",
                        "Idempotency-Key is 1 to 128 visible ASCII characters without blanks");
    return false;
}

static void add_encoded(struct text *out, const char *value)
{
    for (; *value; value++) {
        if (strchr(plain, *value))
            text_add_char(out, *value);
        else
            text_add_format(out, "%%%02X", (unsigned char)*value);
    }
}

/* the Link to the next page */
static void query_write_next(struct call *call, const char *cursor)
{
    struct text link = { 0 };

    text_add_format(&link, "<%s?before=", call->operation->path);
    add_encoded(&link, cursor);
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        const char *given = NULL;

        if (i != PARAMETER_BEFORE && is_query(call, i))
            given = http_parameter(call->exchange, parameters[i].name);
        if (!given)
            continue;
        text_add_format(&link, "&%s=", parameters[i].name);
        add_encoded(&link, given);
    }
    text_add_text(&link, ">; rel=\"next\"");
    http_set_header(call->exchange, "Link", text_string(&link));
    text_release(&link);
}

/* What a person does to an ask: the body, the path and the headers become the parameters of one
 * method; what comes of it is a receipt, or a refusal that says how the ask stands. */

/* A retry gets the receipt of the first time, byte for byte; that it is one stands in a header. */
static void write_receipt(struct text *out, const struct json *ack)
{
    struct json_writer writer = json_object_to(out);

    for (void *at = json_first(ack); at; at = json_next(ack, at)) {
        if (strcmp(json_key(at), "already") != 0)
            json_write_value(&writer, json_key(at), json_value(at));
    }
    json_write_end_object(&writer);
}

static void on_done(void *context, const struct reply *reply)
{
    struct call *call = context;
    struct text out = { 0 };
    struct json *ack = NULL;
    struct error err = reply->err;

    if (err.code != ERROR_NONE || !json_parse(reply->json, strlen(reply->json), &ack, &err)) {
        reply_error(call, &err, reply->err.code != ERROR_NONE ? reply->json : NULL);
        return;
    }
    write_receipt(&out, ack);
    reply_etag(call, json_member_integer(ack, "version", 0));
    if (json_is_true(json_member(ack, "already")))
        http_set_header(call->exchange, "Idempotency-Replayed", "true");
    json_free(ack);
    reply_json(call, 200, out.bytes, out.used);
    text_release(&out);
}

/* An empty body is an empty object, where nothing in it is needed. */
bool act_read_body(struct call *call, struct json **ret_body)
{
    size_t length;
    const char *bytes = http_body(call->exchange, &length);
    struct error err;

    if (length == 0) {
        bytes = "{}";
        length = 2;
    }
    *ret_body = NULL;
    if (json_parse(bytes, length, ret_body, &err) && json_check_range(*ret_body, &err) &&
        shape_check(call->operation->body, *ret_body, &err))
        return true;
    json_free(*ret_body);
    reply_error(call, &err, NULL);
    return false;
}

/* Before anything of the body is looked at: a condition that is not looked at must not seem so. */
bool act_read_conditions(struct call *call, int64_t *ret_version, const char **ret_key)
{
    *ret_version = 0;
    *ret_key = NULL;
    if (!operation_takes(call->operation, PARAMETER_IF_MATCH) &&
        http_header(call->exchange, "if-match")) {
        reply_bad_parameter(call, ERROR_unsupported_flag, "If-Match",
                            "this path knows no If-Match: leave it out");
        return false;
    }
    return query_if_match(call, ret_version) &&
           (!operation_takes(call->operation, PARAMETER_KEY) || query_key(call, ret_key));
}

void serve_act(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    struct json *body;
    const char *key;
    int64_t version;

    if (!call_knows_id(call) || !act_read_conditions(call, &version, &key) ||
        !act_read_body(call, &body))
        return;
    writer = json_object_to(&params);
    json_write_text(&writer, "session_id", call->id);
    if (version != 0)
        json_write_integer(&writer, "version", version);
    if (key) { /* a key is good for one ask: others may count from 1 too */
        char *own = mem_format("%s:%s", call->id, key);

        json_write_text(&writer, "answer_key", own);
        free(own);
    }
    for (void *at = json_first(body); at; at = json_next(body, at))
        json_write_value(&writer, json_key(at), json_value(at));
    json_free(body);
    rest_call_method(call, call->operation->calls, &writer, &params, on_done, call);
}

/* Lists, and one ask: immediately, or when it has changed. A look that waits is parked and taken
 * again when its ask changed, or when its time is over. */

static bool check_status(struct call *call)
{
    const char *given = http_parameter(call->exchange, "status");

    if (!given || strcmp(given, "all") == 0 || strcmp(given, "active") == 0 ||
        strcmp(given, "completed") == 0 || state_find(given) != STATE_NEW)
        return true;
    reply_bad_parameter(call, ERROR_bad_enum, "status",
                        "status is all, active, completed or a state: pending_terminal_launch, "
                        "pending, submitted, auto_submitted, cancelled, declined, timeout, "
                        "withdrawn");
    return false;
}

void look_listed(void *context, const struct reply *reply)
{
    struct call *call = context;
    struct json *list = NULL;
    const char *next;

    if (reply->err.code == ERROR_bad_format) {
        reply_bad_parameter(call, ERROR_bad_format, "before", reply->err.message);
        return;
    }
    if (reply->err.code != ERROR_NONE) {
        reply_error(call, &reply->err, reply->json);
        return;
    }
    if (json_parse(reply->json, strlen(reply->json), &list, NULL)) {
        next = json_member_text(list, "next");
        if (next)
            query_write_next(call, next);
    }
    json_free(list);
    reply_json(call, 200, reply->json, strlen(reply->json));
}

void serve_list(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    int64_t limit;

    if (!query_integer(call, PARAMETER_LIMIT, 0, &limit) || !check_status(call))
        return;
    writer = json_object_to(&params);
    json_write_text_if(&writer, "which", http_parameter(call->exchange, "status"));
    json_write_text_if(&writer, "agent", http_parameter(call->exchange, "agent"));
    json_write_text_if(&writer, "before", http_parameter(call->exchange, "before"));
    if (limit > 0)
        json_write_integer(&writer, "limit", limit);
    rest_call_method(call, METHOD_ask_list, &writer, &params, look_listed, call);
}

/*
 * Looks that wait. While there is one, a session of ours watches and hears of every change. What it
 * hears only marks the looks of that ask; rest_flush takes them again when no event is being told.
 * The session watches before the ask is read: the store may be far away, and what is told during
 * the read is not told again. One timer serves all of them.
 */

static void mark_due(struct call *call)
{
    if (call->is_due)
        return;
    call->is_due = true;
    call->next = call->rest->due;
    call->rest->due = call;
}

static void on_event(void *context, const char *line, size_t length)
{
    struct rest *rest = context;
    struct json *event = NULL;
    const struct json *ask;
    const char *id;
    char key[ASK_ID_BYTES] = "";

    if (!json_parse(line, length, &event, NULL))
        return;
    ask = json_member(json_member(event, "params"), "ask");
    id = json_member_text(ask, "session_id");
    if (id) {
        memcpy(key, id, strnlen(id, sizeof key - 1));
        for (struct table_link *link = table_find(&rest->polls, key); link;
             link = table_find_next(&rest->polls, link)) {
            struct call *call = TABLE_THING(call, link, link);

            if (call->is_reading)
                call->heard = json_member_integer(ask, "version", 0);
            else if (call->version != json_member_integer(ask, "version", 0))
                mark_due(call);
        }
    }
    json_free(event);
}

static void start_watching(struct rest *rest)
{
    struct service *service = rest->parts.service;
    struct identity identity = { .context = rest, .event = on_event };
    struct text one = { 0 };
    const struct request request = { .method = METHOD_ask_watch, .text = &one };

    if (rest->watcher)
        return;
    text_add_text(&one, "{\"limit\":1}");
    rest->watcher = rest_enter(rest, &identity);
    /* the list is not wanted: each look has seen its ask */
    service->ops->call(service, rest->watcher, &request, reply_ignore, NULL);
    text_release(&one);
}

static void arm(struct rest *rest, int64_t boot_ms)
{
    if (rest->timer_ms >= 0 && rest->timer_ms <= boot_ms)
        return;
    rest->timer_ms = boot_ms;
    loop_timer_at(rest->timer, boot_ms);
}

void poll_watch(struct call *call)
{
    call->is_reading = true;
    call->heard = 0;
    call->is_watched = true;
    table_insert(&call->rest->polls, &call->link);
    start_watching(call->rest);
}

void poll_park(struct call *call)
{
    struct rest *rest = call->rest;

    arm(rest, call->until_ms);
    if (rest->is_draining || (call->heard && call->heard != call->version))
        mark_due(call);
}

void poll_unpark(struct call *call)
{
    if (call->is_due) {
        struct call **at = &call->rest->due;

        while (*at != call)
            at = &(*at)->next;
        *at = call->next;
        call->is_due = false;
    }
    if (call->is_watched)
        table_remove(&call->rest->polls, &call->link);
    call->is_watched = false;
}

/* Some time is over; the others' next end is looked for. */
void poll_on_timer(void *context)
{
    struct rest *rest = context;
    struct table_link *link = NULL;
    int64_t now_ms = loop_boot_ms(), next_ms = -1;

    rest->timer_ms = -1;
    while ((link = table_each(&rest->polls, link))) {
        struct call *call = TABLE_THING(call, link, link);

        if (call->is_reading)
            continue; /* looks at the time itself */
        if (call->until_ms <= now_ms)
            mark_due(call);
        else if (next_ms < 0 || call->until_ms < next_ms)
            next_ms = call->until_ms;
    }
    if (next_ms >= 0)
        arm(rest, next_ms);
}

static void on_looked(void *context, const struct reply *reply)
{
    struct call *call = context;
    struct json *whole = NULL;
    const struct json *ask;
    const char *status;
    int64_t version;
    bool is_open;

    call->is_reading = false;
    if (reply->err.code != ERROR_NONE ||
        !json_parse(reply->json, strlen(reply->json), &whole, NULL)) {
        reply_error(call, &reply->err, NULL);
        return;
    }
    ask = json_member(whole, "ask");
    version = json_member_integer(ask, "version", 0);
    status = json_member_text(ask, "status");
    is_open = status && state_is_open(state_find(status));
    json_free(whole);
    /* the first look says what it is to change from */
    if (call->version == 0 && (call->has_known ? query_knows(call, version) : is_open))
        call->version = version;
    if (call->may_wait && version == call->version && loop_boot_ms() < call->until_ms) {
        poll_park(call);
        return;
    }
    reply_etag(call, version);
    if (query_knows(call, version))
        rest_call_reply(call, 304, NULL, NULL, 0);
    else
        reply_json(call, 200, reply->json, strlen(reply->json));
}

static void look_again(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    if (call->may_wait)
        poll_watch(call);
    json_write_text(&writer, "session_id", call->id);
    rest_call_method(call, METHOD_ask_get, &writer, &params, on_looked, call);
}

void serve_look(struct call *call)
{
    int64_t wait_s;

    if (!query_integer(call, PARAMETER_WAIT, 0, &wait_s) || !call_knows_id(call))
        return;
    call->may_wait = wait_s > 0;
    call->until_ms = loop_boot_ms() + wait_s * 1000;
    call->has_known = http_header(call->exchange, "if-none-match") != NULL;
    look_again(call);
}

void rest_flush(struct rest *rest)
{
    struct error leaving;

    while (rest->due) {
        struct call *call = rest->due;

        poll_unpark(call);
        if (rest->is_draining) {
            error_set(&leaving, ERROR_unavailable, "", "the hub is about to end: ask again");
            reply_error(call, &leaving, NULL);
        } else {
            look_again(call);
        }
    }
    listenings_flush(rest);
    if (rest->watcher && rest->polls.count == 0) {
        rest->parts.service->ops->close(rest->parts.service, rest->watcher);
        rest->watcher = NULL;
    }
}

void rest_drain(struct rest *rest)
{
    struct table_link *link = NULL;

    rest->is_draining = true;
    listenings_drain(rest);
    while ((link = table_each(&rest->polls, link))) {
        struct call *call = TABLE_THING(call, link, link);

        if (!call->is_reading)
            mark_due(call);
    }
}
