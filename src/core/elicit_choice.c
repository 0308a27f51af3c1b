/* elicit_choice.c - the tool elicit_choice: one of several values; result under `choice`. */
#include "base/json.h"
#include "base/mem.h"
#include "core/elicit.h"
#include "core/validation.h"

struct choice_values {
    struct elicit_values common; /* first */
    const struct json *options, *values, *names, *labels;
};
#define VALUE(name) offsetof(struct choice_values, name)

/* published: elicit_choice */
static const struct argument option_properties[] = {
    ELICIT_PAIR("value", "label"),
    ARGUMENT("destructive", BOOL, 0, "true: choosing it takes a confirmation code",
             .is_obvious = true),
};

static const struct argument choice_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("options", OPTIONS, VALUE(options),
             "Needed, or enum: 1 to 100 {value, label, destructive}.",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .is_needed = true, .spared_by = "enum",
             ARGUMENT_PROPERTIES(option_properties)),
    ARGUMENT("enum", TEXTS, VALUE(values), "Instead of options: the values.",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_value_row),
    ARGUMENT("enumNames", TEXTS, VALUE(names), "Labels of enum, as many.",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_label_row),
    ARGUMENT("enumLabels", TEXTS, VALUE(labels), "Another name of enumNames.",
             ARGUMENT_LIMITS(1, LIMIT_OPTIONS, ITEMS), .properties = &elicit_label_row,
             .is_hidden = true),
    ELICIT_REST,
};

static bool build(const void *filled, struct ask_call *call, struct error *err)
{
    const struct choice_values *values = filled;
    struct field *field;

    (void)err;
    elicit_begin(&values->common, 1, call);
    field = call->form.fields;
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

const struct ask_tool tool_elicit_choice = {
    .name = "elicit_choice",
    ASK_TOOL_ARGUMENTS(choice_arguments, struct choice_values),
    .build = build,
    .check = validation_check_elicit_choice,
    .response = &elicit_one_value,
    .value_key = "choice",
};
