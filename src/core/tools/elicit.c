#include "core/tools/elicit.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/response.h"
#include "core/tools/arguments.h"
#include "core/tools/validation.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

const struct argument elicit_value_row =
    ELICIT_VALUE("a value", "values are texts of 1 to 128 bytes");
const struct argument elicit_label_row =
    ELICIT_LABEL("a label", "labels are texts of 1 to 200 characters");

static void write_value(struct json_writer *writer, const struct form *form,
                        const struct answer *answer)
{
    json_write_foreign_key(writer, form->fields->name);
    class_of(form->fields)->write(writer, form->fields, answer->values);
}

/* The result of a form of one field: its value under its name. */
static const struct response_shape elicit_one_value = {
    .has_action = true,
    .write_values = write_value,
};

/* The first line in which there is something to see, cut to what a title may have. */
static char *title_of(const char *message)
{
    const char *line = message, *end, *at;
    struct text title = { 0 };
    size_t chars = 0;

    for (end = line + strcspn(line, "\n");
         *end && visible_count(line, (size_t)(end - line), 1) == 0;
         end = line + strcspn(line, "\n"))
        line = end + 1;
    for (at = line; at < end && chars < LIMIT_TITLE_CHARS - 1; chars++)
        text_decode(&at, end);
    text_add(&title, line, (size_t)(at - line));
    if (at < end)
        text_add_text(&title, "\xe2\x80\xa6");
    return text_take(&title);
}

struct field *elicit_begin(const struct elicit_values *values, size_t field_count,
                           struct ask_call *call)
{
    *call = (struct ask_call){
        .timeout_s = values->timeout_s,
        .interface = interface_find(values->interface),
        .idempotency_key = arguments_copy_if_any(values->idempotency_key),
        .form = { .title = values->title ? mem_text(values->title) : title_of(values->message),
                  .prompt = mem_text(values->message),
                  .fields = field_count ? mem_new(field_count * sizeof(struct field)) : NULL,
                  .field_count = field_count,
                  .allow_annotations = true },
    };
    return call->form.fields;
}

static void add_option(struct field *field, const char *value, const char *label)
{
    field->options[field->option_count++] =
        (struct option){ .id = mem_text(value), .label = mem_text(label) };
}

void elicit_fill_options(struct field *field, const struct json *values, const struct json *labels)
{
    size_t count = json_length(values);

    field->options = mem_new(count * sizeof *field->options);
    for (size_t i = 0; i < count; i++) {
        const char *value = json_text(json_item(values, i));
        const struct json *label = i < json_length(labels) ? json_item(labels, i) : NULL;

        add_option(field, value, label ? json_text(label) : value);
    }
}

void elicit_fill_labelled(struct field *field, const struct json *items, const char *value_key,
                          const char *label_key)
{
    field->options = mem_new(json_length(items) * sizeof *field->options);
    for (size_t i = 0; i < json_length(items); i++)
        add_option(field, json_member_text(json_item(items, i), value_key),
                   json_member_text(json_item(items, i), label_key));
    for (size_t i = 0; i < json_length(items); i++)
        field->options[i].is_destructive =
            json_is_true(json_member(json_item(items, i), "destructive"));
}

void elicit_fill_bounds(struct field *field, const struct json *minimum, const struct json *maximum)
{
    field->has_minimum = minimum != NULL;
    field->has_maximum = maximum != NULL;
    field->minimum = json_number_of(minimum);
    field->maximum = json_number_of(maximum);
}

/* What a rule is about: where elicit_choice has values and labels; what the others ask for. */
enum {
    BY_OPTIONS = 1,
    BY_ENUM = 2,
    PLAIN = 4, /* enum alone: values are labels */
    NAMES = 8,
    LABELS = 16,
    TEXT = 32,
    NUMBER = 64,
    SLIDER = 128,
    RATING = 256,
    ANY = 511,
};

/* The tool elicit_choice: one of several values; result under `choice`. */

struct choice_values {
    struct elicit_values common; /* first */
    const struct json *options, *values, *names, *labels;
};
#define CHOICE_VALUE(name) offsetof(struct choice_values, name)

/* published: elicit_choice */
static const struct argument option_properties[] = {
    ELICIT_PAIR("value", "label"),
    ARGUMENT("destructive", BOOL, 0, "choosing it requires a confirmation code",
             .is_obvious = true),
};

static const struct argument choice_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("options", OPTIONS, CHOICE_VALUE(options), "1 to 100 of {value, label, destructive?}",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .is_required = true, .is_obvious = true,
             .spared_by = "enum", ARGUMENT_PROPERTIES(option_properties)),
    ARGUMENT("enum", TEXTS, CHOICE_VALUE(values), "values, instead of options",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_value_row,
             .is_hidden = true),
    ARGUMENT("enumNames", TEXTS, CHOICE_VALUE(names), "labels for enum, in order",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_label_row,
             .is_hidden = true),
    ARGUMENT("enumLabels", TEXTS, CHOICE_VALUE(labels), "alias of enumNames",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_label_row,
             .is_hidden = true),
    ELICIT_REST,
};

