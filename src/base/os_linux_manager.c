/*
 * os_linux_manager.c - a service manager that started us: the socket it listens on for us, and what
 * it wants to hear. Both are small protocols of the environment, sd_listen_fds(3) and sd_notify(3).
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"

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
