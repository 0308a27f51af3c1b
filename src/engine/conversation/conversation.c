/*
 * conversation.c - conversations of agent hosts (R3.4) at the desk: made, listed, looked at.
 * Nothing of one is kept here between two acts: the store's row is read, the machine of
 * core/conversation moves, and one conditional update on the version decides. A host sees its own,
 * people see all.
 */
#include "engine/conversation/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/limits.h"
#include "engine/describe.h"
#include "engine/state.h"

enum { LIST_USUAL = 50, LIST_MOST = 200 };

void talk_release(struct talk *talk)
{
    conversation_release(&talk->machine);
    free(talk->token_id);
    free(talk->label);
    *talk = (struct talk){ 0 };
}

bool talk_read(struct talk *talk, const struct store_conversation *stored, struct error *err)
{
    talk_release(talk);
    text_put(talk->id, sizeof talk->id, stored->id);
    text_put(talk->ask_id, sizeof talk->ask_id, stored->ask_id);
    text_put(talk->earlier_ask_id, sizeof talk->earlier_ask_id, stored->earlier_ask_id);
    text_put(talk->principal, sizeof talk->principal, stored->principal);
    talk->token_id = mem_text(stored->token_id);
    talk->label = mem_text(stored->label);
    talk->version = stored->version;
    talk->created_ms = stored->created_ms;
    talk->changed_ms = stored->changed_ms;
    talk->last_event = stored->last_event;
    return conversation_parse(stored->body, strlen(stored->body), &talk->machine, err);
}

bool talk_refuse_unknown(struct error *err)
{
    return error_set(err, ERROR_not_found, "/conversation", "no conversation has this id");
}

bool talk_read_id(const struct json *params, char *ret_id, struct error *err)
{
    const struct json *given = json_member(params, "conversation");
    const char *id = json_text(given);

    if (!id || strlen(id) != json_length(given) || !ask_id_is_valid(id))
        return talk_refuse_unknown(err);
    memcpy(ret_id, id, ASK_ID_BYTES);
    return true;
}

bool talk_is_seen_by(const struct talk *talk, const struct visit *visit)
{
    return visit->role == ROLE_PERSON || strcmp(visit->principal, talk->principal) == 0;
}

/* Where a person answers it. */
static void write_question(const struct engine *engine, const struct talk *talk,
                           struct json_writer *writer)
{
    struct text url = { 0 };

    json_write_text(writer, "session_id", talk->ask_id);
    if (portal_write_url(engine, talk->ask_id, &url))
        json_write_text(writer, "url", text_string(&url));
    text_release(&url);
}

void talk_write(const struct engine *engine, const struct talk *talk, struct json_writer *writer)
{
    json_write_text(writer, "conversation", talk->id);
    json_write_text(writer, "host", talk->label);
    json_write_bool(writer, "sub_agent", talk->machine.is_sub_agent);
    json_write_integer(writer, "version", talk->version);
    json_write_integer(writer, "last_event", talk->last_event);
    describe_time(writer, "created_at", talk->created_ms);
    describe_time(writer, "changed_at", talk->changed_ms);
    conversation_write_change(&talk->machine, writer, "state");
    if (talk->machine.state == CONVERSATION_AWAITING)
        write_question(engine, talk, writer);
    json_write_list(writer, "remaining");
    for (size_t i = 0; i < talk->machine.remaining_count; i++)
        json_write_text(writer, NULL, talk->machine.remaining[i].id);
    json_write_end_list(writer);
    json_write_list(writer, "persisted");
    for (size_t i = 0; i < talk->machine.persisted_count; i++)
        json_write_text(writer, NULL, talk->machine.persisted[i]);
    json_write_end_list(writer);
}

/* Making one */

static void on_found_again(void *context, const struct store_conversation *stored,
                           const struct error *err)
{
    struct saying *saying = context;
    struct error failure;

    if (stored && talk_read(&saying->talk, stored, &failure)) {
        saying_reply(saying, true);
        return;
    }
    if (!err && !stored) /* dropped between two looks */
        talk_refuse_unknown(&failure);
    errand_fail(&saying->errand, err ? err : &failure, NULL);
}

