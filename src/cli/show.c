/* show.c - `sayso show`: one ask whole. What may be answered goes among our rows, where the agent's
 * words never begin a line; what is asked is the agent's, and indented. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/fields/field_class.h"
#include "core/lifecycle.h"
#include "core/visible_text.h"
#include "tui/facts.h"

static void print_note(int indent, const char *note)
{
    printf("%*s%s", indent, "", i18n_text(TEXT_ROW_NOTE));
    say_words(": ", note, "\n");
}

static void print_option(const struct json *option)
{
    const char *description = json_member_text(option, "description");
    const char *note = json_member_text(option, "annotation");
    const struct json *preview = json_member(option, "preview");
    const char *language = json_member_text(preview, "language");
    struct text line = { 0 };

    say_add_shown(&line, json_member_text(option, "id"));
    if (strcmp(json_member_text(option, "id"), json_member_text(option, "label")) != 0) {
        text_add_text(&line, "  ");
        say_add_shown(&line, json_member_text(option, "label"));
    }
    if (json_is_true(json_member(option, "recommended")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_RECOMMENDED));
    if (json_is_true(json_member(option, "destructive")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_DESTRUCTIVE));
    if (json_is_true(json_member(option, "default")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_SHOW_DEFAULT));
    printf("  - %s\n", text_string(&line));
    if (description)
        say_lines(description, 6);
    if (note)
        print_note(6, note);
    if (preview) { /* what it would look like; not colored here, but whole */
        printf("      %s (", i18n_text(TEXT_SHOW_PREVIEW));
        say_words("", language ? language : json_member_text(preview, "type"), "):\n");
        say_lines(json_member_text(preview, "text"), 8);
    }
    text_release(&line);
}

static const struct field_class *class_of_json(const struct json *field)
{
    return class_find(json_member_text(field, "kind"));
}

/* How many options, or one's own words. */
static void add_choice(struct text *out, const struct json *field)
{
    int64_t options = (int64_t)json_length(json_member(field, "options"));
    int64_t min = json_member_integer(field, "min_selections", 0);
    int64_t max = json_member_integer(field, "max_selections", options);
    bool may_write = class_of_json(field)->has_words;
    enum text_id text = may_write ? TEXT_CHOOSE_RANGE_OR_WRITE : TEXT_CHOOSE_RANGE;

    if (min == max && max == 1 && !may_write)
        text = TEXT_CHOOSE_ONE;
    else if (min == max)
        text = may_write ? TEXT_CHOOSE_COUNT_OR_WRITE : TEXT_CHOOSE_COUNT;
    i18n_format(out, text, "min", TEXT_NUMBER(min), "max", TEXT_NUMBER(max), NULL);
}

/* Adds to the list of what else is to be known. */
static void add_remark(struct text *remarks, const char *words)
{
    text_add_text(remarks, remarks->used ? "; " : "");
    text_add_text(remarks, words);
}

static void add_bound(struct text *remarks, enum text_id text, const char *name, double bound)
{
    struct text words = { 0 };
    char number[32];

    snprintf(number, sizeof number, "%.15g", bound);
    i18n_format(&words, text, name, number, NULL);
    add_remark(remarks, text_string(&words));
    text_release(&words);
}

static void add_default(struct text *remarks, const char *value)
{
    add_remark(remarks, i18n_text(TEXT_SHOW_DEFAULT));
    text_add_format(remarks, ": %s", value);
}

