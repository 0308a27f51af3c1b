/* show.c - `sayso show`: one ask whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"
#include "cli/show_form.h"
#include "tui/facts.h"

/* When it was asked and, while the agent waits, for how long that has been blocked (R5.8). */
static void print_asked(const struct arguments *arguments, const struct json *ask)
{
    const struct json *created = json_member(ask, "created_at");
    int64_t since_s = (int64_t)time(NULL) - facts_time(created) / 1000;
    bool is_open = state_is_open(state_find(json_member_text(ask, "status")));
    struct text line = { 0 }, waited = { 0 };

    say_add_time(arguments, &line, created);
    if (is_open && json_is_yes(json_member(ask, "detached"))) {
        text_add_format(&line, "  %s", i18n_text(TEXT_LIST_DETACHED));
    } else if (is_open) {
        facts_add_duration(&waited, since_s > 0 ? since_s : 0);
        text_add_text(&line, "  ");
        i18n_format(&line, TEXT_BLOCKED, "time", text_string(&waited), NULL);
    }
    say_row(TEXT_ROW_ASKED, text_string(&line));
    text_release(&line);
    text_release(&waited);
}

static void print_facts(const struct arguments *arguments, const struct json *ask)
{
    const struct json *origin = json_member(ask, "origin");
    const char *status = json_member_text(ask, "status");
    const char *directory = json_member_text(origin, "directory");
    struct text line = { 0 };
    char left[32];

    say_add_agent(&line, ask);
    say_row(TEXT_ROW_ID, json_member_text(ask, "session_id"));
    say_row(TEXT_ROW_STATUS, i18n_state(state_find(status)));
    if (json_is_yes(json_member(ask, "destructive")))
        printf("%s\n", i18n_text(TEXT_CLI_DESTRUCTIVE));
    say_row(TEXT_ROW_AGENT, text_string(&line));
    say_row(TEXT_ROW_DIRECTORY, directory);
    print_asked(arguments, ask);
    if (json_member_integer(ask, "remaining_seconds", -1) >= 0) {
        snprintf(left, sizeof left, "%lld s",
                 (long long)json_member_integer(ask, "remaining_seconds", 0));
        say_row(TEXT_ROW_LEFT, left);
    }
    text_release(&line);
}

/* What a summary would cut is printed whole. */
static void print_fields(const struct json *fields)
{
    struct text line = { 0 };

    for (void *it = json_first(fields); it; it = json_next(fields, it)) {
        if (!json_text(json_value(it)))
            continue;
        text_clear(&line);
        say_add_shown(&line, json_key(it));
        printf("  %s:\n", text_string(&line));
        say_lines(json_text(json_value(it)), 4);
    }
    text_release(&line);
}

/* Each question with what was chosen, written and noted. */
static void print_answers(const struct json *list)
{
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json *item = json_item(list, i), *selected = json_member(item, "selected");
        const char *other = json_member_text(item, "other");
        const char *notes = json_member_text(item, "notes");

        say_lines(json_member_text(item, "question"), 2);
        for (size_t k = 0; k < json_length(selected); k++)
            say_lines(json_text(json_item(selected, k)), 4);
        if (other)
            say_lines(other, 4);
        say_row(TEXT_ROW_NOTE, notes);
    }
}

static void print_result(const struct arguments *arguments, const struct json *ask,
                         const struct json *result, const struct json *answer)
{
    const struct json *inner = json_member(result, "selection");
    const struct json *selection = inner ? inner : result; /* the elicit tools have none */
    const struct json *by = json_member(ask, "answered_by");
    const char *summary = json_member_text(selection, "summary");
    const char *note = json_member_text(selection, "global_annotation");
    struct text line = { 0 };

    if (state_is_open(state_find(json_member_text(ask, "status"))))
        return;
    printf("\n");
    if (json_member(result, "answer_list")) {
        print_answers(json_member(result, "answer_list"));
    } else {
        if (json_member_text(answer, "custom_input"))
            say_lines(json_member_text(answer, "custom_input"), 2);
        print_fields(json_member(answer, "fields"));
    }
    say_row(TEXT_ROW_ANSWER, summary);
    say_row(TEXT_ROW_NOTE, note);
    for (void *it = json_first(json_member(selection, "option_annotations")); it;
         it = json_next(json_member(selection, "option_annotations"), it)) {
        text_clear(&line);
        text_add_format(&line, "%s: %s", json_key(it), json_text(json_value(it)));
        say_row(TEXT_ROW_NOTE, text_string(&line));
    }
    text_clear(&line);
    if (json_member_text(by, "person")) {
        text_add_format(&line, "%s, %s, ", json_member_text(by, "person"),
                        json_member_text(by, "via"));
        if (json_member_text(by, "token"))
            i18n_format(&line, TEXT_AGENT_TOKEN, "label", json_member_text(by, "token"), NULL);
        else
            text_add_format(&line, "pid %lld", (long long)json_member_integer(by, "pid", 0));
        text_add_text(&line, ", ");
        say_add_time(arguments, &line, json_member(ask, "decided_at"));
        say_row(TEXT_ROW_BY, text_string(&line));
    }
    text_release(&line);
}

