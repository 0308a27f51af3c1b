/*
 * seat.h - a person at a terminal: joins the terminal, the connection to the hub and a screen.
 * Runs until the person is done, or leaves, or something ends it; the terminal is then as it was.
 */
#ifndef TUI_SEAT_H
#define TUI_SEAT_H
#include <stdbool.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"

struct identity;

struct seat_options {
    bool is_inbox;
    bool is_plain;          /* numbered lines, nothing moves; one ask only */
    const char *session_id; /* an ask, whole or by its beginning; NULL: the one that waits */
    const char *launch;     /* or the code of a command; NULL: none */
    /* Or one that is asked here and now: params of ask/create, and who asks. NULL: none. */
    const char *create_json;
    const struct identity *asker;
};

enum seat_end {
    SEAT_DONE,      /* decided, here or elsewhere: exit_code, summary */
    SEAT_LEFT,      /* the person left, the ask stays open */
    SEAT_MOVED,     /* goes on in the browser: link, url, browser */
    SEAT_ELSEWHERE, /* the hub takes no answer from here: whole_json */
    SEAT_OVER,      /* it was over before it could be shown: whole_json */
    SEAT_FAILED,    /* err, and detail_json where the hub gave one */
    SEAT_NO_TERMINAL,
    SEAT_SIGNAL, /* signal_number: to be raised again by whoever called */
};
struct seat_result {
    enum seat_end end;
    int exit_code, signal_number;
    struct error err;
    char session_id[27];
    struct text detail_json, whole_json; /* the latter a result of ask/get */
    struct text link, url;               /* the former signs a browser in, once */
    enum os_browser browser;
    struct text result_json; /* of an ask that was made here; empty: it is still open */
};
void seat_run(const struct seat_options *options, struct seat_result *ret_result);
void seat_result_release(struct seat_result *result);

#endif
