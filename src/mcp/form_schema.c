#include "mcp/form_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/field_class.h"
#include "core/glyph.h"
#include "core/known_clients.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

enum { MESSAGE_COLUMNS = 76 }; /* with the dots */

/* As much of a text as fits, made harmless to show and cut between characters. */
static void add_shown(struct text *out, const char *text, enum visible_lines lines, size_t chars)
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
        add_shown(out, form->title, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
        text_add_text(out, "\n\n");
    }
    if (has_prompt)
        add_shown(out, form->prompt, VISIBLE_LINES, FORM_MESSAGE_CHARS);
    for (size_t i = 0; !has_prompt && i < form->field_count && form->fields[i].label; i++) {
        text_add_text(out, i ? "\n" : "");
        add_shown(out, form->fields[i].label, VISIBLE_ONE_LINE, FORM_MESSAGE_CHARS);
    }
}

/* Where there are more lines than `most`, or something else is cut, the last one is where all of it
 * is. */
static void add_lines(struct text *out, const struct text *whole, int max, bool is_cut,
                      const char *rest)
{
    size_t next, last = 0;
    int count = 0;

    for (size_t at = 0; at < whole->used && count <= max; at += next) {
        size_t length = glyph_wrap(whole->bytes + at, whole->used - at, MESSAGE_COLUMNS - 1, &next);

        if (strspn(whole->bytes + at, " ") >= length)
            continue;
        if (++count == max)
            last = out->used;
        text_add_text(out, out->used ? "\n" : "");
        text_add(out, whole->bytes + at, length);
    }
    if (count <= max && !is_cut)
        return;
    if (count >= max) {
        out->used = last;
        text_add_text(out, "…");
    }
    text_add_format(out, "\n%s", rest);
}

/* The words above the fields, after what `out` has: the title unless the field has it, the prompt,
 * or each of several questions on a line of its own. Of a client that cuts: as many lines as it
 * shows, none of them blank. `is_cut`: there is more than the message has. `place`: where a person
 * finds all of it, an address or a command. */
