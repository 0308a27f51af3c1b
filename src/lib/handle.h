/*
 * handle.h - how a handle lies in memory; for the files of lib/ alone.
 *
 *   question.c  a question's arguments        request.c  asks under way, and values of results
 *   handle.c    options, who we are, words for failures, poll(), and asking in one call
 *   rpc/client.c  finding, starting, losing a hub
 *
 * Memory may be missing anywhere (memory.c): each function that allocates says so by its result.
 */
#ifndef LIB_HANDLE_H
#define LIB_HANDLE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/os.h"
#include "base/text.h"
#include "core/limits.h"
#include "lib/sayso.h"
#include "rpc/client.h"

enum {
    LIB_OPTIONS = SAYSO_SUB_AGENT + 1,
    LIB_ERROR_BYTES = 700,
    LIB_NAME_BYTES = 200,
    LIB_PATH_BYTES = 4096,
    LIB_PATIENCE_MS = 20000, /* one that recovers much on a busy machine */
    LIB_PENDING_PAUSE_MS = 1000,
};

struct sayso {
    char *options[LIB_OPTIONS]; /* owned; NULL: the default */
    char error[LIB_ERROR_BYTES];
    int last_code; /* that came with it */

    struct client *client;
    struct client_policy policy; /* of it, by the options */
    struct client_identity who;
    char name[LIB_NAME_BYTES + 1], directory[LIB_PATH_BYTES + 1];
    int64_t last_number;
    size_t unconfirmed; /* results that were read, and the hub does not know yet */
    bool is_connecting; /* sayso_connect */
    int give_up_code;   /* why that ended */

    struct sayso_request *first, *last;
};

struct sayso_request {
    struct sayso_request *next;
    struct sayso *sayso;
    char tag[TEXT_INTEGER_BYTES];
    struct client_call *call; /* under way; NULL: none */
    int64_t resend_ms;        /* not before */
    char id[LIMIT_ID_CHARS + 1];
    char *field;          /* owned; that the value of elicit_input is under; NULL: the usual */
    enum sayso_code code; /* SAYSO_PENDING: not over */
    struct json *message; /* owned; what `result` is part of */
    const struct json *result;
    char *result_json; /* owned */
    char error[LIB_ERROR_BYTES];
    bool is_over; /* by the hub's word, so that it is to be confirmed */
    bool wants_cancel, is_cancel_sent;
    bool is_abandoned; /* its owner freed it while it was under way */
};

/* handle.c */
int handle_fail(struct sayso *sayso, enum sayso_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int64_t handle_now_ms(void);

void handle_advance(struct sayso *sayso);  /* as far as it gets without waiting */
void handle_identify(struct sayso *sayso); /* who we are, before a hub is looked for */

/* request.c */
int64_t request_wake_ms(const struct sayso *sayso); /* -1: none waits for a time */
void request_send_late(struct sayso *sayso, int64_t now_ms);
void request_take_event(struct sayso *sayso, const struct rpc_message *message);
void request_end_all(struct sayso *sayso, enum sayso_code code, const char *why);
/* The first that is over, or that is not. */
struct sayso_request *request_find(const struct sayso *sayso, bool is_over);
void request_destroy(struct sayso_request *take_request);
size_t request_count_over(const struct sayso *sayso);

/* question.c */
/* The arguments as one compact JSON object. Not SAYSO_OK: handle_fail was called. */
int question_encode(struct sayso *sayso, const struct sayso_question *question, struct text *out);
int question_check(struct sayso *sayso, const char *arguments_json, size_t length, struct text *out,
                   char **ret_field);
const char *question_tool(const struct sayso_question *question);

#endif
