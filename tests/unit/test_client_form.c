/*
 * test_client_form.c - what clients bring back of forms: read as it was meant, or refused; and what
 * a refusal of theirs is worth.
 * Proves: R4.2 R4.3
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
#include "core/fields/answer.h"
#include "core/fields/field_class.h"
#include "core/tools/arguments.h"

static const char single[] =
    "{\"title\":\"T\",\"prompt\":\"Which of the two shall be "
    "taken?\",\"selection_mode\":\"single\","
    "\"options\":[{\"id\":\"a\",\"label\":\"A\",\"recommended\":true},{\"id\":\"b\",\"label\":"
    "\"B\"}],\"default_selection_ids\":[\"a\"]}";
static const char multi[] =
    "{\"title\":\"T\",\"prompt\":\"Which of the two shall be taken?\",\"selection_mode\":\"multi\","
    "\"min_selections\":1,\"options\":[{\"id\":\"a\",\"label\":\"A\",\"recommended\":true},"
    "{\"id\":\"b\",\"label\":\"B\"}]}";
static const char hybrid[] =
    "{\"title\":\"T\",\"prompt\":\"Which of the two shall be taken?\",\"selection_mode\":"
    "\"hybrid\",\"min_selections\":1,\"options\":[{\"id\":\"a\",\"label\":\"A\",\"recommended\":"
    "true},{\"id\":\"b\",\"label\":\"B\"}]}";
static const char number[] = "{\"message\":\"Tempo?\",\"minimum\":40,\"maximum\":200}";
static const char confirm[] = "{\"message\":\"Go on?\"}";
static const char input[] = "{\"message\":\"Name?\",\"minLength\":2}";
/* Names as bad as they may be: one is what another's option would be called. */
static const char form[] =
    "{\"message\":\"Details\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"tags\":{"
    "\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"x\",\"y\"]}},\"tags_1\":{"
    "\"type\":\"boolean\"},\"note\":{\"type\":\"string\",\"default\":\"old\"},\"count\":{\"type\":"
    "\"integer\",\"default\":3}}}}";

