/* validation.c - the rules between arguments, in the order in which they are reported. */
#include "core/tools/validation.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

/* What a rule is about: asks by what their field takes, or calls that collect. */
enum {
    SINGLE = 1,
    MULTI = 2,
    TEXT = 4,
    HYBRID = 8,
    COLLECT = 16,
    OPTIONS = SINGLE | MULTI | HYBRID,
    ASK = OPTIONS | TEXT,
};

bool validation_refuse(const struct rule *rule, size_t item, struct error *err, enum text_id text,
                       ...)
{
    char path[sizeof err->path];
    struct error one;
    va_list arguments;

    if (item == RULE_WHOLE)
        snprintf(path, sizeof path, "/%s", rule->argument);
    else
        snprintf(path, sizeof path, "/%s/%zu%s", rule->argument, item, rule->property);
    va_start(arguments, text);
    error_say_list(&one, rule->code, path, text, arguments);
    va_end(arguments);
    return error_add(err, &one);
}

bool validation_is_given(const struct subject *subject, const char *argument)
{
    return json_member(subject->arguments, argument) != NULL;
}

bool validation_is_said(const struct rule *rule, const struct subject *subject)
{
    const struct json *value = json_member(subject->arguments, rule->argument);
    const struct argument *row =
        argument_find(subject->tool->arguments, subject->tool->argument_count, rule->argument);

    return value && !argument_says_nothing(row, value);
}

bool validation_run(const struct rule *rules, size_t count, unsigned calls,
                    const struct subject *subject, struct error *err)
{
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        if (rules[i].calls & calls)
            ok = rules[i].holds(&rules[i], subject, err) && ok;
    }
    return ok;
}

static bool collects_alone(const struct rule *rule, const struct subject *subject,
                           struct error *err)
{
    static const char *const companions[] = { "session_id", "wait_seconds", "interface" };
    bool is_alone = true;

    for (size_t i = 0; i < subject->tool->argument_count; i++) {
        const struct rule other = { .argument = subject->tool->arguments[i].name };

        is_alone = is_alone && (text_is_among(other.argument, companions, ARRAY_LEN(companions)) ||
                                !validation_is_said(&other, subject));
    }
    return is_alone || validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_COLLECTS, NULL);
}

static bool waits_for_something(const struct rule *rule, const struct subject *subject,
                                struct error *err)
{
    return !validation_is_said(rule, subject) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_WAITS, NULL);
}

static bool is_not_given(const struct rule *rule, const struct subject *subject, struct error *err)
{
    const char *mode = json_member_text(subject->arguments, "selection_mode");
    const struct json *value = json_member(subject->arguments, rule->argument);
    const struct field_class *class = class_of(subject->field);
    int64_t count = 0;

    if (!validation_is_said(rule, subject) ||
        (class->is_exclusive && json_integer_of(value, &count) && count == 1) ||
        (!class->has_options && json_kind(value) == KIND_BOOL && !json_is_yes(value)))
        return true; /* so it is anyway: exactly one, and nothing to pick */
    return validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_MODE, "name", rule->argument,
                             "mode", mode, NULL);
}

bool validation_ids_differ(const struct rule *rule, const struct subject *subject,
                           struct error *err)
{
    size_t first, second;

    return !field_find_same_ids(subject->field, &first, &second) ||
           validation_refuse(rule, second, err, TEXT_REASON_CHOICE_SAME, "one", TEXT_NUMBER(first),
                             "other", TEXT_NUMBER(second), "name",
                             *rule->property ? rule->property + 1 : "value", NULL);
}

bool validation_labels_differ(const struct rule *rule, const struct subject *subject,
                              struct error *err)
{
    size_t first, second;

    return !field_find_same_labels(subject->field, &first, &second) ||
           validation_refuse(rule, second, err, TEXT_REASON_CHOICE_LABELS, "one",
                             TEXT_NUMBER(first), "other", TEXT_NUMBER(second), NULL);
}

static bool one_is_recommended(const struct rule *rule, const struct subject *subject,
                               struct error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < subject->field->option_count; i++) {
        count += subject->field->options[i].is_recommended;
        if (count > 1)
            return validation_refuse(rule, i, err, TEXT_REASON_CHOICE_ONE_RECOMMENDED, NULL);
    }
    return true;
}

static bool defaults_are_options(const struct rule *rule, const struct subject *subject,
                                 struct error *err)
{
    const struct json *ids = json_member(subject->arguments, rule->argument);

    for (size_t i = 0; i < json_length(ids); i++) {
        const struct json *id = json_item(ids, i);
        char quote[ARGUMENT_QUOTE_BYTES];

        if (field_find_option(subject->field, json_text(id)))
            continue;
        arguments_quote(json_text(id), json_length(id), quote);
        return validation_refuse(rule, i, err, TEXT_REASON_CHOICE_NO_SUCH_ID, "id", quote, NULL);
    }
    return true;
}

static bool defaults_are_unique(const struct rule *rule, const struct subject *subject,
                                struct error *err)
{
    const struct json *ids = json_member(subject->arguments, rule->argument);
    bool is_seen[LIMIT_OPTIONS] = { false };

    for (size_t i = 0; i < json_length(ids); i++) {
        const struct option *option =
            field_find_option(subject->field, json_text(json_item(ids, i)));
        size_t index = (size_t)(option - subject->field->options);

        if (!option)
            continue;
        if (is_seen[index])
            return validation_refuse(rule, i, err, TEXT_REASON_CHOICE_ID_TWICE, NULL);
        is_seen[index] = true;
    }
    return true;
}

