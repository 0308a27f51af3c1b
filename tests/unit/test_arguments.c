/*
 * Every provide_choice call of the corpus, what a good call comes to, and what of a hostile call
 * may be repeated in an error.
 * Proves: R2.1, R2.4 (telling a collect from an ask)
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
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"

enum { MAX_CASES = 256 };
#define SESSION "abcdefghijklmnopqrstuvwxyz"
#define PROMPT  "The build is done; two hosts are healthy."
#define HEAD    "{\"title\":\"Deploy\",\"prompt\":\"" PROMPT "\","
#define AB                                                                                         \
    "\"options\":[{\"id\":\"a\",\"label\":\"Alpha\",\"recommended\":true},"                        \
    "{\"id\":\"b\",\"label\":\"Beta\"}]"
#define MODE(mode) "\"selection_mode\":\"" mode "\""

static void add_repeated(struct text *out, const char *what, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        text_add_text(out, what);
}

static void write_value(struct json_writer *writer, const struct json *value)
{
    char *encoded = json_encode(value);

    json_write_raw(writer, NULL, encoded);
    free(encoded);
}

static void write_options(struct json_writer *writer, int64_t count)
{
    json_write_list(writer, NULL);
    for (int64_t i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof name, "option %lld", (long long)i);
        json_write_object(writer, NULL);
        json_write_text(writer, "id", name);
        json_write_text(writer, "label", name);
        json_write_bool_if(writer, "recommended", i == 0);
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

static void write_changed(struct json_writer *writer, const struct json *value, const char *rest,
                          const struct json *gen);

/* Goes on into a member or item, with the rest of the pointer where it leads there. */
static void write_below(struct json_writer *writer, const struct json *value, const char *name,
                        const char *rest, const struct json *gen)
{
    size_t length = strlen(name);
    bool leads = rest && strncmp(rest + 1, name, length) == 0 &&
                 (rest[length + 1] == '/' || rest[length + 1] == '\0');

    write_changed(writer, value, leads ? rest + 1 + length : NULL, gen);
}

/* A copy of `value` in which what the pointer `rest` names is a long text. */
static void write_changed(struct json_writer *writer, const struct json *value, const char *rest,
                          const struct json *gen)
{
    struct text text = { 0 };

    if (rest && *rest == '\0') {
        add_repeated(&text, json_member_text(gen, "repeat"), json_member_integer(gen, "times", 0));
        json_write_text(writer, NULL, text_string(&text));
    } else if (rest && json_kind(value) == KIND_LIST) {
        json_write_list(writer, NULL);
        for (size_t i = 0; i < json_length(value); i++) {
            char name[24];

            snprintf(name, sizeof name, "%zu", i);
            write_below(writer, json_item(value, i), name, rest, gen);
        }
        json_write_end_list(writer);
    } else if (rest && json_kind(value) == KIND_OBJECT) {
        json_write_object(writer, NULL);
        for (void *it = json_first(value); it; it = json_next(value, it)) {
            json_write_foreign_key(writer, json_key(it));
            write_below(writer, json_value(it), json_key(it), rest, gen);
        }
        json_write_end_object(writer);
    } else {
        write_value(writer, value);
    }
    text_release(&text);
}

static void write_base(const struct json *gen, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    const struct json *base = json_member(gen, "base");
    int64_t option_count = json_member_integer(gen, "options_count", -1);

    json_write_object(&writer, NULL);
    for (void *it = json_first(base); it; it = json_next(base, it)) {
        json_write_foreign_key(&writer, json_key(it));
        if (option_count >= 0 && strcmp(json_key(it), "options") == 0)
            write_options(&writer, option_count);
        else
            write_below(&writer, json_value(it), json_key(it), json_member_text(gen, "set"), gen);
    }
    for (int64_t i = 0; i < json_member_integer(gen, "extra_keys", 0); i++) {
        char name[24];

        snprintf(name, sizeof name, "k%lld", (long long)i);
        json_write_integer(&writer, name, i);
    }
    json_write_end_object(&writer);
}

static void write_generated(const struct json *gen, struct text *out)
{
    const char *hex = json_member_text(gen, "bytes_hex");
    const char *nest = json_member_text(gen, "nest");

    if (nest)
        add_repeated(out, nest, json_member_integer(gen, "times", 0));
    for (; hex && hex[0] && hex[1]; hex += 2) {
        char pair[] = { hex[0], hex[1], '\0' };

        text_add_char(out, (char)strtol(pair, NULL, 16));
    }
    if (json_member(gen, "base"))
        write_base(gen, out);
}

