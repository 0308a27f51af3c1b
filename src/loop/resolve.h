/* resolve.h - the addresses of a host, asked for without the loop waiting. */
#ifndef LOOP_RESOLVE_H
#define LOOP_RESOLVE_H

struct loop;
struct resolve;

enum { RESOLVE_MOST = 8 }; /* addresses of one name */

/* `addresses` are numeric, a comma between; NULL: there are none, and `why` says it. */
typedef void resolve_done(void *context, const char *addresses, const char *why);
/* `done` runs later. NULL: it can't be asked for now. */
struct resolve *resolve_start(struct loop *loop, const char *host, resolve_done *done,
                              void *context);
void resolve_cancel(struct resolve *resolve); /* `done` is not called any more; NULL is fine */

#endif
