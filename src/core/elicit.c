/* elicit.c - see elicit.h. */
#include "core/elicit.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/field_class.h"
#include "core/response.h"
#include "core/visible_text.h"

const struct argument elicit_value_row =
    ELICIT_VALUE("a value", "values are texts of 1 to 128 bytes");
const struct argument elicit_label_row =
    ELICIT_LABEL("a label", "labels are texts of 1 to 200 characters");

static void write_value(struct json_writer *writer, const struct response_facts *facts)
{
    const struct answer *answer = response_answer(facts);

    if (answer) {
        const struct field *field = facts->form->fields;

        json_write_foreign_key(writer, field->name);
        class_of(field)->write(writer, field, &answer->values[0]);
    }
    response_write_words(writer, facts);
}

const struct response_shape elicit_one_value = {
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

void elicit_begin(const struct elicit_values *values, size_t field_count, struct ask_call *call)
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
            json_is_yes(json_member(json_item(items, i), "destructive"));
}

void elicit_fill_bounds(struct field *field, const struct json *minimum, const struct json *maximum)
{
    field->has_minimum = minimum != NULL;
    field->has_maximum = maximum != NULL;
    field->minimum = json_number_of(minimum);
    field->maximum = json_number_of(maximum);
}
