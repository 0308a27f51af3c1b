/* keep.h - backups of the user's store, and reading one in while no hub has it. */
#ifndef HUB_KEEP_H
#define HUB_KEEP_H
#include "hub/hub.h"
#include "store/backup.h"

bool hub_backup(backup_sink *sink, void *context, struct error *err);

struct hub_restore {
    struct restore *restore;
    int lock_fd;
};
/* HUB_ENDED: open; whoever did so closes it. Nobody else opens the store meanwhile. */
enum hub_outcome hub_restore_open(struct hub_restore *ret_restore, struct error *err);
void hub_restore_close(struct hub_restore *restore);

#endif
