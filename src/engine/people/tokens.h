/*
 * tokens.h - the tokens with which agents and people come through HTTP (R12.1). All that are alive
 * are in memory, by their hash.
 */
#ifndef ENGINE_PEOPLE_TOKENS_H
#define ENGINE_PEOPLE_TOKENS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/table.h"
#include "engine/state.h"
#include "rpc/service.h"

struct token {
    struct table_link link;
    uint8_t hash[HASH_BYTES];
    char id[TOKEN_ID_BYTES];
    char *kind, *label; /* owned */
    char *browser;      /* owned: "PORT KEY", where a device signs and with what; NULL: no device */
    bool is_sub_agent, may_answer;
    bool is_over;  /* expired, and clients that came with it were sent away */
    bool is_found; /* in the store, when it was last looked at */
    int64_t created_ms, expires_ms;
    int64_t used_ms; /* about; 0: never */
};

void tokens_load(struct engine *engine);
void tokens_reload(struct engine *engine); /* others made or revoked some */
void tokens_release(struct engine *engine);
void tokens_on_alarm(struct engine *engine, struct alarm *alarm);
struct token *token_find_id(const struct engine *engine, const char *id); /* NULL: or is expired */
/* The token was used. The store is told at most once an hour. */
void token_use(struct engine *engine, struct token *token);

/* A tab's token, for who came with a code; the oldest of too many tabs is signed out. With a
 * browser it is a device's: without a secret, and with the key to prove the hub by. */
void tokens_add_tab(struct method_call call, const char *label, const char *browser);

#endif
