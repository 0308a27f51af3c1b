/*
 * person.c - people at a terminal (with an undo window) and at the command line (without): they
 * list, answer, cancel, decline, take back, draft, extend, and say the same again where a reply
 * was lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "net.h"
#include "world.h"

static const char *name_of(const struct person *person)
{
    return person->number ? "person1(terminal)" : "person0(cli)";
}

void person_begin(struct person *person, int number)
{
    *person = (struct person){ .number = number };
}

static struct person_request *request_new(struct person *person, const char *method)
{
    for (int i = 0; i < REQUESTS_MAX; i++) {
        struct person_request *request = &person->requests[i];

        if (!request->method) {
            *request = (struct person_request){ .method = method,
                                                .id = person->client.next_id,
                                                .sent_at = world.step,
                                                .sent_ms = times.boot_ms };
            return request;
        }
    }
    return NULL;
}

/* One that may be open, mostly; what is over must be refused. */
static struct ask_seen *draw_ask(void)
{
    size_t start = draw_below(&world.seed, (unsigned)observer.ask_count);
    bool is_any = draw_chance(&world.seed, 1, 8);

    for (size_t i = 0; i < observer.ask_count; i++) {
        struct ask_seen *ask = &observer.asks[(start + i) % observer.ask_count];

        if (is_any || ask->ending == END_NONE)
            return ask;
    }
    return NULL;
}

void person_list(struct person *person, bool is_last)
{
    struct person_request *request = request_new(person, is_last ? "last" : "ask/list");

    if (request)
        client_send(&person->client, name_of(person), "ask/list",
                    "{\"which\":\"active\",\"limit\":200}");
}

static void send_act(struct person *person, struct act_seen *act)
{
    static const char *const methods[] = { "ask/answer", "ask/cancel", "ask/decline" };
    static const char *const values[CALLS] = {
        "\"selected_ids\":[\"La\"],\"custom_input\":\"N:%d\"",
        "\"custom_input\":\"N:%d\"",
        "\"fields\":{\"input\":\"N:%d\"}",
    };
    struct person_request *request = request_new(person, methods[act->kind]);
    char value[200];

    if (!request)
        return;
    request->act = act;
    act->tries++;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(value, sizeof value,
             act->kind == ACT_ANSWER ? values[act->ask->call] : "\"global_annotation\":\"N:%d\"",
             act->nonce);
#pragma GCC diagnostic pop
    client_send(&person->client, name_of(person), methods[act->kind],
                "{\"session_id\":\"%s\",%s,\"answer_key\":\"K%d\"}", act->ask->id, value,
                act->nonce);
}

static bool decide(struct person *person, enum act_kind kind)
{
    struct ask_seen *ask = draw_ask();
    struct act_seen *act = ask ? observer_on_act(ask, kind) : NULL;

    if (act)
        send_act(person, act);
    return act != NULL;
}

static struct act_seen *draw_act(bool (*fits)(const struct act_seen *act))
{
    size_t start = draw_below(&world.seed, (unsigned)observer.act_count);

    for (size_t i = 0; i < observer.act_count; i++) {
        struct act_seen *act = &observer.acts[(start + i) % observer.act_count];

        if (fits(act))
            return act;
    }
    return NULL;
}

static bool is_unsure(const struct act_seen *act)
{
    return act->fate == FATE_UNKNOWN && act->tries > 0;
}

static bool repeat(struct person *person)
{
    struct act_seen *act = draw_act(is_unsure);

    if (act)
        send_act(person, act);
    return act != NULL;
}

static bool can_undo(const struct act_seen *act)
{
    return act->fate == FATE_ACKNOWLEDGED && act->undo_ms > 0 && !act->is_undoing &&
           times.boot_ms < act->acknowledged_ms + act->undo_ms + 1000;
}

static bool undo(struct person *person)
{
    struct act_seen *act = draw_act(can_undo);
    struct person_request *request = act ? request_new(person, "ask/undo") : NULL;

    if (!request)
        return false;
    request->act = act;
    observer_on_undoing(act);
    client_send(&person->client, name_of(person), "ask/undo", "{\"session_id\":\"%s\"}",
                act->ask->id);
    return true;
}

