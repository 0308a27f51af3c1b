/*
 * aside.c - see aside.h. The log goes first: a log left beside a new, empty file would be played
 * into it, while a damaged file without its log is found damaged again.
 */
#include "store/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/mem.h"

enum { ASIDE_TRIES = 100 };
static const char *const suffixes[] = { "-wal", "-shm", "-journal", "" };

static bool is_free(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        char *name = mem_format("%s%s", path, suffixes[i]);
        bool exists = access(name, F_OK) == 0 || errno != ENOENT;

        free(name);
        if (exists)
            return false;
    }
    return true;
}

static char *find_name(const char *path)
{
    time_t now = time(NULL);
    struct tm utc;
    char stamp[32];

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 1; i <= ASIDE_TRIES; i++) {
        char *name = i == 1 ? mem_format("%s.damaged-%s", path, stamp)
                            : mem_format("%s.damaged-%s-%d", path, stamp, i);

        if (is_free(name))
            return name;
        free(name);
    }
    return NULL;
}

static bool move_one(const char *path, const char *to, const char *suffix)
{
    char *from_name = mem_format("%s%s", path, suffix);
    char *to_name = mem_format("%s%s", to, suffix);
    bool ok =
        renameat2(AT_FDCWD, from_name, AT_FDCWD, to_name, RENAME_NOREPLACE) == 0 || errno == ENOENT;

    free(from_name);
    free(to_name);
    CRASH_POINT(store_moved_aside);
    return ok;
}

bool aside_move(const char *path, char **ret_path, struct error *err)
{
    char *to = find_name(path);

    for (size_t i = 0; to && i < ARRAY_LEN(suffixes); i++) {
        if (!move_one(path, to, suffixes[i])) {
            error_set(
                err, ERROR_storage_failed, "",
                "%s is damaged and cannot be moved aside (%s); move it away, then start again",
                path, strerror(errno));
            free(to);
            return false;
        }
    }
    if (!to)
        return error_set(err, ERROR_storage_failed, "",
                         "%s is damaged and too many damaged copies lie beside it; remove some",
                         path);
    *ret_path = to;
    return true;
}
