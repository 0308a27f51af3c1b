/* libsayso_fixture.c - see libsayso_fixture.h. */
#include "libsayso_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 20 };

static int fail_at, allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static bool fails(void)
{
    allocations++;
    return fail_at && allocations >= fail_at;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}

int straw_fail_memory(int at)
{
    int seen = allocations;

    fail_at = at;
    allocations = 0;
    return seen;
}

void straw_new_handle(struct straw *straw)
{
    sayso_free(straw->sayso);
    straw->sayso = sayso_new();
    assert_non_null(straw->sayso);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_SOCKET, straw->path), SAYSO_OK);
}

int straw_setup(void **state)
{
    struct straw *straw = calloc(1, sizeof *straw);
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(straw->directory, sizeof straw->directory, "/tmp/strawXXXXXX");
    assert_non_null(mkdtemp(straw->directory));
    snprintf(straw->path, sizeof straw->path, "%s/hub", straw->directory);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", straw->path);
    straw->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    straw->peer = -1;
    assert_int_equal(bind(straw->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(straw->listener, 8), 0);
    straw_new_handle(straw);
    *state = straw;
    return 0;
}

int straw_teardown(void **state)
{
    struct straw *straw = *state;

    straw_fail_memory(0);
    sayso_free(straw->sayso);
    if (straw->peer >= 0)
        close(straw->peer);
    close(straw->listener);
    unlink(straw->path);
    rmdir(straw->directory);
    free(straw);
    return 0;
}

/* A moment for the library, as its own poll() would give it. */
static void turn(struct straw *straw, int fd)
{
    struct pollfd ready[2] = { { .fd = sayso_fd(straw->sayso),
                                 .events = (short)sayso_events(straw->sayso) },
                               { .fd = fd, .events = POLLIN } };
    int limit_ms = sayso_timeout_ms(straw->sayso);

    poll(ready, 2, limit_ms < 0 || limit_ms > 100 ? 100 : limit_ms);
    sayso_dispatch(straw->sayso);
}

void straw_accept(struct straw *straw)
{
    time_t until = time(NULL) + PATIENCE_S;

    if (straw->peer >= 0)
        close(straw->peer);
    straw->peer = -1;
    while (straw->peer < 0 && time(NULL) < until) {
        sayso_dispatch(straw->sayso);
        straw->peer = accept4(straw->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (straw->peer < 0)
            turn(straw, straw->listener);
    }
    assert_true(straw->peer >= 0);
}

const char *straw_read(struct straw *straw)
{
    time_t until = time(NULL) + PATIENCE_S;
    const char *id;
    size_t used = 0;

    while (time(NULL) < until) {
        ssize_t got = recv(straw->peer, straw->line + used, 1, 0);

        if (got == 1 && straw->line[used] == '\n') {
            straw->line[used] = '\0';
            id = strstr(straw->line, "\"id\":");
            straw->id = id ? strtoll(id + 5, NULL, 10) : 0;
            return straw->line;
        }
        if (got == 1)
            used++;
        else if (got == 0)
            fail_msg("the library hung up");
        else
            turn(straw, straw->peer);
    }
    fail_msg("no line came");
    return NULL;
}

void straw_expect(struct straw *straw, const char *method)
{
    char wanted[64];

    snprintf(wanted, sizeof wanted, "\"method\":\"%s\"", method);
    straw_read(straw);
    if (!strstr(straw->line, wanted))
        fail_msg("%s was to come, not %.200s", method, straw->line);
}

void straw_say(struct straw *straw, const char *line)
{
    assert_int_equal(send(straw->peer, line, strlen(line), MSG_NOSIGNAL), strlen(line));
    assert_int_equal(send(straw->peer, "\n", 1, MSG_NOSIGNAL), 1);
    sayso_dispatch(straw->sayso);
}

void straw_reply(struct straw *straw, const char *result)
{
    char line[4096];

    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"reply\":\"%s\",\"result\":%s}",
             (long long)straw->id, strstr(result, "\"pending") ? "pending" : "final", result);
    straw_say(straw, line);
}

void straw_refuse(struct straw *straw, const char *error)
{
    char line[4096];

    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"error\":%s}",
             (long long)straw->id, error);
    straw_say(straw, line);
}

void straw_greet(struct straw *straw)
{
    straw_accept(straw);
    straw_expect(straw, "hello");
    straw_reply(straw, "{\"wire\":1,\"version\":\"0\",\"role\":\"agent\",\"features\":[]}");
}

struct sayso_request *straw_ask(struct straw *straw, const char *tool, const char *arguments)
{
    struct sayso_request *request = sayso_submit_json(straw->sayso, tool, arguments);

    assert_non_null(request);
    if (sayso_fd(straw->sayso) < 0)
        straw_greet(straw);
    straw_expect(straw, "ask/create");
    return request;
}
