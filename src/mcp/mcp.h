/*
 * mcp.h - the Model Context Protocol with one client: lines in, lines out. Knows no transport, no
 * store and no user interface; asks go to the desk. Everything but a good ask or collect is
 * answered here: no hub, no file, no port is touched for it (R10.2).
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock;
struct desk;
struct mcp;

struct mcp_parts {
    struct desk *desk;
    struct clock *clock;
    int64_t uid, pid;
    const char *as_name;   /* NULL: none */
    const char *directory; /* NULL: none */
    bool is_sub_agent;
    const char *transport; /* "stdio" */
    void *context;
    void (*write)(void *context, const char *lines, size_t length); /* whole lines */
    /* How long a call of this client may be held open, in seconds. */
    int64_t (*hold_limit_s)(void *context, const char *client_name);
};
struct mcp *mcp_new(const struct mcp_parts *parts);
void mcp_free(struct mcp *mcp); /* its asks stay, detached */

void mcp_take_line(struct mcp *mcp, const char *line, size_t length);
/* A line longer than the limit was skipped: answered like any unreadable one. */
void mcp_refuse_long_line(struct mcp *mcp);
/* Every line handed to `write` is with the client now. Not before that does an answer count as
 * delivered: one that died in a buffer belongs to the next identical call (R5.5). */
void mcp_on_written(struct mcp *mcp);
void mcp_on_time(struct mcp *mcp); /* the clock's wake-up: progress is due, or patience ends */

#endif
