/*
 * form_fact.c - what is known of the forms of agents' own clients, by name, version and transport:
 * whether a person has used them, or they were found not to work (R4.3).
 */
#include "base/log.h"
#include "core/client_form.h"
#include "engine/client.h"
#include "engine/inside.h"

void form_fact_loaded(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_DONE)
        errand->visit->form_fact = reply->seq;
    visit_end_load(errand);
}

static void on_learnt(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED) /* it is known here all the same, until we end */
        log_warning("client.form", "not kept: %s", reply->err.message);
    errand_end(context);
}

void form_fact_learn(struct engine *engine, const struct visit *visit, bool worked)
{
    struct store *store = engine->parts.store;
    struct store_client client = visit_client(visit);
    int64_t fact = client_form_learn(visit->form_fact, worked, engine_utc_ms(engine));
    struct errand *errand;

    if (!client.transport || fact == visit->form_fact)
        return;
    log_info("client.form", "works=%s transport=%s", worked ? "yes" : "no", client.transport);
    for (struct visit *other = engine->visits; other; other = other->next) {
        if (visit_is_of(other, &client))
            other->form_fact = fact;
    }
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    store->ops->save_form_fact(store, &client, fact, on_learnt, errand);
}

bool form_fact_may_show(const struct engine *engine, const struct visit *visit,
                        const struct client_side *client)
{
    return client->has_form && !client_form_is_broken(visit->form_fact, engine_utc_ms(engine));
}
