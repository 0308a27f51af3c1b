/*
 * test_form_schema.c - forms as clients get them: what each revision allows, what each client
 * shows. Proves: R4.2 R8.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/glyph.h"
#include "core/tools/arguments.h"
#include "mcp/form_schema.h"

#define PROMPT "'title':'Deploy','prompt':'Which of these targets shall be taken?'"
#define OPTIONS                                                                                    \
    "'options':[{'id':'a','label':'Alpha','recommended':true,'description':'fast'},"               \
    "{'id':'b','label':'Beta'}]"
static const char single[] =
    "{" PROMPT "," OPTIONS ",'selection_mode':'single','default_selection_ids':['b']}";
static const char multi[] = "{" PROMPT "," OPTIONS ",'selection_mode':'multi','min_selections':1,"
                            "'default_selection_ids':['b']}";
static const char hybrid[] = "{" PROMPT "," OPTIONS ",'selection_mode':'hybrid',"
                             "'min_selections':1,'max_selections':1,'placeholder':'Or else'}";
static const char words[] = "{" PROMPT ",'selection_mode':'text_input','placeholder':'A name'}";
static const char number[] = "{'message':'Tempo?','minimum':40.5,'maximum':200,'unit':'BPM'}";
static const char confirm[] = "{'message':'Go on?'}";
static const char form[] = "{'message':'Details','requestedSchema':{'type':'object','properties':{"
                           "'name':{'type':'string','default':'x','maxLength':9},"
                           "'loud':{'type':'boolean','default':true},"
                           "'mail':{'type':'string','format':'email'}},'required':['name']}}";

static const char questions[] =
    "{'questions':[{'question':'Which cache?','header':'Cache','options':[{'label':'Redis',"
    "'description':'fast'},{'label':'None'}]},{'question':'Which tests?','multiSelect':true,"
    "'options':[{'label':'Unit'},{'label':'Lint'}]}]}";

static const char named_questions[] =
    "{'title':'Set-up','questions':[{'question':'Which cache?','options':[{'label':'Redis'},"
    "{'label':'None'}]},{'question':'Which "
    "tests?','options':[{'label':'Unit'},{'label':'Lint'}]}]}";

#define NO_YES "[{'const':'no','title':'No'},{'const':'yes','title':'Yes'}]"
#define A      "Alpha (recommended) – fast"
#define PICKS  "[{'const':'Redis','title':'Redis – fast'},{'const':'None','title':'None'}]"

/* Each names a place in the params by its keys, and what stands there as JSON; "" : nothing. */
static const struct {
    const char *tool, *arguments, *client;
    enum mcp_revision revision;
    const char *place, *json;
} cases[] = {
    { "provide_choice", single, "any", REVISION_2025_06_18, "mode", "" },
    { "provide_choice", single, "any", REVISION_2025_11_25, "mode", "'form'" },
    { "provide_choice", single, "any", REVISION_2026_07_28, "message",
      "'Deploy\\n\\nWhich of these targets shall be taken?'" },
    { "provide_choice", single, "any", REVISION_2025_06_18, "choice",
      "{'type':'string','title':'Deploy','enum':['a','b'],'enumNames':['" A "','Beta']}" },
    { "provide_choice", single, "any", REVISION_2025_11_25, "choice",
      "{'type':'string','title':'Deploy','oneOf':[{'const':'a','title':'" A "'},"
      "{'const':'b','title':'Beta'}],'default':'b'}" },
    { "provide_choice", single, "codex-mcp-client", REVISION_2025_06_18, "choice",
      "{'type':'string','title':'Deploy','oneOf':[{'const':'a','title':'" A "'},"
      "{'const':'b','title':'Beta'}]}" },
    { "provide_choice", single, "any", REVISION_2025_11_25, "required", "['choice']" },
    { "provide_choice", single, "any", REVISION_2025_11_25, "note", "" },
    { "provide_choice", single, "claude-code", REVISION_2026_07_28, "note",
      "{'type':'string','title':'Note','description':'optional'}" },
    { "provide_choice", multi, "any", REVISION_2026_07_28, "choice",
      "{'type':'array','title':'Deploy','description':'Choose 1 to 2','items':{'anyOf':["
      "{'const':'a','title':'" A "'},{'const':'b','title':'Beta'}]},'minItems':1,'maxItems':2,"
      "'default':['b']}" },
    { "provide_choice", multi, "any", REVISION_2025_06_18, "choice", "" },
    { "provide_choice", multi, "any", REVISION_2025_06_18, "choice_1",
      "{'type':'boolean','title':'" A "','description':'Deploy · Choose 1 to 2'}" },
    { "provide_choice", multi, "any", REVISION_2025_06_18, "choice_2",
      "{'type':'boolean','title':'Beta','description':'Deploy · Choose 1 to 2','default':true}" },
    { "provide_choice", multi, "any", REVISION_2025_06_18, "required", "[]" },
    { "provide_choice", multi, "codex-mcp-client", REVISION_2026_07_28, "choice", "" },
    { "provide_choice", multi, "codex-mcp-client", REVISION_2026_07_28, "choice_2",
      "{'type':'string','title':'Beta','description':'Deploy · Choose 1 to 2','oneOf':" NO_YES
      ",'default':'yes'}" },
    { "provide_choice", multi, "codex-mcp-client", REVISION_2025_06_18, "choice_1",
      "{'type':'string','title':'" A "','description':'Deploy · Choose 1 to 2','oneOf':" NO_YES
      "}" },
    { "provide_choice", multi, "codex-mcp-client", REVISION_2025_06_18, "required", "[]" },
    { "provide_choice", hybrid, "any", REVISION_2025_06_18, "choice_own_words",
      "{'type':'string','title':'Your own answer','description':'Or else'}" },
    { "provide_choice", hybrid, "any", REVISION_2025_06_18, "required", "[]" },
    { "provide_choice", hybrid, "codex-mcp-client", REVISION_2025_06_18, "choice_own_words", "" },
    { "provide_choice", hybrid, "codex-mcp-client", REVISION_2025_06_18, "required", "['choice']" },
    { "provide_choice", words, "any", REVISION_2025_11_25, "choice",
      "{'type':'string','title':'Deploy','description':'A name'}" },
    { "elicit_number", number, "any", REVISION_2025_11_25, "value",
      "{'type':'number','title':'Tempo?','description':'A number from 40.5 to 200, BPM',"
      "'minimum':40,'maximum':200}" },
    { "elicit_number", number, "any", REVISION_2026_07_28, "value",
      "{'type':'number','title':'Tempo?','description':'A number from 40.5 to 200, BPM',"
      "'minimum':40.5,'maximum':200}" },
    { "elicit_number", number, "codex-mcp-client", REVISION_2025_06_18, "value",
      "{'type':'string','title':'Tempo?','description':'A number from 40.5 to 200, BPM'}" },
    { "elicit_number", number, "any", REVISION_2026_07_28, "message", "'Tempo?'" },
    { "elicit_confirm", confirm, "any", REVISION_2025_06_18, "confirmed",
      "{'type':'boolean','title':'Go on?'}" },
    { "elicit_confirm", confirm, "codex-mcp-client", REVISION_2025_06_18, "confirmed",
      "{'type':'string','title':'Go on?','oneOf':" NO_YES "}" },
    { "elicit_confirm", confirm, "codex-mcp-client", REVISION_2025_06_18, "required",
      "['confirmed']" },
    { "elicit_form", form, "any", REVISION_2025_06_18, "name",
      "{'type':'string','title':'name','maxLength':9}" },
    { "elicit_form", form, "any", REVISION_2026_07_28, "name",
      "{'type':'string','title':'name','maxLength':9,'default':'x'}" },
    { "elicit_form", form, "any", REVISION_2025_06_18, "loud",
      "{'type':'boolean','title':'loud','default':true}" },
    { "elicit_form", form, "any", REVISION_2025_06_18, "mail",
      "{'type':'string','title':'mail','format':'email'}" },
    { "elicit_form", form, "codex-mcp-client", REVISION_2025_06_18, "mail", "" },
    { "elicit_form", form, "codex-mcp-client", REVISION_2025_06_18, "required", "['name']" },
    { "ask_user_question", questions, "any", REVISION_2026_07_28, "message",
      "'Which cache?\\nWhich tests?'" },
    { "ask_user_question", named_questions, "any", REVISION_2026_07_28, "message",
      "'Which cache?\\nWhich tests?'" },
    { "ask_user_question", questions, "any", REVISION_2026_07_28, "q1",
      "{'type':'string','title':'Cache: Which cache?','oneOf':" PICKS "}" },
    { "ask_user_question", questions, "any", REVISION_2026_07_28, "q1_own_words",
      "{'type':'string','title':'Your own answer – Cache: Which cache?'}" },
    { "ask_user_question", questions, "any", REVISION_2026_07_28, "q2",
      "{'type':'array','title':'Which tests?','description':'Choose 1 to 2','items':{'anyOf':["
      "{'const':'Unit','title':'Unit'},{'const':'Lint','title':'Lint'}]},'minItems':0,"
      "'maxItems':2}" },
    { "ask_user_question", questions, "any", REVISION_2026_07_28, "required", "[]" },
    { "ask_user_question", questions, "any", REVISION_2025_06_18, "q2_1",
      "{'type':'boolean','title':'Unit','description':'Which tests? · Choose 1 to 2'}" },
    { "ask_user_question", questions, "codex-mcp-client", REVISION_2025_06_18, "q2_2",
      "{'type':'string','title':'Lint','description':'Which tests? · Choose 1 to 2','oneOf':" NO_YES
      "}" },
    { "ask_user_question", questions, "codex-mcp-client", REVISION_2025_06_18, "q1",
      "{'type':'string','title':'Cache: Which cache?','oneOf':" PICKS "}" },
    { "ask_user_question", questions, "codex-mcp-client", REVISION_2025_06_18, "q1_own_words", "" },
    { "ask_user_question", questions, "codex-mcp-client", REVISION_2025_06_18, "required",
      "['q1']" },
};

