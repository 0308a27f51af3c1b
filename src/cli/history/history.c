/* history.c - see history.h, and `sayso history` and `sayso list`: asks with what was answered. */
#include "cli/history/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/say.h"
#include "core/lifecycle.h"
#include "tui/facts.h"

enum { MAX_AGO = 100000 };

/* "7d", "12h", "30m" */
static bool read_ago(const char *text, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = { { 'd', 86400000 }, { 'h', 3600000 }, { 'm', 60000 } };
    size_t digits = strspn(text, "0123456789");
    char number[16];
    int64_t count;

    if (digits == 0 || digits >= sizeof number || strlen(text) != digits + 1)
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!text_parse_integer(number, &count) || count > MAX_AGO)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (units[i].unit == text[digits]) {
            *ret_ms = (int64_t)time(NULL) * 1000 - count * units[i].ms;
            return *ret_ms > 0;
        }
    }
    return false;
}

/* Local, as times are printed; with a Z in UTC. */
static bool read_date(const char *text, int64_t *ret_ms)
{
    static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%MZ",
                                         "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ" };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm parts = { 0 };
        const char *end = strptime(text, forms[i], &parts);

        if (end && *end == '\0') {
            parts.tm_isdst = -1;
            *ret_ms = (int64_t)(end[-1] == 'Z' ? timegm(&parts) : mktime(&parts)) * 1000;
            return *ret_ms > 0;
        }
    }
    return false;
}

static bool read_time(const struct arguments *arguments, const char *name, int64_t *ret_ms)
{
    const char *text = arguments_value(arguments, name);
    char shown[64];

    if (!text || read_ago(text, ret_ms) || read_date(text, ret_ms))
        return true;
    snprintf(shown, sizeof shown, "--%s", name);
    say_problem(TEXT_CLI_BAD_TIME, "name", shown);
    return false;
}

bool look_back_init(struct look_back *look, const struct arguments *arguments, bool is_whole,
                    char *take_search)
{
    *look = (struct look_back){ .arguments = arguments, .is_whole = is_whole };
    look->search = take_search;
    return read_time(arguments, "since", &look->since_ms) &&
           read_time(arguments, "before", &look->until_ms);
}

void look_back_release(struct look_back *look)
{
    free(look->search);
    *look = (struct look_back){ 0 };
}

bool look_back_has_filters(const struct look_back *look)
{
    static const char *const names[] = { "agent", "status", "via", "since", "before" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (arguments_value(look->arguments, names[i]))
            return true;
    }
    return look->search != NULL;
}

static void write_params(const struct look_back *look, int64_t limit, struct text *out)
{
    static const char *const named[][2] = { { "agent", "agent" },
                                            { "status", "which" },
                                            { "via", "via" } };
    struct json_writer writer = json_object_to(out);

    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        json_write_text_if(&writer, named[i][1], arguments_value(look->arguments, named[i][0]));
    json_write_text_if(&writer, "search", look->search);
    if (look->since_ms)
        json_write_integer(&writer, "since_ms", look->since_ms);
    if (look->until_ms)
        json_write_integer(&writer, "until_ms", look->until_ms);
    json_write_bool_if(&writer, "whole", look->is_whole);
    json_write_text_if(&writer, "before", look->next[0] ? look->next : NULL);
    json_write_integer(&writer, "limit", limit);
    json_write_end_object(&writer);
}

bool look_back_page(struct look_back *look, struct client *link, int64_t limit,
                    struct rpc_message *ret_reply)
{
    struct text params = { 0 };
    const char *next;
    bool ok;

    write_params(look, limit, &params);
    ok = call_hub(look->arguments, link, "ask/history", text_string(&params), ret_reply);
    text_release(&params);
    next = ok ? json_member_text(ret_reply->result, "next") : NULL;
    look->is_over = !next || strlen(next) >= sizeof look->next;
    if (!look->is_over)
        memcpy(look->next, next, strlen(next) + 1);
    return ok;
}

