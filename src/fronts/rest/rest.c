/* rest.c - see rest.h: the routes of the table at the guard, and the life of one exchange. */
#include "fronts/rest/rest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fronts/rest/inside.h"
#include "loop/loop.h"
#include "net/http.h"

enum { REST_BODY_BYTES = 1048576 };

static void end_call(struct call *call)
{
    struct desk *desk = call->rest->parts.desk;

    poll_unpark(call);
    listening_free(call->listening);
    if (call->visit)
        desk->ops->leave(desk, call->visit);
    free(call);
}

/* The peer left before it was replied to. What it decided is kept; a retry with its key finds it.
 */
static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    (void)exchange;
    if (fate == HTTP_ROOM)
        listening_go_on(context);
    else
        end_call(context);
}

void rest_call_reply(struct call *call, int status, const char *type, const char *body,
                     size_t length)
{
    http_on_fate(call->exchange, NULL, NULL); /* whether it arrives is the peer's business */
    http_reply(call->exchange, status, type, body, length);
    end_call(call);
}

struct desk_visit *rest_enter(struct rest *rest, struct desk_visitor *visitor)
{
    struct desk *desk = rest->parts.desk;

    visitor->role = ROLE_PERSON;
    visitor->via = "api";
    visitor->uid = -1;
    visitor->tty = "";
    visitor->name = "rest";
    return desk->ops->enter(desk, visitor);
}

bool rest_locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return http_peer(((struct call *)context)->exchange, ret_uid, ret_pid);
}

struct desk_visit *rest_call_visit(struct call *call)
{
    struct desk_visitor visitor = {
        .token = call->label, .token_id = call->token_id, .context = call, .locate = rest_locate
    };

    if (!call->visit)
        call->visit = rest_enter(call->rest, &visitor);
    return call->visit;
}

static void serve(void *context, struct http_exchange *exchange, const struct guard_match *match)
{
    struct rest *rest = context;
    struct call *call = mem_new(sizeof *call);

    call->rest = rest;
    call->exchange = exchange;
    call->operation = &operations[match->route - rest->routes];
    if (ask_id_is_valid(match->values[0]))
        memcpy(call->id, match->values[0], sizeof call->id);
    memcpy(call->label, match->who->label, sizeof call->label);
    memcpy(call->token_id, match->who->token, sizeof call->token_id);
    call->is_person = match->who->is_person;
    call->is_sub_agent = match->who->is_sub_agent;
    call->may_answer = match->who->may_answer;
    http_on_fate(exchange, on_fate, call);
    if (query_check(call))
        call->operation->serve(call);
}

struct rest *rest_new(const struct rest_parts *parts)
{
    struct rest *rest = mem_new(sizeof *rest);

    rest->parts = *parts;
    rest->polls = TABLE_OF(call, link, id);
    rest->timer = loop_timer_new(parts->loop, poll_ring, rest);
    rest->timer_ms = -1;
    rest->listening_timer = loop_timer_new(parts->loop, listenings_ring, rest);
    rest->began_ms = loop_boot_ms();
    rest->routes = mem_new(operation_count * sizeof *rest->routes);
    for (size_t i = 0; i < operation_count; i++)
        rest->routes[i] = (struct guard_route){
            .method = operations[i].method,
            .path = operations[i].path,
            .access = operations[i].access,
            .body_bytes = operations[i].body ? REST_BODY_BYTES : 0,
            .body_type = operations[i].body ? "application/json" : NULL,
            .serve = serve,
        };
    return rest;
}

void rest_free(struct rest *rest)
{
    if (!rest)
        return;
    loop_timer_free(rest->timer);
    loop_timer_free(rest->listening_timer);
    table_release(&rest->polls);
    text_release(&rest->document);
    free(rest->routes);
    free(rest);
}

void rest_add_routes(struct rest *rest, struct guard *guard)
{
    guard_add_routes(guard, rest->routes, operation_count, rest);
}
