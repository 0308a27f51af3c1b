#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"

static enum log_level min_level = LOG_INFO;
static char *own_path; /* of stderr, which we keep short; NULL: the process that started us does */

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARNING] = "warning",
    [LOG_ERROR] = "error",
};

void log_set_level(enum log_level min)
{
    min_level = min;
}

void log_keep_short(const char *path)
{
    struct stat named, used;

    free(own_path);
    own_path = NULL;
    if (stat(path, &named) == 0 && fstat(STDERR_FILENO, &used) == 0 &&
        named.st_ino == used.st_ino && named.st_dev == used.st_dev && S_ISREG(used.st_mode))
        own_path = mem_text(path);
}

/* Where that fails the old file goes on: a log that is too long is better than none. */
static void make_room(size_t bytes)
{
    struct stat used;
    int fd;

    if (!own_path || fstat(STDERR_FILENO, &used) != 0 ||
        used.st_size + (off_t)bytes <= OS_LOG_BYTES)
        return;
    fd = os_open_log(own_path, bytes);
    if (fd < 0)
        return;
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void stamp(char *out, size_t size)
{
    struct timespec now;
    struct tm parts;
    size_t used;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    used = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + used, size - used, ".%03ldZ", now.tv_nsec / 1000000);
}

/* "a=1 b=2" as members of the object being written. */
static void write_pairs(struct json_writer *writer, char *pairs)
{
    char *rest = NULL;

    for (char *pair = strtok_r(pairs, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(pair, '=');

        if (!equals)
            continue;
        *equals = '\0';
        json_write_text(writer, pair, equals + 1);
    }
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
    struct text line = { .max_bytes = 4096 };
    struct json_writer writer = json_writer_to(&line);
    char pairs[1024], when[40];
    va_list arguments;

    if (level < min_level)
        return;
    va_start(arguments, format);
    vsnprintf(pairs, sizeof pairs, format, arguments);
    va_end(arguments);
    if (isatty(STDERR_FILENO)) {
        text_add_format(&line, "%s %s", event, pairs);
    } else {
        stamp(when, sizeof when);
        json_write_object(&writer, NULL);
        json_write_text(&writer, "time", when);
        json_write_text(&writer, "level", level_names[level]);
        json_write_text(&writer, "event", event);
        write_pairs(&writer, pairs);
        json_write_end_object(&writer);
    }
    text_add_char(&line, '\n');
    make_room(line.used);
    fwrite(line.bytes, 1, line.used, stderr); /* one that fails has nowhere to complain */
    text_release(&line);
}
