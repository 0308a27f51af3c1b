/* app.c - see app.h. The screens are pure; here is everything that happens between them, the
 * terminal and the hub. */
#include "tui/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "core/lifecycle.h"
#include "i18n/i18n.h"

struct screen_time seat_now(void)
{
    return (struct screen_time){ loop_boot_ms(), loop_utc_ms() };
}

void seat_end(struct seat *seat, enum seat_end end)
{
    if (seat->is_over)
        return;
    seat->is_over = true;
    seat->result->end = end;
    loop_stop(seat->loop);
}

void seat_leave(struct seat *seat, enum seat_end end)
{
    if (seat->is_leaving)
        return;
    seat->is_leaving = true;
    seat->last = end;
    if (seat->drafts == 0)
        seat_end(seat, end);
    else
        loop_timer_at(seat->leave, loop_boot_ms() + SEAT_LEAVE_MS);
}

static void on_left(void *context)
{
    struct seat *seat = context;

    seat_end(seat, seat->last);
}

const char *seat_setting(const struct json *result, const char *name)
{
    const struct json *rows = json_member(result, "settings");

    for (size_t i = 0; i < json_length(rows); i++) {
        const struct json *row = json_item(rows, i);
        const char *its = json_member_text(row, "name");

        if (its && strcmp(its, name) == 0)
            return json_member_text(row, "value");
    }
    return NULL;
}

static struct screen_setup setup_of(struct seat *seat)
{
    return (struct screen_setup){
        .context = seat,
        .effect = wish_note,
        .settings = seat->settings,
        .home = seat->home[0] ? seat->home : NULL,
        .uid = (int64_t)getuid(),
        .is_ascii = seat->kind.is_ascii,
        .has_portal = json_member_integer(seat->status, "port", 0) > 0,
        .is_inbox = seat->options->is_inbox,
    };
}

/* Its text, NULL is none */
static void seat_keep(struct text *out, const struct json *json)
{
    text_clear(out);
    if (json)
        json_add(out, json);
}

static void seat_fail(struct seat *seat, const struct error *err, const struct json *detail)
{
    seat->result->err = *err;
    seat_keep(&seat->result->detail_json, detail);
    seat_end(seat, SEAT_FAILED);
}

static void open_ask(struct seat *seat, const struct json *whole)
{
    const char *status = json_member_text(json_member(whole, "ask"), "status");
    struct screen_setup setup;
    struct text words = { 0 };
    struct error err;
    bool is_open = state_is_open(state_find(status));

    if (!is_open || json_is_yes(json_member(whole, "answer_elsewhere"))) {
        seat_keep(&seat->result->whole_json, whole);
        seat_end(seat, is_open ? SEAT_ELSEWHERE : SEAT_OVER);
        return;
    }
    if (!seat_open_terminal(seat))
        return;
    setup = setup_of(seat);
    if (seat->options->is_plain
            ? !plain_screen_new(&setup, whole, seat_now(), &seat->plain, &words, &err)
            : !ask_screen_new(&setup, whole, seat_now(), &seat->ask, &err))
        seat_fail(seat, &err, NULL);
    if (seat->plain)
        seat_say(seat, &words);
}

static void on_whole(void *context, const struct client_reply *reply)
{
    struct seat *seat = context;
    const char *id = json_member_text(json_member(reply->json, "ask"), "session_id");
    const struct error *err = client_refusal(reply);
    bool is_shown = seat->ask || seat->plain;

    if (err && !is_shown) {
        seat_fail(seat, err, reply->json);
        return;
    }
    if (!err) {
        snprintf(seat->shown, sizeof seat->shown, "%s", id ? id : "");
        memcpy(seat->result->session_id, seat->shown, sizeof seat->shown);
    }
    if (is_shown)
        seat_take_reply(seat, NEWS_WHOLE, reply);
    else
        open_ask(seat, reply->json);
    seat_settle(seat);
}

static void on_list(void *context, const struct client_reply *reply)
{
    const struct error *err = client_refusal(reply);
    struct seat *seat = context;
    struct screen_setup setup;

    if (err && !seat->inbox) {
        seat_fail(seat, err, reply->json);
    } else if (seat->inbox) {
        seat_take_reply(seat, NEWS_LIST, reply);
    } else if (seat_open_terminal(seat)) {
        setup = setup_of(seat);
        seat->inbox = inbox_screen_new(&setup, reply->json, seat_now());
        if (seat->settings) /* both came before there was anybody to tell */
            seat_take(seat, NEWS_SETTINGS, seat->settings);
        if (seat->status)
            seat_take(seat, NEWS_STATUS, seat->status);
    }
    if (!err) /* again after each connection: it is no event */
        wish_note(seat, &(struct screen_effect){ .kind = EFFECT_UNSEEN });
    seat_settle(seat);
}

