/*
 * rules.c - answers that stand: asks of one kind (core/rule.h) are answered as a person once
 * answered one of them, until a time, and each result says so. All that are in force are in memory.
 * The ask is stored first, as any other; a rule then ends it, unless a person was faster. People
 * look what an answer would have meant, let it stand, list, and revoke.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/fields/answer.h"
#include "core/rule.h"
#include "core/tools/arguments.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

struct rule {
    struct rule *next;
    char id[ASK_ID_BYTES];
    uint8_t kind[HASH_BYTES];
    char *facts_json, *answer_json, *actor_json; /* owned */
    int64_t created_ms, expires_ms;
};

static void rules_keep(struct engine *engine, const struct store_rule *stored)
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

/* The first of these goes. */
static void rules_drop_at(struct engine *engine, struct rule **at)
{
    struct rule *rule = *at;

    *at = rule->next;
    engine->rule_count--;
    free(rule->facts_json);
    free(rule->answer_json);
    free(rule->actor_json);
    free(rule);
}

static void rules_drop(struct engine *engine, const char *id)
{
    struct rule **at = &engine->rules;

    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    if (*at)
        rules_drop_at(engine, at);
}

static void rules_tell(const struct engine *engine)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"rule/changed\",\"params\":{}}";

    for (struct session *session = engine->sessions; session; session = session->next) {
        if (session->is_watching)
            session_send(session, line, sizeof line - 1);
    }
}

void rules_release(struct engine *engine)
{
    while (engine->rules)
        rules_drop_at(engine, &engine->rules);
}

void rules_reload(struct engine *engine)
{
    rules_release(engine);
    rules_load(engine);
}

static bool rule_is_in_force(const struct engine *engine, const struct rule *rule)
{
    return rule->expires_ms > engine_utc_ms(engine);
}

static void rule_hash_kind(const struct rule_subject *subject, bool any_prompt,
                           uint8_t out[HASH_BYTES])
{
    struct text kind = { 0 };

    rule_write_kind(subject, any_prompt, &kind);
    hash_parts(&(struct hash_part){ kind.bytes, kind.used }, 1, out);
    text_release(&kind);
}

static const struct rule *rules_of_kind(const struct engine *engine, const uint8_t kind[HASH_BYTES])
{
    for (const struct rule *rule = engine->rules; rule; rule = rule->next) {
        if (memcmp(rule->kind, kind, HASH_BYTES) == 0 && rule_is_in_force(engine, rule))
            return rule;
    }
    return NULL;
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
    struct operation operation; /* first; its text is the answer */
    struct lifecycle_step step;
    struct store_change change;
    struct text actor;
};

static void applying_drop(struct operation *operation)
{
    text_release(&((struct applying *)operation)->actor);
}

