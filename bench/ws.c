/* ws.c - see ws.h. */
#include "ws.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

enum { SHORT_MAX = 125, MEDIUM = 126, LONG = 127, HEAD_MAX = 14, REPLY_BYTES = 1024 };

static void shake_hands(int fd, int port)
{
    char text[REPLY_BYTES];
    const char *end = NULL;
    int length =
        snprintf(text, sizeof text,
                 "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
                 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                 port, port);

    if (write(fd, text, (size_t)length) != length)
        load_fail("the handshake cannot be sent");
    while (!end) { /* what is behind the head stays where it is */
        ssize_t got = recv(fd, text, sizeof text - 1, MSG_PEEK);

        if (got <= 0)
            load_fail("the server closed during the handshake");
        text[got] = '\0';
        end = strstr(text, "\r\n\r\n");
    }
    if (recv(fd, text, (size_t)(end + 4 - text), 0) < 0)
        load_fail("the handshake cannot be read");
    if (strncmp(text, "HTTP/1.1 101 ", 13) != 0)
        load_fail("the server does not speak WebSocket");
}

int ws_connect(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        load_fail("there is no server to connect to");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    shake_hands(fd, port);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

void ws_add_frame(struct bytes *out, int opcode, const char *payload, size_t length)
{
    unsigned char head[HEAD_MAX] = { (unsigned char)(0x80 | opcode) };
    size_t used = 2;

    if (length > UINT16_MAX)
        load_fail("a message is too long");
    head[1] = (unsigned char)(0x80 | (length <= SHORT_MAX ? length : MEDIUM));
    if (length > SHORT_MAX) {
        head[used++] = (unsigned char)(length >> 8);
        head[used++] = (unsigned char)length;
    }
    bytes_add(out, (const char *)head, used + 4); /* the key: zeroes */
    bytes_add(out, payload, length);
}

size_t ws_read_frame(const char *at, size_t length, struct ws_frame *ret_frame)
{
    const unsigned char *head = (const unsigned char *)at;
    size_t used = 2, payload;

    if (length < used)
        return 0;
    payload = head[1];
    if (payload >= MEDIUM) {
        used += payload == LONG ? 8 : 2;
        if (length < used)
            return 0;
        payload = 0;
        for (size_t i = 2; i < used; i++)
            payload = payload << 8 | head[i];
    }
    if (length < used + payload)
        return 0;
    *ret_frame = (struct ws_frame){ head[0] & 0x0f, at + used, payload };
    return used + payload;
}

void ws_take(struct peer *peer)
{
    struct bytes *in = &peer->in;
    struct ws_frame frame;
    size_t used;

    while ((used = ws_read_frame(in->at + in->taken, in->used - in->taken, &frame)) > 0) {
        in->taken += used;
        if (frame.opcode == WS_PING)
            ws_add_frame(&peer->out, WS_PONG, frame.payload, frame.length);
        else if (frame.opcode == WS_TEXT)
            peer->line(frame.payload, frame.length);
        else
            load_fail("the server closed the WebSocket");
    }
}
