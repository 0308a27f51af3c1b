/*
 * finder.h - finds, starts and greets a hub, one step at a time and none that waits.
 *
 *   IDLE --begin--> looks --a hub listens--> GREETING --hello--> UP
 *                    |  `--none does--> STARTING --it serves--> PAUSED
 *                    `----------------> PAUSED --soon--> looks, until patience is over: FAILED
 *
 * Linked into libsayso too: whatever allocates says so by its result, and texts are English.
 */
#ifndef RPC_FINDER_H
#define RPC_FINDER_H
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "rpc/location.h"

/* Who we are to the hub. All texts are borrowed for as long as it is used. */
struct client_identity {
    const char *role;           /* "agent" or "person" */
    const char *channel;        /* people: "cli", "terminal" */
    const char *name;           /* of the client, as it calls itself */
    const char *as_name;        /* NULL: none */
    const char *directory;      /* as text, UTF-8; NULL: none */
    const char *client_version; /* NULL: our own */
    const char *transport;      /* agents: of the client we speak for; NULL: none */
    bool is_sub_agent;
    const char *socket_path; /* NULL: the user's own hub; else this one, which is never started */
};
/* The params of hello. */
void client_identity_write(struct json_writer *writer, const struct client_identity *who);

struct finder_policy {
    bool may_start;        /* else it fails where none runs */
    bool ends_older;       /* a hub of an older version is retired; a newer one is never touched */
    int64_t patience_ms;   /* how long it looks, at least one time */
    size_t max_line_bytes; /* of what a hub says; 0: no limit */
    /* NULL: our own program is a hub's; else which one is. False: there is none. */
    bool (*find_program)(const void *context, char *out, size_t size);
    const void *context;
};

enum finder_phase {
    FINDER_IDLE,
    FINDER_PAUSED,
    FINDER_STARTING, /* `fd` is the pipe on which a hub says that it serves */
    FINDER_GREETING, /* hello, or for an older hub retire, was said */
    FINDER_UP,
    FINDER_FAILED,
};
enum finder_failure {
    FAILURE_NONE,
    FAILURE_ABSENT,    /* none runs, and none may be started */
    FAILURE_START,     /* it can't be started */
    FAILURE_UNREACHED, /* patience is over */
    FAILURE_VERSION,   /* of another version */
    FAILURE_REFUSED,   /* it does not take us in, or its address can't be used */
    FAILURE_NOT_A_HUB, /* what listens there says something else */
    FAILURE_NO_MEMORY,
    /* of a client */
    FAILURE_STOPPED,  /* a person stopped the hub */
    FAILURE_LOST,     /* the connection ended, and the call must not be made twice */
    FAILURE_AGAIN,    /* it ended again and again */
    FAILURE_TOO_LONG, /* the call */
};

struct finder {
    const struct client_identity *who;
    const struct finder_policy *policy;
    struct location location;
    enum finder_phase phase;
    enum finder_failure failure;
    struct error err; /* of FINDER_FAILED */

    int fd;           /* -1: none */
    int socket_fd;    /* the connection that a remote hub's thread prepares; -1: none */
    int64_t wake_ms;  /* when this phase is over by itself; -1: never */
    int64_t until_ms; /* when looking ends; 0: it has not begun */
    int tries, failed_starts;
    bool was_reached; /* a hub that was there may come back */
    bool is_retired;  /* the last one made room for another */
    bool is_retiring; /* GREETING: we asked it to */
    bool is_ended;    /* UP: the other end went away; what it said before may be left */
    struct os_daemon_words words;

    void (*closing)(void *context); /* before `fd` is closed; NULL: not needed */
    void *context;

    struct text in, out; /* lines that came, and that are to go */
    size_t done;         /* bytes of `in` that were given out as lines */
    size_t scanned;      /* bytes of `in` without a line's end */
};

/* Who and how are borrowed until the next finder_begin. */
void finder_init(struct finder *finder);
void finder_begin(struct finder *finder, const struct client_identity *who,
                  const struct finder_policy *policy);
/* As far as it gets. UP: reads what has come. */
enum finder_phase finder_advance(struct finder *finder, int64_t now_ms);
/* UP: the next whole line, NULL: none yet. Valid until the finder is used again. */
const char *finder_line(struct finder *finder, size_t *ret_length);
void finder_flush(struct finder *finder); /* UP: sends what the other end takes */
void finder_fail(struct finder *finder, enum finder_failure failure, const char *why);
void finder_drop(struct finder *finder); /* IDLE again */
void finder_release(struct finder *finder);

/* For this process, before anything is looked for: the hub of another machine, whose `begin` gives
 * the pipe on which it says that *ret_fd is connected (or why not); or a socket of this one. */
void finder_use_remote(int (*begin)(int *ret_fd, struct error *err));
bool finder_is_remote(void);
void finder_use_socket(const char *path);

#endif
