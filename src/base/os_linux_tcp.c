/* os_linux_tcp.c - whose the other end of a connection is: the kernel's tables name the user of
 * every socket of this machine. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/os.h"

enum { ADDRESS_BYTES = 40 };

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
static bool read_owner(const char *line, const char *local, const char *remote, int64_t *ret_uid)
{
    char from[ADDRESS_BYTES], to[ADDRESS_BYTES];
    unsigned long uid, inode;

    if (sscanf(line, "%*s %39s %39s %*s %*s %*s %*s %lu %*s %lu", from, to, &uid, &inode) != 4 ||
        strcmp(from, local) != 0 || strcmp(to, remote) != 0)
        return false;
    *ret_uid = inode ? (int64_t)uid : -1;
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
