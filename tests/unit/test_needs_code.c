/*
 * test_needs_code.c - which answers take the confirmation code, and how an agent says so.
 * Proves: R2.2, R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/tools/arguments.h"

#define OPTIONS(a, b, c)                                                                           \
    "'options':[{'id':'a','label':'A'" a "},{'id':'b','label':'B'" b "},{'id':'c','label':'C'" c   \
    "}],'min_selections':"
#define PICKS(kind, a, b, c, min)                                                                  \
    "[{'name':'f','kind':'" kind "'," OPTIONS(a, b, c) #min ",'max_selections':3}]"
#define BAD     ",'destructive':true"
#define WHOLE   BAD
#define CONFIRM "[{'name':'f','kind':'confirm'}]"

/* Which answers of which forms take the confirmation code. */
static const struct {
    const char *name, *fields, *more, *given;
    bool needs_code;
} code_cases[] = {
    { "nothing destructive", PICKS("multi", "", "", "", 0), "", "'selected_ids':['a']", false },
    { "the option", PICKS("multi", "", BAD, "", 0), "", "'selected_ids':['b']", true },
    { "among others", PICKS("multi", "", BAD, "", 0), "", "'selected_ids':['a','b']", true },
    { "the others", PICKS("multi", "", BAD, "", 0), "", "'selected_ids':['a','c']", false },
    { "none of them", PICKS("multi", "", BAD, "", 0), "", "'selected_ids':[]", false },
    { "own words beside it", PICKS("hybrid", "", BAD, "", 0), "", "'custom_input':'x'", false },
    { "whole: the safe one", PICKS("multi", "", BAD, BAD, 0), WHOLE, "'selected_ids':['a']",
      false },
    { "whole: another one", PICKS("multi", "", BAD, BAD, 0), WHOLE, "'selected_ids':['c']", true },
    { "whole: nothing", PICKS("multi", "", BAD, BAD, 0), WHOLE, "'selected_ids':[]", true },
    { "whole: own words", PICKS("hybrid", "", BAD, BAD, 0), WHOLE, "'custom_input':'x'", true },
    { "whole: the safe one with words", PICKS("hybrid", "", BAD, BAD, 0), WHOLE,
      "'selected_ids':['a'],'custom_input':'x'", true },
    { "whole, as earlier hubs kept it", PICKS("multi", ",'recommended':true", "", "", 0), WHOLE,
      "'selected_ids':['a']", true },
    { "yes", CONFIRM, WHOLE, "'fields':{'f':true}", true },
    { "no", CONFIRM, WHOLE, "'fields':{'f':false}", false },
    { "neither", CONFIRM, WHOLE, "'fields':{}", true },
    { "an ordinary yes", CONFIRM, "", "'fields':{'f':true}", false },
    { "a string", "[{'name':'f','kind':'text'}]", WHOLE, "'fields':{'f':'x'}", true },
    { "a number", "[{'name':'f','kind':'number'}]", WHOLE, "'fields':{'f':0}", true },
    { "an unsafe field beside a no", "[{'name':'f','kind':'confirm'},{'name':'g','kind':'number'}]",
      WHOLE, "'fields':{'f':false,'g':1}", true },
    { "not an answer", CONFIRM, WHOLE, "'fields':{'f':'maybe'}", false },
};

static void test_what_takes_the_code(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(code_cases); i++) {
        struct form form;
        struct error err;
        char *json = mem_format("{'version':1,'title':'T','prompt':'P','fields':%s%s}",
                                code_cases[i].fields, code_cases[i].more);
        char *given = mem_format("{%s}", code_cases[i].given);

        for (char *at = json; (at = strchr(at, '\'')); *at = '"')
            ;
        for (char *at = given; (at = strchr(at, '\'')); *at = '"')
            ;
        if (!form_parse(json, strlen(json), &form, &err))
            fail_msg("%s: %s", code_cases[i].name, err.message);
        if (answer_will_need_code(&form, given) != code_cases[i].needs_code)
            fail_msg("%s", code_cases[i].name);
        form_release(&form);
        free(json);
        free(given);
    }
}

#define HEAD       "{\"title\":\"Deploy\",\"prompt\":\"The build is done; two hosts are healthy.\","
#define MODE(mode) "\"selection_mode\":\"" mode "\""

static struct ask_call read_call(const char *json)
{
    struct json *arguments = NULL;
    struct ask_call call;
    struct error err;

    if (!json_parse(json, strlen(json), &arguments, &err) ||
        !arguments_check(&tool_provide_choice, arguments, &call, &err))
        fail_msg("%s: %s at '%s'", json, err.message, err.path);
    json_free(arguments);
    return call;
}

#define MARKED(a, b, more)                                                                         \
    HEAD MODE("single") ",\"default_selection_ids\":[\"a\"],\"options\":[{\"id\":\"a\",\"label\":" \
                        "\"A\",\"recommended\":true" a "},{\"id\":\"b\",\"label\":\"B\"" b         \
                        "}]" more "}"
#define IS(value) ",\"destructive\":" #value

/* The options' own word counts; of the whole it is every one that is not recommended. */
static void test_destructive_options(void **state)
{
    static const struct {
        const char *json;
        bool is_a, is_b, may_destroy;
    } cases[] = {
        { MARKED("", "", ""), false, false, false },
        { MARKED("", "", IS(true)), false, true, true },
        { MARKED("", IS(true), ""), false, true, true },
        { MARKED(IS(true), "", ""), true, false, true },
        { MARKED(IS(true), IS(false), IS(true)), true, false, true },
        { MARKED("", IS(false), IS(true)), true, true, true }, /* nothing is left: all are */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ask_call call = read_call(cases[i].json);
        const struct option *options = call.form.fields[0].options;

        assert_int_equal(form_option_destroys(&call.form, &options[0]), cases[i].is_a);
        assert_int_equal(form_option_destroys(&call.form, &options[1]), cases[i].is_b);
        assert_int_equal(form_may_destroy(&call.form), cases[i].may_destroy);
        assert_int_equal(call.defaults_ignored, cases[i].may_destroy);
        assert_int_equal(options[0].is_default, !cases[i].may_destroy);
        assert_int_equal(call.form.single_submit, !cases[i].may_destroy);
        ask_call_release(&call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_takes_the_code),
        cmocka_unit_test(test_destructive_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
