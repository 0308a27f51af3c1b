#include "mcp/stdio/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/loop.h"
#include "base/os.h"
#include "base/text.h"
#include "core/limits.h"
#include "mcp/mcp.h"
#include "mcp/mcp_features.h"
#include "rpc/client.h"
#include "rpc/service.h"
#include "settings/settings.h"

enum {
    STDIO_READ_BYTES = 65536,
    STDIO_OUT_BYTES = 8388608, /* a client further behind is not read from */
    STDIO_DIRECTORY_BYTES = 4096,
    STDIO_CALLS = 4096,
    /* At the end a client that takes nothing for so long is gone: one that only closed its side,
     * and one that told us to go. */
    STDIO_LAST_WORDS_MS = 2000,
    STDIO_TOLD_TO_GO_MS = 500,
};

struct stdio {
    struct clock clock;       /* first: the protocol's clock is this */
    struct mcp_stream stream; /* of everything */
    struct loop *loop;
    struct loop_timer *timer;
    struct service *service;
    struct mcp *mcp;
    const char *tools; /* that are listed; NULL: the setting says */
    int64_t client_timeout_s;
    uv_poll_t in_poll, out_poll;
    uv_idle_t in_idle; /* for files, which are always ready */
    bool is_polled, is_reading, is_ended, is_told_to_go;
    bool is_out_polled, is_writing;
    bool skips_line; /* the rest of a line that was too long */
    struct text in, out;
    size_t out_done;         /* bytes of `out` the client has */
    int in_flags, out_flags; /* of the file descriptions we share with our parent process */
    struct current_settings *settings;
    char directory[STDIO_DIRECTORY_BYTES];
};

static int64_t stdio_boot_ms(struct clock *clock)
{
    (void)clock;
    return loop_boot_ms();
}

static int64_t stdio_utc_ms(struct clock *clock)
{
    (void)clock;
    return loop_utc_ms();
}

static void stdio_wake_at(struct clock *clock, int64_t boot_ms)
{
    struct stdio *stdio = (struct stdio *)clock;

    if (boot_ms < 0)
        loop_timer_stop(stdio->timer);
    else
        loop_timer_at(stdio->timer, boot_ms);
}

static void on_time(void *context)
{
    struct stdio *stdio = context;

    mcp_on_time(stdio->mcp);
}

static int64_t hold_limit_s(void *context, const char *client_name, bool has_progress)
{
    struct stdio *stdio = context;

    return settings_hold_limit_s(current_settings(stdio->settings), client_name, has_progress,
                                 stdio->client_timeout_s);
}

static bool is_gated(void *context, const char *tool, const struct json *input)
{
    struct stdio *stdio = context;
    char home[STDIO_DIRECTORY_BYTES];
    const struct gate_call call = { .tool = tool,
                                    .input = input,
                                    .directory = stdio->directory,
                                    .home = os_home(home, sizeof home) ? home : NULL };

    return settings_gate(current_settings(stdio->settings), &call).kind != GATE_NONE;
}

static bool offers_modern(void *context, const char *client_name)
{
    struct stdio *stdio = context;

    return settings_offers_modern(current_settings(stdio->settings), client_name);
}

static const char *tools(void *context)
{
    struct stdio *stdio = context;

    return stdio->tools ? stdio->tools
                        : settings_text(current_settings(stdio->settings), SETTING_TOOLS);
}

static bool refuses(void *context, struct error *err)
{
    return settings_problem(current_settings(((struct stdio *)context)->settings), err);
}

static void end(struct stdio *stdio)
{
    if (stdio->is_ended)
        return;
    stdio->is_ended = true;
    loop_stop(stdio->loop);
}

static size_t out_left(const struct stdio *stdio)
{
    return stdio->out.used - stdio->out_done;
}

/* As much as the client takes. What it has is dropped once it is the larger half, so that a slow
 * reader of much does not make us move the rest again and again. */
static ssize_t write_some(struct stdio *stdio)
{
    ssize_t put = write(STDOUT_FILENO, stdio->out.bytes + stdio->out_done, out_left(stdio));

    if (put > 0)
        stdio->out_done += (size_t)put;
    if (stdio->out_done * 2 >= stdio->out.used) {
        text_drop_front(&stdio->out, stdio->out_done);
        stdio->out_done = 0;
    }
    return put;
}