static void add_number(struct text *out, struct text *remarks, const struct json *field)
{
    const struct json *minimum = json_member(field, "minimum");
    const struct json *maximum = json_member(field, "maximum");
    const struct json *preset = json_member(field, "default_number");
    const char *unit = json_member_text(field, "unit");
    double step = json_number_of(json_member(field, "step"));
    enum text_id text = minimum && maximum ? TEXT_NUMBER_RANGE
                        : minimum          ? TEXT_NUMBER_LEAST
                        : maximum          ? TEXT_NUMBER_MOST
                                           : TEXT_NUMBER_ANY;
    char min_text[32], max_text[32], value[32];

    snprintf(min_text, sizeof min_text, "%.15g", json_number_of(minimum));
    snprintf(max_text, sizeof max_text, "%.15g", json_number_of(maximum));
    snprintf(value, sizeof value, "%.15g", json_number_of(preset));
    i18n_format(out, text, "min", min_text, "max", max_text, NULL);
    if (unit)
        add_remark(remarks, unit);
    if (json_is_true(json_member(field, "integer")))
        add_remark(remarks, i18n_text(TEXT_NUMBER_WHOLE));
    if (step > 0)
        add_bound(remarks, TEXT_NUMBER_STEP, "step", step);
    if (preset)
        add_default(remarks, value);
}

static void add_words(struct text *out, struct text *remarks, const struct json *field)
{
    const char *format = json_member_text(field, "format");
    int64_t min = json_member_integer(field, "min_chars", 0);
    int64_t max = json_member_integer(field, "max_chars", 0);

    text_add_text(out, i18n_text(TEXT_OWN_WORDS));
    if (format)
        add_remark(remarks, format);
    if (min > 0)
        add_bound(remarks, TEXT_CHARS_LEAST, "min", (double)min);
    if (max > 0)
        add_bound(remarks, TEXT_CHARS_MOST, "max", (double)max);
}

static void print_limits(const struct json *form, const struct json *field)
{
    const struct field_class *class = class_of_json(field);
    const char *placeholder = json_member_text(field, "placeholder");
    const char *preset = json_member_text(field, "default_confirm");
    bool is_alone = json_length(json_member(form, "fields")) == 1;
    struct text line = { 0 }, remarks = { 0 };

    if (!is_alone || class_is_scalar(class)) /* else --select and --text do without it */
        text_add_format(&line, "%s: ", json_member_text(field, "name"));
    if (class->is_number)
        add_number(&line, &remarks, field);
    else if (class->is_yes_no)
        text_add_text(&line, i18n_text(TEXT_YES_OR_NO));
    else if (class_is_text(class))
        add_words(&line, &remarks, field);
    else
        add_choice(&line, field);
    if (class->is_yes_no && preset)
        add_default(&remarks, preset);
    if (!is_alone && !json_is_true(json_member(field, "required")))
        add_remark(&remarks, i18n_text(TEXT_FIELD_OPTIONAL));
    if (remarks.used)
        text_add_format(&line, " (%s)", text_string(&remarks));
    say_row(TEXT_ROW_LIMITS, text_string(&line));
    if (placeholder && json_is_true(json_member(field, "placeholder_visible")))
        say_row(TEXT_ROW_PLACEHOLDER, placeholder);
    text_release(&line);
    text_release(&remarks);
}

/* What may be answered. */
static void show_limits(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");
    bool is_mentioned = sensitive_is_mentioned(json_member_text(form, "title")) ||
                        sensitive_is_mentioned(json_member_text(form, "prompt"));

    for (size_t i = 0; i < json_length(fields); i++) {
        const char *label = json_member_text(json_item(fields, i), "label");

        print_limits(form, json_item(fields, i));
        is_mentioned = is_mentioned || (label && sensitive_is_mentioned(label));
    }
    if (is_mentioned)
        printf("! %s\n", i18n_text(TEXT_MENTIONS_SECRET));
}

static void print_field(const struct json *field, bool has_heading)
{
    const struct json *options = json_member(field, "options");
    const char *label = json_member_text(field, "label");
    const char *description = json_member_text(field, "description");
    const char *preset = json_member_text(field, "default_text");
    const char *header = json_member_text(field, "header");
    const char *heading = header ? header : label;
    struct text line = { 0 };

    if (has_heading) {
        say_add_shown(&line, json_member_text(field, "name"));
        text_add_text(&line, heading ? ": " : "");
    }
    if (heading && (has_heading || header))
        say_add_shown(&line, heading);
    if (line.used)
        printf("  [%s]\n", text_string(&line));
    if (has_heading && header)
        say_lines(label, 4);
    if (description)
        say_lines(description, 4);
    if (preset) {
        printf("    (%s)\n", i18n_text(TEXT_SHOW_DEFAULT));
        say_lines(preset, 6);
    }
    for (size_t i = 0; i < json_length(options); i++)
        print_option(json_item(options, i));
    text_release(&line);
}

