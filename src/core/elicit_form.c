/* elicit_form.c - the tool elicit_form: a small form by JSON Schema; result under `content`. */
#include "base/json_writer.h"
#include "core/arguments_inside.h"
#include "core/elicit.h"
#include "core/field_class.h"
#include "core/response.h"

struct form_values {
    struct elicit_values common; /* first */
    const struct json *schema;
};

/* published: elicit_form */
static const struct argument form_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("requestedSchema", OBJECT, offsetof(struct form_values, schema),
             "{type: object, properties, required}, 1 to 32 flat properties as MCP "
             "elicitation has them: string (minLength, maxLength, format), number, integer "
             "(minimum, maximum), boolean, enum or oneOf {const, title}, array of these; title, "
             "description, default. Never ask for secrets.",
             .is_needed = true),
    ELICIT_REST,
};

static bool build(const void *filled, struct ask_call *call, struct error *err)
{
    const struct form_values *values = filled;
    const struct place place = { .name = "requestedSchema" };

    elicit_begin(&values->common, 0, call);
    return elicit_read_schema(values->schema, &place, &call->form, err);
}

/* What was left empty is left out, as a form's content has it. */
static void write_content(struct json_writer *writer, const struct response_facts *facts)
{
    const struct answer *answer = response_answer(facts);

    if (answer) {
        json_write_object(writer, "content");
        for (size_t i = 0; i < answer->value_count; i++) {
            const struct field *field = &facts->form->fields[i];
            const struct field_class *class = class_of(field);
            bool is_list = class->has_options && !class->is_exclusive;

            if (!answer_has_value(&answer->values[i]) && !(is_list && field->is_required))
                continue;
            json_write_foreign_key(writer, field->name);
            class->write(writer, field, &answer->values[i]);
        }
        json_write_end_object(writer);
    }
    response_write_words(writer, facts);
}

static const struct response_shape shape = {
    .has_action = true,
    .write_values = write_content,
};
const struct ask_tool tool_elicit_form = {
    .name = "elicit_form",
    ASK_TOOL_ARGUMENTS(form_arguments, struct form_values),
    .build = build,
    .response = &shape,
    .value_key = "content",
};