enum { HISTORY_DEFAULT = 20, HISTORY_MAX = 10000, HISTORY_PAGE = 200 };

/* What was answered, a line below the ask; nothing where it was not. */
static void print_answer(const struct json *ask)
{
    const char *summary = json_member_text(ask, "summary");
    const struct json *confirmed = json_member(ask, "confirmed");

    if (confirmed)
        summary = i18n_text(json_is_true(confirmed) ? TEXT_TUI_YES : TEXT_TUI_NO);
    if (summary && *summary)
        say_words("          = ", summary, "\n");
}

static void print_ask(const struct arguments *arguments, const struct json *ask)
{
    struct text shown_title = { 0 }, shown_agent = { 0 }, when = { 0 };

    say_add_time(arguments, &when, json_member(ask, "created_at"));
    say_add_shown(&shown_title, say_member(ask, "title"));
    say_add_agent(&shown_agent, ask);
    printf("%.8s  %-16s  %-14s%s  %s  %s\n", json_member_text(ask, "session_id"),
           text_string(&when), state_text(state_find(json_member_text(ask, "status"))),
           json_is_true(json_member(ask, "destructive")) ? " !" : "  ", text_string(&shown_title),
           text_string(&shown_agent));
    print_answer(ask);
    text_release(&shown_title);
    text_release(&shown_agent);
    text_release(&when);
}

static void print_page(const struct arguments *arguments, const struct json *asks, int64_t before)
{
    for (size_t i = 0; i < json_length(asks); i++) {
        struct text shown = { 0 };
        char *encoded;

        if (!arguments->is_json) {
            print_ask(arguments, json_item(asks, i));
            continue;
        }
        encoded = json_encode(json_item(asks, i));
        say_add_json(&shown, encoded);
        printf("%s%s", before + (int64_t)i > 0 ? "," : "", text_string(&shown));
        text_release(&shown);
        free(encoded);
    }
}

static bool print_all(struct look_back *look, struct client *link, int64_t limit)
{
    const struct arguments *arguments = look->arguments;
    int64_t count = 0;
    bool ok = true, has_begun = false;

    while (ok && count < limit && !look->is_over) {
        struct rpc_message reply = { 0 };
        int64_t left = limit - count;
        const struct json *asks;

        ok = look_back_page(look, link, left < HISTORY_PAGE ? left : HISTORY_PAGE, &reply);
        asks = ok ? json_member(reply.result, "asks") : NULL;
        if (arguments->is_json && ok && !has_begun)
            printf("[");
        has_begun = true;
        print_page(arguments, asks, count);
        count += (int64_t)json_length(asks);
        rpc_release(&reply);
    }
    if (arguments->is_json && ok)
        printf("]\n");
    else if (ok && count == 0)
        say_note(TEXT_CLI_NOTHING_LISTED);
    return ok;
}

static enum exit_code run_history(const struct arguments *arguments)
{
    struct look_back look = { 0 };
    struct client *link = NULL;
    int64_t limit = HISTORY_DEFAULT;
    enum exit_code code = EXIT_USAGE;
    struct text words = { 0 };

    for (size_t i = 0; i < arguments->word_count; i++)
        text_add_format(&words, "%s%s", i ? " " : "", arguments->words[i]);
    if (arguments_integer(arguments, "limit", 1, HISTORY_MAX, &limit) &&
        look_back_init(&look, arguments, false, words.used ? text_take(&words) : NULL)) {
        code = call_open(arguments, &call_person, &link) && print_all(&look, link, limit)
                   ? EXIT_DONE
                   : EXIT_ERROR;
    }
    text_release(&words);
    look_back_release(&look);
    client_free(link);
    return code;
}

