/*
 * app.h - a person at a terminal: joins the terminal, the connection to the hub and a screen. Runs
 * until the person is done, or leaves, or something ends it; the terminal is then as it was.
 */
#ifndef TUI_APP_H
#define TUI_APP_H
#include <stdbool.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "rpc/client.h"
#include "tui/ask_screen.h"
#include "tui/inbox_screen.h"
#include "tui/keyboard.h"
#include "tui/painter.h"
#include "tui/plain_screen.h"
#include "tui/terminal.h"

struct loop_timer;

struct app_options {
    bool is_inbox;
    bool is_plain;          /* numbered lines, nothing moves; one ask only */
    const char *session_id; /* an ask, whole or by its beginning; NULL: the one that waits */
    const char *launch;     /* or the code of a command; NULL: none */
    /* Or one that is asked here and now: params of ask/create, and who asks. NULL: none. */
    const char *create_json;
    const struct client_identity *asker;
};

enum app_end {
    APP_DONE,      /* decided, here or elsewhere: exit_code, summary */
    APP_LEFT,      /* the person left, the ask stays open */
    APP_MOVED,     /* goes on in the browser: link, url, browser */
    APP_ELSEWHERE, /* the hub takes no answer from here: whole_json */
    APP_OVER,      /* it was over before it could be shown: whole_json */
    APP_FAILED,    /* err, and detail_json where the hub gave one */
    APP_NO_TERMINAL,
    APP_SIGNAL, /* signal_number: to be raised again by the caller */
};
struct app_result {
    enum app_end end;
    int exit_code, signal_number;
    struct error err;
    char session_id[27];
    struct text detail_json, whole_json; /* the latter a result of ask/get */
    struct text link, url;               /* the former signs a browser in, once */
    enum os_browser browser;
    struct text result_json; /* of an ask that was made here; empty: it is still open */
};
void app_run(const struct app_options *options, struct app_result *ret_result);
void app_result_release(struct app_result *result);

/* For the files of seat_ only: app.c has its life and the hub. */

enum { APP_EXIT_PENDING = 5, APP_LEAVE_MS = 1000 };

/* What a screen wanted while it was being called; done when that call has returned. */
struct wish {
    struct wish *next;
    struct screen_effect effect; /* its texts are owned */
    char session_id[27];
};

struct app {
    const struct app_options *options;
    struct app_result *result;
    struct loop *loop;
    struct loop_client *person, *agent; /* the latter only where we ask ourselves */
    struct tty *tty;                    /* NULL until there is something to show */
    struct terminal_kind kind;
    bool is_light; /* the terminal, as far as is known; the setting theme may say otherwise */
    struct keyboard keyboard;
    struct painter painter;
    struct canvas canvas;
    struct loop_timer *wake, *escape, *leave;
    struct ask_screen *ask; /* one of these, once there is something to show */
    struct inbox_screen *inbox;
    struct plain_screen *plain;
    struct text line;               /* of the plain screen, as far as it was typed */
    struct json *settings, *status; /* newest results; NULL: not yet */
    struct wish *wishes;
    char shown[27]; /* the ask on the screen; "": none, or not yet */
    char key[27];   /* with which we open what a launch names */
    char home[4096];
    int64_t titled;    /* asks that the window's name tells of; -1: none */
    int drafts;        /* on their way to the hub */
    enum app_end last; /* how it ends once they are there */
    bool is_leaving;
    bool is_looked_at; /* the terminal said that it is in front */
    bool is_over, is_drawing_due, is_asking_done;
};

void app_take(struct app *app, enum screen_news news, const struct json *json);
void app_take_text(struct app *app, enum screen_news news, struct text *take_json);
/* What it says, or that it was refused. */
void app_take_reply(struct app *app, enum screen_news news, const struct client_reply *reply);
void app_end(struct app *app, enum app_end end);
/* The same, once what was typed is in the hub, or that takes too long. */
void app_leave(struct app *app, enum app_end end);

/* As the person. */
void app_call(struct app *app, enum method method, const char *params_json, client_done *done);

/* app_effects.c */
void wish_note(void *context, const struct screen_effect *effect); /* context is an app */
void wishes_perform(struct app *app);
void wishes_release(struct app *app);

#endif
