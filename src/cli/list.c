/* list.c - `sayso list`. */
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/history/history.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/lifecycle.h"
#include "tui/facts.h"

enum { LIST_AGE_CELLS = 8, LIST_LEFT_CELLS = 8, LIST_STATE_CELLS = 14 };

/* What is left of its time; of one that is over where it was answered. */
static void add_left(struct text *out, const struct json *ask)
{
    int64_t left_s = json_member_integer(ask, "remaining_seconds", -1);
    const char *via = json_member_text(json_member(ask, "answered_by"), "via");

    if (left_s < 0)
        text_add_text(out, via ? via : "-");
    else
        facts_add_clock(out, left_s * 1000);
}

static void print_ask(const struct json *ask)
{
    const char *title = json_member_text(ask, "title");
    const char *status = json_member_text(ask, "status");
    int64_t age_s = (int64_t)time(NULL) - facts_time(json_member(ask, "created_at")) / 1000;
    struct text line = { 0 }, cell = { 0 };

    facts_add_duration(&cell, age_s > 0 ? age_s : 0);
    say_add_cell(&line, text_string(&cell), LIST_AGE_CELLS);
    text_clear(&cell);
    add_left(&cell, ask);
    say_add_cell(&line, text_string(&cell), LIST_LEFT_CELLS);
    say_add_cell(&line, state_text(state_find(status)), LIST_STATE_CELLS);
    text_add_text(&line, json_is_yes(json_member(ask, "destructive")) ? "!  " : "   ");
    say_add_shown(&line, title ? title : "");
    text_add_text(&line, "  ");
    say_add_agent(&line, ask);
    if (json_is_yes(json_member(ask, "detached")))
        text_add_format(&line, " %s", i18n_text(TEXT_LIST_DETACHED));
    printf("%.8s  %s\n", json_member_text(ask, "session_id"), text_string(&line));
    history_print_answer(ask);
    text_release(&line);
    text_release(&cell);
}

static void print_list(const struct arguments *arguments, const struct json *result)
{
    const struct json *asks = json_member(result, "asks");

    (void)arguments;
    for (size_t i = 0; i < json_length(asks); i++)
        print_ask(json_item(asks, i));
    if (json_length(asks) == 0)
        say_note(TEXT_CLI_NOTHING_LISTED);
}

static bool write_params(const struct arguments *arguments, struct text *params)
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

static const struct act acts[] = {
    { .method = "ask/list", .write = write_params, .print = print_list, .shown = "asks" }
};
static const struct verb_option options[] = {
    { "active", 'a', NULL, TEXT_OPT_ACTIVE, false },
    { "completed", 'c', NULL, TEXT_OPT_COMPLETED, false },
    { "limit", 'n', "COUNT", TEXT_OPT_LIMIT, false },
};
static const char *const usage[] = { "list [--active|--completed] [--limit COUNT]", NULL };
static const char *const examples[] = { "list --active", "list --completed --limit 5 --json",
                                        NULL };
VERB_ACTS(list, TEXT_CLI_LIST, VERB_TABLES, .may_go_far = true);
