/* link.c - see link.h. */
#include "wire/link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"
#include "loop/loop.h"
#include "ports/methods.h"
#include "wire/far_hub.h"
#include "wire/place.h"

enum {
    LINK_TRIES = 60,          /* a hub on its way out or in: waited for, longer each time */
    LINK_PATIENCE_MS = 20000, /* so long at least: one that recovers much on a busy machine */
    LINK_START_TRIES = 5,     /* it may be killed while it starts */
    LINK_RETIRED_TRIES = 25,  /* about 2 s: a newer hub is on its way */
    LINK_READ_BYTES = 65536,
    LINK_REPEATS = 10,
    LINK_HELLO_LIMIT_MS = 10000,
    LINK_FAR_FIRST_MS = 5000, /* a hub of another machine that nobody has seen yet */
    LINK_FAR_MS = 120000,     /* and one that was there: a machine may start anew */
    LINK_FAR_PAUSE_MS = 100,  /* longer each time, up to a second */
};

struct link {
    int fd;
    int64_t next_id;
    struct text in;
    bool is_lost;
    char closing[16];
    const struct link_identity *identity; /* borrowed */
    void (*on_note)(void *context, const struct wire_message *note);
    void *note_context;
};

static bool send_all(struct link *link, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = send(link->fd, bytes, length, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            link->is_lost = true;
            return false;
        }
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

/* More bytes, or false at the end or after limit_ms (-1: no limit). */
static bool read_more(struct link *link, int limit_ms)
{
    struct pollfd ready = { .fd = link->fd, .events = POLLIN };
    char bytes[LINK_READ_BYTES];
    ssize_t got;
    int polled;

    do
        polled = poll(&ready, 1, limit_ms);
    while (polled < 0 && errno == EINTR);
    got = polled > 0 ? recv(link->fd, bytes, sizeof bytes, 0) : -1;
    if (got <= 0) {
        link->is_lost = true;
        return false;
    }
    text_add(&link->in, bytes, (size_t)got);
    return true;
}

static bool next_message(struct link *link, int limit_ms, struct wire_message *ret_message)
{
    int code;

    for (;;) {
        char *end = link->in.used ? memchr(link->in.bytes, '\n', link->in.used) : NULL;
        size_t length;
        bool ok;

        if (!end) {
            if (!read_more(link, limit_ms))
                return false;
            continue;
        }
        length = (size_t)(end - link->in.bytes);
        ok = wire_parse(link->in.bytes, length, ret_message, &code);
        text_drop_front(&link->in, length + 1);
        if (ok)
            return true;
    }
}

static const char *socket_of(const struct link_identity *identity)
{
    return identity->socket_path ? identity->socket_path : far_hub_socket();
}

static bool is_far(const struct link_identity *identity)
{
    return !socket_of(identity) && far_hub_is_chosen();
}

static void take_note(struct link *link, const struct wire_message *note)
{
    const char *why = json_member_text(note->params, "why");

    if (why && strcmp(why, "stop") == 0 && link->identity && is_far(link->identity))
        why = "idle"; /* it comes back, or another one takes its place */
    if (strcmp(note->method, "hub/closing") == 0)
        snprintf(link->closing, sizeof link->closing, "%s", why ? why : "stop");
    else if (link->on_note)
        link->on_note(link->note_context, note);
}

static bool call_within(struct link *link, const char *method, const char *params_json,
                        int limit_ms, struct wire_message *ret_reply, struct error *err)
{
    struct text line = { 0 };
    int64_t id = ++link->next_id, seen;

    jsonrpc_add_request(&line, id, method, params_json);
    send_all(link, line.bytes, line.used);
    link->is_lost = false; /* why the other end does not read any more may still be to be read */
    text_release(&line);
    while (!link->is_lost && next_message(link, limit_ms, ret_reply)) {
        bool is_unread = ret_reply->error && json_kind(ret_reply->id) == KIND_NULL;

        if (ret_reply->method)
            take_note(link, ret_reply);
        else if (is_unread || (json_integer_of(ret_reply->id, &seen) && seen == id)) {
            if (!ret_reply->error)
                return true;
            wire_read_failure(ret_reply->error, err);
            return false;
        }
        wire_release(ret_reply);
    }
    *ret_reply = (struct wire_message){ 0 };
    return error_say(err, ERROR_unavailable, "", TEXT_REASON_LOST, NULL);
}

/* A hub that makes room answers what it took before it closes, so this was not taken; and looking
 * twice does no harm. Agents' calls are parked: they have their own way to go on. */
static bool may_repeat(const struct link *link, const char *name)
{
    enum method method = method_find(name);
    bool is_harmless = method < METHOD_COUNT && methods[method].flags & METHOD_REPEATABLE;

    return link->is_lost && strcmp(link->identity->role, "person") == 0 &&
           (is_harmless || strcmp(link->closing, "retire") == 0 ||
            strcmp(link->closing, "idle") == 0);
}

static bool open_again(struct link *link, struct error *err)
{
    struct link_identity identity = *link->identity;
    struct link *fresh = NULL;

    identity.is_retired = strcmp(link->closing, "retire") == 0;
    identity.was_reached = true;
    if (!link_open(&identity, LINK_MAY_START, &fresh, err) || !fresh)
        return false;
    close(link->fd);
    link->fd = fresh->fd;
    text_release(&link->in);
    link->in = fresh->in; /* a farewell may have come with hello's reply */
    link->is_lost = false;
    link->closing[0] = '\0';
    free(fresh);
    return true;
}

bool link_call(struct link *link, const char *method, const char *params_json,
               struct wire_message *ret_reply, struct error *err)
{
    bool ok = call_within(link, method, params_json, -1, ret_reply, err);

    for (int try = 0; !ok && try < LINK_REPEATS && may_repeat(link, method); try++)
        ok = open_again(link, err) && call_within(link, method, params_json, -1, ret_reply, err);
    return ok;
}

/* A directory's name is bytes; what is not text in it is written as escapes. */
static void write_directory(struct json_writer *writer, const char *directory)
{
    struct text shown = { 0 };

    visible_text(directory, strlen(directory), VISIBLE_LINES, &shown);
    json_write_text(writer, "directory", text_string(&shown));
    text_release(&shown);
}

enum hello_outcome { HELLO_DONE, HELLO_LOST, HELLO_OLDER_HUB, HELLO_REFUSED };

static enum hello_outcome say_hello(struct link *link, const struct link_identity *identity,
                                    struct error *err)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    struct wire_message reply;
    enum hello_outcome outcome = HELLO_DONE;
    bool ok;

    json_write_object(&writer, NULL);
    json_write_integer(&writer, "wire", wire_number());
    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_text(&writer, "role", identity->role);
    json_write_text_if(&writer, "channel", identity->channel);
    json_write_text(&writer, "name", identity->name);
    json_write_text_if(&writer, "as", identity->as_name);
    if (identity->directory)
        write_directory(&writer, identity->directory);
    if (strcmp(identity->role, "agent") == 0)
        json_write_text_if(&writer, "language", wire_language());
    json_write_text_if(&writer, "client_version", identity->client_version);
    json_write_text_if(&writer, "transport", identity->transport);
    json_write_bool_if(&writer, "sub_agent", identity->is_sub_agent);
    json_write_list(&writer, "features");
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    ok = call_within(link, "hello", text_string(&params), LINK_HELLO_LIMIT_MS, &reply, err);
    if (!ok && link->is_lost)
        outcome = HELLO_LOST;
    else if (!ok && json_member_integer(reply.error, "code", 0) == WIRE_NUMBER_REFUSED)
        outcome = json_member_integer(json_member(reply.error, "data"), "wire", 0) < wire_number()
                      ? HELLO_OLDER_HUB
                      : HELLO_REFUSED;
    else if (!ok)
        outcome = HELLO_REFUSED;
    wire_release(&reply);
    text_release(&params);
    return outcome;
}

