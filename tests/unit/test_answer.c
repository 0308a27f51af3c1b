/*
 * test_answer.c - what a person may answer, and what is refused where.
 * Proves: R2.2, R2.3
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
#include "core/fields/answer.h"
#include "core/limits.h"

/* How a field is made: `options` are ids between blanks, a star before those preselected. */
struct plan {
    const char *name;
    enum field_kind kind;
    const char *options;
    int64_t min, max;
    bool is_optional, has_no_notes;
    const char *format;
    double low, high, step; /* no bounds where they are equal; whole numbers where the step is */
};

static void add_option(struct field *field, const char *word, size_t length)
{
    bool is_default = word[0] == '*';
    struct option *option = &field->options[field->option_count++];

    option->id = mem_text_n(word + is_default, length - is_default);
    option->label = mem_format("Label %s", option->id);
    option->is_default = is_default;
}

static struct field make_field(const struct plan *plan)
{
    struct field field = { .name = mem_text(plan->name ? plan->name : "f"),
                           .kind = plan->kind,
                           .is_required = !plan->is_optional,
                           .format = mem_text(plan->format),
                           .is_integer = plan->step >= 1,
                           .has_minimum = plan->low < plan->high,
                           .has_maximum = plan->low < plan->high,
                           .minimum = plan->low,
                           .maximum = plan->high,
                           .step = plan->step };
    const char *word = plan->options ? plan->options : "";

    field.options = mem_new((strlen(word) + 1) * sizeof *field.options);
    for (size_t length; *word; word += length + strspn(word + length, " ")) {
        length = strcspn(word, " ");
        add_option(&field, word, length);
    }
    if (plan->kind == FIELD_TEXT) {
        field.min_chars = plan->min;
        field.max_chars = plan->max;
    } else {
        field.min_selections = plan->kind == FIELD_SINGLE ? 1 : plan->min;
        field.max_selections = plan->kind == FIELD_SINGLE ? 1 : plan->max;
    }
    return field;
}

static struct form make_form(const struct plan *plans, size_t count)
{
    struct form form = { .fields = mem_new(count * sizeof *form.fields),
                         .field_count = count,
                         .allow_annotations = !plans->has_no_notes };

    for (size_t i = 0; i < count; i++)
        form.fields[i] = make_field(&plans[i]);
    return form;
}

/* JSON in these tables has ' for ", so that it can be read. */
static char *requote(const char *json)
{
    char *quoted = mem_text(json);

    for (char *at = strchr(quoted, '\''); at; at = strchr(at, '\''))
        *at = '"';
    return quoted;
}

static bool check(const struct form *form, const char *given, struct answer *ret_answer,
                  struct error *err)
{
    char *quoted = requote(given);
    struct json *value = NULL;
    bool ok;

    assert_true(json_parse(quoted, strlen(quoted), &value, NULL));
    ok = answer_check(form, value, ret_answer, err);
    json_free(value);
    free(quoted);
    return ok;
}

/* `wanted` is the stored form of the answer, which must also read back as itself. */
static void expect_answer(const struct form *form, const char *name, const char *given,
                          const char *wanted)
{
    const char *said[] = { given, wanted };
    char *quoted = requote(wanted);

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct answer answer = { 0 };
        struct error err = { 0 };
        struct text stored = { 0 };

        if (!check(form, said[i], &answer, &err))
            fail_msg("%s: %s refused with %s %s: %s", name, said[i], error_name(err.code), err.path,
                     err.message);
        answer_encode(form, &answer, &stored);
        if (strcmp(text_string(&stored), quoted) != 0)
            fail_msg("%s: %s is stored as %s", name, said[i], text_string(&stored));
        text_release(&stored);
        answer_release(&answer);
    }
    free(quoted);
}

/* `wanted` is code, path, and after a bar something the message must say. */
static void expect_refusal(const struct form *form, const char *name, const char *given,
                           const char *wanted)
{
    const char *words = wanted + strcspn(wanted, "|");
    struct answer answer = { .value_count = 77 };
    struct error err = { 0 };
    char got[256];

    if (check(form, given, &answer, &err))
        fail_msg("%s: %s was accepted", name, given);
    snprintf(got, sizeof got, "%s %s", error_name(err.code), err.path);
    if (strncmp(got, wanted, strlen(got)) != 0 || strlen(got) != (size_t)(words - wanted))
        fail_msg("%s: %s refused with %s", name, given, got);
    if (!strstr(err.message, words + (*words == '|')))
        fail_msg("%s: the message is '%s'", name, err.message);
    assert_true(err.message[0]);
    assert_int_equal(answer.value_count, 77); /* nothing is handed out */
    assert_false(check(form, given, &answer, NULL));
}

