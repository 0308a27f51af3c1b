/*
 * terminal.c - Ctrl-C and Ctrl-Z come as bytes; the signals are for what others send. A crash puts
 * the terminal in order too: what that takes is kept where a handler can reach it.
 */
#include "tui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"

/* Asks for the color of the background, and then for something every terminal answers: once that
 * reply is there, the first one comes no more. */
static const char background_question[] = "\033]11;?\033\\\033[c";

static const char *value_of(const char *(*find)(const char *name), const char *name)
{
    const char *value = find(name);

    return value ? value : "";
}

/* Nothing set says nothing: shells that agents start often lack all of it. */
static bool has_utf8(const char *(*find)(const char *name))
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = value_of(find, names[i]);

        if (*value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return true;
}

/* "15;0" or "0;default;15": the last number is the background's. */
static bool is_light_by_number(const char *colorfgbg)
{
    const char *last = strrchr(colorfgbg, ';');
    long number = last ? strtol(last + 1, NULL, 10) : 0;

    return last && last[1] && (number == 7 || number == 15);
}

static bool begins_with_one_of(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* Those whose names alone say that they have all colors; COLORTERM is often lost on the way. */
static bool is_true_by_name(const char *term)
{
    static const char *const names[] = { "xterm-kitty", "xterm-ghostty", "alacritty", "foot",
                                         "wezterm" };

    return strstr(term, "-direct") || begins_with_one_of(term, names, ARRAY_LEN(names));
}

/* A multiplexer takes the bell and keeps the rest to itself. */
static enum terminal_notice notice_of(const char *(*find)(const char *name), const char *term)
{
    static const char *const multiplexers[] = { "tmux", "screen" };
    static const char *const urxvt_like[] = { "rxvt", "foot" };

    if (*value_of(find, "TMUX") || begins_with_one_of(term, multiplexers, ARRAY_LEN(multiplexers)))
        return NOTICE_NONE;
    if (strcmp(term, "xterm-kitty") == 0)
        return NOTICE_OSC_99;
    return begins_with_one_of(term, urxvt_like, ARRAY_LEN(urxvt_like)) ? NOTICE_OSC_777
                                                                       : NOTICE_OSC_9;
}

/* Terminals that claim to be one of these may be no more; the VT102 was the first that could. */
static bool lacks_shifts(const char *term)
{
    static const char *const old[] = { "vt52", "vt100", "vt101" };

    for (size_t i = 0; i < ARRAY_LEN(old); i++) {
        size_t length = strlen(old[i]);

        if (strncmp(term, old[i], length) == 0 && (!term[length] || term[length] == '-'))
            return true;
    }
    return false;
}

struct terminal_kind terminal_kind_of(const char *(*find)(const char *name))
{
    const char *term = value_of(find, "TERM"), *depth = value_of(find, "COLORTERM");
    bool is_console = strcmp(term, "linux") == 0;
    struct terminal_kind kind = { .is_dumb = !*term || strcmp(term, "dumb") == 0 };

    kind.is_ascii = is_console || !has_utf8(find);
    kind.is_light = is_light_by_number(value_of(find, "COLORFGBG"));
    if (*value_of(find, "NO_COLOR") || kind.is_dumb || strncmp(term, "vt", 2) == 0)
        kind.colours = COLOURS_NONE;
    else if (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0 ||
             is_true_by_name(term))
        kind.colours = COLOURS_TRUE;
    else if (strstr(term, "256color"))
        kind.colours = COLOURS_256;
    else
        kind.colours = COLOURS_16;
    kind.has_title = !kind.is_dumb && !is_console && strncmp(term, "vt", 2) != 0;
    kind.notice = kind.has_title ? notice_of(find, term) : NOTICE_NONE;
    kind.lacks_shifts = lacks_shifts(term);
    kind.answers = kind.colours != COLOURS_NONE && !is_console && !*value_of(find, "COLORFGBG");
    return kind;
}

/* "rgb:ffff/ffff/ffff", one to four digits each; luminance as eyes weigh it, in per mille. */
static bool read_colour(const char *text, const char *end, bool *ret_is_light)
{
    static const int weights[] = { 299, 587, 114 };
    long sum = 0;

    if (end - text < 4 || memcmp(text, "rgb:", 4) != 0)
        return false;
    text += 4;
    for (size_t i = 0; i < ARRAY_LEN(weights); i++) {
        long value = 0, max = 0;
        const char *begin = text;

        for (; text < end && text - begin < 4 && strchr("0123456789abcdefABCDEF", *text) && *text;
             text++) {
            char digit[] = { *text, '\0' };

            value = value * 16 + strtol(digit, NULL, 16);
            max = max * 16 + 15;
        }
        if (max == 0 || (i < 2 && (text == end || *text++ != '/')))
            return false;
        sum += weights[i] * value / max;
    }
    *ret_is_light = sum > 500;
    return true;
}

/* The end of a string that a terminal sends, BEL or ESC \; NULL: it is not there yet. */
static char *find_end(char *at, const char *end, size_t *ret_length)
{
    for (; at < end; at++) {
        *ret_length = *at == '\a' ? 1 : 2;
        if (*at == '\a' || (*at == '\033' && at + 1 < end && at[1] == '\\'))
            return at;
    }
    return NULL;
}

static void take_out(char *from, char *to, char *end, size_t *length)
{
    memmove(from, to, (size_t)(end - to));
    *length -= (size_t)(to - from);
}

struct background_reply background_read(char *bytes, size_t *length)
{
    static const char prefix[] = "\033]11;", attributes[] = "\033[?";
    struct background_reply reply = { 0 };
    char *at = memmem(bytes, *length, prefix, sizeof prefix - 1);
    char *stop;
    size_t stop_length;

    if (at && (stop = find_end(at + sizeof prefix - 1, bytes + *length, &stop_length))) {
        reply.is_known = read_colour(at + sizeof prefix - 1, stop, &reply.is_light);
        take_out(at, stop + stop_length, bytes + *length, length);
    }
    at = memmem(bytes, *length, attributes, sizeof attributes - 1);
    for (stop = at; stop && stop < bytes + *length && *stop != 'c'; stop++)
        continue;
    if (stop && stop < bytes + *length) {
        reply.is_over = true;
        take_out(at, stop + 1, bytes + *length, length);
    }
    return reply;
}

enum {
    TTY_READ_BYTES = 65536,
    TTY_REPLY_BYTES = 512,
    TTY_ASK_MS = 100,
    TTY_DRAIN_MS = 500, /* a terminal that takes nothing is not waited for longer */
    TTY_ROWS = 24,
    TTY_COLUMNS = 80,
};

static const char FOCUS_ON[] = "\033[?1004h", FOCUS_OFF[] = "\033[?1004l";
static const char TITLE_KEEP[] = "\033[22;2t", TITLE_BACK[] = "\033[23;2t";
static const char ALTERNATE_OFF[] = "\033[?1049l";

enum { SIGNAL_SIZE, SIGNAL_STOP, SIGNAL_GO_ON, SIGNAL_TERM, SIGNAL_INT, SIGNAL_HUP, SIGNAL_COUNT };
static const int signal_numbers[SIGNAL_COUNT] = { SIGWINCH, SIGTSTP, SIGCONT,
                                                  SIGTERM,  SIGINT,  SIGHUP };
static const int crash_numbers[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

struct tty {
    uv_poll_t poll; /* first */
    uv_signal_t signals[SIGNAL_COUNT];
    int open_handles;
    struct tty_calls calls;
    int fd;
    struct text out;
    bool is_closed, is_plain;
    bool is_going_on; /* after tty_suspend: the SIGCONT that follows is ours */
};

/* For the handler of a crash, which may touch little. */
static struct {
    volatile sig_atomic_t is_raw, has_title;
    int fd;
    struct termios before;
} kept = { .fd = -1 };

static int open_tty(void)
{
    int fd;

    do
        fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    return fd;
}

enum tty_trouble tty_check(void)
{
    int fd = open_tty();
    struct termios modes;
    bool ok = fd >= 0 && tcgetattr(fd, &modes) == 0;
    int why = errno;

    if (fd >= 0)
        close(fd);
    if (ok)
        return TTY_FINE;
    return why == EPERM || why == EACCES ? TTY_FORBIDDEN : TTY_NONE;
}

static void write_at_once(int fd, const char *bytes, size_t length)
{
    ssize_t put = write(fd, bytes, length);

    (void)put; /* the last words of a program that is ending anyway */
}

static void on_crash(int number)
{
    if (kept.is_raw) {
        write_at_once(kept.fd, ALTERNATE_OFF, sizeof ALTERNATE_OFF - 1);
        write_at_once(kept.fd, painter_reset_bytes, strlen(painter_reset_bytes));
        write_at_once(kept.fd, FOCUS_OFF, sizeof FOCUS_OFF - 1);
        if (kept.has_title)
            write_at_once(kept.fd, TITLE_BACK, sizeof TITLE_BACK - 1);
        tcsetattr(kept.fd, TCSAFLUSH, &kept.before);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void go_raw(struct tty *tty)
{
    struct termios raw = kept.before;

    if (tty->is_plain)
        return;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(tty->fd, TCSADRAIN, &raw);
    kept.is_raw = 1;
}

static void update_poll(struct tty *tty);

/* False: the terminal is gone. */
static bool flush(struct tty *tty)
{
    while (tty->out.used > 0) {
        ssize_t put = write(tty->fd, tty->out.bytes, tty->out.used);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno == EAGAIN;
        text_drop_front(&tty->out, (size_t)put);
    }
    return true;
}

/* Waits a little for a slow terminal; what it does not take then is given up. */
static void drain(struct tty *tty)
{
    struct pollfd ready = { .fd = tty->fd, .events = POLLOUT };

    while (flush(tty) && tty->out.used > 0 && poll(&ready, 1, TTY_DRAIN_MS) > 0)
        continue;
    text_clear(&tty->out);
}

/* What was typed and not read must not become a command of the shell's: it is thrown away. */
static void go_back(struct tty *tty)
{
    if (tty->is_plain) {
        drain(tty);
        return;
    }
    text_add_text(&tty->out, FOCUS_OFF);
    if (kept.has_title)
        text_add_text(&tty->out, TITLE_BACK);
    kept.has_title = 0;
    drain(tty);
    tcsetattr(tty->fd, TCSAFLUSH, &kept.before);
    kept.is_raw = 0;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct tty *tty = (struct tty *)poll;
    char bytes[TTY_READ_BYTES];
    ssize_t got = 0;

    if (status < 0 || ((events & UV_WRITABLE) && !flush(tty))) {
        tty->calls.ended(tty->calls.context, 0);
        return;
    }
    if (events & UV_WRITABLE && tty->out.used == 0) {
        update_poll(tty);
        tty->calls.written(tty->calls.context);
    }
    if (tty->is_closed || !(events & UV_READABLE))
        return;
    got = read(tty->fd, bytes, sizeof bytes);
    if (got > 0)
        tty->calls.typed(tty->calls.context, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        tty->calls.ended(tty->calls.context, 0);
}

static void update_poll(struct tty *tty)
{
    int events = UV_READABLE | (tty->out.used > 0 ? UV_WRITABLE : 0);

    uv_poll_start(&tty->poll, events, on_ready);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct tty *tty = handle->data;

    switch (number) {
    case SIGWINCH:
        tty->calls.resized(tty->calls.context);
        break;
    case SIGTSTP:
        tty->calls.stop_wanted(tty->calls.context);
        break;
    case SIGCONT:
        if (!tty->is_going_on) {
            go_raw(tty);
            tty->calls.resumed(tty->calls.context);
        }
        tty->is_going_on = false;
        break;
    default:
        tty->calls.ended(tty->calls.context, number);
        break;
    }
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Before anything is drawn, and only for a moment: who does not answer is taken for dark. */
static void ask_background(struct tty *tty, struct terminal_kind *kind)
{
    char bytes[TTY_REPLY_BYTES];
    size_t length = 0;
    int64_t until_ms = now_ms() + TTY_ASK_MS;
    struct background_reply reply = { 0 };
    struct pollfd ready = { .fd = tty->fd, .events = POLLIN };

    write_at_once(tty->fd, background_question, strlen(background_question));
    while (!reply.is_over && now_ms() < until_ms && length < sizeof bytes) {
        ssize_t got = 0;

        if (poll(&ready, 1, (int)(until_ms - now_ms())) > 0)
            got = read(tty->fd, bytes + length, sizeof bytes - length);
        if (got <= 0)
            break;
        length += (size_t)got;
        reply = background_read(bytes, &length);
        if (reply.is_known)
            kind->is_light = reply.is_light;
    }
    /* keys typed before there was a question answer nothing: `length` of them are dropped */
}

static void start_signals(struct tty *tty, struct loop *loop)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        uv_signal_init(loop_uv(loop), &tty->signals[i]);
        tty->signals[i].data = tty;
        uv_signal_start(&tty->signals[i], on_signal, signal_numbers[i]);
        tty->open_handles++;
    }
    for (size_t i = 0; i < ARRAY_LEN(crash_numbers); i++)
        signal(crash_numbers[i], on_crash);
}

static void want_focus(struct tty *tty)
{
    struct text focus = { 0 };

    if (tty->is_plain)
        return;
    text_add(&focus, FOCUS_ON, sizeof FOCUS_ON - 1);
    tty_write(tty, &focus);
}

struct tty *tty_open(struct loop *loop, const struct tty_calls *calls, struct terminal_kind *kind,
                     bool is_plain)
{
    int fd = open_tty();
    struct tty *tty;

    if (fd < 0 || tcgetattr(fd, &kept.before) != 0) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    tty = mem_new(sizeof *tty);
    tty->calls = *calls;
    tty->is_plain = is_plain;
    tty->fd = kept.fd = fd;
    uv_poll_init(loop_uv(loop), &tty->poll, fd);
    tty->open_handles = 1;
    start_signals(tty, loop);
    go_raw(tty);
    if (kind->answers && !is_plain)
        ask_background(tty, kind);
    want_focus(tty);
    update_poll(tty);
    return tty;
}

void tty_size(const struct tty *tty, int *ret_rows, int *ret_columns)
{
    struct winsize size = { 0 };

    ioctl(tty->fd, TIOCGWINSZ, &size);
    *ret_rows = size.ws_row > 0 ? size.ws_row : TTY_ROWS;
    *ret_columns = size.ws_col > 0 ? size.ws_col : TTY_COLUMNS;
}

void tty_write(struct tty *tty, struct text *take_bytes)
{
    text_add(&tty->out, take_bytes->bytes, take_bytes->used);
    text_release(take_bytes);
    flush(tty); /* where it is gone, reading says so */
    update_poll(tty);
}

void tty_title(struct tty *tty, const char *words)
{
    struct text out = { 0 };

    if (!kept.has_title)
        text_add(&out, TITLE_KEEP, sizeof TITLE_KEEP - 1);
    kept.has_title = 1;
    text_add_format(&out, "\033]2;%s\033\\", words);
    tty_write(tty, &out);
}

bool tty_is_writing(const struct tty *tty)
{
    return tty->out.used > 0;
}

void tty_suspend(struct tty *tty)
{
    go_back(tty);
    uv_signal_stop(&tty->signals[SIGNAL_STOP]);
    tty->is_going_on = true;
    kill(0, SIGTSTP); /* the whole job, as the terminal itself would */
    uv_signal_start(&tty->signals[SIGNAL_STOP], on_signal, SIGTSTP);
    go_raw(tty);
    want_focus(tty);
}

static void on_closed(uv_handle_t *handle)
{
    struct tty *tty = handle->data;

    if (--tty->open_handles > 0)
        return;
    close(tty->fd);
    text_release(&tty->out);
    free(tty);
}

void tty_close(struct tty *tty)
{
    if (!tty)
        return;
    go_back(tty);
    tty->is_closed = true;
    tty->poll.data = tty;
    uv_close((uv_handle_t *)&tty->poll, on_closed);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        uv_close((uv_handle_t *)&tty->signals[i], on_closed);
    for (size_t i = 0; i < ARRAY_LEN(crash_numbers); i++)
        signal(crash_numbers[i], SIG_DFL);
}