static bool send_now(struct person *person)
{
    struct act_seen *act = draw_act(can_undo);

    if (act && request_new(person, "ask/send"))
        client_send(&person->client, name_of(person), "ask/send", "{\"session_id\":\"%s\"}",
                    act->ask->id);
    return act != NULL;
}

static bool extend(struct person *person)
{
    static const int64_t seconds[] = { 5, 60, 1000, 9000 };
    struct ask_seen *ask = draw_ask();
    struct person_request *request = ask ? request_new(person, "ask/extend") : NULL;

    if (!request)
        return false;
    request->ask = ask;
    request->ms = seconds[draw_below(&world.seed, 4)] * 1000;
    observer_on_retiming(ask, request->ms);
    client_send(&person->client, name_of(person), "ask/extend",
                "{\"session_id\":\"%s\",\"seconds\":%lld}", ask->id, (long long)request->ms / 1000);
    return true;
}

static bool draft(struct person *person)
{
    struct ask_seen *ask = draw_ask();

    if (!ask || !request_new(person, "ask/draft"))
        return false;
    ask->is_retimed = true; /* while a person types the deadline stays away */
    client_send(&person->client, name_of(person), "ask/draft",
                "{\"session_id\":\"%s\",\"draft\":{\"selected_ids\":[\"Lb\"],\"custom_input\":"
                "\"D:%u\"}}",
                ask->id, ++world.drafts);
    return true;
}

static bool ask_back(struct person *person)
{
    struct ask_seen *ask = draw_ask();

    if (!ask || !request_new(person, "ask/back"))
        return false;
    ask->is_retimed = true;
    client_send(&person->client, name_of(person), "ask/back",
                "{\"session_id\":\"%s\",\"text\":\"Why?\"}", ask->id);
    return true;
}

static bool come(struct person *person)
{
    char hello[80];

    snprintf(hello, sizeof hello, "\"role\":\"person\",\"channel\":\"%s\"",
             person->number ? "terminal" : "cli");
    return client_connect(&person->client, 6000000 + person->number, name_of(person), hello);
}

bool person_act(struct person *person)
{
    unsigned what = draw_below(&world.seed, 24);

    if (!person->client.cable)
        return come(person);
    if (what < 8)
        return decide(person, ACT_ANSWER);
    if (what < 12) {
        person_list(person, false);
        return true;
    }
    if (what < 14)
        return undo(person) || repeat(person);
    switch (what) {
    case 14:
        return decide(person, ACT_CANCEL);
    case 15:
        return decide(person, ACT_DECLINE);
    case 16:
    case 17:
        return extend(person);
    case 18:
        return draft(person);
    case 19:
        return send_now(person);
    case 20:
        return ask_back(person);
    case 21:
        client_drop(&person->client, name_of(person));
        person_lose(person);
        return true;
    default:
        return repeat(person) || decide(person, ACT_ANSWER);
    }
}

void person_lose(struct person *person)
{
    for (int i = 0; i < REQUESTS_MAX; i++) {
        const struct person_request *request = &person->requests[i];

        if (request->method && request->ask && strcmp(request->method, "ask/extend") == 0)
            request->ask->retimes_open += 1000; /* never known: the deadline is not relied on */
    }
    memset(person->requests, 0, sizeof person->requests);
    person->client = (struct client){ 0 };
}

static void take_reply(const struct person_request *request, const struct json *json)
{
    const struct json *result = json_member(json, "result");

    if (strcmp(request->method, "ask/list") == 0 || strcmp(request->method, "last") == 0)
        observer_on_list(json_member(result, "asks"), request->sent_at, request->sent_ms,
                         strcmp(request->method, "last") == 0);
    else if (strcmp(request->method, "ask/undo") == 0)
        observer_on_undone(request->act, result != NULL);
    else if (strcmp(request->method, "ask/extend") == 0)
        observer_on_retimed(request->ask, request->sent_ms, request->ms, result != NULL);
    else if (request->act)
        observer_on_acted(request->act, json);
}

void person_take(struct person *person, const struct json *json)
{
    int64_t id = json_member_integer(json, "id", -1);

    for (int i = 0; i < REQUESTS_MAX; i++) {
        struct person_request *request = &person->requests[i];

        if (request->method && request->id == id && !json_member(json, "method")) {
            take_reply(request, json);
            request->method = NULL;
        }
    }
}
