/*
 * far_hub.h - the hub of another machine that this process was told to use instead of the user's
 * own (`--hub https://…`). Chosen once, before anything is linked; then every link and dial of the
 * process that names no socket goes there, and none is started.
 */
#ifndef WIRE_FAR_HUB_H
#define WIRE_FAR_HUB_H
#include <stdbool.h>

struct error;

/* `ca_file` NULL: whom the system trusts. The texts are borrowed for ever. False: it cannot be
 * used as it is; `err` says what to change. */
bool far_hub_choose(const char *url, const char *token_file, const char *ca_file,
                    struct error *err);
bool far_hub_is_chosen(void);
/* One of this machine instead, by its socket, which is borrowed for ever; NULL: none was chosen. */
void far_hub_choose_socket(const char *path);
const char *far_hub_socket(void);
/* A connection to it, which is waited for; -1: `err` says why, and *ret_is_final whether there is
 * use in trying again. May be called from any thread. */
int far_hub_connect(bool *ret_is_final, struct error *err);

#endif
