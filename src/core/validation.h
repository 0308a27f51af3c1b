/*
 * validation.h - decides whether a call whose every argument is well-formed makes sense as a whole.
 * Pure. Every rule is one row in validation.c, validation_elicit.c or validation_questions.c; the
 * first broken rule is reported. The form tells what was asked, the arguments what was said: some
 * rules are about saying it at all.
 */
#ifndef CORE_VALIDATION_H
#define CORE_VALIDATION_H
#include <stdbool.h>

struct ask_call;
struct error;
struct json;

/* On false, `err` names the offending argument by JSON pointer so that the agent can repair its
 * call. `call` is what that tool built of `arguments`. */
typedef bool validation_check(const struct json *arguments, const struct ask_call *call,
                              struct error *err);
validation_check validation_check_choice, validation_check_questions,
    validation_check_elicit_choice;
validation_check validation_check_elicit_input, validation_check_elicit_confirm;
validation_check validation_check_elicit_number;

#endif
