/*
 * complexity.c - what each method of the wire and of MCP costs, counted in instructions by
 * callgrind (tests/integration/test_complexity.py runs it and knows the bounds). It makes a history
 * of as many asks as it is told, then runs each row with a short and with longer inputs. What is
 * long ago is made of one real ask by SQL; its oldest ask is still open, so nothing may count on
 * all being over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/mcp.h"
#include "rpc/service.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else /* then nothing is counted */
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_DUMP_STATS_AT(label)
#endif

enum { ID_BYTES = 27, INPUT_MAX = 16000 };
static const int inputs[] = { 1, 4, 16 }; /* sixteenths of the longest one */

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* most rows need four */

/* In params: $OPEN is a new ask, $DECIDED one within its undo window, $OLD one of long ago, $NONE
 * the id of none, $RULE and $TOKEN new ones, $NUMBER another one each time, $WIDE a new ask with as
 * many options as one can have. $TEXT, $IDS (of answers that were not delivered yet), $OPTIONS and
 * $ANSWERS are as long as the input is. */
static const struct row {
    char who; /* agent, new connection of it, person, or m: a message of MCP */
    const char *name, *what, *params;
    int max;             /* bytes or items of the longest valid input; 0: INPUT_MAX */
    const char *refusal; /* the error it must be refused with; NULL: it must not be refused */
} rows[] = {
#define ASK "'selection_mode':'single','options':["
#define TWO "{'id':'a','label':'Alpha','recommended':true},{'id':'b','label':'Beta'}"
#define CREATE(title, prompt, options)                                                             \
    "{'tool':'provide_choice','wait_seconds':0,'arguments':{'title':'" title "','prompt':'Two "    \
    "versions are ready. " prompt "'," ASK options "]}}"
    { 'a', "ask/create", "long prompt", CREATE("$NUMBER", "$TEXT", TWO) },
    { 'a', "ask/create", "many options", CREATE("$NUMBER", "", TWO "$OPTIONS"), .max = 98 },
    { 'a', "ask/create", "too long", CREATE("$NUMBER$TEXT", "", TWO), .refusal = "too_long" },
    { 'a', "ask/wait", "of long ago", "{'session_id':'$OLD','wait_seconds':0}" },
    { 'n', "ask/wait", "on a new connection", "{'session_id':'$OLD','wait_seconds':0}" },
    { 'a', "ask/wait", "of none", "{'session_id':'$NONE','wait_seconds':0}",
      .refusal = "not_found" },
    { 'a', "ask/delivered", "of long ago", "{'session_ids':['$OLD']}" },
    { 'a', "ask/withdraw", "", "{'session_id':'$OPEN'}" },
    { 'a', "ask/withdraw", "of none", "{'session_id':'$NONE'}", .refusal = "not_found" },
    { 'a', "ask/detach", "", "{'session_id':'$OPEN'}" },
    { 'a', "client/cut_off", "", "{'held_ms':5000}" },
    { 'a', "client/result", "long content",
      "{'session_id':'$OPEN','action':'accept','content':{'choice':'$TEXT'},'shown_ms':1}" },
    { 'a', "client/failed", "", "{'session_id':'$OPEN','why':'refused'}" },
    { 'a', "mine/list", "", "{}" },
    { 'a', "mine/list", "by prefix", "{'prefix':'zzzz'}" },
    { 'a', "mine/list", "by prefix of many", "{'prefix':'caaa'}" },
    { 'a', "mine/list", "completed", "{'which':'completed'}" },
    { 'a', "mine/list", "active", "{'which':'active'}" },
    { 'a', "mine/get", "of long ago", "{'session_id':'$OLD'}" },
    { 'a', "mine/get", "of none", "{'session_id':'$NONE'}", .refusal = "not_found" },
    { 'a', "mine/follow", "", "{}" },
    { 'p', "ask/answer", "long note",
      "{'session_id':'$OPEN','selected_ids':['a'],'global_annotation':'$TEXT'}", .max = 2000 },
    { 'p', "ask/answer", "of none", "{'session_id':'$NONE','selected_ids':['a']}",
      .refusal = "not_found" },
    { 'p', "ask/cancel", "", "{'session_id':'$OPEN'}" },
    { 'p', "ask/decline", "", "{'session_id':'$OPEN'}" },
    { 'p', "ask/extend", "", "{'session_id':'$OPEN','seconds':600}" },
    { 'p', "ask/undo", "", "{'session_id':'$DECIDED'}" },
    { 'p', "ask/send", "", "{'session_id':'$DECIDED'}" },
    { 'p', "ask/draft", "long text", "{'session_id':'$OPEN','draft':{'text':'$TEXT'}}" },
    { 'p', "ask/switch", "", "{'session_id':'$OPEN','interface':'web'}" },
    { 'p', "ask/challenge", "", "{'session_id':'$OPEN'}" },
    { 'p', "ask/attach", "", "{'session_id':'$OPEN'}" },
    { 'p', "ask/list", "", "{}" },
    { 'p', "ask/list", "all", "{'which':'all'}" },
    { 'p', "ask/list", "of one agent", "{'which':'all','agent':'bot'}" },
    { 'p', "ask/list", "of no agent", "{'which':'all','agent':'none'}" },
    { 'p', "ask/list", "of one state", "{'which':'timeout'}" },
    { 'p', "ask/list", "before a time", "{'before_ms':1}" },
    { 'p', "ask/list", "a later page", "{'which':'all','before':'1-200'}" },
    { 'p', "ask/list", "a later page of open ones", "{'which':'active','before':'1-200'}" },
    { 'p', "ask/list", "a later page of an agent", "{'agent':'bot','before':'1-200'}" },
    { 'p', "ask/get", "of long ago", "{'session_id':'$OLD'}" },
    { 'p', "ask/get", "by prefix", "{'session_id':'zzzzzzzzz'}", .refusal = "not_found" },
    { 'p', "ask/get", "by prefix of many", "{'session_id':'caaa'}",
      .refusal = "conflicting_arguments" },
    { 'p', "ask/get", "of none", "{'session_id':'$NONE'}", .refusal = "not_found" },
    { 'p', "ask/watch", "", "{}" },
    { 'p', "ask/history", "", "{}" },
    { 'p', "ask/history", "search", "{'search':'nowhere to be found'}" },
    { 'p', "ask/history", "of one state", "{'which':'timeout'}" },
    { 'p', "ask/history", "of one channel", "{'via':'none'}" },
    { 'p', "ask/history", "before a time", "{'until_ms':1}" },
    { 'p', "ask/history", "since a time", "{'since_ms':9000000000000}" },
    { 'p', "ask/history", "a later page", "{'before':'1-200'}" },
    { 'p', "ask/statistics", "", "{}" },
    { 'p', "ask/back", "long text", "{'session_id':'$OPEN','text':'$TEXT'}", .max = 2000 },
    { 'p', "rule/preview", "", "{'session_id':'$DECIDED'}" },
    { 'p', "rule/add", "", "{'session_id':'$DECIDED'}" },
    { 'p', "rule/list", "", "{}" },
    { 'p', "rule/remove", "", "{'id':'$RULE'}" },
    { 'p', "rule/suggest", "", "{}" },
    { 'p', "ask/tell", "", "{'session_id':'$DECIDED','global_annotation':'x'}",
      .refusal = "wrong_state" },
    { 'p', "ask/unseen", "", "{}" },
    { 'p', "ask/seen", "", "{}" },
    { 'p', "ask/later", "", "{'session_id':'$OPEN','seconds':60}" },
    { 'p', "ask/hide", "", "{'session_id':'$OPEN','option_id':'b','hidden':true}" },
    { 'p', "settings/list", "", "{}" },
    { 'p', "settings/set", "long value", "{'name':'gate_words','value':'$TEXT'}", .max = 4096 },
    { 'p', "token/new", "long label", "{'label':'$TEXT'}", .max = 128 },
    { 'p', "token/list", "", "{}" },
    { 'p', "token/revoke", "", "{'id':'$TOKEN'}" },
    { 'p', "portal/link", "", "{}" },
#define LEGACY(method, params)                                                                     \
    "{'jsonrpc':'2.0','id':$NUMBER,'method':'" method "','params':{" params "}}"
#define MODERN(method, params)                                                                     \
    LEGACY(method, params "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"       \
                          "'io.modelcontextprotocol/clientInfo':{'name':'bot','version':'1'},"     \
                          "'io.modelcontextprotocol/clientCapabilities':{}}")
#define TOOL_CALL(name, arguments)                                                                 \
    LEGACY("tools/call", "'name':'" name "','arguments':{" arguments "}")
    { 'm', "ping", "", LEGACY("ping", "") },
    { 'm', "tools/list", "", LEGACY("tools/list", "") },
    { 'm', "tools/call", "no such tool", TOOL_CALL("$TEXT", ""), .refusal = "error" },
    { 'm', "tools/call", "provide_choice",
      TOOL_CALL("provide_choice",
                "'title':'m $NUMBER','prompt':'Which of them shall it be? $TEXT'," ASK TWO "]") },
    { 'm', "tools/call", "ask_user_question",
      TOOL_CALL("ask_user_question", "'questions':[{'question':'Which $NUMBER? "
                                     "$TEXT','header':'h','options':[{'label':'a','description':'b'"
                                     "},{'label':'c','description':'d'}]}]"),
      .max = 3900 },
    { 'm', "tools/call", "elicit_choice",
      TOOL_CALL("elicit_choice", "'message':'Which $NUMBER?','enum':['a','b'$ANSWERS]"),
      .max = 98 },
    { 'm', "tools/call", "elicit_input",
      TOOL_CALL("elicit_input", "'message':'Which $NUMBER? $TEXT'"), .max = 3900 },
    { 'm', "tools/call", "elicit_confirm",
      TOOL_CALL("elicit_confirm", "'message':'Which $NUMBER? $TEXT'"), .max = 3900 },
    { 'm', "tools/call", "elicit_number",
      TOOL_CALL("elicit_number", "'message':'Which $NUMBER? $TEXT'"), .max = 3900 },
    { 'm', "tools/call", "elicit_form",
      TOOL_CALL("elicit_form", "'message':'Which "
                               "$NUMBER?','requestedSchema':{'type':'object','properties':{'a':{'"
                               "type':'string','description':'$TEXT'}}}"),
      .max = 2000 },
    { 'm', "tools/call", "get_answer", TOOL_CALL("get_answer", "'session_id':'$OLD'") },
    { 'm', "tools/call", "check_decision",
      TOOL_CALL("check_decision", "'missing_configuration':['$TEXT']") },
    { 'm', "tools/call", "permission_prompt",
      TOOL_CALL("permission_prompt", "'tool_name':'Bash','input':{'command':'make $NUMBER $TEXT'}"),
      .max = 3900 },
    { 'm', "prompts/list", "", LEGACY("prompts/list", "") },
    { 'm', "prompts/get", "",
      LEGACY("prompts/get", "'name':'collect_answer','arguments':{'session_id':'$OLD'}") },
    { 'm', "prompts/get", "unknown, long name", LEGACY("prompts/get", "'name':'$TEXT'"),
      .refusal = "error" },
    { 'm', "resources/list", "", LEGACY("resources/list", "") },
    { 'm', "resources/templates/list", "", LEGACY("resources/templates/list", "") },
    { 'm', "resources/read", "pending", LEGACY("resources/read", "'uri':'sayso://asks'") },
    { 'm', "resources/read", "history", LEGACY("resources/read", "'uri':'sayso://history'") },
    { 'm', "resources/read", "of long ago", LEGACY("resources/read", "'uri':'sayso://asks/$OLD'") },
    { 'm', "resources/read", "of none", LEGACY("resources/read", "'uri':'sayso://asks/$NONE'"),
      .refusal = "error" },
    { 'm', "resources/subscribe", "unknown, long uri",
      LEGACY("resources/subscribe", "'uri':'sayso://asks/$TEXT'"), .refusal = "error" },
    { 'm', "resources/subscribe", "", LEGACY("resources/subscribe", "'uri':'sayso://asks/$OLD'") },
    { 'm', "resources/unsubscribe", "long uri",
      LEGACY("resources/unsubscribe", "'uri':'sayso://asks/$TEXT'") },
#define COMPLETE(value)                                                                            \
    LEGACY("completion/complete",                                                                  \
           "'ref':{'type':'ref/resource','uri':'sayso://asks/{session_id}'},"                      \
           "'argument':{'name':'session_id','value':'" value "'}")
    { 'm', "completion/complete", "by prefix", COMPLETE("zzzz") },
    { 'm', "completion/complete", "by prefix of many", COMPLETE("c") },
    { 'm', "logging/setLevel", "", LEGACY("logging/setLevel", "'level':'debug'") },
    { 'm', "server/discover", "", MODERN("server/discover", "") },
    { 'm', "subscriptions/listen", "many uris",
      MODERN("subscriptions/listen",
             "'notifications':{'resourceSubscriptions':['sayso://asks'$ANSWERS]},"),
      .max = 533 },
    { 'm', "initialize", "long name",
      LEGACY("initialize", "'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':"
                           "'$TEXT','version':'1'}") },
    /* Last, because they make many or large asks, which would be in the lists of the others. */
    { 'p', "ask/answer", "many picks", "{'session_id':'$WIDE','selected_ids':['a'$ANSWERS]}",
      .max = 98 },
    { 'a', "ask/delivered", "many ids", "{'session_ids':[$IDS]}", .max = 256 },
};

