/*
 * writer.h - the one thread that writes. Jobs queue up while it works; it takes the whole queue
 * into one transaction, hands the writes back, and only then looks after the log. Checkpoints are
 * its own, so that neither the loop nor a reply waits for one. Retention and the index give way:
 * each batch of them is a transaction of its own, after what callers wait for.
 */
#ifndef STORE_SQLITE_WRITER_H
#define STORE_SQLITE_WRITER_H
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>

struct write;
struct loop;
struct text;
struct writer;

/* NULL: *ret_rc is an SQLite code. `db` is borrowed and the thread's alone until writer_free. */
struct writer *writer_new(struct loop *loop, sqlite3 *db, const char *path, atomic_bool *is_broken,
                          int *ret_rc);
void writer_add(struct writer *writer, struct write *take_write);
int64_t writer_last_seq(const struct writer *writer); /* of what was handed back */
void writer_write_metrics(struct writer *writer, struct text *out);
/* Finishes what is queued, and what the completions of that still add; NULL is fine. */
void writer_free(struct writer *writer);

#endif
