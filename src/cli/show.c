/* show.c - `sayso show`: one ask whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

/* "3 min", in the largest unit that fits. */
static void add_duration(struct text *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        enum text_id text;
    } units[] = {
        { 86400, TEXT_DURATION_DAYS },
        { 3600, TEXT_DURATION_HOURS },
        { 60, TEXT_DURATION_MINUTES },
        { 1, TEXT_DURATION_SECONDS },
    };
    size_t unit = 0;
    char count[24];

    while (unit + 1 < ARRAY_LEN(units) && seconds < units[unit].seconds)
        unit++;
    snprintf(count, sizeof count, "%lld", (long long)(seconds / units[unit].seconds));
    i18n_format(out, units[unit].text, "count", count, NULL);
}

/* When it was asked and, while the agent waits, for how long that has been blocked (R5.8). */
static void print_asked(const struct json *ask)
{
    const char *created = json_member_text(ask, "created_at");
    bool is_open = state_is_open(state_find(json_member_text(ask, "status")));
    struct text line = { 0 }, waited = { 0 };
    struct tm parts = { 0 };

    text_add_text(&line, created);
    if (is_open && json_is_yes(json_member(ask, "detached"))) {
        text_add_format(&line, "  %s", i18n_text(TEXT_LIST_DETACHED));
    } else if (is_open && strptime(created, "%Y-%m-%dT%H:%M:%S", &parts)) {
        int64_t since_s = (int64_t)(time(NULL) - timegm(&parts));

        add_duration(&waited, since_s > 0 ? since_s : 0);
        text_add_text(&line, "  ");
        i18n_format(&line, TEXT_BLOCKED, "time", text_string(&waited), NULL);
    }
    say_row(TEXT_ROW_ASKED, text_string(&line));
    text_release(&line);
    text_release(&waited);
}

static void print_facts(const struct json *ask)
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
    if (directory)
        say_row(TEXT_ROW_DIRECTORY, directory);
    print_asked(ask);
    if (json_member_integer(ask, "remaining_seconds", -1) >= 0) {
        snprintf(left, sizeof left, "%lld s",
                 (long long)json_member_integer(ask, "remaining_seconds", 0));
        say_row(TEXT_ROW_LEFT, left);
    }
    text_release(&line);
}

/* What an option would look like; not coloured here, but whole. */
static void print_preview(const struct json *preview)
{
    const char *language = json_member_text(preview, "language");
    const char *type = json_member_text(preview, "type");
    struct text line = { 0 };

    say_add_shown(&line, language ? language : type);
    printf("      %s (%s):\n", i18n_text(TEXT_SHOW_PREVIEW), text_string(&line));
    say_lines(json_member_text(preview, "text"), 8);
    text_release(&line);
}

static void print_option(const struct json *option)
{
    const char *description = json_member_text(option, "description");
    const char *note = json_member_text(option, "annotation");
    struct text line = { 0 };

    say_add_shown(&line, json_member_text(option, "id"));
    text_add_text(&line, "  ");
    say_add_shown(&line, json_member_text(option, "label"));
    if (json_is_yes(json_member(option, "recommended")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_RECOMMENDED));
    if (json_is_yes(json_member(option, "default")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_SHOW_DEFAULT));
    printf("  - %s\n", text_string(&line));
    if (description)
        say_lines(description, 6);
    if (note) {
        text_clear(&line);
        say_add_shown(&line, note);
        printf("      %s: %s\n", i18n_text(TEXT_ROW_NOTE), text_string(&line));
    }
    if (json_member(option, "preview"))
        print_preview(json_member(option, "preview"));
    text_release(&line);
}

/* What may be answered: how many options, or one's own words, and what stands there now. As rows,
 * where the agent's words never stand. */
