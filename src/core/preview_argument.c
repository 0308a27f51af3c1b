/* preview_argument.c - see preview_argument.h. */
#include "core/preview_argument.h"

#include "base/json.h"
#include "core/limits.h"

enum { PREVIEW_LANGUAGE_CHARS = 64 };

struct preview_values {
    const char *type, *text, *language;
};
#define PREVIEW(name) offsetof(struct preview_values, name)

/* published: preview_argument */
const struct argument preview_properties[PREVIEW_PROPERTIES] = {
    ARGUMENT("type", ENUM, PREVIEW(type), "How to show the preview: text, markdown, code or diff.",
             .choices = preview_type_names + PREVIEW_TEXT, .is_needed = true, .is_obvious = true),
    ARGUMENT("text", TEXT, PREVIEW(text), "What to show, up to 64 KiB.",
             ARGUMENT_LIMITS(0, LIMIT_PREVIEW_BYTES, BYTES), .is_needed = true, .is_obvious = true),
    ARGUMENT("language", TEXT, PREVIEW(language), "Language of the code, such as c or python.",
             ARGUMENT_LIMITS(0, PREVIEW_LANGUAGE_CHARS, CHARS), .is_obvious = true),
};

void preview_build(const struct json *given, struct preview *preview)
{
    struct preview_values values = { .type = preview_type_names[PREVIEW_TEXT] };

    if (json_kind(given) == KIND_OBJECT)
        arguments_fill(preview_properties, PREVIEW_PROPERTIES, given, &values);
    else
        values.text = json_text(given);
    preview->text = arguments_copy_if_any(values.text);
    if (!preview->text)
        return;
    preview->type = form_name_find(preview_type_names, values.type, PREVIEW_TEXT);
    preview->language = arguments_copy_if_any(values.language);
}
