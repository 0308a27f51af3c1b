/* history.c - `sayso history`: asks of before with what was answered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/history/look_back.h"
#include "cli/say.h"

enum { HISTORY_DEFAULT = 20, HISTORY_MOST = 10000, HISTORY_PAGE = 200 };

void history_print_answer(const struct json *ask)
{
    const char *summary = json_member_text(ask, "summary");
    const struct json *confirmed = json_member(ask, "confirmed");
    struct text line = { 0 };

    if (confirmed)
        text_add_text(&line, i18n_text(json_is_yes(confirmed) ? TEXT_TUI_YES : TEXT_TUI_NO));
    else if (summary)
        say_add_shown(&line, summary);
    if (line.used)
        printf("          = %s\n", text_string(&line));
    text_release(&line);
}

static void print_ask(const struct json *ask)
{
    const char *title = json_member_text(ask, "title"), *when = json_member_text(ask, "created_at");
    struct text shown_title = { 0 }, shown_agent = { 0 };
    char day[17] = "";

    if (when && strlen(when) >= sizeof day) {
        memcpy(day, when, sizeof day - 1);
        day[10] = ' ';
    }
    say_add_shown(&shown_title, title ? title : "");
    say_add_agent(&shown_agent, ask);
    printf("%.8s  %s  %-14s%s  %s  %s\n", json_member_text(ask, "session_id"), day,
           i18n_state(state_find(json_member_text(ask, "status"))),
           json_is_yes(json_member(ask, "destructive")) ? " !" : "  ", text_string(&shown_title),
           text_string(&shown_agent));
    history_print_answer(ask);
    text_release(&shown_title);
    text_release(&shown_agent);
}

static void print_page(const struct arguments *arguments, const struct json *asks, int64_t before)
{
    for (size_t i = 0; i < json_length(asks); i++) {
        struct text shown = { 0 };
        char *encoded;

        if (!arguments->is_json) {
            print_ask(json_item(asks, i));
            continue;
        }
        encoded = json_encode(json_item(asks, i));
        say_add_json(&shown, encoded);
        printf("%s%s", before + (int64_t)i > 0 ? "," : "", text_string(&shown));
        text_release(&shown);
        free(encoded);
    }
}

static bool print_all(struct look_back *look, struct link *link, int64_t limit)
{
    const struct arguments *arguments = look->arguments;
    int64_t count = 0;
    bool ok = true, has_begun = false;

    while (ok && count < limit && !look->is_over) {
        struct wire_message reply = { 0 };
        int64_t left = limit - count;
        const struct json *asks;

        ok = look_back_page(look, link, left < HISTORY_PAGE ? left : HISTORY_PAGE, &reply);
        asks = ok ? json_member(reply.result, "asks") : NULL;
        if (arguments->is_json && ok && !has_begun)
            printf("[");
        has_begun = true;
        print_page(arguments, asks, count);
        count += (int64_t)json_length(asks);
        wire_release(&reply);
    }
    if (arguments->is_json && ok)
        printf("]\n");
    else if (ok && count == 0)
        say_note(TEXT_CLI_NOTHING_LISTED);
    return ok;
}

static char *join_words(const struct arguments *arguments)
{
    struct text words = { 0 };

    for (size_t i = 0; i < arguments->word_count; i++)
        text_add_format(&words, "%s%s", i ? " " : "", arguments->words[i]);
    return words.used ? text_take(&words) : NULL;
}

static enum exit_code run_history(const struct arguments *arguments)
{
    struct look_back look = { 0 };
    struct link *link = NULL;
    int64_t limit = HISTORY_DEFAULT;
    enum exit_code code = EXIT_USAGE;

    if (arguments_integer(arguments, "limit", 1, HISTORY_MOST, &limit) &&
        look_back_init(&look, arguments, false, join_words(arguments))) {
        code = call_open(arguments, &call_person, LINK_MAY_START, &link) &&
                       print_all(&look, link, limit)
                   ? EXIT_DONE
                   : EXIT_ERROR;
    }
    look_back_release(&look);
    link_close(link);
    return code;
}

static const struct verb_option options[] = {
    LOOK_BACK_OPTIONS,
    { "limit", 'n', "COUNT", TEXT_OPT_LIMIT, false },
};
static const char *const usage[] = { "history [WORD]… [--agent NAME] [--status STATUS] [--via "
                                     "CHANNEL] [--since TIME] [--before TIME] "
                                     "[--limit COUNT]",
                                     NULL };
static const char *const examples[] = { "history deploy production",
                                        "history '\"roll back\"' --since 7d",
                                        "history --agent claude-code --status declined --json",
                                        NULL };
VERB_ROW(history, TEXT_CLI_HISTORY, VERB_TABLES, .most_words = 8, .may_go_far = true);
