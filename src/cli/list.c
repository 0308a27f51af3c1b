/* list.c - `sayso list`. */
#include <stdio.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/call.h"
#include "cli/say.h"

static void print_left(const struct json *ask, char *out, size_t size)
{
    int64_t left_s = json_member_integer(ask, "remaining_seconds", -1);

    if (left_s < 0)
        snprintf(out, size, "-");
    else if (left_s < 3600)
        snprintf(out, size, "%lld:%02lld", (long long)left_s / 60, (long long)left_s % 60);
    else
        snprintf(out, size, "%lld:%02lld:%02lld", (long long)left_s / 3600,
                 (long long)left_s / 60 % 60, (long long)left_s % 60);
}

static void print_ask(const struct json *ask)
{
    const char *title = json_member_text(ask, "title");
    const char *status = json_member_text(ask, "status");
    struct text shown_title = { 0 }, shown_agent = { 0 };
    char left[24];

    print_left(ask, left, sizeof left);
    say_add_shown(&shown_title, title ? title : "");
    say_add_agent(&shown_agent, ask);
    printf("%.8s  %8s  %-14s%s  %s  %s", json_member_text(ask, "session_id"), left,
           i18n_state(state_find(status)),
           json_is_yes(json_member(ask, "destructive")) ? " !" : "  ", text_string(&shown_title),
           text_string(&shown_agent));
    if (json_is_yes(json_member(ask, "detached")))
        printf(" %s", i18n_text(TEXT_LIST_DETACHED));
    printf("\n");
    text_release(&shown_title);
    text_release(&shown_agent);
}

static void print_list(const struct arguments *arguments, const struct json *asks)
{
    if (arguments->is_json) {
        say_value(asks);
        return;
    }
    for (size_t i = 0; i < json_length(asks); i++)
        print_ask(json_item(asks, i));
    if (json_length(asks) == 0)
        say_note(TEXT_CLI_NOTHING_LISTED, NULL);
}

static enum exit_code run_list(const struct arguments *arguments)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    int64_t limit = 0;
    bool ok;

    if (!arguments_integer(arguments, "limit", 1, 10000, &limit))
        return EXIT_USAGE;
    json_write_object(&writer, NULL);
    if (arguments_value(arguments, "active"))
        json_write_text(&writer, "which", "active");
    else if (arguments_value(arguments, "completed"))
        json_write_text(&writer, "which", "completed");
    if (limit)
        json_write_integer(&writer, "limit", limit);
    json_write_end_object(&writer);
    ok = call_open(arguments, &call_person, LINK_MAY_START, &link) &&
         call_hub(arguments, link, "ask/list", text_string(&params), &reply);
    if (ok)
        print_list(arguments, json_member(reply.result, "asks"));
    wire_release(&reply);
    link_close(link);
    text_release(&params);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static const struct verb_option options[] = {
    { "active", 'a', NULL, TEXT_OPT_ACTIVE, false },
    { "completed", 'c', NULL, TEXT_OPT_COMPLETED, false },
    { "limit", 'n', "COUNT", TEXT_OPT_LIMIT, false },
};
static const char *const usage[] = { "list [--active|--completed] [--limit COUNT]", NULL };
static const char *const examples[] = { "list --active", "list --completed --limit 5 --json",
                                        NULL };
const struct verb verb_list = {
    .name = "list",
    .about = TEXT_CLI_LIST,
    VERB_TABLES,
    .most_words = 0,
    .may_go_far = true,
    .run = run_list,
};
