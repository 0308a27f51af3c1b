/*
 * What counts as absent in a call of any tool that asks, and all that is wrong with one, reported
 * together.
 * Proves: R2.1, R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/arguments.h"

#define PROMPT     "The build is done; two hosts are healthy."
#define HEAD       "{\"title\":\"Deploy\",\"prompt\":\"" PROMPT "\","
#define MODE(mode) "\"selection_mode\":\"" mode "\""
#define AB                                                                                         \
    "\"options\":[{\"id\":\"a\",\"label\":\"Alpha\",\"recommended\":true},"                        \
    "{\"id\":\"b\",\"label\":\"Beta\"}]"

struct outcome {
    struct error err;
    struct ask_call call;
};

static struct outcome check(const char *tool, const char *arguments)
{
    struct outcome outcome = { 0 };
    struct json *json = NULL;

    if (!json_parse(arguments, strlen(arguments), &json, &outcome.err))
        fail_msg("not JSON: %s", arguments);
    arguments_check(ask_tool_find(tool), json, &outcome.call, &outcome.err);
    json_free(json);
    return outcome;
}

/* What counts as absent is dropped before equal calls are recognised, in every tool. */
static const struct {
    const char *tool, *with, *without;
} pairs[] = {
    { "provide_choice",
      HEAD MODE("single") "," AB ",\"placeholder\":null,\"timeout_seconds\":null,"
                          "\"session_id\":\"\",\"wait_for_previous\":null}",
      HEAD MODE("single") "," AB "}" },
    { "provide_choice",
      HEAD MODE("multi") ",\"options\":[{\"id\":\"a\",\"description\":null,\"label\":\"A\","
                         "\"recommended\":true,\"preview\":null}]}",
      HEAD MODE("multi") ",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"recommended\":true}]}" },
    { "provide_choice", HEAD MODE("text_input") ",\"options\":[],\"interface\":\"\"}",
      HEAD MODE("text_input") "}" },
    { "elicit_choice", "{\"message\":\"m\",\"options\":[],\"enum\":[\"a\"],\"title\":\"\"}",
      "{\"message\":\"m\",\"enum\":[\"a\"]}" },
    { "elicit_form",
      "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"required\":null,"
      "\"properties\":{\"f\":{\"title\":null,\"type\":\"boolean\",\"default\":null}}}}",
      "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"
      "{\"f\":{\"type\":\"boolean\"}}}}" },
    { "ask_user_question",
      "{\"questions\":[{\"header\":null,\"question\":\"Q?\",\"options\":[{\"label\":\"A\"},"
      "{\"preview\":null,\"label\":\"B\"}]}],\"title\":null}",
      "{\"questions\":[{\"question\":\"Q?\",\"options\":[{\"label\":\"A\"},"
      "{\"label\":\"B\"}]}]}" },
};

static void test_absent(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct outcome with = check(pairs[i].tool, pairs[i].with);
        struct outcome without = check(pairs[i].tool, pairs[i].without);

        assert_string_equal(with.err.message, "");
        assert_string_equal(with.call.arguments_json, without.call.arguments_json);
        ask_call_release(&with.call);
        ask_call_release(&without.call);
    }
}

