/* tokens.c - see tokens.h. */
#include "engine/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/inside.h"

static const int64_t USED_EVERY_MS = 3600000;

struct token *token_find(const struct engine *engine, const uint8_t *hash)
{
    struct table_link *link = table_find(&engine->tokens, hash);

    return link ? TABLE_THING(token, link, link) : NULL;
}

struct token *token_find_id(const struct engine *engine, const char *id)
{
    struct table_link *link = NULL;

    while ((link = table_each(&engine->tokens, link))) {
        struct token *token = TABLE_THING(token, link, link);

        if (strcmp(token->id, id) == 0 && !token_is_expired(engine, token))
            return token;
    }
    return NULL;
}

void token_free(struct token *token)
{
    free(token->kind);
    free(token->label);
    free(token->browser);
    free(token);
}

bool token_is_expired(const struct engine *engine, const struct token *token)
{
    return token->expires_ms > 0 && engine_utc_ms(engine) >= token->expires_ms;
}

static void on_used(void *context, const struct store_reply *reply)
{
    (void)context;
    if (reply->outcome == STORE_FAILED)
        log_warning("token.use", "not kept: %s", error_name(reply->err.code));
}

/* A clock that was set back counts too. */
void token_use(struct engine *engine, struct token *token)
{
    struct store *store = engine->parts.store;
    int64_t now_ms = engine_utc_ms(engine);

    if (now_ms >= token->used_ms && now_ms - token->used_ms < USED_EVERY_MS)
        return;
    token->used_ms = now_ms;
    store->ops->use_token(store, token->hash, now_ms, on_used, NULL);
}

static void ring_for(struct engine *engine, const struct token *token)
{
    int64_t boot_ms = engine_boot_ms(engine) + token->expires_ms - engine_utc_ms(engine);

    if (token->expires_ms > 0 && !token->is_over &&
        (!engine->tokens_alarm.place || engine->tokens_alarm.boot_ms > boot_ms))
        alarm_set(&engine->alarms, &engine->tokens_alarm, boot_ms);
}

static void send_away(struct engine *engine, const struct token *token)
{
    if (engine->parts.on_revoked)
        engine->parts.on_revoked(engine->parts.context, token->hash);
}

/* Whoever came with a token stays no longer than it lives. */
void tokens_ring(struct engine *engine, struct alarm *alarm)
{
    struct table_link *link = NULL;

    (void)alarm;
    while ((link = table_each(&engine->tokens, link))) {
        struct token *token = TABLE_THING(token, link, link);

        if (token_is_expired(engine, token) && !token->is_over) {
            token->is_over = true;
            send_away(engine, token);
        }
        ring_for(engine, token);
    }
}

void tokens_take_up(struct engine *engine, const struct store_token *stored)
{
    struct token *token;

    if (strcmp(stored->kind, "code") == 0)
        return; /* portal.c knows what to do with it: it opens nothing here */
    token = mem_new(sizeof *token);
    memcpy(token->hash, stored->hash, HASH_BYTES);
    token_id(token->hash, token->id);
    token->kind = mem_text(stored->kind);
    token->label = mem_text(stored->label);
    token->browser = mem_text(stored->browser);
    token->is_sub_agent = stored->is_sub_agent;
    token->may_answer = stored->may_answer;
    token->created_ms = stored->created_ms;
    token->expires_ms = stored->expires_ms;
    token->used_ms = stored->used_ms;
    token->is_found = true;
    table_insert(&engine->tokens, &token->link);
    ring_for(engine, token);
}

static void load_one(void *context, const struct store_token *stored)
{
    tokens_take_up(context, stored);
}

void tokens_load(struct engine *engine)
{
    struct store *store = engine->parts.store;

    engine->tokens = TABLE_OF(token, link, hash);
    store->ops->list_tokens(store, load_one, engine);
}

void tokens_remove(struct engine *engine, struct token *token)
{
    table_remove(&engine->tokens, &token->link);
    send_away(engine, token);
}

/* Found again in the store; those it has no more were revoked. */
static void look_again(void *context, const struct store_token *stored)
{
    struct engine *engine = context;
    struct token *token = token_find(engine, stored->hash);

    if (!token) {
        tokens_take_up(engine, stored);
        return;
    }
    token->is_found = true;
    if (stored->used_ms > token->used_ms)
        token->used_ms = stored->used_ms;
}

void tokens_reload(struct engine *engine)
{
    struct store *store = engine->parts.store;
    struct table_link *link = NULL, *next;

    while ((link = table_each(&engine->tokens, link)))
        TABLE_THING(token, link, link)->is_found = false;
    store->ops->list_tokens(store, look_again, engine);
    for (link = table_each(&engine->tokens, NULL); link; link = next) {
        struct token *token = TABLE_THING(token, link, link);

        next = table_each(&engine->tokens, link);
        if (token->is_found)
            continue;
        tokens_remove(engine, token);
        token_free(token);
    }
}

void tokens_release(struct engine *engine)
{
    struct table_link *next;

    for (struct table_link *link = table_each(&engine->tokens, NULL); link; link = next) {
        next = table_each(&engine->tokens, link);
        token_free(TABLE_THING(token, link, link));
    }
    table_release(&engine->tokens);
}

/* A clock tells nothing here: what is compared is the hash of what was sent. */
bool engine_find_token(struct engine *engine, const uint8_t *hash, struct engine_token *ret_token)
{
    struct token *token = token_find(engine, hash);

    if (!token || token->browser || token_is_expired(engine, token))
        return false;
    token_use(engine, token);
    *ret_token = (struct engine_token){
        .kind = token->kind,
        .label = token->label,
        .is_sub_agent = token->is_sub_agent,
        .may_answer = token->may_answer,
    };
    memcpy(ret_token->id, token->id, sizeof ret_token->id);
    return true;
}

bool engine_prove_token(const struct engine *engine, const char *id, const char *text,
                        struct text *out)
{
    const struct token *token = token_find_id(engine, id);
    uint8_t proof[HASH_BYTES];
    char hex[HASH_HEX_BYTES];

    if (!token)
        return false;
    hash_keyed(token->hash, text, strlen(text), proof);
    hash_hex(proof, sizeof proof, hex);
    text_add_text(out, hex);
    return true;
}
