/* http_listen.h - opens the listening sockets of a server. */
#ifndef NET_HTTP_LISTEN_H
#define NET_HTTP_LISTEN_H
#include <stdbool.h>

struct error;

/* `ret_fds` has room for two: IPv4 and IPv6; the second is -1 on a host without IPv6. */
bool http_listen(int port, bool may_move, int *ret_fds, int *ret_port, struct error *err);

/* One socket at this address alone: "0.0.0.0", "::" (IPv4 too), "10.0.0.5". */
bool http_listen_at(const char *address, int port, int *ret_fds, int *ret_port, struct error *err);

#endif