static void pause_for(int64_t wait_ms)
{
    const struct timespec pause = { .tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000 };

    nanosleep(&pause, NULL);
}

static void pause_before(int try)
{
    int64_t wait_ms = 2 + (int64_t)try * 5;

    pause_for(wait_ms > 200 ? 200 : wait_ms);
}

static bool start_hub(const struct place *place, struct error *err)
{
    char program[PLACE_PATH_BYTES];
    const char *const arguments[] = START_ARGUMENTS(program);

    if (!os_own_program(program, sizeof program))
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_NO_PROGRAM, NULL);
    return place_prepare(place, err) &&
           os_start_daemon(program, arguments, place->log, start_environment, START_LIMIT_MS, err);
}

/* An older hub makes room: its asks are on disk, and the next one is of our kind. */
static void retire(struct link *link)
{
    struct wire_message reply;
    struct error err;

    if (call_within(link, "hub/retire", "{}", LINK_HELLO_LIMIT_MS, &reply, &err))
        while (read_more(link, LINK_HELLO_LIMIT_MS))
            continue;
    wire_release(&reply);
}

static struct link *link_new(int fd)
{
    struct link *link = mem_new(sizeof *link);

    link->fd = fd;
    return link;
}

/* A hub may be starting, leaving or dying between any two of our steps; each is tried again. */
static bool try_once(const struct place *place, const struct link_identity *identity,
                     enum link_start start, struct link **ret_link, bool *ret_is_final,
                     struct error *err)
{
    struct place_note note;
    struct link *link;
    enum hello_outcome outcome;
    int fd = -1;

