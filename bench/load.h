/* load.h - what the load generators share: a clock, lines in and out, what a process used. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

double load_now(void); /* seconds, monotonic */
/* Prints {"fail": why} and ends the program; what load_on_failure was given is called first. */
_Noreturn void load_fail(const char *why);
void load_on_failure(void (*call)(void));
void load_allow_files(void); /* as many as may be; in what is started too */
void load_pin(int cpu);      /* this process and those it starts; -1: any */

/* What all generators are told: MODE FILE [-n most] [-c in flight] [-t seconds] [-k kind] [-p cpu]
 * [-v]. */
struct load_options {
    long max, in_flight;
    double seconds;
    const char *kind; /* NULL: not said */
    int verbosity;
};
/* Over what is there already; `usage` where it cannot be understood. */
void load_read_options(int count, char **arguments, const char *usage,
                       struct load_options *options);
double *load_new_times(long count);

struct bytes {
    char *at;
    size_t used, capacity, taken; /* [taken, used) is what is still to be done */
};
void bytes_add(struct bytes *bytes, const char *more, size_t length);
void bytes_add_text(struct bytes *bytes, const char *text);
void bytes_add_format(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A peer that speaks in lines, or in what `take` makes of its bytes. What is added to `out` leaves
 * with the next load_turn. */
struct peer {
    int read_fd, write_fd; /* may be one and the same; both non-blocking */
    void (*line)(const char *line, size_t length);
    void (*take)(struct peer *peer); /* hands on what of `in` is whole; NULL: lines */
    struct bytes in, out;
};
/* Writes what is there, waits for bytes until then, and hands every whole line on. */
void load_turn(struct peer *peers, size_t count, double until);

const char *load_find(const char *line, size_t length, const char *key);  /* after it, or NULL */
long load_number_after(const char *line, size_t length, const char *key); /* -1: not there */

struct usage {
    long rss_kb, pss_kb;
    int processes;
    double cpu_s, main_cpu_s; /* of all threads, and of the first one alone */
};
struct usage load_usage(pid_t pid); /* children included */
double load_own_cpu_s(void);

void load_sort(double *values, size_t count);
double load_quantile_us(const double *sorted, size_t count, double share); /* of seconds */

#endif
