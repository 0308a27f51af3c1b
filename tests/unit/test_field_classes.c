/*
 * test_field_classes.c - each kind of field goes all the way: from the form to the page and to a
 * client's own form, and what is answered on each way is the same answer.
 * Proves: R2.2 R2.3 R4.2 R4.6
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
#include "http/portal/shown.h"
#include "mcp/form_schema.h"
#include "tui/field_view.h"
#include "tui_fixture.h"

#define OPTIONS "\"options\":[{\"id\":\"a\",\"label\":\"A\"},{\"id\":\"b\",\"label\":\"B\"}]"

/* The field is the second of a form, so that its value stands below `fields`. */
static const struct field_case {
    const char *kind, *more; /* of the field */
    const char *value;       /* as a person gives it */
    const char *stored, *result;
    const char *content; /* members of a client's own form */
    const char *type;    /* in that form's schema */
    const char *words;   /* on a screen */
} cases[] = {
    { "single", OPTIONS ",\"min_selections\":1,\"max_selections\":1", "\"b\"", "[\"b\"]", "\"b\"",
      "\"x\":\"b\"", "string", "B" },
    { "multi", OPTIONS ",\"min_selections\":1,\"max_selections\":2", "[\"b\",\"a\"]",
      "[\"a\",\"b\"]", "[\"a\",\"b\"]", "\"x\":[\"b\",\"a\"]", "array", "A, B" },
    { "text", "\"max_chars\":20", "\"Heron\"", "\"Heron\"", "\"Heron\"", "\"x\":\"Heron\"",
      "string", "Heron" },
    { "hybrid", OPTIONS ",\"min_selections\":0,\"max_selections\":2",
      "{\"selected_ids\":[\"a\"],\"custom_input\":\"but soon\"}",
      "{\"selected_ids\":[\"a\"],\"custom_input\":\"but soon\"}", "[\"a\"]",
      "\"x\":[\"a\"],\"x_own_words\":\"but soon\"", "array", "A, \"but soon\"" },
    { "number", "\"minimum\":1,\"maximum\":99", "9.5", "9.5", "9.5", "\"x\":\"9.5\"", "number",
      "9.5" },
    { "confirm", "\"required\":true", "false", "false", "false", "\"x\":\"no\"", "boolean", "No" },
};

static const struct field_case *case_of(unsigned kind)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (strcmp(cases[i].kind, field_kind_names[kind]) == 0)
            return &cases[i];
    }
    fail_msg("no case for fields of the kind %s", field_kind_names[kind]);
    return NULL;
}

static char *members_of(const struct field_case *one)
{
    return mem_format("\"title\":\"Details\",\"prompt\":\"What shall it be?\",\"fields\":["
                      "{\"name\":\"first\",\"kind\":\"confirm\"},{\"name\":\"x\",\"label\":\"X?\","
                      "\"kind\":\"%s\",%s}]",
                      one->kind, one->more);
}

static void parse_case(const struct field_case *one, struct form *form)
{
    char *members = members_of(one), *json = mem_format("{\"version\":1,%s}", members);
    struct text again = { 0 };
    struct error err = { 0 };

    if (!form_parse(json, strlen(json), form, &err))
        fail_msg("%s: no form: %s", one->kind, err.message);
    form_encode(form, &again);
    assert_non_null(strstr(text_string(&again), one->kind));
    text_release(&again);
    free(members);
    free(json);
}

/* What the hub keeps of it. */
static void expect_stored(const struct field_case *one, const struct form *form, const char *given)
{
    char *wanted = mem_format("{\"fields\":{\"x\":%s}}", one->stored);
    struct json *json = NULL;
    struct answer answer = { 0 };
    struct text stored = { 0 };
    struct error err = { 0 };

    assert_true(json_parse(given, strlen(given), &json, &err));
    if (!answer_check(form, json, &answer, &err))
        fail_msg("%s: %s: %s %s", one->kind, given, err.path, err.message);
    answer_encode(form, &answer, &stored);
    assert_string_equal(text_string(&stored), wanted);
    answer_release(&answer);
    json_free(json);
    text_release(&stored);
    free(wanted);
}

static char *given_of(const char *value)
{
    return mem_format("{\"fields\":{\"x\":%s}}", value);
}

static void test_every_kind_has_what_a_layer_needs(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FIELD_KIND_COUNT; kind++) {
        const struct field_class *class = &field_classes[kind];
        const struct field_view *view = &field_views[kind];

        assert_true(class->judge && class->write && class->write_stored && class->read_client);
        assert_true(class_is_scalar(class) == (class->read != NULL)); /* nothing else reads it */
        assert_true(class_is_scalar(class) == (class->is_number || class->is_yes_no));
        assert_true(view->draw && view->hints && view->read && view->describe);
        assert_true((view->prompt != NULL) == (view->take_line != NULL));
        assert_true(view->prompt || class_is_text(class)); /* else lines of text are taken */
        assert_true(view->is_list == (class->has_options || class->is_yes_no));
        assert_ptr_equal(class_find(field_kind_names[kind]), class);
    }
}

