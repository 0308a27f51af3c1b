/* elicit_rules.c - the rules between the arguments of the elicit tools. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "core/tools/validation.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

/* What a rule is about. Of elicit_choice: where values and labels stand; of the others: what is
 * asked for. */
enum {
    BY_OPTIONS = 1,
    BY_ENUM = 2,
    PLAIN = 4, /* enum alone: values are labels */
    NAMES = 8,
    LABELS = 16,
    TEXT = 32,
    NUMBER = 64,
    FIELD = 128,
    SLIDER = 256,
    RATING = 512,
    ANY = 1023,
};

static bool stands_alone(const struct rule *rule, const struct subject *subject, struct error *err)
{
    return !validation_is_given(subject, rule->argument) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_SAME, "name", rule->argument,
                             NULL);
}

static bool is_not_given(const struct rule *rule, const struct subject *subject, struct error *err)
{
    return !validation_is_said(rule, subject) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_NO_MEANING, "name",
                             rule->argument, NULL);
}

static bool has_as_many(const struct rule *rule, const struct subject *subject, struct error *err)
{
    size_t values = json_length(json_member(subject->arguments, "enum"));
    size_t labels = json_length(json_member(subject->arguments, rule->argument));

    return values == labels ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_LABEL_COUNT, "name",
                             rule->argument, "count", TEXT_NUMBER(labels), "wanted",
                             TEXT_NUMBER(values), NULL);
}

static const struct rule choice_rules[] = {
    { BY_OPTIONS, ERROR_conflicting_arguments, "enum", "", stands_alone },
    { BY_OPTIONS, ERROR_unsupported_flag, "enumNames", "", is_not_given },
    { BY_OPTIONS, ERROR_unsupported_flag, "enumLabels", "", is_not_given },
    { NAMES, ERROR_conflicting_arguments, "enumLabels", "", stands_alone },
    { NAMES, ERROR_label_count_mismatch, "enumNames", "", has_as_many },
    { LABELS, ERROR_label_count_mismatch, "enumLabels", "", has_as_many },
    { BY_OPTIONS, ERROR_duplicate_option_id, "options", "/value", validation_ids_differ },
    { BY_ENUM, ERROR_duplicate_option_id, "enum", "", validation_ids_differ },
    { BY_OPTIONS, ERROR_ambiguous_label, "options", "/label", validation_labels_differ },
    { PLAIN, ERROR_ambiguous_label, "enum", "", validation_labels_differ },
    { NAMES, ERROR_ambiguous_label, "enumNames", "", validation_labels_differ },
    { LABELS, ERROR_ambiguous_label, "enumLabels", "", validation_labels_differ },
};

static struct subject subject_of(const struct ask_tool *tool, const struct json *arguments,
                                 const struct ask_call *call)
{
    return (struct subject){ tool, arguments, &call->form, &call->form.fields[0] };
}

bool validation_check_elicit_choice(const struct json *arguments, const struct ask_call *call,
                                    struct error *err)
{
    const struct subject subject = subject_of(&tool_elicit_choice, arguments, call);
    unsigned calls = BY_ENUM;

    if (validation_is_given(&subject, "options"))
        calls = BY_OPTIONS;
    else if (validation_is_given(&subject, "enumNames"))
        calls |= NAMES;
    else
        calls |= validation_is_given(&subject, "enumLabels") ? LABELS : PLAIN;
    return validation_run(choice_rules, ARRAY_LEN(choice_rules), calls, &subject, err);
}

static bool is_no_pattern(const struct rule *rule, const struct subject *subject, struct error *err)
{
    return !validation_is_said(rule, subject) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_PATTERN, NULL);
}

static bool is_no_secret(const struct rule *rule, const struct subject *subject, struct error *err)
{
    bool is_name = strcmp(rule->argument, "field_name") == 0;

    if (is_name ? !sensitive_is_name(subject->field->name)
                : !json_is_yes(json_member(subject->arguments, rule->argument)))
        return true;
    return validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ARG_SECRET, NULL);
}

/* Members of a result: a value under one of these names could not be told from ours. */
static const char *const taken_names[] = {
    "action",
    "session_id",
    "explicit",
    "auto_submitted",
    "withdrawn",
    "replayed",
    "answered_by",
    "answered_at",
    "instructions",
    "summary",
    "asked_back",
    "rule",
    "terminal_command",
    "url",
    "warnings",
    "notices",
    "error",
    "notices_more",
    "option_annotations",
    "field_annotations",
    "global_annotation",
    "action_status",
    "selection",
    "declined",
};

static bool name_is_free(const struct rule *rule, const struct subject *subject, struct error *err)
{
    return !text_is_among(subject->field->name, taken_names, ARRAY_LEN(taken_names)) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_MEMBER, NULL);
}