static char *quoted(const char *json)
{
    char *copy = mem_text(json);

    for (char *at = copy; *at; at++) {
        if (*at == '\'')
            *at = '"';
    }
    return copy;
}

static void make_form(const char *tool, const char *arguments, struct ask_call *call)
{
    char *json = quoted(arguments);
    struct json *value = NULL;
    struct error err;

    assert_true(json_parse(json, strlen(json), &value, NULL));
    if (!arguments_check(ask_tool_find(tool), value, call, &err))
        fail_msg("%s: %s", err.path, err.message);
    json_free(value);
    free(json);
}

static struct json *written(const char *tool, const char *arguments, const char *client,
                            enum mcp_revision revision, enum language language)
{
    struct ask_call call;
    struct text out = { 0 };
    struct json *params = NULL;

    make_form(tool, arguments, &call);
    form_schema_write(&call.form, revision, client, language, NULL, "sayso show abc", &out);
    if (!json_parse(text_string(&out), out.used, &params, NULL))
        fail_msg("%s", text_string(&out));
    ask_call_release(&call);
    text_release(&out);
    return params;
}

/* In the params, else in the schema, else among its properties. */
static const struct json *place_of(const struct json *params, const char *place)
{
    const struct json *schema = json_member(params, "requestedSchema"), *found;

    found = json_member(params, place);
    found = found ? found : json_member(schema, place);
    return found ? found : json_member(json_member(schema, "properties"), place);
}