static void print_limits(const struct json *field)
{
    const char *kind = json_member_text(field, "kind");
    const char *placeholder = json_member_text(field, "placeholder");
    int64_t options = (int64_t)json_length(json_member(field, "options"));
    int64_t least = json_member_integer(field, "min_selections", 0);
    int64_t most = json_member_integer(field, "max_selections", options);
    bool may_write = strcmp(kind, "hybrid") == 0;
    enum text_id text = may_write ? TEXT_CHOOSE_RANGE_OR_WRITE : TEXT_CHOOSE_RANGE;
    struct text line = { 0 };
    char min[24], max[24];

    if (strcmp(kind, "text") == 0)
        text = TEXT_OWN_WORDS;
    else if (least == most && most == 1 && !may_write)
        text = TEXT_CHOOSE_ONE;
    else if (least == most)
        text = may_write ? TEXT_CHOOSE_COUNT_OR_WRITE : TEXT_CHOOSE_COUNT;
    snprintf(min, sizeof min, "%lld", (long long)least);
    snprintf(max, sizeof max, "%lld", (long long)most);
    i18n_format(&line, text, "min", min, "max", max, NULL);
    say_row(TEXT_ROW_LIMITS, text_string(&line));
    if (placeholder && json_is_yes(json_member(field, "placeholder_visible")))
        say_row(TEXT_ROW_PLACEHOLDER, placeholder);
    text_release(&line);
}

static void print_form(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");
    struct text title = { 0 };

    say_add_shown(&title, json_member_text(form, "title"));
    printf("\n  %s\n\n", text_string(&title));
    text_release(&title);
    say_lines(json_member_text(form, "prompt"), 2);
    printf("\n");
    for (size_t i = 0; i < json_length(fields); i++) {
        const struct json *options = json_member(json_item(fields, i), "options");

        for (size_t k = 0; k < json_length(options); k++)
            print_option(json_item(options, k));
    }
}

static void print_result(const struct json *ask, const struct json *result)
{
    const struct json *selection = json_member(result, "selection");
    const struct json *by = json_member(ask, "answered_by");
    const char *summary = json_member_text(selection, "summary");
    const char *note = json_member_text(selection, "global_annotation");
    struct text line = { 0 };

    if (state_is_open(state_find(json_member_text(ask, "status"))))
        return;
    printf("\n");
    if (json_member_text(selection, "custom_input"))
        say_lines(json_member_text(selection, "custom_input"), 2);
    if (summary)
        say_row(TEXT_ROW_ANSWER, summary);
    if (note)
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
        text_add_format(&line, ", %s", json_member_text(ask, "decided_at"));
        say_row(TEXT_ROW_BY, text_string(&line));
    }
    text_release(&line);
}

static void print_whole(const struct arguments *arguments, const struct json *got)
{
    const struct json *fields = json_member(json_member(got, "form"), "fields");
    char *printed;

    if (arguments->is_json) {
        printed = json_encode(got);
        say_json(printed);
        free(printed);
        return;
    }
    print_facts(json_member(got, "ask"));
    for (size_t i = 0; i < json_length(fields); i++)
        print_limits(json_item(fields, i));
    print_form(json_member(got, "form"));
    print_result(json_member(got, "ask"), json_member(got, "result"));
}

static enum exit_code run_show(const struct arguments *arguments)
{
    char *params = call_id_params(arguments->word_count ? arguments->words[0] : NULL);
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    bool ok = call_open(arguments, &call_person, LINK_MAY_START, &link) &&
              call_hub(arguments, link, "ask/get", params, &reply);

    if (ok)
        print_whole(arguments, reply.result);
    wire_release(&reply);
    link_close(link);
    free(params);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static const char *const usage[] = { "show [ID]", NULL };
static const char *const examples[] = { "show k3f7", "show k3f7 --json", NULL };
const struct verb verb_show = {
    .name = "show",
    .about = TEXT_CLI_SHOW,
    .usage = usage,
    .examples = examples,
    .most_words = 1,
    .run = run_show,
};
