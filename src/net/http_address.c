/*
 * http_address.c - how many connections without a token one address of another machine may have. An
 * address of version 6 stands for its network of 64 bits. Without TLS of our own a load balancer is
 * in front of us: then all addresses are its own and say nothing.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http_inside.h"

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
