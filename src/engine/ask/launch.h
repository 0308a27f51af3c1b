/* launch.h - asks that are handed to a terminal by a command that works once (R6.2). */
#ifndef ENGINE_ASK_LAUNCH_H
#define ENGINE_ASK_LAUNCH_H
#include "engine/state.h"

struct launch_code {
    char text[ASK_ID_BYTES]; /* 130 random bits; nobody keeps it */
    uint8_t hash[DIGEST_BYTES];
};
void launch_init(struct engine *engine);
struct launch_code launch_make(void);
/* Zero: forgets it. */
void launch_keep(struct engine *engine, struct live *live, const uint8_t hash[DIGEST_BYTES]);
bool launch_is_usable(const struct engine *engine);
/* Tells whoever asked for it how to open this ask, which is open; notices go along. */
void launch_reply(struct method_call call, const struct live *live, const struct launch_code *code);
/* The same with a fresh code; the one before is worth nothing any more. */
void launch_renew(struct method_call call, struct live *live);
void launch_lose(struct engine *engine, const struct visit *visit); /* a terminal is gone */

#endif