/* What was asked back, explained and told after the deadline, a line each; the hub made all
 * harmless. */
static void print_talk(const struct json *talk)
{
    for (size_t i = 0; i < json_length(talk); i++) {
        const struct json *said = json_item(talk, i), *yes = json_member(said, "confirmed");
        bool is_late = json_is_yes(json_member(said, "after_deadline"));
        const char *by = json_member_text(said, "by"), *text = json_member_text(said, "text");

        if (yes)
            say_row(TEXT_ROW_TOLD, i18n_text(json_is_yes(yes) ? TEXT_TUI_YES : TEXT_TUI_NO));
        if (text && *text)
            say_row(is_late                          ? TEXT_ROW_TOLD
                    : by && strcmp(by, "agent") == 0 ? TEXT_ROW_EXPLAINED
                                                     : TEXT_ROW_ASKED_BACK,
                    text);
    }
}

/* What is chosen and written, whatever it is in; a comma between. */
static void add_values(struct text *out, const struct json *value)
{
    bool is_list = json_kind(value) == KIND_LIST;
    char *json = NULL;

    for (size_t i = 0; is_list && i < json_length(value); i++)
        add_values(out, json_item(value, i));
    for (void *it = json_first(value); it; it = json_next(value, it))
        add_values(out, json_value(it));
    if (is_list || json_kind(value) == KIND_OBJECT || json_kind(value) == KIND_NULL)
        return;
    if (!json_text(value))
        json = json_encode(value);
    if (json || *json_text(value))
        text_add_format(out, "%s%s", out->used ? ", " : "", json ? json : json_text(value));
    free(json);
}

/* Its agent may not have received what it was answered a moment ago. */
static void print_earlier(const struct json *form, const struct json *draft)
{
    static const char *const members[] = { "selected_ids", "custom_input", "fields",
                                           "global_annotation" };
    struct text line = { 0 };

    facts_add_answered(&line, json_member_integer(form, "answered_ms", 0),
                       (int64_t)time(NULL) * 1000);
    if (line.used && draft) {
        printf("! %s\n", text_string(&line));
        text_clear(&line);
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            add_values(&line, json_member(draft, members[i]));
        say_row(TEXT_ROW_ANSWER, text_string(&line));
    }
    text_release(&line);
}

void show_whole(const struct arguments *arguments, const struct json *got)
{
    if (arguments->is_json) {
        say_value(got);
        return;
    }
    call_speak_as_asked(json_member(got, "ask"));
    print_facts(arguments, json_member(got, "ask"));
    show_limits(json_member(got, "form"));
    if (state_is_open(state_find(json_member_text(json_member(got, "ask"), "status"))))
        print_earlier(json_member(got, "form"), json_member(got, "draft"));
    show_form(json_member(got, "form"));
    print_talk(json_member(got, "talk"));
    print_result(arguments, json_member(got, "ask"), json_member(got, "result"),
                 json_member(got, "answer"));
}

static bool finish(const struct arguments *arguments, struct link *link, const struct json *got)
{
    bool ok = call_expect(arguments, json_member(got, "ask"), "created_at");

    (void)link;
    if (ok)
        show_whole(arguments, got);
    return ok;
}

static enum exit_code run_show(const struct arguments *arguments)
{
    static const struct act act = { .method = "ask/get",
                                    .write = act_write_session,
                                    .finish = finish };

    return act_run(arguments, &act);
}

static const struct verb_option options[] = { { "utc", 0, NULL, TEXT_OPT_UTC, false } };
static const char *const usage[] = { "show [ID] [--utc]", NULL };
static const char *const examples[] = { "show k3f7", "show k3f7 --json", NULL };
VERB_ROW(show, TEXT_CLI_SHOW, VERB_TABLES, .most_words = 1, .may_go_far = true);
