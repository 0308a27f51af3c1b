/* mcp_fixture.c - see mcp_fixture.h. */
#include "mcp_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/calls.h"

const char stage_ask[] =
    "{\"title\":\"Deploy\",\"prompt\":\"Release is built. Which target? Two are healthy.\","
    "\"selection_mode\":\"single\",\"options\":[{\"id\":\"a\",\"label\":\"Alpha\","
    "\"recommended\":true},{\"id\":\"b\",\"label\":\"Beta\"}]}";

struct session {
    void *context;
    void (*event)(void *context, const char *line, size_t length);
};

static struct stage *stage_of(struct service *service)
{
    return (struct stage *)(void *)((char *)service - offsetof(struct stage, service));
}

static int64_t boot_ms(struct clock *clock)
{
    return ((struct stage *)clock)->now_ms;
}

static void wake_at(struct clock *clock, int64_t at_ms)
{
    ((struct stage *)clock)->wake_ms = at_ms;
}

static struct session *enter(struct service *service, const struct identity *identity)
{
    struct session *session = mem_new(sizeof *session);

    (void)service;
    *session = (struct session){ identity->context, identity->event };
    return session;
}

static void leave(struct service *service, struct session *session)
{
    struct stage *stage = stage_of(service);
    size_t kept = 0;

    for (size_t i = 0; i < stage->act_count; i++) {
        if (stage->acts[i].session != session)
            stage->acts[kept++] = stage->acts[i];
    }
    stage->act_count = kept;
    free(session);
}

static void copy_json(const struct json *value, char *out, size_t size)
{
    char *json = value ? json_encode(value) : NULL;

    snprintf(out, size, "%s", json ? json : "");
    free(json);
}

static void park(struct service *service, struct session *session, const struct json *params,
                 reply_done *done, void *context)
{
    struct stage *stage = stage_of(service);
    struct stage_act *act = &stage->acts[stage->act_count++];
    const char *tag = json_member_text(params, "tag"), *id = json_member_text(params, "session_id");
    const char *state = json_member_text(params, "state");

    assert_true(stage->act_count <= STAGE_ACTS);
    *act = (struct stage_act){ .done = done, .context = context, .session = session };
    act->wait_s = json_member_integer(params, "wait_seconds", -1);
    snprintf(act->tag, sizeof act->tag, "%s", tag ? tag : "");
    snprintf(act->session_id, sizeof act->session_id, "%s", id ? id : "");
    act->resumes = json_is_true(json_member(params, "comes_back"));
    act->has_state = state != NULL;
    snprintf(act->state, sizeof act->state, "%s", state ? state : "");
    copy_json(json_member(params, "arguments"), act->arguments, sizeof act->arguments);
    copy_json(json_member(params, "client"), act->client, sizeof act->client);
    copy_json(json_member(params, "response"), act->response, sizeof act->response);
}

static void submit(struct service *service, struct session *session, const struct json *params,
                   reply_done *done, void *context)
{
    stage_of(service)->submits++;
    park(service, session, params, done, context);
}

static void wait_for(struct service *service, struct session *session, const struct json *params,
                     reply_done *done, void *context)
{
    stage_of(service)->waits++;
    park(service, session, params, done, context);
}

static void reply_nothing(reply_done *done, void *context)
{
    const struct reply reply = { .json = "{}" };

    done(context, &reply);
}

static void delivered(struct service *service, struct session *session, const struct json *params,
                      reply_done *done, void *context)
{
    (void)session;
    stage_of(service)->deliveries++;
    stage_of(service)->delivered += json_length(json_member(params, "session_ids"));
    reply_nothing(done, context);
}

/* As the hub does: what waits for it is told `pending` now. */
static void detach(struct service *service, struct session *session, const struct json *params,
                   reply_done *done, void *context)
{
    struct stage *stage = stage_of(service);
    const char *id = json_member_text(params, "session_id");

    stage->detaches++;
    snprintf(stage->detached, sizeof stage->detached, "%s", id);
    for (size_t i = stage->is_slow ? 0 : stage->act_count; i-- > 0;) {
        if (stage->acts[i].session == session && strcmp(stage->acts[i].session_id, id) == 0)
            stage_answer(stage, i, false);
    }
    reply_nothing(done, context);
}

static void cut_off(struct service *service, struct session *session, const struct json *params,
                    reply_done *done, void *context)
{
    (void)session;
    stage_of(service)->cut_offs++;
    stage_of(service)->held_ms = json_member_integer(params, "held_ms", -1);
    reply_nothing(done, context);
}

