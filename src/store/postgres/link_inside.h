/* link_inside.h - what link.c (connecting) and exchange.c (statements) share of a link. */
#ifndef STORE_POSTGRES_LINK_INSIDE_H
#define STORE_POSTGRES_LINK_INSIDE_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/postgres/link.h"

enum link_state { LINK_WAITING, LINK_RESOLVING, LINK_CONNECTING, LINK_READY };

enum { LINK_HOSTS = 16, LINK_WHY_BYTES = 240 };

struct link_exchange {
    struct link_exchange *next;
    struct pg_exchange of;
    int number; /* of the statement whose result comes next */
};
/* What the server owes an answer for, in order. */
enum link_item { ITEM_PREPARE, ITEM_QUERY, ITEM_SYNC };
struct link_items {
    struct link_due {
        enum link_item kind;
        const struct sql *sql;
    } * each;
    size_t first, used, capacity;
};
struct link_prepared {
    const struct sql *sql;
    const struct link_exchange *by; /* NULL: it is there; else that one is preparing it */
};

struct pg_link {
    struct pg_link_plan plan;
    enum link_state state;
    PGconn *connection;
    struct watch *watch;
    struct loop_timer *timer;

    struct resolve *resolve;
    char *numbers[LINK_HOSTS]; /* by host; NULL: not known */
    size_t host, first_host;   /* being looked up; where the list begins */

    int64_t pause_ms, silent_since_ms, connects;
    char why[LINK_WHY_BYTES];

    bool is_broken;    /* to be given up at the next chance */
    bool is_timed;     /* while ready: the timer runs */
    bool has_answered; /* this connection is good for something */
    int64_t heard_ms;
    struct link_exchange *exchanges, *last_exchange;
    struct link_items items;
    PGresult *refused; /* of a statement that could not be prepared: it is its result */
    struct link_prepared *prepared;
    size_t prepared_count, prepared_capacity;
};

/* exchange.c */
void exchange_take_results(struct pg_link *link);
bool exchange_flush(struct pg_link *link); /* false: it can't be sent */
/* Forgets all that was sent; the exchanges are the caller's then. */
struct link_exchange *exchange_drop_all(struct pg_link *link);
bool exchange_is_due(const struct pg_link *link); /* the server owes an answer */
void exchange_release(struct pg_link *link);

/* link.c */
void link_fail_soon(struct pg_link *link);
void link_time_silence(struct pg_link *link);

#endif
