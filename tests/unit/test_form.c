/*
 * The form as a value: look-ups, defaults, and the way through the store and back.
 * Proves: R5.6 (enough defaults), R5.2 (what was asked survives in the store as it was)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/limits.h"

static struct option options[] = {
    { .id = (char *)"a",
      .label = (char *)"Alpha \"quoted\" \\ \n",
      .description = (char *)"first",
      .annotation = (char *)"note",
      .is_recommended = true,
      .is_default = true,
      .preview = { PREVIEW_CODE, (char *)"int x;\n", (char *)"c" } },
    { .id = (char *)"caf\xc3\xa9",
      .label = (char *)"\xe2\x80\xae Beta",
      .preview = { PREVIEW_TEXT, (char *)"plain", NULL } },
    { .id = (char *)"c",
      .label = (char *)"",
      .preview = { PREVIEW_MARKDOWN, (char *)"*x*", NULL } },
    { .id = (char *)"d", .label = (char *)"D", .preview = { PREVIEW_DIFF, (char *)"+x", NULL } },
};

static struct field fields[] = {
    { .name = (char *)"one",
      .label = (char *)"One?",
      .kind = FIELD_SINGLE,
      .is_required = true,
      .options = options,
      .option_count = 4,
      .min_selections = 1,
      .max_selections = 1 },
    { .name = (char *)"many",
      .kind = FIELD_MULTI,
      .options = options,
      .option_count = 2,
      .min_selections = 0,
      .max_selections = 2 },
    { .name = (char *)"words",
      .kind = FIELD_TEXT,
      .placeholder = (char *)"hint",
      .placeholder_visible = true,
      .min_chars = 1,
      .max_chars = 80,
      .format = (char *)"email" },
    { .name = (char *)"both",
      .kind = FIELD_HYBRID,
      .options = options + 3,
      .option_count = 1,
      .max_selections = 1,
      .placeholder = (char *)"" },
    { .name = (char *)"tempo",
      .kind = FIELD_NUMBER,
      .is_integer = true,
      .has_minimum = true,
      .has_maximum = true,
      .minimum = 0,
      .maximum = 1e300,
      .step = 0.1,
      .unit = (char *)"bpm",
      .style = NUMBER_SLIDER },
    { .name = (char *)"stars", .kind = FIELD_NUMBER, .minimum = 7, .style = NUMBER_RATING },
    { .name = (char *)"sure", .kind = FIELD_CONFIRM, .is_required = true },
};

static struct form form_of(size_t first, size_t count)
{
    return (struct form){ .title = (char *)"Title",
                          .prompt = (char *)"Prompt \xf0\x9f\x98\x80",
                          .fields = fields + first,
                          .field_count = count,
                          .allow_annotations = true,
                          .global_annotation = (char *)"all" };
}

static void assert_same_field(const struct field *a, const struct field *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->is_required, b->is_required);
    assert_int_equal(a->option_count, b->option_count);
    assert_int_equal(a->min_selections, b->min_selections);
    assert_int_equal(a->max_selections, b->max_selections);
    assert_int_equal(a->placeholder_visible, b->placeholder_visible);
    assert_int_equal(a->min_chars, b->min_chars);
    assert_int_equal(a->max_chars, b->max_chars);
    assert_int_equal(a->is_integer, b->is_integer);
    assert_int_equal(a->has_minimum, b->has_minimum);
    assert_int_equal(a->has_maximum, b->has_maximum);
    assert_true(!a->has_minimum || a->minimum == b->minimum);
    assert_true(!a->has_maximum || a->maximum == b->maximum);
    assert_true(a->step == b->step);
    assert_int_equal(a->style, b->style);
    for (size_t i = 0; i < a->option_count; i++) {
        assert_string_equal(a->options[i].id, b->options[i].id);
        assert_string_equal(a->options[i].label, b->options[i].label);
        assert_int_equal(a->options[i].is_recommended, b->options[i].is_recommended);
        assert_int_equal(a->options[i].is_default, b->options[i].is_default);
        assert_int_equal(a->options[i].preview.type, b->options[i].preview.type);
        assert_string_equal(a->options[i].preview.text, b->options[i].preview.text);
    }
}

static void test_round_trip(void **state)
{
    struct form form = form_of(0, ARRAY_LEN(fields)), again = { 0 };
    struct text first = { 0 }, second = { 0 };
    struct error err = { 0 };

    (void)state;
    form_encode(&form, &first);
    assert_true(form_parse(first.bytes, first.used, &again, &err));
    form_encode(&again, &second);
    assert_string_equal(first.bytes, second.bytes);
    assert_string_equal(again.title, form.title);
    assert_string_equal(again.prompt, form.prompt);
    assert_string_equal(again.global_annotation, "all");
    assert_true(again.allow_annotations);
    assert_false(again.single_submit || again.is_destructive);
    assert_int_equal(again.field_count, form.field_count);
    for (size_t i = 0; i < form.field_count; i++)
        assert_same_field(&form.fields[i], &again.fields[i]);
    assert_string_equal(again.fields[0].label, "One?");
    assert_null(again.fields[1].label);
    assert_string_equal(again.fields[0].options[0].description, "first");
    assert_string_equal(again.fields[0].options[0].annotation, "note");
    assert_string_equal(again.fields[0].options[0].preview.language, "c");
    assert_null(again.fields[0].options[1].description);
    assert_string_equal(again.fields[2].format, "email");
    assert_string_equal(again.fields[3].placeholder, "");
    assert_string_equal(again.fields[4].unit, "bpm");
    form_release(&again);
    assert_null(again.fields);
    form_release(&again);
    form_release(NULL);
    text_release(&first);
    text_release(&second);
}

/* Rows written by the first release must be read for ever: this text is pinned. */
static void test_pinned(void **state)
{
    static const char pinned[] =
        "{\"version\":1,\"title\":\"T\",\"prompt\":\"P\",\"fields\":[{\"name\":\"choice\","
        "\"kind\":\"single\",\"required\":true,\"options\":[{\"id\":\"a\",\"label\":\"A\","
        "\"recommended\":true,\"default\":true,\"preview\":{\"type\":\"text\",\"text\":\"p\"}}],"
        "\"min_selections\":1,\"max_selections\":1}],\"single_submit\":true,"
        "\"destructive\":true}";
    struct form form = { 0 };
    struct text out = { 0 };

    (void)state;
    assert_true(form_parse(pinned, strlen(pinned), &form, NULL));
    assert_true(form.single_submit && form.is_destructive);
    form_encode(&form, &out);
    assert_string_equal(out.bytes, pinned);
    form_release(&form);
    text_release(&out);
}

