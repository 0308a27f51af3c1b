/* os_linux_tcp.c - whose a port and the other end of a connection are: the kernel's tables name the
 * user of every socket of this machine (proc(5)). */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/os.h"

enum { ADDRESS_BYTES = 40 };

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
static bool read_owner(char *line, const char *local, const char *remote, int64_t *ret_uid)
{
    const char *columns[COLUMNS];

    if (!split_row(line, columns) || strcmp(columns[LOCAL], local) != 0 ||
        strcmp(columns[REMOTE], remote) != 0)
        return false;
    *ret_uid = strcmp(columns[INODE], "0") != 0 ? strtoll(columns[UID], NULL, 10) : -1;
    return true;
}

bool os_tcp_peer_user(int socket_fd, int64_t *ret_uid)
{
    /* a client may have come to an address of version 4 with a socket of version 6 */
    static const struct {
        const char *path;
        bool as_mapped;
    } tables[] = { { "/proc/net/tcp", false }, { "/proc/net/tcp6", true } };
    struct sockaddr_storage own = { 0 }, peer = { 0 };
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    bool is_found = false;

    if (getsockname(socket_fd, (struct sockaddr *)&own, &own_length) != 0 ||
        getpeername(socket_fd, (struct sockaddr *)&peer, &peer_length) != 0 ||
        (own.ss_family != AF_INET && own.ss_family != AF_INET6))
        return false;
    for (size_t i = 0; !is_found && i < ARRAY_LEN(tables); i++) {
        char local[ADDRESS_BYTES], remote[ADDRESS_BYTES], line[512];
        FILE *file = fopen(tables[i].path, "re");

        print_address(&peer, tables[i].as_mapped, local);
        print_address(&own, tables[i].as_mapped, remote);
        while (file && !is_found && fgets(line, sizeof line, file))
            is_found = read_owner(line, local, remote, ret_uid);
        if (file)
            fclose(file);
    }
    return is_found;
}