static void write_arguments(const struct json *test, struct text *out)
{
    static const char placeholder[] = "{\"session_id\":\"{OTHER_PRINCIPALS_SESSION}\"}";
    char *encoded = json_encode(json_member(test, "arguments"));

    if (json_member(test, "gen"))
        write_generated(json_member(test, "gen"), out);
    else if (json_member_text(test, "raw"))
        text_add_text(out, json_member_text(test, "raw"));
    else if (strcmp(encoded, placeholder) == 0)
        text_add_text(out, "{\"session_id\":\"" SESSION "\"}");
    else
        text_add_text(out, encoded);
    free(encoded);
}

struct outcome {
    size_t length; /* of what was sent */
    bool ok;
    struct error err;
    struct ask_call call;
};

static struct outcome outcome_of(const char *bytes, size_t length)
{
    struct outcome outcome = { .length = length };
    struct json *arguments = NULL;

    if (json_parse(bytes, length, &arguments, &outcome.err))
        outcome.ok = arguments_check(&tool_provide_choice, arguments, &outcome.call, &outcome.err);
    json_free(arguments);
    return outcome;
}

static void assert_clean(const char *shown)
{
    struct text again = { 0 };
    unsigned flags = visible_text(shown, strlen(shown), VISIBLE_ONE_LINE, &again);

    assert_string_equal(text_string(&again), shown);
    assert_int_equal(flags & (VISIBLE_HIDDEN | VISIBLE_BIDI | VISIBLE_INVISIBLE), 0);
    text_release(&again);
}

/* The edges say it in numbers of their own; here such a call is unreadable, no object or too big.
 */
static bool is_refused_at_edge(const struct outcome *outcome)
{
    if (outcome->ok)
        return false;
    return outcome->err.code == ERROR_bad_json ||
           (outcome->err.code == ERROR_bad_type && outcome->err.path[0] == '\0') ||
           (outcome->err.code == ERROR_too_long && outcome->length > LIMIT_RPC_LINE_BYTES);
}

static bool is_as_expected(const struct json *expect, const struct outcome *outcome)
{
    const char *layer = json_member_text(expect, "layer");
    const char *code = json_member_text(expect, "code");
    const char *warning = json_member_text(expect, "warning");

    if (strcmp(layer, "ok") == 0)
        return outcome->ok &&
               (!warning || strcmp(warning, "cancel_always_available") != 0 ||
                outcome->call.cancel_always_available) &&
               (!warning || strcmp(warning, "defaults_ignored") != 0 ||
                outcome->call.defaults_ignored);
    if (strcmp(layer, "tool") != 0)
        return is_refused_at_edge(outcome);
    if (strcmp(code, "not_found") == 0)
        return outcome->ok && strlen(outcome->call.session_id) == LIMIT_ID_CHARS;
    return !outcome->ok && strcmp(error_name(outcome->err.code), code) == 0 &&
           strcmp(outcome->err.path, json_member_text(expect, "path")) == 0;
}

static void test_corpus_case(void **state)
{
    const struct json *test = *state;
    const struct json *expect = json_member(test, "expect");
    const struct json *any_of = json_member(expect, "any_of");
    struct text bytes = { 0 };
    struct outcome outcome;
    bool found = !any_of && json_member(expect, "layer");

    write_arguments(test, &bytes);
    outcome = outcome_of(bytes.bytes, bytes.used);
    if (found)
        found = is_as_expected(expect, &outcome);
    for (size_t i = 0; !found && i < json_length(any_of); i++)
        found = is_as_expected(json_item(any_of, i), &outcome);
    if (!found)
        fail_msg("%s at '%s': %s", error_name(outcome.err.code), outcome.err.path,
                 outcome.err.message);
    assert_clean(outcome.err.path);
    assert_clean(outcome.err.message);
    ask_call_release(&outcome.call);
    text_release(&bytes);
}

/* A front sends the hub what it has checked, and the hub checks that. */
static void demand_same_again(const char *arguments, const struct ask_call *call)
{
    struct json *json = NULL, *owner = NULL;
    struct ask_call checked;
    struct outcome again;
    char *sent;
    struct text form = { 0 }, form_again = { 0 };

    assert_true(json_parse(arguments, strlen(arguments), &json, NULL));
    assert_true(arguments_check_call(&tool_provide_choice, json, &checked, &owner, NULL));
    assert_null(checked.arguments_json);
    sent = json_encode(owner);
    again = outcome_of(sent, strlen(sent));
    assert_true(again.ok);
    assert_string_equal(again.call.arguments_json, call->arguments_json);
    form_encode(&call->form, &form);
    form_encode(&again.call.form, &form_again);
    assert_string_equal(text_string(&form), text_string(&form_again));
    text_release(&form);
    text_release(&form_again);
    ask_call_release(&again.call);
    ask_call_release(&checked);
    json_free(owner);
    json_free(json);
    free(sent);
}

