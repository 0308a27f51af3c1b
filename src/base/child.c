/* child.c - see child.h. Its input is a file in memory: the loop need not wait until it is read. */
#include "base/child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uv.h>

#include "base/loop.h"
#include "base/mem.h"

struct child {
    uv_process_t process;
    uv_timer_t limit;
    void (*done)(void *context, int status); /* NULL: it is not to be called */
    void *context;
    int open; /* handles */
    int status;
    bool is_running, is_closing;
};

static void on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;

    if (--child->open > 0)
        return;
    if (child->done)
        child->done(child->context, child->status);
    free(child);
}

static void close_all(struct child *child)
{
    if (child->is_closing)
        return;
    child->is_closing = true;
    uv_close((uv_handle_t *)&child->process, on_closed);
    uv_close((uv_handle_t *)&child->limit, on_closed);
}

static void on_ended(uv_process_t *process, int64_t status, int number)
{
    struct child *child = process->data;

    child->status = number ? 128 + number : (int)status;
    child->is_running = false;
    close_all(child);
}

/* With all that it started: it leads a group of its own. */
static void stop(struct child *child)
{
    if (child->is_running)
        kill(-child->process.pid, SIGKILL);
}

static void on_limit(uv_timer_t *timer)
{
    stop(timer->data);
}

static int input_file(const struct child_plan *plan)
{
    int fd = memfd_create("sayso-input", MFD_CLOEXEC);

    if (fd >= 0 && (write(fd, plan->input, plan->input_length) != (ssize_t)plan->input_length ||
                    lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

struct child *child_start(struct loop *loop, const struct child_plan *plan)
{
    struct child *child = mem_new(sizeof *child);
    int input = input_file(plan);
    uv_stdio_container_t files[] = {
        { .flags = UV_INHERIT_FD, .data.fd = input },
        { .flags = UV_IGNORE },
        { .flags = UV_IGNORE },
    };
    uv_process_options_t options = {
        .exit_cb = on_ended,
        .file = plan->arguments[0],
        .args = (char **)plan->arguments,
        .env = (char **)plan->environment,
        .flags = UV_PROCESS_DETACHED, /* a session and a group of its own */
        .stdio = files,
        .stdio_count = (int)ARRAY_LEN(files),
    };

    child->done = plan->done;
    child->context = plan->context;
    child->process.data = child->limit.data = child;
    child->open = 2;
    uv_timer_init(loop_uv(loop), &child->limit);
    child->status = -1;
    if (input >= 0 && uv_spawn(loop_uv(loop), &child->process, &options) == 0) {
        child->is_running = true;
        uv_timer_start(&child->limit, on_limit, (uint64_t)plan->limit_ms, 0);
    } else if (input < 0) {
        child->open = 1; /* there is no process to close */
        child->is_closing = true;
        uv_close((uv_handle_t *)&child->limit, on_closed);
    } else {
        close_all(child);
    }
    if (input >= 0)
        close(input);
    return child;
}

void child_end(struct child *child)
{
    child->done = NULL;
    stop(child);
    close_all(child);
}
