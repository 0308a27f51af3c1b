/* far.h - the hub of another machine, from options or environment. */
#ifndef CLI_FAR_H
#define CLI_FAR_H
#include <stdbool.h>

struct arguments;

/* --hub, --token-file and --ca-file, else SAYSO_HUB, SAYSO_TOKEN_FILE and SAYSO_CA_FILE. False: it
 * was said what is wrong. */
bool far_choose(const struct arguments *arguments);

#endif