static void on_applied(void *context, const struct store_reply *reply)
{
    struct applying *applying = context;
    struct engine *engine = applying->operation.engine;
    struct active_ask *active = active_find(engine, applying->operation.id);

    if (reply->outcome == STORE_FAILED)
        log_error("rule.apply_failed", "ask=%s reason=%s", applying->operation.id,
                  error_name(reply->err.code));
    if (active && reply->outcome == STORE_DONE) {
        active->seq = reply->seq;
        effects_run(engine, active, &applying->step, &applying->change, NULL, NULL);
    } else if (active &&
               state_is_open(active->state)) { /* shown to people, as it would have been */
        active_mark_dirty(engine, active);
        client_offer(engine, active, NULL);
    }
    operation_end(&applying->operation);
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

bool rules_apply(struct engine *engine, struct active_ask *active, const char *id)
{
    const struct rule *rule = engine->rules;
    const struct lifecycle_facts facts = { .is_destructive = active->flags & ASK_DESTRUCTIVE };
    struct lifecycle_step step = lifecycle_next(active->state, EVENT_RULE_APPLIED, &facts);
    struct applying *applying;
    struct store_change *change;

    while (rule && strcmp(rule->id, id) != 0)
        rule = rule->next;
    if (!rule || !rule_is_in_force(engine, rule) || !step.is_legal)
        return false;
    applying = operation_of_ours(sizeof *applying, engine, active->id);
    applying->operation.drop = applying_drop;
    applying->step = step;
    applying->operation.text = mem_text(rule->answer_json);
    write_actor(engine, rule, &applying->actor);
    change = &applying->change;
    *change = effects_change(engine, applying->operation.id, EVENT_RULE_APPLIED, &step, &facts);
    change->decided_ms = change->now_ms;
    change->answer_json = applying->operation.text;
    change->actor_json = text_string(&applying->actor);
    change->person = engine->parts.person;
    CRASH_POINT(engine_before_rule);
    operation_begin_write(&applying->operation);
    store_write_change(engine->parts.store, change, on_applied, applying);
    return true;
}

/* An ask out of the store, as far as answers that stand look at it. */
struct rule_case {
    struct form form;
    struct json *origin;
    struct rule_subject subject;
};

/* False: it holds no form that is known; nothing is to be ended then. */
static bool rule_case_begin(struct rule_case *read, const struct store_row *row)
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

static void rule_case_end(struct rule_case *read)
{
    form_release(&read->form);
    json_free(read->origin);
}

/* The members that say for which asks, and what is answered. */
static void rule_case_write(const struct rule_case *read, const struct store_row *row,
                            bool any_prompt, struct json_writer *writer)
{
    json_write_text(writer, "from", row->ask.id);
    json_write_text(writer, "tool", row->ask.tool);
    json_write_text(writer, "title", row->ask.title);
    json_write_text(writer, "agent", describe_agent(read->origin));
    json_write_text(writer, "directory", read->subject.directory);
    json_write_bool(writer, "any_prompt", any_prompt);
    history_write_answer(writer, row);
}

/* What may be shown of a case that was written before. */
static void rule_facts_write_shown(const char *facts_json, struct json_writer *writer)
{
    struct json *facts = json_of(facts_json);

    if (facts)
        describe_shown(json_member_text(facts, "title"), json_member_text(facts, "agent"),
                       json_member_text(facts, "directory"), writer);
    json_free(facts);
}

enum {
    RULES_LOOKED_AT = 500, /* of the newest asks, for what was answered before */
    RULES_MAX = 256,
    RULES_SHOWN = 10,
};
static const int64_t RULES_MIN_S = 60, RULES_MAX_S = INT64_C(365) * 86400,
                     RULES_DEFAULT_S = INT64_C(30) * 86400;

/* One of rule/preview and rule/add. */
struct new_rule {
    struct operation operation; /* first */
    bool is_add, any_prompt;
    int64_t seconds;
    uint8_t kind[HASH_BYTES];
    struct store_rule rule; /* its texts are that of the operation and the three that follow */
    char id[ASK_ID_BYTES];
    struct text facts, actor;
    struct text out;
    struct json_writer writer;
    size_t same, other, shown;
};

static void rule_drop(struct operation *operation)
{
    struct new_rule *own = (struct new_rule *)operation;

    text_release(&own->facts);
    text_release(&own->actor);
    text_release(&own->out);
}

/* Where looking took too long, it is what was seen until then. */
static void on_past(void *context, const struct store_row *row, int64_t looked_to,
                    const struct error *err)
{
    struct new_rule *own = context;
    struct rule_case read;
    uint8_t kind[HASH_BYTES];

    (void)looked_to;
    if (err) {
        operation_fail(&own->operation, err, NULL);
        return;
    }
    if (!row) {
        json_write_end_list(&own->writer);
        json_write_integer(&own->writer, "same", (int64_t)own->same);
        json_write_integer(&own->writer, "other", (int64_t)own->other);
        json_write_end_object(&own->writer);
        operation_ok(&own->operation, text_string(&own->out));
        return;
    }
    if (!rule_case_begin(&read, row))
        return;
    rule_hash_kind(&read.subject, own->any_prompt, kind);
    if (memcmp(kind, own->kind, HASH_BYTES) == 0 && row->answer_json) {
        bool is_same = strcmp(row->answer_json, own->operation.text) == 0;

        own->same += is_same;
        own->other += !is_same;
        if (own->shown++ < RULES_SHOWN) {
            json_write_object(&own->writer, NULL);
            describe_members(own->operation.engine, row, &own->writer);
            history_write_answer(&own->writer, row);
            json_write_bool(&own->writer, "same", is_same);
            json_write_end_object(&own->writer);
        }
    }
    rule_case_end(&read);
}

static void preview(struct new_rule *own, const struct store_row *row, const struct rule_case *read)
{
    struct store *store = own->operation.engine->parts.store;
    const struct store_history_query query = { .list = { .limit = RULES_LOOKED_AT,
                                                         .states = state_bit(STATE_SUBMITTED) } };

    own->operation.text = mem_text(row->answer_json);
    own->writer = json_object_to(&own->out);
    rule_case_write(read, row, own->any_prompt, &own->writer);
    describe_shown(row->ask.title, describe_agent(read->origin), read->subject.directory,
                   &own->writer);
    json_write_list(&own->writer, "asks");
    store->ops->history(store, &query, on_past, own);
}

static void write_rule(const struct engine *engine, const struct rule *rule,
                       struct json_writer *writer)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "id", rule->id);
    describe_time(writer, "created_at", rule->created_ms);
    describe_time(writer, "expires_at", rule->expires_ms);
    json_write_bool(writer, "expired", !rule_is_in_force(engine, rule));
    json_write_raw(writer, "rule", rule->facts_json);
    rule_facts_write_shown(rule->facts_json, writer);
    json_write_raw(writer, "answer", rule->answer_json);
    json_write_raw(writer, "made_by", rule->actor_json);
    json_write_end_object(writer);
}