/* The same agent as on the wire. */
static const struct row first = { 'm', "initialize", "first",
                                  LEGACY("initialize",
                                         "'protocolVersion':'2025-11-25','capabilities':{},'"
                                         "clientInfo':{'name':'bot','version':'1.0'}") };

struct lab {
    struct stage *stage;
    struct caller *agent, *person, *pages;
    struct mcp *mcp;
    struct mcp_stream stream;
    int64_t number;
    char old[ID_BYTES];
    struct call did;
};

/* Ids --------------------------------------------------------------------------------------------
 */

static void write_id(char out[ID_BYTES], const char *begin, int64_t number)
{
    memset(out, 'a', ID_BYTES - 1);
    out[ID_BYTES - 1] = '\0';
    memcpy(out, begin, strlen(begin));
    for (size_t at = ID_BYTES - 2; number > 0; at--, number /= 26)
        out[at] = (char)('a' + number % 26);
}

static void open_new(struct lab *lab, char out[ID_BYTES])
{
    char title[32];

    snprintf(title, sizeof title, "Ask %lld", (long long)++lab->number);
    ask_start(&lab->did, lab->agent, title, "", 0);
    stage_settle(lab->stage);
    stage_advance(lab->stage, 1); /* it waits for no time, which is over now */
    assert_worked(&lab->did);
    snprintf(out, ID_BYTES, "%s", call_text(&lab->did, "/session_id"));
}

