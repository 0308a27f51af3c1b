/*
 * hide.c - options a person does not want to see, remembered for this question of this agent: by
 * principal, title and option id (R6.4). What they are is shown by the screens; the hub keeps it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "crypto/hash.h"
#include "engine/inside.h"

enum { HIDE_NAME_BYTES = 8 + HASH_HEX_BYTES };

/* The same question asked again finds it by this. */
static void name_of(const struct engine *engine, const struct ask *ask, char out[HIDE_NAME_BYTES])
{
    const char *title = ask->title ? ask->title : "";
    const struct hash_part parts[] = {
        { engine->parts.person, strlen(engine->parts.person) },
        { ask->principal, strlen(ask->principal) },
        { title, strlen(title) },
    };
    uint8_t hash[HASH_BYTES];

    hash_parts(parts, ARRAY_LEN(parts), hash);
    memcpy(out, "hidden:", sizeof "hidden:");
    hash_hex(hash, HASH_BYTES, out + strlen("hidden:"));
}

void hide_write(const struct engine *engine, const struct ask *ask, struct json_writer *writer)
{
    struct store *store = engine->parts.store;
    char name[HIDE_NAME_BYTES];
    const char *kept;

    name_of(engine, ask, name);
    kept = store->ops->meta(store, name);
    if (kept[0])
        json_write_raw(writer, "hidden", kept);
}

struct hiding {
    struct errand errand; /* first */
    char *hidden_json;
};

static void hiding_drop(struct errand *errand)
{
    free(((struct hiding *)errand)->hidden_json);
}

static void on_kept(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        errand_fail(context, &reply->err, NULL);
    else
        errand_ok(context, "{}");
}

static void on_row(void *context, const struct store_reply *reply)
{
    struct hiding *hiding = context;
    struct engine *engine = hiding->errand.engine;
    char name[HIDE_NAME_BYTES];
    struct error err;

    if (reply->outcome != STORE_DONE) {
        error_set(&err, ERROR_not_found, "/session_id", "no ask has this id");
        errand_fail(&hiding->errand, reply->outcome == STORE_FAILED ? &reply->err : &err, NULL);
        return;
    }
    name_of(engine, &reply->row->ask, name);
    errand_begin_write(&hiding->errand);
    engine->parts.store->ops->save_meta(engine->parts.store, name, hiding->hidden_json, on_kept,
                                        hiding);
}

static void hide_found(struct errand *errand)
{
    struct store *store = errand->engine->parts.store;

    store->ops->get(store, errand->id, on_row, errand);
}

static bool are_ids(const struct json *hidden)
{
    if (json_kind(hidden) != KIND_LIST || json_length(hidden) > LIMIT_OPTIONS)
        return false;
    for (size_t i = 0; i < json_length(hidden); i++) {
        const struct json *id = json_item(hidden, i);

        if (!json_text(id) || json_length(id) > LIMIT_OPTION_ID_BYTES)
            return false;
    }
    return true;
}

void hide_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
              desk_done *done, void *context)
{
    const struct json *hidden = json_member(params, "hidden");
    struct hiding *hiding;
    struct error err;

    if (!visit_may(visit, ROLE_PERSON, done, context))
        return;
    hiding = errand_new(sizeof *hiding, engine_of(desk), visit, done, context);
    hiding->errand.drop = hiding_drop;
    if (!are_ids(hidden)) {
        error_set(&err, ERROR_bad_type, "/hidden", "hidden is a list of at most %d option ids",
                  LIMIT_OPTIONS);
        errand_fail(&hiding->errand, &err, NULL);
        return;
    }
    hiding->hidden_json = json_encode(hidden);
    errand_find_ask(&hiding->errand, params, hide_found);
}
