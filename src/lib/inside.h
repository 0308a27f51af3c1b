/*
 * inside.h - how a handle lies in memory; for the files of lib/ alone.
 *
 *   question.c  arguments piece by piece          request.c     asks under way, what comes of them
 *   answer.c    values out of results             connection.c  finding, starting, losing a hub,
 *   wait.c      poll(), and asking in one call    its lines in and out
 *
 * Memory may be missing anywhere (memory.c): each function that allocates says so by its result.
 */
#ifndef LIB_INSIDE_H
#define LIB_INSIDE_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/os.h"
#include "base/text.h"
#include "core/limits.h"
#include "lib/sayso.h"
#include "wire/place.h"

struct json;
struct jsonrpc_message;

enum {
    LIB_OPTIONS = SAYSO_SUB_AGENT + 1,
    LIB_ERROR_BYTES = 700,
    LIB_PATIENCE_MS = 20000, /* one that recovers much on a busy machine */
    LIB_PENDING_PAUSE_MS = 1000,
};

/* AWAY: no hub is needed, or the next step is to look for one. PAUSED: nobody was there, again in a
 * moment. STARTING: `fd` is the pipe on which a hub says that it serves. GREETING: hello was said.
 */
enum phase { PHASE_AWAY, PHASE_PAUSED, PHASE_STARTING, PHASE_GREETING, PHASE_UP };

struct sayso {
    char *options[LIB_OPTIONS]; /* owned; NULL: the default */
    struct place place;
    char error[LIB_ERROR_BYTES];
    int last_code; /* that came with it */

    enum phase phase;
    int fd;           /* -1: none */
    int64_t wake_ms;  /* when this phase is over by itself; -1: never */
    int64_t until_ms; /* when looking for a hub ends; 0: it has not begun */
    int tries, failed_starts;
    int losses;       /* connections that brought nothing, one after the other */
    bool was_reached; /* a hub that was there may come back */
    bool is_retired;  /* the last one made room for another */
    bool wants_hub;   /* sayso_connect */
    int give_up_code; /* why wants_hub ended */
    char closing[16]; /* why the hub says that it leaves */
    struct os_daemon_words words;

    struct text in, out;
    size_t scanned; /* bytes of `in` without a line's end */
    int64_t last_id, hello_id, delivered_id;
    struct text delivered;  /* ids as JSON with commas, to be told */
    struct text delivering; /* told; the last of them under delivered_id */

    struct sayso_request *first, *last;
};

struct sayso_request {
    struct sayso_request *next;
    struct sayso *sayso;
    int64_t number;    /* its tag */
    int64_t call_id;   /* of the call under way; 0: none */
    int64_t resend_ms; /* not before */
    char id[LIMIT_ID_CHARS + 1];
    char *tool, *arguments; /* owned; NULL: it only collects */
    char *field;            /* owned; that the value of elicit_input is under; NULL: the usual */
    enum sayso_code code;   /* SAYSO_PENDING: not over */
    struct json *message;   /* owned; what `result` is part of */
    const struct json *result;
    char *result_json; /* owned */
    char error[LIB_ERROR_BYTES];
    bool is_over; /* by the hub's word, so that it is to be confirmed */
    bool wants_cancel, is_cancel_sent;
    bool is_abandoned; /* its owner freed it while it was under way */
    bool is_detach_sent;
};

/* handle.c */
int handle_fail(struct sayso *sayso, enum sayso_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int64_t handle_now_ms(void);

/* connection.c */
/* As far as it gets without waiting. */
void connection_advance(struct sayso *sayso);
void connection_drop(struct sayso *sayso); /* as if there had never been one */
/* It is of no use to look on: everything that waits ends so. */
void connection_give_up(struct sayso *sayso, enum sayso_code code, const char *why);

/* Lines in and out. */
/* One line more to be sent; `ret_id` is its call's. False: out of memory, and nothing was added. */
bool stream_call(struct sayso *sayso, const char *method, const struct text *params,
                 int64_t *ret_id);
bool stream_flush(struct sayso *sayso); /* false: the other end is gone */
enum stream_end { STREAM_IDLE, STREAM_LOST, STREAM_TOO_LONG, STREAM_NO_MEMORY };
enum stream_end stream_read(struct sayso *sayso); /* what has come, up to some */
/* The next whole line, NULL: none yet. Valid until the next call. */
const char *stream_line(struct sayso *sayso, size_t *at, size_t *ret_length);
void stream_drop_lines(struct sayso *sayso, size_t bytes);

/* handle.c: who we are */
bool hello_say(struct sayso *sayso);
bool hello_find_program(const struct sayso *sayso, char *out, size_t size);

/* request.c */
bool request_needs_hub(const struct sayso *sayso);
void request_send_all(struct sayso *sayso, int64_t now_ms);
int64_t request_wake_ms(const struct sayso *sayso); /* -1: none waits for a time */
/* A reply or a notification of the hub. False: out of memory. */
bool request_take(struct sayso *sayso, const struct jsonrpc_message *message, struct json *root);
void request_lose_all(struct sayso *sayso); /* the connection is gone, they are not */
void request_end_all(struct sayso *sayso, enum sayso_code code, const char *why);
struct sayso_request *request_find_over(const struct sayso *sayso);
void request_destroy(struct sayso_request *take_request);
size_t request_count_over(const struct sayso *sayso);

/* What became of a request by the reply to its call; takes what it needs of `root`. False: out of
 * memory. */
bool result_take(struct sayso_request *request, const struct jsonrpc_message *message,
                 struct json *root);
void result_end(struct sayso_request *request, enum sayso_code code, const char *why);

/* question.c */
/* The arguments as one compact JSON object. Not SAYSO_OK: handle_fail was called. */
int question_encode(struct sayso *sayso, const struct sayso_question *question, struct text *out);
int question_check(struct sayso *sayso, const char *arguments_json, size_t length, struct text *out,
                   char **ret_field);
const char *question_tool(const struct sayso_question *question);

#endif