#define START               "{\"version\":1,\"title\":\"T\",\"prompt\":\"P\","
#define FORM(field_members) START "\"fields\":[{" field_members "}]}"
#define TEXT(more)          FORM("\"name\":\"n\",\"kind\":\"text\"" more)
#define MULTI(option, more)                                                                        \
    FORM("\"name\":\"n\",\"kind\":\"multi\",\"options\":[{" option "}]" more)
#define OPTION "\"id\":\"a\",\"label\":\"A\""

static const struct {
    const char *json;
    bool is_form;
} stored[] = {
    { TEXT(""), true },
    { MULTI(OPTION, ",\"max_selections\":1"), true },
    { TEXT(",\"min_chars\":9007199254740993"), true },
    { TEXT(",\"step\":2"), true },
    { TEXT(",\"style\":\"field\""), true },
    { "", false },
    { "{", false },
    { "null", false },
    { "[]", false },
    { "\"form\"", false },
    { "{}", false },
    { "{\"version\":1}", false },
    { "{\"version\":2,\"title\":\"T\",\"prompt\":\"P\",\"fields\":[]}", false },
    { "{\"title\":\"T\",\"prompt\":\"P\",\"fields\":[{\"name\":\"n\",\"kind\":\"text\"}]}", false },
    { START "\"fields\":[]}", false },
    { START "\"fields\":{}}", false },
    { START "\"fields\":[7]}", false },
    { START "\"fields\":[null]}", false },
    { "{\"version\":1,\"prompt\":\"P\",\"fields\":[{\"name\":\"n\",\"kind\":\"text\"}]}", false },
    { TEXT("") "x", false },
    { TEXT(",\"newer\":1"), false },
    { START "\"newer\":1,\"fields\":[{\"name\":\"n\",\"kind\":\"text\"}]}", false },
    { FORM("\"kind\":\"text\""), false },
    { FORM("\"name\":\"n\""), false },
    { FORM("\"name\":\"n\",\"kind\":\"\""), false },
    { FORM("\"name\":\"n\",\"kind\":\"slider\""), false },
    { FORM("\"name\":\"n\",\"kind\":0"), false },
    { FORM("\"name\":\"n\\u0000\",\"kind\":\"text\""), false },
    { FORM("\"name\":1,\"kind\":\"text\""), false },
    { TEXT(",\"required\":1"), false },
    { TEXT(",\"required\":\"true\""), false },
    { TEXT(",\"min_chars\":-1"), false },
    { TEXT(",\"min_chars\":1.5"), false },
    { TEXT(",\"min_chars\":\"1\""), false },
    { TEXT(",\"step\":\"1\""), false },
    { TEXT(",\"minimum\":true"), false },
    { TEXT(",\"minimum\":1e400"), false },
    { TEXT(",\"style\":\"knob\""), false },
    { TEXT(",\"label\":null"), false },
    { TEXT(",\"max_selections\":1"), false },
    { TEXT(",\"min_selections\":1"), false },
    { MULTI(OPTION, ",\"min_selections\":1"), false },
    { MULTI(OPTION, ",\"max_selections\":2"), false },
    { MULTI(OPTION, ",\"max_selections\":-1"), false },
    { MULTI("\"id\":\"a\"", ""), false },
    { MULTI("\"label\":\"A\"", ""), false },
    { MULTI(OPTION ",\"preview\":\"p\"", ""), false },
    { MULTI(OPTION ",\"preview\":{\"text\":\"p\"}", ""), false },
    { MULTI(OPTION ",\"preview\":{\"type\":\"\",\"text\":\"p\"}", ""), false },
    { MULTI(OPTION ",\"preview\":{\"type\":\"code\"}", ""), false },
    { MULTI(OPTION ",\"preview\":{\"type\":\"code\",\"text\":\"p\",\"x\":1}", ""), false },
};

