/*
 * disk.h - an SQLite VFS in memory that knows what was synced. When the process is killed, all that
 * was written stays. When the power goes, of what was not synced any 512-byte sectors stay, some of
 * them torn.
 */
#ifndef SIMULATE_DISK_H
#define SIMULATE_DISK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk;

#define DISK_VFS "simulated"

void disk_register(void); /* first of all */
/* Files are found by the name of their directory: one disk for each hub. */
struct disk *disk_new(const char *directory);
/* The same files as there, all of them synced, and who has them open: memory must be put back
 * with it, or let go. */
void disk_copy(struct disk *disk, const struct disk *from);
void disk_keep_power(struct disk *disk); /* it is never cut: what was written over is forgotten */
void disk_let_go(struct disk *disk);     /* its process died: locks and index are gone */
void disk_cut_power(struct disk *disk, uint64_t *seed); /* after that */

#endif
