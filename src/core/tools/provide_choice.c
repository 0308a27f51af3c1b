/*
 * provide_choice.c - the arguments of the tool provide_choice and the form they come to.
 * The help texts are what an agent reads in the schema and in error messages.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/limits.h"
#include "core/response.h"
#include "core/tools/arguments.h"
#include "core/tools/validation.h"
#include "core/visible_text.h"

enum { NOT_GIVEN = -1, DEFAULT_WAIT_S = 30 };

/* As arguments_fill leaves them: texts and lists are borrowed from the call. */
struct choice_values {
    const char *title, *prompt, *selection_mode;
    const struct json *options;
    const char *placeholder;
    int64_t placeholder_visible;
    const struct json *default_selection_ids;
    int64_t min_selections, max_selections; /* the latter 0: not given */
    int64_t single_submit_mode;             /* or NOT_GIVEN */
    int64_t allow_annotations;
    const char *global_annotation, *interface;
    int64_t timeout_s, destructive;
    int64_t allow_cancel; /* or NOT_GIVEN */
    const char *session_id;
    int64_t wait_s;
    const char *idempotency_key;
};
struct option_values {
    const char *id, *label, *description;
    int64_t recommended;
    int64_t destructive; /* or NOT_GIVEN: as the whole says */
    const char *annotation;
    const struct json *preview;
};
#define VALUE(name)  offsetof(struct choice_values, name)
#define OPTION(name) offsetof(struct option_values, name)

static const char *const mode_names[] = {
    [FIELD_SINGLE] = "single", [FIELD_MULTI] = "multi",   [FIELD_TEXT] = "text_input",
    [FIELD_HYBRID] = "hybrid", [FIELD_HYBRID + 1] = NULL,
};

/* published: provide_choice */
static const struct argument option_properties[] = {
    ARGUMENT("id", TEXT, OPTION(id), "Returned if chosen. Unique.",
             ARGUMENT_LIMITS(1, LIMIT_OPTION_ID_BYTES, BYTES), .is_required = true),
    ARGUMENT("label", TEXT, OPTION(label), "Shown to the user. Unique.",
             ARGUMENT_LIMITS(1, LIMIT_LABEL_CHARS, CHARS), .is_required = true),
    ARGUMENT("description", TEXT, OPTION(description), "What choosing it means.",
             ARGUMENT_LIMITS(0, LIMIT_DESCRIPTION_CHARS, CHARS)),
    ARGUMENT("recommended", BOOL, OPTION(recommended),
             "True for your choice: exactly one in single mode, otherwise at least one."),
    ARGUMENT("destructive", BOOL, OPTION(destructive),
             "Can't be undone: requires a confirmation code.", .fallback = NOT_GIVEN),
    ARGUMENT("annotation", TEXT, OPTION(annotation), "Prefilled note.",
             ARGUMENT_LIMITS(0, LIMIT_ANNOTATION_CHARS, CHARS)),
    ARGUMENT("preview", PREVIEW, OPTION(preview), "What the user would get, up to 64 KiB.",
             ARGUMENT_LIMITS(0, LIMIT_PREVIEW_BYTES, BYTES),
             ARGUMENT_PROPERTIES(preview_properties)),
};

