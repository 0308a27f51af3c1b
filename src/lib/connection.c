/*
 * connection.c - finding, starting, greeting and losing a hub, one step at a time and none that
 * waits. It goes the way of wire/link.c, which may wait.
 *
 *   AWAY --hub listens--> GREETING --hello--> UP --end--> AWAY
 *    | `--nobody there--> STARTING --serves--> AWAY
 *    `------------------> PAUSED --in a moment--> AWAY, until patience is over
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "lib/inside.h"
#include "wire/place.h"
#include "wire/wire.h"

enum {
    STEPS = 16, /* of one call; then the host program has its turn */
    START_TRIES = 5,
    RETIRED_TRIES = 25, /* about 2 s: another hub is on its way */
    HELLO_LIMIT_MS = 10000,
    MOST_LOSSES = 10,
    PAUSE_MOST_MS = 200,
    PROGRAM_BYTES = 4096,
};

static void enter(struct sayso *sayso, enum phase phase, int fd, int64_t wake_ms)
{
    if (sayso->fd >= 0 && sayso->fd != fd)
        close(sayso->fd);
    sayso->phase = phase;
    sayso->fd = fd;
    sayso->wake_ms = wake_ms;
}

static void forget_lines(struct sayso *sayso)
{
    text_release(&sayso->in);
    text_release(&sayso->out);
    sayso->scanned = 0;
    sayso->hello_id = 0;
    sayso->closing[0] = '\0';
}

void connection_drop(struct sayso *sayso)
{
    forget_lines(sayso);
    enter(sayso, PHASE_AWAY, -1, -1);
    sayso->until_ms = 0;
}

void connection_give_up(struct sayso *sayso, enum sayso_code code, const char *why)
{
    connection_drop(sayso);
    handle_fail(sayso, code, "%s", why);
    if (sayso->wants_hub)
        sayso->give_up_code = (int)code;
    sayso->wants_hub = false;
    sayso->losses = 0;
    text_release(&sayso->delivered); /* such answers are given once more, which is the safe side */
    text_release(&sayso->delivering);
    request_end_all(sayso, code, why);
}

static void run_out(struct sayso *sayso)
{
    connection_give_up(sayso, SAYSO_NO_MEMORY, "out of memory");
}

static void try_later(struct sayso *sayso, int64_t now_ms, const char *why)
{
    int64_t pause_ms = 2 + (int64_t)sayso->tries * 5;

    if (now_ms >= sayso->until_ms) {
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, why);
        return;
    }
    forget_lines(sayso);
    enter(sayso, PHASE_PAUSED, -1, now_ms + (pause_ms > PAUSE_MOST_MS ? PAUSE_MOST_MS : pause_ms));
}

static void start_hub(struct sayso *sayso, int64_t now_ms)
{
    char program[PROGRAM_BYTES];
    const char *const arguments[] = START_ARGUMENTS(program);
    struct error err;
    int fd = -1;

    if (!hello_find_program(sayso, program, sizeof program))
        error_set(&err, ERROR_unavailable, "",
                  "no hub is running and there is no program sayso in PATH to start one: install "
                  "it, or name it with SAYSO_PROGRAM");
    else if (place_prepare(&sayso->place, &err))
        fd = os_begin_daemon(program, arguments, sayso->place.log, start_environment, &err);
    if (fd >= 0) {
        sayso->words = (struct os_daemon_words){ 0 };
        enter(sayso, PHASE_STARTING, fd, now_ms + START_LIMIT_MS);
    } else {
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, err.message);
    }
}

static void find_nobody(struct sayso *sayso, int64_t now_ms)
{
    const char *start = sayso->options[SAYSO_START], *path = sayso->options[SAYSO_SOCKET];
    bool may_start = !path && (!start || strcmp(start, "no") != 0);
    char why[LIB_ERROR_BYTES];

    snprintf(why, sizeof why, path ? "no hub listens on %s" : "no hub is running", path);
    if (!may_start && !sayso->was_reached)
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, why);
    else if (!may_start || (sayso->is_retired && sayso->tries <= RETIRED_TRIES))
        try_later(sayso, now_ms, why);
    else
        start_hub(sayso, now_ms);
}

static int64_t patience_ms(const struct sayso *sayso)
{
    int64_t chosen = LIB_PATIENCE_MS;

    if (sayso->options[SAYSO_PATIENCE_MS])
        text_parse_integer(sayso->options[SAYSO_PATIENCE_MS], &chosen);
    return chosen;
}

