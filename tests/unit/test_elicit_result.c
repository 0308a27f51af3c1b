/*
 * From an elicit call over a person's answer to the agent's result, each way it can end.
 * Proves: R4.1, R4.3, R4.4, R5.6
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
#include "base/text.h"
#include "core/response.h"
#include "core/tools/arguments.h"

static const char ID[] = "abcdefghijklmnopqrstuvwxyz";
/* JSON in these tables has ' for ", so that it can be read. */
#define M       "{'message':'Say'"
#define CHOICE  M ",'enum':['a','b']}"
#define CONFIRM M "}"
#define FORM                                                                                       \
    M ",'requestedSchema':{'type':'object','properties':{'t':{'type':'string','default':'x'},"     \
      "'n':{'type':'integer','default':3},'ok':{'type':'boolean','default':true},"                 \
      "'e':{'type':'string','enum':['a','b']},"                                                    \
      "'m':{'type':'array','items':{'type':'string','enum':['p','q']},'minItems':1}}}}"
#define FIRST_NUMBER                                                                               \
    M ",'requestedSchema':{'type':'object','properties':{'n':{'type':'number','default':3},"       \
      "'m':{'type':'array','items':{'type':'string','enum':['p','q']}}},'required':['m']}}"

static const struct how_it_ended {
    const char *tool, *arguments;
    enum ask_state state;
    const char *answer; /* NULL: none */
    const char *wanted; /* the result but session_id, answered_* and instructions */
    const char *instructions;
    const char *note;
} endings[] = {
    { "elicit_choice", CHOICE, STATE_SUBMITTED, "{'selected_ids':['b'],'global_annotation':'n'}",
      "{'action':'accept','choice':'b','global_annotation':'n','summary':'b','explicit':true}",
      NULL, NULL },
    { "elicit_choice", CHOICE, STATE_PENDING, NULL,
      "{'action':'pending','summary':'Waiting for an answer','explicit':false}",
      "call get_answer with this session_id", NULL },
    { "elicit_choice", CHOICE, STATE_PENDING_TERMINAL_LAUNCH, NULL,
      "{'action':'pending','summary':'Waiting for a terminal','explicit':false}", "get_answer",
      NULL },
    { "elicit_choice", CHOICE, STATE_CANCELLED, NULL,
      "{'action':'cancel','global_annotation':'later','summary':'Cancelled','explicit':true}",
      "assume nothing", "later" },
    { "elicit_choice", CHOICE, STATE_WITHDRAWN, NULL,
      "{'action':'cancel','summary':'Withdrawn by the agent','explicit':false,'withdrawn':true}",
      "assume nothing", NULL },
    { "elicit_choice", CHOICE, STATE_TIMEOUT, NULL,
      "{'action':'timeout','summary':'Timed out','explicit':false}", "assume nothing", NULL },
    { "elicit_input", M ",'field_name':'\\\"x'}", STATE_SUBMITTED, "{'custom_input':'two\\nlines'}",
      "{'action':'accept','\\\"x':'two\\nlines','summary':'\\\"two\\\\nlines\\\"','explicit':true}",
      NULL, NULL },
    { "elicit_input", M "}", STATE_SUBMITTED, "{'fields':{'input':'t'}}",
      "{'action':'accept','input':'t','summary':'\\\"t\\\"','explicit':true}", NULL, NULL },
    { "elicit_input", M ",'type':'integer'}", STATE_SUBMITTED, "{'fields':{'input':7}}",
      "{'action':'accept','input':7,'summary':'7','explicit':true}", NULL, NULL },
    { "elicit_input", M "}", STATE_DECLINED, NULL,
      "{'action':'decline','summary':'Declined','explicit':true}", "said no", NULL },
    { "elicit_confirm", CONFIRM, STATE_SUBMITTED, "{'fields':{'confirmed':true}}",
      "{'action':'accept','confirmed':true,'summary':'yes','explicit':true}", NULL, NULL },
    { "elicit_confirm", CONFIRM, STATE_SUBMITTED, "{'fields':{'confirmed':false}}",
      "{'action':'decline','confirmed':false,'summary':'no','explicit':true}", "said no", NULL },
    { "elicit_confirm", CONFIRM, STATE_DECLINED, NULL,
      "{'action':'decline','confirmed':false,'summary':'Declined','explicit':true}", "said no",
      NULL },
    { "elicit_confirm", CONFIRM, STATE_CANCELLED, NULL,
      "{'action':'cancel','summary':'Cancelled','explicit':true}", "assume nothing", NULL },
    { "elicit_confirm", CONFIRM, STATE_TIMEOUT, NULL,
      "{'action':'timeout','summary':'Timed out','explicit':false}", "Nothing was chosen", NULL },
    { "elicit_number", M ",'minimum':40,'maximum':200}", STATE_SUBMITTED,
      "{'fields':{'value':90.5}}",
      "{'action':'accept','value':90.5,'summary':'90.5','explicit':true}", NULL, NULL },
    { "elicit_number", M "}", STATE_TIMEOUT, NULL,
      "{'action':'timeout','summary':'Timed out','explicit':false}", "Nothing was chosen", NULL },
    { "elicit_form", FORM, STATE_SUBMITTED, "{}",
      "{'action':'accept','content':{'t':'x','n':3,'ok':true},'summary':'\\\"x\\\", 3, yes',"
      "'explicit':true}",
      NULL, NULL },
    { "elicit_form", FORM, STATE_SUBMITTED,
      "{'fields':{'t':'','n':null,'ok':null,'e':'b','m':['q','p']}}",
      "{'action':'accept','content':{'e':'b','m':['p','q']},'summary':'b, p, q',"
      "'explicit':true}",
      NULL, NULL },
    { "elicit_form", FORM, STATE_SUBMITTED, "{'custom_input':'y','fields':{'ok':false}}",
      "{'action':'accept','content':{'t':'y','n':3,'ok':false},'summary':'\\\"y\\\", 3, no',"
      "'explicit':true}",
      NULL, NULL },
    { "elicit_form", FIRST_NUMBER, STATE_SUBMITTED, "{'fields':{'n':null,'m':[]}}",
      "{'action':'accept','content':{'m':[]},'summary':'nothing chosen','explicit':true}", NULL,
      NULL },
    { "elicit_form",
      M ",'requestedSchema':{'type':'object','properties':{'n':{'type':'number'},"
        "'t':{'type':'string','default':'x'}}}}",
      STATE_SUBMITTED, "{'fields':{'n':1,'t':''}}",
      "{'action':'accept','content':{'n':1},'summary':'1','explicit':true}", NULL, NULL },
    { "elicit_form", FIRST_NUMBER, STATE_AUTO_SUBMITTED, "{}",
      "{'action':'timeout','content':{'n':3,'m':[]},'summary':'Timed out; defaults submitted: "
      "3','explicit':false,'auto_submitted':true}",
      "the user did not decide", NULL },
    { "elicit_form", FORM, STATE_DECLINED, NULL,
      "{'action':'decline','summary':'Declined','explicit':true}", "said no", NULL },
};

