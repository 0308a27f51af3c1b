/*
 * conversation_events.c - what happened in a conversation, from any number on, and who is told that
 * there is more. A listener that was told reads on from the last event it has.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "engine/inside.h"
#include "engine/talk.h"

enum { EVENTS_USUAL = 32, EVENTS_MOST = 256, EVENTS_BYTES = 262144 };

void conversation_tell(struct engine *engine, const struct talk *talk)
{
    struct text line = { 0 };
    struct json_writer writer = json_writer_to(&line);

    if (engine->listener_count == 0)
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", "conversation/changed");
    json_write_object(&writer, "params");
    json_write_text(&writer, "conversation", talk->id);
    json_write_integer(&writer, "last_event", talk->last_event);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    for (struct visit *visit = engine->visits, *next; visit; visit = next) {
        next = visit->next;
        if (strcmp(visit->conversation, talk->id) == 0)
            visit_tell(visit, line.bytes, line.used);
    }
    text_release(&line);
}

struct hearing {
    struct saying saying; /* first */
    int64_t after, limit;
    struct text out;
    struct json_writer writer;
    int64_t first; /* number of the first event that was found; 0: none */
};

static void hearing_drop(struct errand *errand)
{
    text_release(&((struct hearing *)errand)->out);
    saying_drop(errand);
}

static void on_event(void *context, const struct store_conversation_event *event,
                     const struct error *failure)
{
    struct hearing *hearing = context;
    struct json_writer *writer = &hearing->writer;
    struct error err;

    if (event && hearing->out.used > EVENTS_BYTES && hearing->first)
        return; /* the rest comes with the next call */
    if (event) {
        hearing->first = hearing->first ? hearing->first : event->number;
        json_write_object(writer, NULL);
        json_write_integer(writer, "id", event->number);
        json_write_text(writer, "event", event->kind);
        json_write_raw(writer, "data", event->body);
        json_write_end_object(writer);
        return;
    }
    if (failure) {
        errand_fail(&hearing->saying.errand, failure, NULL);
        return;
    }
    if (hearing->after > 0 && hearing->after < hearing->saying.talk.last_event &&
        hearing->first != hearing->after + 1) {
        error_set(
            &err, ERROR_not_found, "/after",
            "events behind this one are no longer kept: look at the conversation, then listen "
            "from its last_event on");
        errand_fail(&hearing->saying.errand, &err, "{\"gone\":true}");
        return;
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
    errand_ok(&hearing->saying.errand, text_string(&hearing->out));
}

static void hear(struct errand *errand)
{
    struct hearing *hearing = (struct hearing *)errand;
    const struct talk *talk = &hearing->saying.talk;
    struct store *store = errand->engine->parts.store;

    if (hearing->after > talk->last_event) {
        errand_refuse(errand, ERROR_out_of_range, "/after", "the last event is number %lld",
                      (long long)talk->last_event);
        return;
    }
    hearing->writer = json_writer_to(&hearing->out);
    json_write_object(&hearing->writer, NULL);
    json_write_integer(&hearing->writer, "last_event", talk->last_event);
    json_write_list(&hearing->writer, "events");
    store->ops->list_conversation_events(store, talk->id, hearing->after, (size_t)hearing->limit,
                                         on_event, hearing);
}

void conversation_events_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                             desk_done *done, void *context)
{
    struct hearing *hearing = errand_new(sizeof *hearing, engine_of(desk), visit, done, context);
    struct errand *errand = &hearing->saying.errand;

    errand->drop = hearing_drop;
    hearing->after = json_member_integer(params, "after", 0);
    hearing->limit = json_member_integer(params, "limit", EVENTS_USUAL);
    if (hearing->limit < 1 || hearing->limit > EVENTS_MOST)
        hearing->limit = EVENTS_USUAL;
    saying_about(&hearing->saying, params, hear);
}

static void follow(struct errand *errand)
{
    struct visit *visit = errand->visit;

    errand->engine->listener_count += visit->conversation[0] == '\0';
    memcpy(visit->conversation, errand->id, sizeof visit->conversation);
    errand_ok(errand, "{}");
}

void conversation_follow_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                             desk_done *done, void *context)
{
    saying_about(saying_new(engine_of(desk), visit, done, context), params, follow);
}
