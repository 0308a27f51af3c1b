/* os_linux_tcp.c - whose a port and the other end of a connection are: the kernel's tables name the
 * user of every socket of this machine (proc(5)). */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"

enum { ADDRESS_BYTES = 40, LINKS_MOST = 65536 }; /* the latter are looked at in a search */

/* One row: number, both ends, state, two columns of queues and timers, retransmits, uid, ... */
enum column { LOCAL = 1, REMOTE = 2, STATE = 3, UID = 7, INODE = 9, COLUMNS = 10 };

static bool split_row(char *line, const char *columns[COLUMNS])
{
    char *rest = NULL;

    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = strtok_r(i ? NULL : line, " ", &rest);
        if (!columns[i])
            return false;
    }
    return true;
}

/* The uid in one row, if it is a listener on that port. */
static int64_t listener_of(char *line, int port)
{
    const char *columns[COLUMNS], *own_port;

    if (!split_row(line, columns) || strcmp(columns[STATE], "0A") != 0)
        return -1;
    own_port = strrchr(columns[LOCAL], ':');
    if (!own_port || strtol(own_port + 1, NULL, 16) != port)
        return -1;
    return strtoll(columns[UID], NULL, 10);
}

int64_t os_port_owner(int port)
{
    static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
    int64_t owner = -1;

    for (size_t i = 0; owner < 0 && i < ARRAY_LEN(tables); i++) {
        FILE *file = fopen(tables[i], "re");
        char line[512];

        while (file && owner < 0 && fgets(line, sizeof line, file))
            owner = listener_of(line, port);
        if (file)
            fclose(file);
    }
    return owner;
}

/* As the tables print it: words of the address in the machine's own order, then the port. */
static void print_address(const struct sockaddr_storage *address, bool as_mapped,
                          char out[ADDRESS_BYTES])
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;
    uint32_t words[4] = { 0, 0, htonl(0xffff), 0 };

    if (address->ss_family == AF_INET && !as_mapped) {
        snprintf(out, ADDRESS_BYTES, "%08X:%04X", four->sin_addr.s_addr, ntohs(four->sin_port));
        return;
    }
    if (address->ss_family == AF_INET)
        words[3] = four->sin_addr.s_addr;
    else
        memcpy(words, &six->sin6_addr, sizeof words);
    snprintf(out, ADDRESS_BYTES, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(address->ss_family == AF_INET ? four->sin_port : six->sin6_port));
}

/* A socket that nobody holds any more is shown as root's, without an inode: it is nobody's. */
static bool read_owner(char *line, const char *local, const char *remote, int64_t *ret_uid,
                       unsigned long long *ret_inode)
{
    const char *columns[COLUMNS];

    if (!split_row(line, columns) || strcmp(columns[LOCAL], local) != 0 ||
        strcmp(columns[REMOTE], remote) != 0)
        return false;
    *ret_inode = strtoull(columns[INODE], NULL, 10);
    *ret_uid = *ret_inode ? strtoll(columns[UID], NULL, 10) : -1;
    return true;
}

/* A reset takes the row out of the tables while they are read. */
static bool is_connected(int socket_fd)
{
    struct tcp_info info = { 0 };
    socklen_t length = sizeof info;

    return getsockopt(socket_fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

/* False: the tables are complete and the peer is still connected, but has no row: it is on another
 * machine. Anything else is no proof of that, and gives uid -1. */
static bool find_owner(int socket_fd, int64_t *ret_uid, unsigned long long *ret_inode)
{
    /* a client may have come to an address of version 4 with a socket of version 6 */
    static const struct {
        const char *path;
        bool as_mapped;
    } tables[] = { { "/proc/net/tcp", false }, { "/proc/net/tcp6", true } };
    struct sockaddr_storage own = { 0 }, peer = { 0 };
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    bool is_found = false, is_unread = false;

    *ret_uid = -1;
    if (getsockname(socket_fd, (struct sockaddr *)&own, &own_length) != 0 ||
        getpeername(socket_fd, (struct sockaddr *)&peer, &peer_length) != 0)
        return true;
    for (size_t i = 0; !is_found && i < ARRAY_LEN(tables); i++) {
        char local[ADDRESS_BYTES], remote[ADDRESS_BYTES], line[512];
        FILE *file = fopen(tables[i].path, "re");

        is_unread |= !file && errno != ENOENT && errno != EACCES; /* these last: a sandbox */
        print_address(&peer, tables[i].as_mapped, local);
        print_address(&own, tables[i].as_mapped, remote);
        while (file && !is_found && fgets(line, sizeof line, file))
            is_found = read_owner(line, local, remote, ret_uid, ret_inode);
        if (file)
            fclose(file);
    }
    return is_found || is_unread || !is_connected(socket_fd);
}

bool os_tcp_peer_user(int socket_fd, int64_t *ret_uid)
{
    unsigned long long inode = 0;

    return find_owner(socket_fd, ret_uid, &inode);
}

/* Descriptors of another user, or of a process that is hardened, can't be seen. */
static bool holds_socket(const char *pid, const char *socket_name, int *links_left)
{
    char path[64], target[64];
    const struct dirent *entry;
    bool is_found = false;
    DIR *files;

    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    files = opendir(path);
    while (files && !is_found && *links_left > 0 && (entry = readdir(files))) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1);

        (*links_left)--;
        target[length > 0 ? length : 0] = '\0';
        is_found = strcmp(target, socket_name) == 0;
    }
    if (files)
        closedir(files);
    return is_found;
}

bool os_tcp_peer_process(int socket_fd, int64_t *ret_uid, int64_t *ret_pid)
{
    unsigned long long inode = 0;
    char socket_name[64];
    int links_left = LINKS_MOST;
    const struct dirent *entry;
    bool is_found = find_owner(socket_fd, ret_uid, &inode) && *ret_uid >= 0;
    DIR *processes = is_found ? opendir("/proc") : NULL;

    *ret_pid = 0;
    snprintf(socket_name, sizeof socket_name, "socket:[%llu]", inode);
    while (processes && *ret_pid == 0 && links_left > 0 && (entry = readdir(processes))) {
        struct stat owner;

        if (isdigit((unsigned char)entry->d_name[0]) &&
            fstatat(dirfd(processes), entry->d_name, &owner, 0) == 0 && owner.st_uid == *ret_uid &&
            holds_socket(entry->d_name, socket_name, &links_left))
            *ret_pid = strtoll(entry->d_name, NULL, 10);
    }
    if (processes)
        closedir(processes);
    if (*ret_pid == 0 && !is_connected(socket_fd))
        *ret_pid = -1;
    return is_found;
}