static bool chars_are_in_order(const struct rule *rule, const struct subject *subject,
                               struct error *err)
{
    return subject->field->max_chars == 0 ||
           subject->field->min_chars <= subject->field->max_chars ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_LENGTHS, "most",
                             TEXT_NUMBER(subject->field->max_chars), NULL);
}

static bool bounds_are_in_order(const struct rule *rule, const struct subject *subject,
                                struct error *err)
{
    const struct field *field = subject->field;

    return !field->has_minimum || !field->has_maximum || field->minimum <= field->maximum ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_BOUNDS, "most",
                             TEXT_SHORT(field->maximum), NULL);
}

static const struct rule input_rules[] = {
    { ANY, ERROR_unsupported_flag, "pattern", "", is_no_pattern },
    { ANY, ERROR_sensitive_input_refused, "secret", "", is_no_secret },
    { ANY, ERROR_sensitive_input_refused, "field_name", "", is_no_secret },
    { ANY, ERROR_conflicting_arguments, "field_name", "", name_is_free },
    { TEXT, ERROR_unsupported_flag, "minimum", "", is_not_given },
    { TEXT, ERROR_unsupported_flag, "maximum", "", is_not_given },
    { NUMBER, ERROR_unsupported_flag, "minLength", "", is_not_given },
    { NUMBER, ERROR_unsupported_flag, "maxLength", "", is_not_given },
    { NUMBER, ERROR_unsupported_flag, "format", "", is_not_given },
    { TEXT, ERROR_min_exceeds_max, "minLength", "", chars_are_in_order },
    { NUMBER, ERROR_min_exceeds_max, "minimum", "", bounds_are_in_order },
};

bool validation_check_elicit_input(const struct json *arguments, const struct ask_call *call,
                                   struct error *err)
{
    const struct subject subject = subject_of(&tool_elicit_input, arguments, call);

    return validation_run(input_rules, ARRAY_LEN(input_rules),
                          class_of(subject.field)->has_words ? TEXT : NUMBER, &subject, err);
}

static bool is_open_question(const struct rule *rule, const struct subject *subject,
                             struct error *err)
{
    return !validation_is_given(subject, rule->argument) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_CONFIRM, NULL);
}

static const struct rule confirm_rules[] = {
    { ANY, ERROR_unsupported_flag, "default", "", is_open_question },
};

bool validation_check_elicit_confirm(const struct json *arguments, const struct ask_call *call,
                                     struct error *err)
{
    const struct subject subject = subject_of(&tool_elicit_confirm, arguments, call);

    return validation_run(confirm_rules, ARRAY_LEN(confirm_rules), ANY, &subject, err);
}

static bool bound_is_given(const struct rule *rule, const struct subject *subject,
                           struct error *err)
{
    return validation_is_given(subject, rule->argument) ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_SLIDER, "name",
                             rule->argument, NULL);
}

static bool step_goes_on(const struct rule *rule, const struct subject *subject, struct error *err)
{
    return !validation_is_given(subject, rule->argument) || subject->field->step > 0 ||
           validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_STEP, NULL);
}

/* Stars go by one anyway. */
static bool is_whole_step(const struct rule *rule, const struct subject *subject, struct error *err)
{
    return json_member_integer(subject->arguments, rule->argument, 0) == 1 ||
           is_not_given(rule, subject, err);
}

/* Stars are few, and whole. */
static bool is_star_count(const struct rule *rule, const struct subject *subject, struct error *err)
{
    bool is_minimum = strcmp(rule->argument, "minimum") == 0;
    double bound = is_minimum ? subject->field->minimum : subject->field->maximum;

    if (floor(bound) == bound && bound >= (is_minimum ? 0 : 1) && bound <= LIMIT_RATING)
        return true;
    return validation_refuse(rule, RULE_WHOLE, err, TEXT_REASON_ELICIT_RATING, "most",
                             TEXT_NUMBER(LIMIT_RATING), NULL);
}

static const struct rule number_rules[] = {
    { SLIDER, ERROR_missing_property, "minimum", "", bound_is_given },
    { SLIDER, ERROR_missing_property, "maximum", "", bound_is_given },
    { RATING, ERROR_unsupported_flag, "step", "", is_whole_step },
    { ANY, ERROR_out_of_range, "step", "", step_goes_on },
    { RATING, ERROR_out_of_range, "minimum", "", is_star_count },
    { RATING, ERROR_out_of_range, "maximum", "", is_star_count },
    { ANY, ERROR_min_exceeds_max, "minimum", "", bounds_are_in_order },
};

bool validation_check_elicit_number(const struct json *arguments, const struct ask_call *call,
                                    struct error *err)
{
    static const unsigned by_style[] = {
        [NUMBER_FIELD] = FIELD,
        [NUMBER_SLIDER] = SLIDER,
        [NUMBER_RATING] = RATING,
    };
    const struct subject subject = subject_of(&tool_elicit_number, arguments, call);

    return validation_run(number_rules, ARRAY_LEN(number_rules), by_style[subject.field->style],
                          &subject, err);
}
