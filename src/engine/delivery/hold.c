/*
 * hold.c - how long calls of a client are held, by what its giving up has taught: remembered by
 * its name, version and transport, for every connection of that client (R5.7).
 */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/ask.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"

/* The front keeps the limit itself where the hub is not there to. */
static void tell_hold(struct session *session)
{
    struct text line = { 0 };
    struct json_writer writer = event_begin(&line, "client/hold");
    int64_t hold_ms = client_timeout_hold_ms(session->cut_off_ms);

    json_write_integer(&writer, "hold_ms", hold_ms < 0 ? 0 : hold_ms);
    event_end(&writer);
    session->is_hold_told = true;
    session_send(session, line.bytes, line.used);
    text_release(&line);
}

void client_timeout_loaded(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct session *session = operation->session;

    if (reply->outcome == STORE_DONE &&
        session->cut_off_ms == 0) { /* else it has taught us since */
        session->cut_off_ms = reply->seq;
        wait_bound_session(operation->engine, session);
    }
    session_end_load(operation);
}

int64_t client_timeout_bound_ms(struct session *session, int64_t wait_ms)
{
    int64_t hold_ms = client_timeout_hold_ms(session->cut_off_ms);

    if (hold_ms < 0)
        return wait_ms;
    if (!session->is_hold_told)
        tell_hold(session);
    return wait_ms < 0 || wait_ms > hold_ms ? hold_ms : wait_ms;
}

struct lesson {
    struct operation operation; /* first */
    int64_t cut_off_ms;
};

static void on_learnt(void *context, const struct store_reply *reply)
{
    struct lesson *lesson = context;
    struct operation *operation = &lesson->operation;
    struct store_client client = session_client(operation->session);

    if (operation_fails(operation, reply))
        return;
    log_info("client.cut_off", "transport=%s cut_off_ms=%lld", client.transport,
             (long long)lesson->cut_off_ms);
    for (struct session *session = operation->engine->sessions; session; session = session->next) {
        if (!session_is_of(session, &client))
            continue;
        session->cut_off_ms = lesson->cut_off_ms;
        if (lesson->cut_off_ms > 0)
            tell_hold(session);
    }
    operation_ok(operation, "{}");
}

void client_cut_off_method(struct method_call call)
{
    struct lesson *lesson = operation_new(sizeof *lesson, call);
    const struct session *gave_up = call.session;
    struct store_client client = session_client(gave_up);
    int64_t held_ms = json_member_integer(call.params, "held_ms", 0);

    lesson->cut_off_ms = client_timeout_learn(gave_up->cut_off_ms, held_ms,
                                              json_is_true(json_member(call.params, "timed_out")));
    if (!client.transport || lesson->cut_off_ms == gave_up->cut_off_ms) {
        operation_ok(&lesson->operation, "{}");
        return;
    }
    operation_begin_write(&lesson->operation);
    store_write_client(call.engine->parts.store,
                       &(struct store_client_fact){ client, false, lesson->cut_off_ms }, on_learnt,
                       lesson);
}

void client_timeout_forget(struct engine *engine, store_done *done, struct operation *operation)
{
    for (struct session *session = engine->sessions; session; session = session->next) {
        session->cut_off_ms = 0;
        if (session->is_hold_told)
            tell_hold(session);
    }
    operation_begin_write(operation);
    store_write_client(engine->parts.store, &(struct store_client_fact){ 0 }, done, operation);
}

/* The state with which a client comes back for an ask that it cannot wait for any longer (R5.7), or
 * shows itself (R4.2): which ask, and how many times it came back. It is sealed for its principal
 * and for the very same call, so a state that opens names an ask of the one who brings it (B6).
 * Source: MCP 2026-07-28, basic/patterns/mrtr. */

/* Clients give a call up after ten rounds, and some count the first call as one. */
enum { RESUME_ROUNDS = 8 };

static const char purpose[] = "come_back";

/* Some put a long call aside and take its answer for hearsay, in however many rounds it came. */
bool resume_may(const struct engine *engine, const struct session *session, int round_trip)
{
    int64_t wish = engine_setting(engine, SETTING_COME_BACK);

    if (round_trip > RESUME_ROUNDS)
        return false;
    if (wish == COME_BACK_AUTO)
        return !known_client(session->name)->backgrounds_calls;
    return wish == COME_BACK_ON;
}

bool resume_seal(struct engine *engine, const uint8_t call_match[MATCH_BYTES], const char *id,
                 const struct round_trip *round_trip, struct text *out)
{
    const struct hash_part bound[] = {
        { purpose, strlen(purpose) },
        { call_match, MATCH_BYTES },
    };
    char *payload = mem_format("%s%d %d %d %lld", id, round_trip->number, round_trip->is_bad,
                               round_trip->is_url, (long long)round_trip->asked_ms);
    bool is_sealed =
        engine_seal(engine, bound, ARRAY_LEN(bound), (int64_t)LIMIT_TIMEOUT_S * 1000, payload, out);

    free(payload);
    return is_sealed;
}

bool resume_open(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                 const char *sealed, char *ret_id, struct round_trip *ret_round_trip)
{
    const struct hash_part bound[] = {
        { purpose, strlen(purpose) },
        { call_match, MATCH_BYTES },
    };
    struct text payload = { 0 };
    bool is_open =
        engine_unseal(engine, bound, ARRAY_LEN(bound), sealed, strlen(sealed), &payload) &&
        payload.used > LIMIT_ID_CHARS;

    if (is_open) {
        char *rest = payload.bytes + LIMIT_ID_CHARS;

        memcpy(ret_id, payload.bytes, LIMIT_ID_CHARS);
        ret_id[LIMIT_ID_CHARS] = '\0';
        ret_round_trip->number = (int)strtol(rest, &rest, 10);
        ret_round_trip->is_bad = strtol(rest, &rest, 10) != 0;
        ret_round_trip->is_url = strtol(rest, &rest, 10) != 0;
        ret_round_trip->asked_ms = strtoll(rest, &rest, 10);
    }
    text_release(&payload);
    return is_open;
}
