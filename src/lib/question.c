/*
 * question.c - a question's arguments, piece by piece or as JSON. The hub judges them; here they
 * are only made sure to be one JSON object on one line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "lib/handle.h"

enum { ENVELOPE_BYTES = 1024 }; /* what the wire puts around the arguments */

/* What a question is put together from, each the inside of an object or list. */
enum { MEMBERS, OPTIONS, FIELDS, REQUIRED, PARTS };

struct sayso_question {
    char *tool;
    struct text parts[PARTS];
    struct json_writer to[PARTS];
    const char *problem; /* the first; NULL: it is fit */
};

struct sayso_question *sayso_question_new(const char *tool)
{
    struct sayso_question *question = mem_new(sizeof *question);

    if (!question)
        return NULL;
    question->tool = mem_text(tool ? tool : "");
    if (!question->tool) {
        free(question);
        return NULL;
    }
    for (size_t i = 0; i < PARTS; i++)
        question->to[i] = json_writer_to(&question->parts[i]);
    return question;
}

void sayso_question_free(struct sayso_question *question)
{
    if (!question)
        return;
    free(question->tool);
    for (size_t i = 0; i < PARTS; i++)
        text_release(&question->parts[i]);
    free(question);
}

const char *question_tool(const struct sayso_question *question)
{
    return question->tool;
}

/* The first problem is told. Always false. */
static bool blame(struct sayso_question *question, const char *problem)
{
    if (!question->problem)
        question->problem = problem;
    return false;
}

static bool is_text(struct sayso_question *question, const char *text)
{
    if (!text)
        return blame(question, "a text is NULL");
    return text_is_utf8(text, strlen(text)) || blame(question, "a text is not UTF-8");
}

static bool is_number(struct sayso_question *question, double number)
{
    return isfinite(number) || blame(question, "a number is not finite");
}

void sayso_question_text(struct sayso_question *question, const char *name, const char *text)
{
    if (question && is_text(question, name) && is_text(question, text))
        json_write_text(&question->to[MEMBERS], name, text);
}

void sayso_question_number(struct sayso_question *question, const char *name, double number)
{
    if (question && is_text(question, name) && is_number(question, number))
        json_write_number(&question->to[MEMBERS], name, number);
}

void sayso_question_flag(struct sayso_question *question, const char *name, int is_yes)
{
    if (question && is_text(question, name))
        json_write_bool(&question->to[MEMBERS], name, is_yes != 0);
}

void sayso_question_json(struct sayso_question *question, const char *name, const char *json)
{
    struct json *value = NULL;
    struct error err = { 0 };

    if (!question || !is_text(question, name) || !is_text(question, json))
        return;
    /* alone, so that it can't close what it stands in */
    if (json_parse(json, strlen(json), &value, &err))
        json_write_raw(&question->to[MEMBERS], name, json);
    else if (error_is_no_memory(&err))
        question->parts[MEMBERS].has_overflowed = true;
    else
        blame(question, "what was given as JSON is not readable as JSON");
    json_free(value);
}

void sayso_question_option(struct sayso_question *question, const char *value, const char *label,
                           const char *description, int is_recommended)
{
    struct json_writer *writer;

    if (!question || !is_text(question, value) || !is_text(question, label) ||
        (description && !is_text(question, description)))
        return;
    writer = &question->to[OPTIONS];
    json_write_object(writer, NULL);
    json_write_text(writer, strcmp(question->tool, "provide_choice") == 0 ? "id" : "value", value);
    json_write_text(writer, "label", label);
    json_write_text_if(writer, "description", description);
    json_write_bool_if(writer, "recommended", is_recommended != 0);
    json_write_end_object(writer);
}

/* The beginning of a field; NULL: it can't be added. */
static struct json_writer *begin_field(struct sayso_question *question, const char *name,
                                       const char *title, int is_required, const char *type)
{
    if (!question || !is_text(question, name) || (title && !is_text(question, title)))
        return NULL;
    if (is_required)
        json_write_text(&question->to[REQUIRED], NULL, name);
    json_write_object(&question->to[FIELDS], name);
    json_write_text(&question->to[FIELDS], "type", type);
    json_write_text_if(&question->to[FIELDS], "title", title);
    return &question->to[FIELDS];
}

static void add_field(struct sayso_question *question, const char *name, const char *title,
                      int is_required, const char *type)
{
    struct json_writer *writer = begin_field(question, name, title, is_required, type);

    if (writer)
        json_write_end_object(writer);
}