static bool build_choice(const void *filled, struct ask_call *call, struct error *err)
{
    const struct choice_values *values = filled;
    struct field *field = elicit_begin(&values->common, 1, call);

    (void)err;
    *field = (struct field){ .name = mem_text("choice"),
                             .kind = FIELD_SINGLE,
                             .is_required = true,
                             .min_selections = 1,
                             .max_selections = 1 };
    if (values->options)
        elicit_fill_labelled(field, values->options, "value", "label");
    else
        elicit_fill_options(field, values->values, values->names ? values->names : values->labels);
    call->form.single_submit = !form_may_destroy(&call->form);
    return true;
}

static bool stands_alone(const struct subject *subject)
{
    return !validation_is_given(subject, subject->rule->argument) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_SAME, "name",
                             subject->rule->argument, NULL);
}

static bool is_not_given(const struct subject *subject)
{
    return !validation_is_said(subject, subject->rule->argument) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_NO_MEANING, "name",
                             subject->rule->argument, NULL);
}

static bool has_as_many(const struct subject *subject)
{
    size_t values = json_length(json_member(subject->arguments, "enum"));
    size_t labels = json_length(json_member(subject->arguments, subject->rule->argument));

    return values == labels ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_LABEL_COUNT, "name",
                             subject->rule->argument, "count", TEXT_NUMBER(labels), "wanted",
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

static unsigned choice_calls(const struct subject *subject)
{
    if (validation_is_given(subject, "options"))
        return BY_OPTIONS;
    if (validation_is_given(subject, "enumNames"))
        return BY_ENUM | NAMES;
    return BY_ENUM | (validation_is_given(subject, "enumLabels") ? LABELS : PLAIN);
}

const struct ask_tool tool_elicit_choice = {
    .name = "elicit_choice",
    ASK_TOOL_ARGUMENTS(choice_arguments, struct choice_values),
    .build = build_choice,
    ASK_TOOL_RULES(choice_rules),
    .calls_of = choice_calls,
    .response = &elicit_one_value,
    .value_key = "choice",
};

/* The tool elicit_confirm: yes or no; result under `confirmed`. Only a person's yes is one. A no
 * is a decline however it was said, so that an agent which looks at the action alone stops too. */

struct confirm_values {
    struct elicit_values common; /* first */
    int64_t destructive;
    const struct json *preset;
};
#define CONFIRM_VALUE(name) offsetof(struct confirm_values, name)

/* published: elicit_confirm */
static const struct argument confirm_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("destructive", BOOL, CONFIRM_VALUE(destructive),
             "Data could be lost: yes requires a confirmation code."),
    ARGUMENT("default", ANY, CONFIRM_VALUE(preset), NULL, .is_hidden = true),
    ELICIT_REST,
};

static bool build_confirm(const void *filled, struct ask_call *call, struct error *err)
{
    const struct confirm_values *values = filled;

    (void)err;
    *elicit_begin(&values->common, 1, call) =
        (struct field){ .name = mem_text("confirmed"), .kind = FIELD_CONFIRM, .is_required = true };
    call->form.is_destructive = values->destructive;
    return true;
}

static const struct response_shape shape_confirm = {
    .has_action = true,
    .no_key = "confirmed",
    .write_values = write_value,
};
static bool is_open_question(const struct subject *subject)
{
    return !validation_is_given(subject, subject->rule->argument) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_CONFIRM, NULL);
}

static const struct rule confirm_rules[] = {
    { ANY, ERROR_unsupported_flag, "default", "", is_open_question },
};

const struct ask_tool tool_elicit_confirm = {
    .name = "elicit_confirm",
    ASK_TOOL_ARGUMENTS(confirm_arguments, struct confirm_values),
    .build = build_confirm,
    ASK_TOOL_RULES(confirm_rules),
    .response = &shape_confirm,
    .value_key = "confirmed",
};

/* The tool elicit_input: a text or a number; result under its field_name. */

struct input_values {
    struct elicit_values common; /* first */
    const char *field_name, *type, *format;
    const struct json *minimum, *maximum, *pattern, *secret;
    int64_t min_chars, max_chars;
};
#define INPUT_VALUE(name) offsetof(struct input_values, name)

static const char *const type_names[] = { "string", "number", "integer", NULL };

