/* app.c - see app.h. The screens are pure; here is everything that happens between them, the
 * terminal and the hub. */
#include "tui/app.h"

#include <signal.h>
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

static struct screen_time app_now(void)
{
    return (struct screen_time){ loop_boot_ms(), loop_utc_ms() };
}

void app_end(struct app *app, enum app_end end)
{
    if (app->is_over)
        return;
    app->is_over = true;
    app->result->end = end;
    loop_stop(app->loop);
}

void app_leave(struct app *app, enum app_end end)
{
    if (app->is_leaving)
        return;
    app->is_leaving = true;
    app->last = end;
    if (app->drafts == 0)
        app_end(app, end);
    else
        loop_timer_at(app->leave, loop_boot_ms() + APP_LEAVE_MS);
}

static void on_left(void *context)
{
    struct app *app = context;

    app_end(app, app->last);
}

static const char *app_setting(const struct json *result, const char *name)
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

/* The side that the person sees: keys and lines in, pictures out, and what the terminal reports. */

enum { APP_LINE_BYTES = 65536 };

/* Of an inbox: how many wait, in our words alone. */
static void set_title(struct app *app)
{
    int64_t waiting = app->inbox ? inbox_screen_waiting(app->inbox) : -1;
    struct text words = { 0 };

    if (waiting < 0 || waiting == app->titled || !app->kind.has_title)
        return;
    app->titled = waiting;
    text_add_text(&words, "sayso: ");
    i18n_format(&words, TEXT_TUI_WAITING, "count", TEXT_NUMBER(waiting), NULL);
    tty_title(app->tty, text_string(&words));
    text_release(&words);
}

static void wake_at(struct app *app, int64_t wake_ms)
{
    if (wake_ms >= 0)
        loop_timer_at(app->wake, wake_ms);
    else
        loop_timer_stop(app->wake);
}

static void draw(struct app *app)
{
    struct screen_time now = app_now();
    struct text out = { 0 };
    bool is_alternate = true; /* an inbox comes and goes as a whole */
    int64_t wake_ms;

    app->is_drawing_due = tty_is_writing(app->tty);
    if (app->is_drawing_due || app->is_over)
        return;
    if (app->ask) {
        ask_screen_draw(app->ask, &app->canvas, app->painter.columns, app->painter.rows, now);
        is_alternate = ask_screen_wants_alternate(app->ask);
        wake_ms = ask_screen_wake_ms(app->ask);
    } else {
        inbox_screen_draw(app->inbox, &app->canvas, app->painter.columns, app->painter.rows, now);
        wake_ms = inbox_screen_wake_ms(app->inbox);
    }
    if (!app->painter.has_begun || is_alternate != app->painter.is_alternate) {
        painter_end(&app->painter, &out);
        painter_begin(&app->painter, is_alternate, &out);
    }
    set_title(app);
    painter_show(&app->painter, &app->canvas, &out);
    tty_write(app->tty, &out);
    wake_at(app, wake_ms);
}

/* The plain screen writes by itself; all that is left is when it wants to be looked at. */
static void app_say(struct app *app, struct text *take_words)
{
    tty_write(app->tty, take_words);
    wishes_perform(app);
    wake_at(app, app->is_over ? -1 : plain_screen_wake_ms(app->plain));
}

/* After whatever happened: what the screen wanted, then a picture of how it is now. */
static void app_settle(struct app *app)
{
    wishes_perform(app);
    if (!app->is_over && app->tty && (app->ask || app->inbox)) {
        draw(app);
        wishes_perform(app);
    }
    if (app->is_asking_done && (!app->ask || ask_screen_exit_code(app->ask) != APP_EXIT_PENDING))
        app_end(app, APP_DONE);
}

static bool is_light_by(const struct app *app, const char *theme)
{
    if (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0)
        return strcmp(theme, "light") == 0;
    return app->is_light;
}