static const struct reading_case {
    const char *name, *tool, *arguments, *content;
    const char *answer; /* as the store keeps it; NULL: refused */
} cases[] = {
    { "a pick", "provide_choice", single, "{\"choice\":\"b\"}", "{\"selected_ids\":[\"b\"]}" },
    { "with a note", "provide_choice", single, "{\"choice\":\"b\",\"note\":\"why\"}",
      "{\"selected_ids\":[\"b\"],\"global_annotation\":\"why\"}" },
    { "an empty note is none", "provide_choice", single, "{\"choice\":\"b\",\"note\":\"\"}",
      "{\"selected_ids\":[\"b\"]}" },
    { "nothing", "provide_choice", single, "{}", NULL },
    { "nothing that was asked for", "provide_choice", single, "{\"colour\":\"b\"}", NULL },
    { "a note alone is not the default", "provide_choice", single, "{\"note\":\"x\"}", NULL },
    { "outside the options", "provide_choice", single, "{\"choice\":\"purple\"}", NULL },
    { "another type", "provide_choice", single, "{\"choice\":1}", NULL },
    { "null", "provide_choice", single, "{\"choice\":null}", NULL },
    { "NUL", "provide_choice", single, "{\"choice\":\"b\\u0000\"}", NULL },
    { "two of one", "provide_choice", single, "{\"choice\":[\"a\",\"b\"]}", NULL },
    { "a list instead", "provide_choice", single, "[\"a\"]", NULL },
    { "several", "provide_choice", multi, "{\"choice\":[\"b\",\"a\"]}",
      "{\"selected_ids\":[\"a\",\"b\"]}" },
    { "several as yes and no", "provide_choice", multi, "{\"choice_1\":false,\"choice_2\":true}",
      "{\"selected_ids\":[\"b\"]}" },
    { "too few", "provide_choice", multi, "{\"choice\":[]}", NULL },
    { "several, no or yes chosen", "provide_choice", multi,
      "{\"choice_1\":\"no\",\"choice_2\":\"yes\"}", "{\"selected_ids\":[\"b\"]}" },
    { "only no", "provide_choice", multi, "{\"choice_1\":false,\"choice_2\":false}", NULL },
    { "neither yes nor no", "provide_choice", multi, "{\"choice_1\":true,\"choice_2\":\"b\"}",
      NULL },
    { "twice", "provide_choice", multi, "{\"choice\":[\"a\",\"a\"]}", NULL },
    { "words beside options", "provide_choice", hybrid,
      "{\"choice\":[\"a\"],\"choice_own_words\":\"and quickly\"}",
      "{\"selected_ids\":[\"a\"],\"custom_input\":\"and quickly\"}" },
    { "words alone", "provide_choice", hybrid, "{\"choice_own_words\":\"neither\"}",
      "{\"custom_input\":\"neither\"}" },
    { "words in the list's place", "provide_choice", hybrid, "{\"choice\":\"neither\"}",
      "{\"custom_input\":\"neither\"}" },
    { "one option as a text", "provide_choice", hybrid,
      "{\"choice\":\"a\",\"choice_own_words\":\"\"}", "{\"selected_ids\":[\"a\"]}" },
    { "a list nobody touched", "provide_choice", hybrid,
      "{\"choice\":\"\",\"choice_own_words\":\"mine\"}", "{\"custom_input\":\"mine\"}" },
    { "neither", "provide_choice", hybrid, "{\"choice_own_words\":\" \"}", NULL },
    { "a number", "elicit_number", number, "{\"value\":92.5}", "{\"fields\":{\"value\":92.5}}" },
    { "a number as text", "elicit_number", number, "{\"value\":\"92.5\"}",
      "{\"fields\":{\"value\":92.5}}" },
    { "a number too large", "elicit_number", number, "{\"value\":\"920\"}", NULL },
    { "no number", "elicit_number", number, "{\"value\":\"fast\"}", NULL },
    { "not quite a number", "elicit_number", number, "{\"value\":\"9e\"}", NULL },
    { "infinity", "elicit_number", number, "{\"value\":\"1e999\"}", NULL },
    { "an empty text for a number", "elicit_number", number, "{\"value\":\"\"}", NULL },
    { "yes", "elicit_confirm", confirm, "{\"confirmed\":true}",
      "{\"fields\":{\"confirmed\":true}}" },
    { "no", "elicit_confirm", confirm, "{\"confirmed\":false}",
      "{\"fields\":{\"confirmed\":false}}" },
    { "yes in words", "elicit_confirm", confirm, "{\"confirmed\":\"true\"}", NULL },
    { "yes, chosen", "elicit_confirm", confirm, "{\"confirmed\":\"yes\"}",
      "{\"fields\":{\"confirmed\":true}}" },
    { "no, chosen", "elicit_confirm", confirm, "{\"confirmed\":\"no\"}",
      "{\"fields\":{\"confirmed\":false}}" },
    { "a string", "elicit_input", input, "{\"input\":\"Heron\"}",
      "{\"fields\":{\"input\":\"Heron\"}}" },
    { "a text too short", "elicit_input", input, "{\"input\":\"H\"}", NULL },
    { "keys of ours make room", "elicit_form", form,
      "{\"tags_1\":true,\"tags_1_\":true,\"note\":\"n\",\"note_\":\"mine\"}",
      "{\"fields\":{\"tags\":[\"x\"],\"tags_1\":true,\"note\":\"n\",\"count\":null},"
      "\"global_annotation\":\"mine\"}" },
    { "defaults nobody sent stay empty", "elicit_form", form, "{\"tags\":[\"y\"]}",
      "{\"fields\":{\"tags\":[\"y\"],\"tags_1\":null,\"note\":\"\",\"count\":null}}" },
    { "nested", "elicit_form", form, "{\"tags\":[[\"x\"]]}", NULL },
};

static char *read_case(const struct reading_case *one)
{
    struct json *arguments = NULL, *content = NULL, *given = NULL;
    struct ask_call call;
    struct answer answer = { 0 };
    struct text out = { 0 }, stored = { 0 };
    struct error err;
    char *result = NULL;

    assert_true(json_parse(one->arguments, strlen(one->arguments), &arguments, NULL));
    assert_true(json_parse(one->content, strlen(one->content), &content, NULL));
    assert_true(arguments_check(ask_tool_find(one->tool), arguments, &call, &err));
    if (client_form_read(&call.form, content, &out, &err)) {
        assert_true(json_parse(out.bytes, out.used, &given, NULL));
        if (answer_check(&call.form, given, &answer, &err)) {
            answer_encode(&call.form, &answer, &stored);
            result = text_take(&stored);
        }
    }
    answer_release(&answer);
    ask_call_release(&call);
    json_free(given);
    json_free(content);
    json_free(arguments);
    text_release(&out);
    return result;
}

