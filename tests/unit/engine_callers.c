/* engine_callers.c - who stands at the stage's service, what they do and what they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"

void stage_note(struct stage *stage, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (stage->note_count < STAGE_NOTES &&
        vasprintf(&stage->notes[stage->note_count], format, arguments) >= 0)
        stage->note_count++;
    va_end(arguments);
}

int stage_place(const struct stage *stage, const char *note)
{
    for (size_t i = 0; i < stage->note_count; i++) {
        if (strcmp(stage->notes[i], note) == 0)
            return (int)i;
    }
    return -1;
}

int stage_count(const struct stage *stage, const char *note)
{
    int count = 0;

    for (size_t i = 0; i < stage->note_count; i++)
        count += strcmp(stage->notes[i], note) == 0;
    return count;
}

void stage_forget(struct stage *stage)
{
    while (stage->note_count > 0)
        free(stage->notes[--stage->note_count]);
}

struct identity visitor_agent(const char *name)
{
    return (struct identity){
        .role = ROLE_AGENT,
        .via = "cli",
        .uid = 1000,
        .pid = 1,
        .tty = "",
        .name = name,
        .version = "1.0",
        .directory = "/home/me/shop",
    };
}

struct identity visitor_person(const char *via)
{
    return (struct identity){
        .role = ROLE_PERSON, .via = via, .uid = 1000, .pid = 1, .tty = "", .name = "sayso"
    };
}

static void on_event(void *context, const char *line, size_t length)
{
    struct caller *caller = context;
    struct json *parsed = NULL;

    assert_true(json_parse(line, length, &parsed, NULL)); /* one whole message a line */
    stage_note(caller->stage, "%s heard %s", caller->name, json_member_text(parsed, "method"));
    json_free(parsed);
    text_add(&caller->lines, line, length);
    text_add_char(&caller->lines, '\n');
    caller->line_count++;
}

struct caller *caller_enter(struct stage *stage, const char *name, const struct identity *identity)
{
    struct identity entering = *identity;
    struct caller *caller = mem_new(sizeof *caller);

    *caller = (struct caller){ .next = stage->callers, .stage = stage, .name = name };
    entering.context = caller;
    entering.event = on_event;
    caller->session = stage->service->ops->open(stage->service, &entering);
    stage->callers = caller;
    return caller;
}

void caller_leave(struct caller *caller)
{
    if (caller->session)
        caller->stage->service->ops->close(caller->stage->service, caller->session);
    caller->session = NULL;
}

void callers_release(struct stage *stage)
{
    while (stage->callers) {
        struct caller *caller = stage->callers;

        stage->callers = caller->next;
        text_release(&caller->lines);
        free(caller);
    }
}

void caller_forget(struct caller *caller)
{
    text_clear(&caller->lines);
    caller->line_count = 0;
}

/* Calls for each line; the newest with this method is kept. */
static size_t read_lines(const struct caller *caller, const char *method, struct json **ret_newest)
{
    const char *line = text_string(&caller->lines), *behind = line + caller->lines.used;
    size_t count = 0;

    for (const char *end; (end = memchr(line, '\n', (size_t)(behind - line))); line = end + 1) {
        struct json *parsed = NULL;

        assert_true(json_parse(line, (size_t)(end - line), &parsed, NULL));
        if (strcmp(json_member_text(parsed, "method"), method) != 0) {
            json_free(parsed);
            continue;
        }
        count++;
        json_free(*ret_newest);
        *ret_newest = parsed;
    }
    return count;
}

struct json *caller_event(const struct caller *caller, const char *method)
{
    struct json *newest = NULL;

    read_lines(caller, method, &newest);
    return newest;
}

size_t caller_count(const struct caller *caller, const char *method)
{
    struct json *newest = NULL;
    size_t count = read_lines(caller, method, &newest);

    json_free(newest);
    return count;
}

static void on_done(void *context, const struct reply *reply)
{
    struct call *call = context;

    call->replies++;
    call->err = reply->err;
    call->kind = reply->kind;
    call->is_final = reply->kind == REPLY_FINAL;
    snprintf(call->session_id, sizeof call->session_id, "%s",
             reply->session_id ? reply->session_id : "");
    json_free(call->json);
    call->json = NULL;
    if (reply->json)
        assert_true(json_parse(reply->json, strlen(reply->json), &call->json, NULL));
    stage_note(call->stage, "%s %s", call->label ? call->label : "call",
               reply->err.code == ERROR_NONE ? "succeeded" : "failed");
    if (call->leaves)
        caller_leave(call->leaves);
}

static void start(struct call *call, struct caller *caller, enum method act, const char *format,
                  va_list arguments)
{
    struct request request = { .method = act };
    struct json *params = NULL;
    struct error err;
    char *text;

    assert_true(vasprintf(&text, format, arguments) >= 0);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (!json_parse(text, strlen(text), &params, &err))
        fail_msg("%s: %s", text, err.message);
    free(text);
    json_free(call->json);
    request.params = params;
    *call = (struct call){ .stage = caller->stage, .label = call->label, .leaves = call->leaves };
    caller->stage->service->ops->call(caller->stage->service, caller->session, &request, on_done,
                                      call);
    json_free(params); /* the engine only borrows them */
}

