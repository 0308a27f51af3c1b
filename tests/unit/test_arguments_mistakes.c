/*
 * What counts as absent in a call of any tool that asks, and all that is wrong with one or with an
 * answer, reported together.
 * Proves: R2.1, R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/answer.h"
#include "core/tools/arguments.h"

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
        error_write(&outcome.err, NULL, &writer);
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

/* Calls with something at every place that a row of their tool is about. */
static const struct {
    const char *tool, *arguments;
} full_calls[] = {
    { "provide_choice",
      HEAD MODE("hybrid") "," AB ",\"placeholder\":\"p\",\"default_selection_ids\":[\"a\"],"
                          "\"min_selections\":1,\"max_selections\":2,\"timeout_seconds\":9,"
                          "\"destructive\":true,\"idempotency_key\":\"k\"}" },
    { "ask_user_question",
      "{\"title\":\"T\",\"questions\":[{\"question\":\"Q?\",\"header\":\"H\",\"multiSelect\":true,"
      "\"options\":[{\"label\":\"A\",\"description\":\"d\",\"preview\":\"p\"},"
      "{\"label\":\"B\"}]}]}" },
    { "elicit_choice", "{\"message\":\"m\",\"options\":[{\"value\":\"a\",\"label\":\"A\"}]}" },
    { "elicit_choice", "{\"message\":\"m\",\"enum\":[\"a\"],\"enumNames\":[\"A\"]}" },
    { "elicit_input", "{\"message\":\"m\",\"field_name\":\"f\",\"type\":\"string\","
                      "\"minLength\":1,\"maxLength\":9,\"format\":\"email\"}" },
    { "elicit_confirm", "{\"message\":\"m\",\"destructive\":true}" },
    { "elicit_number", "{\"message\":\"m\",\"minimum\":1,\"maximum\":2,\"step\":1,"
                       "\"unit\":\"u\",\"style\":\"slider\"}" },
    { "elicit_form",
      "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"required\":[\"f\"],"
      "\"properties\":{\"f\":{\"type\":\"string\",\"title\":\"t\",\"enum\":[\"a\"],"
      "\"enumNames\":[\"A\"],\"default\":\"a\"},\"g\":{\"type\":\"array\",\"minItems\":1,"
      "\"items\":{\"type\":\"string\",\"enum\":[\"a\"]},\"default\":[\"a\"]}}}}" },
};

static const char *const strangers[] = { "null",  "true",    "7",           "1e400", "\"\"",
                                         "\"x\"", "[1,2,3]", "{\"a\":[1]}", "[]",    "{}" };

/* Two places of a call, counted from its root on, and what stands there instead. */
struct exchange {
    size_t next, at[2];
    const char *put[2];
};

static void write_exchanged(struct json_writer *writer, const char *key, const struct json *value,
                            struct exchange *exchange)
{
    size_t place = exchange->next++;

    if (place == exchange->at[0] || place == exchange->at[1]) {
        json_write_raw(writer, key, exchange->put[place == exchange->at[1]]);
    } else if (json_kind(value) == KIND_OBJECT) {
        json_write_object(writer, key);
        for (void *it = json_first(value); it; it = json_next(value, it))
            write_exchanged(writer, json_key(it), json_value(it), exchange);
        json_write_end_object(writer);
    } else if (json_kind(value) == KIND_LIST) {
        json_write_list(writer, key);
        for (size_t i = 0; i < json_length(value); i++)
            write_exchanged(writer, NULL, json_item(value, i), exchange);
        json_write_end_list(writer);
    } else {
        json_write_value(writer, key, value);
    }
}

/* Returns how many places the call has. */
static size_t check_exchanged(const char *tool, const struct json *call, struct exchange exchange)
{
    struct text bytes = { 0 };
    struct json_writer writer = json_writer_to(&bytes);
    struct outcome outcome;

    write_exchanged(&writer, NULL, call, &exchange);
    outcome = check(tool, text_string(&bytes));
    if (!outcome.call.arguments_json && outcome.err.code == ERROR_NONE)
        fail_msg("%s has no reason to refuse %s", tool, text_string(&bytes));
    ask_call_release(&outcome.call);
    text_release(&bytes);
    return exchange.next;
}

/* All mistakes are reported together, so what is said of one place meets anything at another. */
static void test_two_strangers(void **state)
{
    const size_t nowhere = SIZE_MAX;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(full_calls); i++) {
        const char *tool = full_calls[i].tool;
        struct json *call = NULL;
        struct exchange exchange = { .at = { nowhere, nowhere } };
        size_t count;

        assert_true(
            json_parse(full_calls[i].arguments, strlen(full_calls[i].arguments), &call, NULL));
        count = check_exchanged(tool, call, exchange);
        for (exchange.at[0] = 1; exchange.at[0] < count; exchange.at[0]++) {
            for (exchange.at[1] = exchange.at[0]; exchange.at[1] < count; exchange.at[1]++) {
                for (size_t pair = 0; pair < ARRAY_LEN(strangers) * ARRAY_LEN(strangers); pair++) {
                    exchange.put[0] = strangers[pair / ARRAY_LEN(strangers)];
                    exchange.put[1] = strangers[pair % ARRAY_LEN(strangers)];
                    check_exchanged(tool, call, exchange);
                }
            }
        }
        json_free(call);
    }
}

/* Looking for one option among a hundred is dear: where one mistake is told, one is looked for. */
static void test_answer_of_mistakes(void **state)
{
    struct text bytes = { 0 };
    struct answer answer = { 0 };
    struct json *given = NULL;
    struct outcome outcome;
    struct error err;
    clock_t began;

    (void)state;
    text_add_text(&bytes, "{\"message\":\"m\",\"enum\":[\"one\"");
    for (int i = 1; i < 100; i++)
        text_add_format(&bytes, ",\"%de\u0301e\u0301e\u0301e\u0301\"", i);
    text_add_text(&bytes, "]}");
    outcome = check("elicit_choice", text_string(&bytes));
    assert_int_equal(outcome.call.form.fields[0].option_count, 100);
    text_clear(&bytes);
    text_add_text(&bytes, "{\"option_annotations\":{\"x\":\"\"");
    for (int i = 0; i < 50000; i++)
        text_add_format(&bytes, ",\"x%d\":\"\"", i);
    text_add_text(&bytes, "},\"selected_ids\":[\"one\"]}");
    assert_true(json_parse(bytes.bytes, bytes.used, &given, NULL));
    began = clock();
    assert_false(answer_check(&outcome.call.form, given, &answer, &err));
    assert_true(clock() - began < CLOCKS_PER_SEC / 10); /* of the processor: seconds, if all are */
    assert_string_equal(err.path, "/option_annotations/x");
    json_free(given);
    text_release(&bytes);
    ask_call_release(&outcome.call);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_two_strangers),
        cmocka_unit_test(test_answer_of_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