/* Equal once what was wanted has been through the same check. */
static bool is_same_answer(const struct reading_case *one, const char *got)
{
    struct json *arguments = NULL, *given = NULL;
    struct ask_call call;
    struct answer answer = { 0 };
    struct text wanted = { 0 };
    struct error err;
    bool is_same;

    assert_true(json_parse(one->arguments, strlen(one->arguments), &arguments, NULL));
    assert_true(arguments_check(ask_tool_find(one->tool), arguments, &call, &err));
    assert_true(json_parse(one->answer, strlen(one->answer), &given, NULL));
    if (!answer_check(&call.form, given, &answer, &err))
        fail_msg("%s: %s", one->name, err.message);
    answer_encode(&call.form, &answer, &wanted);
    is_same = strcmp(text_string(&wanted), got) == 0;
    answer_release(&answer);
    ask_call_release(&call);
    json_free(given);
    json_free(arguments);
    text_release(&wanted);
    return is_same;
}

static void test_content_is_read_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *got = read_case(&cases[i]);

        if (!got != !cases[i].answer || (got && !is_same_answer(&cases[i], got)))
            fail_msg("%s: %s", cases[i].name, got ? got : "refused");
        free(got);
    }
}

static void test_quick_refusals_are_nobodys(void **state)
{
    static const struct {
        const char *action;
        int64_t shown_ms;
        enum client_verdict verdict;
    } rules[] = {
        { "accept", 0, CLIENT_ANSWERS },        { "accept", 90000, CLIENT_ANSWERS },
        { "decline", 0, CLIENT_FAILED },        { "decline", 1999, CLIENT_FAILED },
        { "decline", 2000, CLIENT_DECLINES },   { "cancel", 3, CLIENT_FAILED },
        { "cancel", 1999, CLIENT_FAILED },      { "cancel", 2000, CLIENT_CANCELS },
        { "cancel", 86400000, CLIENT_CANCELS }, { "decline", -5, CLIENT_FAILED },
        { "later", 5000, CLIENT_FAILED },       { NULL, 5000, CLIENT_FAILED },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        assert_int_equal(client_form_judge("somebody", rules[i].action, rules[i].shown_ms),
                         rules[i].verdict);
}

/* The table of R4.3: a quick no is a person's where the client was never seen to say it by itself.
 */
static void test_who_declines_only_for_a_person(void **state)
{
    static const struct {
        const char *name;
        enum client_verdict decline;
    } clients[] = {
        { "claude-code", CLIENT_DECLINES },    { "codex-mcp-client", CLIENT_FAILED },
        { "copilot-cli", CLIENT_FAILED },      { "github-copilot-developer", CLIENT_FAILED },
        { "claude-code-like", CLIENT_FAILED }, { "", CLIENT_FAILED },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        assert_int_equal(client_form_judge(clients[i].name, "decline", 3), clients[i].decline);
        assert_int_equal(client_form_judge(clients[i].name, "decline", 2000), CLIENT_DECLINES);
        assert_int_equal(client_form_judge(clients[i].name, "cancel", 3), CLIENT_FAILED);
    }
}

static void test_what_is_learnt_of_a_form(void **state)
{
    const int64_t now = 1800000000000, day = CLIENT_FORM_BROKEN_MS;

    (void)state;
    assert_false(client_form_is_broken(0, now));
    assert_false(client_form_is_broken(CLIENT_FORM_WORKS, now));
    assert_int_equal(client_form_learn(0, false, now), -now);
    assert_true(client_form_is_broken(-now, now));
    assert_true(client_form_is_broken(-now, now + day - 1));
    assert_false(client_form_is_broken(-now, now + day));
    assert_true(client_form_is_broken(-now, now - 5000)); /* the clock was set back */
    assert_int_equal(client_form_learn(-now, true, now + 1), CLIENT_FORM_WORKS);
    assert_int_equal(client_form_learn(CLIENT_FORM_WORKS, false, now), CLIENT_FORM_WORKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_is_read_or_refused),
        cmocka_unit_test(test_quick_refusals_are_nobodys),
        cmocka_unit_test(test_who_declines_only_for_a_person),
        cmocka_unit_test(test_what_is_learnt_of_a_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