/* published: elicit_input */
static const struct argument input_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("field_name", TEXT, INPUT_VALUE(field_name), "Key of the value in the result.",
             ARGUMENT_LIMITS(1, LIMIT_FIELD_NAME_BYTES, BYTES), .fallback_text = "input"),
    ARGUMENT("type", ENUM, INPUT_VALUE(type), "string (default), number or integer",
             .choices = type_names, .fallback_text = "string", .is_obvious = true),
    ARGUMENT("minimum", NUMBER, INPUT_VALUE(minimum), "bound of the number", .is_obvious = true),
    ARGUMENT("maximum", NUMBER, INPUT_VALUE(maximum), "bound of the number", .is_obvious = true),
    ARGUMENT("minLength", INTEGER, INPUT_VALUE(min_chars), "limit of the text",
             ARGUMENT_LIMITS(0, LIMIT_ANSWER_TEXT_BYTES, NUMBER), .is_obvious = true),
    ARGUMENT("maxLength", INTEGER, INPUT_VALUE(max_chars), "limit of the text",
             ARGUMENT_LIMITS(1, LIMIT_ANSWER_TEXT_BYTES, NUMBER), .is_obvious = true),
    ARGUMENT("format", ENUM, INPUT_VALUE(format), "limit of the text", .choices = text_format_names,
             .is_obvious = true),
    ARGUMENT("pattern", ANY, INPUT_VALUE(pattern), NULL, .is_hidden = true),
    ARGUMENT("secret", ANY, INPUT_VALUE(secret), NULL, .is_hidden = true),
    ELICIT_REST,
};

static bool build_input(const void *filled, struct ask_call *call, struct error *err)
{
    const struct input_values *values = filled;
    struct field *field = elicit_begin(&values->common, 1, call);

    (void)err;
    *field =
        (struct field){ .name = mem_text(values->field_name),
                        .kind = strcmp(values->type, "string") == 0 ? FIELD_TEXT : FIELD_NUMBER,
                        .is_required = true,
                        .is_integer = strcmp(values->type, "integer") == 0,
                        .min_chars = values->min_chars,
                        .max_chars = values->max_chars,
                        .format = mem_text(values->format) };
    elicit_fill_bounds(field, values->minimum, values->maximum);
    return true;
}

static bool is_no_pattern(const struct subject *subject)
{
    return !validation_is_said(subject, subject->rule->argument) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_PATTERN, NULL);
}

static bool is_no_secret(const struct subject *subject)
{
    bool is_name = strcmp(subject->rule->argument, "field_name") == 0;

    if (is_name ? !sensitive_is_name(subject->field->name)
                : !json_is_true(json_member(subject->arguments, subject->rule->argument)))
        return true;
    return validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ARG_SECRET, NULL);
}

/* Members of a result: a value under one of these names could not be told from ours. */
static const char *const taken_names[] = {
    "url",     "explicit",  "session_id",   "action_status",
    "rule",    "replayed",  "asked_back",   "auto_submitted",
    "error",   "warnings",  "answered_by",  "terminal_command",
    "action",  "declined",  "answered_at",  "field_annotations",
    "summary", "withdrawn", "instructions", "global_annotation",
    "notices", "selection", "notices_more", "option_annotations",
};

static bool name_is_free(const struct subject *subject)
{
    return !text_is_among(subject->field->name, taken_names, ARRAY_LEN(taken_names)) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_MEMBER, NULL);
}

static bool chars_are_in_order(const struct subject *subject)
{
    return subject->field->max_chars == 0 ||
           subject->field->min_chars <= subject->field->max_chars ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_LENGTHS, "most",
                             TEXT_NUMBER(subject->field->max_chars), NULL);
}

static bool bounds_are_in_order(const struct subject *subject)
{
    const struct field *field = subject->field;

    return !field->has_minimum || !field->has_maximum || field->minimum <= field->maximum ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_BOUNDS, "most",
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

static unsigned input_calls(const struct subject *subject)
{
    return class_of(subject->field)->has_words ? TEXT : NUMBER;
}

const struct ask_tool tool_elicit_input = {
    .name = "elicit_input",
    ASK_TOOL_ARGUMENTS(input_arguments, struct input_values),
    .build = build_input,
    ASK_TOOL_RULES(input_rules),
    .calls_of = input_calls,
    .response = &elicit_one_value,
};

/* The tool elicit_number: a number as a field, a slider or stars; result under `value`. With both
 * bounds it is a slider unless the agent says otherwise (R4.6). */

enum { RATING_MINIMUM = 1, RATING_MAXIMUM = 5 };

struct number_values {
    struct elicit_values common; /* first */
    const struct json *minimum, *maximum, *step;
    const char *unit, *style;
};
#define NUMBER_VALUE(name) offsetof(struct number_values, name)

/* published: elicit_number */
static const struct argument number_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("minimum", NUMBER, NUMBER_VALUE(minimum), "lowest number (default for a rating: 1)",
             .is_obvious = true),
    ARGUMENT("maximum", NUMBER, NUMBER_VALUE(maximum), "Rating: default 5, at most 10."),
    ARGUMENT("step", NUMBER, NUMBER_VALUE(step), "increment, greater than 0", .is_obvious = true),
    ARGUMENT("unit", TEXT, NUMBER_VALUE(unit), "unit, such as BPM",
             ARGUMENT_LIMITS(0, LIMIT_UNIT_CHARS, CHARS), .is_obvious = true),
    ARGUMENT("style", ENUM, NUMBER_VALUE(style),
             "Default: slider with both bounds, otherwise field.", .choices = number_style_names),
    ELICIT_REST,
};

