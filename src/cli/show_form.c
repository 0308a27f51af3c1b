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
    if (strcmp(json_member_text(option, "id"), json_member_text(option, "label")) != 0) {
        text_add_text(&line, "  ");
        say_add_shown(&line, json_member_text(option, "label"));
    }
    if (json_is_yes(json_member(option, "recommended")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_RECOMMENDED));
    if (json_is_yes(json_member(option, "destructive")))
        text_add_format(&line, "  (%s)", i18n_text(TEXT_DESTRUCTIVE));
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
static void add_choice(struct text *out, const struct json *field)
{
    const char *kind = json_member_text(field, "kind");
    int64_t options = (int64_t)json_length(json_member(field, "options"));
    int64_t least = json_member_integer(field, "min_selections", 0);
    int64_t most = json_member_integer(field, "max_selections", options);
    bool may_write = strcmp(kind, "hybrid") == 0;
    enum text_id text = may_write ? TEXT_CHOOSE_RANGE_OR_WRITE : TEXT_CHOOSE_RANGE;

    if (least == most && most == 1 && !may_write)
        text = TEXT_CHOOSE_ONE;
    else if (least == most)
        text = may_write ? TEXT_CHOOSE_COUNT_OR_WRITE : TEXT_CHOOSE_COUNT;
    i18n_format(out, text, "min", say_number(least), "max", say_number(most), NULL);
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
    char min[32], max[32], value[32];

    snprintf(min, sizeof min, "%.15g", json_number_of(minimum));
    snprintf(max, sizeof max, "%.15g", json_number_of(maximum));
    snprintf(value, sizeof value, "%.15g", json_number_of(preset));
    i18n_format(out, text, "min", min, "max", max, NULL);
    if (unit)
        add_remark(remarks, unit);
    if (json_is_yes(json_member(field, "integer")))
        add_remark(remarks, i18n_text(TEXT_NUMBER_WHOLE));
    if (step > 0)
        add_bound(remarks, TEXT_NUMBER_STEP, "step", step);
    if (preset)
        add_default(remarks, value);
}

static void add_confirm(struct text *out, struct text *remarks, const struct json *field)
{
    const char *preset = json_member_text(field, "default_confirm");

    i18n_format(out, TEXT_YES_OR_NO, NULL);
    if (preset)
        add_default(remarks, preset);
}

static void add_words(struct text *out, struct text *remarks, const struct json *field)
{
    const char *format = json_member_text(field, "format");
    int64_t least = json_member_integer(field, "min_chars", 0);
    int64_t most = json_member_integer(field, "max_chars", 0);

    i18n_format(out, TEXT_OWN_WORDS, NULL);
    if (format)
        add_remark(remarks, format);
    if (least > 0)
        add_bound(remarks, TEXT_CHARS_LEAST, "min", (double)least);
    if (most > 0)
        add_bound(remarks, TEXT_CHARS_MOST, "max", (double)most);
}

/* The name is what --field takes; where --select or --text does without it, it is left out. */
static bool is_named(const struct json *form, const struct json *field)
{
    const char *kind = json_member_text(field, "kind");

    return json_length(json_member(form, "fields")) > 1 || strcmp(kind, "number") == 0 ||
           strcmp(kind, "confirm") == 0;
}

static void print_limits(const struct json *form, const struct json *field)
{
    const char *kind = json_member_text(field, "kind");
    const char *placeholder = json_member_text(field, "placeholder");
    struct text line = { 0 }, remarks = { 0 };

    if (is_named(form, field))
        text_add_format(&line, "%s: ", json_member_text(field, "name"));
    if (strcmp(kind, "number") == 0)
        add_number(&line, &remarks, field);
    else if (strcmp(kind, "confirm") == 0)
        add_confirm(&line, &remarks, field);
    else if (strcmp(kind, "text") == 0)
        add_words(&line, &remarks, field);
    else
        add_choice(&line, field);
    if (json_length(json_member(form, "fields")) > 1 &&
        !json_is_yes(json_member(field, "required")))
        add_remark(&remarks, i18n_text(TEXT_FIELD_OPTIONAL));
    if (remarks.used)
        text_add_format(&line, " (%s)", text_string(&remarks));
    say_row(TEXT_ROW_LIMITS, text_string(&line));
    if (placeholder && json_is_yes(json_member(field, "placeholder_visible")))
        say_row(TEXT_ROW_PLACEHOLDER, placeholder);
    text_release(&line);
    text_release(&remarks);
}

static bool mentions_secret(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");
    bool is_mentioned = sensitive_is_mentioned(json_member_text(form, "title")) ||
                        sensitive_is_mentioned(json_member_text(form, "prompt"));

    for (size_t i = 0; i < json_length(fields); i++) {
        const char *label = json_member_text(json_item(fields, i), "label");

        is_mentioned = is_mentioned || (label && sensitive_is_mentioned(label));
    }
    return is_mentioned;
}

void show_limits(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");

    for (size_t i = 0; i < json_length(fields); i++)
        print_limits(form, json_item(fields, i));
    if (mentions_secret(form))
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

void show_form(const struct json *form)
{
    const struct json *fields = json_member(form, "fields");
    const char *title = json_member_text(form, "title");
    const char *prompt = json_member_text(form, "prompt");
    const char *note = json_member_text(form, "global_annotation");
    struct text line = { 0 };

    say_add_shown(&line, title);
    printf("\n  %s\n\n", text_string(&line));
    if (*prompt && strcmp(title, prompt) != 0) { /* else one line was all there was to say */
        say_lines(prompt, 2);
        printf("\n");
    }
    for (size_t i = 0; i < json_length(fields); i++)
        print_field(json_item(fields, i), json_length(fields) > 1);
    if (note && *note) {
        text_clear(&line);
        say_add_shown(&line, note);
        printf("  %s: %s\n", i18n_text(TEXT_ROW_NOTE), text_string(&line));
    }
    text_release(&line);
}
