/*
 * child.h - another program beside the loop: it gets an input, has a time to end, is heard of once.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H
#include <stddef.h>
#include <stdint.h>

struct child;
struct loop;

struct child_plan {
    const char *const *arguments;   /* the program, along PATH, and its words; NULL-ended */
    const char *const *environment; /* "NAME=value", all of it; NULL-ended */
    const char *input;
    size_t input_length;
    int64_t limit_ms; /* then it is killed */
    /* `status` is its exit code; 128 and more where a signal ended it; -1: it could not start. */
    void (*done)(void *context, int status);
    void *context;
};

/* `done` is called from the loop, later. */
struct child *child_start(struct loop *loop, const struct child_plan *plan);
/* Kills it and what it started; `done` is not called. */
void child_end(struct child *child);

#endif