static bool build_number(const void *filled, struct ask_call *call, struct error *err)
{
    const struct number_values *values = filled;
    struct field *field = elicit_begin(&values->common, 1, call);

    (void)err;
    *field = (struct field){ .name = mem_text("value"),
                             .kind = FIELD_NUMBER,
                             .is_required = true,
                             .step = json_number_of(values->step),
                             .unit = arguments_copy_if_any(values->unit),
                             .style = values->minimum && values->maximum ? NUMBER_SLIDER
                                                                         : NUMBER_FIELD };
    if (values->style)
        field->style = form_name_find(number_style_names, values->style, NUMBER_FIELD);
    elicit_fill_bounds(field, values->minimum, values->maximum);
    if (field->style == NUMBER_RATING) {
        field->is_integer = field->has_minimum = field->has_maximum = true;
        field->minimum = values->minimum ? field->minimum : RATING_MINIMUM;
        field->maximum = values->maximum ? field->maximum : RATING_MAXIMUM;
    }
    return true;
}

static bool bound_is_given(const struct subject *subject)
{
    return validation_is_given(subject, subject->rule->argument) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_SLIDER, "name",
                             subject->rule->argument, NULL);
}

static bool step_goes_on(const struct subject *subject)
{
    return !validation_is_given(subject, subject->rule->argument) || subject->field->step > 0 ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_STEP, NULL);
}

/* Stars go by one anyway. */
static bool is_whole_step(const struct subject *subject)
{
    return json_member_integer(subject->arguments, subject->rule->argument, 0) == 1 ||
           is_not_given(subject);
}

/* Stars are few, and whole. */
static bool is_star_count(const struct subject *subject)
{
    bool is_minimum = strcmp(subject->rule->argument, "minimum") == 0;
    double bound = is_minimum ? subject->field->minimum : subject->field->maximum;

    if (floor(bound) == bound && bound >= (is_minimum ? 0 : 1) && bound <= LIMIT_RATING)
        return true;
    return validation_refuse(subject, RULE_WHOLE, TEXT_REASON_ELICIT_RATING, "most",
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

static unsigned number_calls(const struct subject *subject)
{
    enum number_style style = subject->field->style;

    return style == NUMBER_RATING ? RATING : style == NUMBER_SLIDER ? SLIDER : NUMBER;
}

const struct ask_tool tool_elicit_number = {
    .name = "elicit_number",
    ASK_TOOL_ARGUMENTS(number_arguments, struct number_values),
    .build = build_number,
    ASK_TOOL_RULES(number_rules),
    .calls_of = number_calls,
    .response = &elicit_one_value,
    .value_key = "value",
};

/* The tool elicit_form: a small form by JSON Schema; result under `content`. */

struct form_values {
    struct elicit_values common; /* first */
    const struct json *schema;
};

/* published: elicit_form */
static const struct argument form_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("requestedSchema", OBJECT, offsetof(struct form_values, schema),
             "MCP elicitation schema: 1 to 32 properties, none nested.", .is_required = true),
    ELICIT_REST,
};

static bool build_form(const void *filled, struct ask_call *call, struct error *err)
{
    const struct form_values *values = filled;
    const struct argument_path place = { .name = "requestedSchema" };

    elicit_begin(&values->common, 0, call);
    return elicit_read_schema(values->schema, &place, &call->form, err);
}

/* What was left empty is left out, as a form's content has it. */
static void write_content(struct json_writer *writer, const struct form *form,
                          const struct answer *answer)
{
    json_write_object(writer, "content");
    for (size_t i = 0; i < answer->value_count; i++) {
        const struct field *field = &form->fields[i];
        const struct field_class *class = class_of(field);
        bool is_list = class->has_options && !class->is_exclusive;

        if (!answer_has_value(&answer->values[i]) && !(is_list && field->is_required))
            continue;
        json_write_foreign_key(writer, field->name);
        class->write(writer, field, &answer->values[i]);
    }
    json_write_end_object(writer);
}

static const struct response_shape shape_form = {
    .has_action = true,
    .write_values = write_content,
};
const struct ask_tool tool_elicit_form = {
    .name = "elicit_form",
    ASK_TOOL_ARGUMENTS(form_arguments, struct form_values),
    .build = build_form,
    .response = &shape_form,
    .value_key = "content",
};