static void add_message(const struct form *form, const struct known_client *client,
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

/* One form being written. */
struct writing {
    const struct form *form;
    const struct known_client *client;
    enum mcp_revision revision;
    enum language language;
    struct json_writer json;
    struct text required; /* members of the list, as JSON */
    size_t count;         /* properties so far */
    bool is_cut;          /* a title or option, by the client */
};

static bool has_lists(const struct writing *writing)
{
    return writing->revision >= REVISION_2025_11_25 && !writing->client->lacks_lists;
}

static bool has_defaults(const struct writing *writing)
{
    return writing->revision >= REVISION_2025_11_25;
}

/* False: its client cuts it. */
static bool fits_title(struct writing *writing, const struct text *title)
{
    bool fits = !writing->client->title_columns ||
                glyph_columns(title->bytes, title->used) <= writing->client->title_columns;

    writing->is_cut = writing->is_cut || !fits;
    return fits;
}

static void write_shown(struct json_writer *json, const char *key, const char *text)
{
    struct text shown = { 0 };

    add_shown(&shown, text, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
    json_write_text(json, key, text_string(&shown));
    text_release(&shown);
}

static void add_title(const struct writing *writing, const struct field *field, struct text *out)
{
    const char *title = field->label;

    if (!title && writing->form->field_count == 1)
        title = writing->form->title;
    if (field->header) {
        add_shown(out, field->header, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
        text_add_text(out, ": ");
    }
    add_shown(out, title ? title : field->name, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
}

/* First of all: a dialog may cut the rest off. */
static void add_lacks(const struct writing *writing, const struct json *told, struct text *out)
{
    static const char fields[] = "/fields/";
    const char *lacks = json_member_text(told, "lacks"), *at = json_member_text(told, "lacks_at");
    struct error err;

    if (!lacks || !at)
        return;
    for (size_t i = 0; i < writing->form->field_count && writing->form->field_count > 1; i++) {
        const struct field *field = &writing->form->fields[i];
        size_t length = strlen(field->name);

        if (strncmp(at, fields, sizeof fields - 1) == 0 &&
            strncmp(at + sizeof fields - 1, field->name, length) == 0 &&
            strchr("/", at[sizeof fields - 1 + length])) {
            add_title(writing, field, out);
            text_add_text(out, ": ");
        }
    }
    error_set(&err, ERROR_validation_failed, at, "%s", lacks);
    error_read_words(&err, json_member(told, "lacks_words"));
    error_write_in(&err, writing->language, out);
    text_add_text(out, "\n\n");
}

static void begin_property(struct writing *writing, const char *key, const char *type,
                           bool is_required)
{
    json_write_foreign_key(&writing->json, key);
    json_write_object(&writing->json, NULL);
    json_write_text(&writing->json, "type", type);
    writing->count++;
    if (is_required) {
        struct json_writer list = json_writer_to(&writing->required);

        list.needs_comma = writing->required.used > 0;
        json_write_text(&list, NULL, key);
    }
}

/* `before` stands in front; "" for nothing. */
static void write_title_after(struct writing *writing, const struct field *field,
                              const char *before)
{
    struct text out = { 0 };

    text_add_text(&out, before);
    add_title(writing, field, &out);
    if (!*before)
        fits_title(writing, &out);
    json_write_text(&writing->json, "title", text_string(&out));
    text_release(&out);
}

static void write_title(struct writing *writing, const struct field *field)
{
    write_title_after(writing, field, "");
}

/* A question that a title would cut. */
static bool is_long_question(const struct writing *writing, const struct field *field)
{
    return writing->form->field_count > 1 && field->label &&
           text_count(field->label, strlen(field->label)) > FORM_LABEL_CHARS;
}

/* The agent's words about the field, then ours about what it takes. `names_question`: the title
 * says something else, and the dialog may show this field alone. */
static void write_description(struct writing *writing, const struct field *field,
                              bool names_question, const struct text *hint)
{
    struct text out = { 0 };

    if (is_long_question(writing, field))
        add_shown(&out, field->label, VISIBLE_LINES, FORM_MESSAGE_CHARS);
    else if (names_question)
        add_title(writing, field, &out);
    if (field->description && out.used)
        text_add_text(&out, " · ");
    if (field->description)
        add_shown(&out, field->description, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
    if (hint && hint->used && out.used)
        text_add_text(&out, " · ");
    if (hint)
        text_add(&out, text_string(hint), hint->used);
    json_write_text_if(&writing->json, "description", out.used ? text_string(&out) : NULL);
    text_release(&out);
}

/* Where the client would cut it, what stays is the label's beginning and that it is recommended. */
static void write_label(struct writing *writing, const char *key, const struct option *option)
{
    struct text label = { 0 }, mark = { 0 };
    size_t length, next;

    if (option->is_recommended)
        text_add_format(&mark, " (%s)", i18n_text_in(writing->language, TEXT_RECOMMENDED));
    add_shown(&label, option->label, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
    length = label.used;
    text_add_text(&label, text_string(&mark));
    if (option->description) {
        text_add_text(&label, " – ");
        add_shown(&label, option->description, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
    }
    if (!fits_title(writing, &label)) {
        int columns = writing->client->title_columns - glyph_columns(mark.bytes, mark.used) - 1;

        label.used = glyph_wrap(label.bytes, length, columns, &next);
        text_add_format(&label, "%s%s", label.used < length ? "…" : "", text_string(&mark));
    }
    json_write_text(&writing->json, key, text_string(&label));
    text_release(&label);
    text_release(&mark);
}

static void write_pairs(struct writing *writing, const char *key, const struct field *field)
{
    json_write_list(&writing->json, key);
    for (size_t i = 0; i < field->option_count; i++) {
        json_write_object(&writing->json, NULL);
        json_write_text(&writing->json, "const", field->options[i].id);
        write_label(writing, "title", &field->options[i]);
        json_write_end_object(&writing->json);
    }
    json_write_end_list(&writing->json);
}

static void write_enum(struct writing *writing, const struct field *field)
{
    json_write_list(&writing->json, "enum");
    for (size_t i = 0; i < field->option_count; i++)
        json_write_text(&writing->json, NULL, field->options[i].id);
    json_write_end_list(&writing->json);
    json_write_list(&writing->json, "enumNames");
    for (size_t i = 0; i < field->option_count; i++)
        write_label(writing, NULL, &field->options[i]);
    json_write_end_list(&writing->json);
}

static void write_default_pick(struct writing *writing, const struct field *field)
{
    for (size_t i = 0; i < field->option_count && has_defaults(writing); i++) {
        if (field->options[i].is_default) {
            json_write_text(&writing->json, "default", field->options[i].id);
            return;
        }
    }
}

static void write_single(struct writing *writing, size_t index, bool is_required)
{
    const struct field *field = &writing->form->fields[index];

    begin_property(writing, field->name, "string", is_required);
    write_title(writing, field);
    write_description(writing, field, false, NULL);
    if (writing->revision >= REVISION_2025_11_25 || writing->client->wants_one_of)
        write_pairs(writing, "oneOf", field);
    else
        write_enum(writing, field);
    write_default_pick(writing, field);
    json_write_end_object(&writing->json);
}

static void hint_count(const struct writing *writing, const struct field *field, struct text *out)
{
    char min[TEXT_INTEGER_BYTES], max[TEXT_INTEGER_BYTES];
    bool is_one = field->min_selections == field->max_selections;

    i18n_format_in(writing->language, out, is_one ? TEXT_CHOOSE_COUNT : TEXT_CHOOSE_RANGE, "min",
                   text_of_integer(field->min_selections, min), "max",
                   text_of_integer(field->max_selections, max), NULL);
}

static void write_list(struct writing *writing, size_t index, int64_t min, bool is_required)
{
    const struct field *field = &writing->form->fields[index];
    struct text hint = { 0 };
    bool has_default = false;

    begin_property(writing, field->name, "array", is_required);
    write_title(writing, field);
    hint_count(writing, field, &hint);
    write_description(writing, field, false, &hint);
    text_release(&hint);
    json_write_object(&writing->json, "items");
    write_pairs(writing, "anyOf", field);
    json_write_end_object(&writing->json);
    json_write_integer(&writing->json, "minItems", min);
    json_write_integer(&writing->json, "maxItems", field->max_selections);
    for (size_t i = 0; i < field->option_count; i++)
        has_default = has_default || field->options[i].is_default;
    if (has_default) {
        json_write_list(&writing->json, "default");
        for (size_t i = 0; i < field->option_count; i++) {
            if (field->options[i].is_default)
                json_write_text(&writing->json, NULL, field->options[i].id);
        }
        json_write_end_list(&writing->json);
    }
    json_write_end_object(&writing->json);
}

static void begin_yes_or_no(struct writing *writing, const char *key, bool is_required)
{
    begin_property(writing, key, writing->client->picks_yes ? "string" : "boolean", is_required);
}

/* Where yes is what Enter takes a choice stands instead, with no first. */
static void end_yes_or_no(struct writing *writing, enum confirm_default preset)
{
    static const struct {
        const char *value;
        enum text_id label;
    } answers[] = { { CLIENT_FORM_NO, TEXT_TUI_NO }, { CLIENT_FORM_YES, TEXT_TUI_YES } };
    struct json_writer *json = &writing->json;

    if (writing->client->picks_yes) {
        json_write_list(json, "oneOf");
        for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
            json_write_object(json, NULL);
            json_write_text(json, "const", answers[i].value);
            json_write_text(json, "title", i18n_text_in(writing->language, answers[i].label));
            json_write_end_object(json);
        }
        json_write_end_list(json);
    }
    if (preset != CONFIRM_OPEN && writing->client->picks_yes)
        json_write_text(json, "default", answers[preset == CONFIRM_YES].value);
    else if (preset != CONFIRM_OPEN)
        json_write_bool(json, "default", preset == CONFIRM_YES);
    json_write_end_object(json);
}

/* A yes or no for each option. */
static void write_yeses(struct writing *writing, size_t index)
{
    const struct field *field = &writing->form->fields[index];

    for (size_t i = 0; i < field->option_count; i++) {
        struct text key = { 0 }, hint = { 0 };

        client_form_option_key(writing->form, index, i, &key);
        begin_yes_or_no(writing, text_string(&key), false);
        write_label(writing, "title", &field->options[i]);
        hint_count(writing, field, &hint);
        write_description(writing, field, true, &hint);
        end_yes_or_no(writing, field->options[i].is_default ? CONFIRM_YES : CONFIRM_OPEN);
        text_release(&hint);
        text_release(&key);
    }
}

static void write_multi(struct writing *writing, size_t index)
{
    const struct field *field = &writing->form->fields[index];

    if (has_lists(writing))
        write_list(writing, index, field->is_required ? field->min_selections : 0,
                   field->is_required);
    else
        write_yeses(writing, index);
}

/* Options, and words in a field of their own where that can be left empty. */
static void write_hybrid(struct writing *writing, size_t index)
{
    const struct field *field = &writing->form->fields[index];
    bool has_words = !writing->client->needs_every_text;
    bool is_required = !has_words && field->min_selections > 0;
    struct text key = { 0 }, before = { 0 };

    if (field->max_selections == 1)
        write_single(writing, index, is_required);
    else if (has_lists(writing))
        write_list(writing, index, has_words ? 0 : field->min_selections, is_required);
    else
        write_yeses(writing, index);
    if (!has_words)
        return;
    client_form_words_key(writing->form, index, &key);
    begin_property(writing, text_string(&key), "string", false);
    if (writing->form->field_count > 1) /* whose words? */
        text_add_format(&before, "%s – ", i18n_text_in(writing->language, TEXT_OWN_WORDS));
    if (before.used)
        write_title_after(writing, field, text_string(&before));
    else
        json_write_text(&writing->json, "title", i18n_text_in(writing->language, TEXT_OWN_WORDS));
    if (field->placeholder && field->placeholder_visible)
        write_shown(&writing->json, "description", field->placeholder);
    json_write_end_object(&writing->json);
    text_release(&before);
    text_release(&key);
}

static void write_text(struct writing *writing, size_t index)
{
    const struct field *field = &writing->form->fields[index];
    struct text hint = { 0 };

    begin_property(writing, field->name, "string", field->is_required);
    write_title(writing, field);
    if (field->placeholder && field->placeholder_visible)
        add_shown(&hint, field->placeholder, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
    write_description(writing, field, false, &hint);
    text_release(&hint);
    if (field->min_chars > 0)
        json_write_integer(&writing->json, "minLength", field->min_chars);
    if (field->max_chars > 0)
        json_write_integer(&writing->json, "maxLength", field->max_chars);
    json_write_text_if(&writing->json, "format", field->format);
    if (has_defaults(writing))
        json_write_text_if(&writing->json, "default", field->default_text);
    json_write_end_object(&writing->json);
}

static void hint_number(const struct writing *writing, const struct field *field, struct text *out)
{
    char minimum[32], maximum[32], step[32];
    enum text_id id = field->has_minimum && field->has_maximum ? TEXT_NUMBER_RANGE
                      : field->has_minimum                     ? TEXT_NUMBER_LEAST
                      : field->has_maximum                     ? TEXT_NUMBER_MOST
                                                               : TEXT_NUMBER_ANY;

    snprintf(minimum, sizeof minimum, "%.15g", field->minimum);
    snprintf(maximum, sizeof maximum, "%.15g", field->maximum);
    snprintf(step, sizeof step, "%.15g", field->step);
    i18n_format_in(writing->language, out, id, "min", minimum, "max", maximum, NULL);
    if (field->step > 0) {
        text_add_text(out, ", ");
        i18n_format_in(writing->language, out, TEXT_NUMBER_STEP, "step", step, NULL);
    }
    if (field->unit) {
        text_add_text(out, ", ");
        add_shown(out, field->unit, VISIBLE_ONE_LINE, FORM_LABEL_CHARS);
    }
}

/* Peers made from early copies of the legacy schemas refuse fractions as bounds: there they are
 * wider by less than one, and the hub judges. */
static void write_number(struct writing *writing, size_t index)
{
    const struct field *field = &writing->form->fields[index];
    bool is_exact = writing->revision == REVISION_2026_07_28;
    bool is_text = writing->client->lacks_numbers;
    struct text hint = { 0 };

    begin_property(writing, field->name,
                   is_text             ? "string"
                   : field->is_integer ? "integer"
                                       : "number",
                   field->is_required);
    write_title(writing, field);
    hint_number(writing, field, &hint);
    write_description(writing, field, false, &hint);
    text_release(&hint);
    if (field->has_minimum && !is_text)
        json_write_number(&writing->json, "minimum",
                          is_exact ? field->minimum : floor(field->minimum));
    if (field->has_maximum && !is_text)
        json_write_number(&writing->json, "maximum",
                          is_exact ? field->maximum : ceil(field->maximum));
    if (field->has_default_number && has_defaults(writing) && !is_text)
        json_write_number(&writing->json, "default", field->default_number);
    json_write_end_object(&writing->json);
}

static void write_confirm(struct writing *writing, size_t index)
{
    const struct field *field = &writing->form->fields[index];

    begin_yes_or_no(writing, field->name, field->is_required);
    write_title(writing, field);
    write_description(writing, field, false, NULL);
    end_yes_or_no(writing, field->default_confirm);
}

static void write_choice(struct writing *writing, size_t index)
{
    write_single(writing, index, writing->form->fields[index].is_required);
}

static void (*const writers[FIELD_KIND_COUNT])(struct writing *writing, size_t index) = {
    [FIELD_SINGLE] = write_choice, [FIELD_MULTI] = write_multi,   [FIELD_TEXT] = write_text,
    [FIELD_HYBRID] = write_hybrid, [FIELD_NUMBER] = write_number, [FIELD_CONFIRM] = write_confirm,
};

/* An optional text that can't be left empty would shut the person in. */
static bool is_trap(const struct writing *writing, const struct field *field)
{
    const struct field_class *class = class_of(field);
    bool is_text = class_is_text(class) || (class->is_number && writing->client->lacks_numbers);

    return is_text && !field->is_required && writing->client->needs_every_text;
}

static void write_properties(struct writing *writing)
{
    const struct form *form = writing->form;

    for (size_t i = 0; i < form->field_count; i++) {
        if (!is_trap(writing, &form->fields[i]))
            writers[form->fields[i].kind](writing, i);
    }
    for (size_t i = 0; i < form->field_count && writing->count == 0; i++)
        writers[form->fields[i].kind](writing, i); /* nothing but such: better than an empty form */
}

static void write_note(struct writing *writing)
{
    struct text key = { 0 };

    if (!writing->form->allow_annotations || !writing->client->shows_notes)
        return;
    client_form_note_key(writing->form, &key);
    begin_property(writing, text_string(&key), "string", false);
    json_write_text(&writing->json, "title", i18n_text_in(writing->language, TEXT_NOTE));
    json_write_text(&writing->json, "description",
                    i18n_text_in(writing->language, TEXT_FIELD_OPTIONAL));
    json_write_end_object(&writing->json);
    text_release(&key);
}

void form_schema_write(const struct form *form, enum mcp_revision revision, const char *client_name,
                       enum language language, const struct json *told, const char *place,
                       struct text *out)
{
    struct text properties = { 0 }, message = { 0 };
    struct writing writing = {
        .form = form,
        .client = known_client(client_name),
        .revision = revision,
        .language = language,
        .json = json_object_to(&properties),
    };
    struct json_writer json = json_object_to(out);

    write_properties(&writing);
    write_note(&writing);
    json_write_end_object(&writing.json);
    add_lacks(&writing, told, &message);
    add_message(form, writing.client, language, writing.is_cut, place, &message);
    if (revision >= REVISION_2025_11_25)
        json_write_text(&json, "mode", "form");
    json_write_text(&json, "message", text_string(&message));
    json_write_object(&json, "requestedSchema");
    json_write_text(&json, "type", "object");
    json_write_raw(&json, "properties", text_string(&properties));
    json_write_list(&json, "required");
    text_add_text(out, text_string(&writing.required));
    json_write_end_list(&json);
    json_write_end_object(&json);
    json_write_end_object(&json);
    text_release(&writing.required);
    text_release(&properties);
    text_release(&message);
}

void form_schema_write_url(const struct form *form, const char *id, const char *url,
                           struct text *out)
{
    struct json_writer json = json_object_to(out);
    struct text message = { 0 };

    add_message(form, known_client(NULL), LANGUAGE_EN, false, NULL, &message);
    json_write_text(&json, "mode", "url");
    json_write_text(&json, "message", text_string(&message));
    json_write_text(&json, "url", url);
    json_write_text(&json, "elicitationId", id);
    json_write_end_object(&json);
    text_release(&message);
}