static void test_an_answer_is_stored_and_told(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FIELD_KIND_COUNT; kind++) {
        const struct field_case *one = case_of(kind);
        char *given = given_of(one->value), *stored = given_of(one->stored);
        struct text out = { 0 };
        struct json_writer writer = json_writer_to(&out);
        struct json *json = NULL;
        struct answer answer = { 0 };
        struct form form;

        parse_case(one, &form);
        expect_stored(one, &form, given);
        expect_stored(one, &form, stored);
        assert_true(json_parse(stored, strlen(stored), &json, NULL));
        assert_true(answer_check(&form, json, &answer, NULL));
        field_classes[kind].write(&writer, &form.fields[1], &answer.values[1]);
        assert_string_equal(text_string(&out), one->result);
        answer_release(&answer);
        json_free(json);
        form_release(&form);
        text_release(&out);
        free(given);
        free(stored);
    }
}

static void test_a_clients_own_form_brings_it_back(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FIELD_KIND_COUNT; kind++) {
        const struct field_case *one = case_of(kind);
        char *content = mem_format("{%s}", one->content);
        struct json *json = NULL, *schema = NULL;
        const struct json *properties;
        struct text given = { 0 }, written = { 0 };
        struct form form;

        parse_case(one, &form);
        form_schema_write(&form, REVISION_2025_11_25, "any", LANGUAGE_EN, NULL, NULL, &written);
        assert_true(json_parse(text_string(&written), written.used, &schema, NULL));
        properties = json_member(json_member(schema, "requestedSchema"), "properties");
        assert_string_equal(json_member_text(json_member(properties, "x"), "type"), one->type);
        assert_true(json_parse(content, strlen(content), &json, NULL));
        assert_true(client_form_read(&form, json, &given, NULL));
        expect_stored(one, &form, text_string(&given));
        form_release(&form);
        json_free(json);
        json_free(schema);
        text_release(&given);
        text_release(&written);
        free(content);
    }
}

static void test_a_screen_shows_and_sends_it(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FIELD_KIND_COUNT; kind++) {
        const struct field_case *one = case_of(kind);
        char *given = given_of(one->value), *members = members_of(one);
        char *draft = mem_format(",\"draft\":%s", given), *whole = stage_whole(members, "", draft);
        struct text sent = { 0 }, words = { 0 };
        struct stage stage = { 0 };

        stage_open_whole(&stage, whole);
        ask_write_answer(stage.ask, NULL, &sent);
        expect_stored(one, &stage.ask->form, text_string(&sent));
        ask_describe(stage.ask, 1, &words);
        assert_string_equal(text_string(&words), one->words);
        ask_step(stage.ask, 1);
        assert_non_null(strstr(stage_draw(&stage, 80, 24), "X?"));
        stage_type(&stage, "\x1b[A\x1b[B\x1b[H\x1b[F1");
        stage_draw(&stage, 40, 12);
        assert_true(ask_is_answered(stage.ask, 1));
        stage_close(&stage);
        text_release(&sent);
        text_release(&words);
        free(given);
        free(members);
        free(draft);
        free(whole);
    }
}

static void expect_row(const char *module, const char *table, const char *kind)
{
    char *path = mem_format("%s/../web/js/%s", TEST_DOCS, module);
    char *row = mem_format("\n    %s: ", kind), *other = mem_format("\n    %s,", kind);
    char source[65536];
    FILE *file = fopen(path, "r");
    const char *begin;

    assert_non_null(file);
    source[fread(source, 1, sizeof source - 1, file)] = '\0';
    fclose(file);
    begin = strstr(source, table);
    if (!begin || !(strstr(begin, row) || strstr(begin, other)))
        fail_msg("%s: no row %s in %s", module, kind, table);
    free(path);
    free(row);
    free(other);
}

static void test_a_page_has_a_row_and_visible_texts_for_it(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FIELD_KIND_COUNT; kind++) {
        const struct field_case *one = case_of(kind);
        char *members = members_of(one), *whole = stage_whole(members, "", "");
        const struct json *shown, *field;
        struct text out = { 0 };
        struct json *reply = NULL;

        shown_add(whole, &out);
        assert_true(json_parse(text_string(&out), out.used, &reply, NULL));
        shown = json_item(json_member(json_member(reply, "shown"), "fields"), 1);
        field = json_item(json_member(json_member(reply, "form"), "fields"), 1);
        assert_string_equal(json_member_text(field, "kind"), one->kind);
        assert_string_equal(json_member_text(shown, "label"), "X?");
        expect_row("values.js", "const KINDS = {", one->kind);
        expect_row("fields.js", "const BUILDERS = {", one->kind);
        json_free(reply);
        text_release(&out);
        free(members);
        free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_has_what_a_layer_needs),
        cmocka_unit_test(test_an_answer_is_stored_and_told),
        cmocka_unit_test(test_a_clients_own_form_brings_it_back),
        cmocka_unit_test(test_a_screen_shows_and_sends_it),
        cmocka_unit_test(test_a_page_has_a_row_and_visible_texts_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