static bool max_is_reachable(const struct rule *rule, const struct subject *subject,
                             struct error *err)
{
    const struct field *field = subject->field;

    return field->max_selections <= (int64_t)field->option_count ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_MAX, "count",
                             TEXT_NUMBER(field->option_count), "most",
                             TEXT_NUMBER(field->option_count), NULL);
}

static bool min_is_below_max(const struct rule *rule, const struct subject *subject,
                             struct error *err)
{
    const struct field *field = subject->field;

    return !validation_is_given(subject, "max_selections") ||
           field->min_selections <= field->max_selections ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_MIN_MAX, "most",
                             TEXT_NUMBER(field->max_selections), NULL);
}

static bool min_is_reachable(const struct rule *rule, const struct subject *subject,
                             struct error *err)
{
    const struct field *field = subject->field;

    return field->min_selections <= (int64_t)field->option_count ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_MIN, "count",
                             TEXT_NUMBER(field->option_count), "most",
                             TEXT_NUMBER(field->option_count), NULL);
}

static bool defaults_fit(const struct rule *rule, const struct subject *subject, struct error *err)
{
    size_t count = json_length(json_member(subject->arguments, rule->argument));

    return (int64_t)count <= subject->field->max_selections ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_DEFAULTS, "count",
                             TEXT_NUMBER(count), "most",
                             TEXT_NUMBER(subject->field->max_selections), NULL);
}

static bool one_pick_is_enough(const struct rule *rule, const struct subject *subject,
                               struct error *err)
{
    return !json_is_yes(json_member(subject->arguments, rule->argument)) ||
           subject->field->min_selections <= 1 ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_FIRST_PICK, "least",
                             TEXT_NUMBER(subject->field->min_selections), NULL);
}

static bool some_are_recommended(const struct rule *rule, const struct subject *subject,
                                 struct error *err)
{
    for (size_t i = 0; i < subject->field->option_count; i++) {
        if (subject->field->options[i].is_recommended)
            return true;
    }
    return validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_NONE_RECOMMENDED, NULL);
}

static bool prompt_says_enough(const struct rule *rule, const struct subject *subject,
                               struct error *err)
{
    const char *prompt = subject->form->prompt;
    size_t count = visible_count(prompt, strlen(prompt), LIMIT_PROMPT_CHARS_MIN);

    return count >= LIMIT_PROMPT_CHARS_MIN ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_CHOICE_SHORT, "count",
                             TEXT_NUMBER(count), "least", TEXT_NUMBER(LIMIT_PROMPT_CHARS_MIN),
                             NULL);
}

static const struct rule choice_rules[] = {
    { COLLECT, ERROR_conflicting_arguments, "session_id", "", collects_alone },
    { ASK, ERROR_conflicting_arguments, "wait_seconds", "", waits_for_something },
    { TEXT, ERROR_unsupported_flag, "options", "", is_not_given },
    { SINGLE | MULTI, ERROR_unsupported_flag, "placeholder", "", is_not_given },
    { SINGLE | MULTI, ERROR_unsupported_flag, "placeholder_visible", "", is_not_given },
    { TEXT, ERROR_unsupported_flag, "default_selection_ids", "", is_not_given },
    { SINGLE | TEXT, ERROR_unsupported_flag, "min_selections", "", is_not_given },
    { SINGLE | TEXT, ERROR_unsupported_flag, "max_selections", "", is_not_given },
    { TEXT, ERROR_unsupported_flag, "single_submit_mode", "", is_not_given },
    { OPTIONS, ERROR_duplicate_option_id, "options", "/id", validation_ids_differ },
    { OPTIONS, ERROR_ambiguous_label, "options", "/label", validation_labels_differ },
    { SINGLE, ERROR_too_many_recommended, "options", "/recommended", one_is_recommended },
    { OPTIONS, ERROR_default_not_in_options, "default_selection_ids", "", defaults_are_options },
    { OPTIONS, ERROR_duplicate_default, "default_selection_ids", "", defaults_are_unique },
    { MULTI | HYBRID, ERROR_out_of_range, "max_selections", "", max_is_reachable },
    { MULTI | HYBRID, ERROR_min_exceeds_max, "min_selections", "", min_is_below_max },
    { MULTI | HYBRID, ERROR_min_exceeds_options, "min_selections", "", min_is_reachable },
    { OPTIONS, ERROR_too_many_defaults, "default_selection_ids", "", defaults_fit },
    { MULTI | HYBRID, ERROR_unsupported_flag, "single_submit_mode", "", one_pick_is_enough },
    { OPTIONS, ERROR_no_recommended_option, "options", "", some_are_recommended },
    { ASK, ERROR_too_short, "prompt", "", prompt_says_enough },
};

static unsigned calls_of(const struct field_class *class)
{
    if (!class->has_options)
        return TEXT;
    return class->has_words ? HYBRID : class->is_exclusive ? SINGLE : MULTI;
}

bool validation_check_choice(const struct json *arguments, const struct ask_call *call,
                             struct error *err)
{
    struct subject subject = { .tool = &tool_provide_choice,
                               .arguments = arguments,
                               .form = &call->form };
    unsigned calls = COLLECT;

    if (call->form.field_count > 0) {
        subject.field = &call->form.fields[0];
        calls = calls_of(class_of(subject.field));
    }
    return validation_run(choice_rules, ARRAY_LEN(choice_rules), calls, &subject, err);
}