static void test_forms_fit_revision_and_client(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *params = written(cases[i].tool, cases[i].arguments, cases[i].client,
                                      cases[i].revision, LANGUAGE_EN);
        const struct json *found = place_of(params, cases[i].place);
        char *json = found ? json_encode(found) : mem_text("");
        char *wanted = quoted(cases[i].json);

        if (strcmp(json, wanted) != 0)
            fail_msg("case %zu, %s of %s: %s", i, cases[i].place, cases[i].client, json);
        free(json);
        free(wanted);
        json_free(params);
    }
}

static void test_words_of_ours_are_the_persons(void **state)
{
    struct json *params =
        written("provide_choice", hybrid, "claude-code", REVISION_2026_07_28, LANGUAGE_ZH);
    char *json = json_encode(params);

    (void)state;
    assert_null(strstr(json, "recommended"));
    assert_null(strstr(json, "own words\""));
    assert_non_null(strstr(json, i18n_text_in(LANGUAGE_ZH, TEXT_OWN_WORDS)));
    free(json);
    json_free(params);
}

static void test_an_agents_text_is_harmless_and_bounded(void **state)
{
    struct text arguments = { 0 };
    struct json *params;
    const char *message;

    (void)state;
    text_add_text(&arguments, "{'title':'De\\u001b[31mploy\\u202e','prompt':'");
    for (int i = 0; i < 6000; i++)
        text_add_text(&arguments, i % 50 ? "\xc3\xa4" : " ");
    text_add_text(&arguments, "'," OPTIONS ",'selection_mode':'single'}");
    params =
        written("provide_choice", text_string(&arguments), "any", REVISION_2026_07_28, LANGUAGE_EN);
    message = json_member_text(params, "message");
    assert_null(strchr(message, 27));
    assert_null(strstr(message, "\xe2\x80\xae"));
    assert_true(text_count(message, strlen(message)) <= FORM_MESSAGE_CHARS + FORM_LABEL_CHARS + 8);
    assert_non_null(strstr(message, "…"));
    json_free(params);
    text_release(&arguments);
}