static void form_result(struct service *service, struct session *session, const struct json *params,
                        reply_done *done, void *context)
{
    struct stage *stage = stage_of(service);

    (void)session;
    stage->form_results++;
    copy_json(params, stage->form_told, sizeof stage->form_told);
    reply_nothing(done, context);
}

static void form_failed(struct service *service, struct session *session, const struct json *params,
                        reply_done *done, void *context)
{
    struct stage *stage = stage_of(service);

    (void)session;
    stage->form_failures++;
    copy_json(params, stage->form_told, sizeof stage->form_told);
    reply_nothing(done, context);
}

static void look(struct service *service, struct session *session, const struct json *params,
                 reply_done *done, void *context)
{
    stage_of(service)->looks++;
    park(service, session, params, done, context);
}

static void follow(struct service *service, struct session *session, const struct json *params,
                   reply_done *done, void *context)
{
    stage_of(service)->follows++;
    park(service, session, params, done, context);
}

static void call(struct service *service, struct session *session, const struct request *request,
                 reply_done *done, void *context)
{
    static void (*const handlers[METHOD_COUNT])(struct service *, struct session *,
                                                const struct json *, reply_done *, void *) = {
        [METHOD_ask_create] = submit,
        [METHOD_ask_wait] = wait_for,
        [METHOD_ask_delivered] = delivered,
        [METHOD_ask_detach] = detach,
        [METHOD_client_cut_off] = cut_off,
        [METHOD_client_result] = form_result,
        [METHOD_client_failed] = form_failed,
        [METHOD_mine_list] = look,
        [METHOD_mine_get] = look,
        [METHOD_mine_follow] = follow,
    };
    struct json *params = NULL;

    assert_true(json_parse(request->text->bytes, request->text->used, &params, NULL));
    if (methods[request->method].flags & METHOD_WAITS) { /* twice said, once meant */
        const char *tag = json_member_text(params, "tag");

        assert_int_equal(request->wait_ms, json_member_integer(params, "wait_seconds", -1) * 1000);
        assert_string_equal(request->tag ? request->tag : "", tag ? tag : "");
        assert_int_equal(request->is_bound, json_member(params, "state") != NULL);
    }
    handlers[request->method](service, session, params, done, context);
    json_free(params);
}

static const struct service_ops ops = { .open = enter, .close = leave, .call = call };

static int64_t fifty_s(void *context, const char *client_name, bool has_progress)
{
    (void)context;
    (void)client_name;
    (void)has_progress;
    return 50;
}

void stage_open(struct stage *stage, const struct mcp_parts *parts)
{
    struct mcp_parts all = parts ? *parts : (struct mcp_parts){ 0 };

    *stage = (struct stage){ .clock = { boot_ms, boot_ms, wake_at, 0 },
                             .service = { &ops },
                             .now_ms = 1000,
                             .wake_ms = -1 };
    all.service = &stage->service;
    all.clock = &stage->clock;
    all.max_calls = STAGE_ACTS;
    if (!all.hold_limit_s)
        all.hold_limit_s = fifty_s;
    stage->mcp = mcp_new(&all);
}

bool mcp_is_idle(const struct mcp *mcp)
{
    size_t uses = mcp->call_count;

    for (const struct hub_session *session = mcp->sessions; session; session = session->next)
        uses += session->uses - session->subscription_count;
    return uses == 0;
}

void stage_close(struct stage *stage)
{
    mcp_free(stage->mcp);
}

static void on_message(struct mcp_stream *mcp, const struct mcp_message *message)
{
    struct stage_stream *stream = (struct stage_stream *)mcp;

    assert_true(stream->count < STAGE_LINES);
    assert_int_equal(message->line[message->length - 1], '\n');
    stream->kinds[stream->count] = message->kind;
    stream->statuses[stream->count] = message->status;
    stream->lines[stream->count++] = mem_text_n(message->line, message->length - 1);
}

static void on_waits(struct mcp_stream *mcp)
{
    ((struct stage_stream *)mcp)->waits++;
}

static void on_finished(struct mcp_stream *mcp)
{
    ((struct stage_stream *)mcp)->finished++;
}

static void on_state(struct mcp_stream *mcp)
{
    struct stage_stream *stream = (struct stage_stream *)mcp;

    free(stream->state);
    stream->state = mcp_stream_state(mcp);
    stream->states++;
}

static const struct mcp_stream_ops stream_ops = {
    .message = on_message,
    .waits = on_waits,
    .finished = on_finished,
    .state = on_state,
};

void stage_stream_init(struct stage_stream *stream)
{
    *stream = (struct stage_stream){ .mcp = { .ops = &stream_ops } };
}

void stage_stream_release(struct stage_stream *stream)
{
    for (size_t i = 0; i < stream->count; i++)
        free(stream->lines[i]);
    free(stream->state);
    stage_stream_init(stream);
}

