/*
 * ask_user_question: every rule at its boundary and the seed's facts in its words, every case of
 * the corpus, the form a good call comes to, and from a person's answer to the agent's result.
 * Proves: R2.1, R3.1, R3.2, R3.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/response.h"
#include "core/tools/arguments.h"

static const char ID[] = "abcdefghijklmnopqrstuvwxyz";

/* JSON in these tables has ' for ", so that it can be read; <A*200> stands for 200 times A. */
#define TWO        "[{'label':'Redis'},{'label':'None'}]"
#define ASK(x)     "{'questions':[" x "]}"
#define Q(t)       "{'question':'" t "','options':" TWO "}"
#define Q_WITH(x)  ASK("{'question':'Which?','options':" TWO x "}")
#define OPTIONS(x) ASK("{'question':'Which?','options':[" x "]}")

static const struct {
    const char *arguments, *code, *path; /* NULL: accepted */
    const char *says;                    /* in the message; NULL: whatever it says */
} rules[] = {
    { ASK(Q("Which?")), NULL, NULL, NULL },
    { ASK(Q("A?") "," Q("B?") "," Q("C?") "," Q("D?")), NULL, NULL, NULL },
    { ASK(""), "too_few_questions", "/questions", "must have 1-4 questions" },
    { ASK(Q("A?") "," Q("B?") "," Q("C?") "," Q("D?") "," Q("E?")), "too_many_questions",
      "/questions", "must have 1-4 questions" },
    { "{'questions':{}}", "bad_type", "/questions", "an array of objects" },
    { ASK("1"), "bad_type", "/questions/0", NULL },
    { ASK("{}"), "missing_property", "/questions/0/question", NULL },
    { ASK("{'question':'Which?'}"), "missing_property", "/questions/0/options", "2-4" },
    { ASK(Q("A?") ",{'question':1,'options':" TWO "}"), "bad_type", "/questions/1/question", NULL },
    { ASK(Q(" ")), "empty_text", "/questions/0/question", NULL },
    { ASK(Q("<A*4000>")), NULL, NULL, NULL },
    { ASK(Q("<A*4001>")), "too_long", "/questions/0/question", NULL },
    { ASK(Q("a\\u0000")), "nul_character", "/questions/0/question", NULL },
    { Q_WITH(",'header':'Twelve chars'"), NULL, NULL, NULL },
    { Q_WITH(",'header':''"), NULL, NULL, NULL },
    { Q_WITH(",'header':null,'multiSelect':null"), NULL, NULL, NULL },
    { OPTIONS(
          "{'label':'A','description':null,'preview':{'type':'text','text':'t','language':null}},"
          "{'label':'B','preview':null}"),
      NULL, NULL, NULL },
    { OPTIONS("{'label':'A'},{'label':'B','destructive':null}"), "bad_type",
      "/questions/0/options/1/destructive", NULL },
    { Q_WITH(",'header':'ThirteenChars'"), "too_long", "/questions/0/header", "the maximum is 12" },
    { Q_WITH(",'multiSelect':true"), NULL, NULL, NULL },
    { Q_WITH(",'multiSelect':'true'"), "bad_type", "/questions/0/multiSelect", NULL },
    { Q_WITH(",'id':'a'"), "unknown_property", "/questions/0/id", NULL },
    { OPTIONS("{'label':'A'}"), "too_few_options", "/questions/0/options",
      "question 'Which?' must have 2-4 options" },
    { OPTIONS("{'label':'A'},{'label':'B'},{'label':'C'},{'label':'D'}"), NULL, NULL, NULL },
    { OPTIONS("{'label':'A'},{'label':'B'},{'label':'C'},{'label':'D'},{'label':'E'}"),
      "too_many_options", "/questions/0/options", "question 'Which?' must have 2-4 options" },
    { OPTIONS("'A','B'"), "bad_type", "/questions/0/options/0", NULL },
    { OPTIONS("{'label':'A'},{}"), "missing_property", "/questions/0/options/1/label", NULL },
    { OPTIONS("{'label':'A','id':'a'},{'label':'B'}"), "unknown_property",
      "/questions/0/options/0/id", NULL },
    { OPTIONS("{'label':'A'},{'label':' '}"), "empty_text", "/questions/0/options/1/label", NULL },
    { OPTIONS("{'label':'<A*200>'},{'label':'B','description':'<d*2000>'}"), NULL, NULL, NULL },
    { OPTIONS("{'label':'<A*201>'},{'label':'B'}"), "too_long", "/questions/0/options/0/label",
      NULL },
    { OPTIONS("{'label':'A'},{'label':'B','description':'<d*2001>'}"), "too_long",
      "/questions/0/options/1/description", NULL },
    { OPTIONS("{'label':'A','preview':'p'},{'label':'B','preview':{'type':'diff','text':'+'}}"),
      NULL, NULL, NULL },
    { OPTIONS("{'label':'A'},{'label':'B','preview':{'type':'gif','text':'+'}}"), "bad_enum",
      "/questions/0/options/1/preview/type", NULL },
    { OPTIONS("{'label':'A'},{'label':'B','preview':{'text':'+'}}"), "missing_property",
      "/questions/0/options/1/preview/type", NULL },
    { ASK(Q("Which?") "," Q("Which?")), "duplicate_question", "/questions/1/question", "once" },
    { ASK(Q("A?") "," Q("Which?") "," Q("wh\\u0456ch? ")), "duplicate_question",
      "/questions/2/question", "questions 1 and 2" },
    { OPTIONS("{'label':'Same'},{'label':'same '}"), "ambiguous_label",
      "/questions/0/options/1/label", NULL },
    { ASK(Q("A?") ",{'question':'B?','options':[{'label':'X'},{'label':'Y'},{'label':'x'}]}"),
      "ambiguous_label", "/questions/1/options/2/label", NULL },
    { OPTIONS("{'label':'A'},{'label':'other'}"), "reserved_label", "/questions/0/options/1/label",
      "added to every question" },
    { OPTIONS("{'label':'其他'},{'label':'B'}"), "reserved_label", "/questions/0/options/0/label",
      NULL },
    { OPTIONS("{'label':'Another'},{'label':'Other ways'}"), NULL, NULL, NULL },
    { "{'questions':[" Q("A?") "],'title':'T','timeout_seconds':9,'interface':'web',"
                               "'idempotency_key':'k'}",
      NULL, NULL, NULL },
    { "{'questions':[" Q("A?") "],'timeout_seconds':0}", "out_of_range", "/timeout_seconds", NULL },
    { "{'questions':[" Q("A?") "],'session_id':'x'}", "unknown_property", "/session_id",
      "questions, timeout_seconds" },
    { "{'questions':[" Q("A?") "],'wait_for_previous':true}", NULL, NULL, NULL },
    { "[]", "bad_type", "", NULL },
};

