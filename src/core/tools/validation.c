/* validation.c - runs the rules of a tool, and those that several have. */
#include "core/tools/validation.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/tools/arguments.h"

bool validation_refuse(const struct subject *subject, size_t item, enum text_id text, ...)
{
    const struct rule *rule = subject->rule;
    char path[sizeof subject->err->path];
    struct error one;
    va_list arguments;

    if (item == RULE_WHOLE)
        snprintf(path, sizeof path, "/%s", rule->argument);
    else
        snprintf(path, sizeof path, "/%s/%zu%s", rule->argument, item, rule->property);
    va_start(arguments, text);
    error_say_list(&one, rule->code, path, text, arguments);
    va_end(arguments);
    return error_add(subject->err, &one);
}

bool validation_is_given(const struct subject *subject, const char *argument)
{
    return json_member(subject->arguments, argument) != NULL;
}

bool validation_is_said(const struct subject *subject, const char *argument)
{
    const struct json *value = json_member(subject->arguments, argument);
    const struct ask_tool *tool = subject->tool;

    return value && !argument_says_nothing(
                        argument_find(tool->arguments, tool->argument_count, argument), value);
}

bool validation_check(const struct ask_tool *tool, const struct json *arguments,
                      const struct ask_call *call, struct error *err)
{
    struct subject subject = { .tool = tool,
                               .arguments = arguments,
                               .form = &call->form,
                               .field = call->form.field_count > 0 ? call->form.fields : NULL,
                               .err = err };
    unsigned calls = tool->calls_of ? tool->calls_of(&subject) : ~0u;
    bool ok = true;

    for (size_t i = 0; i < tool->rule_count; i++) {
        subject.rule = &tool->rules[i];
        if (subject.rule->calls & calls)
            ok = subject.rule->holds(&subject) && ok;
    }
    return ok;
}

bool validation_ids_differ(const struct subject *subject)
{
    size_t first, second;

    return !field_find_same_ids(subject->field, &first, &second) ||
           validation_refuse(subject, second, TEXT_REASON_CHOICE_SAME, "one", TEXT_NUMBER(first),
                             "other", TEXT_NUMBER(second), "name",
                             *subject->rule->property ? subject->rule->property + 1 : "value",
                             NULL);
}

bool validation_labels_differ(const struct subject *subject)
{
    size_t first, second;

    return !field_find_same_labels(subject->field, &first, &second) ||
           validation_refuse(subject, second, TEXT_REASON_CHOICE_LABELS, "one", TEXT_NUMBER(first),
                             "other", TEXT_NUMBER(second), NULL);
}
