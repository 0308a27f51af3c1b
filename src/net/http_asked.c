/* http_asked.c - what a handler may know of a request, and what it may want to hear; see http.h. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/metrics.h"
#include "base/os.h"
#include "net/http_inside.h"
#include "net/http_target.h"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

const char *http_method(const struct http_exchange *exchange)
{
    return exchange->asked ? or_empty(exchange->asked->request.method) : "";
}

const char *http_path(const struct http_exchange *exchange)
{
    return exchange->asked ? or_empty(exchange->asked->request.path) : "";
}

const char *http_query(const struct http_exchange *exchange)
{
    return exchange->asked ? or_empty(exchange->asked->request.query) : "";
}

const char *http_header(const struct http_exchange *exchange, const char *name)
{
    const struct http_request *request = exchange->asked ? &exchange->asked->request : NULL;
    int index = request ? http_request_find(request, name, 0) : -1;

    return index < 0 ? NULL : request->fields[index].value;
}

const char *http_body(const struct http_exchange *exchange, size_t *ret_length)
{
    *ret_length = exchange->asked ? exchange->asked->body.used : 0;
    return exchange->asked ? text_string(&exchange->asked->body) : "";
}

int http_port(const struct http_exchange *exchange)
{
    return exchange->connection ? exchange->connection->server->port : 0;
}

const struct http_site *http_site(const struct http_exchange *exchange)
{
    return exchange->connection ? exchange->connection->server->site : NULL;
}

bool http_own_address(const struct http_exchange *exchange, char *out, size_t size)
{
    struct sockaddr_storage own = { 0 };
    const struct sockaddr_in *four = (const void *)&own;
    const struct sockaddr_in6 *six = (const void *)&own;
    socklen_t length = sizeof own;
    char address[INET6_ADDRSTRLEN];
    bool is_mapped;

    if (!exchange->connection ||
        getsockname(exchange->connection->fd, (struct sockaddr *)&own, &length) != 0)
        return false;
    is_mapped = own.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
    if (own.ss_family == AF_INET)
        inet_ntop(AF_INET, &four->sin_addr, address, sizeof address);
    else if (is_mapped) /* who came to an address of version 4 calls it by that */
        inet_ntop(AF_INET, &six->sin6_addr.s6_addr[12], address, sizeof address);
    else
        inet_ntop(AF_INET6, &six->sin6_addr, address, sizeof address);
    return snprintf(out, size, strchr(address, ':') ? "[%s]:%d" : "%s:%d", address,
                    exchange->connection->server->port) < (int)size;
}

void http_write_metrics(const struct http_exchange *exchange, struct text *out)
{
    const struct http_server *server = exchange->connection ? exchange->connection->server : NULL;

    if (!server)
        return;
    metrics_write_one(out, "sayso_http_connections", "gauge", "Connections that are open.",
                      (int64_t)server->count);
    metrics_write_one(out, "sayso_http_exchanges", "gauge", "Requests that are under way.",
                      (int64_t)server->exchange_count);
}

const char *http_parameter(struct http_exchange *exchange, const char *name)
{
    struct http_asked *asked = exchange->asked;

    if (!asked || !http_query_find(http_query(exchange), name, &asked->scratch))
        return NULL;
    return text_string(&asked->scratch);
}

bool http_peer(const struct http_exchange *exchange, int64_t *ret_uid, int64_t *ret_pid)
{
    struct http_connection *connection = exchange->connection;

    if (!connection || http_site(exchange))
        return false;
    if (!connection->is_located) {
        os_tcp_peer_process(connection->fd, ret_uid, ret_pid);
        connection->peer_uid = (uint32_t)*ret_uid; /* -1 becomes UINT32_MAX, which no user has */
        connection->peer_pid = (int32_t)*ret_pid;
        connection->is_located = true;
    }
    *ret_uid = connection->peer_uid == UINT32_MAX ? -1 : (int64_t)connection->peer_uid;
    *ret_pid = connection->peer_pid;
    return *ret_uid >= 0;
}

void http_recognise(struct http_exchange *exchange)
{
    if (!exchange->connection)
        return;
    exchange->connection->server->strangers -= !exchange->connection->is_known;
    exchange->connection->is_known = true;
    http_address_leave(&exchange->connection->address);
}

void http_set_owner(struct http_exchange *exchange, uint64_t owner)
{
    if (exchange->connection)
        exchange->connection->owner = owner;
}

void http_on_fate(struct http_exchange *exchange,
                  void (*call)(void *context, struct http_exchange *exchange, enum http_fate fate),
                  void *context)
{
    exchange->on_fate = call;
    exchange->fate_context = context;
}

void http_want_room(struct http_exchange *exchange)
{
    exchange->wants_room = true;
}