static void refuse_second(struct new_rule *own)
{
    operation_say(&own->operation, ERROR_conflicting_arguments, "/session_id",
                  TEXT_REASON_RULE_STANDS, NULL);
}

static void on_added(void *context, const struct store_reply *reply)
{
    struct new_rule *own = context;
    struct engine *engine = own->operation.engine;
    struct json_writer writer = json_writer_to(&own->out);

    if (operation_fails(&own->operation, reply))
        return;
    if (reply->outcome != STORE_DONE) {
        refuse_second(own);
        return;
    }
    rules_keep(engine, &own->rule);
    rules_tell(engine);
    write_rule(engine, engine->rules, &writer);
    operation_ok(&own->operation, text_string(&own->out));
}

static void add(struct new_rule *own, const struct store_row *row, const struct rule_case *read)
{
    struct engine *engine = own->operation.engine;
    struct json_writer writer = json_object_to(&own->facts);
    struct asker asker = own_read(engine, row->ask.origin_json);
    struct answered_by by = session_actor(engine, own->operation.session, &asker);

    session_write_actor(&by, &own->actor);
    rule_case_write(read, row, own->any_prompt, &writer);
    json_write_end_object(&writer);
    random_id(own->id);
    own->operation.text = mem_text(row->answer_json);
    own->rule = (struct store_rule){
        .id = own->id,
        .facts_json = text_string(&own->facts),
        .answer_json = own->operation.text,
        .actor_json = text_string(&own->actor),
        .created_ms = engine_utc_ms(engine),
        .expires_ms = engine_utc_ms(engine) + own->seconds * 1000,
    };
    memcpy(own->rule.kind, own->kind, sizeof own->kind);
    operation_begin_write(&own->operation);
    store_write_rule(engine->parts.store, &own->rule, on_added, own);
}

static void on_row(void *context, const struct store_reply *reply)
{
    struct new_rule *own = context;
    struct engine *engine = own->operation.engine;
    struct rule_case read = { 0 };
    struct error err;

    if (reply->outcome != STORE_DONE || !rule_case_begin(&read, reply->row)) {
        operation_not_found(&own->operation, reply);
        return;
    }
    rule_hash_kind(&read.subject, own->any_prompt, own->kind);
    if (reply->row->ask.state != STATE_SUBMITTED || !reply->row->answer_json) {
        operation_say(&own->operation, ERROR_wrong_state, "/session_id", TEXT_REASON_RULE_PERSON,
                      NULL);
    } else if (!rule_check(&read.subject, own->any_prompt, &err)) {
        operation_fail(&own->operation, &err, NULL);
    } else if (!own->is_add) {
        preview(own, reply->row, &read);
    } else if (rules_of_kind(engine, own->kind)) {
        refuse_second(own);
    } else if (engine->rule_count >= RULES_MAX) {
        operation_say(&own->operation, ERROR_rate_limited, "", TEXT_REASON_RULE_MANY, "count",
                      TEXT_NUMBER(RULES_MAX), NULL);
    } else {
        add(own, reply->row, &read);
    }
    rule_case_end(&read);
}

static void rule_found(struct operation *operation)
{
    operation_get(operation, on_row);
}

static void begin(bool is_add, struct method_call call)
{
    struct new_rule *own = operation_new(sizeof *own, call);

    own->operation.drop = rule_drop;
    own->is_add = is_add;
    own->any_prompt = json_is_true(json_member(call.params, "any_prompt"));
    own->seconds = json_member_integer(call.params, "seconds", RULES_DEFAULT_S);
    if (own->seconds < RULES_MIN_S || own->seconds > RULES_MAX_S) {
        operation_say(&own->operation, ERROR_out_of_range, "/seconds", TEXT_REASON_RULE_SECONDS,
                      "most", TEXT_NUMBER(RULES_MAX_S), NULL);
        return;
    }
    operation_find_ask(&own->operation, call.params, rule_found);
}