static void on_made(void *context, const struct store_reply *reply)
{
    struct saying *saying = context;
    struct engine *engine = saying->errand.engine;
    struct error err;

    switch (reply->outcome) {
    case STORE_DONE:
        saying->talk.last_event = reply->seq;
        saying_reply(saying, false);
        break;
    case STORE_REPEATED:
        engine->parts.store->ops->find_conversation(
            engine->parts.store, saying->errand.visit->principal,
            json_member_text(saying->body, "key"), on_found_again, saying);
        break;
    case STORE_FAILED:
        errand_fail(&saying->errand, &reply->err, NULL);
        break;
    default:
        error_set(&err, ERROR_rate_limited, "",
                  "this host has %d conversations and none is idle: end the turns of some first",
                  STORE_CONVERSATIONS);
        err.retry_after_s = 60;
        errand_fail(&saying->errand, &err, NULL);
        break;
    }
}

static bool check_new(const struct json *params, struct error *err)
{
    const struct json *sub_agent = json_member(params, "sub_agent");
    const struct json *key = json_member(params, "key");
    const char *text = json_text(key);

    if (sub_agent && json_kind(sub_agent) != KIND_BOOL)
        return error_set(err, ERROR_bad_type, "/sub_agent", "sub_agent is true or false");
    if (key && (!text || !*text || strlen(text) != json_length(key) ||
                strlen(text) > LIMIT_IDEMPOTENCY_KEY_BYTES))
        return error_set(err, ERROR_bad_format, "/key", "a key is a text of 1 to %d bytes",
                         LIMIT_IDEMPOTENCY_KEY_BYTES);
    return true;
}

static void save_new(struct saying *saying)
{
    struct engine *engine = saying->errand.engine;
    const struct visit *visit = saying->errand.visit;
    struct talk *talk = &saying->talk;
    struct text body = { 0 };
    struct store_new_conversation made = { .principal = { .id = visit->principal,
                                                          .kind = "token",
                                                          .uid = visit->uid,
                                                          .name = visit->name,
                                                          .place = visit->token },
                                           .events = text_string(&saying->events) };

    conversation_encode(&talk->machine, &body);
    made.conversation = (struct store_conversation){
        .id = talk->id,
        .principal = talk->principal,
        .token_id = talk->token_id,
        .label = talk->label,
        .state = conversation_state_name(talk->machine.state),
        .body = text_string(&body),
        .key = json_member_text(saying->body, "key"),
        .created_ms = talk->created_ms,
    };
    errand_begin_write(&saying->errand);
    store_write_conversation(engine->parts.store, &made, on_made, saying);
    text_release(&body);
}

void conversation_new_method(struct method_call call)
{
    struct saying *saying = saying_new(call);
    struct talk *talk = &saying->talk;
    struct json_writer writer;
    struct error err;

    if (!errand_may(&saying->errand, check_new(call.params, &err), &err))
        return;
    saying->body = json_keep(call.params);
    random_id(talk->id);
    memcpy(talk->principal, call.visit->principal, sizeof talk->principal);
    talk->token_id = mem_text(call.visit->token_id);
    talk->label = mem_text(call.visit->token);
    talk->version = 1;
    talk->created_ms = talk->changed_ms = engine_utc_ms(call.engine);
    talk->machine.is_sub_agent =
        call.visit->is_sub_agent || json_is_yes(json_member(call.params, "sub_agent"));
    writer = json_writer_to(&saying->events);
    text_add_text(&saying->events, "state_change ");
    conversation_write_change(&talk->machine, &writer, NULL);
    text_add_char(&saying->events, '\n');
    save_new(saying);
}

/* Looking */

void conversation_get_method(struct method_call call)
{
    saying_about(saying_new(call), call.params, saying_reply_loaded);
}

