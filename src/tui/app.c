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

static struct screen_time seat_now(void)
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

static const char *seat_setting(const struct json *result, const char *name)
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

enum { SEAT_LINE_BYTES = 65536 };

/* Of an inbox: how many wait, in our words alone. */
static void set_title(struct seat *seat)
{
    int64_t waiting = seat->inbox ? inbox_screen_waiting(seat->inbox) : -1;
    struct text words = { 0 };

    if (waiting < 0 || waiting == seat->titled || !seat->kind.has_title)
        return;
    seat->titled = waiting;
    text_add_text(&words, "sayso: ");
    i18n_format(&words, TEXT_TUI_WAITING, "count", TEXT_NUMBER(waiting), NULL);
    tty_title(seat->tty, text_string(&words));
    text_release(&words);
}

static void wake_at(struct seat *seat, int64_t wake_ms)
{
    if (wake_ms >= 0)
        loop_timer_at(seat->wake, wake_ms);
    else
        loop_timer_stop(seat->wake);
}

static void draw(struct seat *seat)
{
    struct screen_time now = seat_now();
    struct text out = { 0 };
    bool is_alternate = true; /* an inbox comes and goes as a whole */
    int64_t wake_ms;

    seat->is_drawing_due = tty_is_writing(seat->tty);
    if (seat->is_drawing_due || seat->is_over)
        return;
    if (seat->ask) {
        ask_screen_draw(seat->ask, &seat->canvas, seat->painter.columns, seat->painter.rows, now);
        is_alternate = ask_screen_wants_alternate(seat->ask);
        wake_ms = ask_screen_wake_ms(seat->ask);
    } else {
        inbox_screen_draw(seat->inbox, &seat->canvas, seat->painter.columns, seat->painter.rows,
                          now);
        wake_ms = inbox_screen_wake_ms(seat->inbox);
    }
    if (!seat->painter.has_begun || is_alternate != seat->painter.is_alternate) {
        painter_end(&seat->painter, &out);
        painter_begin(&seat->painter, is_alternate, &out);
    }
    set_title(seat);
    painter_show(&seat->painter, &seat->canvas, &out);
    tty_write(seat->tty, &out);
    wake_at(seat, wake_ms);
}

/* The plain screen writes by itself; all that is left is when it wants to be looked at. */
static void seat_say(struct seat *seat, struct text *take_words)
{
    tty_write(seat->tty, take_words);
    wishes_perform(seat);
    wake_at(seat, seat->is_over ? -1 : plain_screen_wake_ms(seat->plain));
}

/* After whatever happened: what the screen wanted, then a picture of how it is now. */
static void seat_settle(struct seat *seat)
{
    wishes_perform(seat);
    if (!seat->is_over && seat->tty && (seat->ask || seat->inbox)) {
        draw(seat);
        wishes_perform(seat);
    }
    if (seat->is_asking_done &&
        (!seat->ask || ask_screen_exit_code(seat->ask) != SEAT_EXIT_PENDING))
        seat_end(seat, SEAT_DONE);
}

static bool is_light_by(const struct seat *seat, const char *theme)
{
    if (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0)
        return strcmp(theme, "light") == 0;
    return seat->is_light;
}

/* Another theme is another ink for everything. */
static void take_theme(struct seat *seat, const struct json *settings)
{
    const char *theme = seat_setting(settings, "theme");
    struct text out = { 0 };

    if (!seat->tty || !theme || is_light_by(seat, theme) == seat->painter.look.is_light)
        return;
    seat->painter.look.is_light = !seat->painter.look.is_light;
    painter_redraw(&seat->painter, &out);
    tty_write(seat->tty, &out);
}

void seat_take(struct seat *seat, enum screen_news news, const struct json *json)
{
    struct text words = { 0 };

    if (news == NEWS_SETTINGS && !seat->plain)
        take_theme(seat, json);
    if (seat->plain) {
        plain_screen_take(seat->plain, news, json, seat_now(), &words);
        seat_say(seat, &words);
    } else if (seat->ask) {
        ask_screen_take(seat->ask, news, json, seat_now());
    } else if (seat->inbox)
        inbox_screen_take(seat->inbox, news, json, seat_now());
    seat_settle(seat);
}

static void on_key(void *context, const struct key *key)
{
    struct seat *seat = context;

    if (seat->is_over || seat->is_leaving)
        return;
    if (key->code == KEY_FOCUS_IN || key->code == KEY_FOCUS_OUT)
        seat->is_looked_at = key->code == KEY_FOCUS_IN;
    if (seat->ask)
        ask_screen_key(seat->ask, key, seat_now());
    else
        inbox_screen_key(seat->inbox, key, seat_now());
    wishes_perform(seat);
}