static void on_inner_whole(void *context, const struct client_reply *reply)
{
    seat_take_reply(context, NEWS_WHOLE, reply);
}

static void keep_newest(struct seat *seat, struct json **slot, enum screen_news news,
                        const struct client_reply *reply)
{
    if (client_refusal(reply))
        return;
    json_free(*slot);
    *slot = json_keep(reply->json);
    seat_take(seat, news, reply->json);
}

static void on_settings(void *context, const struct client_reply *reply)
{
    struct seat *seat = context;

    keep_newest(seat, &seat->settings, NEWS_SETTINGS, reply);
}

static void on_status(void *context, const struct client_reply *reply)
{
    struct seat *seat = context;

    keep_newest(seat, &seat->status, NEWS_STATUS, reply);
}

/* Which ask: the one we show already, else what we were told to open. */
static void seat_attach(struct seat *seat)
{
    const struct seat_options *options = seat->options;
    const char *id = seat->shown[0] ? seat->shown : options->session_id;
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    if (!seat->shown[0] && options->launch) {
        json_write_text(&writer, "launch", options->launch);
        json_write_text(&writer, "key", seat->key);
    }
    json_write_text_if(&writer, "session_id", id);
    json_write_end_object(&writer);
    seat_call(seat, METHOD_ask_attach, text_string(&params),
              options->is_inbox ? on_inner_whole : on_whole);
    text_release(&params);
}

static void call(struct seat *seat, struct loop_client *client, enum method method,
                 const char *params_json, client_done *done)
{
    struct text params = { .bytes = (char *)(uintptr_t)params_json, .used = strlen(params_json) };
    const struct request request = { .method = method, .text = &params, .wait_ms = -1 };

    client_call(loop_client_of(client), &request, done, seat);
}

void seat_call(struct seat *seat, enum method method, const char *params_json, client_done *done)
{
    call(seat, seat->person, method, params_json, done);
}

static void on_opened(void *context)
{
    struct seat *seat = context;
    bool is_known = seat->shown[0] || !seat->options->create_json;

    seat_call(seat, METHOD_settings_list, "{}", on_settings);
    seat_call(seat, METHOD_hub_status, "{}", on_status);
    if (seat->options->is_inbox)
        seat_call(seat, METHOD_ask_watch, "{\"which\":\"all\"}", on_list);
    if (seat->options->is_inbox ? seat->shown[0] != '\0' : is_known)
        seat_attach(seat);
}

static void on_lost(void *context, int64_t retry_ms, const struct error *err)
{
    struct seat *seat = context;
    struct text json = { 0 };

    if (err && !seat->ask && !seat->inbox && !seat->plain) {
        seat_fail(seat, err, NULL);
        return;
    }
    text_add_format(&json, "{\"retry_ms\":%lld}", (long long)retry_ms);
    seat_take_text(seat, NEWS_LOST, &json);
}

static void on_event(void *context, const struct wire_message *message, const char *line,
                     size_t length)
{
    static const struct {
        const char *method;
        enum screen_news news;
    } rows[] = {
        { "ask/changed", NEWS_CHANGED },
        { "ask/drafted", NEWS_DRAFTED },
        { "settings/changed", NEWS_SETTINGS },
        { "rule/changed", NEWS_RULED },
    };
    struct seat *seat = context;

    (void)line;
    (void)length;
    if (strcmp(message->method, "resync") == 0 && seat->options->is_inbox)
        seat_call(seat, METHOD_ask_list, "{\"which\":\"all\"}", on_list);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].method, message->method) == 0)
            seat_take(seat, rows[i].news, message->params);
    }
}

/* An ask made here and shown here (R6.3): an agent's connection beside the person's. We wait for
 * its result, wherever it is decided. The screen may hear of it a moment later, on the person's
 * connection, and the line that stays says what came of it. */