/* A title is short; of several questions the message says only the first. */
static void test_a_long_question_is_shown_whole(void **state)
{
    struct text arguments = { 0 };
    struct json *params;
    const struct json *place;

    (void)state;
    text_add_text(&arguments, "{'questions':[{'question':'");
    for (int i = 0; i < 300; i++)
        text_add_text(&arguments, "x");
    text_add_text(&arguments, " end','options':[{'label':'a'},{'label':'b'}]},"
                              "{'question':'Short?','options':[{'label':'a'},{'label':'b'}]}]}");
    params = written("ask_user_question", text_string(&arguments), "any", REVISION_2026_07_28,
                     LANGUAGE_EN);
    place = place_of(params, "q1");
    assert_non_null(strstr(json_member_text(place, "title"), "…"));
    assert_non_null(strstr(json_member_text(place, "description"), "x end"));
    assert_null(json_member_text(place_of(params, "q2"), "description"));
    json_free(params);
    text_release(&arguments);
}

#define LONG                                                                                       \
    "The production cluster runs release 41, and build 42 passed all checks on staging, the load " \
    "test with twice the usual traffic among them.\\n\\nEurope has most of the users and a quiet " \
    "hour at four; America has a migration running until Friday."
#define SHORT "Which of these targets shall be taken?"
#define CHINESE                                                                                    \
    "生产集群运行的是 41 版，昨晚 42 版在预发布环境通过了全部检查，其中包括两倍流量的压力测试。"
#define IN_FULL "Shown in full: sayso show abc"
static const char four_lines[] =
    "{'title':'Deploy','prompt':'One line to begin with.\\nTwo.\\nThree.\\nFour.',"
    "'selection_mode':'text_input'}";

/* What a client shows that cuts: the title is the field's, and the third line says where the rest
 * is. */
static const struct {
    const char *tool, *arguments, *message;
} cut_cases[] = {
    { "provide_choice", single, SHORT },
    { "elicit_confirm", confirm, "Go on?" },
    { "ask_user_question", questions, "Which cache?\nWhich tests?" },
    { "ask_user_question", named_questions, "Which cache?\nWhich tests?" },
    { "provide_choice", "{'title':'Deploy','prompt':'" LONG "','selection_mode':'text_input'}",
      "The production cluster runs release 41, and build 42 passed all checks on\n"
      "staging, the load test with twice the usual traffic among them.…\n" IN_FULL },
    { "provide_choice",
      "{'title':'Deploy','prompt':'One line to begin with.\\n\\n  \\nA second one.\\nA third.',"
      "'selection_mode':'text_input'}",
      "One line to begin with.\nA second one.\nA third." },
    { "provide_choice", four_lines, "One line to begin with.\nTwo.…\n" IN_FULL },
    { "provide_choice",
      "{'title':'Deploy','prompt':'" CHINESE CHINESE CHINESE "','selection_mode':'text_input'}",
      "生产集群运行的是 41 版，昨晚 42 版在预发布环境通过了全部检查，其中包括两倍\n"
      "流量的压力测试。生产集群运行的是 41 版，昨晚 42 版在预发布环境通过了全部检…\n" IN_FULL },
    { "provide_choice",
      "{'title':'A title that is longer than what is shown of one','prompt':'" SHORT
      "','selection_mode':'text_input'}",
      SHORT },
    { "provide_choice",
      "{'title':'A title that is longer than what is shown of them','prompt':'" SHORT
      "','selection_mode':'text_input'}",
      "A title that is longer than what is shown of them\n" SHORT "\n" IN_FULL },
    { "provide_choice",
      "{" PROMPT ",'selection_mode':'single','options':[{'id':'a','recommended':true,"
      "'label':'Europe first, at four in the morning, by halves'},{'id':'b','label':'America'}]}",
      SHORT "\n" IN_FULL },
};