struct listing {
    struct writing writing; /* first */
    size_t limit, count;
    char last[ASK_ID_BYTES];
    bool has_more;
};

static void on_listed(void *context, const struct store_conversation *stored,
                      const struct error *err)
{
    struct listing *listing = context;
    struct talk talk = { 0 };

    if (stored && listing->count == listing->limit) {
        listing->has_more = true;
    } else if (stored) {
        listing->count++;
        text_put(listing->last, sizeof listing->last, stored->id);
        json_write_object(&listing->writing.writer, NULL);
        if (talk_read(&talk, stored, NULL))
            talk_write(listing->writing.errand.engine, &talk, &listing->writing.writer);
        json_write_end_object(&listing->writing.writer);
        talk_release(&talk);
    } else if (err) {
        errand_fail(&listing->writing.errand, err, NULL);
    } else {
        json_write_end_list(&listing->writing.writer);
        if (listing->has_more)
            json_write_text(&listing->writing.writer, "next", listing->last);
        writing_end(&listing->writing);
    }
}

void conversation_list_method(struct method_call call)
{
    struct listing *listing = writing_new(sizeof *listing, call);
    int64_t limit = json_member_integer(call.params, "limit", LIST_USUAL);
    struct store_conversation_query query = {
        .principal = call.visit->role == ROLE_PERSON ? NULL : call.visit->principal,
        .before_id = json_member_text(call.params, "before"),
    };

    if (limit < 1 || limit > LIST_MOST) {
        errand_refuse(&listing->writing.errand, ERROR_out_of_range, "/limit", "limit is 1 to %d",
                      LIST_MOST);
        return;
    }
    if (query.before_id && !ask_id_is_valid(query.before_id)) {
        errand_refuse(&listing->writing.errand, ERROR_bad_format, "/before",
                      "before is `next` of the page before");
        return;
    }
    listing->limit = (size_t)limit;
    query.limit = listing->limit + 1;
    json_write_list(&listing->writing.writer, "conversations");
    call.engine->parts.store->ops->list_conversations(call.engine->parts.store, &query, on_listed,
                                                      listing);
}

/*
 * What happened in a conversation, from any number on, and who is told that there is more. A
 * listener that was told reads on from the last event it has.
 */

enum { EVENTS_USUAL = 32, EVENTS_MOST = 256, EVENTS_BYTES = 262144 };

void conversation_tell(struct engine *engine, const struct talk *talk)
{
    struct text line = { 0 };
    struct json_writer writer;

    if (engine->listener_count == 0)
        return;
    writer = event_begin(&line, "conversation/changed");
    json_write_text(&writer, "conversation", talk->id);
    json_write_integer(&writer, "last_event", talk->last_event);
    event_end(&writer);
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
    hearing->writer = json_object_to(&hearing->out);
    json_write_integer(&hearing->writer, "last_event", talk->last_event);
    json_write_list(&hearing->writer, "events");
    store->ops->list_conversation_events(store, talk->id, hearing->after, (size_t)hearing->limit,
                                         on_event, hearing);
}

void conversation_events_method(struct method_call call)
{
    struct hearing *hearing = errand_new(sizeof *hearing, call);
    struct errand *errand = &hearing->saying.errand;

    errand->drop = hearing_drop;
    hearing->after = json_member_integer(call.params, "after", 0);
    hearing->limit = json_member_integer(call.params, "limit", EVENTS_USUAL);
    if (hearing->limit < 1 || hearing->limit > EVENTS_MOST)
        hearing->limit = EVENTS_USUAL;
    saying_about(&hearing->saying, call.params, hear);
}

static void follow(struct errand *errand)
{
    struct visit *visit = errand->visit;

    errand->engine->listener_count += visit->conversation[0] == '\0';
    memcpy(visit->conversation, errand->id, sizeof visit->conversation);
    errand_ok(errand, "{}");
}

void conversation_follow_method(struct method_call call)
{
    saying_about(saying_new(call), call.params, follow);
}
