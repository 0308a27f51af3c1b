/* write.c - see write.h. What is in sql/ says what each function does with what is bound here. */
#include "store/postgres/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/event.h"
#include "store/job.h"
#include "store/postgres/params.h"
#include "store/postgres/result.h"
#include "store/postgres/sql.h"
#include "store/row.h"

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

static void add_created(struct params *out, const struct ask *ask)
{
    struct text body = { 0 };

    event_write_created(ask, &body);
    params_text(out, text_string(&body));
    text_release(&body);
}

/* Those from one place in its list to another. */
static void add_values(struct params *out, const struct job *job, size_t from, size_t to)
{
    params_values(out, job_kinds[job->what].columns.list + from, to - from, &job->of);
}

static void bind_create(const struct job *job, struct params *out)
{
    const struct ask *ask = &job->of.create.ask;

    add_values(out, job, 0, CREATE_FORM);
    add_agent(out, ask->origin_json);
    add_values(out, job, CREATE_FORM, CREATE_ASKER);
    add_created(out, ask);
    add_values(out, job, CREATE_ASKER, job_kinds[JOB_CREATE].columns.count);
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

    if (only_delivers(change)) {
        bind_deliver(change, out);
        return;
    }
    add_values(out, job, 0, CHANGE_ANSWER);
    params_text(out, brings ? change->answer_json : NULL);
    add_values(out, job, CHANGE_KEY, CHANGE_REMOVES);
    params_flag(out, brings);
    add_values(out, job, CHANGE_REMOVES, CHANGE_COPIED);
    add_rest(out, change);
}

/* clang-format off */
#define CALL(name, values) { name, "SELECT * FROM " name "(" values ")" }
#define FIVE   "$1, $2, $3, $4, $5"
#define TEN    FIVE ", $6, $7, $8, $9, $10"
#define TWENTY TEN ", $11, $12, $13, $14, $15, $16, $17, $18, $19, $20"

static const struct sql calls[JOB_KINDS] = {
    [JOB_CREATE] = CALL("sayso_create", TWENTY ", $21, $22, $23, $24, $25, $26, $27, $28, $29, $30"),
    [JOB_CHANGE] = CALL("sayso_change", TWENTY ", $21, $22, $23, $24, $25, $26, $27, $28"),
    [JOB_MARK] = CALL("sayso_mark", "$1, $2, $3"),
    [JOB_DRAFT] = CALL("sayso_draft", "$1, $2, $3, $4"),
    [JOB_SETTING] = CALL("sayso_setting", "$1, $2, $3"),
    [JOB_TOKEN] = CALL("sayso_token", FIVE ", $6, $7, $8, $9"),
    [JOB_REVOKE] = CALL("sayso_token_revoke", "$1, $2"),
    [JOB_USE] = CALL("sayso_token_use", "$1, $2"),
    [JOB_RULE] = CALL("sayso_rule", FIVE ", $6, $7"),
    [JOB_RULE_REVOKE] = CALL("sayso_rule_revoke", "$1, $2"),
    [JOB_KEY] = CALL("sayso_key", "$1, $2, $3"),
    [JOB_META] = CALL("sayso_meta", "$1, $2"),
    [JOB_CLIENT] = CALL("sayso_client", FIVE ", $6"),
    [JOB_CONVERSATION] = CALL("sayso_conversation", TEN ", $11, $12, $13, $14, $15, $16, $17"),
    [JOB_CONVERSATION_STEP] = CALL("sayso_conversation_step", TEN ", $11, $12, $13"),
    [JOB_SWEEP] = CALL("sayso_sweep", "$1, $2, $3"),
};
static const struct sql deliver = CALL("sayso_deliver", FIVE ", $6, $7, $8");
/* clang-format on */

bool write_bind(const struct job *job, const struct sql **ret_sql, struct params *out)
{
    *ret_sql = &calls[job->what];
    if (!(*ret_sql)->name)
        return false; /* deadlines are by the database's clock, and index.c writes by itself */
    if (job->what == JOB_CHANGE && only_delivers(&job->of.change))
        *ret_sql = &deliver;
    if (job->what == JOB_CREATE)
        bind_create(job, out);
    else if (job->what == JOB_CHANGE)
        bind_change(job, out);
    else
        add_values(out, job, 0, job_kinds[job->what].columns.count);
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
        result_read(result, 0, 2, &row_columns, &row);
        job_set_row(job, &row);
    }
}
