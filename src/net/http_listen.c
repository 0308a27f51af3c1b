/* http_listen.c - listens for connections, and counts those without a token by their address. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "net/http_server.h"

/* The two listening sockets of a server: 127.0.0.1 and ::1 with one port number. Close on exec, for
 * this machine alone; IPv6 takes no IPv4. Or one socket at a configured address, for other machines
 * too. */

enum { LISTEN_BACKLOG = 511, LISTEN_TRIES = 100 };

static int open_socket(int family, const struct sockaddr *address, socklen_t size, bool takes_both)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, kept;
    int is_alone = !takes_both;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* of our own last run */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* peers inherit it */
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_alone, sizeof is_alone);
    if (bind(fd, address, size) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    kept = errno;
    close(fd);
    errno = kept;
    return -1;
}

/* IPv6's "::" takes both. -1 and errno. */
static int open_at(const char *address, int port)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };

    if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
        return open_socket(AF_INET, (struct sockaddr *)&four, sizeof four, false);
    if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1)
        return open_socket(AF_INET6, (struct sockaddr *)&six, sizeof six,
                           IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr));
    errno = EADDRNOTAVAIL;
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_in address = { 0 };
    socklen_t size = sizeof address;

    return getsockname(fd, (struct sockaddr *)&address, &size) == 0 ? ntohs(address.sin_port) : 0;
}

/* Both or none; errno says why none. */
static bool open_pair(int port, int *fds)
{
    int kept;

    fds[1] = -1;
    fds[0] = open_at("127.0.0.1", port);
    if (fds[0] < 0)
        return false;
    fds[1] = open_at("::1", port_of(fds[0]));
    if (fds[1] >= 0 || errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL || errno == EPROTONOSUPPORT)
        return true; /* a host without IPv6 */
    kept = errno;
    close(fds[0]);
    errno = kept;
    return false;
}

bool http_listen(int port, bool may_move, int *ret_fds, int *ret_port, struct error *err)
{
    int wanted = port;

    for (int tries = 0; tries < LISTEN_TRIES; tries++) {
        if (open_pair(wanted, ret_fds)) {
            *ret_port = port_of(ret_fds[0]);
            return true;
        }
        if (errno != EADDRINUSE && !(errno == EACCES && may_move))
            return error_set(err, ERROR_unavailable, "", "can't listen on port %d: %s", wanted,
                             strerror(errno));
        if (port != 0 && (!may_move || ++wanted > 65535))
            break;
    }
    return error_set(err, ERROR_unavailable, "",
                     "port %d is taken by another program; `ss -ltnp 'sport = :%d'` shows which; "
                     "end it or choose another port",
                     port, port);
}

bool http_listen_at(const char *address, int port, int *ret_fds, int *ret_port, struct error *err)
{
    ret_fds[1] = -1;
    ret_fds[0] = open_at(address, port);
    if (ret_fds[0] < 0)
        return error_say(err, ERROR_unavailable, "/listen", TEXT_REASON_LISTEN_TAKEN, "address",
                         address, "port", TEXT_NUMBER(port), "reason", strerror(errno), NULL);
    *ret_port = port_of(ret_fds[0]);
    return true;
}

/* How many connections without a token one address of another machine may have. An address of
 * version 6 stands for its network of 64 bits. Without TLS of our own a load balancer is in front
 * of us: then all addresses are its own and say nothing. */

enum { NETWORK_BYTES = 8, ADDRESS_STRANGERS = 256 };

struct http_address {
    struct table_link link;
    struct table *table;
    struct in6_addr network;
    size_t count;
};

void http_addresses_init(struct http_server *server)
{
    server->addresses = TABLE_OF(http_address, link, network);
}

/* False: one of this machine. */
static bool read_network(const struct sockaddr_storage *peer, struct in6_addr *ret_network)
{
    struct in6_addr address = ((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    struct in_addr four = ((const struct sockaddr_in *)(const void *)peer)->sin_addr;
    bool is_four = peer->ss_family == AF_INET;

    if (!is_four && IN6_IS_ADDR_V4MAPPED(&address)) {
        memcpy(&four, &address.s6_addr[12], sizeof four);
        is_four = true;
    }
    *ret_network = (struct in6_addr){ 0 };
    if (is_four)
        memcpy(&ret_network->s6_addr[12], &four, sizeof four);
    else
        memcpy(ret_network->s6_addr, address.s6_addr, NETWORK_BYTES);
    return is_four ? ntohl(four.s_addr) >> 24 != IN_LOOPBACKNET : !IN6_IS_ADDR_LOOPBACK(&address);
}

bool http_address_enter(struct http_server *server, const struct sockaddr_storage *peer,
                        struct http_address **ret_address)
{
    struct table_link *link;
    struct http_address *address;
    struct in6_addr network;

    *ret_address = NULL;
    if (!server->tls || !read_network(peer, &network))
        return true;
    link = table_find(&server->addresses, &network);
    address = link ? TABLE_THING(http_address, link, link) : NULL;
    if (address && address->count >= ADDRESS_STRANGERS)
        return false;
    if (!address) {
        address = mem_new(sizeof *address);
        address->table = &server->addresses;
        address->network = network;
        table_insert(&server->addresses, &address->link);
    }
    address->count++;
    *ret_address = address;
    return true;
}

void http_address_leave(struct http_address **left)
{
    struct http_address *address = *left;

    *left = NULL;
    if (!address || --address->count > 0)
        return;
    table_remove(address->table, &address->link);
    free(address);
}
