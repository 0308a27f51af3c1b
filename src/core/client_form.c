/* client_form.c - see client_form.h. */
#include "core/client_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/form.h"
#include "core/known_clients.h"

static void add_free_key(const struct form *form, struct text *key, struct text *out)
{
    while (form_find_field(form, text_string(key)))
        text_add_char(key, '_');
    text_add(out, key->bytes, key->used);
    text_release(key);
}

void client_form_option_key(const struct form *form, size_t field, size_t option, struct text *out)
{
    struct text key = { 0 };

    text_add_format(&key, "%s_%zu", form->fields[field].name, option + 1);
    add_free_key(form, &key, out);
}

void client_form_words_key(const struct form *form, size_t field, struct text *out)
{
    struct text key = { 0 };

    text_add_format(&key, "%s_own_words", form->fields[field].name);
    add_free_key(form, &key, out);
}

void client_form_note_key(const struct form *form, struct text *out)
{
    struct text key = { 0 };

    text_add_text(&key, "note");
    add_free_key(form, &key, out);
}

/* A reading under way: how much of the content was asked for. */
struct reading {
    const struct form *form;
    const struct json *content;
    struct json_writer *writer;
    size_t known;
};

static const struct json *take(struct reading *reading, const char *key)
{
    const struct json *value = json_member(reading->content, key);

    reading->known += value != NULL;
    return json_kind(value) == KIND_NULL ? NULL : value;
}

static void write_value(struct json_writer *writer, const char *key, const struct json *value,
                        const char *otherwise)
{
    if (value)
        json_write_value(writer, key, value);
    else
        json_write_raw(writer, key, otherwise);
}

/* Yes, no, or neither: -1. */
static int answer_of(const struct json *value)
{
    const char *text = json_text(value);

    if (json_kind(value) == KIND_BOOL)
        return json_is_yes(value);
    return text && strcmp(text, CLIENT_FORM_YES) == 0  ? 1
           : text && strcmp(text, CLIENT_FORM_NO) == 0 ? 0
                                                       : -1;
}

/* A yes or no for each option. What is neither becomes what no list of ids may hold. */
static void write_yeses(struct reading *reading, size_t field)
{
    const struct field *asked = &reading->form->fields[field];

    json_write_list(reading->writer, NULL);
    for (size_t i = 0; i < asked->option_count; i++) {
        struct text key = { 0 };
        const struct json *value;

        client_form_option_key(reading->form, field, i, &key);
        value = take(reading, text_string(&key));
        text_release(&key);
        if (answer_of(value) > 0)
            json_write_text(reading->writer, NULL, asked->options[i].id);
        else if (value && answer_of(value) < 0)
            json_write_null(reading->writer, NULL);
    }
    json_write_end_list(reading->writer);
}

static void write_picks(struct reading *reading, size_t field)
{
    const struct json *value = take(reading, reading->form->fields[field].name);

    if (value)
        json_write_value(reading->writer, NULL, value);
    else if (reading->form->fields[field].kind == FIELD_SINGLE)
        json_write_raw(reading->writer, NULL, "[]");
    else
        write_yeses(reading, field);
}

static void write_words(struct reading *reading, size_t field)
{
    write_value(reading->writer, NULL, take(reading, reading->form->fields[field].name), "\"\"");
}

/* Some clients offer words of one's own with every list, under the list's key. */
static bool is_own_words(const struct field *field, const struct json *value)
{
    const char *text = json_text(value);

    return text && strlen(text) == json_length(value) && !field_find_option(field, text);
}

static void write_hybrid(struct reading *reading, size_t field)
{
    const struct field *asked = &reading->form->fields[field];
    const struct json *value = json_member(reading->content, asked->name), *words;
    struct json_writer *writer = reading->writer;
    struct text key = { 0 };
    bool is_words = is_own_words(asked, value);

    client_form_words_key(reading->form, field, &key);
    words = take(reading, text_string(&key));
    text_release(&key);
    json_write_object(writer, NULL);
    json_write_foreign_key(writer, "selected_ids");
    if (is_words && !words) {
        words = take(reading, asked->name);
        json_write_raw(writer, NULL, "[]");
    } else if (json_text(value)) { /* a list nobody touched may come back as an empty text */
        json_write_list(writer, NULL);
        value = take(reading, asked->name);
        if (json_length(value) > 0)
            json_write_value(writer, NULL, value);
        json_write_end_list(writer);
    } else {
        write_picks(reading, field);
    }
    write_value(writer, "custom_input", words, "\"\"");
    json_write_end_object(writer);
}

