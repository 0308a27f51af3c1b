/*
 * fault_vfs.h - an SQLite VFS over the system's own that counts what is done to files, fails the
 * N-th of it, and writes down what would reach the disk. Syncs are noted, never performed.
 */
#ifndef TESTS_FAULT_VFS_H
#define TESTS_FAULT_VFS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_VFS "fault"

enum fault_act { FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE, FAULT_OPEN, FAULT_DELETE, FAULT_READ };
enum fault_file_kind { FAULT_MAIN, FAULT_LOG, FAULT_JOURNAL, FAULT_FILES };

struct fault_plan {
    uint32_t acts; /* bits of enum fault_act that count */
    long at;       /* which of them fails, from 1; 0: none */
    bool is_full;  /* the disk is full instead of broken; only for writes */
    bool stays;    /* all that follow fail as well */
};

struct fault_entry {
    enum fault_act act;
    enum fault_file_kind file;
    int64_t offset; /* or the size to truncate to */
    size_t length;
    char *bytes; /* owned; of a write */
};
struct fault_log {
    struct fault_entry *entries;
    size_t count, capacity;
};

void fault_vfs_register(void);
void fault_vfs_plan(struct fault_plan plan); /* begins to count from zero */
long fault_vfs_count(void);
bool fault_vfs_has_failed(void);
/* From now on into `log`; NULL ends it. */
void fault_vfs_record(struct fault_log *log);
size_t fault_vfs_position(void); /* in the log */
void fault_log_release(struct fault_log *log);

#endif
