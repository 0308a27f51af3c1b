#include "rpc/finder.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/jsonrpc.h"
#include "rpc/protocol.h"

enum {
    STEPS = 16, /* of one call; then the owner of the loop has a turn */
    READ_BYTES = 16384,
    READS = 64,
    START_LIMIT_MS = 5000, /* until it says that it serves */
    START_TRIES = 5,       /* it may be killed while it starts */
    RETIRED_TRIES = 25,    /* about 2 s: another hub is on its way */
    GREETING_LIMIT_MS = 10000,
    PAUSE_MAX_MS = 200,
    REMOTE_PAUSE_MS = 100,  /* longer each time, up to a second */
    REMOTE_FIRST_MS = 5000, /* a hub of another machine that was not seen yet */
    REMOTE_MS = 120000,     /* and one that was there: a machine may be restarted */
    PROGRAM_BYTES = 4096,
    GREETING_ID = 0, /* of hello and hub/retire; calls count from 1 */
};

/* What a hub that we start may inherit: never a key of another tool. Ours are settings. */
static const char *const start_environment[] = {
    "HOME", "PATH", "USER", "LOGNAME", "LANG", "LC_*", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "TZ", "TMPDIR", "CHOICE_LANG",
    /* with which it finds the person's browser, or that there is none */
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "BROWSER", "WSL_*",
    "SSH_CONNECTION", "SAYSO_*",
#ifdef SAYSO_CRASH_POINTS
    "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD", "FAKETIME*",
    "DONT_FAKE_MONOTONIC",
#endif
    NULL
};

static int (*begin_remote)(int *ret_fd, struct error *err);
static const char *chosen_socket;

void finder_use_remote(int (*begin)(int *ret_fd, struct error *err))
{
    begin_remote = begin;
}

bool finder_is_remote(void)
{
    return begin_remote != NULL;
}

void finder_use_socket(const char *path)
{
    chosen_socket = path;
}

static const char *socket_of(const struct finder *finder)
{
    return finder->who->socket_path ? finder->who->socket_path : chosen_socket;
}

static bool is_remote(const struct finder *finder)
{
    return begin_remote && !socket_of(finder);
}