static void test_stored(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stored); i++) {
        struct form form = { 0 };
        struct error err = { 0 };
        bool ok = form_parse(stored[i].json, strlen(stored[i].json), &form, &err);

        if (ok != stored[i].is_form)
            fail_msg("%s: %s", ok ? "taken" : err.message, stored[i].json);
        if (!ok)
            assert_int_equal(err.code, ERROR_bad_json);
        assert_int_equal(form.field_count, ok);
        form_release(&form);
    }
}

static bool parses(size_t field_count, size_t option_count)
{
    struct field *many = mem_new(field_count * sizeof *many);
    struct option *choices = mem_new(option_count * sizeof *choices);
    struct form form = form_of(0, 0), again = { 0 };
    struct text out = { 0 };
    bool ok;

    for (size_t i = 0; i < option_count; i++)
        choices[i] = (struct option){ .id = (char *)"x", .label = (char *)"X" };
    for (size_t i = 0; i < field_count; i++)
        many[i] = (struct field){ .name = (char *)"f",
                                  .kind = FIELD_MULTI,
                                  .options = choices,
                                  .option_count = option_count };
    form.fields = many;
    form.field_count = field_count;
    form_encode(&form, &out);
    ok = form_parse(out.bytes, out.used, &again, NULL);
    form_release(&again);
    text_release(&out);
    free(choices);
    free(many);
    return ok;
}

static void test_limits(void **state)
{
    (void)state;
    assert_true(parses(LIMIT_FORM_FIELDS, LIMIT_OPTIONS));
    assert_false(parses(LIMIT_FORM_FIELDS + 1, 1));
    assert_false(parses(1, LIMIT_OPTIONS + 1));
    assert_false(parses(0, 1));
}

static void test_find(void **state)
{
    struct form form = form_of(0, ARRAY_LEN(fields));
    const struct field *field = form_find_field(&form, "one");

    (void)state;
    assert_ptr_equal(field, &fields[0]);
    assert_ptr_equal(form_find_field(&form, "sure"), &fields[6]);
    assert_null(form_find_field(&form, "On"));
    assert_ptr_equal(field_find_option(field, "a"), &options[0]);
    assert_ptr_equal(field_find_option(field, "caf\xc3\xa9"), &options[1]);
    assert_ptr_equal(field_find_option(field, "cafe\xcc\x81"), &options[1]);
    assert_null(field_find_option(field, "cafe"));
    assert_null(field_find_option(field, ""));
    assert_null(field_find_option(field, "caf\xe9"));
    assert_null(field_find_option(&fields[2], "a"));
}

