/*
 * test_offered_tools.c - which tools a list names, and which lists are none.
 * Proves: R8.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/known_clients.h"

static const char *const all[] = { "provide_choice", "ask_user_question", "elicit_choice",
                                   "elicit_form",    "get_answer",        "check_decision" };

static const struct {
    const char *list;
    bool is_valid;
    const char *has; /* of those above */
} cases[] = {
    { "", true, "provide_choice ask_user_question get_answer " },
    { " , ", true, "provide_choice ask_user_question get_answer " },
    { "ask", true, "provide_choice ask_user_question get_answer " },
    { "all", true,
      "provide_choice ask_user_question elicit_choice elicit_form get_answer check_decision " },
    { "provide_choice", true, "provide_choice get_answer " },
    { "check_decision", true, "check_decision " },
    { "permission_prompt", true, "" }, /* nor does "all" have it */
    { "get_answer", true, "get_answer " },
    { "elicit_form", true, "elicit_form get_answer " },
    { " elicit_form ,,check_decision", true, "elicit_form get_answer check_decision " },
    { "ask elicit_choice", true, "provide_choice ask_user_question elicit_choice get_answer " },
    { "ALL", false, NULL },
    { "none", false, NULL },
    { "provide_choic", false, NULL },
    { "provide_choicee", false, NULL },
    { "provide_choice;get_answer", false, NULL },
    { "all,nothing", false, NULL },
    { "provide_choice_provide_choice_provide_choice_provide_choice_provide_choice", false, NULL },
};

static void lists_name_tools(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text has = { 0 };

        if (offered_tools_are_valid(cases[i].list) != cases[i].is_valid)
            fail_msg("%s", cases[i].list);
        for (size_t j = 0; cases[i].is_valid && j < ARRAY_LEN(all); j++) {
            if (offered_tools_have(cases[i].list, all[j]))
                text_add_format(&has, "%s ", all[j]);
        }
        if (cases[i].is_valid)
            assert_string_equal(text_string(&has), cases[i].has);
        text_release(&has);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_name_tools) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
