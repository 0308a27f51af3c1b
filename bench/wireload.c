/*
 * wireload.c - load for the hub over its wire (docs/wire.md); one thread, no JSON parser.
 *
 *   wireload MODE HUB.JSON[,HUB.JSON] [-n most] [-c in flight] [-t seconds] [-k TOKEN]
 *            [-p processor] [-v]
 *
 *   ask    an agent asks, a person who watches answers each ask when its event comes, the agent
 *          gets the result and confirms it (ask/delivered, once per turn for all that came)
 *   hold   creates -n asks that no one answers, -c of them not yet confirmed, prints, and keeps
 *          the connection until its own standard input ends
 *   wake   one ask at a time; watches the index of SQLite's log for the commit of the answer, and
 *          measures from there until the agent has its result
 *   answer answers every ask of others as it comes, until it is ended; prints {} when it watches
 *
 * With a person's token (-k) the person sits on the portal's WebSocket instead of the socket; with
 * a second hub, that of HUB.JSON,HUB.JSON, the person sits there.
 *
 * Prints one JSON object. Times run from before the request is written until the result is read.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "load.h"
#include "ws.h"

enum {
    AGENT,
    PERSON,
    PEERS,
    FIRST_ID = 10,  /* smaller ones are the handshake's */
    ID_CHARS = 26,  /* of a session_id */
    LOG_CHANGE = 2, /* word of the log's index that counts commits (SQLite, walformat) */
    WARM_UP_ASKS = 200,
    HANDSHAKE_S = 10,
    STRAGGLERS_S = 5, /* for what is under way when time is over */
    NOTE_BYTES = 4096,
};
static const double HOLD_TURN_S = 0.2;

static struct peer peers[PEERS];
static pid_t hub_pid;
static int verbosity;
static long max = 1000000, started, created, finished, errors, handshakes;
static long first_title; /* titles differ in the whole run: equal calls would be joined */
static bool is_holding, is_answering;
static const char *token; /* the person's, on a WebSocket; NULL: on the socket */
static double *begun_s, *took_s, *answered_s, *confirmed_s, *decided_s;
static struct bytes delivered; /* ids whose results came this turn */
static atomic_uint *log_index; /* only for wake */
static uint32_t commits_before_answer;

static void note_error(const char *line, size_t length)
{
    if (errors++ == 0 && verbosity > 0)
        fprintf(stderr, "error %.*s\n", (int)length, line);
}

static void ask(void)
{
    bytes_add_format(&peers[AGENT].out,
                     "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"ask/create\",\"params\":"
                     "{\"tool\":\"provide_choice\",\"tag\":\"%ld\",\"arguments\":{"
                     "\"title\":\"Ask %ld\",\"prompt\":\"The release is built and tested, and the "
                     "staging cluster has run it for an hour. Shall it go to all regions now, or "
                     "shall it wait for the morning?\",\"selection_mode\":\"single\",\"options\":["
                     "{\"id\":\"yes\",\"label\":\"Ship it now\",\"description\":\"Goes out to all "
                     "regions within minutes.\",\"recommended\":true},"
                     "{\"id\":\"no\",\"label\":\"Wait\",\"description\":\"Asked again tomorrow.\"}"
                     "],\"timeout_seconds\":86400}}}\n",
                     FIRST_ID + started, started, first_title + started);
    begun_s[started++] = load_now();
}

/* A line without its end. */
static void say_as_person(const char *line)
{
    if (token) {
        ws_add_frame(&peers[PERSON].out, WS_TEXT, line, strlen(line));
    } else {
        bytes_add_text(&peers[PERSON].out, line);
        bytes_add_text(&peers[PERSON].out, "\n");
    }
}

static void answer(const char *id, long number)
{
    char line[256];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"ask/answer\",\"params\":"
             "{\"session_id\":\"%.*s\",\"selected_ids\":[\"yes\"]}}",
             FIRST_ID + number, ID_CHARS, id);
    say_as_person(line);
    answered_s[number] = load_now();
    if (log_index)
        commits_before_answer = atomic_load(&log_index[LOG_CHANGE]);
}

/* To a word of the handshake, or to an answer: now it is stored. */
static void take_person_reply(long id)
{
    handshakes += id >= 0 && id < FIRST_ID;
    if (id >= FIRST_ID && id - FIRST_ID < max)
        confirmed_s[id - FIRST_ID] = load_now();
}

