/*
 * stdio.h - MCP on standard input and output (`sayso mcp`): one client, lines both ways.
 * Input may be a pipe, a socket, a terminal, a file or /dev/null; its end ends us, and so do
 * SIGINT and SIGTERM. Asks under way stay with the hub.
 */
#ifndef MCP_STDIO_STDIO_H
#define MCP_STDIO_STDIO_H
#include <stdbool.h>
#include <stdint.h>

struct current_settings;

struct stdio_options {
    struct current_settings *settings;
    const char *as_name;      /* NULL: none */
    const char *tools;        /* that are listed; NULL: the setting says */
    int64_t client_timeout_s; /* of a call, as its configuration says; 0: unknown */
    bool is_sub_agent;
};
/* Returns when the client is gone. */
void stdio_run(const struct stdio_options *options);

#endif
