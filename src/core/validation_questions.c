/* validation_questions.c - the rules between the questions of ask_user_question (R3.1). */
#include <string.h>

#include "base/mem.h"
#include "core/arguments_inside.h"
#include "core/limits.h"
#include "core/validation.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

/* What the person is offered beside the options, in every language of ours. */
static const char *const reserved_labels[] = { "Other", "其他", "其它" };

/* Answers are kept by question, and a person must be able to tell which one is meant. */
static bool questions_differ(const struct form *form, struct error *err)
{
    for (size_t i = 0; i < form->field_count; i++) {
        for (size_t k = 0; k < i; k++) {
            const char *a = form->fields[k].label, *b = form->fields[i].label;
            const struct place *item = PLACE_AT(PLACE_IN(NULL, "questions"), i);

            if (visible_alike(a, strlen(a), b, strlen(b)))
                return argument_refuse(PLACE_IN(item, "question"), ERROR_duplicate_question, err,
                                       TEXT_REASON_QUESTIONS_SAME, "one", TEXT_NUMBER(k), "other",
                                       TEXT_NUMBER(i), NULL);
        }
    }
    return true;
}

static bool refuse_label(size_t question, size_t option, enum error_code code, struct error *err,
                         enum text_id text)
{
    const struct place *asked = PLACE_AT(PLACE_IN(NULL, "questions"), question);
    const struct place *item = PLACE_AT(PLACE_IN(asked, "options"), option);

    return argument_refuse(PLACE_IN(item, "label"), code, err, text, NULL);
}

static bool labels_differ(const struct form *form, struct error *err)
{
    size_t first, second;

    for (size_t i = 0; i < form->field_count; i++) {
        if (field_find_same_labels(&form->fields[i], &first, &second))
            return refuse_label(i, second, ERROR_ambiguous_label, err, TEXT_REASON_QUESTIONS_LABEL);
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

static bool labels_are_free(const struct form *form, struct error *err)
{
    for (size_t i = 0; i < form->field_count; i++) {
        for (size_t k = 0; k < form->fields[i].option_count; k++) {
            if (is_reserved(form->fields[i].options[k].label))
                return refuse_label(i, k, ERROR_reserved_label, err, TEXT_REASON_QUESTIONS_OTHER);
        }
    }
    return true;
}

bool validation_check_questions(const struct json *arguments, const struct ask_call *call,
                                struct error *err)
{
    static bool (*const rules[])(const struct form *form, struct error *err) = {
        questions_differ,
        labels_differ,
        labels_are_free,
    };

    bool ok = true;

    (void)arguments;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        ok = rules[i](&call->form, err) && ok;
    return ok;
}
