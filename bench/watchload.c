/*
 * watchload.c - many WebSockets that watch, and events that all of them are told; one thread, no
 * JSON parser.
 *
 *   watchload watch NOTE [-n watchers] [-c events] [-k TOKEN] [-p processor] [-v]
 *
 * NOTE is the hub's hub.json, or what ref/floor_ws.c printed. At the hub every watcher says hello
 * with the person's token and ask/watch, and an event is a new ask of an agent on the hub's socket:
 * parsed, checked and committed before anybody is told. The floor is told how long the frame is
 * (-k BYTES) and sends it immediately.
 *
 * The time of an event runs from before its cause is written until a watcher has read all of it;
 * memory is the difference between no watcher and all of them, when they are idle. Prints one JSON
 * object.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "load.h"
#include "ws.h"

enum {
    TURN_EVENTS = 512,
    READ_BYTES = 1 << 16,
    NOTE_BYTES = 4096,
    OPENING_AT_ONCE = 64, /* watchers that are not yet told that they watch */
    CONNECT_S = 120,
    EVENT_S = 30,
    SETTLE_S = 3, /* servers tidy up when a burst is over */
    MAX_EVENTS = 1000,
};

struct watcher {
    int fd;
    struct bytes in; /* of a frame that is not whole; most have nothing */
};

static struct watcher *watchers;
static long watcher_count, opened, told, errors;
static int poller, verbosity, port;
static pid_t server_pid;
static const char *kind;
static char socket_path[108]; /* of the hub's wire; "": the floor */
static char title[64];        /* of the event that is under way */
static struct peer agent;
static double *told_s;
static size_t event_bytes;

static bool is_floor(void)
{
    return socket_path[0] == '\0';
}

static void read_note(const char *path)
{
    char note[NOTE_BYTES];
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, note, sizeof note - 1);
    const char *found;

    if (got <= 0)
        load_fail("the note of the server cannot be read");
    close(fd);
    note[got] = '\0';
    server_pid = (pid_t)load_number_after(note, (size_t)got, "\"pid\":");
    port = (int)load_number_after(note, (size_t)got, "\"port\":");
    found = load_find(note, (size_t)got, "\"socket\":\"");
    if (found)
        snprintf(socket_path, sizeof socket_path, "%.*s", (int)strcspn(found, "\""), found);
    if (server_pid <= 0 || port <= 0 || !kind)
        load_fail("the note names no pid or port, or -k is missing");
}

static void put(int fd, const struct bytes *out)
{
    if (send(fd, out->at, out->used, MSG_NOSIGNAL) != (ssize_t)out->used)
        load_fail("the server does not read");
}

static void say_watch(int fd)
{
    static const char watch[] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ask/watch\",\"params\":"
                                "{\"which\":\"active\",\"limit\":1}}";
    static struct bytes out;
    char hello[512];

    snprintf(hello, sizeof hello,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"wire\":1,\"role\":"
             "\"person\",\"name\":\"Chromium, Linux\",\"token\":\"%s\"}}",
             kind);
    out.used = out.taken = 0;
    ws_add_frame(&out, WS_TEXT, hello, strlen(hello));
    ws_add_frame(&out, WS_TEXT, watch, strlen(watch));
    put(fd, &out);
}

static void open_one(long which)
{
    struct epoll_event wanted = { .events = EPOLLIN | EPOLLET, .data.u64 = (uint64_t)which };

    watchers[which].fd = ws_connect(port);
    if (epoll_ctl(poller, EPOLL_CTL_ADD, watchers[which].fd, &wanted) != 0)
        load_fail("no more can be watched");
    if (is_floor())
        opened++;
    else
        say_watch(watchers[which].fd);
}

static void take_frame(const struct watcher *watcher, const struct ws_frame *frame)
{
    static struct bytes out;

    if (verbosity > 1)
        fprintf(stderr, "got %.*s\n", (int)frame->length, frame->payload);
    if (frame->opcode == WS_PING) {
        out.used = out.taken = 0;
        ws_add_frame(&out, WS_PONG, frame->payload, frame->length);
        put(watcher->fd, &out);
    } else if (is_floor() || (title[0] && load_find(frame->payload, frame->length, title))) {
        event_bytes = frame->length;
        told_s[told++] = load_now();
    } else if (load_find(frame->payload, frame->length, "\"error\":{")) {
        if (errors++ == 0 && verbosity > 0)
            fprintf(stderr, "error %.*s\n", (int)frame->length, frame->payload);
    } else if (load_find(frame->payload, frame->length, "\"id\":2,")) {
        opened++;
    }
}

static size_t take_frames(const struct watcher *watcher, const char *at, size_t length)
{
    struct ws_frame frame;
    size_t used = 0, one;

    while ((one = ws_read_frame(at + used, length - used, &frame)) > 0) {
        take_frame(watcher, &frame);
        used += one;
    }
    return used;
}

static void read_watcher(struct watcher *watcher)
{
    static char bytes[READ_BYTES];
    struct bytes *in = &watcher->in;
    ssize_t got = recv(watcher->fd, bytes, sizeof bytes, 0);
    size_t used;

    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        load_fail("the server closed a watcher's connection");
    if (in->used == in->taken) {
        used = take_frames(watcher, bytes, (size_t)got);
        if (used < (size_t)got)
            bytes_add(in, bytes + used, (size_t)got - used);
        return;
    }
    bytes_add(in, bytes, (size_t)got);
    in->taken += take_frames(watcher, in->at + in->taken, in->used - in->taken);
}