void stage_part(struct stage *stage, struct stage_stream *stream)
{
    mcp_drop(stage->mcp, &stream->mcp);
    stage_stream_release(stream);
}

void stage_take(struct stage *stage, struct stage_stream *stream, const char *line)
{
    mcp_take_line(stage->mcp, &stream->mcp, line, strlen(line));
}

void stage_take_http(struct stage *stage, struct stage_stream *stream,
                     const struct mcp_headers *headers, const char *line)
{
    struct json *value = NULL;

    assert_true(json_parse(line, strlen(line), &value, NULL));
    mcp_take_value(stage->mcp, &stream->mcp, headers, value);
    json_free(value);
}

void stage_shake_hands(struct stage *stage, const char *revision, const char *capabilities_json)
{
    struct stage_stream stream;
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                            "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                            "\"clientInfo\":{\"name\":\"stage\",\"version\":\"1\"}}}",
                            revision, capabilities_json);

    stage_stream_init(&stream);
    stage_take(stage, &stream, line);
    assert_int_equal(stream.count, 1);
    stage_stream_release(&stream);
    free(line);
}

void stage_name(struct stage *stage, size_t index, const char *session_id)
{
    stage_name_with(stage, index, session_id, NULL);
}

void stage_name_with(struct stage *stage, size_t index, const char *session_id, const char *state)
{
    struct stage_act *act = &stage->acts[index];
    char line[256];

    snprintf(act->session_id, sizeof act->session_id, "%s", session_id);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"ask/created\",\"params\":{\"tag\":\"%s\","
             "\"session_id\":\"%s\",\"remaining_ms\":90000%s%s%s}}",
             act->tag, session_id, state ? ",\"state\":\"" : "", state ? state : "",
             state ? "\"" : "");
    act->session->event(act->session->context, line, strlen(line));
}

void stage_tell(struct stage *stage, size_t index, const char *line)
{
    const struct session *session = stage->acts[index].session;

    session->event(session->context, line, strlen(line));
}

void stage_tell_hold(struct stage *stage, size_t index, int64_t hold_ms)
{
    char line[128];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"client/hold\",\"params\":{\"hold_ms\":%lld}}",
             (long long)hold_ms);
    stage_tell(stage, index, line);
}

static struct stage_act take_act(struct stage *stage, size_t index)
{
    struct stage_act act = stage->acts[index];

    memmove(&stage->acts[index], &stage->acts[index + 1],
            (--stage->act_count - index) * sizeof stage->acts[0]);
    return act;
}

void stage_reply(struct stage *stage, size_t index, const struct reply *reply)
{
    struct stage_act act = take_act(stage, index);

    act.done(act.context, reply);
}

void stage_refuse_state(struct stage *stage, size_t index)
{
    struct reply reply = { 0 };

    error_set(&reply.err, ERROR_bad_format, "/state", "no");
    stage_reply(stage, index, &reply);
}

void stage_answer(struct stage *stage, size_t index, bool is_final)
{
    struct stage_act act = stage->acts[index];
    char json[256];
    struct reply reply = { .json = json, .kind = is_final ? REPLY_FINAL : REPLY_PENDING };

    snprintf(json, sizeof json,
             "{\"action_status\":\"%s\",\"session_id\":\"%s\",\"selection\":{},\"explicit\":true}",
             is_final ? "selected" : "pending", act.session_id);
    reply.session_id = act.session_id;
    stage_reply(stage, index, &reply);
}

void stage_pass(struct stage *stage, int64_t ms)
{
    int64_t end_ms = stage->now_ms + ms;

    while (stage->wake_ms >= 0 && stage->wake_ms <= end_ms) {
        stage->now_ms = stage->wake_ms;
        stage->wake_ms = -1;
        mcp_on_time(stage->mcp);
    }
    stage->now_ms = end_ms;
}

struct json *stage_line(const struct stage_stream *stream, size_t index)
{
    struct json *value = NULL;

    assert_true(index < stream->count);
    assert_true(json_parse(stream->lines[index], strlen(stream->lines[index]), &value, NULL));
    return value;
}

char *stage_asked_id(const struct stage_stream *stream, size_t index)
{
    struct json *line = stage_line(stream, index);
    char *id = json_encode(json_member(line, "id"));

    assert_int_equal(stream->kinds[index], MCP_REQUEST);
    assert_string_equal(json_member_text(line, "method"), "elicitation/create");
    json_free(line);
    return id;
}

void stage_respond(struct stage *stage, struct stage_stream *stream, const char *id_json,
                   const char *rest)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id_json, rest);

    stage_take(stage, stream, line);
    free(line);
}
