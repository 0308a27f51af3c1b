/* write.c - see write.h. What is in sql/ says what each function does with what is bound here. */
#include "store/postgres/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "store/event.h"
#include "store/job.h"
#include "store/postgres/params.h"
#include "store/postgres/result.h"
#include "store/postgres/sql.h"

enum { CLIENTS_MOST = 1000, SWEEP_MAX_BATCH = 1000 };

/* Zero is sent as NULL. */
static void add_hash(struct params *out, const uint8_t hash[HASH_BYTES])
{
    static const uint8_t none[HASH_BYTES];

    params_bytes(out, memcmp(hash, none, HASH_BYTES) == 0 ? NULL : hash, HASH_BYTES);
}

static void add_integers(struct params *out, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        params_integer(out, numbers[i]);
}

char *write_agent_name(const char *origin)
{
    struct json *value = NULL;
    struct error err;
    const char *name = NULL;
    char *copy;

    if (origin && json_parse(origin, strlen(origin), &value, &err)) {
        name = json_member_text(value, "as");
        if (!name)
            name = json_member_text(value, "name");
    }
    copy = name ? mem_text(name) : NULL;
    json_free(value);
    return copy;
}

static void add_agent(struct params *out, const char *origin)
{
    char *name = write_agent_name(origin);

    params_text(out, name);
    free(name);
}

static void add_principal(struct params *out, const struct store_principal *principal)
{
    params_text(out, principal->id);
    params_text(out, principal->kind);
    params_integer(out, principal->uid);
    params_text(out, principal->name ? principal->name : "");
    params_text(out, principal->place);
}

static void add_created(struct params *out, const struct ask *ask)
{
    struct text body = { 0 };

    event_write_created(ask, &body);
    params_text(out, text_string(&body));
    text_release(&body);
}

static void bind_create(const struct job *job, struct params *out)
{
    const struct ask *ask = &job->of.create.ask;
    const int64_t numbers[] = {
        ask->state,        ask->interface,        ask->flags,        ask->version,
        ask->form_version, ask->created_ms,       ask->deadline_ms,  ask->original_ms,
        ask->hold_used_ms, ask->deliver_after_ms, ask->delivered_ms, ask->decided_ms,
    };

    params_text(out, ask->id);
    params_text(out, ask->principal);
    params_bytes(out, ask->digest, sizeof ask->digest);
    add_integers(out, numbers, ARRAY_LEN(numbers));
    params_text(out, ask->tool);
    params_text(out, ask->title);
    params_text(out, ask->origin_json);
    params_text(out, ask->idempotency_key);
    add_hash(out, ask->launch_hash);
    add_agent(out, ask->origin_json);
    params_text(out, ask->form_json ? ask->form_json : "");
    params_text(out, ask->arguments_json);
    add_created(out, ask);
    add_principal(out, &job->of.create.principal); /* all NULL where there is none */
    params_flag(out, ask->joins);
}

static bool only_delivers(const struct store_change *change)
{
    return change->event == EVENT_DELIVERED && change->to_state == STORE_KEEP &&
           change->if_version == 0 && change->set_flags == 0;
}

static void bind_deliver(const struct store_change *change, struct params *out)
{
    params_text(out, change->ask_id);
    params_text(out, change->more_ids);
    params_integer(out, change->from_states);
    params_text(out, change->principal);
    params_integer(out, change->event);
    params_integer(out, change->delivered_ms);
    params_integer(out, change->now_ms);
    params_text(out, change->actor_json ? change->actor_json : "");
}

/* Behind the ask's version, which the database writes. */
static void add_rest(struct params *out, const struct store_change *change)
{
    struct text rest = { 0 };
    struct json_writer writer = json_writer_to(&rest);

    text_add_char(&rest, ',');
    event_write_end(change, &writer);
    params_text(out, text_string(&rest));
    text_release(&rest);
}