/* Until `until`, or as soon as anything was read. */
static void turn(double until)
{
    struct epoll_event ready[TURN_EVENTS];
    double left_ms = (until - load_now()) * 1000;
    int found = epoll_wait(poller, ready, TURN_EVENTS, left_ms <= 0 ? 0 : (int)left_ms + 1);

    for (int i = 0; i < found; i++)
        read_watcher(&watchers[ready[i].data.u64]);
}

static void settle(double seconds)
{
    for (double until = load_now() + seconds; load_now() < until;)
        turn(until);
}

static void open_all(void)
{
    double until = load_now() + CONNECT_S;
    long begun = 0;

    while (opened < watcher_count && errors == 0 && load_now() < until) {
        while (begun < watcher_count && begun - opened < OPENING_AT_ONCE)
            open_one(begun++);
        turn(opened < watcher_count ? until : 0);
    }
    if (opened < watcher_count)
        load_fail(errors ? "a watcher was refused (-v shows it)" : "not all watchers are let in");
}

static void take_agent_line(const char *line, size_t length)
{
    if (load_find(line, length, "\"error\":{") && errors++ == 0 && verbosity > 0)
        fprintf(stderr, "error %.*s\n", (int)length, line);
}

static void open_agent(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (is_floor())
        return;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        load_fail("there is no hub to connect to");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    agent = (struct peer){ .read_fd = fd, .write_fd = fd, .line = take_agent_line };
    bytes_add_text(&agent.out,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"wire\":1,"
                   "\"version\":\"bench\",\"role\":\"agent\",\"name\":\"watchload\","
                   "\"directory\":\"/\",\"features\":[]}}\n");
    load_turn(&agent, 1, load_now() + 1);
}

static void cause_event(long number)
{
    static struct bytes out;

    if (is_floor()) {
        out.used = out.taken = 0;
        ws_add_frame(&out, WS_TEXT, kind, strlen(kind));
        put(watchers[0].fd, &out);
        return;
    }
    snprintf(title, sizeof title, "\"title\":\"Ask %d-%ld\"", (int)getpid(), number);
    bytes_add_format(&agent.out,
                     "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"ask/create\",\"params\":"
                     "{\"tool\":\"provide_choice\",\"tag\":\"%ld\",\"arguments\":{%s,"
                     "\"prompt\":\"The release is built and tested; shall it go out now?\","
                     "\"selection_mode\":\"single\",\"options\":[{\"id\":\"yes\",\"label\":\"Ship "
                     "it now\",\"recommended\":true},{\"id\":\"no\",\"label\":\"Wait\"}],"
                     "\"timeout_seconds\":86400}}}\n",
                     10 + number, number, title);
    load_turn(&agent, 1, 0);
}

/* Seconds until the last watcher and until half of them were told. */
static void measure_event(long number, double *ret_last_s, double *ret_half_s)
{
    double began = load_now(), until = began + EVENT_S;

    told = 0;
    cause_event(number);
    while (told < watcher_count && errors == 0 && load_now() < until)
        turn(until);
    if (told < watcher_count)
        load_fail(errors ? "an event failed (-v shows it)" : "not all watchers were told");
    *ret_last_s = told_s[watcher_count - 1] - began;
    *ret_half_s = told_s[watcher_count / 2] - began;
}

static void measure(long events)
{
    double last_s[MAX_EVENTS], half_s[MAX_EVENTS], began, opened_s;
    struct usage before = load_usage(server_pid), idle, after;

    began = load_now();
    open_all();
    opened_s = load_now() - began;
    settle(SETTLE_S);
    idle = load_usage(server_pid);
    for (long i = 0; i < events; i++) {
        measure_event(i, &last_s[i], &half_s[i]);
        settle(0.05);
    }
    after = load_usage(server_pid);
    load_sort(last_s, (size_t)events);
    load_sort(half_s, (size_t)events);
    printf("{\"watchers\":%ld,\"events\":%ld,\"event_bytes\":%zu,\"opened_s\":%.3f,"
           "\"rss_bytes\":%.0f,\"pss_bytes\":%.0f,\"rss_bytes_after\":%.0f,\"last_us\":%.1f,"
           "\"last_best_us\":%.1f,\"half_us\":%.1f,\"srv_cpu_us_watcher\":%.3f}\n",
           watcher_count, events, event_bytes, opened_s,
           (double)(idle.rss_kb - before.rss_kb) * 1024 / (double)watcher_count,
           (double)(idle.pss_kb - before.pss_kb) * 1024 / (double)watcher_count,
           (double)(after.rss_kb - before.rss_kb) * 1024 / (double)watcher_count,
           load_quantile_us(last_s, (size_t)events, 0.5),
           load_quantile_us(last_s, (size_t)events, 0),
           load_quantile_us(half_s, (size_t)events, 0.5),
           (after.cpu_s - idle.cpu_s) * 1e6 / (double)(events * watcher_count));
}

int main(int count, char **arguments)
{
    struct load_options options = { .max = 10000, .in_flight = 10 };

    load_read_options(
        count, arguments,
        "usage: watchload watch NOTE -k TOKEN|BYTES [-n WATCHERS] [-c EVENTS] [-p CPU]", &options);
    watcher_count = options.max;
    verbosity = options.verbosity;
    kind = options.kind;
    signal(SIGPIPE, SIG_IGN);
    load_allow_files();
    read_note(arguments[2]);
    poller = epoll_create1(EPOLL_CLOEXEC);
    watchers = calloc((size_t)watcher_count, sizeof *watchers);
    told_s = load_new_times(watcher_count);
    open_agent();
    measure(options.in_flight < MAX_EVENTS ? options.in_flight : MAX_EVENTS);
    return 0;
}
