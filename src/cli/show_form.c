/* show_form.c - see show_form.h. */
#include "cli/show_form.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/say.h"
#include "core/sensitive.h"

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

/* How many options, or one's own words. */
static void print_choice(const struct json *field)
{
    const char *kind = json_member_text(field, "kind");
    int64_t options = (int64_t)json_length(json_member(field, "options"));
    int64_t least = json_member_integer(field, "min_selections", 0);
    int64_t most = json_member_integer(field, "max_selections", options);
    bool may_write = strcmp(kind, "hybrid") == 0;
    enum text_id text = may_write ? TEXT_CHOOSE_RANGE_OR_WRITE : TEXT_CHOOSE_RANGE;
    char min[24], max[24];

    if (least == most && most == 1 && !may_write)
        text = TEXT_CHOOSE_ONE;
    else if (least == most)
        text = may_write ? TEXT_CHOOSE_COUNT_OR_WRITE : TEXT_CHOOSE_COUNT;
    snprintf(min, sizeof min, "%lld", (long long)least);
    snprintf(max, sizeof max, "%lld", (long long)most);
    printf("  ");
    say_result(text, "min", min, "max", max, NULL);
}

/* Adds to the list in brackets behind a field's line. */
static void add_remark(struct text *remarks, const char *words)
{
    text_add_text(remarks, remarks->used ? "; " : "");
    say_add_shown(remarks, words);
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

static void print_line(enum text_id text, const char *min, const char *max,
                       const struct text *remarks)
{
    struct text line = { 0 };

    i18n_format(&line, text, "min", min, "max", max, NULL);
    if (remarks->used)
        text_add_format(&line, " (%s)", text_string(remarks));
    printf("  %s\n", text_string(&line));
    text_release(&line);
}

static void print_number(const struct json *field, struct text *remarks)
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
    char min[32], max[32], shown[64];

    if (unit)
        add_remark(remarks, unit);
    if (json_is_yes(json_member(field, "integer")))
        add_remark(remarks, i18n_text(TEXT_NUMBER_WHOLE));
    if (step > 0)
        add_bound(remarks, TEXT_NUMBER_STEP, "step", step);
    if (preset) {
        snprintf(shown, sizeof shown, "%s: %.15g", i18n_text(TEXT_SHOW_DEFAULT),
                 json_number_of(preset));
        add_remark(remarks, shown);
    }
    snprintf(min, sizeof min, "%.15g", json_number_of(minimum));
    snprintf(max, sizeof max, "%.15g", json_number_of(maximum));
    print_line(text, min, max, remarks);
}

static void print_confirm(const struct json *field, struct text *remarks)
{
    const char *preset = json_member_text(field, "default_confirm");
    char shown[64];

    if (preset) {
        snprintf(shown, sizeof shown, "%s: %s", i18n_text(TEXT_SHOW_DEFAULT), preset);
        add_remark(remarks, shown);
    }
    print_line(TEXT_YES_OR_NO, "", "", remarks);
}

static void print_row(enum text_id label, const char *words)
{
    struct text line = { 0 };

    if (words) {
        say_add_shown(&line, words);
        printf("  %s: %s\n", i18n_text(label), text_string(&line));
    }
    text_release(&line);
}

static void print_text(const struct json *field, struct text *remarks)
{
    const char *format = json_member_text(field, "format");
    int64_t least = json_member_integer(field, "min_chars", 0);
    int64_t most = json_member_integer(field, "max_chars", 0);

    if (format)
        add_remark(remarks, format);
    if (least > 0)
        add_bound(remarks, TEXT_CHARS_LEAST, "min", (double)least);
    if (most > 0)
        add_bound(remarks, TEXT_CHARS_MOST, "max", (double)most);
    print_line(TEXT_OWN_WORDS, "", "", remarks);
    print_row(TEXT_SHOW_DEFAULT, json_member_text(field, "default_text"));
}

/* What may be answered, and what stands there now. */
static void print_limits(const struct json *field, struct text *remarks)
{
    const char *kind = json_member_text(field, "kind");

    if (strcmp(kind, "number") == 0)
        print_number(field, remarks);
    else if (strcmp(kind, "confirm") == 0)
        print_confirm(field, remarks);
    else if (strcmp(kind, "text") == 0)
        print_text(field, remarks);
    else
        print_choice(field);
    if (json_is_yes(json_member(field, "placeholder_visible")))
        print_row(TEXT_ROW_PLACEHOLDER, json_member_text(field, "placeholder"));
}

/* The name is what --field takes; where --select or --text does without it, it is left out. */
static void print_field(const struct json *field, bool is_named)
{
    const struct json *options = json_member(field, "options");
    const char *kind = json_member_text(field, "kind");
    const char *label = json_member_text(field, "label");
    struct text line = { 0 }, remarks = { 0 };

    if (is_named || strcmp(kind, "number") == 0 || strcmp(kind, "confirm") == 0) {
        say_add_shown(&line, json_member_text(field, "name"));
        text_add_text(&line, label ? ": " : "");
        say_add_shown(&line, label ? label : "");
        printf("  [%s]\n", text_string(&line));
    }
    if (json_member_text(field, "description"))
        say_lines(json_member_text(field, "description"), 4);
    if (is_named && !json_is_yes(json_member(field, "required")))
        add_remark(&remarks, i18n_text(TEXT_FIELD_OPTIONAL));
    print_limits(field, &remarks);
    for (size_t i = 0; i < json_length(options); i++)
        print_option(json_item(options, i));
    text_release(&line);
    text_release(&remarks);
}

void show_form(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");
    const char *words = json_member_text(form, "title");
    const char *prompt = json_member_text(form, "prompt");
    struct text title = { 0 };

    say_add_shown(&title, words);
    printf("\n  %s\n\n", text_string(&title));
    text_release(&title);
    if (strcmp(words, prompt) != 0) { /* one line was all there was to say */
        say_lines(prompt, 2);
        printf("\n");
    }
    if (sensitive_is_mentioned(words) || sensitive_is_mentioned(prompt))
        printf("! %s\n\n", i18n_text(TEXT_MENTIONS_SECRET));
    for (size_t i = 0; i < json_length(fields); i++)
        print_field(json_item(fields, i), json_length(fields) > 1);
}
