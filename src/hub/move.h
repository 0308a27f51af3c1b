/* move.h - moving the user's store, or another file, into PostgreSQL while no hub has it. */
#ifndef HUB_MOVE_H
#define HUB_MOVE_H
#include "hub/hub.h"
#include "store/postgres/migrate.h"

struct hub_move {
    const char *path; /* NULL: the user's own store */
    const char *url;
    migrate_told *told;
    void *context;
};
struct text;
/* HUB_ENDED: done. `ret_path` (appended to) is the file that was read. */
enum hub_outcome hub_migrate(const struct hub_move *move, struct migrated *ret_migrated,
                             struct text *ret_path, struct error *err);
/* Whether this is an address of PostgreSQL at all, well written or not. */
bool hub_is_database(const char *address);
/* Without what is behind the host and without the password. */
void hub_write_database_name(const char *address, struct text *out);
bool hub_migrate_discard(const char *url, bool *ret_was_begun, struct error *err);

#endif
