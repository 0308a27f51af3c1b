/* os_linux_daemon.c - starting a process that outlives us and shares nothing with us. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "base/text.h"

enum { DAEMON_READY_FD = 3, DAEMON_MAX_ENVIRONMENT = 128, DETACHED_FILES = 1024 };

static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int os_open_log(const char *path, size_t room_bytes)
{
    struct stat found;
    char old[4096];
    int fd;

    if (stat(path, &found) == 0 && found.st_size + (off_t)room_bytes > OS_LOG_BYTES &&
        snprintf(old, sizeof old, "%s.1", path) < (int)sizeof old)
        rename(path, old);
    /* a fifo without a reader would hold us for ever; what is no file is no log */
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))) {
        close(fd);
        errno = ENXIO;
        fd = -1;
    }
    return fd;
}

/* `name` may end in * and then stands for all that begin so. */
static bool is_named(const char *entry, const char *name)
{
    size_t length = strlen(name);

    if (name[length - 1] == '*')
        return strncmp(entry, name, length - 1) == 0;
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* In the order of the names, so that a crowd behind the last can't push out what is needed. */
static void keep_environment(const char *const *names, char **kept)
{
    size_t count = 0;

    for (const char *const *name = names; *name; name++) {
        for (char **entry = environ; *entry && count < DAEMON_MAX_ENVIRONMENT - 2; entry++) {
            if (is_named(*entry, *name) && !is_named(*entry, "SAYSO_READY_FD"))
                kept[count++] = *entry;
        }
    }
    kept[count] = NULL;
}

/* One that is started with few files open may use an old interface that takes no more. */
static void reset_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > DETACHED_FILES) {
        files.rlim_cur = DETACHED_FILES;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Waits for the child between us and the program that outlives us. A host program's signals may
 * interrupt the wait. */
static void reap(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Runs it in a session of its own, not as our child; `streams`, /dev/null for -1, are its
 * descriptors. */
static void become(const char *program, const char *const *arguments, char **environment,
                   int streams[], int count)
{
    int null_fd = open("/dev/null", O_RDWR);

    if (null_fd < 0) /* an empty root: this one can't be read or written either */
        null_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    setsid();
    if (fork() != 0)
        _exit(0);
    reset_signals();
    if (chdir("/") != 0 || null_fd < 0)
        _exit(1);
    for (int i = 0; i < count; i++) { /* out of the way first: each may be one of these itself */
        streams[i] = fcntl(streams[i] < 0 ? null_fd : streams[i], F_DUPFD, 10);
        if (streams[i] < 0)
            _exit(1);
    }
    for (int i = 0; i < count; i++) {
        if (dup2(streams[i], i) < 0)
            _exit(1);
    }
    if (syscall(SYS_close_range, count, ~0U, 0) != 0) /* before Linux 5.9 */
        for (int fd = count, end = (int)sysconf(_SC_OPEN_MAX); fd < end; fd++)
            close(fd);
    execve(program, (char *const *)(uintptr_t)arguments, environment);
    _exit(127);
}

bool os_start_detached(const char *program, const char *const *arguments,
                       const char *const *environment_names)
{
    char *environment[DAEMON_MAX_ENVIRONMENT] = { NULL };
    pid_t child;

    keep_environment(environment_names, environment);
    child = fork();
    if (child == 0) {
        reset_files();
        become(program, arguments, environment, (int[]){ -1, -1, -1 }, 3);
    }
    if (child > 0)
        reap(child);
    return child > 0;
}

int os_begin_daemon(const char *program, const char *const *arguments, const char *log_path,
                    const char *const *environment_names, struct error *err)
{
    static char ready_variable[] = "SAYSO_READY_FD=3"; /* DAEMON_READY_FD */
    char *environment[DAEMON_MAX_ENVIRONMENT] = { NULL };
    int log_fd = os_open_log(log_path, 0);
    int ready[2];
    char **entry;
    pid_t child;

    if (log_fd < 0 || pipe2(ready, O_CLOEXEC) != 0) {
        error_say_base(err, ERROR_unavailable, "", BASE_REASON_CANT_WRITE, "path", log_path,
                       "reason", strerror(errno), NULL);
        if (log_fd >= 0)
            close(log_fd);
        return -1;
    }
    keep_environment(environment_names, environment);
    for (entry = environment; *entry; entry++)
        continue;
    *entry = ready_variable;
    child = fork();
    if (child == 0) {
        umask(077);
        become(program, arguments, environment, (int[]){ -1, log_fd, log_fd, ready[1] },
               DAEMON_READY_FD + 1);
    }
    close(ready[1]);
    close(log_fd);
    if (child > 0) {
        reap(child);
        return ready[0];
    }
    error_set(err, ERROR_unavailable, "", "can't start %s: %s", program, strerror(errno));
    close(ready[0]);
    return -1;
}

enum os_daemon os_hear_daemon(int ready_fd, struct os_daemon_words *words)
{
    ssize_t got;

    do
        got = read(ready_fd, words->bytes + words->used, sizeof words->bytes - 1 - words->used);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        words->used += (size_t)got;
    words->bytes[words->used] = '\0';
    if (words->bytes[0] == OS_DAEMON_SERVES)
        return OS_DAEMON_READY;
    return got > 0 && words->used + 1 < sizeof words->bytes ? OS_DAEMON_STARTING : OS_DAEMON_FAILED;
}

void os_read_why(const struct os_daemon_words *words, struct error *err)
{
    size_t behind = words->used ? strlen(words->bytes) + 1 : 0;
    struct json *said = NULL;

    error_set(err, ERROR_unavailable, "", "%s", words->used ? words->bytes + 1 : "");
    if (behind < words->used &&
        json_parse(words->bytes + behind, words->used - behind, &said, NULL))
        error_hear(err, said);
    json_free(said);
}

bool os_blame_daemon(const struct os_daemon_words *words, const char *log_path, struct error *err)
{
    if (words->bytes[0] == OS_DAEMON_SAYS_WHY)
        os_read_why(words, err);
    else
        error_say_base(err, ERROR_unavailable, "", BASE_REASON_NOT_STARTED, "path", log_path, NULL);
    return false;
}

void os_tell_starter(const struct text *failure)
{
    const char *value = getenv("SAYSO_READY_FD");
    int fd = value ? (int)strtol(value, NULL, 10) : -1;
    int mark = failure ? OS_DAEMON_SAYS_WHY : OS_DAEMON_SERVES;

    if (fd != DAEMON_READY_FD)
        return;
    unsetenv("SAYSO_READY_FD");
    /* a starter that no longer listens has started another daemon, or given up */
    dprintf(fd, "%c", mark);
    if (failure && write(fd, failure->bytes, failure->used) < 0)
        errno = 0; /* the starter is gone */
    close(fd);
}

/* A service manager that started us: the socket it listens on for us, and what it wants to hear.
 * Both are small protocols of the environment, sd_listen_fds(3) and sd_notify(3). */

enum { MANAGER_FIRST_FD = 3 };

/* How many descriptors are for this very process; what was meant for a parent is not ours. */
static int64_t passed_count(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    int64_t number = 0, passed = 0;

    if (!pid || !count || !text_parse_integer(pid, &number) || number != getpid() ||
        !text_parse_integer(count, &passed))
        return 0;
    return passed;
}

static bool is_number(int fd, int option, int wanted)
{
    int found = 0;
    socklen_t size = sizeof found;

    return getsockopt(fd, SOL_SOCKET, option, &found, &size) == 0 && found == wanted;
}

/* False: no unix stream socket that listens, or one without a file. */
static bool read_address(int fd, char *path, size_t path_size)
{
    struct sockaddr_un address = { 0 };
    socklen_t size = sizeof address - 1; /* what fills it whole has no end of its own */

    if (!is_number(fd, SO_DOMAIN, AF_UNIX) || !is_number(fd, SO_TYPE, SOCK_STREAM) ||
        !is_number(fd, SO_ACCEPTCONN, 1) ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0 || address.sun_path[0] != '/')
        return false;
    return snprintf(path, path_size, "%s", address.sun_path) < (int)path_size;
}

bool os_passed_socket(int *ret_fd, char *path, size_t path_size, struct error *err)
{
    int64_t count = passed_count();
    bool is_ours = count == 1 && fcntl(MANAGER_FIRST_FD, F_SETFD, FD_CLOEXEC) == 0 &&
                   read_address(MANAGER_FIRST_FD, path, path_size);

    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    *ret_fd = is_ours ? MANAGER_FIRST_FD : -1;
    if (count == 0 || is_ours)
        return true;
    return error_set(err, ERROR_unavailable, "",
                     "the service manager passed %lld descriptors and not one listening socket "
                     "with a path of at most %zu bytes: give the socket unit one ListenStream=",
                     (long long)count, path_size - 1);
}

void os_turn_away(int listening_fd)
{
    int flags = fcntl(listening_fd, F_GETFL), fd;

    if (flags < 0 || fcntl(listening_fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return;
    while ((fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(fd);
}

bool os_tell_manager(const char *state)
{
    const char *place = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = place ? strlen(place) : 0;
    bool is_sent;
    int fd;

    if (length < 2 || length >= sizeof address.sun_path || (place[0] != '/' && place[0] != '@'))
        return false;
    memcpy(address.sun_path, place, length);
    if (place[0] == '@') /* a name without a file */
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    is_sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) >= 0;
    close(fd);
    return is_sent;
}
