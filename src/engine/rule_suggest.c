/* rule_suggest.c - which answers were given again and again, so that they might stand. */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/hash.h"
#include "engine/rule_case.h"

enum {
    RULES_GROUPS = 64,
    RULES_SUGGEST_AFTER = 3, /* the same answer, and never another */
};

/* Asks of one kind, newest first, and whether they were all answered alike. */
struct group {
    uint8_t kind[HASH_BYTES], answer[HASH_BYTES];
    struct text facts; /* of the newest */
    int64_t count;
    bool is_mixed;
};
struct suggesting {
    struct errand errand; /* first */
    struct group groups[RULES_GROUPS];
    size_t count;
};

static void suggesting_drop(struct errand *errand)
{
    struct suggesting *own = (struct suggesting *)errand;

    for (size_t i = 0; i < own->count; i++)
        text_release(&own->groups[i].facts);
}

static void reply_suggestions(struct suggesting *own)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    json_write_object(&writer, NULL);
    json_write_list(&writer, "suggestions");
    for (size_t i = 0; i < own->count; i++) {
        const struct group *group = &own->groups[i];

        if (group->count >= RULES_SUGGEST_AFTER && !group->is_mixed &&
            !rules_of_kind(own->errand.engine, group->kind)) {
            json_write_object(&writer, NULL);
            json_write_integer(&writer, "count", group->count);
            json_write_raw(&writer, "rule", group->facts.bytes);
            rule_facts_write_shown(group->facts.bytes, &writer);
            json_write_end_object(&writer);
        }
    }
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    errand_ok(&own->errand, text_string(&out));
    text_release(&out);
}

static struct group *group_of(struct suggesting *own, const struct store_row *row,
                              const struct rule_case *read, const uint8_t answer[HASH_BYTES])
{
    bool any_prompt = strcmp(read->subject.tool, "provide_choice") == 0;
    struct json_writer writer;
    struct group *group;
    uint8_t kind[HASH_BYTES];

    rule_hash_kind(&read->subject, any_prompt, kind);
    for (size_t i = 0; i < own->count; i++) {
        if (memcmp(own->groups[i].kind, kind, HASH_BYTES) == 0)
            return &own->groups[i];
    }
    if (own->count == RULES_GROUPS)
        return NULL;
    group = &own->groups[own->count++];
    memcpy(group->kind, kind, sizeof kind);
    memcpy(group->answer, answer, HASH_BYTES);
    writer = json_writer_to(&group->facts);
    json_write_object(&writer, NULL);
    rule_case_write(read, row, any_prompt, &writer);
    json_write_end_object(&writer);
    return group;
}

static void on_answered(void *context, const struct store_row *row, int64_t looked_to,
                        const struct error *err)
{
    struct suggesting *own = context;
    struct rule_case read;
    struct hash_part part;
    struct group *group;
    uint8_t answer[HASH_BYTES];

    (void)looked_to;
    if (err) {
        errand_fail(&own->errand, err, NULL);
        return;
    }
    if (!row) {
        reply_suggestions(own);
        return;
    }
    if (!row->answer_json || !rule_case_begin(&read, row))
        return;
    part = (struct hash_part){ row->answer_json, strlen(row->answer_json) };
    hash_parts(&part, 1, answer);
    group = rule_check(&read.subject, false, NULL) ? group_of(own, row, &read, answer) : NULL;
    if (group) {
        group->count++;
        group->is_mixed = group->is_mixed || memcmp(group->answer, answer, HASH_BYTES) != 0;
    }
    rule_case_end(&read);
}

void rule_suggest_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                      desk_done *done, void *context)
{
    struct engine *engine = engine_of(desk);
    struct store *store = engine->parts.store;
    struct suggesting *own = errand_new(sizeof *own, engine, visit, done, context);
    const struct store_history_query query = { .list = { .limit = RULES_LOOKED_AT,
                                                         .states = state_bit(STATE_SUBMITTED) } };

    (void)params;
    own->errand.drop = suggesting_drop;
    store->ops->history(store, &query, on_answered, own);
}
