/* migrate_link.c - see migrate.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"
#include "store/postgres/schema.h"
#include "store/transfer/migrate.h"

enum {
    OPEN_MS = 10000,
    OPEN_AGAIN_MS = 60000, /* it was there a moment ago */
    STATEMENT_MS = 600000, /* to count a big table takes long */
    MOST_TRIES = 8,
    PAUSE_MS = 200,
};

struct move_in {
    struct address *address;
    struct start *start; /* NULL: lost */
};

bool move_in_open(const char *url, struct move_in **ret_move, struct error *err)
{
    struct move_in *move;
    struct address *address;

    if (!libpq_load(err) || !address_parse(url, &address, err))
        return false;
    move = mem_new(sizeof *move);
    move->address = address;
    if (start_open(address, OPEN_MS, &move->start, err) && start_make_schema(move->start, err)) {
        *ret_move = move;
        return true;
    }
    move_in_close(move);
    return false;
}

void move_in_close(struct move_in *move)
{
    if (!move)
        return;
    start_close(move->start);
    address_free(move->address);
    free(move);
}

const char *move_in_state(const struct move_in *move)
{
    return move->start ? start_state(move->start) : "";
}

/* Whether it makes sense to try again; then there is a connection. */
static bool recover(struct move_in *move, int tries, struct error *err)
{
    const struct timespec pause = { 0, PAUSE_MS * 1000000L };
    enum fault fault = fault_of_state(move_in_state(move));

    if (tries >= MOST_TRIES || (fault != FAULT_GONE && fault != FAULT_AGAIN))
        return false;
    nanosleep(&pause, NULL);
    if (fault == FAULT_AGAIN)
        return true;
    start_close(move->start);
    move->start = NULL;
    return start_open(move->address, OPEN_AGAIN_MS, &move->start, err);
}

static bool run_once(struct move_in *move, const char *sql, const struct params *params,
                     PGresult **ret_result, struct error *err)
{
    start_extend(move->start, STATEMENT_MS);
    return start_run(move->start, sql, params, ret_result, err);
}

bool move_in_read(struct move_in *move, const char *sql, const struct params *params,
                  PGresult **ret_result, struct error *err)
{
    for (int tries = 0; !run_once(move, sql, params, ret_result, err); tries++) {
        if (!recover(move, tries, err))
            return false;
    }
    *err = (struct error){ 0 };
    return true;
}

bool move_in_fact(struct move_in *move, const char *name, char out[MOVE_FACT_BYTES],
                  struct error *err)
{
    struct params params = { 0 };
    PGresult *result = NULL;
    bool ok;

    params_text(&params, name);
    ok = move_in_read(move, "SELECT value FROM meta WHERE name = $1", &params, &result, err);
    params_release(&params);
    if (!ok)
        return false;
    text_put(out, MOVE_FACT_BYTES, result_count(result) > 0 ? result_text(result, 0, 0) : "");
    libpq.clear(result);
    return true;
}

bool move_in_change(struct move_in *move, const char *sql, const struct params *params,
                    const char *name, const char *wanted, struct error *err)
{
    char found[MOVE_FACT_BYTES];

    for (int tries = 0; !run_once(move, sql, params, NULL, err); tries++) {
        if (!recover(move, tries, err) || !move_in_fact(move, name, found, err))
            return false;
        if (strcmp(found, wanted) == 0)
            break; /* it was made, only its reply was lost */
    }
    if (!move_in_fact(move, name, found, err))
        return false;
    if (strcmp(found, wanted) == 0)
        return true;
    return error_say(err, ERROR_wrong_state, "", TEXT_REASON_MIGRATE_TWICE, NULL);
}
