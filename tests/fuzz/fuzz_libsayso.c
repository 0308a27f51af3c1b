/*
 * fuzz_libsayso.c - any bytes as what a hub says: libsayso ends with a code, keeps its host alive,
 * and never has an answer that is not in what was said.
 * The first byte: bit 0, hello is answered before; bit 1, the ask is known by its id; bit 2, the
 * request is taken back; bit 3, it is left.
 * Proves: R4.5
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/sayso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"wire\":1}}\n";
static char path[64];

static void demand(int is_so)
{
    if (!is_so)
        abort();
}

static void forget_path(void)
{
    unlink(path);
}

static int listen_once(void)
{
    static int listener = -1;
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (listener >= 0)
        return listener;
    snprintf(path, sizeof path, "/tmp/fuzz_libsayso.%ld", (long)getpid());
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    demand(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    demand(listen(listener, 16) == 0);
    atexit(forget_path);
    return listener;
}

static void say(struct sayso *sayso, int peer, const void *bytes, size_t length)
{
    ssize_t put = send(peer, bytes, length, MSG_NOSIGNAL);

    (void)put; /* fails where the library has hung up */
    sayso_dispatch(sayso);
}

/* A request can be read, and has values only where it was answered. */
static void look(const struct sayso_request *request)
{
    int code = sayso_request_code(request), is_yes = 0;
    double number;

    demand(code >= SAYSO_OK && code <= SAYSO_REFUSED);
    demand(strlen(sayso_request_id(request)) == 0 || strlen(sayso_request_id(request)) == 26);
    demand(code != SAYSO_OK || sayso_request_result(request));
    if (sayso_answer_text(request, NULL) || sayso_answer_text(request, "x") ||
        sayso_answer_number(request, NULL, &number) == SAYSO_OK ||
        sayso_answer_yes(request, NULL, &is_yes) == SAYSO_OK)
        demand(code == SAYSO_OK);
    for (size_t i = 0; i < sayso_answer_count(request, NULL); i++)
        sayso_answer_item(request, NULL, i);
    sayso_answer_note(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int listener = listen_once(), peer;
    struct sayso *sayso = sayso_new();
    struct sayso_request *request;

    if (size < 1)
        size = 0;
    demand(sayso && sayso_set(sayso, SAYSO_SOCKET, path) == SAYSO_OK &&
           sayso_set(sayso, SAYSO_PATIENCE_MS, "0") == SAYSO_OK);
    request = size && data[0] & 2 ? sayso_collect(sayso, "abcdefghijklmnopqrstuvwxyz")
                                  : sayso_submit_json(sayso, "elicit_input", "{}");
    sayso_dispatch(sayso);
    peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    demand(request && peer >= 0);
    if (size && data[0] & 1)
        say(sayso, peer, hello, sizeof hello - 1);
    if (size && data[0] & 4)
        sayso_cancel(request);
    if (size && data[0] & 8) {
        sayso_request_free(request);
        request = NULL;
    }
    if (size)
        say(sayso, peer, data + 1, size - 1);
    if (request)
        look(request);
    close(peer);
    sayso_dispatch(sayso);
    if (request)
        look(request);
    sayso_free(sayso);
    while ((peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        close(peer); /* it looked for us again */
    return 0;
}
