/*
 * batch.h - the connection that writes. What queues up while one transaction is under way is the
 * next: BEGIN, a statement for all asks that are made, one for all changes and so on (write.h),
 * COMMIT, sent together and answered together.
 *
 * No caller is told anything before it is known. Where the connection is lost under a transaction,
 * the database is asked by the transaction's own id what became of it, and whatever of it may
 * still be on its way is made void. A write that can't even be sent within five seconds fails.
 */
#ifndef STORE_POSTGRES_BATCH_H
#define STORE_POSTGRES_BATCH_H
#include <stdbool.h>
#include <stdint.h>

struct address;
struct batch_queue;
struct write;
struct loop;
struct pg_link;
struct text;

struct batch_parts {
    struct loop *loop;
    struct address *address; /* borrowed */
    int64_t hub;             /* who we are among those that share the database */
    /* Of each write that is stored, right before its completion runs; may be NULL. */
    void (*on_stored)(void *context, const struct write *write);
    void *context;
};
struct batch_queue *batch_queue_open(const struct batch_parts *parts);
/* What is still queued fails. NULL is fine. */
void batch_queue_close(struct batch_queue *queue);
void batch_queue_add(struct batch_queue *queue, struct write *take_write);
bool batch_queue_is_empty(const struct batch_queue *queue); /* all writes are answered */
const struct pg_link *batch_queue_link(const struct batch_queue *queue); /* borrowed */
void batch_queue_write_metrics(const struct batch_queue *queue, struct text *out);

#endif