/* Another theme is another ink for everything. */
static void take_theme(struct app *app, const struct json *settings)
{
    const char *theme = app_setting(settings, "theme");
    struct text out = { 0 };

    if (!app->tty || !theme || is_light_by(app, theme) == app->painter.look.is_light)
        return;
    app->painter.look.is_light = !app->painter.look.is_light;
    painter_redraw(&app->painter, &out);
    tty_write(app->tty, &out);
}

void app_take(struct app *app, enum screen_news news, const struct json *json)
{
    struct text words = { 0 };

    if (news == NEWS_SETTINGS && !app->plain)
        take_theme(app, json);
    if (app->plain) {
        plain_screen_take(app->plain, news, json, app_now(), &words);
        app_say(app, &words);
    } else if (app->ask) {
        ask_screen_take(app->ask, news, json, app_now());
    } else if (app->inbox)
        inbox_screen_take(app->inbox, news, json, app_now());
    app_settle(app);
}

static void on_key(void *context, const struct key *key)
{
    struct app *app = context;

    if (app->is_over || app->is_leaving)
        return;
    if (key->code == KEY_FOCUS_IN || key->code == KEY_FOCUS_OUT)
        app->is_looked_at = key->code == KEY_FOCUS_IN;
    if (app->ask)
        ask_screen_key(app->ask, key, app_now());
    else
        inbox_screen_key(app->inbox, key, app_now());
    wishes_perform(app);
}

static void after_keys(struct app *app)
{
    int patience_ms = keyboard_patience_ms(&app->keyboard);

    if (patience_ms > 0)
        loop_timer_at(app->escape, loop_boot_ms() + patience_ms);
    app_settle(app);
}

/* Whole lines; the terminal has edited them. */
static void type_plain(struct app *app, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && !app->is_over; i++) {
        struct text words = { 0 };

        if (bytes[i] != '\n') {
            if (app->line.used < APP_LINE_BYTES)
                text_add_char(&app->line, bytes[i]);
            continue;
        }
        plain_screen_line(app->plain, text_string(&app->line), app_now(), &words);
        text_clear(&app->line);
        app_say(app, &words);
    }
}

static void on_typed(void *context, const char *bytes, size_t length)
{
    struct app *app = context;

    if (app->plain) {
        type_plain(app, bytes, length);
        return;
    }
    loop_timer_stop(app->escape);
    keyboard_feed(&app->keyboard, bytes, length, on_key, app);
    after_keys(app);
}

static void app_escaped(void *context)
{
    struct app *app = context;

    keyboard_time_out(&app->keyboard, on_key, app);
    after_keys(app);
}

static void on_resized(void *context)
{
    struct app *app = context;
    struct text out = { 0 };
    int rows, columns;

    tty_size(app->tty, &rows, &columns);
    painter_resize(&app->painter, rows, columns, &out);
    tty_write(app->tty, &out);
    app_settle(app);
}

static void on_written(void *context)
{
    struct app *app = context;

    if (app->is_drawing_due)
        app_settle(app);
}

static void on_stop_wanted(void *context)
{
    wish_note(context, &(struct screen_effect){ .kind = EFFECT_SUSPEND, .session_id = "" });
    app_settle(context);
}

static void on_resumed(void *context)
{
    struct app *app = context;

    painter_forget(&app->painter);
    on_resized(app);
}

static void on_ended(void *context, int number)
{
    struct app *app = context;

    if (app->is_leaving)
        return;
    app->result->signal_number = number ? number : SIGHUP;
    if (app->ask)
        ask_screen_save(app->ask);
    else if (app->inbox)
        inbox_screen_save(app->inbox);
    wishes_perform(app);
    if (app->plain && (!number || number == SIGINT)) /* Ctrl-D and Ctrl-C, as elsewhere */
        app_leave(app, APP_LEFT);
    else
        app_leave(app, APP_SIGNAL);
}

static void app_woken(void *context)
{
    struct app *app = context;
    struct text words = { 0 };

    if (app->plain) {
        plain_screen_tick(app->plain, app_now(), &words);
        app_say(app, &words);
    } else {
        app_settle(app);
    }
}

static const char *find_variable(const char *name)
{
    return getenv(name);
}