static char *requote(const char *quoted)
{
    char *json = mem_text(quoted);

    for (char *at = strchr(json, '\''); at; at = strchr(at, '\''))
        *at = '"';
    return json;
}

static struct json *parse(const char *quoted)
{
    char *json = requote(quoted);
    struct json *value = NULL;

    if (!json_parse(json, strlen(json), &value, NULL))
        fail_msg("not JSON: %s", json);
    free(json);
    return value;
}

static struct ask_call call_of(const char *tool, const char *quoted)
{
    struct json *arguments = parse(quoted);
    struct ask_call call = { 0 };
    struct error err = { 0 };

    if (!arguments_check(ask_tool_find(tool), arguments, &call, &err))
        fail_msg("%s: %s at '%s'", tool, error_name(err.code), err.path);
    json_free(arguments);
    return call;
}

/* By way of the store, as every answer goes. */
static void read_answer(const struct form *form, const char *quoted, struct answer *ret_answer)
{
    struct json *given = parse(quoted), *stored = NULL;
    struct answer first = { 0 };
    struct text kept = { 0 }, again = { 0 };
    struct error err = { 0 };

    if (!answer_check(form, given, &first, &err))
        fail_msg("%s: %s at '%s'", quoted, error_name(err.code), err.path);
    answer_encode(form, &first, &kept);
    assert_true(json_parse(kept.bytes, kept.used, &stored, NULL));
    assert_true(answer_check(form, stored, ret_answer, NULL));
    answer_encode(form, ret_answer, &again);
    assert_string_equal(text_string(&again), text_string(&kept));
    answer_release(&first);
    json_free(given);
    json_free(stored);
    text_release(&kept);
    text_release(&again);
}

static void test_endings(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        const struct how_it_ended *ending = &endings[i];
        struct ask_call call = call_of(ending->tool, ending->arguments);
        struct answer answer = { 0 };
        struct response_facts facts = { .shape = ask_tool_find(ending->tool)->response,
                                        .session_id = ID,
                                        .state = ending->state,
                                        .form = &call.form,
                                        .cancel_note = ending->note };
        struct json *got = NULL, *wanted = parse(ending->wanted);
        struct text out = { 0 };
        const char *instructions;

        if (ending->answer) {
            read_answer(&call.form, ending->answer, &answer);
            facts.answer = &answer;
        }
        response_write(&facts, &out);
        assert_true(json_parse(out.bytes, out.used, &got, NULL));
        instructions = json_member_text(got, "instructions");
        if (!instructions != !ending->instructions ||
            (instructions && !strstr(instructions, ending->instructions)))
            fail_msg("%s: instructions of %s", ending->tool, out.bytes);
        assert_string_equal(json_member_text(got, "session_id"), ID);
        json_drop_member(got, "session_id");
        json_drop_member(got, "instructions");
        if (!json_same(got, wanted))
            fail_msg("%s %s: got %s", ending->tool, ending->wanted, out.bytes);
        json_free(got);
        json_free(wanted);
        text_release(&out);
        answer_release(&answer);
        ask_call_release(&call);
    }
}