static const struct argument choice_arguments[] = {
    ARGUMENT("title", TEXT, VALUE(title), "One line: what to decide.",
             ARGUMENT_LIMITS(1, LIMIT_TITLE_CHARS, CHARS), .is_required = true),
    ARGUMENT("prompt", MARKDOWN, VALUE(prompt),
             "Markdown, at least 20 characters: the task, what you found, and why the "
             "user must choose.",
             ARGUMENT_LIMITS(LIMIT_PROMPT_CHARS_MIN, LIMIT_PROMPT_BYTES, BYTES),
             .is_required = true),
    ARGUMENT("selection_mode", ENUM, VALUE(selection_mode),
             "One option, several, free text, or options and free text.", .choices = mode_names,
             .is_required = true),
    ARGUMENT("options", OPTIONS, VALUE(options), "At least one, except in text_input mode.",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .is_required = true,
             .spared_by = "selection_mode", .spared_value = "text_input",
             ARGUMENT_PROPERTIES(option_properties)),
    ARGUMENT("placeholder", TEXT, VALUE(placeholder), "hint in the empty text field",
             ARGUMENT_LIMITS(0, LIMIT_PLACEHOLDER_CHARS, CHARS), .is_obvious = true),
    ARGUMENT("placeholder_visible", BOOL, VALUE(placeholder_visible),
             "whether to show the placeholder (default: true)", .fallback = true,
             .is_hidden = true),
    ARGUMENT("default_selection_ids", IDS, VALUE(default_selection_ids),
             "IDs of the preselected options", ARGUMENT_LIMITS(0, LIMIT_OPTIONS, ITEMS),
             .is_obvious = true),
    ARGUMENT("min_selections", INTEGER, VALUE(min_selections),
             "fewest options to choose, in multi and hybrid mode (default: 0)",
             ARGUMENT_LIMITS(0, ARGUMENT_UNBOUNDED, NUMBER), .is_obvious = true),
    ARGUMENT("max_selections", INTEGER, VALUE(max_selections),
             "most options to choose, in multi and hybrid mode (default: all)",
             ARGUMENT_LIMITS(1, ARGUMENT_UNBOUNDED, NUMBER), .is_obvious = true),
    ARGUMENT("single_submit_mode", BOOL, VALUE(single_submit_mode),
             "Submit on the first pick. Default: only in single mode.", .fallback = NOT_GIVEN),
    ARGUMENT("allow_annotations", BOOL, VALUE(allow_annotations), "Default: true.",
             .fallback = true),
    ARGUMENT("global_annotation", TEXT, VALUE(global_annotation), "Prefilled general note.",
             ARGUMENT_LIMITS(0, LIMIT_ANNOTATION_CHARS, CHARS)),
    ARGUMENT("interface", ENUM, VALUE(interface), "Where to notify. Default: auto.",
             .choices = interface_choices),
    ARGUMENT("timeout_seconds", INTEGER, VALUE(timeout_s),
             "Time to answer. Default: the user's setting.",
             ARGUMENT_LIMITS(1, LIMIT_TIMEOUT_S, NUMBER)),
    ARGUMENT("destructive", BOOL, VALUE(destructive),
             "Data could be lost: all options but the recommended (safe) one require a "
             "confirmation code."),
    ARGUMENT("allow_cancel", BOOL, VALUE(allow_cancel), "ignored: the user can always cancel",
             .fallback = NOT_GIVEN, .is_hidden = true),
    ARGUMENT("session_id", ID, VALUE(session_id),
             "Collect an earlier answer; combine only with wait_seconds and interface."),
    ARGUMENT("wait_seconds", INTEGER, VALUE(wait_s),
             "With session_id. Default: as long as possible.",
             ARGUMENT_LIMITS(0, LIMIT_WAIT_S, NUMBER), .fallback = DEFAULT_WAIT_S),
    ARGUMENT("idempotency_key", TEXT, VALUE(idempotency_key), "The same key never asks twice.",
             ARGUMENT_LIMITS(0, LIMIT_IDEMPOTENCY_KEY_BYTES, BYTES)),
};

static void build_option(const struct json *given, bool is_destructive, struct option *option)
{
    struct option_values values = { 0 };

    arguments_fill(option_properties, ARRAY_LEN(option_properties), given, &values);
    option->id = mem_text(values.id);
    option->label = mem_text(values.label);
    option->description = arguments_copy_if_any(values.description);
    option->annotation = arguments_copy_if_any(values.annotation);
    option->is_recommended = values.recommended;
    option->is_destructive = values.destructive != NOT_GIVEN
                                 ? values.destructive
                                 : is_destructive && !values.recommended;
    preview_build(values.preview, &option->preview);
}

static void build_defaults(const struct choice_values *values, struct field *field)
{
    for (size_t i = 0; i < json_length(values->default_selection_ids); i++) {
        const char *id = json_text(json_item(values->default_selection_ids, i));
        const struct option *option = field_find_option(field, id);

        if (option)
            field->options[option - field->options].is_default = true;
    }
}

static void build_bounds(const struct choice_values *values, struct field *field)
{
    const struct field_class *class = class_of(field);
    bool is_many = class->has_options && !class->is_exclusive;

    field->min_selections = field->max_selections = class->is_exclusive;
    if (is_many) {
        field->min_selections = values->min_selections;
        field->max_selections =
            values->max_selections ? values->max_selections : (int64_t)field->option_count;
    }
    field->is_required = !is_many || field->min_selections > 0;
}

