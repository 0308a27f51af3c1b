/*
 * elicit_number.c - the tool elicit_number: a number as a field, a slider or stars; result under
 * `value`. With both bounds it is a slider unless the agent says otherwise (R4.6).
 */
#include "base/json.h"
#include "base/mem.h"
#include "core/elicit.h"
#include "core/validation.h"

enum { RATING_MINIMUM = 1, RATING_MAXIMUM = 5 };

struct number_values {
    struct elicit_values common; /* first */
    const struct json *minimum, *maximum, *step;
    const char *unit, *style;
};
#define VALUE(name) offsetof(struct number_values, name)

/* published: elicit_number */
static const struct argument number_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("minimum", NUMBER, VALUE(minimum), "the least number; a rating's is 1 by default",
             .is_obvious = true),
    ARGUMENT("maximum", NUMBER, VALUE(maximum), "A rating's is 5 by default, at most 10."),
    ARGUMENT("step", NUMBER, VALUE(step), "From minimum on; over 0."),
    ARGUMENT("unit", TEXT, VALUE(unit), "Such as BPM.",
             ARGUMENT_LIMITS(0, LIMIT_UNIT_CHARS, CHARS)),
    ARGUMENT("style", ENUM, VALUE(style), "Default slider with both bounds, else field.",
             .choices = number_style_names),
    ELICIT_REST,
};

static enum number_style style_of(const struct number_values *values)
{
    if (values->style)
        return form_name_find(number_style_names, values->style, NUMBER_FIELD);
    return values->minimum && values->maximum ? NUMBER_SLIDER : NUMBER_FIELD;
}

static bool build(const void *filled, struct ask_call *call, struct error *err)
{
    const struct number_values *values = filled;
    struct field *field;

    (void)err;
    elicit_begin(&values->common, 1, call);
    field = call->form.fields;
    *field = (struct field){ .name = mem_text("value"),
                             .kind = FIELD_NUMBER,
                             .is_required = true,
                             .step = json_number_of(values->step),
                             .unit = arguments_copy_if_any(values->unit),
                             .style = style_of(values) };
    elicit_fill_bounds(field, values->minimum, values->maximum);
    if (field->style == NUMBER_RATING) {
        field->is_integer = field->has_minimum = field->has_maximum = true;
        field->minimum = values->minimum ? field->minimum : RATING_MINIMUM;
        field->maximum = values->maximum ? field->maximum : RATING_MAXIMUM;
    }
    return true;
}

const struct ask_tool tool_elicit_number = {
    .name = "elicit_number",
    ASK_TOOL_ARGUMENTS(number_arguments, struct number_values),
    .build = build,
    .check = validation_check_elicit_number,
    .response = &elicit_one_value,
    .value_key = "value",
};