static void test_names(void **state)
{
    static const char *const kinds[] = { "single", "multi", "text", "hybrid", "number", "confirm" };

    (void)state;
    assert_int_equal(ARRAY_LEN(kinds), FIELD_KIND_COUNT);
    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
        assert_string_equal(field_kind_names[i], kinds[i]);
        assert_int_equal(form_name_find(field_kind_names, kinds[i], 99), i);
    }
    assert_int_equal(form_name_find(field_kind_names, "none", 99), 99);
    assert_int_equal(form_name_find(preview_type_names, "", 99), 99);
    assert_int_equal(form_name_find(preview_type_names, "diff", 99), PREVIEW_DIFF);
    assert_int_equal(form_name_find(number_style_names, "rating", 99), NUMBER_RATING);
}

static void test_confirm(void **state)
{
    struct form form = form_of(0, ARRAY_LEN(fields));

    (void)state;
    assert_true(form_has_confirm(&form));
    form = form_of(0, 6);
    assert_false(form_has_confirm(&form));
}

/* Two options, of which `defaults` are chosen in advance. */
static const struct {
    const char *name;
    struct field field;
    size_t defaults;
    bool is_destructive, is_enough;
} default_cases[] = {
    { "one of one",
      { .kind = FIELD_SINGLE, .is_required = true, .min_selections = 1, .max_selections = 1 },
      1,
      false,
      true },
    { "none of one",
      { .kind = FIELD_SINGLE, .is_required = true, .min_selections = 1, .max_selections = 1 },
      0,
      false,
      false },
    { "two of one",
      { .kind = FIELD_SINGLE, .is_required = true, .min_selections = 1, .max_selections = 1 },
      2,
      false,
      false },
    { "destructive",
      { .kind = FIELD_SINGLE, .is_required = true, .min_selections = 1, .max_selections = 1 },
      1,
      true,
      false },
    { "silence with minimum 0", { .kind = FIELD_MULTI, .max_selections = 2 }, 0, false, false },
    { "one with minimum 0", { .kind = FIELD_MULTI, .max_selections = 2 }, 1, false, true },
    { "fewer than the minimum",
      { .kind = FIELD_MULTI, .is_required = true, .min_selections = 2, .max_selections = 2 },
      1,
      false,
      false },
    { "as many as the minimum",
      { .kind = FIELD_HYBRID, .is_required = true, .min_selections = 2, .max_selections = 2 },
      2,
      false,
      true },
    { "a string", { .kind = FIELD_TEXT, .is_required = true }, 0, false, false },
    { "a text that may stay empty", { .kind = FIELD_TEXT }, 0, false, false },
    { "a confirmation", { .kind = FIELD_CONFIRM }, 0, false, false },
};

static void test_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(default_cases); i++) {
        struct option pair[] = { { .is_default = default_cases[i].defaults > 0 },
                                 { .is_default = default_cases[i].defaults > 1 } };
        struct field field = default_cases[i].field;
        struct form form = { .fields = &field,
                             .field_count = 1,
                             .is_destructive = default_cases[i].is_destructive };

        if (field.max_selections > 0) {
            field.options = pair;
            field.option_count = ARRAY_LEN(pair);
        }
        if (form_has_enough_defaults(&form) != default_cases[i].is_enough)
            fail_msg("%s", default_cases[i].name);
    }
}

/* One field's defaults do not speak for another field. */
static void test_defaults_of_many(void **state)
{
    struct option chosen = { .is_default = true };
    struct field pair[] = {
        { .kind = FIELD_MULTI, .options = &chosen, .option_count = 1, .max_selections = 1 },
        { .kind = FIELD_TEXT },
    };
    struct form form = { .fields = pair, .field_count = ARRAY_LEN(pair) };

    (void)state;
    assert_true(form_has_enough_defaults(&form));
    pair[1].is_required = true;
    assert_false(form_has_enough_defaults(&form));
    pair[1] = (struct field){ .kind = FIELD_CONFIRM };
    assert_false(form_has_enough_defaults(&form));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_confirm),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_defaults_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