/* ' becomes ", <A*3> becomes AAA. */
static char *expand(const char *quoted)
{
    struct text out = { 0 };

    for (const char *at = quoted; *at; at++) {
        const char *star = *at == '<' ? strchr(at, '*') : NULL;

        if (star) {
            for (long left = strtol(star + 1, NULL, 10); left > 0; left--)
                text_add(&out, at + 1, (size_t)(star - at - 1));
            at = strchr(star, '>');
        } else {
            text_add_char(&out, *at == '\'' ? '"' : *at);
        }
    }
    return text_take(&out);
}

static struct json *parse(const char *quoted)
{
    char *text = expand(quoted);
    struct json *value = NULL;

    if (!json_parse(text, strlen(text), &value, NULL))
        fail_msg("no JSON: %s", text);
    free(text);
    return value;
}

static void expect_outcome(const struct json *arguments, const char *code, const char *path,
                           const char *says)
{
    struct ask_call call = { 0 };
    struct error err = { 0 };
    bool is_good = arguments_check(&tool_ask_user_question, arguments, &call, &err);

    if (is_good != !code)
        fail_msg("%s %s at '%s', wanted %s", error_name(err.code), err.message, err.path,
                 code ? code : "good");
    if (code) {
        assert_string_equal(error_name(err.code), code);
        assert_string_equal(err.path, path);
        if (says && !strstr(err.message, says))
            fail_msg("'%s' does not say '%s'", err.message, says);
    }
    ask_call_release(&call);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct json *arguments = parse(rules[i].arguments);

        expect_outcome(arguments, rules[i].code, rules[i].path, rules[i].says);
        json_free(arguments);
    }
}