static const struct plan single = { .kind = FIELD_SINGLE, .options = "a b c" };
static const struct plan single_b = { .kind = FIELD_SINGLE, .options = "a *b c" };
static const struct plan single_opt = { .kind = FIELD_SINGLE, .options = "a", .is_optional = true };
static const struct plan multi = {
    .kind = FIELD_MULTI, .options = "a *b *c d", .min = 1, .max = 3
};
static const struct plan two = { .kind = FIELD_HYBRID, .options = "a b c", .min = 2, .max = 2 };
static const struct plan any = { .kind = FIELD_MULTI, .options = "a *b c", .max = 2 };
static const struct plan multi_opt = {
    .kind = FIELD_MULTI, .options = "a b", .min = 1, .max = 2, .is_optional = true
};
static const struct plan hybrid = { .kind = FIELD_HYBRID, .options = "a b c", .min = 1, .max = 2 };
static const struct plan hybrid_b = { .kind = FIELD_HYBRID, .options = "a *b c", .max = 2 };
static const struct plan text = { .kind = FIELD_TEXT };
static const struct plan text_3_5 = { .kind = FIELD_TEXT, .min = 3, .max = 5 };
static const struct plan text_opt = { .kind = FIELD_TEXT, .min = 3, .is_optional = true };
static const struct plan number = { .kind = FIELD_NUMBER };
static const struct plan number_opt = { .kind = FIELD_NUMBER, .is_optional = true };
static const struct plan tenths = { .kind = FIELD_NUMBER, .step = 0.1 };
static const struct plan tempo = { .kind = FIELD_NUMBER, .low = 40, .high = 200, .step = 5 };
static const struct plan confirm = { .kind = FIELD_CONFIRM };
static const struct plan no_notes = { .kind = FIELD_SINGLE,
                                      .options = "*a b",
                                      .has_no_notes = true };
static const struct plan cafe = { .kind = FIELD_MULTI, .options = "caf\xc3\xa9 b", .max = 2 };