static void watch_input(struct stdio *stdio, bool wanted);

static void write_out(struct stdio *stdio);

static void on_writable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    write_out(poll->data);
}

/* The rest goes out when the client reads. One that never reads is not read from. */
static void write_out(struct stdio *stdio)
{
    while (out_left(stdio)) {
        ssize_t put = write_some(stdio);

        if (put > 0 || (put < 0 && errno == EINTR))
            continue;
        if (put < 0 && errno == EAGAIN && stdio->is_out_polled)
            break;
        end(stdio);
        return;
    }
    if (stdio->is_out_polled && (out_left(stdio) > 0) != stdio->is_writing) {
        stdio->is_writing = out_left(stdio) > 0;
        if (stdio->is_writing)
            uv_poll_start(&stdio->out_poll, UV_WRITABLE, on_writable);
        else
            uv_poll_stop(&stdio->out_poll);
    }
    watch_input(stdio, out_left(stdio) < STDIO_OUT_BYTES);
    if (out_left(stdio) == 0)
        mcp_confirm(stdio->mcp, &stdio->stream);
}

/* What a client that closed its end, or told us to go, still reads. */
static void write_last_words(struct stdio *stdio)
{
    struct pollfd ready = { .fd = STDOUT_FILENO, .events = POLLOUT };
    int limit_ms = stdio->is_told_to_go ? STDIO_TOLD_TO_GO_MS : STDIO_LAST_WORDS_MS;

    while (out_left(stdio) && poll(&ready, 1, limit_ms) == 1) {
        ssize_t put = write_some(stdio);

        if (put < 0 && errno != EAGAIN && errno != EINTR)
            return;
    }
    if (out_left(stdio) == 0)
        mcp_confirm(stdio->mcp, &stdio->stream);
}

static void on_message(struct mcp_stream *stream, const struct mcp_message *message)
{
    struct stdio *stdio = (struct stdio *)(void *)((char *)stream - offsetof(struct stdio, stream));

    text_add(&stdio->out, message->line, message->length);
}
static const struct mcp_stream_ops stream_ops = { .message = on_message };

static void take_line(struct stdio *stdio, const char *line, size_t length)
{
    if (stdio->skips_line)
        stdio->skips_line = false;
    else
        mcp_take_line(stdio->mcp, &stdio->stream, line, length);
}

static void take_bytes(struct stdio *stdio, const char *bytes, size_t length)
{
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length;

        if (!stdio->skips_line && stdio->in.used + part > LIMIT_RPC_LINE_BYTES) {
            stdio->skips_line = true;
            mcp_refuse_long_line(stdio->mcp, &stdio->stream, text_string(&stdio->in),
                                 stdio->in.used);
            text_clear(&stdio->in);
        }
        if (newline && stdio->in.used == 0) {
            take_line(stdio, bytes, part);
        } else {
            if (!stdio->skips_line)
                text_add(&stdio->in, bytes, part);
            if (newline) {
                take_line(stdio, text_string(&stdio->in), stdio->in.used);
                text_clear(&stdio->in);
            }
        }
        if (!newline)
            return;
        bytes += part + 1;
        length -= part + 1;
    }
}

static void read_in(struct stdio *stdio)
{
    static char bytes[STDIO_READ_BYTES];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);

    if (got > 0) {
        take_bytes(stdio, bytes, (size_t)got);
        write_out(stdio);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (stdio->in.used) /* a last line without its end is a message all the same */
            take_line(stdio, text_string(&stdio->in), stdio->in.used);
        write_out(stdio);
        end(stdio);
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status; /* an error shows when reading */
    (void)events;
    read_in(poll->data);
}

static void on_idle(uv_idle_t *idle)
{
    read_in(idle->data);
}

static void watch_input(struct stdio *stdio, bool wanted)
{
    if (wanted == stdio->is_reading || stdio->is_ended)
        return;
    stdio->is_reading = wanted;
    if (stdio->is_polled && wanted)
        uv_poll_start(&stdio->in_poll, UV_READABLE | UV_DISCONNECT, on_readable);
    else if (stdio->is_polled)
        uv_poll_stop(&stdio->in_poll);
    else if (wanted)
        uv_idle_start(&stdio->in_idle, on_idle);
    else
        uv_idle_stop(&stdio->in_idle);
}