/* What a person can't answer. */
static const struct {
    const char *tool, *arguments, *answer, *code, *path;
} refusals[] = {
    { "elicit_choice", CHOICE, "{'selected_ids':['c']}", "bad_enum", "/selected_ids/0" },
    { "elicit_choice", CHOICE, "{}", "missing_property", "/selected_ids" },
    { "elicit_input", M ",'format':'email'}", "{'custom_input':'x'}", "bad_format",
      "/custom_input" },
    { "elicit_input", M ",'type':'integer'}", "{'fields':{'input':1.5}}", "out_of_range",
      "/fields/input" },
    { "elicit_input", M ",'type':'integer'}", "{'custom_input':'1'}", "unsupported_flag",
      "/custom_input" },
    { "elicit_confirm", CONFIRM, "{}", "missing_property", "/fields/confirmed" },
    { "elicit_confirm", CONFIRM, "{'fields':{'confirmed':null}}", "missing_property",
      "/fields/confirmed" },
    { "elicit_confirm", CONFIRM, "{'fields':{'confirmed':'yes'}}", "bad_type",
      "/fields/confirmed" },
    { "elicit_confirm", CONFIRM, "{'fields':{'sure':true}}", "unknown_property", "/fields/sure" },
    { "elicit_number", M ",'minimum':40,'maximum':200}", "{'fields':{'value':201}}", "out_of_range",
      "/fields/value" },
    { "elicit_number", M ",'style':'rating'}", "{'fields':{'value':2.5}}", "out_of_range",
      "/fields/value" },
    { "elicit_number", M "}", "{'fields':{'value':null}}", "missing_property", "/fields/value" },
    { "elicit_form", FORM, "{'fields':{'m':['x']}}", "bad_enum", "/fields/m/0" },
    { "elicit_form", FORM, "{'fields':{'e':'z'}}", "bad_enum", "/fields/e" },
    { "elicit_form", FORM, "{'fields':{'n':'3'}}", "bad_type", "/fields/n" },
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct ask_call call = call_of(refusals[i].tool, refusals[i].arguments);
        struct json *given = parse(refusals[i].answer);
        struct answer answer = { 0 };
        struct error err = { 0 };

        if (answer_check(&call.form, given, &answer, &err))
            fail_msg("%s %s was accepted", refusals[i].tool, refusals[i].answer);
        if (strcmp(error_name(err.code), refusals[i].code) != 0 ||
            strcmp(err.path, refusals[i].path) != 0)
            fail_msg("%s %s: %s at %s", refusals[i].tool, refusals[i].answer, error_name(err.code),
                     err.path);
        json_free(given);
        ask_call_release(&call);
    }
}

/* Silence: what may be submitted without an answer is never a yes, and never a guess. */
static void test_defaults(void **state)
{
    static const struct {
        const char *tool, *arguments;
        bool is_enough;
    } defaults[] = {
        { "elicit_choice", CHOICE, false },
        { "elicit_confirm", CONFIRM, false },
        { "elicit_number", M "}", false },
        { "elicit_form", FORM, false }, /* a yes among them */
        { "elicit_form", FIRST_NUMBER, false },
        { "elicit_form",
          M ",'requestedSchema':{'type':'object','properties':{'n':{'type':'number','default':3}},"
            "'required':['n']}}",
          true },
        { "elicit_form",
          M ",'requestedSchema':{'type':'object','properties':{'t':{'type':'string','default':'a'},"
            "'u':{'type':'string'}}}}",
          true },
        { "elicit_form",
          M ",'requestedSchema':{'type':'object','properties':{'t':{'type':'string'}}}}", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        struct ask_call call = call_of(defaults[i].tool, defaults[i].arguments);

        if (form_has_enough_defaults(&call.form) != defaults[i].is_enough)
            fail_msg("%s %s", defaults[i].tool, defaults[i].arguments);
        ask_call_release(&call);
    }
}

/* A front that collects does not know what was asked: both ways of saying so. */
static void test_unknown_tool(void **state)
{
    const struct response_facts facts = { .session_id = ID, .state = STATE_PENDING };
    struct text out = { 0 };
    struct json *got = NULL;

    (void)state;
    response_write(&facts, &out);
    assert_true(json_parse(out.bytes, out.used, &got, NULL));
    assert_string_equal(json_member_text(got, "action_status"), "pending");
    assert_string_equal(json_member_text(got, "action"), "pending");
    assert_non_null(strstr(json_member_text(got, "instructions"), "call get_answer with"));
    json_free(got);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_unknown_tool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
