/*
 * keys.c - the secrets with which we seal what clients carry for us (B6, R13.1). A key is made when
 * there is none or the newest is a month old, and used once it is on disk; older ones go on opening
 * what they sealed. They never leave this process and the store.
 */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "engine/inside.h"

static const char purpose[] = "request_state";

static void take_up(void *context, const struct store_key *stored)
{
    struct engine *engine = context;
    struct seal_key key = { .id = stored->id, .created_ms = stored->created_ms };

    memcpy(key.secret, stored->secret, sizeof key.secret);
    seal_ring_add(&engine->seals, &key);
    explicit_bzero(&key, sizeof key);
}

struct key_errand {
    struct errand errand; /* first */
    struct store_key key;
};

static void key_errand_drop(struct errand *errand)
{
    explicit_bzero(&((struct key_errand *)errand)->key, sizeof(struct store_key));
}

static void on_saved(void *context, const struct store_reply *reply)
{
    struct key_errand *own = context;
    struct engine *engine = own->errand.engine;

    engine->is_making_key = false;
    if (reply->outcome == STORE_FAILED) {
        log_error("keys.failed", "reason=%s", error_name(reply->err.code));
    } else {
        own->key.id = reply->seq;
        take_up(engine, &own->key);
    }
    errand_end(&own->errand);
}

void keys_refresh(struct engine *engine)
{
    struct store *store = engine->parts.store;
    int64_t now = engine_utc_ms(engine);
    struct key_errand *own;

    if (engine->is_making_key || !seal_ring_is_stale(&engine->seals, now))
        return;
    engine->is_making_key = true;
    own = errand_new(sizeof *own, engine, NULL, NULL, NULL);
    own->errand.drop = key_errand_drop;
    own->key = (struct store_key){ .purpose = purpose, .created_ms = now };
    random_bytes(own->key.secret, sizeof own->key.secret);
    errand_begin_write(&own->errand);
    store->ops->save_key(store, &own->key, on_saved, own);
}

void keys_load(struct engine *engine)
{
    struct store *store = engine->parts.store;

    store->ops->list_keys(store, purpose, take_up, engine);
    keys_refresh(engine);
}

void keys_release(struct engine *engine)
{
    explicit_bzero(&engine->seals, sizeof engine->seals);
}

bool engine_seal(struct engine *engine, const struct hash_part *bound, size_t bound_count,
                 int64_t lifetime_ms, const char *payload, struct text *out)
{
    int64_t now = engine_utc_ms(engine);

    keys_refresh(engine);
    return seal_close(&engine->seals, bound, bound_count, now, now + lifetime_ms, payload,
                      strlen(payload), out);
}

bool engine_unseal(const struct engine *engine, const struct hash_part *bound, size_t bound_count,
                   const char *sealed, size_t length, struct text *ret_payload)
{
    return seal_open(&engine->seals, bound, bound_count, engine_utc_ms(engine), sealed, length,
                     ret_payload);
}