static bool app_open_terminal(struct app *app)
{
    const struct tty_calls calls = { app,        on_typed, on_resized, on_written, on_stop_wanted,
                                     on_resumed, on_ended };
    const char *theme = app_setting(app->settings, "theme");

    app->kind = terminal_kind_of(find_variable);
    if (theme && (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0))
        app->kind.answers = false; /* it need not be asked */
    app->tty = tty_open(app->loop, &calls, &app->kind, app->options->is_plain);
    if (!app->tty) {
        app_end(app, APP_NO_TERMINAL);
        return false;
    }
    app->is_light = app->kind.is_light;
    app->painter.look = (struct painter_look){
        .colours = app->kind.colours,
        .is_light = is_light_by(app, theme ? theme : ""),
        .lacks_shifts = app->kind.lacks_shifts,
    };
    tty_size(app->tty, &app->painter.rows, &app->painter.columns);
    return true;
}

/* The side of the hub. */

static struct screen_setup setup_of(struct app *app)
{
    return (struct screen_setup){
        .context = app,
        .effect = wish_note,
        .settings = app->settings,
        .home = app->home[0] ? app->home : NULL,
        .uid = (int64_t)getuid(),
        .is_ascii = app->kind.is_ascii,
        .has_portal = json_member_integer(app->status, "port", 0) > 0,
        .is_inbox = app->options->is_inbox,
    };
}

/* Its text, NULL is none */
static void app_keep(struct text *out, const struct json *json)
{
    text_clear(out);
    if (json)
        json_add(out, json);
}

static void app_fail(struct app *app, const struct error *err, const struct json *detail)
{
    app->result->err = *err;
    app_keep(&app->result->detail_json, detail);
    app_end(app, APP_FAILED);
}

static void open_ask(struct app *app, const struct json *whole)
{
    const char *status = json_member_text(json_member(whole, "ask"), "status");
    struct screen_setup setup;
    struct text words = { 0 };
    struct error err;
    bool is_open = state_is_open(state_find(status));

    if (!is_open || json_is_true(json_member(whole, "answer_elsewhere"))) {
        app_keep(&app->result->whole_json, whole);
        app_end(app, is_open ? APP_ELSEWHERE : APP_OVER);
        return;
    }
    if (!app_open_terminal(app))
        return;
    setup = setup_of(app);
    if (app->options->is_plain
            ? !plain_screen_new(&setup, whole, app_now(), &app->plain, &words, &err)
            : !ask_screen_new(&setup, whole, app_now(), &app->ask, &err))
        app_fail(app, &err, NULL);
    if (app->plain)
        app_say(app, &words);
}

static void on_whole(void *context, const struct client_reply *reply)
{
    struct app *app = context;
    const char *id = json_member_text(json_member(reply->json, "ask"), "session_id");
    const struct error *err = client_refusal(reply);
    bool is_shown = app->ask || app->plain;

    if (err && !is_shown) {
        app_fail(app, err, reply->json);
        return;
    }
    if (!err) {
        snprintf(app->shown, sizeof app->shown, "%s", id ? id : "");
        memcpy(app->result->session_id, app->shown, sizeof app->shown);
    }
    if (is_shown)
        app_take_reply(app, NEWS_WHOLE, reply);
    else
        open_ask(app, reply->json);
    app_settle(app);
}

static void on_list(void *context, const struct client_reply *reply)
{
    const struct error *err = client_refusal(reply);
    struct app *app = context;
    struct screen_setup setup;

    if (err && !app->inbox) {
        app_fail(app, err, reply->json);
    } else if (app->inbox) {
        app_take_reply(app, NEWS_LIST, reply);
    } else if (app_open_terminal(app)) {
        setup = setup_of(app);
        app->inbox = inbox_screen_new(&setup, reply->json, app_now());
        if (app->settings) /* both came before there was anybody to tell */
            app_take(app, NEWS_SETTINGS, app->settings);
        if (app->status)
            app_take(app, NEWS_STATUS, app->status);
    }
    if (!err) /* again after each connection: it is no event */
        wish_note(app, &(struct screen_effect){ .kind = EFFECT_UNSEEN });
    app_settle(app);
}