static struct ask_call good(const char *arguments)
{
    struct outcome outcome = outcome_of(arguments, strlen(arguments));

    if (!outcome.ok)
        fail_msg("%s at '%s': %s", error_name(outcome.err.code), outcome.err.path,
                 outcome.err.message);
    demand_same_again(arguments, &outcome.call);
    return outcome.call;
}

static void test_single(void **state)
{
    struct ask_call call = good(HEAD MODE("single") "," AB ",\"default_selection_ids\":[\"b\"]}");
    const struct field *field = &call.form.fields[0];

    (void)state;
    assert_string_equal(call.form.title, "Deploy");
    assert_string_equal(call.form.prompt, PROMPT);
    assert_int_equal(call.form.field_count, 1);
    assert_true(call.form.single_submit && call.form.allow_annotations);
    assert_false(call.form.is_destructive);
    assert_string_equal(field->name, "choice");
    assert_int_equal(field->kind, FIELD_SINGLE);
    assert_true(field->is_required);
    assert_int_equal(field->min_selections, 1);
    assert_int_equal(field->max_selections, 1);
    assert_int_equal(field->option_count, 2);
    assert_string_equal(field->options[1].id, "b");
    assert_string_equal(field->options[1].label, "Beta");
    assert_true(field->options[0].is_recommended && field->options[1].is_default);
    assert_false(field->options[1].is_recommended || field->options[0].is_default);
    assert_false(field->placeholder_visible);
    assert_int_equal(call.timeout_s, 0);
    assert_int_equal(call.interface, INTERFACE_NONE);
    assert_string_equal(call.session_id, "");
    assert_null(call.idempotency_key);
    assert_false(call.defaults_ignored || call.cancel_always_available);
    ask_call_release(&call);
    assert_null(call.form.fields);
}

static void test_multi(void **state)
{
    struct ask_call call =
        good(HEAD MODE("multi") "," AB ",\"allow_annotations\":false,"
                                "\"global_annotation\":\"n\",\"timeout_seconds\":6e1,"
                                "\"interface\":\"web\",\"idempotency_key\":\"k\"}");
    const struct field *field = &call.form.fields[0];

    (void)state;
    assert_int_equal(field->kind, FIELD_MULTI);
    assert_int_equal(field->min_selections, 0);
    assert_int_equal(field->max_selections, 2);
    assert_false(field->is_required || call.form.single_submit || call.form.allow_annotations);
    assert_string_equal(call.form.global_annotation, "n");
    assert_int_equal(call.timeout_s, 60);
    assert_int_equal(call.interface, INTERFACE_WEB);
    assert_string_equal(call.idempotency_key, "k");
    ask_call_release(&call);
}

static void test_hybrid(void **state)
{
    struct ask_call call =
        good(HEAD MODE("hybrid") "," AB ",\"min_selections\":1,\"max_selections\":1,"
                                 "\"placeholder\":\"p\",\"placeholder_visible\":false,"
                                 "\"single_submit_mode\":true}");
    const struct field *field = &call.form.fields[0];

    (void)state;
    assert_int_equal(field->kind, FIELD_HYBRID);
    assert_int_equal(field->min_selections, 1);
    assert_int_equal(field->max_selections, 1);
    assert_true(field->is_required && call.form.single_submit);
    assert_string_equal(field->placeholder, "p");
    assert_false(field->placeholder_visible);
    ask_call_release(&call);
}

static void test_text_input(void **state)
{
    struct ask_call call = good(HEAD MODE("text_input") ",\"placeholder\":\"p\"}");
    const struct field *field = &call.form.fields[0];

    (void)state;
    assert_int_equal(field->kind, FIELD_TEXT);
    assert_true(field->is_required && field->placeholder_visible);
    assert_false(call.form.single_submit);
    assert_null(field->options);
    assert_int_equal(field->max_selections, 0);
    ask_call_release(&call);
}

static void test_destructive(void **state)
{
    struct ask_call call =
        good(HEAD MODE("single") "," AB ",\"default_selection_ids\":[\"a\"],"
                                 "\"destructive\":true,\"single_submit_mode\":true,"
                                 "\"allow_cancel\":true}");

    (void)state;
    assert_true(call.form.is_destructive && call.defaults_ignored && call.cancel_always_available);
    assert_false(call.form.single_submit || call.form.fields[0].options[0].is_default);
    ask_call_release(&call);
    call = good(HEAD MODE("single") "," AB ",\"default_selection_ids\":[],\"destructive\":true}");
    assert_false(call.defaults_ignored);
    ask_call_release(&call);
}