static void build_field(const struct choice_values *values, struct field *field)
{
    field->name = mem_text("choice");
    field->kind = form_name_find(mode_names, values->selection_mode, FIELD_SINGLE);
    field->placeholder = arguments_copy_if_any(values->placeholder);
    field->placeholder_visible = values->placeholder_visible && class_of(field)->has_words;
    field->option_count = json_length(values->options);
    if (field->option_count)
        field->options = mem_new(field->option_count * sizeof *field->options);
    for (size_t i = 0; i < field->option_count; i++)
        build_option(json_item(values->options, i), values->destructive, &field->options[i]);
    build_bounds(values, field);
}

static void build_form(const struct choice_values *values, struct form *form)
{
    bool is_single;

    *form = (struct form){ .title = mem_text(values->title),
                           .prompt = mem_text(values->prompt),
                           .fields = mem_new(sizeof *form->fields),
                           .field_count = 1,
                           .allow_annotations = values->allow_annotations,
                           .global_annotation = arguments_copy_if_any(values->global_annotation),
                           .is_destructive = values->destructive };
    build_field(values, &form->fields[0]);
    if (!form_may_destroy(form))
        build_defaults(values, &form->fields[0]);
    is_single = class_of(&form->fields[0])->is_exclusive;
    form->single_submit =
        !form_may_destroy(form) &&
        (values->single_submit_mode == NOT_GIVEN ? is_single : values->single_submit_mode);
}

static bool build_choice(const void *filled, struct ask_call *call, struct error *err)
{
    const struct choice_values *values = filled;

    (void)err;
    *call = (struct ask_call){
        .wait_s = values->wait_s,
        .timeout_s = values->timeout_s,
        .interface = values->interface ? interface_find(values->interface) : INTERFACE_NONE,
        .idempotency_key = arguments_copy_if_any(values->idempotency_key),
        .cancel_always_available = values->allow_cancel != NOT_GIVEN,
    };
    if (values->session_id)
        memcpy(call->session_id, values->session_id, sizeof call->session_id);
    else
        build_form(values, &call->form);
    call->defaults_ignored =
        form_may_destroy(&call->form) && json_length(values->default_selection_ids) > 0;
    return true;
}

/* The rules between the arguments, in the order in which they are reported. */

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

static bool collects_alone(const struct subject *subject)
{
    static const char *const companions[] = { "session_id", "wait_seconds", "interface" };
    bool is_alone = true;

    for (size_t i = 0; i < subject->tool->argument_count; i++) {
        const char *other = subject->tool->arguments[i].name;

        is_alone = is_alone && (text_is_among(other, companions, ARRAY_LEN(companions)) ||
                                !validation_is_said(subject, other));
    }
    return is_alone || validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_COLLECTS, NULL);
}

static bool waits_for_something(const struct subject *subject)
{
    return !validation_is_said(subject, subject->rule->argument) ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_WAITS, NULL);
}

static bool is_not_given(const struct subject *subject)
{
    const char *mode = json_member_text(subject->arguments, "selection_mode");
    const struct json *value = json_member(subject->arguments, subject->rule->argument);
    const struct field_class *class = class_of(subject->field);
    int64_t count = 0;

    if (!validation_is_said(subject, subject->rule->argument) ||
        (class->is_exclusive && json_integer_of(value, &count) && count == 1) ||
        (!class->has_options && json_kind(value) == KIND_BOOL && !json_is_true(value)))
        return true; /* so it is anyway: exactly one, and nothing to pick */
    return validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_MODE, "name",
                             subject->rule->argument, "mode", mode, NULL);
}

static bool one_is_recommended(const struct subject *subject)
{
    size_t count = 0;

    for (size_t i = 0; i < subject->field->option_count; i++) {
        count += subject->field->options[i].is_recommended;
        if (count > 1)
            return validation_refuse(subject, i, TEXT_REASON_CHOICE_ONE_RECOMMENDED, NULL);
    }
    return true;
}

static bool defaults_are_options(const struct subject *subject)
{
    const struct json *ids = json_member(subject->arguments, subject->rule->argument);

    for (size_t i = 0; i < json_length(ids); i++) {
        const struct json *id = json_item(ids, i);
        char quote[ARGUMENT_QUOTE_BYTES];

        if (field_find_option(subject->field, json_text(id)))
            continue;
        arguments_quote(json_text(id), json_length(id), quote);
        return validation_refuse(subject, i, TEXT_REASON_CHOICE_NO_SUCH_ID, "id", quote, NULL);
    }
    return true;
}

