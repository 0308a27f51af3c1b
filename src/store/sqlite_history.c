/*
 * sqlite_history.c - lists for people who look back: with form and answer, by channel, by time, and
 * by words that stand in them. A search looks at the whole text of an ask first, which is cheap,
 * and then at the values that people see, so that names of members are never found.
 */
#include <string.h>

#include "base/mem.h"
#include "store/row.h"
#include "store/sqlite_read.h"

#define AGENT_IS                                                                                   \
    "CASE WHEN json_valid(k.origin)"                                                               \
    " THEN COALESCE(k.origin ->> 'as', k.origin ->> 'name') IS ?6 ELSE 0 END"
#define VIA_IS "CASE WHEN json_valid(a.actor) THEN a.actor ->> 'via' IS ?8 ELSE 0 END"
#define IN_FORM                                                                                    \
    "EXISTS (SELECT 1 FROM json_tree(t.form) AS v WHERE v.type = 'text' AND v.key IN"              \
    " ('title', 'prompt', 'label', 'description', 'text') AND instr(lower(v.atom), lower(?10)))"
#define IN_ANSWER                                                                                  \
    "EXISTS (SELECT 1 FROM json_tree(a.answer) AS v WHERE v.type = 'text'"                         \
    " AND instr(lower(v.atom), lower(?10)))"
#define FOUND                                                                                      \
    "(CASE WHEN ?9 AND NOT instr(lower(t.form), lower(?10)) THEN 0 ELSE " IN_FORM " END"           \
    " OR CASE WHEN a.answer IS NULL THEN 0 ELSE " IN_ANSWER " END)"

const char *const history_sql[] = {
    "SELECT " ROW_WHOLE "0 FROM asks k" ROW_JOIN "WHERE CASE ?2 WHEN 1 THEN k.state <= 2"
    " WHEN 2 THEN k.state > 2 ELSE 1 END"
    " AND (?3 = 0 OR k.number < ?3) AND k.created_ms >= ?4"
    " AND (?5 = 0 OR (?5 >> k.state) & 1) AND (?6 IS NULL OR " AGENT_IS ")"
    " AND (?7 = 0 OR k.created_ms < ?7) AND (?8 IS NULL OR " VIA_IS ")"
    " AND (?10 IS NULL OR " FOUND ") ORDER BY k.number DESC LIMIT ?1",
};
const size_t history_sql_count = ARRAY_LEN(history_sql);

_Static_assert(STORE_LIST_OPEN == 1 && STORE_LIST_ENDED == 2, "the SQL above knows them by number");

void reader_history(struct reader *reader, const struct store_history_query *query,
                    store_each *each, void *context)
{
    const struct store_list_query *list_query = &query->list;
    struct statement list = statement_of(&reader->history, 0);
    bool is_plain = query->search && !strpbrk(query->search, "\"\\"); /* as it stands in JSON */

    statement_integer(&list,
                      list_query->limit < INT32_MAX ? (int64_t)list_query->limit : INT32_MAX);
    statement_integer(&list, list_query->which);
    statement_integer(&list, list_query->before_number);
    statement_integer(&list, query->since_ms);
    statement_integer(&list, list_query->states);
    statement_text(&list, list_query->agent);
    statement_integer(&list, list_query->before_number ? 0 : list_query->before_ms);
    statement_text(&list, query->via);
    statement_integer(&list, is_plain);
    statement_text(&list, query->search);
    reader_answer_rows(reader, &list, each, context);
}