void client_identity_write(struct json_writer *writer, const struct client_identity *who)
{
    json_write_object(writer, NULL);
    json_write_integer(writer, "wire", rpc_number());
    json_write_text(writer, "version", SAYSO_VERSION);
    json_write_text(writer, "role", who->role);
    json_write_text_if(writer, "channel", who->channel);
    json_write_text(writer, "name", who->name);
    json_write_text_if(writer, "as", who->as_name);
    json_write_text_if(writer, "directory", who->directory);
    if (strcmp(who->role, "agent") == 0)
        json_write_text_if(writer, "language", rpc_language());
    json_write_text_if(writer, "client_version", who->client_version);
    json_write_text_if(writer, "transport", who->transport);
    json_write_bool_if(writer, "sub_agent", who->is_sub_agent);
    json_write_list(writer, "features");
    json_write_end_list(writer);
    json_write_end_object(writer);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void forget_lines(struct finder *finder)
{
    text_release(&finder->in);
    text_release(&finder->out);
    finder->done = finder->scanned = 0;
    finder->is_ended = finder->is_retiring = false;
}

static void enter(struct finder *finder, enum finder_phase phase, int fd, int64_t wake_ms)
{
    if (finder->fd >= 0 && finder->fd != fd && finder->closing)
        finder->closing(finder->context);
    if (finder->fd != fd)
        close_fd(&finder->fd);
    finder->phase = phase;
    finder->fd = fd;
    finder->wake_ms = wake_ms;
}

void finder_drop(struct finder *finder)
{
    forget_lines(finder);
    close_fd(&finder->socket_fd);
    enter(finder, FINDER_IDLE, -1, -1);
}

static void fail(struct finder *finder, enum finder_failure failure)
{
    finder_drop(finder);
    finder->phase = FINDER_FAILED;
    finder->failure = failure;
    finder->was_reached = false; /* who looks next need not wait for it again */
}

void finder_fail(struct finder *finder, enum finder_failure failure, const char *why)
{
    error_set(&finder->err, ERROR_unavailable, "", "%s", why);
    fail(finder, failure);
}

static void run_out(struct finder *finder)
{
    finder_fail(finder, FAILURE_NO_MEMORY, "out of memory");
}

static void pause_until(struct finder *finder, int64_t wake_ms)
{
    forget_lines(finder);
    close_fd(&finder->socket_fd);
    enter(finder, FINDER_PAUSED, -1, wake_ms);
}

/* At the socket that was chosen; false: none was. */
static bool say_nobody_listens(struct finder *finder)
{
    if (socket_of(finder))
        error_say_base(&finder->err, ERROR_unavailable, "", BASE_REASON_NOBODY_LISTENS, "path",
                       socket_of(finder), NULL);
    return socket_of(finder) != NULL;
}

/* No hub was there, or not for long; one may be there in a moment. */
static void try_later(struct finder *finder, int64_t now_ms)
{
    int64_t pause_ms = 2 + (int64_t)finder->tries * 5;

    if (now_ms < finder->until_ms) {
        pause_until(finder, now_ms + (pause_ms > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause_ms));
        return;
    }
    if (!say_nobody_listens(finder))
        error_say_base(&finder->err, ERROR_unavailable, "", BASE_REASON_NOT_REACHED, "path",
                       finder->location.log, NULL);
    fail(finder, FAILURE_UNREACHED);
}

/* finder->err says why. */
static void try_remote_later(struct finder *finder, int64_t now_ms)
{
    int tries = finder->tries < 10 ? finder->tries : 10;

    if (now_ms < finder->until_ms)
        pause_until(finder, now_ms + (int64_t)REMOTE_PAUSE_MS * tries);
    else
        fail(finder, FAILURE_UNREACHED);
}

static void start_hub(struct finder *finder, int64_t now_ms)
{
    const struct finder_policy *policy = finder->policy;
    char program[PROGRAM_BYTES];
    const char *const arguments[] = { program, "serve", "--auto-started", NULL };
    int fd = -1;

    if (policy->find_program && !policy->find_program(policy->context, program, sizeof program))
        error_set(&finder->err, ERROR_unavailable, "",
                  "no hub is running and there is no program sayso in PATH to start one: install "
                  "it, or name it with SAYSO_PROGRAM");
    else if (!policy->find_program && !os_own_program(program, sizeof program))
        error_say_base(&finder->err, ERROR_unavailable, "", BASE_REASON_NO_PROGRAM, NULL);
    else if (location_prepare(&finder->location, &finder->err))
        fd = os_begin_daemon(program, arguments, finder->location.log, start_environment,
                             &finder->err);
    finder->words = (struct os_daemon_words){ 0 };
    if (fd >= 0)
        enter(finder, FINDER_STARTING, fd, now_ms + START_LIMIT_MS);
    else
        fail(finder, FAILURE_START);
}

static void find_nobody(struct finder *finder, int64_t now_ms)
{
    bool may_start = finder->policy->may_start && !socket_of(finder);

    if (!may_start && !finder->was_reached) {
        if (!say_nobody_listens(finder))
            error_set(&finder->err, ERROR_not_found, "", "no hub is running");
        fail(finder, FAILURE_ABSENT);
    } else if (!may_start || (finder->is_retired && finder->tries <= RETIRED_TRIES)) {
        try_later(finder, now_ms);
    } else {
        start_hub(finder, now_ms);
    }
}

static void say(struct finder *finder, const char *method, const char *params_json)
{
    jsonrpc_add_request(&finder->out, GREETING_ID, method, params_json);
    if (finder->out.has_overflowed)
        run_out(finder);
}

static void greet(struct finder *finder, int fd, int64_t now_ms)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    enter(finder, FINDER_GREETING, fd, now_ms + GREETING_LIMIT_MS);
    client_identity_write(&writer, finder->who);
    if (params.has_overflowed)
        run_out(finder);
    else
        say(finder, "hello", text_string(&params));
    text_release(&params);
}

static void look_remote(struct finder *finder, int64_t now_ms)
{
    int fd = begin_remote(&finder->socket_fd, &finder->err);

    finder->words = (struct os_daemon_words){ 0 };
    if (fd >= 0)
        enter(finder, FINDER_STARTING, fd, -1); /* that thread has its own limit */
    else
        try_remote_later(finder, now_ms);
}

/* A service manager's socket would start the hub that we must not start. */
static bool may_connect(const struct finder *finder, const struct hub_record *record)
{
    const char *slash = strrchr(record->socket, '/');

    return finder->policy->may_start || !slash ||
           strcmp(slash + 1, LOCATION_ACTIVATION_NAME) != 0 || os_is_locked(finder->location.lock);
}

