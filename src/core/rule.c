#include "core/rule.h"

#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "i18n/i18n.h"

static void write_field(struct json_writer *writer, const struct field *field)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "name", field->name);
    json_write_text(writer, "kind", field_kind_names[field->kind]);
    json_write_text(writer, "label", field->label);
    json_write_text(writer, "unit", field->unit);
    json_write_bool(writer, "required", field->is_required);
    json_write_integer(writer, "least", field->min_selections);
    json_write_integer(writer, "most", field->max_selections);
    json_write_list(writer, "options");
    for (size_t i = 0; i < field->option_count; i++) {
        json_write_text(writer, NULL, field->options[i].id);
        json_write_text(writer, NULL, field->options[i].label);
        json_write_text(writer, NULL, field->options[i].description);
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
}

void rule_write_kind(const struct rule_subject *subject, bool any_prompt, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_text(&writer, "principal", subject->principal);
    json_write_text(&writer, "directory", subject->directory);
    json_write_text(&writer, "tool", subject->tool);
    json_write_text(&writer, "title", subject->form->title);
    if (!any_prompt)
        json_write_text(&writer, "prompt", subject->form->prompt);
    json_write_list(&writer, "fields");
    for (size_t i = 0; i < subject->form->field_count; i++)
        write_field(&writer, &subject->form->fields[i]);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
}

bool rule_check(const struct rule_subject *subject, bool any_prompt, struct error *err)
{
    if (form_may_destroy(subject->form))
        return error_say(err, ERROR_wrong_state, "/session_id", TEXT_REASON_RULE_DESTRUCTIVE, NULL);
    if (any_prompt && strcmp(subject->tool, "provide_choice") != 0)
        return error_say(err, ERROR_conflicting_arguments, "/any_prompt", TEXT_REASON_RULE_NO_TITLE,
                         NULL);
    return true;
}
