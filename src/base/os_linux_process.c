/* os_linux_process.c - processes as proc(5) shows them: parents, terminals and names; libraries
 * that ours loads. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/text.h"

/* Places among the numbers after name and state in /proc/PID/stat, proc(5). */
enum { STAT_PARENT = 0, STAT_SESSION = 2, STAT_TERMINAL = 3, STAT_START = 18, STAT_COUNT };
enum { PROCESS_PATH_BYTES = 4096 };

/* "/dev/pts/3" for the device number of a controlling terminal. */
static void name_terminal(unsigned device, char *out, size_t size)
{
    unsigned minor_number = minor(device), major_number = major(device);

    out[0] = '\0';
    if (major_number >= 136 && major_number <= 143)
        snprintf(out, size, "/dev/pts/%u", (major_number - 136) * 256 + minor_number);
    else if (major_number == 4)
        snprintf(out, size, "/dev/tty%u", minor_number);
    else if (device != 0)
        snprintf(out, size, "tty:%u:%u", major_number, minor_number);
}

/* `text` is all that follows a process's name: " S 1 2 3 …" */
static bool read_stat(const char *text, int64_t numbers[STAT_COUNT])
{
    const char *at = text + strspn(text, " ");
    char *end;

    if (*at)
        at++; /* the state, a letter */
    for (size_t i = 0; i < STAT_COUNT; i++) {
        errno = 0;
        numbers[i] = strtoll(at, &end, 10);
        if (errno || end == at)
            return false;
        at = end;
    }
    return true;
}

/* At most size - 1 bytes of a file in /proc/PID, or in /proc for pid 0; 0: it can't be read. */
static size_t read_some(int64_t pid, const char *file, char *out, size_t size)
{
    char path[64];
    ssize_t got;
    int fd;

    if (pid)
        snprintf(path, sizeof path, "/proc/%lld/%s", (long long)pid, file);
    else
        snprintf(path, sizeof path, "/proc/%s", file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd >= 0 ? read(fd, out, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

bool os_process(int64_t pid, struct os_process *ret_process)
{
    char line[1024];
    const char *fields;
    int64_t numbers[STAT_COUNT];

    if (!pid || !read_some(pid, "stat", line, sizeof line))
        return false;
    fields = strrchr(line, ')'); /* a program's name may hold anything, blanks and ) too */
    if (!fields || !read_stat(fields + 1, numbers))
        return false;
    *ret_process = (struct os_process){ .pid = pid,
                                        .parent = numbers[STAT_PARENT],
                                        .start = (uint64_t)numbers[STAT_START] };
    name_terminal((unsigned)numbers[STAT_TERMINAL], ret_process->tty, sizeof ret_process->tty);
    ret_process->leads_terminal = ret_process->tty[0] && numbers[STAT_SESSION] == pid;
    return true;
}

bool os_is_alive(int64_t pid, uint64_t start)
{
    struct os_process process;

    return os_process(pid, &process) && process.start == start;
}

/* PID 1 of the machine adopts everyone's orphans; PID 1 of a container may be its main program. */
static size_t read_lineage(int64_t pid, struct os_identity out[OS_MAX_ANCESTORS])
{
    char space[32] = "";
    bool is_container = readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0 &&
                        strcmp(space, "pid:[4026531836]") != 0; /* PROC_PID_INIT_INO of Linux */
    struct os_process process;
    size_t count = 0;

    while (count < OS_MAX_ANCESTORS && pid > !is_container && os_process(pid, &process)) {
        out[count++] = (struct os_identity){ pid, process.start };
        pid = process.parent;
    }
    return count;
}

/* A program that calls over HTTP is looked at for every call, so the last one's are kept: a process
 * has the ancestors it was seen with, whatever becomes of them. Whether its number is still its own
 * is asked once a tick of the clock: no number is given twice in one. */
size_t os_lineage(int64_t pid, struct os_identity out[OS_MAX_ANCESTORS])
{
    static struct os_identity last[OS_MAX_ANCESTORS];
    static size_t count;
    static struct timespec seen;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (count == 0 || last[0].pid != pid ||
        (memcmp(&seen, &now, sizeof now) != 0 && !os_is_alive(pid, last[0].start)))
        count = read_lineage(pid, last);
    seen = now;
    memcpy(out, last, count * sizeof *out);
    return count;
}

/* The last part of a path, without what follows it, as in "sh (deleted)" and "init(Debian)". */
static void put_name(char out[OS_NAME_BYTES], const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    snprintf(out, OS_NAME_BYTES, "%.*s", (int)strcspn(name, " \n("), name);
}

void os_process_names(int64_t pid, struct os_names *ret_names)
{
    char words[PROCESS_PATH_BYTES], path[64];
    const char *at = words, *end;
    ssize_t length;

    *ret_names = (struct os_names){ 0 };
    read_some(pid, "comm", words, sizeof words);
    words[strcspn(words, " \n")] = '\0';
    put_name(ret_names->title, words);
    snprintf(path, sizeof path, "/proc/%lld/exe", (long long)pid);
    length = readlink(path, words, sizeof words - 1);
    if (length > 0) /* else it is another user's, or hardened as ours is */
        words[length] = '\0';
    put_name(ret_names->program, words);
    end = words + read_some(pid, "cmdline", words, sizeof words);
    do
        at += strlen(at) + 1;
    while (at < end && *at == '-');
    if (at < end)
        put_name(ret_names->script, at);
}

void os_boot_id(char out[OS_BOOT_BYTES])
{
    read_some(0, "sys/kernel/random/boot_id", out, OS_BOOT_BYTES);
}

bool os_load(const char *library, const struct os_function *functions, size_t count, void *out,
             const char **ret_missing)
{
    bool is_linked = functions[0].linked != NULL;
    void *loaded = is_linked ? NULL : dlopen(library, RTLD_NOW | RTLD_LOCAL);

    *ret_missing = NULL;
    for (size_t i = 0; (is_linked || loaded) && i < count; i++) {
        void *symbol = is_linked ? NULL : dlsym(loaded, functions[i].name);

        if (!is_linked && !symbol) {
            *ret_missing = functions[i].name;
            return false;
        }
        /* ISO C has no cast from data to functions */
        memcpy((char *)out + functions[i].place,
               is_linked ? (const void *)&functions[i].linked : (const void *)&symbol,
               sizeof symbol);
    }
    return is_linked || loaded;
}
