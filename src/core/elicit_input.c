/* elicit_input.c - the tool elicit_input: a text or a number; result under its field_name. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/elicit.h"
#include "core/text_format.h"
#include "core/validation.h"

struct input_values {
    struct elicit_values common; /* first */
    const char *field_name, *type, *format;
    const struct json *minimum, *maximum, *pattern, *secret;
    int64_t min_chars, max_chars;
};
#define VALUE(name) offsetof(struct input_values, name)

static const char *const type_names[] = { "string", "number", "integer", NULL };

/* published: elicit_input */
static const struct argument input_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("field_name", TEXT, VALUE(field_name), "Member of the result that holds the value.",
             ARGUMENT_LIMITS(1, LIMIT_FIELD_NAME_BYTES, BYTES), .otherwise_text = "input"),
    ARGUMENT("type", ENUM, VALUE(type), "string (default), number or integer",
             .choices = type_names, .otherwise_text = "string", .is_obvious = true),
    ARGUMENT("minimum", NUMBER, VALUE(minimum), "a bound of the number", .is_obvious = true),
    ARGUMENT("maximum", NUMBER, VALUE(maximum), "a bound of the number", .is_obvious = true),
    ARGUMENT("minLength", INTEGER, VALUE(min_chars), "a limit of the text",
             ARGUMENT_LIMITS(0, LIMIT_ANSWER_TEXT_BYTES, NUMBER), .is_obvious = true),
    ARGUMENT("maxLength", INTEGER, VALUE(max_chars), "a limit of the text",
             ARGUMENT_LIMITS(1, LIMIT_ANSWER_TEXT_BYTES, NUMBER), .is_obvious = true),
    ARGUMENT("format", ENUM, VALUE(format), "a limit of the text", .choices = text_format_names,
             .is_obvious = true),
    ARGUMENT("pattern", ANY, VALUE(pattern), NULL, .is_hidden = true),
    ARGUMENT("secret", ANY, VALUE(secret), NULL, .is_hidden = true),
    ELICIT_REST,
};

static bool build(const void *filled, struct ask_call *call, struct error *err)
{
    const struct input_values *values = filled;
    struct field *field;

    (void)err;
    elicit_begin(&values->common, 1, call);
    field = call->form.fields;
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

const struct ask_tool tool_elicit_input = {
    .name = "elicit_input",
    ASK_TOOL_ARGUMENTS(input_arguments, struct input_values),
    .build = build,
    .check = validation_check_elicit_input,
    .response = &elicit_one_value,
};