static void show_form(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");
    const char *title = json_member_text(form, "title");
    const char *prompt = json_member_text(form, "prompt");
    const char *note = json_member_text(form, "global_annotation");

    say_words("\n  ", title, "\n\n");
    if (*prompt && strcmp(title, prompt) != 0) { /* else one line was all there was to say */
        say_lines(prompt, 2);
        printf("\n");
    }
    for (size_t i = 0; i < json_length(fields); i++)
        print_field(json_item(fields, i), json_length(fields) > 1);
    if (note && *note)
        print_note(2, note);
}

/* When it was asked and, while the agent waits, for how long that has been blocked (R5.8). */
static void print_asked(const struct arguments *arguments, const struct json *ask)
{
    const struct json *created = json_member(ask, "created_at");
    int64_t since_s = (int64_t)time(NULL) - facts_time(created) / 1000;
    bool is_open = state_is_open(state_find(json_member_text(ask, "status")));
    struct text line = { 0 }, waited = { 0 };

    say_add_time(arguments, &line, created);
    if (is_open && json_is_true(json_member(ask, "detached"))) {
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
    const char *status = json_member_text(ask, "status");
    struct text line = { 0 };
    int64_t left_s = json_member_integer(ask, "remaining_seconds", -1);

    say_add_agent(&line, ask);
    say_row(TEXT_ROW_ID, json_member_text(ask, "session_id"));
    say_row(TEXT_ROW_STATUS, state_text(state_find(status)));
    if (json_is_true(json_member(ask, "destructive")))
        printf("%s\n", i18n_text(TEXT_DESTRUCTIVE_TWO_ACTS));
    say_row(TEXT_ROW_AGENT, text_string(&line));
    say_row(TEXT_ROW_DIRECTORY, json_member_text(json_member(ask, "origin"), "directory"));
    print_asked(arguments, ask);
    text_clear(&line);
    if (left_s >= 0) {
        facts_add_clock(&line, left_s * 1000);
        say_row(TEXT_ROW_LEFT, text_string(&line));
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
    const struct json *fields = json_member(answer, "fields");
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
        for (void *it = json_first(fields); it; it = json_next(fields, it)) {
            if (!json_text(json_value(it)))
                continue;
            say_words("  ", json_key(it), ":\n"); /* what a summary would cut is printed whole */
            say_lines(json_text(json_value(it)), 4);
        }
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

/* What was asked back, explained and told late, a line each; the hub made all harmless. */
static void print_talk(const struct json *talk)
{
    for (size_t i = 0; i < json_length(talk); i++) {
        const struct json *said = json_item(talk, i), *yes = json_member(said, "confirmed");
        bool is_late = json_is_true(json_member(said, "after_deadline"));
        const char *by = json_member_text(said, "by"), *text = json_member_text(said, "text");

        if (yes)
            say_row(TEXT_ROW_TOLD, i18n_text(json_is_true(yes) ? TEXT_TUI_YES : TEXT_TUI_NO));
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

static bool finish(const struct arguments *arguments, struct client *link, const struct json *got)
{
    bool ok = call_expect(arguments, json_member(got, "ask"), "created_at");

    (void)link;
    if (ok)
        show_whole(arguments, got);
    return ok;
}

static const struct act acts[] = {
    { .method = "ask/get", .write = act_write_session, .finish = finish }
};
static const struct verb_option options[] = { { "utc", 0, NULL, TEXT_OPT_UTC, false } };
static const char *const usage[] = { "show [ID] [--utc]", NULL };
static const char *const examples[] = { "show k3f7", "show k3f7 --json", NULL };
VERB_ACTS(show, TEXT_CLI_SHOW, VERB_TABLES, .max_words = 1, .works_remotely = true);