static void bind_change(const struct job *job, struct params *out)
{
    const struct store_change *change = &job->of.change;
    bool brings = !change->removes_answer && (change->answer_json || change->answer_key);
    const int64_t kept[] = {
        change->to_state,     change->interface,        change->deadline_ms,  change->original_ms,
        change->hold_used_ms, change->deliver_after_ms, change->delivered_ms, change->decided_ms,
    };
    const int64_t conditions[] = { change->event, change->from_states, change->if_version,
                                   change->raises_version };
    const int64_t rest[] = { change->set_flags, change->clear_flags, change->now_ms };

    if (only_delivers(change)) {
        bind_deliver(change, out);
        return;
    }
    params_text(out, change->ask_id);
    params_text(out, change->principal);
    add_integers(out, conditions, ARRAY_LEN(conditions));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        params_keep(out, kept[i]);
    add_integers(out, rest, ARRAY_LEN(rest));
    params_text(out, change->actor_json ? change->actor_json : "");
    params_text(out, change->person);
    params_text(out, brings ? change->answer_json : NULL);
    params_text(out, change->answer_key);
    params_flag(out, brings);
    params_flag(out, change->removes_answer);
    params_flag(out, change->skips_row);
    add_hash(out, change->launch_hash);
    add_hash(out, change->if_launch_hash);
    params_integer(out, change->when);
    add_rest(out, change);
}

static void bind_mark(const struct job *job, struct params *out)
{
    params_text(out, job->of.mark.ask_id);
    params_integer(out, job->of.mark.set_flags);
    params_integer(out, job->of.mark.clear_flags);
}

static void bind_draft(const struct job *job, struct params *out)
{
    params_text(out, job->of.draft.ask_id);
    params_text(out, job->of.draft.person);
    params_text(out, job->of.draft.json);
    params_integer(out, job->of.draft.now_ms);
}

static void bind_setting(const struct job *job, struct params *out)
{
    params_text(out, job->of.setting.person);
    params_text(out, job->of.setting.name);
    params_text(out, job->of.setting.value);
}

static void bind_token(const struct job *job, struct params *out)
{
    const struct store_token *token = &job->of.token;

    params_bytes(out, token->hash, sizeof token->hash);
    params_text(out, token->kind);
    params_text(out, token->label);
    params_flag(out, token->is_sub_agent);
    params_flag(out, token->may_answer);
    params_integer(out, token->created_ms);
    params_integer(out, token->expires_ms);
    params_integer(out, token->used_ms);
    params_text(out, token->browser);
}

static void bind_revoke(const struct job *job, struct params *out)
{
    params_bytes(out, job->of.revoke.hash, sizeof job->of.revoke.hash);
    params_integer(out, job->of.revoke.now_ms);
}

static void bind_rule(const struct job *job, struct params *out)
{
    const struct store_rule *rule = &job->of.rule;

    params_text(out, rule->id);
    params_bytes(out, rule->kind, sizeof rule->kind);
    params_text(out, rule->facts_json);
    params_text(out, rule->answer_json);
    params_text(out, rule->actor_json);
    params_integer(out, rule->created_ms);
    params_integer(out, rule->expires_ms);
}

static void bind_rule_revoke(const struct job *job, struct params *out)
{
    params_text(out, job->of.rule.id);
    params_integer(out, job->of.rule.created_ms);
}

static void bind_key(const struct job *job, struct params *out)
{
    params_text(out, job->of.key.purpose);
    params_bytes(out, job->of.key.secret, sizeof job->of.key.secret);
    params_integer(out, job->of.key.created_ms);
}

static void bind_meta(const struct job *job, struct params *out)
{
    params_text(out, job->of.meta.name);
    params_text(out, job->of.meta.value);
}

static void bind_client(const struct job *job, struct params *out)
{
    const struct job_client *client = &job->of.client;

    params_text(out, client->client.name);
    params_text(out, client->client.version);
    params_text(out, client->client.transport);
    params_flag(out, client->is_form);
    params_integer(out, client->fact);
    params_integer(out, CLIENTS_MOST);
}

static void bind_conversation(const struct job *job, struct params *out)
{
    const struct store_conversation *conversation = &job->of.conversation.conversation;

    params_text(out, conversation->id);
    params_text(out, conversation->principal);
    params_text(out, conversation->token_id);
    params_text(out, conversation->label);
    params_text(out, conversation->state);
    params_text(out, conversation->body);
    params_text(out, conversation->key);
    params_integer(out, conversation->created_ms);
    params_text(out, job->of.conversation.events);
    add_principal(out, &job->of.conversation.principal);
    params_integer(out, STORE_CONVERSATIONS);
    params_integer(out, STORE_CONVERSATION_EVENTS);
    params_integer(out, STORE_CONVERSATION_BYTES);
}

static void bind_step(const struct job *job, struct params *out)
{
    const struct store_conversation_step *step = &job->of.step;

    params_text(out, step->id);
    params_integer(out, step->if_version);
    params_text(out, step->state);
    params_text(out, step->body);
    params_text(out, step->ask_id);
    params_text(out, step->earlier_ask_id);
    params_integer(out, step->now_ms);
    params_text(out, step->events);
    params_text(out, step->delivered_ask);
    params_integer(out, step->delivered_states);
    params_integer(out, EVENT_DELIVERED);
    params_integer(out, STORE_CONVERSATION_EVENTS);
    params_integer(out, STORE_CONVERSATION_BYTES);
}

