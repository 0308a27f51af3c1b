/*
 * failing_malloc.c - preloaded into the hub by test_memory.py: the N-th allocation fails, once or
 * from then on. FAIL_AT=0 only counts; the count is written to FAIL_COUNT_FILE at exit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long passed;
static long fail_at;
static int fails_for_ever;
static _Thread_local int is_inside_libc;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");

    fail_at = at ? strtol(at, NULL, 10) : 0;
    fails_for_ever = getenv("FAIL_FOR_EVER") != NULL;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT_FILE");
    char text[32];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (fd < 0)
        return;
    if (write(fd, text, (size_t)snprintf(text, sizeof text, "%ld", atomic_load(&passed))) < 0)
        _exit(1);
    close(fd);
}

static int fails(void)
{
    long number;

    if (is_inside_libc)
        return 0;
    number = atomic_fetch_add(&passed, 1) + 1;
    if (fail_at == 0 || (fails_for_ever ? number < fail_at : number != fail_at))
        return 0;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(old, bytes);
}

/* glibc 2.36 itself ends by SIGSEGV where an allocation of its name service fails. */
struct passwd *getpwuid(uid_t uid)
{
    struct passwd *(*real)(uid_t uid);
    struct passwd *found;
    void *symbol;

    is_inside_libc = 1;
    symbol = dlsym(RTLD_NEXT, "getpwuid");
    memcpy(&real, &symbol, sizeof real);
    found = real(uid);
    is_inside_libc = 0;
    return found;
}
