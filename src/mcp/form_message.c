/* form_message.c - see form_message.h. */
#include "mcp/form_message.h"

#include <stdio.h>
#include <string.h>

#include "core/form.h"
#include "core/glyph.h"
#include "core/known_clients.h"
#include "mcp/form_schema.h"

enum { MESSAGE_COLUMNS = 76 }; /* with the dots */

void form_add_shown(struct text *out, const char *text, enum visible_lines lines, size_t chars)
{
    struct text shown = { 0 };
    const char *at, *end;

    visible_text(text, strlen(text), lines, &shown);
    at = text_string(&shown);
    end = at + shown.used;
    if (shown.used <= chars) { /* no more characters than bytes */
        text_add(out, at, shown.used);
        at = end;
    }
    for (const char *from = at; at < end; from = at) {
        if (chars-- == 0 || text_decode(&at, end) < 0) {
            text_add_text(out, "…");
            break;
        }
        text_add(out, from, (size_t)(at - from));
    }
    text_release(&shown);
}

/* The prompt, with the title where it is not said by it or by the field; or each question on a line
 * of its own. */
static void add_whole(struct text *out, const struct form *form, bool is_field_title)
{
    bool has_prompt = form->prompt && *form->prompt;

    if (has_prompt && !is_field_title &&
        strncmp(form->prompt, form->title, strlen(form->title)) != 0) {
        form_add_shown(out, form->title, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
        text_add_text(out, "\n\n");
    }
    if (has_prompt)
        form_add_shown(out, form->prompt, VISIBLE_LINES, FORM_MESSAGE_CHARS);
    for (size_t i = 0; !has_prompt && i < form->field_count && form->fields[i].label; i++) {
        text_add_text(out, i ? "\n" : "");
        form_add_shown(out, form->fields[i].label, VISIBLE_ONE_LINE, FORM_MESSAGE_CHARS);
    }
}

/* Where there are more lines than `most`, or something else is cut, the last one is where all of it
 * is. */
static void add_lines(struct text *out, const struct text *whole, int most, bool is_cut,
                      const char *rest)
{
    size_t next, last = 0;
    int count = 0;

    for (size_t at = 0; at < whole->used && count <= most; at += next) {
        size_t length = glyph_wrap(whole->bytes + at, whole->used - at, MESSAGE_COLUMNS - 1, &next);

        if (strspn(whole->bytes + at, " ") >= length)
            continue;
        if (++count == most)
            last = out->used;
        text_add_text(out, out->used ? "\n" : "");
        text_add(out, whole->bytes + at, length);
    }
    if (count <= most && !is_cut)
        return;
    if (count >= most) {
        out->used = last;
        text_add_text(out, "…");
    }
    text_add_format(out, "\n%s", rest);
}

void form_message_add(const struct form *form, const struct known_client *client,
                      enum language language, bool is_cut, const char *place, struct text *out)
{
    bool is_field_title = form->field_count == 1 && !form->fields[0].label &&
                          glyph_columns(form->title, strlen(form->title)) <= client->title_columns;
    struct text whole = { 0 }, rest = { 0 };

    if (!client->message_lines) {
        add_whole(out, form, false);
        return;
    }
    text_add_text(&whole, text_string(out));
    text_clear(out);
    add_whole(&whole, form, is_field_title);
    i18n_format_in(language, &rest, TEXT_FORM_REST, "place", place, NULL);
    add_lines(out, &whole, client->message_lines, is_cut, text_string(&rest));
    text_release(&whole);
    text_release(&rest);
}