HANDLER(rule_preview, begin, false)
HANDLER(rule_add, begin, true)

void rule_list_method(struct method_call call)
{
    struct writing *writing = writing_new(sizeof *writing, call);

    json_write_list(&writing->writer, "rules");
    for (const struct rule *rule = call.engine->rules; rule; rule = rule->next)
        write_rule(call.engine, rule, &writing->writer);
    json_write_end_list(&writing->writer);
    writing_end(writing);
}

static void on_removed(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (operation_fails(operation, reply))
        return;
    if (reply->outcome != STORE_DONE) { /* two removed it at the same time: the other was told */
        operation_say(operation, ERROR_not_found, "/id", TEXT_REASON_RULE_REMOVED, NULL);
    } else {
        rules_drop(operation->engine, operation->id);
        rules_tell(operation->engine);
        operation_ok(operation, "{}");
    }
}

static const struct rule *find_by_id(const struct engine *engine, const char *id, struct error *err)
{
    static const struct named_by_prefix words = { TEXT_REASON_RULE_SEVERAL, TEXT_REASON_RULE_NONE };
    const struct rule *found = NULL;
    size_t count = 0;

    for (const struct rule *rule = engine->rules; rule; rule = rule->next) {
        if (id_begins(rule->id, id)) {
            found = rule;
            count++;
        }
    }
    return id_is_one(id, count, &words, err) ? found : NULL;
}

void rule_remove_method(struct method_call call)
{
    struct engine *engine = call.engine;
    struct operation *operation = operation_new(sizeof *operation, call);
    struct error err;
    const struct rule *rule = find_by_id(engine, json_member_text(call.params, "id"), &err);

    if (!operation_may(operation, rule != NULL, &err))
        return;
    memcpy(operation->id, rule->id, sizeof operation->id);
    operation_begin_write(operation);
    store_write_rule_revoke(engine->parts.store,
                            &(struct store_rule_revoke){ operation->id, engine_utc_ms(engine) },
                            on_removed, operation);
}

/* Which answers were given again and again, so that they might stand. */

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
    struct operation operation; /* first */
    struct group groups[RULES_GROUPS];
    size_t count;
};

static void suggesting_drop(struct operation *operation)
{
    struct suggesting *own = (struct suggesting *)operation;

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
            !rules_of_kind(own->operation.engine, group->kind)) {
            json_write_object(&writer, NULL);
            json_write_integer(&writer, "count", group->count);
            json_write_raw(&writer, "rule", group->facts.bytes);
            rule_facts_write_shown(group->facts.bytes, &writer);
            json_write_end_object(&writer);
        }
    }
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    operation_ok_take(&own->operation, &out);
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
    writer = json_object_to(&group->facts);
    rule_case_write(read, row, any_prompt, &writer);
    json_write_end_object(&writer);
    return group;
}

static void on_answered(void *context, const struct store_row *row, int64_t looked_to,
                        const struct error *err)
{
    struct suggesting *own = context;
    struct rule_case read;
    struct group *group;
    uint8_t answer[HASH_BYTES];

    (void)looked_to;
    if (err) {
        operation_fail(&own->operation, err, NULL);
        return;
    }
    if (!row) {
        reply_suggestions(own);
        return;
    }
    if (!row->answer_json || !rule_case_begin(&read, row))
        return;
    hash_parts(&(struct hash_part){ row->answer_json, strlen(row->answer_json) }, 1, answer);
    group = rule_check(&read.subject, false, NULL) ? group_of(own, row, &read, answer) : NULL;
    if (group) {
        group->count++;
        group->is_mixed = group->is_mixed || memcmp(group->answer, answer, HASH_BYTES) != 0;
    }
    rule_case_end(&read);
}

void rule_suggest_method(struct method_call call)
{
    struct store *store = call.engine->parts.store;
    struct suggesting *own = operation_new(sizeof *own, call);
    const struct store_history_query query = { .list = { .limit = RULES_LOOKED_AT,
                                                         .states = state_bit(STATE_SUBMITTED) } };

    own->operation.drop = suggesting_drop;
    store->ops->history(store, &query, on_answered, own);
}
