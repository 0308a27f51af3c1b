/* webhook_secret.h - the secret with which messages to an address are signed: a file for its owner
 * alone beside the settings, made when it is first wanted. */
#ifndef HUB_WEBHOOK_SECRET_H
#define HUB_WEBHOOK_SECRET_H
#include <stdbool.h>

struct error;
struct place;
struct text;

bool webhook_secret_get(const struct place *place, struct text *out, struct error *err);

#endif