/* epoll takes pipes, sockets and terminals; files and /dev/null are read as they come. */
static bool can_poll(int fd)
{
    struct stat found;

    return fstat(fd, &found) == 0 &&
           (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) || isatty(fd));
}

static void open_streams(struct stdio *stdio)
{
    uv_loop_t *uv = loop_uv(stdio->loop);

    stdio->in_flags = fcntl(STDIN_FILENO, F_GETFL);
    stdio->out_flags = fcntl(STDOUT_FILENO, F_GETFL);
    stdio->in_poll.data = stdio->out_poll.data = stdio->in_idle.data = stdio;
    uv_idle_init(uv, &stdio->in_idle);
    stdio->is_polled =
        can_poll(STDIN_FILENO) && uv_poll_init(uv, &stdio->in_poll, STDIN_FILENO) == 0;
    stdio->is_out_polled =
        can_poll(STDOUT_FILENO) && uv_poll_init(uv, &stdio->out_poll, STDOUT_FILENO) == 0;
    watch_input(stdio, true);
}

static void close_streams(struct stdio *stdio)
{
    uv_close((uv_handle_t *)&stdio->in_idle, NULL);
    if (stdio->is_polled)
        uv_close((uv_handle_t *)&stdio->in_poll, NULL);
    if (stdio->is_out_polled)
        uv_close((uv_handle_t *)&stdio->out_poll, NULL);
    /* non-blocking is a property of what we share: given back as it was */
    if (stdio->in_flags >= 0)
        fcntl(STDIN_FILENO, F_SETFL, stdio->in_flags);
    if (stdio->out_flags >= 0)
        fcntl(STDOUT_FILENO, F_SETFL, stdio->out_flags);
}

static void on_signal(void *context, int number)
{
    struct stdio *stdio = context;

    (void)number;
    stdio->is_told_to_go = true;
    end(stdio);
}

static void before_sleep(void *context)
{
    struct stdio *stdio = context;

    if (out_left(stdio) && !stdio->is_writing)
        write_out(stdio);
    stdio->settings->is_seen = false;
}

void stdio_run(const struct stdio_options *options)
{
    struct stdio stdio = { .clock = { stdio_boot_ms, stdio_utc_ms, stdio_wake_at, 0 },
                           .stream = { .ops = &stream_ops },
                           .tools = options->tools,
                           .settings = options->settings,
                           .client_timeout_s = options->client_timeout_s };
    struct mcp_parts parts = {
        .clock = &stdio.clock,
        .uid = geteuid(),
        .pid = getpid(),
        .as_name = options->as_name,
        .is_sub_agent = options->is_sub_agent,
        .max_calls = STDIO_CALLS,
        .transport = "stdio",
        .context = &stdio,
        .hold_limit_s = hold_limit_s,
        .is_gated = is_gated,
        .offers_modern = offers_modern,
        .tools = tools,
    };

    stdio.loop = loop_new();
    loop_on_signal(stdio.loop, on_signal, &stdio);
    loop_before_sleep(stdio.loop, before_sleep, &stdio);
    stdio.timer = loop_timer_new(stdio.loop, on_time, &stdio);
    stdio.service = client_service_new(stdio.loop, refuses, &stdio);
    if (os_working_directory(stdio.directory, sizeof stdio.directory))
        parts.directory = stdio.directory;
    parts.service = stdio.service;
    if (settings_is_on(current_settings(stdio.settings), SETTING_COMPAT))
        parts.features = mcp_compat_features();
    stdio.mcp = mcp_new(&parts);
    mcp_stand(stdio.mcp, &stdio.stream);
    open_streams(&stdio);
    loop_run(stdio.loop);
    write_last_words(&stdio);
    mcp_drop(stdio.mcp, &stdio.stream);
    mcp_free(stdio.mcp);
    close_streams(&stdio);
    loop_timer_free(stdio.timer);
    loop_free(stdio.loop);
    client_service_free(stdio.service);
    text_release(&stdio.in);
    text_release(&stdio.out);
}