/* An ask is answered when its first event comes; of later ones the person takes no notice. */
static void take_person_line(const char *line, size_t length)
{
    const char *id = load_find(line, length, "\"ask\":{\"session_id\":\"");
    long title = load_number_after(line, length, "\"title\":\"Ask ") - first_title;

    if (verbosity > 1)
        fprintf(stderr, "person %.*s\n", (int)length, line);
    if (load_find(line, length, "\"error\":{")) {
        note_error(line, length);
    } else if (load_find(line, length, "\"method\":\"resync\"")) {
        load_fail("the watcher fell behind");
    } else if (!id) {
        take_person_reply(load_number_after(line, length, "\"id\":"));
    } else if (is_answering && load_find(line, length, "\"status\":\"pending\"")) {
        answer(id, started++ % max);
    } else if (title >= 0 && title < started && load_find(line, length, "\"status\":\"pending\"")) {
        answer(id, title);
    }
}

static void take_result(const char *line, size_t length, long number)
{
    const char *id = load_find(line, length, "\"session_id\":\"");

    if (number < 0 || number >= started || !id)
        return; /* the reply to ask/delivered */
    decided_s[number] = load_now();
    took_s[finished++] = decided_s[number] - begun_s[number];
    if (!load_find(line, length, "\"action_status\":\"selected\""))
        note_error(line, length);
    bytes_add_format(&delivered, "%s\"%.*s\"", delivered.used ? "," : "", ID_CHARS, id);
}

static void take_agent_line(const char *line, size_t length)
{
    long id = load_number_after(line, length, "\"id\":");

    if (verbosity > 1)
        fprintf(stderr, "agent %.*s\n", (int)length, line);
    if (load_find(line, length, "\"method\":\"ask/created\"")) {
        created++;
    } else if (load_find(line, length, "\"error\":{")) {
        note_error(line, length);
    } else if (id >= 0 && id < FIRST_ID) {
        handshakes++;
    } else {
        take_result(line, length, id - FIRST_ID);
    }
}

static void confirm_delivery(void)
{
    if (delivered.used == 0)
        return;
    bytes_add_text(&peers[AGENT].out, "{\"jsonrpc\":\"2.0\",\"method\":\"ask/delivered\","
                                      "\"params\":{\"session_ids\":[");
    bytes_add(&peers[AGENT].out, delivered.at, delivered.used);
    bytes_add_text(&peers[AGENT].out, "]}}\n");
    delivered.used = 0;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        load_fail("there is no hub to connect to");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* `path` may have another behind a comma. */
static void read_note(const char *path, char *note)
{
    char one[NOTE_BYTES];
    ssize_t got;
    int fd;

    snprintf(one, sizeof one, "%.*s", (int)strcspn(path, ","), path);
    fd = open(one, O_RDONLY);
    got = fd < 0 ? -1 : read(fd, note, NOTE_BYTES - 1);
    if (got <= 0)
        load_fail("hub.json cannot be read");
    note[got] = '\0';
    close(fd);
}

static void say_hello(int which, const char *role, const char *socket_path,
                      void (*line)(const char *, size_t))
{
    int fd = connect_to(socket_path);

    peers[which] = (struct peer){ .read_fd = fd, .write_fd = fd, .line = line };
    bytes_add_format(&peers[which].out,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"wire\":1,"
                     "\"version\":\"bench\",\"role\":\"%s\",\"name\":\"wireload %d\","
                     "\"directory\":\"/\",\"features\":[]}}\n",
                     role, (int)getpid()); /* each wireload process is an agent of its own */
}

static void say_hello_on_page(int port)
{
    char line[256];
    int fd = ws_connect(port);

    peers[PERSON] =
        (struct peer){ .read_fd = fd, .write_fd = fd, .line = take_person_line, .take = ws_take };
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"wire\":1,"
             "\"role\":\"person\",\"name\":\"wireload\",\"token\":\"%s\"}}",
             token);
    say_as_person(line);
}

static void find_socket(const char *note, char *out, size_t size)
{
    const char *path = load_find(note, strlen(note), "\"socket\":\"");

    if (!path)
        load_fail("hub.json names no socket");
    snprintf(out, size, "%.*s", (int)strcspn(path, "\""), path);
}

