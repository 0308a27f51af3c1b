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

static const struct argument input_arguments[] = {
    ELICIT_MESSAGE,
    { .name = "field_name",
      ARGUMENT_RANGE(TEXT, 1, LIMIT_FIELD_NAME_BYTES, BYTES),
      .otherwise_text = "input",
      .offset = VALUE(field_name),
      .help = "Member of the result that holds the value." },
    { .name = "type",
      .type = ARGUMENT_ENUM,
      .choices = type_names,
      .otherwise_text = "string",
      .offset = VALUE(type),
      .is_obvious = true,
      .help = "string (default), number or integer" },
    { .name = "minimum",
      .type = ARGUMENT_NUMBER,
      .offset = VALUE(minimum),
      .is_obvious = true,
      .help = "a bound of the number" },
    { .name = "maximum",
      .type = ARGUMENT_NUMBER,
      .offset = VALUE(maximum),
      .is_obvious = true,
      .help = "a bound of the number" },
    { .name = "minLength",
      ARGUMENT_RANGE(INTEGER, 0, LIMIT_ANSWER_TEXT_BYTES, NUMBER),
      .offset = VALUE(min_chars),
      .is_obvious = true,
      .help = "a limit of the text" },
    { .name = "maxLength",
      ARGUMENT_RANGE(INTEGER, 1, LIMIT_ANSWER_TEXT_BYTES, NUMBER),
      .offset = VALUE(max_chars),
      .is_obvious = true,
      .help = "a limit of the text" },
    { .name = "format",
      .type = ARGUMENT_ENUM,
      .choices = text_format_names,
      .offset = VALUE(format),
      .is_obvious = true,
      .help = "a limit of the text" },
    { .name = "pattern", .type = ARGUMENT_ANY, .offset = VALUE(pattern), .is_hidden = true },
    { .name = "secret", .type = ARGUMENT_ANY, .offset = VALUE(secret), .is_hidden = true },
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