static const struct verb_option options[] = {
    LOOK_BACK_OPTIONS,
    { "limit", 'n', "COUNT", TEXT_OPT_LIMIT, false },
    { "utc", 0, NULL, TEXT_OPT_UTC, false },
};
static const char *const usage[] = { "history [WORD]… [--agent NAME] [--status STATUS] [--via "
                                     "CHANNEL] [--since TIME] [--before TIME] "
                                     "[--limit COUNT]",
                                     NULL };
static const char *const examples[] = { "history deploy production",
                                        "history '\"roll back\"' --since 7d",
                                        "history --agent claude-code --status declined --json",
                                        NULL };
VERB_ROW(history, TEXT_CLI_HISTORY, VERB_TABLES, .max_words = 8, .works_remotely = true);

/* `sayso list`. */

enum { LIST_AGE_CELLS = 8, LIST_LEFT_CELLS = 8, LIST_STATE_CELLS = 14 };

static void print_listed(const struct arguments *arguments, const struct json *ask)
{
    const char *status = json_member_text(ask, "status");
    int64_t age_s = (int64_t)time(NULL) - facts_time(json_member(ask, "created_at")) / 1000;
    int64_t left_s = json_member_integer(ask, "remaining_seconds", -1);
    const char *via = json_member_text(json_member(ask, "answered_by"), "via");
    struct text line = { 0 }, cell = { 0 };

    (void)arguments;
    facts_add_duration(&cell, age_s > 0 ? age_s : 0);
    say_add_cell(&line, text_string(&cell), LIST_AGE_CELLS);
    text_clear(&cell);
    if (left_s >= 0)
        facts_add_clock(&cell, left_s * 1000);
    else /* of one that is over where it was answered */
        text_add_text(&cell, via ? via : "-");
    say_add_cell(&line, text_string(&cell), LIST_LEFT_CELLS);
    say_add_cell(&line, state_text(state_find(status)), LIST_STATE_CELLS);
    text_add_text(&line, json_is_true(json_member(ask, "destructive")) ? "!  " : "   ");
    say_add_shown(&line, say_member(ask, "title"));
    text_add_text(&line, "  ");
    say_add_agent(&line, ask);
    if (json_is_true(json_member(ask, "detached")))
        text_add_format(&line, " %s", i18n_text(TEXT_LIST_DETACHED));
    printf("%.8s  %s\n", json_member_text(ask, "session_id"), text_string(&line));
    print_answer(ask);
    text_release(&line);
    text_release(&cell);
}

static bool write_list(const struct arguments *arguments, struct text *params)
{
    struct json_writer writer = json_object_to(params);
    int64_t limit = 0;

    if (!arguments_integer(arguments, "limit", 1, 10000, &limit))
        return false;
    if (arguments_value(arguments, "active"))
        json_write_text(&writer, "which", "active");
    else if (arguments_value(arguments, "completed"))
        json_write_text(&writer, "which", "completed");
    if (limit)
        json_write_integer(&writer, "limit", limit);
    if (!arguments->is_json)
        json_write_bool(&writer, "answers", true);
    json_write_end_object(&writer);
    return true;
}

static const struct act acts[] = { { .method = "ask/list",
                                     .write = write_list,
                                     .shown = "asks",
                                     .print_item = print_listed,
                                     .none = TEXT_CLI_NOTHING_LISTED } };
static const struct verb_option list_options[] = {
    { "active", 'a', NULL, TEXT_OPT_ACTIVE, false },
    { "completed", 'c', NULL, TEXT_OPT_COMPLETED, false },
    { "limit", 'n', "COUNT", TEXT_OPT_LIMIT, false },
};
static const char *const list_usage[] = { "list [--active|--completed] [--limit COUNT]", NULL };
static const char *const list_examples[] = { "list --active", "list --completed --limit 5 --json",
                                             NULL };
VERB_ACTS(list, TEXT_CLI_LIST, .usage = list_usage, .examples = list_examples,
          VERB_OPTIONS_OF(list_options), .works_remotely = true);