static void on_inner_whole(void *context, const struct client_reply *reply)
{
    app_take_reply(context, NEWS_WHOLE, reply);
}

static void keep_newest(struct app *app, struct json **slot, enum screen_news news,
                        const struct client_reply *reply)
{
    if (client_refusal(reply))
        return;
    json_free(*slot);
    *slot = json_keep(reply->json);
    app_take(app, news, reply->json);
}

static void on_settings(void *context, const struct client_reply *reply)
{
    struct app *app = context;

    keep_newest(app, &app->settings, NEWS_SETTINGS, reply);
}

static void on_status(void *context, const struct client_reply *reply)
{
    struct app *app = context;

    keep_newest(app, &app->status, NEWS_STATUS, reply);
}

/* Which ask: the one we show already, else what we were told to open. */
static void app_attach(struct app *app)
{
    const struct app_options *options = app->options;
    const char *id = app->shown[0] ? app->shown : options->session_id;
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    if (!app->shown[0] && options->launch) {
        json_write_text(&writer, "launch", options->launch);
        json_write_text(&writer, "key", app->key);
    }
    json_write_text_if(&writer, "session_id", id);
    json_write_end_object(&writer);
    app_call(app, METHOD_ask_attach, text_string(&params),
             options->is_inbox ? on_inner_whole : on_whole);
    text_release(&params);
}

static void call(struct app *app, struct loop_client *client, enum method method,
                 const char *params_json, client_done *done)
{
    struct text params = { .bytes = (char *)(uintptr_t)params_json, .used = strlen(params_json) };
    const struct request request = { .method = method, .text = &params, .wait_ms = -1 };

    client_call(loop_client_of(client), &request, done, app);
}

void app_call(struct app *app, enum method method, const char *params_json, client_done *done)
{
    call(app, app->person, method, params_json, done);
}

static void on_opened(void *context)
{
    struct app *app = context;
    bool is_known = app->shown[0] || !app->options->create_json;

    app_call(app, METHOD_settings_list, "{}", on_settings);
    app_call(app, METHOD_hub_status, "{}", on_status);
    if (app->options->is_inbox)
        app_call(app, METHOD_ask_watch, "{\"which\":\"all\"}", on_list);
    if (app->options->is_inbox ? app->shown[0] != '\0' : is_known)
        app_attach(app);
}

static void on_lost(void *context, int64_t retry_ms, const struct error *err)
{
    struct app *app = context;
    struct text json = { 0 };

    if (err && !app->ask && !app->inbox && !app->plain) {
        app_fail(app, err, NULL);
        return;
    }
    text_add_format(&json, "{\"retry_ms\":%lld}", (long long)retry_ms);
    app_take_text(app, NEWS_LOST, &json);
}

static void on_event(void *context, const struct rpc_message *message, const char *line,
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
    struct app *app = context;

    (void)line;
    (void)length;
    if (strcmp(message->method, "resync") == 0 && app->options->is_inbox)
        app_call(app, METHOD_ask_list, "{\"which\":\"all\"}", on_list);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].method, message->method) == 0)
            app_take(app, rows[i].news, message->params);
    }
}

/* An ask made here and shown here (R6.3): an agent's connection beside the person's. We wait for
 * its result, wherever it is decided. The screen may hear of it a moment later, on the person's
 * connection, and the line that stays says what came of it. */
static void on_asked(void *context, const struct client_reply *reply)
{
    const struct error *err = client_refusal(reply);
    struct app *app = context;

    if (!err && reply->kind != REPLY_FINAL) { /* also where the person asks back: no one explains */
        const char *id = json_member_text(reply->json, "session_id");
        char params[64];

        snprintf(params, sizeof params, "{\"session_id\":\"%.26s\",\"wait_seconds\":-1}",
                 id ? id : "");
        call(app, app->agent, METHOD_ask_wait, params, on_asked);
        return;
    }
    app->is_asking_done = true;
    if (err) {
        app_fail(app, err, reply->json);
        return;
    }
    app_keep(&app->result->result_json, reply->json);
    app->is_leaving = true;
    app->last = APP_DONE;
    loop_timer_at(app->leave, loop_boot_ms() + APP_LEAVE_MS);
    app_settle(app);
}