static void on_asked(void *context, const struct client_reply *reply)
{
    const struct error *err = client_refusal(reply);
    struct seat *seat = context;

    if (!err && reply->kind != REPLY_FINAL) { /* also where the person asks back: no one explains */
        const char *id = json_member_text(reply->json, "session_id");
        char params[64];

        snprintf(params, sizeof params, "{\"session_id\":\"%.26s\",\"wait_seconds\":-1}",
                 id ? id : "");
        call(seat, seat->agent, METHOD_ask_wait, params, on_asked);
        return;
    }
    seat->is_asking_done = true;
    if (err) {
        seat_fail(seat, err, reply->json);
        return;
    }
    seat_keep(&seat->result->result_json, reply->json);
    seat->is_leaving = true;
    seat->last = SEAT_DONE;
    loop_timer_at(seat->leave, loop_boot_ms() + SEAT_LEAVE_MS);
    seat_settle(seat);
}

static void on_agent_lost(void *context, int64_t retry_ms, const struct error *err)
{
    struct seat *seat = context;

    (void)retry_ms;
    if (err && !seat->ask)
        seat_fail(seat, err, NULL);
}

static void on_agent_event(void *context, const struct wire_message *message, const char *line,
                           size_t length)
{
    struct seat *seat = context;
    const char *id = json_member_text(message->params, "session_id");

    (void)line;
    (void)length;
    if (strcmp(message->method, "ask/created") != 0 || !id || seat->shown[0])
        return;
    snprintf(seat->shown, sizeof seat->shown, "%s", id);
    seat_attach(seat);
}

static void seat_ask(struct seat *seat)
{
    static const struct client_ops ops = { .lost = on_agent_lost, .event = on_agent_event };

    seat->agent =
        loop_client_new(seat->loop, seat->options->asker, &client_for_terminal, &ops, seat);
    call(seat, seat->agent, METHOD_ask_create, seat->options->create_json, on_asked);
}

static void dial_up(struct seat *seat)
{
    static const struct identity who = { .role = "person", .channel = "terminal", .name = "sayso" };
    static const struct client_ops ops = { .opened = on_opened,
                                           .lost = on_lost,
                                           .event = on_event };

    seat->person = loop_client_new(seat->loop, &who, &client_for_terminal, &ops, seat);
    if (seat->options->create_json)
        seat_ask(seat);
}

/* What stays on the terminal, in the place where the picture was. */
static void leave_words(struct seat *seat)
{
    struct text out = { 0 };

    painter_end(&seat->painter, &out);
    if (seat->ask && seat->result->end != SEAT_SIGNAL) {
        canvas_reset(&seat->canvas, seat->painter.columns);
        ask_screen_draw_summary(seat->ask, &seat->canvas, seat->painter.columns);
        canvas_write(&seat->canvas, "\r\n", &out);
    }
    tty_write(seat->tty, &out);
}

static void release(struct seat *seat)
{
    wishes_release(seat);
    ask_screen_free(seat->ask);
    inbox_screen_free(seat->inbox);
    plain_screen_free(seat->plain);
    text_release(&seat->line);
    keyboard_release(&seat->keyboard);
    painter_release(&seat->painter);
    canvas_release(&seat->canvas);
    json_free(seat->settings);
    json_free(seat->status);
    loop_timer_free(seat->wake);
    loop_timer_free(seat->escape);
    loop_timer_free(seat->leave);
    loop_client_free(seat->person);
    loop_client_free(seat->agent);
    loop_free(seat->loop);
}

void seat_run(const struct seat_options *options, struct seat_result *ret_result)
{
    struct seat seat = { .options = options, .result = ret_result, .titled = -1 };

    *ret_result = (struct seat_result){ .exit_code = SEAT_EXIT_PENDING };
    random_id(seat.key);
    if (!os_home(seat.home, sizeof seat.home))
        seat.home[0] = '\0';
    seat.loop = loop_new();
    seat.wake = loop_timer_new(seat.loop, seat_woken, &seat);
    seat.escape = loop_timer_new(seat.loop, seat_escaped, &seat);
    seat.leave = loop_timer_new(seat.loop, on_left, &seat);
    dial_up(&seat);
    loop_run(seat.loop);
    if (seat.ask)
        ret_result->exit_code = ask_screen_exit_code(seat.ask);
    if (seat.plain)
        ret_result->exit_code = plain_screen_exit_code(seat.plain);
    if (ret_result->end == SEAT_LEFT && !options->create_json &&
        ret_result->exit_code != SEAT_EXIT_PENDING)
        ret_result->end = SEAT_DONE; /* what was answered is: it does not wait to be undone */
    if (seat.tty) {
        leave_words(&seat);
        tty_close(seat.tty);
    }
    release(&seat);
}

void seat_result_release(struct seat_result *result)
{
    text_release(&result->detail_json);
    text_release(&result->whole_json);
    text_release(&result->link);
    text_release(&result->url);
    text_release(&result->result_json);
}
