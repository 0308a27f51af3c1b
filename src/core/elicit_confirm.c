/*
 * elicit_confirm.c - the tool elicit_confirm: yes or no; result under `confirmed`.
 * Only a person's yes is one. A no is a decline however it was said, so that an agent which looks
 * at the action alone stops too.
 */
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/elicit.h"
#include "core/response.h"
#include "core/validation.h"

struct confirm_values {
    struct elicit_values common; /* first */
    int64_t destructive;
    const struct json *preset;
};
#define VALUE(name) offsetof(struct confirm_values, name)

/* published: elicit_confirm */
static const struct argument confirm_arguments[] = {
    ELICIT_MESSAGE,
    ARGUMENT("destructive", BOOL, VALUE(destructive),
             "true when something may be lost: the person confirms by a second act."),
    ARGUMENT("default", ANY, VALUE(preset), NULL, .is_hidden = true),
    ELICIT_REST,
};

static bool build(const void *filled, struct ask_call *call, struct error *err)
{
    const struct confirm_values *values = filled;

    (void)err;
    elicit_begin(&values->common, 1, call);
    call->form.is_destructive = values->destructive;
    call->form.fields[0] =
        (struct field){ .name = mem_text("confirmed"), .kind = FIELD_CONFIRM, .is_required = true };
    return true;
}

static void write_confirmed(struct json_writer *writer, const struct response_facts *facts)
{
    const struct answer *answer = response_answer(facts);

    if (answer)
        json_write_bool(writer, "confirmed", answer->values[0].confirmed);
    else if (response_is_no(facts))
        json_write_bool(writer, "confirmed", false);
    response_write_words(writer, facts);
}

static const struct response_shape shape = {
    .has_action = true,
    .no_is_decline = true,
    .write_values = write_confirmed,
};
const struct ask_tool tool_elicit_confirm = {
    .name = "elicit_confirm",
    ASK_TOOL_ARGUMENTS(confirm_arguments, struct confirm_values),
    .build = build,
    .check = validation_check_elicit_confirm,
    .response = &shape,
    .value_key = "confirmed",
};
