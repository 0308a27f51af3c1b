/* answer_json.c - an answer as JSON: store and agent get the same picks and notes. */
#include "base/json_writer.h"
#include "base/text.h"
#include "core/field_class.h"

void answer_write_picks(struct json_writer *writer, const char *key, const struct field *field,
                        const struct field_value *value)
{
    json_write_list(writer, key);
    for (size_t i = 0; value->is_selected && i < value->option_count; i++) {
        if (value->is_selected[i])
            json_write_text(writer, NULL, field->options[i].id);
    }
    json_write_end_list(writer);
}

void answer_write_notes(struct json_writer *writer, const struct form *form,
                        const struct answer *answer)
{
    if (answer->option_notes) {
        json_write_object(writer, "option_annotations");
        for (size_t i = 0; i < answer->option_note_count; i++)
            json_write_text_if(writer, form->fields[0].options[i].id, answer->option_notes[i]);
        json_write_end_object(writer);
    }
    json_write_text_if(writer, "global_annotation", answer->global_note);
}

void answer_write_field_notes(struct json_writer *writer, const struct form *form,
                              const struct answer *answer)
{
    bool has_any = false;

    for (size_t i = 0; i < answer->value_count; i++) {
        if (!answer->values[i].note)
            continue;
        if (!has_any)
            json_write_object(writer, "field_annotations");
        has_any = true;
        json_write_foreign_key(writer, form->fields[i].name);
        json_write_text(writer, NULL, answer->values[i].note);
    }
    if (has_any)
        json_write_end_object(writer);
}

bool answer_has_value(const struct field_value *value)
{
    return answer_count_picks(value) > 0 || value->has_number || value->has_confirm || value->text;
}

/* As answer_check reads it below `fields`: what is gone is written as gone. */
static void write_stored(struct json_writer *writer, const struct field *field,
                         const struct field_value *value)
{
    if (!value->is_selected && !answer_has_value(value) && !field_has_default(field))
        return;
    json_write_foreign_key(writer, field->name);
    class_of(field)->write_stored(writer, field, value);
}

/* As answer_write_notes, but a prefilled note that was removed is written as an empty one: an
 * answer that is undone becomes a draft, where a note that is left out counts as kept. */
static void write_stored_notes(struct json_writer *writer, const struct form *form,
                               const struct answer *answer)
{
    const struct field *field = &form->fields[0];
    bool has_any = false;

    for (size_t i = 0; form->allow_annotations && i < field->option_count; i++) {
        const char *note = answer->option_notes ? answer->option_notes[i] : NULL;
        bool is_gone = !note && field->options[i].annotation && answer->values[0].is_selected[i];

        if (!note && !is_gone)
            continue;
        if (!has_any)
            json_write_object(writer, "option_annotations");
        has_any = true;
        json_write_text(writer, field->options[i].id, note ? note : "");
    }
    if (has_any)
        json_write_end_object(writer);
    if (answer->global_note || (form->allow_annotations && form->global_annotation))
        json_write_text(writer, "global_annotation",
                        answer->global_note ? answer->global_note : "");
    if (answer->hides_placeholder)
        json_write_bool(writer, "placeholder_visible", false);
}

/* What stood there beforehand and is gone is written as gone: leaving it out would mean the
 * defaults. */
void answer_encode(const struct form *form, const struct answer *answer, struct text *out)
{
    const struct field_value *value = &answer->values[0];
    struct json_writer writer = json_object_to(out);
    bool is_said = answer_has_value(value) || field_has_default(&form->fields[0]);
    size_t own_members = class_is_scalar(class_of(&form->fields[0])) && is_said ? 0 : 1;

    if (value->is_selected)
        answer_write_picks(&writer, "selected_ids", &form->fields[0], value);
    if (value->text || form->fields[0].default_text)
        json_write_text(&writer, "custom_input", value->text ? value->text : "");
    if (own_members < answer->value_count) {
        json_write_object(&writer, "fields");
        for (size_t i = own_members; i < answer->value_count; i++)
            write_stored(&writer, &form->fields[i], &answer->values[i]);
        json_write_end_object(&writer);
    }
    answer_write_field_notes(&writer, form, answer);
    write_stored_notes(&writer, form, answer);
    json_write_end_object(&writer);
}
