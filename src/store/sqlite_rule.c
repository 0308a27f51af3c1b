/* sqlite_rule.c - answers that stand for asks to come: written and revoked; read in sqlite_read.c.
 */
#include "base/crash_point.h"
#include "base/mem.h"
#include "store/write.h"

int rule_run(struct write *write, struct job *job)
{
    const struct store_rule *rule = &job->of.rule;
    struct statement insert = statement_of(&write->statements, WRITE_RULE);
    int rc;

    statement_text(&insert, rule->id);
    statement_blob(&insert, rule->kind, sizeof rule->kind);
    statement_text(&insert, rule->facts_json);
    statement_text(&insert, rule->answer_json);
    statement_text(&insert, rule->actor_json);
    statement_integer(&insert, rule->created_ms);
    statement_integer(&insert, rule->expires_ms);
    rc = statement_run(&insert);
    if (rc == SQLITE_OK && sqlite3_changes(write->db) == 0)
        job->reply.outcome = STORE_LOST;
    CRASH_POINT(store_rule_written);
    return rc;
}

int rule_revoke_run(struct write *write, struct job *job)
{
    struct statement update = statement_of(&write->statements, WRITE_RULE_REVOKE);

    statement_text(&update, job->of.rule.id);
    statement_integer(&update, job->of.rule.created_ms);
    if (!statement_step(&update))
        job->reply.outcome = STORE_MISSING;
    CRASH_POINT(store_rule_revoked);
    return statement_end(&update);
}
