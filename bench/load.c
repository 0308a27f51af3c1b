/* load.c - see load.h. */
#include "load.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PEERS = 4, READ_BYTES = 1 << 18, MAX_GENERATIONS = 4 };

static void (*failure_call)(void);

double load_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void load_on_failure(void (*call)(void))
{
    failure_call = call;
}

void load_fail(const char *why)
{
    int number = errno;

    if (failure_call)
        failure_call();
    printf("{\"fail\":\"%s\",\"errno\":%d}\n", why, number);
    fflush(stdout);
    _exit(1);
}

void load_allow_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

void load_pin(int cpu)
{
    cpu_set_t chosen;

    if (cpu < 0)
        return;
    CPU_ZERO(&chosen);
    CPU_SET((size_t)cpu, &chosen);
    if (sched_setaffinity(0, sizeof chosen, &chosen) != 0)
        load_fail("no such processor");
}

void load_read_options(int count, char **arguments, const char *usage, struct load_options *options)
{
    int option;

    if (count < 3)
        load_fail(usage);
    optind = 3;
    while ((option = getopt(count, arguments, "n:c:t:k:p:v")) > 0) {
        if (option == 'n')
            options->max = strtol(optarg, NULL, 10);
        else if (option == 'c')
            options->in_flight = strtol(optarg, NULL, 10);
        else if (option == 't')
            options->seconds = strtod(optarg, NULL);
        else if (option == 'k')
            options->kind = optarg;
        else if (option == 'p')
            load_pin((int)strtol(optarg, NULL, 10));
        else if (option == 'v')
            options->verbosity++;
        else
            load_fail(usage);
    }
}

double *load_new_times(long count)
{
    double *times = calloc((size_t)count, sizeof *times);

    if (!times)
        load_fail("out of memory");
    return times;
}

static void make_room(struct bytes *bytes, size_t length)
{
    if (bytes->taken == bytes->used)
        bytes->taken = bytes->used = 0;
    if (bytes->used + length <= bytes->capacity)
        return;
    if (bytes->taken > 0)
        memmove(bytes->at, bytes->at + bytes->taken, bytes->used - bytes->taken);
    bytes->used -= bytes->taken;
    bytes->taken = 0;
    if (bytes->used + length <= bytes->capacity)
        return;
    bytes->capacity = (bytes->used + length) * 2;
    bytes->at = realloc(bytes->at, bytes->capacity);
    if (!bytes->at)
        load_fail("out of memory");
}

void bytes_add(struct bytes *bytes, const char *more, size_t length)
{
    make_room(bytes, length);
    memcpy(bytes->at + bytes->used, more, length);
    bytes->used += length;
}

void bytes_add_text(struct bytes *bytes, const char *text)
{
    bytes_add(bytes, text, strlen(text));
}

void bytes_add_format(struct bytes *bytes, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        load_fail("a message is too long");
    bytes_add(bytes, text, (size_t)length);
}

static void flush(struct peer *peer)
{
    struct bytes *out = &peer->out;

    while (out->taken < out->used) {
        ssize_t put = write(peer->write_fd, out->at + out->taken, out->used - out->taken);

        if (put < 0 && errno == EAGAIN)
            return;
        if (put <= 0)
            load_fail("the server no longer reads");
        out->taken += (size_t)put;
    }
}

static void take_lines(struct peer *peer)
{
    struct bytes *in = &peer->in;

    while (in->taken < in->used) {
        char *line = in->at + in->taken;
        char *end = memchr(line, '\n', in->used - in->taken);

        if (!end)
            return;
        in->taken += (size_t)(end - line) + 1;
        peer->line(line, (size_t)(end - line));
    }
}

static void fill(struct peer *peer)
{
    static char bytes[READ_BYTES];
    ssize_t got;

    do {
        got = read(peer->read_fd, bytes, sizeof bytes);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            load_fail("the server closed the connection");
        bytes_add(&peer->in, bytes, (size_t)got);
        (peer->take ? peer->take : take_lines)(peer);
    } while (got == (ssize_t)sizeof bytes);
}

void load_turn(struct peer *peers, size_t count, double until)
{
    struct pollfd ready[2 * MAX_PEERS];
    double left_ms;

    for (size_t i = 0; i < count; i++) {
        flush(&peers[i]);
        ready[i] = (struct pollfd){ .fd = peers[i].read_fd, .events = POLLIN };
        ready[count + i] = (struct pollfd){ .fd = -1, .events = POLLOUT };
        if (peers[i].out.taken < peers[i].out.used)
            ready[count + i].fd = peers[i].write_fd;
    }
    left_ms = (until - load_now()) * 1000;
    if (poll(ready, 2 * count, left_ms <= 0 ? 0 : (int)left_ms + 1) <= 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (ready[i].revents)
            fill(&peers[i]);
    }
}

const char *load_find(const char *line, size_t length, const char *key)
{
    const char *found = memmem(line, length, key, strlen(key));

    return found ? found + strlen(key) : NULL;
}

long load_number_after(const char *line, size_t length, const char *key)
{
    const char *found = load_find(line, length, key);

    return found ? strtol(found, NULL, 10) : -1;
}

static void add_memory(pid_t pid, struct usage *usage)
{
    char path[64], line[512];
    long kb;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    file = fopen(path, "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "Rss: %ld", &kb) == 1)
            usage->rss_kb += kb;
        if (sscanf(line, "Pss: %ld", &kb) == 1)
            usage->pss_kb += kb;
    }
    fclose(file);
    usage->processes++;
}

static double thread_cpu_s(pid_t pid, long thread)
{
    unsigned long long ns = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%ld/schedstat", (int)pid, thread);
    file = fopen(path, "r");
    if (file && fscanf(file, "%llu", &ns) != 1)
        ns = 0;
    if (file)
        fclose(file);
    return (double)ns * 1e-9;
}

static void add_process(pid_t pid, struct usage *usage, int generation);

static void add_children(pid_t pid, long thread, struct usage *usage, int generation)
{
    char path[64];
    FILE *file;
    int child;

    snprintf(path, sizeof path, "/proc/%d/task/%ld/children", (int)pid, thread);
    file = generation < MAX_GENERATIONS ? fopen(path, "r") : NULL;
    if (!file)
        return;
    while (fscanf(file, "%d", &child) == 1)
        add_process((pid_t)child, usage, generation + 1);
    fclose(file);
}

static void add_process(pid_t pid, struct usage *usage, int generation)
{
    char path[64];
    struct dirent *entry;
    DIR *threads;

    add_memory(pid, usage);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    threads = opendir(path);
    while (threads && (entry = readdir(threads))) {
        long thread = strtol(entry->d_name, NULL, 10);
        double cpu_s = thread > 0 ? thread_cpu_s(pid, thread) : 0;

        usage->cpu_s += cpu_s;
        if (generation == 0 && thread == (long)pid)
            usage->main_cpu_s = cpu_s;
        if (thread > 0)
            add_children(pid, thread, usage, generation);
    }
    if (threads)
        closedir(threads);
}

struct usage load_usage(pid_t pid)
{
    struct usage usage = { 0 };

    add_process(pid, &usage, 0);
    return usage;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

double load_own_cpu_s(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void load_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}

double load_quantile_us(const double *sorted, size_t count, double share)
{
    return count ? sorted[(size_t)(share * (double)(count - 1))] * 1e6 : 0;
}