static const struct {
    const char *name;
    const struct plan *plan;
    const char *given, *wanted;
} accepted[] = {
    { "one pick", &single, "{'selected_ids':['b']}", "{'selected_ids':['b']}" },
    { "an untouched default is selected", &single_b, "{}", "{'selected_ids':['b']}" },
    { "a pick replaces it", &single_b, "{'selected_ids':['c']}", "{'selected_ids':['c']}" },
    { "other members", &single, "{'selected_ids':['b'],'answer_key':1}", "{'selected_ids':['b']}" },
    { "one id by field", &single, "{'fields':{'f':'c'}}", "{'selected_ids':['c']}" },
    { "a list of one by field", &single, "{'fields':{'f':['c']}}", "{'selected_ids':['c']}" },
    { "untouched defaults of many", &multi, "{}", "{'selected_ids':['b','c']}" },
    { "in the options' order", &multi, "{'selected_ids':['d','a','b']}",
      "{'selected_ids':['a','b','d']}" },
    { "picks by field", &multi, "{'fields':{'f':['d','a']}}", "{'selected_ids':['a','d']}" },
    { "one id for many by field", &multi, "{'fields':{'f':'d'}}", "{'selected_ids':['d']}" },
    { "an empty list means none", &any, "{'selected_ids':[]}", "{'selected_ids':[]}" },
    { "words meet the minimum", &hybrid, "{'custom_input':'neither'}",
      "{'selected_ids':[],'custom_input':'neither'}" },
    { "picks and words", &hybrid, "{'custom_input':'and','selected_ids':['c','a']}",
      "{'selected_ids':['a','c'],'custom_input':'and'}" },
    { "words beside the untouched default", &hybrid_b, "{'custom_input':'x'}",
      "{'selected_ids':['b'],'custom_input':'x'}" },
    { "nothing where nothing is needed", &hybrid_b, "{'selected_ids':[]}", "{'selected_ids':[]}" },
    { "unseen words are none", &hybrid_b, "{'custom_input':' \\u200b\\n'}",
      "{'selected_ids':['b']}" },
    { "hybrid, an id", &hybrid, "{'fields':{'f':'c'}}", "{'selected_ids':['c']}" },
    { "hybrid, a list", &hybrid, "{'fields':{'f':['c','b']}}", "{'selected_ids':['b','c']}" },
    { "hybrid, an object", &hybrid, "{'fields':{'f':{'selected_ids':['c'],'custom_input':'w'}}}",
      "{'selected_ids':['c'],'custom_input':'w'}" },
    { "hybrid, words alone", &hybrid, "{'fields':{'f':{'custom_input':'w'}}}",
      "{'selected_ids':[],'custom_input':'w'}" },
    { "hybrid, nothing said", &hybrid_b, "{'fields':{'f':{}}}", "{'selected_ids':['b']}" },
    { "text as it came", &text, "{\"custom_input\":\" \\\"hi\\\"\\r\\n\"}",
      "{\"custom_input\":\" \\\"hi\\\"\\u000d\\n\"}" },
    { "text by field", &text, "{'fields':{'f':'hi'}}", "{'custom_input':'hi'}" },
    { "shortest text", &text_3_5, "{'custom_input':'abc'}", "{'custom_input':'abc'}" },
    { "characters are not bytes", &text_3_5, "{'custom_input':'\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f!'}",
      "{'custom_input':'\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f!'}" },
    { "optional text left out", &text_opt, "{}", "{}" },
    { "optional text left blank", &text_opt, "{'custom_input':'  '}", "{}" },
    { "a number", &number, "{'fields':{'f':-2.5}}", "{'fields':{'f':-2.5}}" },
    { "a big integer stays one", &number, "{'fields':{'f':1152921504606846976}}",
      "{'fields':{'f':1.152921504606847e+18}}" },
    { "lowest", &tempo, "{'fields':{'f':40}}", "{'fields':{'f':40}}" },
    { "highest, written as a real", &tempo, "{'fields':{'f':200.0}}", "{'fields':{'f':200}}" },
    { "tenths", &tenths, "{'fields':{'f':0.3}}", "{'fields':{'f':0.29999999999999999}}" },
    { "yes", &confirm, "{'fields':{'f':true}}", "{'fields':{'f':true}}" },
    { "no", &confirm, "{'fields':{'f':false}}", "{'fields':{'f':false}}" },
    { "optional pick left out", &single_opt, "{}", "{'selected_ids':[]}" },
    { "optional picks left out", &multi_opt, "{}", "{'selected_ids':[]}" },
    { "optional number left out", &number_opt, "{}", "{}" },
    { "notes, on options chosen or not", &single,
      "{'global_annotation':'all','option_annotations':{'c':'n3','a':'n1'},"
      "'selected_ids':['a']}",
      "{'selected_ids':['a'],'option_annotations':{'a':'n1','c':'n3'},"
      "'global_annotation':'all'}" },
    { "empty notes are dropped", &single,
      "{'selected_ids':['a'],'option_annotations':{'c':'','a':' '},"
      "'global_annotation':'\\u200b'}",
      "{'selected_ids':['a']}" },
    { "empty notes where notes are off", &no_notes,
      "{'option_annotations':{'b':''},'global_annotation':''}", "{'selected_ids':['a']}" },
};

