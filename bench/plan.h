/*
 * plan.h - what a load generator is to say, and to whom. Written by bench.py as lines "key value":
 * argv and env once each word of the server's start, everything else by name. In messages %ID%
 * stands for the id of the request, %N% for the number of the operation, %RID% for the id that the
 * server used, %ASK% for the ask's.
 */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H
#include <stddef.h>
#include <sys/types.h>

struct bytes;

struct plan_values {
    long id, number;
    const char *server_id; /* for %RID% and %ASK% */
    size_t server_id_length;
};

void plan_load(const char *path);
const char *plan_find(const char *key);                  /* NULL: not there */
const char *plan_find_next(const char *key, size_t *at); /* each of that key; *at begins at 0 */
long plan_number(const char *key, long fallback);
void plan_write(struct bytes *out, const char *key, const struct plan_values *values);

/* In a process group of its own. -1 as a descriptor: nothing; its errors are shown if `is_loud`. */
pid_t plan_start_server(int in_fd, int out_fd, int is_loud);
void plan_stop_server(pid_t pid);

#endif
