/*
 * hidden.c - options a person does not want to see again, remembered by principal, title and option
 * (R6.4). What is kept are short hashes, so that nothing an agent wrote is kept longer than its
 * ask; all of them are one fact of the store.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/form.h"
#include "crypto/hash.h"
#include "engine/acts.h"
#include "engine/inside.h"
#include "i18n/i18n.h"

static const char fact_name[] = "hidden_options";

static void name_option(const struct ask *ask, const char *option_id, char out[HIDDEN_BYTES])
{
    struct hash_part parts[] = {
        { ask->principal, strlen(ask->principal) },
        { ask->title, strlen(ask->title) },
        { option_id, strlen(option_id) },
    };
    uint8_t hash[HASH_BYTES];

    hash_parts(parts, ARRAY_LEN(parts), hash);
    hash_hex(hash, (HIDDEN_BYTES - 1) / 2, out);
}

static size_t find_name(const struct engine *engine, const char *name)
{
    size_t at = 0;

    while (at < engine->hidden_count && strcmp(engine->hidden[at], name) != 0)
        at++;
    return at;
}

static bool is_hidden(const struct engine *engine, const struct ask *ask, const char *option_id)
{
    char name[HIDDEN_BYTES];

    name_option(ask, option_id, name);
    return find_name(engine, name) < engine->hidden_count;
}

void hidden_write(const struct engine *engine, const struct ask *ask, struct json_writer *writer)
{
    struct form form = { 0 };

    if (engine->hidden_count == 0 || (ask->flags & ASK_DESTRUCTIVE) || !ask->form_json ||
        !form_parse(ask->form_json, strlen(ask->form_json), &form, NULL))
        return;
    json_write_list(writer, "hidden");
    for (size_t i = 0; i < form.fields[0].option_count; i++) {
        if (is_hidden(engine, ask, form.fields[0].options[i].id))
            json_write_text(writer, NULL, form.fields[0].options[i].id);
    }
    json_write_end_list(writer);
    form_release(&form);
}

void hidden_load(struct engine *engine)
{
    const char *at = engine->parts.store->ops->meta(engine->parts.store, fact_name);

    if (!engine->hidden)
        engine->hidden = mem_new(HIDDEN_KEPT * sizeof *engine->hidden);
    engine->hidden_count = 0;
    while (engine->hidden_count < HIDDEN_KEPT && strlen(at) >= HIDDEN_BYTES - 1) {
        memcpy(engine->hidden[engine->hidden_count], at, HIDDEN_BYTES - 1);
        engine->hidden[engine->hidden_count++][HIDDEN_BYTES - 1] = '\0';
        at += HIDDEN_BYTES - 1;
    }
}

void hidden_release(struct engine *engine)
{
    free(engine->hidden);
}

struct hiding {
    struct errand errand; /* first */
    char *option_id;
    bool hides;
};

static void hiding_drop(struct errand *errand)
{
    free(((struct hiding *)errand)->option_id);
}

static void on_saved(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_FAILED) {
        hidden_load(errand->engine); /* what is not kept did not happen */
        errand_fail(errand, &reply->err, NULL);
    } else {
        errand_ok(errand, "{}");
    }
}

static void put(struct hiding *hiding, const struct ask *ask)
{
    struct engine *engine = hiding->errand.engine;
    char name[HIDDEN_BYTES];
    struct text fact = { 0 };
    size_t at;

    name_option(ask, hiding->option_id, name);
    at = find_name(engine, name);
    if (at < engine->hidden_count) { /* the newest are kept longest */
        engine->hidden_count--;
        memmove(engine->hidden + at, engine->hidden + at + 1,
                (engine->hidden_count - at) * sizeof *engine->hidden);
    }
    if (hiding->hides) {
        if (engine->hidden_count == HIDDEN_KEPT)
            memmove(engine->hidden, engine->hidden + 1,
                    --engine->hidden_count * sizeof *engine->hidden);
        memcpy(engine->hidden[engine->hidden_count++], name, sizeof name);
    }
    for (size_t i = 0; i < engine->hidden_count; i++)
        text_add_text(&fact, engine->hidden[i]);
    errand_begin_write(&hiding->errand);
    store_write_meta(engine->parts.store, &(struct store_meta){ fact_name, text_string(&fact) },
                     on_saved, hiding);
    text_release(&fact);
}

/* Never so many that what is left cannot be an answer. */
static bool may_hide(const struct hiding *hiding, const struct ask *ask, const struct form *form,
                     struct error *err)
{
    const struct field *field = &form->fields[0];
    int64_t left = 0, least = field->min_selections > 1 ? field->min_selections : 1;

    if (form_may_destroy(form))
        return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_NEVER_HIDDEN, NULL);
    if (!field_find_option(field, hiding->option_id))
        return error_say(err, ERROR_bad_enum, "/option_id", TEXT_REASON_NO_SUCH_OPTION, NULL);
    for (size_t i = 0; i < field->option_count; i++) {
        const char *id = field->options[i].id;

        left += strcmp(id, hiding->option_id) != 0 && !is_hidden(hiding->errand.engine, ask, id);
    }
    if (hiding->hides && left < least)
        return error_say(err, ERROR_out_of_range, "/option_id", TEXT_REASON_MUST_BE_LEFT, "count",
                         TEXT_NUMBER(least), NULL);
    return true;
}

static void on_got(void *context, const struct store_reply *reply)
{
    struct hiding *hiding = context;
    struct form form = { 0 };
    struct error err;

    if (reply->outcome != STORE_DONE) {
        errand_not_found(&hiding->errand, reply);
        return;
    }
    if (form_parse(reply->row->ask.form_json, strlen(reply->row->ask.form_json), &form, &err) &&
        may_hide(hiding, &reply->row->ask, &form, &err))
        put(hiding, &reply->row->ask);
    else
        errand_fail(&hiding->errand, &err, NULL);
    form_release(&form);
}

static void hide_found(struct errand *errand)
{
    struct store *store = errand->engine->parts.store;

    store->ops->get(store, errand->id, on_got, errand);
}

void ask_hide_method(struct engine *engine, struct visit *visit, const struct json *params,
                     desk_done *done, void *context)
{
    const char *option_id = json_member_text(params, "option_id");
    struct hiding *hiding;

    hiding = errand_new(sizeof *hiding, engine, visit, done, context);
    hiding->errand.drop = hiding_drop;
    hiding->hides = json_is_yes(json_member(params, "hidden"));
    if (!option_id || json_kind(json_member(params, "hidden")) != KIND_BOOL) {
        errand_say(&hiding->errand, ERROR_missing_property, option_id ? "/hidden" : "/option_id",
                   TEXT_REASON_HIDE_NEEDS, NULL);
        return;
    }
    hiding->option_id = mem_text(option_id);
    errand_find_ask(&hiding->errand, params, hide_found);
}
