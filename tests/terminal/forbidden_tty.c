/* forbidden_tty.c - preloaded: the terminal is there and may not be opened, as in a sandbox. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

static int refuse_or(const char *name, const char *path, int flags, int mode)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);

    if (strcmp(path, "/dev/tty") == 0) {
        errno = EPERM;
        return -1;
    }
    return real(path, flags, mode);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list arguments;                                                                         \
        int mode;                                                                                  \
                                                                                                   \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, int);                                                             \
        va_end(arguments);                                                                         \
        return refuse_or(#name, path, flags, mode);                                                \
    }
OPEN(open64)
OPEN(open)