static void step_away(struct sayso *sayso, int64_t now_ms)
{
    struct place_note note;
    struct error err;
    int fd = -1;

    if (!sayso->until_ms) {
        sayso->until_ms = now_ms + patience_ms(sayso);
        sayso->tries = 0;
        sayso->failed_starts = 0;
    }
    sayso->tries++;
    if (sayso->options[SAYSO_SOCKET])
        fd = place_connect(sayso->options[SAYSO_SOCKET], SOCK_NONBLOCK);
    else if (!place_find(&sayso->place, &err))
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, err.message);
    else if (place_read_note(&sayso->place, &note, &err))
        fd = place_connect(note.socket, SOCK_NONBLOCK);
    else if (error_is_no_memory(&err))
        run_out(sayso);
    if (!sayso->until_ms)
        return; /* given up */
    if (fd < 0) {
        find_nobody(sayso, now_ms);
        return;
    }
    enter(sayso, PHASE_GREETING, fd, now_ms + HELLO_LIMIT_MS);
    if (!hello_say(sayso))
        run_out(sayso);
}

static void step_starting(struct sayso *sayso, int64_t now_ms)
{
    struct pollfd ready = { .fd = sayso->fd, .events = POLLIN };
    enum os_daemon state = OS_DAEMON_STARTING;
    struct error err;

    if (poll(&ready, 1, 0) == 1)
        state = os_hear_daemon(sayso->fd, &sayso->words);
    else if (now_ms >= sayso->wake_ms)
        state = OS_DAEMON_FAILED;
    if (state == OS_DAEMON_READY) {
        try_later(sayso, now_ms, "the hub serves and can't be found");
    } else if (state == OS_DAEMON_FAILED) {
        os_blame_daemon(&sayso->words, sayso->place.log, &err);
        if (++sayso->failed_starts >= START_TRIES)
            connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, err.message);
        else
            try_later(sayso, now_ms, err.message);
    }
}

/* Whoever stopped the hub does not find it started again behind their back. */
static void lose(struct sayso *sayso, int64_t now_ms)
{
    bool was_stopped = strcmp(sayso->closing, "stop") == 0;
    bool was_greeting = sayso->phase == PHASE_GREETING;

    sayso->is_retired = strcmp(sayso->closing, "retire") == 0;
    if (was_greeting) {
        try_later(sayso, now_ms, "the hub closes the connection before it answers");
        return;
    }
    request_lose_all(sayso);
    connection_drop(sayso);
    if (was_stopped)
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED,
                           "the hub was stopped; the ask stays open and is collected later");
    else if (++sayso->losses > MOST_LOSSES)
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, "the hub went away again and again");
}

static void take_greeting(struct sayso *sayso, const struct jsonrpc_message *message)
{
    const struct json *code = json_member(message->error, "code");
    int64_t number = 0;

    sayso->hello_id = 0;
    if (!message->error) {
        enter(sayso, PHASE_UP, sayso->fd, -1);
        sayso->until_ms = 0;
        sayso->was_reached = true;
        sayso->is_retired = false;
        sayso->wants_hub = false;
        sayso->give_up_code = SAYSO_OK;
        return;
    }
    json_integer_of(code, &number);
    connection_give_up(sayso, number == WIRE_NUMBER_REFUSED ? SAYSO_NOT_SUPPORTED : SAYSO_REFUSED,
                       number == WIRE_NUMBER_REFUSED
                           ? "a hub of another version is running and does not speak with this "
                             "library: end it with sayso stop, or update"
                           : "the hub does not take us in");
}

static void note_closing(struct sayso *sayso, const struct jsonrpc_message *message)
{
    const char *why = json_member_text(message->params, "why");

    snprintf(sayso->closing, sizeof sayso->closing, "%s", why ? why : "stop");
}

/* False: what was heard ended the connection. */
static bool hear_line(struct sayso *sayso, const char *line, size_t length)
{
    static const char not_a_hub[] = "what listens there does not speak as a hub does";
    struct jsonrpc_message message;
    struct json *root = NULL;
    struct error err;
    int64_t id = 0;
    bool ok = true;

    if (!json_parse(line, length, &root, &err)) {
        connection_give_up(sayso, error_is_no_memory(&err) ? SAYSO_NO_MEMORY : SAYSO_CHANNEL_CLOSED,
                           error_is_no_memory(&err) ? err.message : not_a_hub);
        return false;
    }
    if (!jsonrpc_read(root, &message) || (message.error && json_kind(message.id) == KIND_NULL)) {
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, not_a_hub);
        ok = false;
    } else if (message.method && strcmp(message.method, "hub/closing") == 0) {
        note_closing(sayso, &message);
    } else if (!message.method && sayso->hello_id && json_integer_of(message.id, &id) &&
               id == sayso->hello_id) {
        take_greeting(sayso, &message);
        ok = sayso->phase == PHASE_UP;
    } else if (!request_take(sayso, &message, root)) {
        run_out(sayso);
        ok = false;
    }
    json_free(root);
    return ok;
}