static void look(struct finder *finder, int64_t now_ms)
{
    struct hub_record record;
    struct error err = { 0 };
    int fd = -1;

    finder->tries++;
    errno = 0;
    if (is_remote(finder)) {
        look_remote(finder, now_ms);
        return;
    }
    if (socket_of(finder)) {
        fd = location_connect(socket_of(finder));
    } else if (!location_find(&finder->location, &finder->err)) {
        fail(finder, FAILURE_ABSENT);
        return;
    } else if (hub_record_read(&finder->location, &record, &err)) {
        if (may_connect(finder, &record))
            fd = location_connect(record.socket);
    } else if (error_is_no_memory(&err)) {
        run_out(finder);
        return;
    }
    if (fd >= 0)
        greet(finder, fd, now_ms);
    else if (errno == EAGAIN) /* it listens and has not come to us yet */
        try_later(finder, now_ms);
    else
        find_nobody(finder, now_ms);
}

static void take_remote_words(struct finder *finder, enum os_daemon state, int64_t now_ms)
{
    int fd = finder->socket_fd;

    if (state == OS_DAEMON_READY) {
        finder->socket_fd = -1;
        greet(finder, fd, now_ms);
        return;
    }
    error_set(&finder->err, ERROR_unavailable, "", "the connection ended");
    if (finder->words.used)
        os_read_why(&finder->words, &finder->err);
    if (finder->words.bytes[0] == OS_DAEMON_SAYS_WHY) /* the same the next time */
        fail(finder, FAILURE_REFUSED);
    else
        try_remote_later(finder, now_ms);
}

static void step_starting(struct finder *finder, int64_t now_ms)
{
    struct pollfd ready = { .fd = finder->fd, .events = POLLIN };
    enum os_daemon state = OS_DAEMON_STARTING;

    if (poll(&ready, 1, 0) == 1)
        state = os_hear_daemon(finder->fd, &finder->words);
    else if (finder->wake_ms >= 0 && now_ms >= finder->wake_ms)
        state = OS_DAEMON_FAILED;
    if (state == OS_DAEMON_STARTING)
        return;
    if (is_remote(finder)) {
        take_remote_words(finder, state, now_ms);
    } else if (state == OS_DAEMON_FAILED &&
               (++finder->failed_starts >= START_TRIES || now_ms >= finder->until_ms)) {
        os_blame_daemon(&finder->words, finder->location.log, &finder->err);
        fail(finder, FAILURE_START);
    } else {
        try_later(finder, now_ms);
    }
}

/* A hub that makes room for us, and closes. */
static void retire(struct finder *finder, int64_t now_ms)
{
    finder->is_retiring = true;
    finder->wake_ms = now_ms + GREETING_LIMIT_MS;
    say(finder, "hub/retire", "{}");
}

static void end_retiring(struct finder *finder, int64_t now_ms)
{
    if (finder->policy->may_start) {
        try_later(finder, now_ms);
        return;
    }
    error_say_base(&finder->err, finder->policy->ends_older ? ERROR_not_found : ERROR_unavailable,
                   "", BASE_REASON_OLDER_HUB, NULL);
    fail(finder, FAILURE_VERSION);
}

static void take_refusal(struct finder *finder, const struct json *error, int64_t now_ms)
{
    bool is_version = json_member_integer(error, "code", 0) == RPC_NUMBER_REFUSED;
    bool is_older =
        is_version && json_member_integer(json_member(error, "data"), "wire", 0) < rpc_number();

    if (is_remote(finder)) {
        rpc_read_failure(error, &finder->err); /* the person's to read */
        if (is_older)
            error_say_base(&finder->err, ERROR_unavailable, "", BASE_REASON_HUB_OLDER, NULL);
        fail(finder, FAILURE_REFUSED);
    } else if (is_older && finder->policy->ends_older) {
        retire(finder, now_ms);
    } else if (is_older && !finder->policy->may_start) {
        end_retiring(finder, now_ms);
    } else {
        error_say_base(&finder->err, ERROR_unavailable, "", BASE_REASON_OTHER_HUB, NULL);
        fail(finder, is_version ? FAILURE_VERSION : FAILURE_REFUSED);
    }
}

static void take_greeting(struct finder *finder, const struct json *error, int64_t now_ms)
{
    if (finder->is_retiring && !error)
        return; /* until it closes */
    if (finder->is_retiring) {
        end_retiring(finder, now_ms);
    } else if (error) {
        take_refusal(finder, error, now_ms);
    } else {
        enter(finder, FINDER_UP, finder->fd, -1);
        finder->was_reached = true;
        finder->is_retired = false;
    }
}

/* A line before we are UP: the reply to what we said, or a farewell. */
static void hear(struct finder *finder, const char *line, size_t length, int64_t now_ms)
{
    struct rpc_message message;
    struct error err;
    const char *why;
    int64_t id;

    if (!rpc_hear(line, length, &message, &err))
        finder_fail(finder, error_is_no_memory(&err) ? FAILURE_NO_MEMORY : FAILURE_NOT_A_HUB,
                    err.message);
    else if (message.method && strcmp(message.method, "hub/closing") == 0) {
        why = json_member_text(message.params, "why");
        finder->is_retired = why && strcmp(why, "retire") == 0;
    } else if (!message.method && json_integer_of(message.id, &id) && id == GREETING_ID) {
        take_greeting(finder, message.error, now_ms);
    }
    rpc_release(&message);
}