static void on_agent_lost(void *context, int64_t retry_ms, const struct error *err)
{
    struct app *app = context;

    (void)retry_ms;
    if (err && !app->ask)
        app_fail(app, err, NULL);
}

static void on_agent_event(void *context, const struct rpc_message *message, const char *line,
                           size_t length)
{
    struct app *app = context;
    const char *id = json_member_text(message->params, "session_id");

    (void)line;
    (void)length;
    if (strcmp(message->method, "ask/created") != 0 || !id || app->shown[0])
        return;
    snprintf(app->shown, sizeof app->shown, "%s", id);
    app_attach(app);
}

static void dial_up(struct app *app)
{
    static const struct client_identity who = { .role = "person",
                                                .channel = "terminal",
                                                .name = "sayso" };
    static const struct client_ops ops = { .opened = on_opened,
                                           .lost = on_lost,
                                           .event = on_event };
    static const struct client_ops agent_ops = { .lost = on_agent_lost, .event = on_agent_event };

    app->person = loop_client_new(app->loop, &who, &client_for_terminal, &ops, app);
    if (!app->options->create_json)
        return;
    app->agent =
        loop_client_new(app->loop, app->options->asker, &client_for_terminal, &agent_ops, app);
    call(app, app->agent, METHOD_ask_create, app->options->create_json, on_asked);
}

/* What stays on the terminal, in the place where the picture was. */
static void leave_words(struct app *app)
{
    struct text out = { 0 };

    painter_end(&app->painter, &out);
    if (app->ask && app->result->end != APP_SIGNAL) {
        canvas_reset(&app->canvas, app->painter.columns);
        ask_screen_draw_summary(app->ask, &app->canvas, app->painter.columns);
        canvas_write(&app->canvas, "\r\n", &out);
    }
    tty_write(app->tty, &out);
}

static void release(struct app *app)
{
    wishes_release(app);
    ask_screen_free(app->ask);
    inbox_screen_free(app->inbox);
    plain_screen_free(app->plain);
    text_release(&app->line);
    keyboard_release(&app->keyboard);
    painter_release(&app->painter);
    canvas_release(&app->canvas);
    json_free(app->settings);
    json_free(app->status);
    loop_timer_free(app->wake);
    loop_timer_free(app->escape);
    loop_timer_free(app->leave);
    loop_client_free(app->person);
    loop_client_free(app->agent);
    loop_free(app->loop);
}

void app_run(const struct app_options *options, struct app_result *ret_result)
{
    struct app app = { .options = options, .result = ret_result, .titled = -1 };

    *ret_result = (struct app_result){ .exit_code = APP_EXIT_PENDING };
    random_id(app.key);
    if (!os_home(app.home, sizeof app.home))
        app.home[0] = '\0';
    app.loop = loop_new();
    app.wake = loop_timer_new(app.loop, app_woken, &app);
    app.escape = loop_timer_new(app.loop, app_escaped, &app);
    app.leave = loop_timer_new(app.loop, on_left, &app);
    dial_up(&app);
    loop_run(app.loop);
    if (app.ask)
        ret_result->exit_code = ask_screen_exit_code(app.ask);
    if (app.plain)
        ret_result->exit_code = plain_screen_exit_code(app.plain);
    if (ret_result->end == APP_LEFT && !options->create_json &&
        ret_result->exit_code != APP_EXIT_PENDING)
        ret_result->end = APP_DONE; /* what was answered is: it does not wait to be undone */
    if (app.tty) {
        leave_words(&app);
        tty_close(app.tty);
    }
    release(&app);
}

void app_result_release(struct app_result *result)
{
    text_release(&result->detail_json);
    text_release(&result->whole_json);
    text_release(&result->link);
    text_release(&result->url);
    text_release(&result->result_json);
}