/* False: the connection ended by what was heard. */
static bool hear_all(struct sayso *sayso)
{
    size_t at = 0, length = 0;
    const char *line;

    while ((line = stream_line(sayso, &at, &length))) {
        if (!hear_line(sayso, line, length))
            return false;
    }
    stream_drop_lines(sayso, at);
    return true;
}

static void step_talking(struct sayso *sayso, int64_t now_ms)
{
    enum stream_end end = stream_read(sayso);
    bool is_lost = end == STREAM_LOST;

    if (end == STREAM_TOO_LONG)
        connection_give_up(sayso, SAYSO_CHANNEL_CLOSED, "the hub's message has no end");
    else if (end == STREAM_NO_MEMORY)
        run_out(sayso);
    if (sayso->fd < 0 || !hear_all(sayso))
        return;
    if (sayso->phase == PHASE_UP && !is_lost)
        request_send_all(sayso, now_ms);
    if (sayso->fd < 0)
        return; /* out of memory meanwhile */
    if (!is_lost)
        is_lost = !stream_flush(sayso);
    if (is_lost || (sayso->phase == PHASE_GREETING && now_ms >= sayso->wake_ms))
        lose(sayso, now_ms);
}

static bool needs_hub(const struct sayso *sayso)
{
    return sayso->wants_hub || sayso->delivered.used || sayso->delivering.used ||
           request_needs_hub(sayso);
}

void connection_advance(struct sayso *sayso)
{
    for (int i = 0; i < STEPS; i++) {
        int64_t now_ms = handle_now_ms();
        enum phase before = sayso->phase;

        switch (before) {
        case PHASE_AWAY:
            if (!needs_hub(sayso))
                return;
            step_away(sayso, now_ms);
            break;
        case PHASE_PAUSED:
            if (now_ms >= sayso->wake_ms)
                enter(sayso, PHASE_AWAY, -1, -1);
            break;
        case PHASE_STARTING:
            step_starting(sayso, now_ms);
            break;
        case PHASE_GREETING:
        case PHASE_UP:
            step_talking(sayso, now_ms);
            break;
        }
        if (sayso->phase == before)
            return;
    }
}

/* Lines to and from the hub, without waiting for either. */

enum {
    READ_BYTES = 8192,
    READS = 64, /* at once; then the host program has its turn */
    /* four times what the wire allows: a result holds what was asked and what was answered */
    MOST_LINE_BYTES = 4 * LIMIT_WIRE_LINE_BYTES,
};

bool stream_call(struct sayso *sayso, const char *method, const struct text *params,
                 int64_t *ret_id)
{
    size_t before = sayso->out.used;

    if (params->has_overflowed)
        return false;
    jsonrpc_add_request(&sayso->out, ++sayso->last_id, method, text_string(params));
    if (sayso->out.has_overflowed) { /* half a line would spoil the next */
        sayso->out.used = before;
        sayso->out.has_overflowed = false;
        return false;
    }
    *ret_id = sayso->last_id;
    return true;
}

bool stream_flush(struct sayso *sayso)
{
    size_t sent = 0;
    bool is_there = true;

    while (sent < sayso->out.used && is_there) {
        ssize_t put = send(sayso->fd, sayso->out.bytes + sent, sayso->out.used - sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);

        if (put > 0)
            sent += (size_t)put;
        else if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        else
            is_there = put < 0 && errno == EINTR;
    }
    text_drop_front(&sayso->out, sent);
    return is_there;
}

enum stream_end stream_read(struct sayso *sayso)
{
    char bytes[READ_BYTES];

    for (int i = 0; i < READS; i++) {
        ssize_t got = recv(sayso->fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return STREAM_IDLE;
        if (got <= 0)
            return STREAM_LOST;
        if (sayso->in.used + (size_t)got > MOST_LINE_BYTES)
            return STREAM_TOO_LONG;
        text_add(&sayso->in, bytes, (size_t)got);
        if (sayso->in.has_overflowed)
            return STREAM_NO_MEMORY;
    }
    return STREAM_IDLE;
}

const char *stream_line(struct sayso *sayso, size_t *at, size_t *ret_length)
{
    size_t from = *at > sayso->scanned ? *at : sayso->scanned;
    const char *line, *end;

    if (from >= sayso->in.used)
        return NULL;
    line = sayso->in.bytes + *at;
    end = memchr(sayso->in.bytes + from, '\n', sayso->in.used - from);
    if (!end) {
        sayso->scanned = sayso->in.used;
        return NULL;
    }
    *ret_length = (size_t)(end - line);
    *at += *ret_length + 1;
    return line;
}

void stream_drop_lines(struct sayso *sayso, size_t bytes)
{
    text_drop_front(&sayso->in, bytes);
    sayso->scanned = sayso->scanned > bytes ? sayso->scanned - bytes : 0;
}
