/*
 * ask_user_question.c - the tool ask_user_question: one to four questions of two to four options,
 * each with "Other" and a text of one's own (R3.1, R3.2; seed 001). A question is a hybrid field,
 * q1 to q4; its labels are the ids, since they are what the agent gets back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/response.h"
#include "core/tools/arguments.h"
#include "core/tools/elicit.h"
#include "core/tools/validation.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

struct questions_values {
    struct elicit_values common; /* first; the message is the first question */
    const struct json *questions;
};
struct question_values {
    const char *question, *header;
    const struct json *options;
    int64_t is_multi;
};
struct option_values {
    const char *label, *description;
    const struct json *preview;
    int64_t destructive;
};
#define QUESTION(name) offsetof(struct question_values, name)
#define OPTION(name)   offsetof(struct option_values, name)

/* published: ask_user_question */
static const struct argument option_properties[] = {
    ARGUMENT("label", TEXT, OPTION(label),
             "shown to the user and returned if chosen, 1 to 200 characters",
             ARGUMENT_LIMITS(1, LIMIT_LABEL_CHARS, CHARS), .is_required = true, .is_obvious = true),
    ARGUMENT("description", TEXT, OPTION(description),
             "what choosing it means, up to 2000 characters",
             ARGUMENT_LIMITS(0, LIMIT_DESCRIPTION_CHARS, CHARS), .is_obvious = true),
    ARGUMENT("preview", PREVIEW, OPTION(preview), "text, or {type, text, language}; up to 64 KiB",
             ARGUMENT_LIMITS(0, LIMIT_PREVIEW_BYTES, BYTES), .is_obvious = true,
             ARGUMENT_PROPERTIES(preview_properties)),
    ARGUMENT("destructive", BOOL, OPTION(destructive), "choosing it requires a confirmation code",
             .is_obvious = true),
};

static const struct argument question_properties[] = {
    ARGUMENT("question", TEXT, QUESTION(question), "Full question; the key of its answer.",
             ARGUMENT_LIMITS(1, LIMIT_QUESTION_CHARS, CHARS), .is_required = true),
    ARGUMENT("header", TEXT, QUESTION(header), "a short label, up to 12 characters",
             ARGUMENT_LIMITS(0, LIMIT_HEADER_CHARS, CHARS), .is_obvious = true),
    ARGUMENT("options", QUESTION_OPTIONS, QUESTION(options), "2-4; a free-text \"Other\" is added",
             ARGUMENT_LIMITS(LIMIT_QUESTION_OPTIONS_MIN, LIMIT_QUESTION_OPTIONS, ITEMS),
             .is_required = true, .is_obvious = true, ARGUMENT_PROPERTIES(option_properties)),
    ARGUMENT("multiSelect", BOOL, QUESTION(is_multi), "whether several can be chosen",
             .is_obvious = true),
};

static const struct argument questions_arguments[] = {
    ARGUMENT("questions", QUESTIONS, offsetof(struct questions_values, questions),
             "1-4 questions {question, header?, options, multiSelect?}",
             ARGUMENT_LIMITS(1, LIMIT_QUESTIONS, ITEMS), .is_required = true, .is_obvious = true,
             ARGUMENT_PROPERTIES(question_properties)),
    ELICIT_REST,
};

static void build_option(const struct json *given, struct option *option)
{
    struct option_values values = { 0 };

    arguments_fill(option_properties, ARRAY_LEN(option_properties), given, &values);
    option->id = mem_text(values.label);
    option->label = mem_text(values.label);
    option->description = arguments_copy_if_any(values.description);
    option->is_destructive = values.destructive;
    preview_build(values.preview, &option->preview);
}

static void build_question(const struct question_values *values, size_t number, struct field *field)
{
    size_t count = json_length(values->options);

    *field = (struct field){ .name = mem_format("q%zu", number),
                             .label = mem_text(values->question),
                             .header = arguments_copy_if_any(values->header),
                             .kind = FIELD_HYBRID,
                             .is_required = true,
                             .options = mem_new(count * sizeof *field->options),
                             .option_count = count,
                             .min_selections = 1,
                             .max_selections = values->is_multi ? (int64_t)count : 1 };
    for (size_t i = 0; i < count; i++)
        build_option(json_item(values->options, i), &field->options[i]);
}

/* Of several questions each field says its own, and the list shows how many more there are. */
static void name_several(const struct questions_values *values, struct form *form)
{
    char *title = form->title;

    if (form->field_count == 1)
        return;
    free(form->prompt);
    form->prompt = mem_text("");
    if (values->common.title)
        return;
    form->title = mem_format("%s (+%zu)", title, form->field_count - 1);
    free(title);
}