static void test_what_a_client_cuts_is_said_where_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cut_cases); i++) {
        struct json *params = written(cut_cases[i].tool, cut_cases[i].arguments, "claude-code",
                                      REVISION_2025_11_25, LANGUAGE_EN);
        const char *message = json_member_text(params, "message");

        if (strcmp(message, cut_cases[i].message) != 0)
            fail_msg("case %zu: %s", i, message);
        for (const char *at = message, *end; *at; at = *end ? end + 1 : end) {
            end = at + strcspn(at, "\n");
            assert_true(glyph_columns(at, (size_t)(end - at)) <= 76);
        }
        json_free(params);
    }
}

/* What was missing when it came back comes first, and is one of the lines. */
static void test_what_it_lacks_comes_first(void **state)
{
    static const char told_json[] =
        "{\"lacks\":\"no such reason\",\"lacks_at\":\"/fields/choice\"}";
    static const struct {
        const char *client, *message;
    } wanted[] = {
        { "claude-code", "no such reason\nOne line to begin with.…\n" IN_FULL },
        { "any", "no such reason\n\nDeploy\n\nOne line to begin with.\nTwo.\nThree.\nFour." },
    };
    struct json *told = NULL;

    (void)state;
    assert_true(json_parse(told_json, strlen(told_json), &told, NULL));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct ask_call call;
        struct text out = { 0 };
        struct json *params = NULL;

        make_form("provide_choice", four_lines, &call);
        form_schema_write(&call.form, REVISION_2025_11_25, wanted[i].client, LANGUAGE_EN, told,
                          "sayso show abc", &out);
        assert_true(json_parse(text_string(&out), out.used, &params, NULL));
        assert_string_equal(json_member_text(params, "message"), wanted[i].message);
        json_free(params);
        text_release(&out);
        ask_call_release(&call);
    }
    json_free(told);
}

/* An option that is cut keeps the mark that the agent recommends it. */
static void test_a_cut_option_keeps_its_mark(void **state)
{
    const size_t last = ARRAY_LEN(cut_cases) - 1;
    struct json *params = written(cut_cases[last].tool, cut_cases[last].arguments, "claude-code",
                                  REVISION_2025_11_25, LANGUAGE_EN);
    const struct json *options = json_member(place_of(params, "choice"), "oneOf");

    (void)state;
    assert_string_equal(json_member_text(json_item(options, 0), "title"),
                        "Europe first, at four in the… (recommended)");
    assert_string_equal(json_member_text(json_item(options, 1), "title"), "America");
    json_free(params);
}

static void test_an_address_has_an_id_at_every_revision(void **state)
{
    struct ask_call call;
    struct text out = { 0 };

    (void)state;
    make_form("elicit_confirm", confirm, &call);
    form_schema_write_url(&call.form, "abc", "http://127.0.0.1:7297/choice/abc", &out);
    assert_string_equal(text_string(&out),
                        "{\"mode\":\"url\",\"message\":\"Go on?\",\"url\":"
                        "\"http://127.0.0.1:7297/choice/abc\",\"elicitationId\":\"abc\"}");
    ask_call_release(&call);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_fit_revision_and_client),
        cmocka_unit_test(test_words_of_ours_are_the_persons),
        cmocka_unit_test(test_an_agents_text_is_harmless_and_bounded),
        cmocka_unit_test(test_a_long_question_is_shown_whole),
        cmocka_unit_test(test_what_a_client_cuts_is_said_where_it_is),
        cmocka_unit_test(test_what_it_lacks_comes_first),
        cmocka_unit_test(test_a_cut_option_keeps_its_mark),
        cmocka_unit_test(test_an_address_has_an_id_at_every_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