static const struct {
    const char *name;
    const struct plan *plan;
    const char *given, *wanted;
} refused[] = {
    { "no object", &single, "[]", "bad_type |an array" },
    { "no pick", &single, "{}", "missing_property /selected_ids|one" },
    { "none on purpose", &single_b, "{'selected_ids':[]}", "missing_property /selected_ids|one" },
    { "no pick by field", &single_b, "{'fields':{'f':[]}}", "missing_property /fields/f|one" },
    { "two of one", &single, "{'selected_ids':['a','b']}", "out_of_range /selected_ids|choose 1" },
    { "unknown id", &single, "{'selected_ids':['z']}",
      "bad_enum /selected_ids/0|available: a, b, c" },
    { "ids have a case", &single, "{'selected_ids':['A']}", "bad_enum /selected_ids/0" },
    { "second id unknown", &multi, "{'selected_ids':['a','']}", "bad_enum /selected_ids/1" },
    { "unknown id by field", &single, "{'fields':{'f':'z'}}", "bad_enum /fields/f" },
    { "unknown id in a list", &multi, "{'fields':{'f':['a','z']}}", "bad_enum /fields/f/1" },
    { "id twice", &multi, "{'selected_ids':['a','d','a']}", "duplicate_option_id /selected_ids/2" },
    { "NUL in an id", &single, "{'selected_ids':['a\\u0000']}", "nul_character /selected_ids/0" },
    { "id is a number", &single, "{'selected_ids':[1]}", "bad_type /selected_ids/0|an integer" },
    { "ids are a text", &single, "{'selected_ids':'a'}", "bad_type /selected_ids|an array of IDs" },
    { "ids are null", &single_b, "{'selected_ids':null}", "bad_type /selected_ids" },
    { "field is null", &single_b, "{'fields':{'f':null}}", "bad_type /fields/f" },
    { "words in single", &single_b, "{'custom_input':'x'}", "unsupported_flag /custom_input" },
    { "words in multi", &multi, "{'custom_input':''}", "unsupported_flag /custom_input" },
    { "too many", &multi, "{'selected_ids':['a','b','c','d']}",
      "out_of_range /selected_ids|choose 1 to 3" },
    { "too few", &multi, "{'selected_ids':[]}", "out_of_range /selected_ids|choose 1 to 3" },
    { "too few by default", &two, "{}", "out_of_range /selected_ids|choose 2, or" },
    { "above any", &any, "{'selected_ids':['a','b','c']}",
      "out_of_range /selected_ids|choose at most 2" },
    { "nothing in hybrid", &hybrid, "{}",
      "out_of_range /selected_ids|choose 1 to 2, or write your own answer" },
    { "unseen words in hybrid", &hybrid, "{'custom_input':' '}", "out_of_range /selected_ids" },
    { "words do not raise the maximum", &hybrid,
      "{'custom_input':'x','selected_ids':['a','b','c']}", "out_of_range /selected_ids" },
    { "words are a list", &hybrid, "{'custom_input':[]}", "bad_type /custom_input|a string" },
    { "hybrid, id unknown", &hybrid, "{'fields':{'f':{'selected_ids':['z']}}}",
      "bad_enum /fields/f/selected_ids/0" },
    { "hybrid, ids a text", &hybrid, "{'fields':{'f':{'selected_ids':'a'}}}",
      "bad_type /fields/f/selected_ids" },
    { "hybrid, words a number", &hybrid, "{'fields':{'f':{'custom_input':3}}}",
      "bad_type /fields/f/custom_input" },
    { "hybrid, misspelt", &hybrid_b, "{'fields':{'f':{'selected_id':[]}}}",
      "unknown_property /fields/f|selected_ids" },
    { "object for ids", &multi, "{'fields':{'f':{'selected_ids':[]}}}", "bad_type /fields/f" },
    { "said twice", &single, "{'selected_ids':['a'],'fields':{'f':'a'}}",
      "conflicting_arguments /fields/f" },
    { "text said twice", &text, "{'custom_input':'a','fields':{'f':'a'}}",
      "conflicting_arguments /fields/f" },
    { "no text", &text, "{}", "empty_text /custom_input" },
    { "blank text", &text, "{'custom_input':' \\n\\u200b'}", "empty_text /custom_input" },
    { "blank text by field", &text, "{'fields':{'f':''}}", "empty_text /fields/f" },
    { "picks in text", &text, "{'selected_ids':[]}", "unsupported_flag /selected_ids" },
    { "NUL in text", &text, "{'custom_input':'a\\u0000b'}", "nul_character /custom_input" },
    { "text is true", &text, "{'custom_input':true}", "bad_type /custom_input|a boolean" },
    { "blanks fall away", &text_3_5, "{'custom_input':'ab  '}",
      "too_short /custom_input|at least 3" },
    { "as received", &text_3_5, "{'custom_input':'abc   '}", "too_long /custom_input|at most 5" },
    { "optional but too short", &text_opt, "{'fields':{'f':'ab'}}", "too_short /fields/f" },
    { "no number", &number, "{}", "missing_property /fields/f" },
    { "number as text", &number, "{'fields':{'f':'1'}}", "bad_type /fields/f|a number" },
    { "picks for a number", &number, "{'selected_ids':[]}", "unsupported_flag /selected_ids" },
    { "words for a number", &number, "{'custom_input':'1'}", "unsupported_flag /custom_input" },
    { "half a beat", &tempo, "{'fields':{'f':42.5}}", "out_of_range /fields/f|whole" },
    { "too slow", &tempo, "{'fields':{'f':39}}", "out_of_range /fields/f|at least 40" },
    { "too fast", &tempo, "{'fields':{'f':201}}", "out_of_range /fields/f|at most 200" },
    { "off the steps", &tempo, "{'fields':{'f':42}}", "out_of_range /fields/f|steps of 5" },
    { "off tenths", &tenths, "{'fields':{'f':0.35}}", "out_of_range /fields/f|steps of 0.1" },
    { "no yes or no", &confirm, "{}", "missing_property /fields/f" },
    { "1 is not yes", &confirm, "{'fields':{'f':1}}", "bad_type /fields/f|yes or no" },
    { "fields are a list", &single, "{'fields':[]}", "bad_type /fields" },
    { "fields are null", &single_b, "{'fields':null}", "bad_type /fields" },
    { "unknown field", &single_b, "{'fields':{'x~y/z':1}}", "unknown_property /fields/x~0y~1z" },
    { "note for an unknown option", &single_b, "{'option_annotations':{'z/\\n':'n'}}",
      "bad_enum /option_annotations/z~1\\n" },
    { "note for an option of a text", &text, "{'custom_input':'x','option_annotations':{'a':'n'}}",
      "bad_enum /option_annotations/a" },
    { "notes are a text", &single_b, "{'option_annotations':'n'}", "bad_type /option_annotations" },
    { "note is a list", &single_b, "{'option_annotations':{'a':[]}}",
      "bad_type /option_annotations/a" },
    { "NUL in a note", &single_b, "{'option_annotations':{'a':'\\u0000'}}",
      "nul_character /option_annotations/a" },
    { "note is a number", &single_b, "{'global_annotation':1}", "bad_type /global_annotation" },
    { "NUL in one for all", &single_b, "{'global_annotation':'\\u0000'}",
      "nul_character /global_annotation" },
    { "notes off, an option", &no_notes, "{'option_annotations':{'b':'n'}}",
      "unsupported_flag /option_annotations" },
    { "notes off, for all", &no_notes, "{'global_annotation':'n'}",
      "unsupported_flag /global_annotation" },
    { "two spellings of one id", &cafe, "{'selected_ids':['caf\xc3\xa9','cafe\xcc\x81']}",
      "duplicate_option_id /selected_ids/1" },
    { "notes by two spellings", &cafe,
      "{'option_annotations':{'caf\xc3\xa9':'1','cafe\xcc\x81':'2'}}",
      "duplicate_option_id /option_annotations/cafe\xcc\x81" },
    { "an escape", &single_b, "{'fields':{'\\u001b[2J':1}}", "unknown_property /fields/\\x1b[2J" },
};

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
        struct form form = make_form(accepted[i].plan, 1);

        expect_answer(&form, accepted[i].name, accepted[i].given, accepted[i].wanted);
        form_release(&form);
    }
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct form form = make_form(refused[i].plan, 1);

        expect_refusal(&form, refused[i].name, refused[i].given, refused[i].wanted);
        form_release(&form);
    }
}