static void open_peers(const char *note_path)
{
    const char *second = strchr(note_path, ',');
    char note[NOTE_BYTES], socket_path[256];
    double until = load_now() + HANDSHAKE_S;

    read_note(note_path, note);
    hub_pid = (pid_t)load_number_after(note, strlen(note), "\"pid\":");
    if (hub_pid <= 0)
        load_fail("hub.json names no process");
    find_socket(note, socket_path, sizeof socket_path);
    say_hello(AGENT, "agent", socket_path, take_agent_line);
    if (second) {
        read_note(second + 1, note);
        find_socket(note, socket_path, sizeof socket_path);
    }
    if (token)
        say_hello_on_page((int)load_number_after(note, strlen(note), "\"port\":"));
    else
        say_hello(PERSON, "person", socket_path, take_person_line);
    if (!is_holding)
        say_as_person("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ask/watch\","
                      "\"params\":{\"which\":\"active\",\"limit\":1}}");
    while (handshakes < (is_holding ? 2 : 3) && load_now() < until)
        load_turn(peers, PEERS, until);
    if (handshakes < (is_holding ? 2 : 3))
        load_fail("the hub did not say hello");
}

/* Keeps so many under way until `until`, then waits for the stragglers. */
static void keep_busy(long in_flight, double until)
{
    double now = load_now();

    while (finished < max && now < until + STRAGGLERS_S) {
        while (started < max && started - finished < in_flight && now < until)
            ask();
        if (now >= until && started == finished)
            break;
        load_turn(peers, PEERS, until + STRAGGLERS_S);
        confirm_delivery();
        now = load_now();
    }
}

static void warm_up(long in_flight)
{
    long wanted = max;

    max = max < WARM_UP_ASKS ? max : WARM_UP_ASKS;
    keep_busy(in_flight, load_now() + 0.3);
    load_turn(peers, PEERS, load_now() + 0.02);
    if (finished == 0 || finished < started || errors > 0)
        load_fail("no answer in the warm-up");
    max = wanted;
    first_title += started;
    memset(confirmed_s, 0, (size_t)max * sizeof *confirmed_s);
    started = created = finished = 0;
}

/* From then to the result's being there, for the first `count` asks. Where the agent knows before
 * the person does it is nothing. */
static double *times_since(const double *then_s, long count)
{
    double *times = calloc((size_t)count + 1, sizeof *times);

    for (long i = 0; i < count; i++)
        times[i] = then_s[i] > 0 && then_s[i] < decided_s[i] ? decided_s[i] - then_s[i] : 0;
    load_sort(times, (size_t)count);
    return times;
}

static void measure(long in_flight, double seconds)
{
    struct usage before = load_usage(hub_pid), after;
    double own_s = load_own_cpu_s(), began = load_now(), took, per_us;
    double *answers, *wakes;

    keep_busy(in_flight, began + seconds);
    took = load_now() - began;
    own_s = load_own_cpu_s() - own_s;
    after = load_usage(hub_pid);
    per_us = 1e6 / (double)(finished ? finished : 1);
    load_sort(took_s, (size_t)finished);
    answers = times_since(answered_s, finished);
    wakes = times_since(confirmed_s, finished);
    printf("{\"ops\":%ld,\"unfinished\":%ld,\"errors\":%ld,\"secs\":%.3f,\"ops_s\":%.1f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,\"answer_p50_us\":%.1f,"
           "\"answer_p99_us\":%.1f,\"told_p50_us\":%.1f,\"told_p99_us\":%.1f,"
           "\"srv_cpu_us_op\":%.2f,\"loop_cpu_us_op\":%.2f,\"gen_cpu_us_op\":%.2f,"
           "\"rss_kb\":%ld,\"pss_kb\":%ld}\n",
           finished, started - finished, errors, took, (double)finished / took,
           load_quantile_us(took_s, (size_t)finished, 0.5),
           load_quantile_us(took_s, (size_t)finished, 0.99),
           load_quantile_us(took_s, (size_t)finished, 1),
           load_quantile_us(answers, (size_t)finished, 0.5),
           load_quantile_us(answers, (size_t)finished, 0.99),
           load_quantile_us(wakes, (size_t)finished, 0.5),
           load_quantile_us(wakes, (size_t)finished, 0.99), (after.cpu_s - before.cpu_s) * per_us,
           (after.main_cpu_s - before.main_cpu_s) * per_us, own_s * per_us, after.rss_kb,
           after.pss_kb);
}

