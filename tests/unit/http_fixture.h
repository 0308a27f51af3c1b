/*
 * http_fixture.h - a real server on a real loop, and peers on sockets of the same process. Nothing
 * blocks: the loop is turned until what a test waits for is there.
 */
#ifndef UNIT_HTTP_FIXTURE_H
#define UNIT_HTTP_FIXTURE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "net/http.h"

enum { STAGE_PATIENCE_MS = 120000 };

/* Routes by path: /echo gives back "METHOD PATH|BODY"; /hold keeps the exchange for the test;
 * /refuse is refused by the gate; /tiny takes no body. */
struct stage {
    struct loop *loop;
    struct http_server *server;
    struct http_exchange *held;
    int served, admitted, taken, lost;
    bool wants_fate; /* of exchanges that are not held, too */
    bool recognises; /* any peer that sends Authorization */
    struct text log; /* one line a request that was served */
};

/* `options` NULL: the usual ones; a handler in them takes the place of these routes. */
void stage_open(struct stage *stage, const struct http_options *options);
void stage_close(struct stage *stage);
void stage_turn(struct stage *stage);   /* one turn of the loop, that may sleep 1 ms */
void stage_settle(struct stage *stage); /* some turns, for what must not happen */

int peer_connect(struct stage *stage);
int peer_connect6(struct stage *stage);
void peer_send(int peer, const char *bytes, size_t length);
void peer_say(int peer, const char *bytes); /* up to its NUL */
/* Reads until `wanted` is in `in`, or the end of the connection: then false. */
bool peer_await(struct stage *stage, int peer, struct text *in, const char *wanted);
bool peer_await_end(struct stage *stage, int peer, struct text *in); /* true: in order */
int peer_status(const struct text *in); /* of the first reply; 0: none */
size_t count_of(const char *text, const char *part);

#endif