static const struct {
    const char *format;
    bool is_so;
    const char *texts[20];
} formats[] = {
    { "email",
      true,
      { "ada@example.org", "a.b+c=d@x", "a@x-y.example",
        "a@012345678901234567890123456789012345678901234567890123456789012" } },
    { "email",
      false,
      { "@example.org", "ada", "ada@", "a b@example.org", "a@b@c", "a@-x.org", "a@x-.org",
        "a@x..org", "a@x.org.", "a@x.org ",
        "a@0123456789012345678901234567890123456789012345678901234567890123.org" } },
    { "uri", true, { "https://example.org/a?b=%20#c", "mailto:ada@example.org", "x-1+2.3:y" } },
    { "uri",
      false,
      { "example.org", "://x", "1x:y", "x:", "https://a b", "https://a/%2", "https://a/%zz",
        "https://a/<b>", "https://\xc3\xa4.org" } },
    { "date",
      true,
      { "2026-11-15", "2024-02-29", "2000-02-29", "1900-02-28", "0000-01-01", "2026-12-31" } },
    { "date",
      false,
      { "1900-02-29", "2026-02-29", "2026-02-30", "2026-04-31", "2026-00-10", "2026-13-10",
        "2026-10-00", "2026-1-1", "2026/11/15", "2026-11-15 ", "2026-11", "20:6-11-15" } },
    { "date-time",
      true,
      { "2026-11-15T12:00:00Z", "2026-11-15t23:59:59z", "2026-11-15T12:00:00.123+05:30",
        "2026-11-15T12:00:00-00:00" } },
    { "date-time",
      false,
      { "2026-11-15", "2026-11-31T12:00:00Z", "2026-11-15 12:00:00Z", "2026-11-15T24:00:00Z",
        "2026-11-15T12:60:00Z", "2026-11-15T1200:00Z", "2026-11-15T12:00Z", "2026-11-15T12:00:60Z",
        "2026-11-15T12:00:00", "2026-11-15T12:00:00.Z", "2026-11-15T12:00:00Zx",
        "2026-11-15T12:00:00+5:30", "2026-11-15T12:00:00+05:30x", "2026-11-15T12:00:00x" } },
    { "of a later version", true, { "anything" } },
};

