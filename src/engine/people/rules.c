/*
 * rules.c - answers that stand: asks of one kind (core/rule.h) are answered as a person once
 * answered one of them, until a time, and each result says so. All that are in force are in memory.
 * The ask is stored first, as any other; a rule then ends it, unless somebody was faster.
 */
#include "engine/people/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/tools/arguments.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"

static void rule_free(struct rule *rule)
{
    free(rule->facts_json);
    free(rule->answer_json);
    free(rule->actor_json);
    free(rule);
}

void rules_keep(struct engine *engine, const struct store_rule *stored)
{
    struct rule *rule = mem_new(sizeof *rule);

    memcpy(rule->id, stored->id, sizeof rule->id);
    memcpy(rule->kind, stored->kind, sizeof rule->kind);
    rule->facts_json = mem_text(stored->facts_json);
    rule->answer_json = mem_text(stored->answer_json);
    rule->actor_json = mem_text(stored->actor_json);
    rule->created_ms = stored->created_ms;
    rule->expires_ms = stored->expires_ms;
    rule->next = engine->rules;
    engine->rules = rule;
    engine->rule_count++;
}

static void take_up(void *context, const struct store_rule *stored)
{
    if (strlen(stored->id) == ASK_ID_BYTES - 1 && stored->facts_json && stored->answer_json)
        rules_keep(context, stored);
}

void rules_load(struct engine *engine)
{
    engine->parts.store->ops->list_rules(engine->parts.store, take_up, engine);
}

void rules_drop(struct engine *engine, const char *id)
{
    for (struct rule **at = &engine->rules; *at; at = &(*at)->next) {
        struct rule *rule = *at;

        if (strcmp(rule->id, id) == 0) {
            *at = rule->next;
            engine->rule_count--;
            rule_free(rule);
            return;
        }
    }
}

void rules_tell(const struct engine *engine)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"rule/changed\",\"params\":{}}";

    for (struct visit *visit = engine->visits; visit; visit = visit->next) {
        if (visit->is_watching)
            visit_tell(visit, line, sizeof line - 1);
    }
}

void rules_release(struct engine *engine)
{
    while (engine->rules) {
        struct rule *rule = engine->rules;

        engine->rules = rule->next;
        rule_free(rule);
    }
    engine->rule_count = 0;
}

void rules_reload(struct engine *engine)
{
    rules_release(engine);
    rules_load(engine);
}

bool rule_is_in_force(const struct engine *engine, const struct rule *rule)
{
    return rule->expires_ms > engine_utc_ms(engine);
}

void rule_hash_kind(const struct rule_subject *subject, bool any_prompt, uint8_t out[HASH_BYTES])
{
    struct text kind = { 0 };
    struct hash_part part;

    rule_write_kind(subject, any_prompt, &kind);
    part = (struct hash_part){ kind.bytes, kind.used };
    hash_parts(&part, 1, out);
    text_release(&kind);
}

const struct rule *rules_of_kind(const struct engine *engine, const uint8_t kind[HASH_BYTES])
{
    for (const struct rule *rule = engine->rules; rule; rule = rule->next) {
        if (memcmp(rule->kind, kind, HASH_BYTES) == 0 && rule_is_in_force(engine, rule))
            return rule;
    }
    return NULL;
}

static const struct rule *find(const struct engine *engine, const char *id)
{
    const struct rule *rule = engine->rules;

    while (rule && strcmp(rule->id, id) != 0)
        rule = rule->next;
    return rule;
}

/* Limits may have become others: what would be no answer now is not given. */
static bool fits(const struct rule *rule, const struct form *form)
{
    struct answer answer = { 0 };
    struct json *given = json_of(rule->answer_json);
    bool ok = given && answer_check(form, given, &answer, NULL);

    answer_release(&answer);
    json_free(given);
    return ok;
}

const char *rules_match(const struct engine *engine, const struct rule_subject *subject)
{
    const struct rule *rule = NULL;
    uint8_t kind[HASH_BYTES];

    if (!engine->rules || !rule_check(subject, false, NULL))
        return NULL;
    for (int any_prompt = 0; any_prompt < 2 && !rule; any_prompt++) {
        rule_hash_kind(subject, any_prompt, kind);
        rule = rules_of_kind(engine, kind);
    }
    return rule && fits(rule, subject->form) ? rule->id : NULL;
}

