#include "base/crash_point.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void crash_point(const char *name)
{
    static atomic_long passed;
    const char *wanted = getenv("SAYSO_CRASH_POINT");
    size_t length = strlen(name);
    long at = 1;

    if (!wanted || strncmp(wanted, name, length) != 0)
        return;
    if (wanted[length] == ':')
        at = strtol(wanted + length + 1, NULL, 10);
    else if (wanted[length] != '\0')
        return;
    if (atomic_fetch_add(&passed, 1) + 1 == at)
        kill(getpid(), SIGKILL);
}

bool deliberate_fault(const char *name)
{
    const char *wanted = getenv("SAYSO_FAULT");

    return wanted && strcmp(wanted, name) == 0;
}