static void test_option_extras(void **state)
{
    struct ask_call call = good(HEAD MODE(
        "multi") ",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"recommended\":true,"
                 "\"description\":\"d\",\"annotation\":\"n\",\"preview\":\"p\"},"
                 "{\"id\":\"b\",\"label\":\"B\",\"preview\":{\"type\":\"code\",\"text\":\"int x;\","
                 "\"language\":\"c\"}},{\"id\":\"c\",\"label\":\"C\",\"description\":\" "
                 "\",\"preview\":"
                 "{\"type\":\"diff\",\"text\":\"\"}}]}");
    const struct option *options = call.form.fields[0].options;

    (void)state;
    assert_string_equal(options[0].description, "d");
    assert_string_equal(options[0].annotation, "n");
    assert_int_equal(options[0].preview.type, PREVIEW_TEXT);
    assert_string_equal(options[0].preview.text, "p");
    assert_null(options[0].preview.language);
    assert_int_equal(options[1].preview.type, PREVIEW_CODE);
    assert_string_equal(options[1].preview.text, "int x;");
    assert_string_equal(options[1].preview.language, "c");
    assert_null(options[2].description);
    assert_int_equal(options[2].preview.type, PREVIEW_NONE);
    ask_call_release(&call);
}

static void test_collect(void **state)
{
    struct ask_call call = good("{\"session_id\":\"" SESSION "\"}");

    (void)state;
    assert_string_equal(call.session_id, SESSION);
    assert_int_equal(call.wait_s, 30);
    assert_int_equal(call.form.field_count, 0);
    ask_call_release(&call);
    call = good("{\"wait_seconds\":0,\"interface\":\"terminal\",\"session_id\":\"" SESSION "\"}");
    assert_int_equal(call.wait_s, 0);
    assert_int_equal(call.interface, INTERFACE_TERMINAL);
    ask_call_release(&call);
}

/* Equal calls are recognised by this text, however the client ordered them. */
static void test_canonical(void **state)
{
    struct ask_call a = good(HEAD MODE("single") "," AB ",\"wait_for_previous\":true}");
    struct ask_call b =
        good("{" AB "," MODE("single") ",\"prompt\":\"" PROMPT "\",\"title\":\"Deploy\"}");

    (void)state;
    assert_string_equal(a.arguments_json, b.arguments_json);
    assert_null(strstr(a.arguments_json, "wait_for_previous"));
    ask_call_release(&a);
    ask_call_release(&b);
    ask_call_release(&b);
    ask_call_release(NULL);
}

static size_t count_of(const char *text, char wanted)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == wanted;
    return count;
}

/* Each `times` is far over what an error may repeat. */
static void test_echo(void **state)
{
    static const char *const pieces[] = {
        "Q",  "\\u001b[2J", "\\u202eQ", "\\u200bQ", "\\u00e9", "\\ud83d\\ude00",
        "~/", "\\n\\u0301", "\\u4e2d",  "\\u0085",  "\\ufeff", "\\ue000Q",
    };
    static const char *const places[] = {
        HEAD MODE("single") "," AB ",\"%s\":1}",
        HEAD MODE("multi") ",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"preview\":{\"%s\":1}}]}",
        HEAD MODE("%s") "," AB "}",
        HEAD MODE("single") "," AB ",\"interface\":\"%s\"}",
        HEAD MODE("single") "," AB ",\"default_selection_ids\":[\"%s\"]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places) * ARRAY_LEN(pieces); i++) {
        const char *place = places[i / ARRAY_LEN(pieces)];
        const char *gap = strstr(place, "%s");
        struct text bytes = { 0 };
        struct outcome outcome;

        text_add(&bytes, place, (size_t)(gap - place));
        add_repeated(&bytes, pieces[i % ARRAY_LEN(pieces)], 1000);
        text_add_text(&bytes, gap + 2);
        outcome = outcome_of(bytes.bytes, bytes.used);
        assert_false(outcome.ok);
        assert_int_not_equal(outcome.err.code, ERROR_bad_json);
        assert_clean(outcome.err.path);
        assert_clean(outcome.err.message);
        assert_true(count_of(outcome.err.path, 'Q') + count_of(outcome.err.message, 'Q') <=
                    LIMIT_ECHO_CHARS);
        text_release(&bytes);
    }
}