    *ret_is_final = false;
    if (socket_of(identity))
        fd = place_connect(socket_of(identity), 0);
    else if (place_read_note(place, &note, NULL) &&
             (start == LINK_MAY_START || !strstr(note.socket, "/" PLACE_ACTIVATION_NAME) ||
              os_is_locked(place->lock)))
        fd = place_connect(note.socket, 0);
    if (fd < 0)
        return error_set(err, ERROR_not_found, "", "no hub is running");
    link = link_new(fd);
    link->identity = identity;
    outcome = say_hello(link, identity, err);
    if (outcome == HELLO_DONE) {
        *ret_link = link;
        return true;
    }
    if (outcome == HELLO_OLDER_HUB && start != LINK_MUST_RUN)
        retire(link);
    if (outcome == HELLO_OLDER_HUB && start != LINK_MAY_START) {
        *ret_is_final = true;
        error_say(err, start == LINK_MUST_END ? ERROR_not_found : ERROR_unavailable, "",
                  TEXT_REASON_OLDER_HUB, NULL);
    }
    if (outcome == HELLO_REFUSED) {
        *ret_is_final = true;
        error_say(err, ERROR_unavailable, "", TEXT_REASON_OTHER_HUB, NULL);
    }
    link_close(link);
    return false;
}

/* Nobody is there, and somebody may be in a moment. False: there is no use in waiting. */
static bool prepare_next_try(const struct place *place, const struct link_identity *identity,
                             int try, int *failed_starts, struct error *err)
{
    if (socket_of(identity))
        return identity->was_reached;
    return try < (identity->is_retired ? LINK_RETIRED_TRIES : 0) || start_hub(place, err) ||
           ++*failed_starts < LINK_START_TRIES;
}

static bool fail_to_reach(const struct place *place, const struct link_identity *identity,
                          struct error *err)
{
    if (socket_of(identity))
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_NOBODY_LISTENS, "path",
                         socket_of(identity), NULL);
    return error_say(err, ERROR_unavailable, "", TEXT_REASON_NOT_REACHED, "path", place->log, NULL);
}

/* One of another machine is neither started nor ended from here, and what it says when it refuses
 * is the person's to read. */
static bool try_far(const struct link_identity *identity, struct link **ret_link,
                    bool *ret_is_final, struct error *err)
{
    int fd = far_hub_connect(ret_is_final, err);
    enum hello_outcome outcome;
    struct link *link;

    if (fd < 0)
        return false;
    link = link_new(fd);
    link->identity = identity;
    outcome = say_hello(link, identity, err);
    if (outcome == HELLO_DONE) {
        *ret_link = link;
        return true;
    }
    *ret_is_final = outcome != HELLO_LOST;
    if (outcome == HELLO_OLDER_HUB)
        error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_OLDER, NULL);
    link_close(link);
    return false;
}

/* Who was there a moment ago may be about to come back, or another in its place. */
static bool open_far(const struct link_identity *identity, struct link **ret_link,
                     struct error *err)
{
    int64_t until_ms = loop_boot_ms() + (identity->was_reached ? LINK_FAR_MS : LINK_FAR_FIRST_MS);
    bool is_final;

    for (int try = 1;; try++) {
        if (try_far(identity, ret_link, &is_final, err))
            return true;
        if (is_final || loop_boot_ms() >= until_ms)
            return false;
        pause_for((int64_t)LINK_FAR_PAUSE_MS * (try < 10 ? try : 10));
    }
}

bool link_open(const struct link_identity *identity, enum link_start start, struct link **ret_link,
               struct error *err)
{
    struct place place = { 0 };
    int64_t until_ms = loop_boot_ms() + LINK_PATIENCE_MS;
    int failed_starts = 0;
    bool is_final;

    if (is_far(identity))
        return open_far(identity, ret_link, err);
    if (!socket_of(identity) && !place_find(&place, err))
        return false;
    for (int try = 0; try < LINK_TRIES || loop_boot_ms() < until_ms; try++) {
        if (try_once(&place, identity, start, ret_link, &is_final, err))
            return true;
        if (is_final || (start != LINK_MAY_START && err->code == ERROR_not_found))
            return false;
        if (err->code == ERROR_not_found &&
            !prepare_next_try(&place, identity, try, &failed_starts, err))
            return socket_of(identity) ? fail_to_reach(&place, identity, err) : false;
        pause_before(try);
    }
    return fail_to_reach(&place, identity, err);
}

void link_close(struct link *link)
{
    if (!link)
        return;
    close(link->fd);
    text_release(&link->in);
    free(link);
}

int link_take_fd(struct link *take_link, struct text *ret_unread)
{
    int fd = take_link->fd;

    *ret_unread = take_link->in;
    free(take_link);
    return fd;
}

void link_on_note(struct link *link, void (*call)(void *context, const struct wire_message *note),
                  void *context)
{
    link->on_note = call;
    link->note_context = context;
}

bool link_is_lost(const struct link *link)
{
    return link->is_lost;
}

const char *link_closing(const struct link *link)
{
    return link->closing;
}