void call_start(struct call *call, struct caller *caller, enum method act, const char *params, ...)
{
    va_list arguments;

    va_start(arguments, params);
    start(call, caller, act, params, arguments);
    va_end(arguments);
}

void call_run(struct call *call, struct caller *caller, enum method act, const char *params, ...)
{
    va_list arguments;

    va_start(arguments, params);
    start(call, caller, act, params, arguments);
    va_end(arguments);
    stage_settle(caller->stage);
    assert_int_equal(call->replies, 1);
}

void call_release(struct call *call)
{
    json_free(call->json);
    call->json = NULL;
}

const struct json *json_at(const struct json *root, const char *pointer)
{
    char name[64];

    while (*pointer && root) {
        size_t length = strcspn(++pointer, "/");

        snprintf(name, sizeof name, "%.*s", (int)length, pointer);
        root = json_kind(root) == KIND_LIST ? json_item(root, strtoul(name, NULL, 10))
                                            : json_member(root, name);
        pointer += length;
    }
    return root;
}

const char *call_text(const struct call *call, const char *pointer)
{
    const char *text = json_text(json_at(call->json, pointer));

    return text ? text : "";
}

int64_t call_number(const struct call *call, const char *pointer)
{
    int64_t number;

    return json_integer_of(json_at(call->json, pointer), &number) ? number : -1;
}

bool call_is_yes(const struct call *call, const char *pointer)
{
    return json_is_true(json_at(call->json, pointer));
}

void assert_failed(const struct call *call, enum error_code code, const char *path)
{
    assert_int_equal(call->replies, 1);
    assert_string_equal(error_name(call->err.code), error_name(code));
    assert_string_equal(call->err.path, path);
    assert_true(call->err.message[0] != '\0');
}

void assert_worked(const struct call *call)
{
    assert_int_equal(call->replies, 1);
    if (call->err.code != ERROR_NONE)
        fail_msg("%s at '%s': %s", error_name(call->err.code), call->err.path, call->err.message);
}

void ask_start(struct call *call, struct caller *agent, const char *title, const char *more,
               int wait_s)
{
    call_start(call, agent, METHOD_ask_create,
               "{'tool':'provide_choice','wait_seconds':%d,'tag':'%s','arguments':{'title':'%s',"
               "'prompt':'Two versions are ready, one must go out today.','selection_mode':"
               "'single','options':[{'id':'a','label':'Alpha','recommended':true},{'id':'b',"
               "'label':'Beta'}]%s}}",
               wait_s, title, title, more);
}

void ask_open(struct call *call, struct caller *agent, const char *title, const char *more,
              char out[ASK_ID_BYTES])
{
    struct json *created;

    ask_start(call, agent, title, more, -1);
    stage_settle(agent->stage);
    if (call->replies)
        fail_msg("%s at %s", call->err.message, call->err.path);
    created = caller_event(agent, "ask/created");
    assert_non_null(created);
    assert_string_equal(json_text(json_at(created, "/params/tag")), title);
    snprintf(out, ASK_ID_BYTES, "%s", json_text(json_at(created, "/params/session_id")));
    json_free(created);
}

/* The same question would get the last one's answer. */
static void scene_enter(struct scene *scene, void **state, const char *via, char title[32])
{
    struct identity agent = visitor_agent("bot"), person = visitor_person(via);
    static int number;

    *scene =
        (struct scene){ .stage = *state, .asked = { .label = "ask" }, .did = { .label = "act" } };
    scene->agent = caller_enter(scene->stage, "agent", &agent);
    scene->person = caller_enter(scene->stage, "person", &person);
    snprintf(title, 32, "Deploy %d", ++number);
}

void scene_open(struct scene *scene, void **state, const char *via, const char *more)
{
    char title[32];

    scene_enter(scene, state, via, title);
    ask_open(&scene->asked, scene->agent, title, more, scene->id);
}

void scene_open_handed(struct scene *scene, void **state, const char *more)
{
    char title[32], arguments[256];

    scene_enter(scene, state, "terminal", title);
    snprintf(arguments, sizeof arguments, ",'interface':'terminal'%s", more);
    ask_start(&scene->asked, scene->agent, title, arguments, -1);
    stage_settle(scene->stage);
    assert_worked(&scene->asked);
    snprintf(scene->id, sizeof scene->id, "%s", call_text(&scene->asked, "/session_id"));
}

void scene_close(struct scene *scene)
{
    call_release(&scene->asked);
    call_release(&scene->did);
    caller_leave(scene->agent);
    caller_leave(scene->person);
}

void scene_do(struct scene *scene, enum method act, const char *more)
{
    call_run(&scene->did, scene->person, act, "{'session_id':'%s'%s}", scene->id, more);
}

void scene_answer(struct scene *scene, const char *option)
{
    call_run(&scene->did, scene->person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['%s']}", scene->id, option);
}

void scene_get(struct scene *scene, struct call *call)
{
    call_run(call, scene->person, METHOD_ask_get, "{'session_id':'%s'}", scene->id);
    assert_worked(call);
}

void scene_assert(struct scene *scene, const char *status, int64_t version)
{
    struct call got = { .label = "get" };

    scene_get(scene, &got);
    assert_string_equal(call_text(&got, "/ask/status"), status);
    assert_int_equal(call_number(&got, "/ask/version"), version);
    call_release(&got);
}