void sayso_question_text_field(struct sayso_question *question, const char *name, const char *title,
                               int is_required)
{
    add_field(question, name, title, is_required, "string");
}

void sayso_question_confirm_field(struct sayso_question *question, const char *name,
                                  const char *title, int is_required)
{
    add_field(question, name, title, is_required, "boolean");
}

void sayso_question_number_field(struct sayso_question *question, const char *name,
                                 const char *title, int is_required, double minimum, double maximum)
{
    struct json_writer *writer = begin_field(question, name, title, is_required, "number");

    if (!writer)
        return;
    if (!isnan(minimum) && is_number(question, minimum))
        json_write_number(writer, "minimum", minimum);
    if (!isnan(maximum) && is_number(question, maximum))
        json_write_number(writer, "maximum", maximum);
    json_write_end_object(writer);
}

/* Every other text, from `at` on. */
static void write_every_other(struct sayso_question *question, const char *key,
                              const char *const *choices, size_t at)
{
    struct json_writer *writer = &question->to[FIELDS];

    json_write_list(writer, key);
    for (; choices[0] && choices[1]; choices += 2) {
        if (is_text(question, choices[at]))
            json_write_text(writer, NULL, choices[at]);
    }
    if (choices[0])
        blame(question, "choices are pairs of a value and a label, then NULL");
    json_write_end_list(writer);
}

void sayso_question_choice_field(struct sayso_question *question, const char *name,
                                 const char *title, int is_required, const char *const *choices)
{
    struct json_writer *writer = begin_field(question, name, title, is_required, "string");

    if (!writer)
        return;
    if (choices) {
        write_every_other(question, "enum", choices, 0);
        write_every_other(question, "enumNames", choices, 1);
    } else {
        blame(question, "choices are NULL");
    }
    json_write_end_object(writer);
}

static bool has_run_out(const struct sayso_question *question)
{
    bool has = false;

    for (size_t i = 0; i < PARTS; i++)
        has |= question->parts[i].has_overflowed;
    return has;
}

int question_encode(struct sayso *sayso, const struct sayso_question *question, struct text *out)
{
    const char *comma = question->parts[MEMBERS].used ? "," : "";

    if (question->problem)
        return handle_fail(sayso, SAYSO_MISUSE, "the question is unfit: %s", question->problem);
    text_add_char(out, '{');
    text_add_text(out, text_string(&question->parts[MEMBERS]));
    if (question->parts[OPTIONS].used) {
        text_add_format(out, "%s\"options\":[%s]", comma, text_string(&question->parts[OPTIONS]));
        comma = ",";
    }
    if (question->parts[FIELDS].used)
        text_add_format(out,
                        "%s\"requestedSchema\":{\"type\":\"object\",\"properties\":{%s},"
                        "\"required\":[%s]}",
                        comma, text_string(&question->parts[FIELDS]),
                        text_string(&question->parts[REQUIRED]));
    text_add_char(out, '}');
    if (has_run_out(question) || out->has_overflowed)
        return handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
    return SAYSO_OK;
}

int question_check(struct sayso *sayso, const char *arguments_json, size_t length, struct text *out,
                   char **ret_field)
{
    struct json *json = NULL;
    struct error err = { 0 };
    const char *field;
    int code = SAYSO_OK;

    if (length > LIMIT_RPC_LINE_BYTES)
        return handle_fail(sayso, SAYSO_VALIDATION_FAILED, "the arguments have more than %d bytes",
                           LIMIT_RPC_LINE_BYTES);
    if (!json_parse(arguments_json, length, &json, &err))
        return handle_fail(sayso,
                           error_is_no_memory(&err) ? SAYSO_NO_MEMORY : SAYSO_VALIDATION_FAILED,
                           "%s", err.message);
    json_add(out, json);
    field = json_member_text(json, "field_name");
    *ret_field = field ? mem_text(field) : NULL;
    if (json_kind(json) != KIND_OBJECT)
        code = handle_fail(sayso, SAYSO_VALIDATION_FAILED, "the arguments must be a JSON object");
    else if (out->has_overflowed || (field && !*ret_field))
        code = handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
    else if (out->used > LIMIT_RPC_LINE_BYTES - ENVELOPE_BYTES)
        code = handle_fail(sayso, SAYSO_VALIDATION_FAILED, "the arguments have more than %d bytes",
                           LIMIT_RPC_LINE_BYTES - ENVELOPE_BYTES);
    if (code != SAYSO_OK) {
        free(*ret_field);
        *ret_field = NULL;
    }
    json_free(json);
    return code;
}