static void step_greeting(struct finder *finder, int64_t now_ms)
{
    const char *line;
    size_t length;

    while (finder->phase == FINDER_GREETING && (line = finder_line(finder, &length)))
        hear(finder, line, length, now_ms);
    if (finder->phase != FINDER_GREETING || (!finder->is_ended && now_ms < finder->wake_ms)) {
        finder_flush(finder);
        return;
    }
    if (finder->is_retiring) {
        end_retiring(finder, now_ms);
    } else if (is_remote(finder)) {
        error_say_base(&finder->err, ERROR_unavailable, "", BASE_REASON_LOST, NULL);
        try_remote_later(finder, now_ms);
    } else {
        try_later(finder, now_ms);
    }
}

/* What has come, up to some. */
static void read_lines(struct finder *finder)
{
    char bytes[READ_BYTES];
    size_t max = finder->policy->max_line_bytes;

    for (int i = 0; i < READS && !finder->is_ended; i++) {
        ssize_t got = recv(finder->fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            finder->is_ended = true;
        } else if (max && finder->in.used - finder->done + (size_t)got > max) {
            finder_fail(finder, FAILURE_NOT_A_HUB, "the hub's message has no end");
            return;
        } else {
            text_add(&finder->in, bytes, (size_t)got);
            if (finder->in.has_overflowed) {
                run_out(finder);
                return;
            }
        }
        if (got < (ssize_t)sizeof bytes)
            return;
    }
}

const char *finder_line(struct finder *finder, size_t *ret_length)
{
    const char *line, *end;

    if (finder->scanned < finder->done)
        finder->scanned = finder->done;
    line = finder->in.bytes + finder->done;
    end = finder->in.used > finder->scanned
              ? memchr(finder->in.bytes + finder->scanned, '\n', finder->in.used - finder->scanned)
              : NULL;
    if (!end) {
        text_drop_front(&finder->in, finder->done);
        finder->done = 0;
        finder->scanned = finder->in.used;
        return NULL;
    }
    *ret_length = (size_t)(end - line);
    finder->done += *ret_length + 1;
    return line;
}

void finder_flush(struct finder *finder)
{
    size_t sent = 0;

    while (finder->fd >= 0 && sent < finder->out.used) {
        ssize_t put = send(finder->fd, finder->out.bytes + sent, finder->out.used - sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        /* one that does not listen any more may have said why */
        sent = put < 0 ? finder->out.used : sent + (size_t)put;
    }
    text_drop_front(&finder->out, sent);
}

void finder_init(struct finder *finder)
{
    finder->fd = finder->socket_fd = -1;
    finder->wake_ms = -1;
}

void finder_begin(struct finder *finder, const struct client_identity *who,
                  const struct finder_policy *policy)
{
    finder_drop(finder);
    finder->who = who;
    finder->policy = policy;
    finder->failure = FAILURE_NONE;
    finder->until_ms = 0;
    finder->tries = finder->failed_starts = 0;
    enter(finder, FINDER_PAUSED, -1, 0);
}

static void step(struct finder *finder, int64_t now_ms)
{
    switch (finder->phase) {
    case FINDER_PAUSED:
        if (!finder->until_ms)
            finder->until_ms = now_ms + (!is_remote(finder)    ? finder->policy->patience_ms
                                         : finder->was_reached ? REMOTE_MS
                                                               : REMOTE_FIRST_MS);
        if (now_ms >= finder->wake_ms)
            look(finder, now_ms);
        break;
    case FINDER_STARTING:
        step_starting(finder, now_ms);
        break;
    case FINDER_GREETING:
        finder_flush(finder);
        read_lines(finder);
        if (finder->phase == FINDER_GREETING)
            step_greeting(finder, now_ms);
        break;
    case FINDER_UP:
        read_lines(finder);
        break;
    case FINDER_IDLE:
    case FINDER_FAILED:
        break;
    }
}

enum finder_phase finder_advance(struct finder *finder, int64_t now_ms)
{
    enum finder_phase before;
    int steps = 0;

    do {
        before = finder->phase;
        step(finder, now_ms);
    } while (finder->phase != before && finder->phase != FINDER_UP && ++steps < STEPS);
    return finder->phase;
}

void finder_release(struct finder *finder)
{
    finder_drop(finder);
}
