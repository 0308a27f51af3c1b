/* os_linux_tcp.c - whose a port and the other end of a connection are: the kernel knows the user of
 * every socket of this machine (sock_diag(7); where that is not allowed, its tables, proc(5)). */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"

enum {
    ADDRESS_BYTES = 40,
    LINKS_MOST = 65536, /* descriptors that are looked at in a search */
    HOLDER_MS = 1000,   /* how long what a process held is believed */
};

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

static void put_address(const struct sockaddr_storage *address, __be32 words[4], __be16 *port)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;

    if (address->ss_family == AF_INET)
        memcpy(words, &four->sin_addr, sizeof four->sin_addr);
    else
        memcpy(words, &six->sin6_addr, sizeof six->sin6_addr);
    *port = address->ss_family == AF_INET ? four->sin_port : six->sin6_port;
}

enum kernel_reply { NOT_ASKED, NO_SUCH_SOCKET, SOCKET_FOUND };

/* Asks the kernel for this one socket, so that the cost doesn't grow with how many there are. It
 * answers with a listener of that port where there is no such connection. A socket that no process
 * holds any more has no inode. */
static enum kernel_reply ask_kernel(const struct sockaddr_storage *peer,
                                    const struct sockaddr_storage *own, int64_t *ret_uid,
                                    unsigned long long *ret_inode)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 request;
    } question = { .head = { .nlmsg_len = sizeof question,
                             .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                             .nlmsg_flags = NLM_F_REQUEST },
                   .request = { .sdiag_family = (uint8_t)peer->ss_family,
                                .sdiag_protocol = IPPROTO_TCP,
                                .idiag_states = ~0U,
                                .id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } };
    union {
        struct nlmsghdr head;
        struct {
            struct nlmsghdr head;
            struct inet_diag_msg found;
        } row;
        struct {
            struct nlmsghdr head;
            struct nlmsgerr why;
        } failure;
        char bytes[1024]; /* a row has attributes that we did not ask for */
    } reply;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t got = -1;

    put_address(peer, question.request.id.idiag_src, &question.request.id.idiag_sport);
    put_address(own, question.request.id.idiag_dst, &question.request.id.idiag_dport);
    if (fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question)
        got = recv(fd, &reply, sizeof reply, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    if (got >= (ssize_t)sizeof reply.row && reply.head.nlmsg_type == SOCK_DIAG_BY_FAMILY) {
        if (reply.row.found.id.idiag_dport != question.request.id.idiag_dport)
            return NO_SUCH_SOCKET;
        *ret_inode = reply.row.found.idiag_inode;
        *ret_uid = *ret_inode ? (int64_t)reply.row.found.idiag_uid : -1;
        return SOCKET_FOUND;
    }
    if (got >= (ssize_t)sizeof reply.failure && reply.head.nlmsg_type == NLMSG_ERROR &&
        reply.failure.why.error == -ENOENT)
        return NO_SUCH_SOCKET;
    return NOT_ASKED;
}

/* False: the kernel knows no such socket although the peer is still connected: it is on another
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
    switch (ask_kernel(&peer, &own, ret_uid, ret_inode)) {
    case SOCKET_FOUND:
        return true;
    case NO_SUCH_SOCKET:
        return !is_connected(socket_fd);
    case NOT_ASKED:
        break;
    }
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

/* The process that was found last and the sockets it held then: a client usually has several
 * connections, and one with thousands of them must not be searched again for each. */
static struct holder {
    char pid[24]; /* "": none was found yet */
    unsigned long long *sockets;
    size_t count, capacity;
    int64_t read_ms;
} last_holder;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool has_socket(const struct holder *holder, unsigned long long inode)
{
    for (size_t i = 0; i < holder->count; i++) {
        if (holder->sockets[i] == inode)
            return true;
    }
    return false;
}

/* Descriptors of another user, or of a process that is hardened, can't be seen. */
static void read_sockets(struct holder *holder, const char *pid, int64_t uid, int *links_left)
{
    char path[64], target[64];
    const struct dirent *entry;
    struct stat owner;
    DIR *files;

    holder->count = 0;
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    files = stat(path, &owner) == 0 && owner.st_uid == uid ? opendir(path) : NULL;
    while (files && *links_left > 0 && (entry = readdir(files))) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1);

        (*links_left)--;
        target[length > 0 ? length : 0] = '\0';
        if (strncmp(target, "socket:[", 8) != 0)
            continue;
        if (holder->count == holder->capacity) {
            holder->capacity = 2 * holder->capacity + 64;
            holder->sockets =
                mem_resize(holder->sockets, holder->capacity * sizeof *holder->sockets);
        }
        holder->sockets[holder->count++] = strtoull(target + 8, NULL, 10);
    }
    if (files)
        closedir(files);
}

/* Leaves the process in `last_holder`. */
static bool find_holder(int64_t uid, unsigned long long inode)
{
    int links_left = LINKS_MOST;
    const struct dirent *entry;
    bool is_found;
    DIR *processes;

    if (last_holder.pid[0] && now_ms() - last_holder.read_ms < HOLDER_MS &&
        has_socket(&last_holder, inode))
        return true;
    last_holder.read_ms = now_ms();
    read_sockets(&last_holder, last_holder.pid, uid, &links_left);
    is_found = has_socket(&last_holder, inode);
    processes = is_found ? NULL : opendir("/proc");
    while (processes && !is_found && links_left > 0 && (entry = readdir(processes))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        text_put(last_holder.pid, sizeof last_holder.pid, entry->d_name);
        read_sockets(&last_holder, last_holder.pid, uid, &links_left);
        is_found = has_socket(&last_holder, inode);
    }
    if (processes)
        closedir(processes);
    if (!is_found)
        last_holder.pid[0] = '\0';
    return is_found;
}

bool os_tcp_peer_process(int socket_fd, int64_t *ret_uid, int64_t *ret_pid)
{
    unsigned long long inode = 0;
    bool is_known = find_owner(socket_fd, ret_uid, &inode) && *ret_uid >= 0;

    *ret_pid = is_known && find_holder(*ret_uid, inode) ? strtoll(last_holder.pid, NULL, 10) : 0;
    if (*ret_pid == 0 && !is_connected(socket_fd))
        *ret_pid = -1;
    return is_known;
}