/* All that is wrong with a call, as far as one mistake doesn't hide another. */
static const struct {
    const char *tool, *arguments, *wanted;
} cases[] = {
    { "provide_choice", "{}",
      "missing_property /title, missing_property /prompt, missing_property /selection_mode, "
      "missing_property /options" },
    { "provide_choice", "{\"titel\":\"T\",\"promt\":\"P\",\"timeout_seconds\":0}",
      "unknown_property /titel, unknown_property /promt, missing_property /title, "
      "missing_property /prompt, missing_property /selection_mode, missing_property /options, "
      "out_of_range /timeout_seconds" },
    { "provide_choice",
      "{\"title\":\"\",\"prompt\":5,\"selection_mode\":\"radio\",\"options\":[{\"id\":1},"
      "{\"label\":\"\",\"id\":\"b\",\"x\":1}]}",
      "unknown_property /options/1/x, bad_type /prompt, bad_enum /selection_mode, "
      "bad_type /options/0/id, missing_property /options/0/label, empty_text /title, "
      "empty_text /options/1/label" },
    { "provide_choice",
      "{\"title\":\"T\",\"prompt\":\"short\",\"selection_mode\":\"multi\",\"options\":"
      "[{\"id\":\"a\",\"label\":\"A\"},{\"id\":\"a\",\"label\":\"a\"}],\"placeholder\":\"p\","
      "\"default_selection_ids\":[\"q\",\"q\"],\"min_selections\":4,\"max_selections\":3}",
      "unsupported_flag /placeholder, duplicate_option_id /options/1/id, "
      "ambiguous_label /options/1/label, default_not_in_options /default_selection_ids/0, "
      "out_of_range /max_selections, min_exceeds_max /min_selections, "
      "no_recommended_option /options, too_short /prompt" },
    { "elicit_number", "{\"message\":\"m\",\"style\":\"slider\",\"step\":0}",
      "missing_property /minimum, missing_property /maximum, out_of_range /step" },
    { "elicit_form",
      "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
      "\"a\":{\"type\":\"object\"},\"b\":{\"type\":\"string\",\"minLength\":3,\"maxLength\":2},"
      "\"c\":{\"type\":\"boolean\"},\"d\":{\"type\":\"number\",\"minimum\":\"1\",\"x\":1}}}}",
      "unsupported_schema /requestedSchema/properties/a/type, "
      "min_exceeds_max /requestedSchema/properties/b/minLength, "
      "unsupported_schema /requestedSchema/properties/d/x, "
      "unsupported_schema /requestedSchema/properties/d/minimum" },
    { "ask_user_question",
      "{\"questions\":[{\"question\":\"Q?\",\"options\":[{\"label\":\"A\"},{\"label\":\"a\"}]},"
      "{\"question\":\"q?\",\"options\":[{\"label\":\"Other\"},{\"label\":\"B\"}]}]}",
      "duplicate_question /questions/1/question, ambiguous_label "
      "/questions/0/options/1/label, reserved_label /questions/1/options/0/label" },
};

static void test_several(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome outcome = check(cases[i].tool, cases[i].arguments);
        struct text found = { 0 }, json = { 0 };
        struct json_writer writer = json_writer_to(&json);
        struct json *written = NULL;
        const char *message;
        struct error one;

        for (size_t k = 0; error_at(&outcome.err, k, &one); k++) {
            text_add_format(&found, "%s%s %s", k ? ", " : "", error_name(one.code), one.path);
            assert_true(strlen(one.message) > 10);
        }
        assert_string_equal(text_string(&found), cases[i].wanted);
        json_write_object(&writer, NULL);
        error_write(&outcome.err, &writer);
        error_write_message(&outcome.err, &writer);
        json_write_end_object(&writer);
        assert_true(json_parse(json.bytes, json.used, &written, NULL));
        assert_string_equal(json_member_text(written, "path"), outcome.err.path);
        message = json_member_text(written, "message");
        assert_int_equal(strncmp(message, outcome.err.message, strlen(outcome.err.message)), 0);
        for (size_t k = 1; error_at(&outcome.err, k, &one); k++) {
            const struct json *listed = json_item(json_member(written, "errors"), k);

            assert_string_equal(json_member_text(listed, "path"), one.path);
            assert_string_equal(json_member_text(listed, "message"), one.message);
            assert_non_null(strstr(message, one.path));
        }
        json_free(written);
        text_release(&found);
        text_release(&json);
    }
}

/* What no longer fits is left for the next try; what came before stays whole. */
static void test_many(void **state)
{
    struct text bytes = { 0 };
    struct outcome outcome;
    struct error one;
    size_t count = 0;

    (void)state;
    text_add_text(&bytes, HEAD MODE("multi") ",\"options\":[{}");
    for (int i = 1; i < 100; i++)
        text_add_text(&bytes, ",{}");
    text_add_text(&bytes, "]}");
    outcome = check("provide_choice", text_string(&bytes));
    for (; error_at(&outcome.err, count, &one); count++) {
        assert_int_equal(one.code, ERROR_missing_property);
        assert_true(strncmp(one.path, "/options/", 9) == 0 && strstr(one.message, "is missing: "));
    }
    assert_in_range(count, 4, 20);
    text_release(&bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