struct applying {
    struct errand errand; /* first; its text is the answer */
    struct lifecycle_step step;
    struct store_change change;
    struct text actor;
};

static void applying_drop(struct errand *errand)
{
    text_release(&((struct applying *)errand)->actor);
}

static void on_applied(void *context, const struct store_reply *reply)
{
    struct applying *applying = context;
    struct engine *engine = applying->errand.engine;
    struct live *live = live_find(engine, applying->errand.id);

    if (reply->outcome == STORE_FAILED)
        log_error("rule.apply_failed", "ask=%s reason=%s", applying->errand.id,
                  error_name(reply->err.code));
    if (live && reply->outcome == STORE_DONE) {
        live->seq = reply->seq;
        effects_run(engine, live, &applying->step, &applying->change, NULL, NULL);
    } else if (live && state_is_open(live->state)) { /* shown to people, as it would have been */
        live_mark_dirty(engine, live);
        client_offer(engine, live, NULL);
    }
    errand_end(&applying->errand);
}

static void write_actor(const struct engine *engine, const struct rule *rule, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_text(&writer, "person", engine->parts.person);
    json_write_text(&writer, "via", "rule");
    json_write_text(&writer, "rule", rule->id);
    json_write_known(&writer, "uid", 0, false);
    json_write_text(&writer, "tty", NULL);
    json_write_end_object(&writer);
}

bool rules_apply(struct engine *engine, struct live *live, const char *id)
{
    const struct rule *rule = find(engine, id);
    const struct lifecycle_facts facts = { .is_destructive = live->flags & ASK_DESTRUCTIVE };
    struct lifecycle_step step = lifecycle_next(live->state, EVENT_RULE_APPLIED, &facts);
    struct applying *applying;
    struct store_change *change;

    if (!rule || !rule_is_in_force(engine, rule) || !step.is_legal)
        return false;
    applying = errand_of_ours(sizeof *applying, engine, live->id);
    applying->errand.drop = applying_drop;
    applying->step = step;
    applying->errand.text = mem_text(rule->answer_json);
    write_actor(engine, rule, &applying->actor);
    change = &applying->change;
    *change = effects_change(engine, applying->errand.id, EVENT_RULE_APPLIED, &step, &facts);
    change->decided_ms = change->now_ms;
    change->answer_json = applying->errand.text;
    change->actor_json = text_string(&applying->actor);
    change->person = engine->parts.person;
    CRASH_POINT(engine_before_rule);
    errand_begin_write(&applying->errand);
    store_write_change(engine->parts.store, change, on_applied, applying);
    return true;
}

bool rule_case_begin(struct rule_case *read, const struct store_row *row)
{
    const struct ask *ask = &row->ask;
    const struct ask_tool *tool = ask->tool ? ask_tool_find(ask->tool) : NULL;

    *read = (struct rule_case){ 0 };
    if (!tool || !ask->form_json ||
        !form_parse(ask->form_json, strlen(ask->form_json), &read->form, NULL))
        return false;
    read->origin = json_of(ask->origin_json);
    read->subject = (struct rule_subject){
        .principal = ask->principal,
        .directory = json_member_text(read->origin, "directory"),
        .tool = tool->name,
        .form = &read->form,
    };
    return true;
}

void rule_case_end(struct rule_case *read)
{
    form_release(&read->form);
    json_free(read->origin);
}

void rule_case_write(const struct rule_case *read, const struct store_row *row, bool any_prompt,
                     struct json_writer *writer)
{
    json_write_text(writer, "from", row->ask.id);
    json_write_text(writer, "tool", row->ask.tool);
    json_write_text(writer, "title", row->ask.title);
    json_write_text(writer, "agent", describe_agent(read->origin));
    json_write_text(writer, "directory", read->subject.directory);
    json_write_bool(writer, "any_prompt", any_prompt);
    history_write_answer(writer, row);
}

void rule_case_write_shown(const struct rule_case *read, const struct store_row *row,
                           struct json_writer *writer)
{
    describe_shown(row->ask.title, describe_agent(read->origin), read->subject.directory, writer);
}

void rule_facts_write_shown(const char *facts_json, struct json_writer *writer)
{
    struct json *facts = json_of(facts_json);

    if (facts)
        describe_shown(json_member_text(facts, "title"), json_member_text(facts, "agent"),
                       json_member_text(facts, "directory"), writer);
    json_free(facts);
}