static void test_format(const char *format, const char *words, bool is_so)
{
    struct plan plan = { .kind = FIELD_TEXT, .format = format };
    struct form form = make_form(&plan, 1);
    char *given = mem_format("{'custom_input':'%s'}", words);

    if (is_so)
        expect_answer(&form, format, given, given);
    else
        expect_refusal(&form, format, given, "bad_format /custom_input|such as");
    free(given);
    form_release(&form);
}

static void test_formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        for (size_t k = 0; formats[i].texts[k]; k++)
            test_format(formats[i].format, formats[i].texts[k], formats[i].is_so);
    }
}

/* Every set of picks against every rule, for each kind with options, with and without words. */
static void test_counts(void **state)
{
    static const char *const picks[] = { "", "'a'", "'b','d'", "'a','c','d'", "'a','b','c','d'" };
    static const enum field_kind kinds[] = { FIELD_SINGLE, FIELD_MULTI, FIELD_HYBRID };

    (void)state;
    for (size_t n = 0; n < 3 * 5 * 5 * 5 * 2; n++) {
        struct plan plan = { .kind = kinds[n / 250], .options = "a b c d" };
        int64_t count = (int64_t)(n / 50 % 5);
        bool has_words = n % 2 && plan.kind == FIELD_HYBRID;
        struct form form;
        char *given = mem_format("{'selected_ids':[%s]%s}", picks[count],
                                 has_words ? ",'custom_input':'w'" : "");

        plan.min = (int64_t)(n / 10 % 5);
        plan.max = (int64_t)(n / 2 % 5);
        form = make_form(&plan, 1);
        if (count <= form.fields->max_selections &&
            (count >= form.fields->min_selections || has_words))
            expect_answer(&form, "counts", given, given);
        else
            assert_false(check(&form, given, NULL, NULL));
        free(given);
        form_release(&form);
    }
}

static const struct plan survey[] = {
    { .name = "size", .kind = FIELD_SINGLE, .options = "s *m l" },
    { .name = "toppings", .kind = FIELD_MULTI, .options = "x *y z", .min = 1, .max = 2 },
    { .name = "extra", .kind = FIELD_HYBRID, .options = "p q", .min = 0, .max = 1 },
    { .name = "name", .kind = FIELD_TEXT, .is_optional = true },
    { .name = "tempo", .kind = FIELD_NUMBER, .is_optional = true },
    { .name = "sure", .kind = FIELD_CONFIRM, .is_optional = true },
};

static const char survey_defaults[] =
    "{'selected_ids':['m'],'fields':{'toppings':['y'],'extra':{'selected_ids':[]}}}";

static void test_form_of_many_fields(void **state)
{
    struct form form = make_form(survey, ARRAY_LEN(survey));

    (void)state;
    expect_answer(&form, "defaults", "{}", survey_defaults);
    expect_answer(&form, "everything",
                  "{'fields':{'sure':false,'tempo':90,'name':'Ada','size':'l',"
                  "'extra':{'custom_input':'own','selected_ids':['q']},"
                  "'toppings':['z','x']},'option_annotations':{'s':'small'}}",
                  "{'selected_ids':['l'],'fields':{'toppings':['x','z'],"
                  "'extra':{'selected_ids':['q'],'custom_input':'own'},"
                  "'name':'Ada','tempo':90,'sure':false},"
                  "'option_annotations':{'s':'small'}}");
    expect_refusal(&form, "count in a later field", "{'fields':{'toppings':[]}}",
                   "out_of_range /fields/toppings|choose 1 to 2");
    expect_refusal(&form, "type in a later field", "{'fields':{'name':7}}",
                   "bad_type /fields/name");
    expect_refusal(&form, "notes are for the first field", "{'option_annotations':{'x':'n'}}",
                   "bad_enum /option_annotations/x|s, m, l");
    form_release(&form);
}