static void bind_sweep(const struct job *job, struct params *out)
{
    const struct job_sweep *sweep = &job->of.sweep;

    params_integer(out, sweep->older_than_ms);
    params_integer(out, sweep->keep_ended);
    params_integer(out, sweep->batch < SWEEP_MAX_BATCH ? sweep->batch : SWEEP_MAX_BATCH);
}

/* clang-format off */
#define CALL(name, values) { name, "SELECT * FROM " name "(" values ")" }
#define FIVE   "$1, $2, $3, $4, $5"
#define TEN    FIVE ", $6, $7, $8, $9, $10"
#define TWENTY TEN ", $11, $12, $13, $14, $15, $16, $17, $18, $19, $20"

static const struct {
    struct sql sql;
    void (*bind)(const struct job *job, struct params *out);
} kinds[JOB_KINDS] = {
    [JOB_CREATE] = { CALL("sayso_create", TWENTY ", $21, $22, $23, $24, $25, $26, $27, $28, $29, $30"),
                     bind_create },
    [JOB_CHANGE] = { CALL("sayso_change", TWENTY ", $21, $22, $23, $24, $25, $26, $27, $28"),
                     bind_change },
    [JOB_MARK] = { CALL("sayso_mark", "$1, $2, $3"), bind_mark },
    [JOB_DRAFT] = { CALL("sayso_draft", "$1, $2, $3, $4"), bind_draft },
    [JOB_SETTING] = { CALL("sayso_setting", "$1, $2, $3"), bind_setting },
    [JOB_TOKEN] = { CALL("sayso_token", FIVE ", $6, $7, $8, $9"), bind_token },
    [JOB_REVOKE] = { CALL("sayso_token_revoke", "$1, $2"), bind_revoke },
    [JOB_USE] = { CALL("sayso_token_use", "$1, $2"), bind_revoke },
    [JOB_RULE] = { CALL("sayso_rule", FIVE ", $6, $7"), bind_rule },
    [JOB_RULE_REVOKE] = { CALL("sayso_rule_revoke", "$1, $2"), bind_rule_revoke },
    [JOB_KEY] = { CALL("sayso_key", "$1, $2, $3"), bind_key },
    [JOB_META] = { CALL("sayso_meta", "$1, $2"), bind_meta },
    [JOB_CLIENT] = { CALL("sayso_client", FIVE ", $6"), bind_client },
    [JOB_CONVERSATION] = { CALL("sayso_conversation", TEN ", $11, $12, $13, $14, $15, $16, $17"),
                           bind_conversation },
    [JOB_CONVERSATION_STEP] = { CALL("sayso_conversation_step", TEN ", $11, $12, $13"), bind_step },
    [JOB_SWEEP] = { CALL("sayso_sweep", "$1, $2, $3"), bind_sweep },
};
static const struct sql deliver = CALL("sayso_deliver", FIVE ", $6, $7, $8");
/* clang-format on */

bool write_bind(const struct job *job, const struct sql **ret_sql, struct params *out)
{
    if (!kinds[job->what].bind)
        return false; /* deadlines are by the database's clock, and index.c writes by itself */
    *ret_sql = job->what == JOB_CHANGE && only_delivers(&job->of.change) ? &deliver
                                                                         : &kinds[job->what].sql;
    kinds[job->what].bind(job, out);
    return true;
}

void write_take_outcome(struct job *job, enum store_outcome outcome, int64_t seq)
{
    job->reply.outcome = outcome;
    job->reply.seq = seq;
}

/* Of the ask that is there already only the name is known. */
static void take_other(struct job *job, const PGresult *result)
{
    const char *id = result_text(result, 0, 2);
    struct store_row row = { 0 };

    if (!id)
        return;
    snprintf(row.ask.id, sizeof row.ask.id, "%s", id);
    job_set_row(job, &row);
}

void write_take(struct job *job, const PGresult *result)
{
    struct store_row row;

    write_take_outcome(job, (enum store_outcome)result_integer(result, 0, 0),
                       result_integer(result, 0, 1));
    job_set_row(job, NULL);
    if (job->what == JOB_CREATE) {
        take_other(job, result);
    } else if (!result_is_null(result, 0, 2)) {
        result_row(result, 0, 2, &row);
        job_set_row(job, &row);
    }
}
