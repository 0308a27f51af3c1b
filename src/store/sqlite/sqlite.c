/* sqlite.c - see sqlite.h. Puts the parts together: database, writer thread, reader. */
#include "store/sqlite/sqlite.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "store/sqlite/database.h"
#include "store/sqlite/read.h"
#include "store/sqlite/writer.h"
#include "store/store.h"
#include "store/writes.h"

struct sqlite_store {
    struct reader reader; /* first: a struct store * is one of these */
    struct database database;
    struct writer *writer;
    atomic_bool is_broken;
};

static struct sqlite_store *own(struct store *store)
{
    return (struct sqlite_store *)store;
}

static void store_add(struct queued_store *store, struct write *take_write)
{
    writer_add(own(&store->port)->writer, take_write);
}

static bool store_is_broken(struct store *store)
{
    return atomic_load(&own(store)->is_broken);
}

static void store_write_metrics(struct store *store, struct text *out)
{
    writer_write_metrics(own(store)->writer, out);
}

static int64_t store_last_seq(struct store *store)
{
    return writer_last_seq(own(store)->writer);
}

static void store_close(struct store *store)
{
    struct sqlite_store *sqlite = own(store);

    writer_free(sqlite->writer);
    reader_release(&sqlite->reader);
    CRASH_POINT(store_drained);
    database_close(&sqlite->database, !atomic_load(&sqlite->is_broken));
    free(sqlite);
}

/* clang-format off */
static const struct store_ops sqlite_ops = {
    STORE_READS(READER_MEMBER)
    STORE_READS_OF_BOTH(BOTH_MEMBER)
    .write = store_write,
    .close = store_close,
    .is_broken = store_is_broken,
    .last_seq = store_last_seq,
    .write_metrics = store_write_metrics,
};
/* clang-format on */

bool sqlite_store_open_with_vfs(struct loop *loop, const char *path, const char *vfs_name,
                                struct store **ret_store, struct error *err)
{
    struct sqlite_store *store = mem_new(sizeof *store);
    int rc;

    atomic_init(&store->is_broken, false);
    /* The counters behind it are a lock that both threads would meet at every allocation. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (!database_open(path, vfs_name, &store->database, err)) {
        free(store);
        return false;
    }
    reader_init(&store->reader, store->database.reader, store->database.path, &store->is_broken);
    store->reader.queued = (struct queued_store){ { &sqlite_ops }, store_add, reader_read };
    if (*reader_meta(&store->reader.queued.port, "importing")) {
        error_say(err, ERROR_storage_failed, "", TEXT_REASON_BACKUP_INCOMPLETE, NULL);
        store_close(&store->reader.queued.port);
        return false;
    }
    store->writer =
        writer_new(loop, store->database.writer, store->database.path, &store->is_broken, &rc);
    if (!store->writer) {
        failure_describe(failure_of(store->database.writer, rc), store->database.writer,
                         store->database.path, err);
        store_close(&store->reader.queued.port);
        return false;
    }
    *ret_store = &store->reader.queued.port;
    return true;
}

bool sqlite_store_open(struct loop *loop, const char *path, struct store **ret_store,
                       struct error *err)
{
    return sqlite_store_open_with_vfs(loop, path, NULL, ret_store, err);
}