/* Limits are met exactly and refused one beyond. */
static void test_sizes(void **state)
{
    static const struct {
        const char *before, *unit, *after;
        size_t max;
        const char *wanted;
    } sizes[] = {
        { "{'custom_input':'", "x", "'}", LIMIT_ANSWER_TEXT_BYTES, "too_long /custom_input" },
        { "{'custom_input':'", "\xc3\xa4", "'}", LIMIT_ANSWER_TEXT_BYTES / 2,
          "too_long /custom_input" },
        { "{'selected_ids':[],'custom_input':'w','global_annotation':'", "\xc3\xa4", "'}",
          LIMIT_ANNOTATION_CHARS, "too_long /global_annotation" },
        { "{'selected_ids':[],'custom_input':'w','option_annotations':{'a':'", "x", "'}}",
          LIMIT_ANNOTATION_CHARS, "too_long /option_annotations/a" },
    };
    struct form form = make_form(&hybrid, 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct text given = { 0 };
        struct answer answer = { 0 };

        text_add_text(&given, sizes[i].before);
        for (size_t n = 0; n < sizes[i].max; n++)
            text_add_text(&given, sizes[i].unit);
        text_add_text(&given, sizes[i].after);
        assert_true(check(&form, text_string(&given), &answer, NULL));
        answer_release(&answer);
        given.used -= strlen(sizes[i].after);
        text_add_text(&given, sizes[i].unit);
        text_add_text(&given, sizes[i].after);
        expect_refusal(&form, "one more", text_string(&given), sizes[i].wanted);
        text_release(&given);
    }
    form_release(&form);
}

/* Names are hostile text: the pointer stays one line of whole characters within its bounds. */
static void test_hostile_names(void **state)
{
    struct form form = make_form(&single_b, 1);
    struct text given = { 0 };
    struct answer answer = { 0 };
    struct error err = { 0 };

    (void)state;
    for (size_t blanks = 120; blanks < 150; blanks++) {
        text_clear(&given);
        text_add_format(&given, "{'option_annotations':{'%*s\xe6\x96\x87':'n'}}", (int)blanks, "");
        assert_false(check(&form, text_string(&given), &answer, &err));
        assert_true(text_is_utf8(err.path, strlen(err.path)));
        assert_int_equal(strlen(err.path), blanks > 139 ? 159 : blanks + (blanks > 136 ? 20 : 23));
    }
    text_release(&given);
    form_release(&form);
}

/* A refusal names the ids, but never more than it may echo. */
static void test_many_ids(void **state)
{
    struct text ids = { 0 };
    struct plan plan = { .kind = FIELD_SINGLE };
    struct form form;
    struct answer answer = { 0 };
    struct error err = { 0 };

    (void)state;
    for (int i = 0; i < 50; i++)
        text_add_format(&ids, "%soption-%02d", i ? " " : "", i);
    plan.options = text_string(&ids);
    form = make_form(&plan, 1);
    assert_false(check(&form, "{'selected_ids':['z']}", &answer, &err));
    assert_non_null(strstr(err.message, "option-00, option-01"));
    assert_non_null(strstr(err.message, ", ..."));
    assert_null(strstr(err.message, "option-11"));
    form_release(&form);
    text_release(&ids);
}

static void test_defaults(void **state)
{
    struct form form = make_form(survey, ARRAY_LEN(survey));
    char *wanted = requote(survey_defaults);
    struct answer answer = { 0 };
    struct text stored = { 0 };

    (void)state;
    answer_from_defaults(&form, &answer);
    answer_encode(&form, &answer, &stored);
    assert_string_equal(text_string(&stored), wanted);
    text_release(&stored);
    answer_release(&answer);
    answer_release(&answer); /* a released answer may be released */
    free(wanted);
    form_release(&form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_form_of_many_fields),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