static bool build(const void *filled, struct ask_call *call, struct error *err)
{
    const struct questions_values *values = filled;
    struct elicit_values common = values->common;
    size_t count = json_length(values->questions);

    (void)err;
    common.message = json_member_text(json_item(values->questions, 0), "question");
    elicit_begin(&common, count, call);
    for (size_t i = 0; i < count; i++) {
        struct question_values question = { 0 };

        arguments_fill(question_properties, ARRAY_LEN(question_properties),
                       json_item(values->questions, i), &question);
        build_question(&question, i + 1, &call->form.fields[i]);
    }
    name_several(values, &call->form);
    return true;
}

/* Labels and own words in one text, as the seed has it; answer_list tells them apart. */
static void write_joined(struct json_writer *writer, const struct field *field,
                         const struct field_value *value)
{
    struct text joined = { 0 };

    for (size_t i = 0; i < value->option_count; i++) {
        if (value->is_selected[i])
            text_add_format(&joined, "%s%s", joined.used ? ", " : "", field->options[i].label);
    }
    if (value->text)
        text_add_format(&joined, "%s%s", joined.used ? ", " : "", value->text);
    json_write_text(writer, field->label, text_string(&joined));
    text_release(&joined);
}

static void write_item(struct json_writer *writer, const struct field *field,
                       const struct field_value *value)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "question", field->label);
    json_write_text_if(writer, "header", field->header);
    answer_write_picks(writer, "selected", field, value);
    json_write_text_if(writer, "other", value->text);
    json_write_text_if(writer, "notes", value->note);
    json_write_end_object(writer);
}

void questions_write_answers(struct json_writer *writer, const struct form *form,
                             const struct answer *answer)
{
    json_write_object(writer, "answers");
    for (size_t i = 0; i < answer->value_count; i++)
        write_joined(writer, &form->fields[i], &answer->values[i]);
    json_write_end_object(writer);
    json_write_list(writer, "answer_list");
    for (size_t i = 0; i < answer->value_count; i++)
        write_item(writer, &form->fields[i], &answer->values[i]);
    json_write_end_list(writer);
}

/* The rules between the questions of ask_user_question (R3.1). */

/* What the person is offered beside the options, in every language of ours. */
static const char *const reserved_labels[] = { "Other", "其他", "其它" };

/* Answers are kept by question, and a person must be able to tell which one is meant. */
static bool questions_differ(const struct subject *subject)
{
    const struct form *form = subject->form;

    for (size_t i = 0; i < form->field_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const char *a = form->fields[k].label, *b = form->fields[i].label;

            if (visible_alike(a, strlen(a), b, strlen(b)))
                return validation_refuse(subject, i, TEXT_REASON_QUESTIONS_SAME, "one",
                                         TEXT_NUMBER(k), "other", TEXT_NUMBER(i), NULL);
        }
    }
    return true;
}

static bool refuse_label(const struct subject *subject, size_t question, size_t option,
                         enum text_id text)
{
    const struct argument_path *asked = PLACE_AT(PLACE_IN(NULL, "questions"), question);
    const struct argument_path *item = PLACE_AT(PLACE_IN(asked, "options"), option);

    return argument_refuse(PLACE_IN(item, "label"), subject->rule->code, subject->err, text, NULL);
}

static bool labels_differ(const struct subject *subject)
{
    const struct form *form = subject->form;
    size_t first, second;

    for (size_t i = 0; i < form->field_count; i++) {
        if (field_find_same_labels(&form->fields[i], &first, &second))
            return refuse_label(subject, i, second, TEXT_REASON_FORM_LABEL);
    }
    return true;
}

static bool is_reserved(const char *label)
{
    for (size_t i = 0; i < ARRAY_LEN(reserved_labels); i++) {
        if (visible_alike(label, strlen(label), reserved_labels[i], strlen(reserved_labels[i])))
            return true;
    }
    return false;
}

static bool labels_are_free(const struct subject *subject)
{
    const struct form *form = subject->form;

    for (size_t i = 0; i < form->field_count; i++) {
        for (size_t k = 0; k < form->fields[i].option_count; k++) {
            if (is_reserved(form->fields[i].options[k].label))
                return refuse_label(subject, i, k, TEXT_REASON_QUESTIONS_OTHER);
        }
    }
    return true;
}

static const struct rule rules[] = {
    { ~0u, ERROR_duplicate_question, "questions", "/question", questions_differ },
    { ~0u, ERROR_ambiguous_label, "questions", "", labels_differ },
    { ~0u, ERROR_reserved_label, "questions", "", labels_are_free },
};

static const struct response_shape shape = {
    .has_reply = true,
    .write_values = questions_write_answers,
};
const struct ask_tool tool_ask_user_question = {
    .name = "ask_user_question",
    ASK_TOOL_ARGUMENTS(questions_arguments, struct questions_values),
    .build = build,
    ASK_TOOL_RULES(rules),
    .response = &shape,
    .value_key = "answers",
    .is_main_agents = true,
};
