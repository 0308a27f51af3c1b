/* app_terminal.c - the side of a seat that the person sees: keys and lines in, pictures out, and
 * what the terminal itself reports. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "i18n/i18n.h"
#include "tui/app.h"

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
void seat_say(struct seat *seat, struct text *take_words)
{
    tty_write(seat->tty, take_words);
    wishes_perform(seat);
    wake_at(seat, seat->is_over ? -1 : plain_screen_wake_ms(seat->plain));
}

/* After whatever happened: what the screen wanted, then a picture of how it is now. */
void seat_settle(struct seat *seat)
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

void seat_escaped(void *context)
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

void seat_woken(void *context)
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

bool seat_open_terminal(struct seat *seat)
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