/* A pointer that had to be cut ends between characters and shows that it was. */
static void test_cut_pointer(void **state)
{
    struct text bytes = { 0 };
    struct outcome outcome;

    (void)state;
    text_add_text(&bytes, "{\"");
    add_repeated(&bytes, "~", 300);
    text_add_text(&bytes, "\":1}");
    outcome = outcome_of(bytes.bytes, bytes.used);
    assert_int_equal(outcome.err.code, ERROR_unknown_property);
    assert_true(strncmp(outcome.err.path, "/~0~0~0", 7) == 0);
    assert_string_equal(outcome.err.path + strlen(outcome.err.path) - 5, "~0...");
    text_release(&bytes);
}

static void test_quote(void **state)
{
    char quote[ARGUMENT_QUOTE_BYTES];

    (void)state;
    arguments_quote("short", 5, quote);
    assert_string_equal(quote, "short");
    arguments_quote("", 0, quote);
    assert_string_equal(quote, "");
    arguments_quote("0123456789012345678901234567890123456789", 40, quote);
    assert_string_equal(quote, "0123456789012345678901234567890123456789");
    arguments_quote("01234567890123456789012345678901234567890", 41, quote);
    assert_string_equal(quote, "0123456789012345678901234567890123456789...");
}

/* A help text must fit into a message beside our words, or the agent reads half a remedy. */
static void check_help(const struct argument *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(rows[i].help) < 300);
        assert_clean(rows[i].help);
        check_help(rows[i].properties, rows[i].property_count);
    }
}

static void test_table(void **state)
{
    (void)state;
    assert_ptr_equal(ask_tool_find("provide_choice"), &tool_provide_choice);
    assert_null(ask_tool_find("provide_choices"));
    assert_int_equal(tool_provide_choice.argument_count, 19);
    check_help(tool_provide_choice.arguments, tool_provide_choice.argument_count);
}

static void test_full_list(void **state)
{
    struct text bytes = { 0 };
    struct json_writer writer = json_writer_to(&bytes);
    struct outcome outcome;

    (void)state;
    text_add_text(&bytes, HEAD MODE("multi") ",\"options\":");
    write_options(&writer, LIMIT_OPTIONS);
    text_add_text(&bytes, "}");
    outcome = outcome_of(bytes.bytes, bytes.used);
    assert_true(outcome.ok);
    assert_int_equal(outcome.call.form.fields[0].max_selections, LIMIT_OPTIONS);
    ask_call_release(&outcome.call);
    text_release(&bytes);
}

static struct json *load_corpus(void)
{
    static const char path[] = TEST_CORPUS "/ask_inputs.json";
    struct text bytes = { 0 };
    struct json *corpus = NULL;
    FILE *file = fopen(path, "r");
    char piece[4096];
    size_t got;

    while (file && (got = fread(piece, 1, sizeof piece, file)) > 0)
        text_add(&bytes, piece, got);
    if (file)
        fclose(file);
    json_parse(text_string(&bytes), bytes.used, &corpus, NULL);
    text_release(&bytes);
    return corpus;
}

static const struct CMUnitTest own_tests[] = {
    cmocka_unit_test(test_single),      cmocka_unit_test(test_multi),
    cmocka_unit_test(test_hybrid),      cmocka_unit_test(test_text_input),
    cmocka_unit_test(test_destructive), cmocka_unit_test(test_option_extras),
    cmocka_unit_test(test_collect),     cmocka_unit_test(test_canonical),
    cmocka_unit_test(test_echo),        cmocka_unit_test(test_cut_pointer),
    cmocka_unit_test(test_quote),       cmocka_unit_test(test_table),
    cmocka_unit_test(test_full_list),
};

static size_t add_corpus(const struct json *corpus, struct CMUnitTest tests[MAX_CASES])
{
    const struct json *cases = json_member(corpus, "cases");
    size_t count = 0;

    for (size_t i = 0; i < json_length(cases) && count < MAX_CASES; i++) {
        const struct json *test = json_item(cases, i);

        if (strcmp(json_member_text(test, "tool"), "provide_choice") == 0)
            tests[count++] = (struct CMUnitTest){ .name = json_member_text(test, "id"),
                                                  .test_func = test_corpus_case,
                                                  .initial_state = (void *)test };
    }
    return count;
}

/* One group, since TAP has one plan; cmocka skips the rows that stay empty. */
int main(void)
{
    static struct CMUnitTest tests[ARRAY_LEN(own_tests) + MAX_CASES];
    struct json *corpus = load_corpus();
    int failed;

    memcpy(tests, own_tests, sizeof own_tests);
    if (add_corpus(corpus, tests + ARRAY_LEN(own_tests)) == 0) {
        fprintf(stderr, "no corpus in %s\n", TEST_CORPUS);
        return EXIT_FAILURE;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_free(corpus);
    return failed;
}