static bool defaults_are_unique(const struct subject *subject)
{
    const struct json *ids = json_member(subject->arguments, subject->rule->argument);
    bool is_seen[LIMIT_OPTIONS] = { false };

    for (size_t i = 0; i < json_length(ids); i++) {
        const struct option *option =
            field_find_option(subject->field, json_text(json_item(ids, i)));
        size_t index = (size_t)(option - subject->field->options);

        if (!option)
            continue;
        if (is_seen[index])
            return validation_refuse(subject, i, TEXT_REASON_CHOICE_ID_TWICE, NULL);
        is_seen[index] = true;
    }
    return true;
}

static bool is_reachable(const struct subject *subject)
{
    bool is_min = strcmp(subject->rule->argument, "min_selections") == 0;
    const struct field *field = subject->field;
    size_t count = field->option_count;

    return (is_min ? field->min_selections : field->max_selections) <= (int64_t)count ||
           validation_refuse(subject, RULE_WHOLE,
                             is_min ? TEXT_REASON_CHOICE_MIN : TEXT_REASON_CHOICE_MAX, "count",
                             TEXT_NUMBER(count), "most", TEXT_NUMBER(count), NULL);
}

static bool min_is_below_max(const struct subject *subject)
{
    const struct field *field = subject->field;

    return !validation_is_given(subject, "max_selections") ||
           field->min_selections <= field->max_selections ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_MIN_MAX, "most",
                             TEXT_NUMBER(field->max_selections), NULL);
}

static bool defaults_fit(const struct subject *subject)
{
    size_t count = json_length(json_member(subject->arguments, subject->rule->argument));

    return (int64_t)count <= subject->field->max_selections ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_DEFAULTS, "count",
                             TEXT_NUMBER(count), "most",
                             TEXT_NUMBER(subject->field->max_selections), NULL);
}

static bool one_pick_is_enough(const struct subject *subject)
{
    return !json_is_true(json_member(subject->arguments, subject->rule->argument)) ||
           subject->field->min_selections <= 1 ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_FIRST_PICK, "least",
                             TEXT_NUMBER(subject->field->min_selections), NULL);
}

static bool some_are_recommended(const struct subject *subject)
{
    for (size_t i = 0; i < subject->field->option_count; i++) {
        if (subject->field->options[i].is_recommended)
            return true;
    }
    return validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_NONE_RECOMMENDED, NULL);
}

static bool prompt_says_enough(const struct subject *subject)
{
    const char *prompt = subject->form->prompt;
    size_t count = visible_count(prompt, strlen(prompt), LIMIT_PROMPT_CHARS_MIN);

    return count >= LIMIT_PROMPT_CHARS_MIN ||
           validation_refuse(subject, RULE_WHOLE, TEXT_REASON_CHOICE_SHORT, "count",
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
    { MULTI | HYBRID, ERROR_out_of_range, "max_selections", "", is_reachable },
    { MULTI | HYBRID, ERROR_min_exceeds_max, "min_selections", "", min_is_below_max },
    { MULTI | HYBRID, ERROR_min_exceeds_options, "min_selections", "", is_reachable },
    { OPTIONS, ERROR_too_many_defaults, "default_selection_ids", "", defaults_fit },
    { MULTI | HYBRID, ERROR_unsupported_flag, "single_submit_mode", "", one_pick_is_enough },
    { OPTIONS, ERROR_no_recommended_option, "options", "", some_are_recommended },
    { ASK, ERROR_too_short, "prompt", "", prompt_says_enough },
};

static unsigned calls_of(const struct subject *subject)
{
    const struct field_class *class = subject->field ? class_of(subject->field) : NULL;

    if (!class)
        return COLLECT;
    if (!class->has_options)
        return TEXT;
    return class->has_words ? HYBRID : class->is_exclusive ? SINGLE : MULTI;
}

const struct ask_tool tool_provide_choice = {
    .name = "provide_choice",
    ASK_TOOL_ARGUMENTS(choice_arguments, struct choice_values),
    .build = build_choice,
    ASK_TOOL_RULES(choice_rules),
    .calls_of = calls_of,
    .response = &response_selection,
};
