#include "http/portal/shown.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/visible_text.h"
#include "markup/markup.h"

/* One thing with texts, while it is written: its marks come last. */
struct shower {
    struct json_writer *writer;
    struct text visible; /* room for one text */
    struct text marks;   /* {"name":["hidden"], …} of this thing; empty: none */
    struct json_writer marks_writer;
};

static void note_marks(struct shower *shower, const char *name, unsigned flags)
{
    bool is_hidden = flags & VISIBLE_HIDDEN, is_mixed = flags & VISIBLE_MIXED_SCRIPT;

    if (!is_hidden && !is_mixed)
        return;
    if (shower->marks.used == 0) {
        shower->marks_writer = json_writer_to(&shower->marks);
        json_write_object(&shower->marks_writer, NULL);
    }
    json_write_list(&shower->marks_writer, name);
    if (is_hidden)
        json_write_text(&shower->marks_writer, NULL, "hidden");
    if (is_mixed)
        json_write_text(&shower->marks_writer, NULL, "mixed_script");
    json_write_end_list(&shower->marks_writer);
}

static void show_text(struct shower *shower, const char *name, const char *text,
                      enum visible_lines lines)
{
    if (!text)
        return;
    text_clear(&shower->visible);
    note_marks(shower, name, visible_text(text, strlen(text), lines, &shower->visible));
    json_write_text_n(shower->writer, name, text_string(&shower->visible), shower->visible.used);
}

static void show_markup(struct shower *shower, const char *name, struct markup *take_markup)
{
    if (!take_markup)
        return;
    note_marks(shower, name, take_markup->flags);
    markup_write(take_markup, shower->writer, name);
    markup_free(take_markup);
}

static struct shower begin(struct json_writer *writer, const char *key)
{
    json_write_object(writer, key);
    return (struct shower){ .writer = writer };
}

static void end(struct shower *shower)
{
    if (shower->marks.used > 0) {
        json_write_end_object(&shower->marks_writer);
        json_write_raw(shower->writer, "marks", text_string(&shower->marks));
    }
    json_write_end_object(shower->writer);
    text_release(&shower->visible);
    text_release(&shower->marks);
}

static void show_option(const struct option *option, struct json_writer *writer)
{
    struct shower shower = begin(writer, NULL);

    show_text(&shower, "id", option->id, VISIBLE_ONE_LINE);
    show_text(&shower, "label", option->label, VISIBLE_ONE_LINE);
    show_text(&shower, "description", option->description, VISIBLE_LINES);
    show_markup(&shower, "preview", markup_of_preview(&option->preview));
    end(&shower);
}

static void show_field(const struct field *field, struct json_writer *writer)
{
    struct shower shower = begin(writer, NULL);

    show_text(&shower, "name", field->name, VISIBLE_ONE_LINE);
    show_text(&shower, "label", field->label, VISIBLE_ONE_LINE);
    show_text(&shower, "header", field->header, VISIBLE_ONE_LINE);
    show_text(&shower, "description", field->description, VISIBLE_LINES);
    show_text(&shower, "placeholder", field->placeholder, VISIBLE_ONE_LINE);
    show_text(&shower, "unit", field->unit, VISIBLE_ONE_LINE);
    if (field->option_count > 0) {
        json_write_list(writer, "options");
        for (size_t i = 0; i < field->option_count; i++)
            show_option(&field->options[i], writer);
        json_write_end_list(writer);
    }
    end(&shower);
}

/*
 * {title, prompt, mentions_secret?, marks?, fields: [{label?, description?, placeholder?, unit?,
 *  marks?, options?: [{id, label, description?, preview?, marks?}]}]}, in the form's order.
 * `marks` says of a text by its name what it hides: "hidden", "mixed_script".
 */
static void shown_write(const struct form *form, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    struct shower shower = begin(&writer, NULL);

    show_text(&shower, "title", form->title, VISIBLE_ONE_LINE);
    show_markup(&shower, "prompt", markup_markdown(form->prompt));
    json_write_bool_if(&writer, "mentions_secret",
                       sensitive_is_mentioned(form->title) || sensitive_is_mentioned(form->prompt));
    json_write_list(&writer, "fields");
    for (size_t i = 0; i < form->field_count; i++)
        show_field(&form->fields[i], &writer);
    json_write_end_list(&writer);
    end(&shower);
}

/* The form stands in the reply as the store keeps it. */
static bool read_form(const char *reply_json, struct form *ret_form)
{
    struct json *reply = NULL;
    char *form_json = NULL;
    bool ok = false;

    if (json_parse(reply_json, strlen(reply_json), &reply, NULL) && json_member(reply, "form")) {
        form_json = json_encode(json_member(reply, "form"));
        ok = form_parse(form_json, strlen(form_json), ret_form, NULL);
    }
    free(form_json);
    json_free(reply);
    return ok;
}

void shown_add(const char *reply_json, struct text *out)
{
    size_t length = strlen(reply_json);
    struct form form = { 0 };

    if (length < 2 || !read_form(reply_json, &form)) {
        text_add(out, reply_json, length);
        return;
    }
    text_add(out, reply_json, length - 1); /* up to its last brace */
    text_add_text(out, ",\"shown\":");
    shown_write(&form, out);
    text_add_char(out, '}');
    form_release(&form);
}