static void hold(long in_flight, double seconds)
{
    struct usage before = load_usage(hub_pid), after;
    double began = load_now(), until = began + seconds;
    struct pollfd input = { STDIN_FILENO, POLLIN, 0 };

    while (created < max && errors == 0 && load_now() < until) {
        while (started < max && started - created < in_flight)
            ask();
        load_turn(peers, PEERS, until);
    }
    after = load_usage(hub_pid);
    printf("{\"held\":%ld,\"errors\":%ld,\"secs\":%.3f,\"asks_s\":%.0f,\"rss_kb\":%ld,"
           "\"pss_kb\":%ld,\"bytes_per_ask\":%.0f}\n",
           created, errors, load_now() - began, (double)created / (load_now() - began),
           after.rss_kb, after.pss_kb,
           (double)(after.pss_kb - before.pss_kb) * 1024 / (double)(created ? created : 1));
    fflush(stdout);
    while (poll(&input, 1, 0) == 0) /* it goes on to read what the hub says */
        load_turn(peers, PEERS, load_now() + HOLD_TURN_S);
}

static void map_log_index(const char *note_path)
{
    char path[NOTE_BYTES];
    const char *slash = strrchr(note_path, '/');
    void *map;
    int fd;

    snprintf(path, sizeof path, "%.*s/sayso.db-shm", slash ? (int)(slash - note_path) : 1,
             slash ? note_path : ".");
    fd = open(path, O_RDONLY);
    map = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        load_fail("the store's log index cannot be read");
    log_index = map;
}

/* Never sleeps, so that no wake-up of ours is in the figure. */
static void measure_wakes(double seconds)
{
    double *wakes = calloc((size_t)max, sizeof *wakes);
    double until = load_now() + seconds;
    size_t count = 0;

    while (finished < max && load_now() < until) {
        long wanted = finished + 1;
        double committed_s = 0;

        ask();
        while (finished < wanted && load_now() < until + STRAGGLERS_S) {
            load_turn(peers, PEERS, 0);
            if (committed_s == 0 && answered_s[started - 1] > 0 &&
                atomic_load(&log_index[LOG_CHANGE]) != commits_before_answer)
                committed_s = load_now();
        }
        if (committed_s > 0 && finished == wanted)
            wakes[count++] = decided_s[started - 1] - committed_s;
        confirm_delivery();
        for (double pause = load_now() + 0.001; load_now() < pause;)
            load_turn(peers, PEERS, 0); /* the delivery's own commit must not be taken for it */
    }
    load_sort(wakes, count);
    printf("{\"ops\":%ld,\"errors\":%ld,\"wake_p50_us\":%.1f,\"wake_p99_us\":%.1f}\n", finished,
           errors, load_quantile_us(wakes, count, 0.5), load_quantile_us(wakes, count, 0.99));
}

int main(int count, char **arguments)
{
    struct load_options options = { .max = max, .in_flight = 1, .seconds = 2 };

    load_read_options(
        count, arguments,
        "usage: wireload ask|hold|wake|answer HUB.JSON [-n N] [-c N] [-t S] [-k TOKEN] [-v]",
        &options);
    max = options.max;
    verbosity = options.verbosity;
    token = options.kind;
    signal(SIGPIPE, SIG_IGN);
    begun_s = load_new_times(max);
    took_s = load_new_times(max);
    answered_s = load_new_times(max);
    decided_s = load_new_times(max);
    confirmed_s = load_new_times(max);
    first_title = (long)getpid() * 10000000;
    is_holding = strcmp(arguments[1], "hold") == 0;
    is_answering = strcmp(arguments[1], "answer") == 0;
    open_peers(arguments[2]);
    if (is_holding) {
        hold(options.in_flight, options.seconds);
        return 0;
    }
    if (is_answering) {
        puts("{}");
        fflush(stdout);
        for (;;)
            load_turn(peers, PEERS, load_now() + HANDSHAKE_S);
    }
    warm_up(options.in_flight);
    if (strcmp(arguments[1], "wake") == 0) {
        map_log_index(arguments[2]);
        memset(answered_s, 0, (size_t)max * sizeof *answered_s);
        measure_wakes(options.seconds);
    } else {
        measure(options.in_flight, options.seconds);
    }
    return 0;
}