static struct json *read_corpus(void)
{
    FILE *file = fopen(TEST_CORPUS "/ask_inputs.json", "r");
    struct text bytes = { 0 };
    struct json *corpus = NULL;
    char part[4096];
    size_t got;

    assert_non_null(file);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_add(&bytes, part, got);
    fclose(file);
    assert_true(json_parse(bytes.bytes, bytes.used, &corpus, NULL));
    text_release(&bytes);
    return corpus;
}

static void test_corpus(void **state)
{
    struct json *corpus = read_corpus();
    const struct json *list = json_member(corpus, "cases");
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json *test = json_item(list, i), *expect = json_member(test, "expect");
        const struct json *context = json_member(test, "context");
        struct error err = { 0 };

        if (strcmp(json_member_text(test, "tool"), "ask_user_question") != 0)
            continue;
        count++;
        if (json_is_true(json_member(context, "sub_agent"))) {
            assert_false(ask_tool_allows(&tool_ask_user_question, true, &err));
            assert_string_equal(error_name(err.code), json_member_text(expect, "code"));
            assert_string_equal(err.path, json_member_text(expect, "path"));
        } else {
            expect_outcome(json_member(test, "arguments"), json_member_text(expect, "code"),
                           json_member_text(expect, "path"), NULL);
        }
    }
    assert_int_equal(count, 9);
    json_free(corpus);
}

static void test_sub_agents(void **state)
{
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; ask_tool_at(i); i++) {
        bool is_ours = ask_tool_at(i) == &tool_ask_user_question;

        assert_true(ask_tool_allows(ask_tool_at(i), false, &err));
        assert_int_equal(ask_tool_allows(ask_tool_at(i), true, &err), !is_ours);
    }
    assert_non_null(strstr(err.message, "sub-agents can't use ask_user_question"));
}

#define FIELD(n, label, rest)                                                                      \
    "{'name':'q" n "','label':'" label "'" rest                                                    \
    "'kind':'hybrid','required':true,'options':[{'id':'Redis','label':'Redis'},"                   \
    "{'id':'None','label':'None'}],'min_selections':1,"

static const struct {
    const char *arguments, *form;
} forms[] = {
    { "{'questions':[{'question':'Which cache?\\nFast','header':'Cache','options':" TWO "}]}",
      "{'version':1,'title':'Which cache?','prompt':'Which cache?\\nFast','fields':[" FIELD(
          "1", "Which cache?\\nFast",
          ",'header':'Cache',") "'max_selections':1}],'allow_annotations':true}" },
    { "{'questions':[" Q("A?") ",{'question':'B?','multiSelect':true,'options':" TWO "}]}",
      "{'version':1,'title':'A? (+1)','prompt':'','fields':[" FIELD(
          "1", "A?", ",") "'max_selections':1}," FIELD("2", "B?",
                                                       ",") "'max_selections':2}],'allow_"
                                                            "annotations':true}" },
    { "{'title':'T','questions':[" Q("A?") ",{'question':'B?','options':" TWO "}]}",
      "{'version':1,'title':'T','prompt':'','fields':[" FIELD(
          "1", "A?", ",") "'max_selections':1}," FIELD("2", "B?",
                                                       ",") "'max_selections':1}],'allow_"
                                                            "annotations':true}" },
    { OPTIONS("{'label':'A','description':'d','preview':{'type':'code','text':'p','language':'c'}},"
              "{'label':'B','description':' ','preview':'t'}"),
      "{'version':1,'title':'Which?','prompt':'Which?','fields':[{'name':'q1','label':'Which?',"
      "'kind':'hybrid','required':true,'options':[{'id':'A','label':'A','description':'d',"
      "'preview':{'type':'code','text':'p','language':'c'}},{'id':'B','label':'B','preview':"
      "{'type':'text','text':'t'}}],'min_selections':1,'max_selections':1}],"
      "'allow_annotations':true}" },
};

static void make_form(const char *arguments, struct ask_call *call)
{
    struct json *json = parse(arguments);
    struct error err = { 0 };

    if (!arguments_check(&tool_ask_user_question, json, call, &err))
        fail_msg("%s at '%s'", err.message, err.path);
    json_free(json);
}

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        char *wanted = expand(forms[i].form);
        struct ask_call call = { 0 };
        struct form again = { 0 };
        struct text first = { 0 }, second = { 0 };

        make_form(forms[i].arguments, &call);
        form_encode(&call.form, &first);
        assert_string_equal(text_string(&first), wanted);
        assert_true(form_parse(first.bytes, first.used, &again, NULL));
        form_encode(&again, &second);
        assert_string_equal(text_string(&second), wanted);
        form_release(&again);
        ask_call_release(&call);
        text_release(&first);
        text_release(&second);
        free(wanted);
    }
}

