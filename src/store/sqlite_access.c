/* sqlite_access.c - tokens, keys and facts of the hub: small writes that events do not tell of. */
#include "base/crash_point.h"
#include "base/mem.h"
#include "store/write.h"

int token_run(struct write *write, struct job *job)
{
    const struct store_token *token = &job->of.token;
    struct statement insert = statement_of(&write->statements, WRITE_TOKEN);
    int rc;

    statement_blob(&insert, token->hash, sizeof token->hash);
    statement_text(&insert, token->kind);
    statement_text(&insert, token->label);
    statement_integer(&insert, token->is_sub_agent);
    statement_integer(&insert, token->may_answer);
    statement_integer(&insert, token->created_ms);
    statement_integer(&insert, token->expires_ms);
    statement_integer(&insert, token->used_ms);
    statement_text(&insert, token->browser);
    rc = statement_run(&insert);
    CRASH_POINT(store_token_written);
    return rc;
}

int revoke_run(struct write *write, struct job *job)
{
    struct statement update = statement_of(
        &write->statements, job->what == JOB_USE ? WRITE_TOKEN_USE : WRITE_TOKEN_REVOKE);

    statement_blob(&update, job->of.revoke.hash, sizeof job->of.revoke.hash);
    statement_integer(&update, job->of.revoke.now_ms);
    if (!statement_step(&update))
        job->reply.outcome = STORE_MISSING;
    CRASH_POINT(store_token_revoked);
    return statement_end(&update);
}

int key_run(struct write *write, struct job *job)
{
    const struct store_key *key = &job->of.key;
    struct statement insert = statement_of(&write->statements, WRITE_KEY);
    int rc;

    statement_text(&insert, key->purpose);
    statement_blob(&insert, key->secret, sizeof key->secret);
    statement_integer(&insert, key->created_ms);
    rc = statement_run(&insert);
    job->reply.seq = sqlite3_last_insert_rowid(write->db);
    return rc;
}

int meta_run(struct write *write, struct job *job)
{
    struct statement insert = statement_of(&write->statements, WRITE_META);

    statement_text(&insert, job->of.meta.name);
    statement_text(&insert, job->of.meta.value);
    return statement_run(&insert);
}
