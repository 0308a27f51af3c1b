/*
 * conversation_response.c - what a person's side sends back to a conversation, by question, as what
 * core/answer reads, by field. Every refusal points into the body.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/answer.h"
#include "core/conversation.h"
#include "core/field_class.h"

static const struct field *find_question(const struct form *form, const char *question)
{
    for (size_t i = 0; i < form->field_count; i++) {
        if (strcmp(form->fields[i].label, question) == 0)
            return &form->fields[i];
    }
    return NULL;
}

/* Every key of `given` is a question of the form; `parent` is where it stands. */
static bool check_questions(const struct form *form, const struct json *given, const char *parent,
                            struct error *err)
{
    if (json_kind(given) != KIND_OBJECT)
        return answer_refuse_type(given, parent, "an object", err);
    for (void *it = json_first(given); it; it = json_next(given, it)) {
        if (find_question(form, json_key(it)))
            continue;
        error_set(err, ERROR_unknown_property, "", "no such question was asked");
        return answer_error_below(err, parent, json_key(it));
    }
    return true;
}

static bool is_label(const struct field *field, const struct json *value)
{
    const char *text = json_text(value);

    return text && strlen(text) == json_length(value) && field_find_option(field, text);
}

/* Own words: what is no label; several are joined, as labels are. */
static bool add_words(const struct json *value, struct text *words, const char *path,
                      struct error *err)
{
    if (!answer_check_text(value, path, err))
        return false;
    text_add_text(words, words->used ? ", " : "");
    text_add(words, json_text(value), json_length(value));
    return true;
}

static bool write_one(const struct field *field, const struct json *value, const char *path,
                      struct json_writer *writer, struct text *words, struct error *err)
{
    if (!is_label(field, value))
        return add_words(value, words, path, err);
    json_write_text(writer, NULL, json_text(value));
    return true;
}

static bool write_question(const struct field *field, const struct json *value,
                           struct json_writer *writer, struct error *err)
{
    struct text words = { 0 };
    bool ok = true;

    json_write_foreign_key(writer, field->name);
    json_write_object(writer, NULL);
    json_write_list(writer, "selected_ids");
    if (json_kind(value) != KIND_LIST)
        ok = write_one(field, value, "", writer, &words, err);
    for (size_t i = 0; ok && json_kind(value) == KIND_LIST && i < json_length(value); i++) {
        char path[32];

        snprintf(path, sizeof path, "/%zu", i);
        ok = write_one(field, json_item(value, i), path, writer, &words, err);
    }
    json_write_end_list(writer);
    json_write_text(writer, "custom_input", text_string(&words));
    json_write_end_object(writer);
    text_release(&words);
    return ok || answer_error_below(err, "/answers", field->label);
}

static bool write_answers(const struct form *form, const struct json *answers,
                          struct json_writer *writer, struct error *err)
{
    json_write_object(writer, "fields");
    for (size_t i = 0; i < form->field_count; i++) {
        const struct field *field = &form->fields[i];
        const struct json *value = json_member(answers, field->label);

        if (!value) {
            error_set(err, ERROR_missing_property, "", "this question has no answer");
            return answer_error_below(err, "/answers", field->label);
        }
        if (!write_question(field, value, writer, err))
            return false;
    }
    json_write_end_object(writer);
    return true;
}

/* Each is about a question of the form: check_body looked. */
static bool write_notes(const struct form *form, const struct json *notes,
                        struct json_writer *writer, struct error *err)
{
    json_write_object(writer, "field_annotations");
    for (void *it = json_first(notes); it; it = json_next(notes, it)) {
        const struct field *question = find_question(form, json_key(it));

        if (!question || !answer_check_text(json_value(it), "", err))
            return answer_error_below(err, "/annotations", json_key(it));
        json_write_foreign_key(writer, question->name);
        json_write_text(writer, NULL, json_text(json_value(it)));
    }
    json_write_end_object(writer);
    return true;
}

/* Only the two members we know: a misspelt one would lose what somebody wrote. */
static bool check_body(const struct form *form, const struct json *body, struct error *err)
{
    const struct json *answers = json_member(body, "answers");
    const struct json *notes = json_member(body, "annotations");

    if (json_kind(body) != KIND_OBJECT)
        return answer_refuse_type(body, "", "an object", err);
    if (json_length(body) > (size_t)(answers != NULL) + (notes != NULL))
        return error_set(err, ERROR_unknown_property, "",
                         "only answers and annotations may stand here");
    return check_questions(form, answers, "/answers", err) &&
           (!notes || check_questions(form, notes, "/annotations", err));
}

/* core/answer speaks of fields; the body has questions in their place. */
static bool point_into_body(const struct form *form, struct error *err)
{
    static const char *const places[][2] = { { "/fields/", "/answers" },
                                             { "/field_annotations/", "/annotations" } };

    for (size_t i = 0; err && i < ARRAY_LEN(places); i++) {
        size_t length = strlen(places[i][0]);

        for (size_t k = 0; k < form->field_count; k++) {
            size_t name = strlen(form->fields[k].name);

            if (strncmp(err->path, places[i][0], length) != 0 ||
                strncmp(err->path + length, form->fields[k].name, name) != 0)
                continue;
            err->path[0] = '\0';
            return answer_error_below(err, places[i][1], form->fields[k].label);
        }
    }
    return false;
}

static bool judge(const struct form *form, const struct text *given, struct answer *ret_answer,
                  struct error *err)
{
    struct json *json = NULL;
    bool ok = json_parse(given->bytes, given->used, &json, err) &&
              answer_check(form, json, ret_answer, err);

    json_free(json);
    return ok || point_into_body(form, err);
}

bool conversation_read_response(const struct form *form, const struct json *body,
                                struct answer *ret_answer, struct error *err)
{
    struct text given = { 0 };
    struct json_writer writer = json_writer_to(&given);
    bool ok = check_body(form, body, err);

    if (ok) {
        json_write_object(&writer, NULL);
        ok = write_answers(form, json_member(body, "answers"), &writer, err) &&
             write_notes(form, json_member(body, "annotations"), &writer, err);
        json_write_end_object(&writer);
        ok = ok && judge(form, &given, ret_answer, err);
    }
    text_release(&given);
    return ok;
}