/* Results ----------------------------------------------------------------------------------------
 */

#define BOTH                                                                                       \
    ASK("{'question':'Which cache?','header':'Cache','options':" TWO                               \
        "},{'question':'Which tests?','multiSelect':true,'options':[{'label':'Unit'},"             \
        "{'label':'Lint'},{'label':'Load'}]}")

static const struct {
    const char *arguments;
    enum ask_state state;
    const char *answer; /* NULL: none */
    const char *wanted; /* the result but session_id, answered_* and instructions */
} endings[] = {
    { BOTH, STATE_SUBMITTED, "{'fields':{'q1':'None','q2':['Load','Unit']}}",
      "{'status':'answered','answers':{'Which cache?':'None','Which tests?':'Unit, Load'},"
      "'answer_list':[{'question':'Which cache?','header':'Cache','selected':['None']},"
      "{'question':'Which tests?','selected':['Unit','Load']}],'summary':'None, Unit, Load',"
      "'explicit':true}" },
    { BOTH, STATE_SUBMITTED,
      "{'fields':{'q1':{'custom_input':'my \\'own\\''},'q2':{'selected_ids':['Lint'],"
      "'custom_input':'and more'}},'field_annotations':{'q1':'why\\nnot','q2':' '},"
      "'global_annotation':'g'}",
      "{'status':'answered','answers':{'Which cache?':'my \\'own\\'','Which tests?':'Lint, and "
      "more'},'answer_list':[{'question':'Which cache?','header':'Cache','selected':[],"
      "'other':'my \\'own\\'','notes':'why\\nnot'},{'question':'Which tests?','selected':['Lint'],"
      "'other':'and more'}],'global_annotation':'g','summary':'\\'my \\'own\\'\\', Lint, \\'and "
      "more\\'','explicit':true}" },
    { ASK(Q("A?")), STATE_SUBMITTED, "{'selected_ids':['Redis']}",
      "{'status':'answered','answers':{'A?':'Redis'},'answer_list':[{'question':'A?',"
      "'selected':['Redis']}],'summary':'Redis','explicit':true}" },
    { ASK(Q("A?")), STATE_SUBMITTED, "{'custom_input':'neither'}",
      "{'status':'answered','answers':{'A?':'neither'},'answer_list':[{'question':'A?',"
      "'selected':[],'other':'neither'}],'summary':'\\'neither\\'','explicit':true}" },
    { BOTH, STATE_CANCELLED, NULL,
      "{'status':'cancelled','summary':'User cancelled the question','explicit':true}" },
    { BOTH, STATE_DECLINED, NULL,
      "{'status':'cancelled','summary':'Declined','explicit':true,'declined':true}" },
    { BOTH, STATE_WITHDRAWN, NULL,
      "{'status':'cancelled','summary':'Withdrawn by the agent','explicit':false,"
      "'withdrawn':true}" },
    { BOTH, STATE_TIMEOUT, NULL,
      "{'status':'timeout','summary':'User did not answer in time','explicit':false}" },
    { BOTH, STATE_PENDING, NULL,
      "{'status':'pending','summary':'Waiting for an answer','explicit':false}" },
    { BOTH, STATE_PENDING_TERMINAL_LAUNCH, NULL,
      "{'status':'pending','summary':'Waiting for a terminal','explicit':false}" },
};

static char *written_result(const struct response_facts *facts)
{
    static const char *const others[] = { "session_id", "answered_by", "answered_at",
                                          "instructions" };
    struct text out = { 0 };
    struct json *result = NULL;
    char *printed;

    response_write(facts, &out);
    assert_true(json_parse(out.bytes, out.used, &result, NULL));
    if (state_is_open(facts->state))
        assert_non_null(strstr(json_member_text(result, "instructions"), "get_answer"));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        json_drop_member(result, others[i]);
    printed = json_encode(result);
    json_free(result);
    text_release(&out);
    return printed;
}