/* A client that has no fields for numbers was given one for text. */
static bool is_number(const struct json *value, double *ret_number)
{
    const char *text = json_text(value);
    char *end;

    if (!text || !*text || strlen(text) != json_length(value) ||
        strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    *ret_number = strtod(text, &end);
    return *end == '\0' && isfinite(*ret_number);
}

static void write_number(struct reading *reading, size_t field)
{
    const struct json *value = take(reading, reading->form->fields[field].name);
    double number;

    if (is_number(value, &number))
        json_write_number(reading->writer, NULL, number);
    else if (json_text(value) && json_length(value) == 0)
        json_write_null(reading->writer, NULL);
    else
        write_value(reading->writer, NULL, value, "null");
}

static void write_confirm(struct reading *reading, size_t field)
{
    const struct json *value = take(reading, reading->form->fields[field].name);

    if (answer_of(value) < 0)
        write_value(reading->writer, NULL, value, "null");
    else
        json_write_bool(reading->writer, NULL, answer_of(value));
}

static void (*const kinds[FIELD_KIND_COUNT])(struct reading *reading, size_t field) = {
    [FIELD_SINGLE] = write_picks,  [FIELD_MULTI] = write_picks,   [FIELD_TEXT] = write_words,
    [FIELD_HYBRID] = write_hybrid, [FIELD_NUMBER] = write_number, [FIELD_CONFIRM] = write_confirm,
};

static void write_note(struct reading *reading)
{
    struct text key = { 0 };
    const struct json *note;

    client_form_note_key(reading->form, &key);
    note = take(reading, text_string(&key));
    text_release(&key);
    if (note && json_length(note) > 0)
        json_write_value(reading->writer, "global_annotation", note);
}

bool client_form_read(const struct form *form, const struct json *content, struct text *out,
                      struct error *err)
{
    struct json_writer writer = json_writer_to(out);
    struct reading reading = { form, content, &writer, 0 };

    if (json_kind(content) != KIND_OBJECT)
        return error_set(err, ERROR_bad_type, "", "the form's values must be an object");
    json_write_object(&writer, NULL);
    json_write_object(&writer, "fields");
    for (size_t i = 0; i < form->field_count; i++) {
        json_write_foreign_key(&writer, form->fields[i].name);
        kinds[form->fields[i].kind](&reading, i);
    }
    json_write_end_object(&writer);
    if (reading.known == 0)
        return error_set(err, ERROR_missing_property, "",
                         "it was accepted without any of the values asked for");
    write_note(&reading);
    json_write_end_object(&writer);
    return true;
}

enum client_verdict client_form_judge(const char *client_name, const char *action, int64_t shown_ms)
{
    bool was_seen = shown_ms >= CLIENT_FORM_SEEN_MS;

    if (action && strcmp(action, "accept") == 0)
        return CLIENT_ANSWERS;
    if (action && strcmp(action, "decline") == 0)
        return was_seen || known_client(client_name)->only_cancels ? CLIENT_DECLINES
                                                                   : CLIENT_FAILED;
    if (action && strcmp(action, "cancel") == 0)
        return was_seen ? CLIENT_CANCELS : CLIENT_FAILED;
    return CLIENT_FAILED;
}

bool client_form_is_broken(int64_t fact, int64_t utc_ms)
{
    return fact < 0 && utc_ms + fact < CLIENT_FORM_BROKEN_MS;
}

int64_t client_form_learn(int64_t fact, bool worked, int64_t utc_ms)
{
    return worked || fact == CLIENT_FORM_WORKS ? CLIENT_FORM_WORKS : -utc_ms;
}
