/*
 * poll.c - looks that wait. While there is one, a watcher of ours stands at the desk and hears of
 * every change; what it hears only marks the looks of that ask, and rest_flush takes them again
 * when nobody is in the middle of telling. Who may wait is watched for before his ask is read: the
 * store may be far away, and what is told while it reads is not told again. One timer serves all of
 * them.
 */
#include <string.h>

#include "base/json.h"
#include "base/loop.h"
#include "http/rest/call.h"

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

static void on_watching(void *context, const struct desk_reply *reply)
{
    (void)context;
    (void)reply; /* the list is not wanted: each look has seen its ask */
}

static void start_watching(struct rest *rest)
{
    struct desk *desk = rest->parts.desk;
    struct desk_visitor visitor = { .context = rest, .event = on_event };
    struct text one = { 0 };
    const struct request request = { .method = METHOD_ask_watch, .text = &one };

    if (rest->watcher)
        return;
    text_add_text(&one, "{\"limit\":1}");
    rest->watcher = rest_enter(rest, &visitor);
    desk->ops->call(desk, rest->watcher, &request, on_watching, NULL);
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
void poll_ring(void *context)
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

static void turn_away(struct call *call)
{
    struct error err;

    error_set(&err, ERROR_unavailable, "", "the hub is about to end: ask again");
    reply_error(call, &err, NULL);
}

void rest_flush(struct rest *rest)
{
    while (rest->due) {
        struct call *call = rest->due;

        poll_unpark(call);
        if (rest->is_draining)
            turn_away(call);
        else
            look_again(call);
    }
    listenings_flush(rest);
    if (rest->watcher && rest->polls.count == 0) {
        rest->parts.desk->ops->close(rest->parts.desk, rest->watcher);
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