static void make(struct lab *lab, struct caller *who, enum method act, const char *pointer,
                 const char *params, char *out, size_t size)
{
    call_run(&lab->did, who, act, "%s", params);
    assert_worked(&lab->did);
    snprintf(out, size, "%s", call_text(&lab->did, pointer));
}

static void decide_new(struct lab *lab, struct caller *who, char out[ID_BYTES])
{
    char params[96];

    open_new(lab, out);
    snprintf(params, sizeof params, "{'session_id':'%s','selected_ids':['a']}", out);
    call_run(&lab->did, who, METHOD_ask_answer, "%s", params);
    assert_worked(&lab->did);
}

/* History ----------------------------------------------------------------------------------------
 */

static void run_sql(sqlite3 *db, const char *sql, const char *id, int64_t by)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_bind_parameter_count(statement) > 0)
        sqlite3_bind_int64(statement, 1, by);
    if (sqlite3_bind_parameter_count(statement) > 1)
        sqlite3_bind_text(statement, 2, id, -1, SQLITE_STATIC);
    while (sqlite3_step(statement) == SQLITE_ROW)
        continue;
    if (sqlite3_finalize(statement) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* The ask in these tables as often as that; ids begin with c. */
static void multiply(const char *path, int64_t count)
{
    static const char *const clones[] = {
        "INSERT INTO asks SELECT number + ?1, ?2, owner, principal, digest, state, interface, "
        "flags,"
        " version, form_version, created_ms, deadline_ms, original_ms, hold_used_ms,"
        " deliver_after_ms, delivered_ms, decided_ms, ended_ms, seq + ?1, earlier_seq, answer_seq +"
        " ?1, tool, title, origin, idempotency_key, launch_code_hash FROM one",
        "INSERT INTO events SELECT seq + ?1, CASE ask WHEN '' THEN '' ELSE ?2 END, kind, actor, "
        "body,"
        " CASE earlier_seq WHEN 0 THEN 0 ELSE earlier_seq + ?1 END, prev_hash, form, arguments,"
        " answer, person, NULL, decisive, answered_ms FROM its",
        "INSERT INTO by_agent SELECT 'bot', number + ?1 FROM one",
    };
    sqlite3 *db = NULL;
    char id[ID_BYTES];

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    run_sql(db, "BEGIN", NULL, 0);
    run_sql(db, "CREATE TEMP TABLE one AS SELECT * FROM asks WHERE state = 3", NULL, 0);
    run_sql(db,
            "CREATE TEMP TABLE its AS SELECT * FROM events WHERE seq >= (SELECT number FROM one)",
            NULL, 0);
    for (int64_t i = 1; i <= count; i++) {
        write_id(id, "c", i);
        for (size_t at = 0; at < ARRAY_LEN(clones); at++)
            run_sql(db, clones[at], id, 4 * i);
    }
    run_sql(db, "UPDATE counter SET seq = (SELECT max(seq) FROM events)", NULL, 0);
    run_sql(db, "INSERT INTO unindexed SELECT number FROM asks WHERE state <= 2", NULL, 0);
    run_sql(db, "UPDATE search SET next = (SELECT max(number) FROM asks) + 1", NULL, 0);
    run_sql(db, "COMMIT", NULL, 0);
    sqlite3_close(db);
}

static void make_history(struct lab *lab, int64_t count)
{
    struct stage *stage = lab->stage;
    char id[ID_BYTES];

    open_new(lab, id); /* it stays open */
    decide_new(lab, lab->person, id);
    call_run(&lab->did, lab->agent, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    assert_worked(&lab->did);
    stage_crash(stage);
    multiply(stage->path, count);
    stage_restart(stage);
    write_id(lab->old, "c", 1);
}

/* Each ask is on one page, also where looking for the next one ended early. */
static void turn_pages(struct lab *lab, const char *params, int64_t expected)
{
    char before[64] = "";
    int64_t seen = 0;

    do {
        call_run(&lab->did, lab->person, METHOD_ask_list, "{%s%s%s%s}", params,
                 before[0] ? ",'before':'" : "", before, before[0] ? "'" : "");
        assert_worked(&lab->did);
        seen += (int64_t)json_length(json_at(lab->did.json, "/asks"));
        snprintf(before, sizeof before, "%s",
                 json_at(lab->did.json, "/next") ? call_text(&lab->did, "/next") : "");
    } while (before[0]);
    assert_int_equal(seen, expected);
}

/* Rows -------------------------------------------------------------------------------------------
 */

static void add_many(struct text *out, char kind, int count)
{
    char id[ID_BYTES];

    for (int i = 0; kind == 'T' && i < count; i++)
        text_add_char(out, (char)('a' + i % 26));
    for (int i = 0; kind != 'T' && i < count; i++) {
        write_id(id, "q", i);
        if (kind == 'O')
            text_add_format(out, ",{'id':'%s','label':'%s'}", id, id);
        else
            text_add_format(out, ",'%s'", id);
    }
}

static void add_undelivered(struct lab *lab, struct text *out, int count)
{
    char id[ID_BYTES];

    for (int i = 0; i < count; i++) {
        decide_new(lab, lab->person, id);
        text_add_format(out, "%s'%s'", i ? "," : "", id);
    }
}

static void open_wide(struct lab *lab, char out[ID_BYTES])
{
    struct text params = { 0 };

    text_add_format(&params,
                    "{'tool':'provide_choice','wait_seconds':0,'arguments':{'title':'Wide %lld',"
                    "'prompt':'Some of these are to be picked.','selection_mode':'multi',"
                    "'options':[" TWO,
                    (long long)++lab->number);
    add_many(&params, 'O', 98);
    text_add_text(&params, "]}}");
    call_start(&lab->did, lab->agent, METHOD_ask_create, "%s", text_string(&params));
    stage_settle(lab->stage);
    stage_advance(lab->stage, 1);
    assert_worked(&lab->did);
    snprintf(out, ID_BYTES, "%s", call_text(&lab->did, "/session_id"));
    text_release(&params);
}

static bool is_at(const char **at, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(*at, name, length) != 0)
        return false;
    *at += length;
    return true;
}

static char *fill(struct lab *lab, const char *params, int count)
{
    struct text out = { 0 };
    char id[64], params_of[96];

    while (*params) {
        id[0] = '\0';
        if (is_at(&params, "$OPEN")) {
            open_new(lab, id);
        } else if (is_at(&params, "$WIDE")) {
            open_wide(lab, id);
        } else if (is_at(&params, "$DECIDED")) {
            decide_new(lab, lab->pages, id);
        } else if (is_at(&params, "$OLD")) {
            snprintf(id, sizeof id, "%s", lab->old);
        } else if (is_at(&params, "$NONE")) {
            write_id(id, "zz", 1);
        } else if (is_at(&params, "$NUMBER")) {
            snprintf(id, sizeof id, "%lld", (long long)++lab->number);
        } else if (is_at(&params, "$TOKEN")) {
            make(lab, lab->person, METHOD_token_new, "/id", "{'label':'one'}", id, sizeof id);
        } else if (is_at(&params, "$RULE")) {
            decide_new(lab, lab->person, id);
            snprintf(params_of, sizeof params_of, "{'session_id':'%s'}", id);
            make(lab, lab->person, METHOD_rule_add, "/id", params_of, id, sizeof id);
        } else if (is_at(&params, "$TEXT")) {
            add_many(&out, 'T', count);
        } else if (is_at(&params, "$IDS")) {
            add_undelivered(lab, &out, count);
        } else if (is_at(&params, "$OPTIONS")) {
            add_many(&out, 'O', count);
        } else if (is_at(&params, "$ANSWERS")) {
            add_many(&out, 'A', count);
        } else {
            text_add_char(&out, *params == '\'' ? '"' : *params);
            params++;
        }
        text_add_text(&out, id);
    }
    for (size_t i = 0; i < out.used; i++)
        out.bytes[i] = (char)(out.bytes[i] == '\'' ? '"' : out.bytes[i]);
    return text_take(&out);
}

static bool has_input(const struct row *row)
{
    static const char *const lengths[] = { "$TEXT", "$IDS", "$OPTIONS", "$ANSWERS" };

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        if (strstr(row->params, lengths[i]))
            return true;
    return false;
}

static int64_t count_undelivered(const struct lab *lab)
{
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;
    int64_t count;

    assert_int_equal(sqlite3_open(lab->stage->path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT count(*) FROM asks WHERE state = 3 AND delivered_ms = 0", -1,
                       &statement, NULL);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

static bool has_error; /* a message of MCP was a refusal */

/* The figure of a row is that of the work it names, not of a refusal. */
static void check_outcome(const struct row *row, const char *label, const struct call *did)
{
    bool is_refused = row->who == 'm' ? has_error : did->replies && did->err.code != ERROR_NONE;
    const char *found = !is_refused ? "" : row->who == 'm' ? "error" : error_name(did->err.code);
    const char *expected = row->refusal ? row->refusal : "";

    printf("%s|%s\n", label, found);
    if (strcmp(found, expected) != 0)
        fail_msg("%s: refused with '%s', expected '%s'", label, found, expected);
}

static void run_row(struct lab *lab, const struct row *row, int times)
{
    struct call did = { .label = "row", .stage = lab->stage };
    int count = (row->max ? row->max : INPUT_MAX) * times / 16;
    char *params = fill(lab, row->params, count);
    int64_t undelivered = strstr(row->params, "$IDS") ? count_undelivered(lab) : 0;
    size_t bytes = strlen(params);
    struct identity bot = visitor_agent("bot");
    struct caller *who = row->who == 'p'   ? lab->person
                         : row->who == 'n' ? caller_enter(lab->stage, "new", &bot)
                                           : lab->agent;
    char label[128];

    snprintf(label, sizeof label, "%s|%s|%d|%zu", row->name, row->what, times, bytes);
    stage_settle(lab->stage);
    has_error = false;
    CALLGRIND_ZERO_STATS;
    if (row->who == 'm')
        mcp_take_line(lab->mcp, &lab->stream, params, bytes);
    else
        call_start(&did, who, method_find(row->name), "%s", params);
    stage_settle(lab->stage);
    CALLGRIND_DUMP_STATS_AT(label);
    check_outcome(row, label, &did);
    if (undelivered)
        assert_int_equal(undelivered - count_undelivered(lab), count);
    call_release(&did);
    free(params);
}

static void on_message(struct mcp_stream *stream, const struct mcp_message *message)
{
    char *line = mem_text_n(message->line, message->length);

    (void)stream;
    has_error |= strstr(line, ",\"error\":{\"code\":") || strstr(line, "\"isError\":true");
    free(line);
    if (getenv("SAYSO_SHOW"))
        printf("# %.*s", (int)(message->length > 300 ? 300 : message->length), message->line);
}

static int64_t hold_limit_s(void *context, const char *client_name, bool has_progress)
{
    (void)context;
    (void)client_name;
    (void)has_progress;
    return 50;
}

static bool is_gated(void *context, const char *tool, const struct json *input)
{
    const struct gate_call call = { .tool = tool, .input = input };

    return settings_gate(((const struct lab *)context)->stage->settings, &call).kind != GATE_NONE;
}

static int64_t history = 100;
static bool wants_inputs;

/* A test, so that what fails says where. */
static void run_all(void **state)
{
    static const struct mcp_stream_ops stream_ops = { .message = on_message };
    struct identity bot = visitor_agent("bot"), cli = visitor_person("cli"),
                    web = visitor_person("web");
    struct lab lab = { .did.label = "did", .stream.ops = &stream_ops };
    struct mcp_parts parts;

    (void)state;
    lab.stage = stage_open(NULL);
    stage_set(lab.stage, "asks_per_minute", "100000");
    stage_set(lab.stage, "max_pending", "10000");
    lab.stage->portal_url = "http://127.0.0.1:7000";
    lab.agent = caller_enter(lab.stage, "agent", &bot);
    lab.person = caller_enter(lab.stage, "person", &cli);
    make_history(&lab, history);
    lab.agent = caller_enter(lab.stage, "agent", &bot);
    lab.person = caller_enter(lab.stage, "person", &cli);
    lab.pages = caller_enter(lab.stage, "pages", &web);
    parts = (struct mcp_parts){ .service = lab.stage->service,
                                .clock = &lab.stage->clock.port,
                                .uid = 1000,
                                .is_hub = true,
                                .transport = "stdio",
                                .directory = bot.directory,
                                .max_calls = 1000,
                                .hold_limit_s = hold_limit_s,
                                .is_gated = is_gated,
                                .context = &lab };
    lab.mcp = mcp_new(&parts);
    turn_pages(&lab, "'which':'timeout'", 0);
    turn_pages(&lab, "'limit':10000,'which':'submitted'", history + 1);
    turn_pages(&lab, "'limit':1000,'before_ms':9000000000000", history + 2);
    run_row(&lab, &first, 0);
    CALLGRIND_START_INSTRUMENTATION;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        run_row(&lab, &rows[i], inputs[0]); /* once for what is only made the first time */
        for (size_t at = 0; at < (wants_inputs && has_input(&rows[i]) ? ARRAY_LEN(inputs) : 1);
             at++)
            run_row(&lab, &rows[i], inputs[at]);
    }
    mcp_free(lab.mcp);
    call_release(&lab.did);
    stage_close(lab.stage);
}

/* HISTORY [inputs] */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(run_all) };

    if (argc > 1 && !text_parse_integer(argv[1], &history))
        return EXIT_FAILURE;
    wants_inputs = argc > 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