static void after_keys(struct seat *seat)
{
    int patience_ms = keyboard_patience_ms(&seat->keyboard);

    if (patience_ms > 0)
        loop_timer_at(seat->escape, loop_boot_ms() + patience_ms);
    seat_settle(seat);
}

/* Whole lines; the terminal has edited them. */
static void type_plain(struct seat *seat, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && !seat->is_over; i++) {
        struct text words = { 0 };

        if (bytes[i] != '\n') {
            if (seat->line.used < SEAT_LINE_BYTES)
                text_add_char(&seat->line, bytes[i]);
            continue;
        }
        plain_screen_line(seat->plain, text_string(&seat->line), seat_now(), &words);
        text_clear(&seat->line);
        seat_say(seat, &words);
    }
}

static void on_typed(void *context, const char *bytes, size_t length)
{
    struct seat *seat = context;

    if (seat->plain) {
        type_plain(seat, bytes, length);
        return;
    }
    loop_timer_stop(seat->escape);
    keyboard_feed(&seat->keyboard, bytes, length, on_key, seat);
    after_keys(seat);
}

static void seat_escaped(void *context)
{
    struct seat *seat = context;

    keyboard_time_out(&seat->keyboard, on_key, seat);
    after_keys(seat);
}

static void on_resized(void *context)
{
    struct seat *seat = context;
    struct text out = { 0 };
    int rows, columns;

    tty_size(seat->tty, &rows, &columns);
    painter_resize(&seat->painter, rows, columns, &out);
    tty_write(seat->tty, &out);
    seat_settle(seat);
}

static void on_written(void *context)
{
    struct seat *seat = context;

    if (seat->is_drawing_due)
        seat_settle(seat);
}

static void on_stop_wanted(void *context)
{
    wish_note(context, &(struct screen_effect){ .kind = EFFECT_SUSPEND, .session_id = "" });
    seat_settle(context);
}

static void on_resumed(void *context)
{
    struct seat *seat = context;

    painter_forget(&seat->painter);
    on_resized(seat);
}

static void on_ended(void *context, int number)
{
    struct seat *seat = context;

    if (seat->is_leaving)
        return;
    seat->result->signal_number = number ? number : SIGHUP;
    if (seat->ask)
        ask_screen_save(seat->ask);
    else if (seat->inbox)
        inbox_screen_save(seat->inbox);
    wishes_perform(seat);
    if (seat->plain && (!number || number == SIGINT)) /* Ctrl-D and Ctrl-C, as elsewhere */
        seat_leave(seat, SEAT_LEFT);
    else
        seat_leave(seat, SEAT_SIGNAL);
}

static void seat_woken(void *context)
{
    struct seat *seat = context;
    struct text words = { 0 };

    if (seat->plain) {
        plain_screen_tick(seat->plain, seat_now(), &words);
        seat_say(seat, &words);
    } else {
        seat_settle(seat);
    }
}

static const char *find_variable(const char *name)
{
    return getenv(name);
}

static bool seat_open_terminal(struct seat *seat)
{
    const struct tty_calls calls = { seat,           on_typed,   on_resized, on_written,
                                     on_stop_wanted, on_resumed, on_ended };
    const char *theme = seat_setting(seat->settings, "theme");

    seat->kind = terminal_kind_of(find_variable);
    if (theme && (strcmp(theme, "light") == 0 || strcmp(theme, "dark") == 0))
        seat->kind.answers = false; /* it need not be asked */
    seat->tty = tty_open(seat->loop, &calls, &seat->kind, seat->options->is_plain);
    if (!seat->tty) {
        seat_end(seat, SEAT_NO_TERMINAL);
        return false;
    }
    seat->is_light = seat->kind.is_light;
    seat->painter.look = (struct painter_look){
        .colours = seat->kind.colours,
        .is_light = is_light_by(seat, theme ? theme : ""),
        .lacks_shifts = seat->kind.lacks_shifts,
    };
    tty_size(seat->tty, &seat->painter.rows, &seat->painter.columns);
    return true;
}

/* The side of the hub. */

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

static void on_agent_event(void *context, const struct rpc_message *message, const char *line,
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
    static const struct client_identity who = { .role = "person",
                                                .channel = "terminal",
                                                .name = "sayso" };
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
