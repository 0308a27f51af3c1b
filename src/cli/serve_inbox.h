/* serve_inbox.h - `sayso serve` on a terminal: the hub behind, the inbox in front (R6.3). */
#ifndef CLI_SERVE_INBOX_H
#define CLI_SERVE_INBOX_H
#include <stdbool.h>

#include "cli/verb.h"

struct hub_options;

bool serve_may_show(const struct arguments *arguments); /* a person is looking, and wants it */
/* The hub is a child of ours, in a job of its own so that Ctrl-Z does not stop it; it ends with the
 * inbox. What it has to say goes into its log. */
enum exit_code serve_with_inbox(const struct arguments *arguments,
                                const struct hub_options *options);

#endif