static void test_endings(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        struct ask_call call = { 0 };
        struct answer answer = { 0 }, again = { 0 };
        struct json *given = endings[i].answer ? parse(endings[i].answer) : NULL, *kept = NULL;
        struct text stored = { 0 };
        struct error err = { 0 };
        char *wanted = expand(endings[i].wanted), *printed;

        make_form(endings[i].arguments, &call);
        if (given && !answer_check(&call.form, given, &answer, &err))
            fail_msg("case %zu: %s at '%s'", i, err.message, err.path);
        if (given) { /* the store gives back what it got */
            answer_encode(&call.form, &answer, &stored);
            assert_true(json_parse(stored.bytes, stored.used, &kept, NULL));
            assert_true(answer_check(&call.form, kept, &again, &err));
        }
        printed = written_result(&(struct response_facts){
            .shape = tool_ask_user_question.response,
            .session_id = ID,
            .state = endings[i].state,
            .form = &call.form,
            .answer = given ? &again : NULL,
            .by = { .person = "ada", .via = "cli" },
        });
        assert_string_equal(printed, wanted);
        free(printed);
        free(wanted);
        json_free(given);
        json_free(kept);
        text_release(&stored);
        answer_release(&answer);
        answer_release(&again);
        ask_call_release(&call);
    }
}

static const struct {
    const char *answer, *code, *path;
} bad_answers[] = {
    { "{}", "out_of_range", "/selected_ids" },
    { "{'fields':{'q1':'Redis'}}", "out_of_range", "/fields/q2" },
    { "{'fields':{'q2':'Unit'}}", "out_of_range", "/selected_ids" },
    { "{'fields':{'q1':['Redis','None'],'q2':'Unit'}}", "out_of_range", "/fields/q1" },
    { "{'fields':{'q1':'Rediss','q2':'Unit'}}", "bad_enum", "/fields/q1" },
    { "{'fields':{'q1':{'custom_input':' '},'q2':'Unit'}}", "out_of_range",
      "/fields/q1/selected_ids" },
    { "{'fields':{'q1':'Redis','q2':'Unit','q3':'x'}}", "unknown_property", "/fields/q3" },
    { "{'fields':{'q1':'Redis','q2':'Unit'},'field_annotations':[]}", "bad_type",
      "/field_annotations" },
    { "{'fields':{'q1':'Redis','q2':'Unit'},'field_annotations':{'q3':'n'}}", "unknown_property",
      "/field_annotations/q3" },
    { "{'fields':{'q1':'Redis','q2':'Unit'},'field_annotations':{'q2':1}}", "bad_type",
      "/field_annotations/q2" },
    { "{'fields':{'q1':'Redis','q2':'Unit'},'field_annotations':{'q2':'<n*2001>'}}", "too_long",
      "/field_annotations/q2" },
};

static void test_bad_answers(void **state)
{
    struct ask_call call = { 0 };

    (void)state;
    make_form(BOTH, &call);
    for (size_t i = 0; i < ARRAY_LEN(bad_answers); i++) {
        struct json *given = parse(bad_answers[i].answer);
        struct answer answer = { 0 };
        struct error err = { 0 };

        assert_false(answer_check(&call.form, given, &answer, &err));
        assert_string_equal(error_name(err.code), bad_answers[i].code);
        assert_string_equal(err.path, bad_answers[i].path);
        json_free(given);
    }
    ask_call_release(&call);
}

static void test_notes_may_be_off(void **state)
{
    struct json *given = parse("{'fields':{'q1':'Redis'},'field_annotations':{'q1':'n'}}");
    struct ask_call call = { 0 };
    struct answer answer = { 0 };
    struct error err = { 0 };

    (void)state;
    make_form(ASK(Q("A?")), &call);
    call.form.allow_annotations = false;
    assert_false(answer_check(&call.form, given, &answer, &err));
    assert_string_equal(error_name(err.code), "unsupported_flag");
    assert_string_equal(err.path, "/field_annotations");
    json_free(given);
    given = parse("{'fields':{'q1':'Redis'},'field_annotations':{'q1':' '}}");
    assert_true(answer_check(&call.form, given, &answer, &err));
    answer_release(&answer);
    json_free(given);
    ask_call_release(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_sub_agents),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_notes_may_be_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
