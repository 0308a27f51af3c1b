/*
 * test_shown.c - what a page may show of an ask: everything an agent wrote comes out of the
 * sanitizer. Proves: R6.5 R7.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/portal/shown.h"

#define FORM_HEAD "{\"version\":1,\"title\":\"pay \\u202e now\",\"prompt\":\"**Why** \\u001b[2J\","
#define FORM_FIELD                                                                                 \
    "\"fields\":[{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,\"min_selections\":1," \
    "\"max_selections\":1,\"header\":\"D\\u200bB\",\"placeholder\":\"a\\tb\",\"options\":["        \
    "{\"id\":\"a\\u200b\",\"label\":\"\\u0421ontinue\",\"description\":\"one\\ntwo\","             \
    "\"preview\":{\"type\":\"diff\",\"text\":\"-a\\n+b\\n\"}},{\"id\":\"b\",\"label\":\"Beta\"}]}" \
    "]"

static struct json *show(const char *reply_json)
{
    struct text out = { 0 };
    struct json *value = NULL;

    shown_add(reply_json, &out);
    assert_true(json_parse(text_string(&out), out.used, &value, NULL));
    text_release(&out);
    return value;
}

static const struct json *first(const struct json *value, const char *key)
{
    return json_item(json_member(value, key), 0);
}

static void test_every_text_is_shown_as_it_may_be(void **state)
{
    struct json *reply = show("{\"seq\":1,\"form\":" FORM_HEAD FORM_FIELD "},\"answer\":null}");
    const struct json *shown = json_member(reply, "shown"), *field = first(shown, "fields");
    const struct json *option = first(field, "options");
    const struct json *block = first(json_member(shown, "prompt"), "blocks");

    (void)state;
    assert_string_equal(json_member_text(shown, "title"), "pay \\u202e now");
    assert_string_equal(json_text(first(json_member(shown, "marks"), "title")), "hidden");
    assert_string_equal(json_text(first(json_member(shown, "marks"), "prompt")), "hidden");
    assert_string_equal(json_member_text(first(block, "spans"), "text"), "Why");
    assert_true(json_is_true(json_member(first(block, "spans"), "strong")));
    assert_string_equal(json_member_text(field, "placeholder"), "a\\tb");
    assert_string_equal(json_member_text(field, "header"), "D\\u200bB");
    assert_string_equal(json_member_text(option, "id"), "a\\u200b");
    assert_string_equal(json_text(first(json_member(option, "marks"), "label")), "mixed_script");
    assert_string_equal(json_member_text(option, "description"), "one\ntwo");
    assert_string_equal(json_member_text(first(json_member(option, "preview"), "blocks"), "kind"),
                        "removed");
    assert_null(json_member(json_item(json_member(field, "options"), 1), "marks"));
    /* what is sent back and stored is what was received */
    assert_string_equal(json_member_text(json_member(reply, "form"), "title"),
                        "pay \xe2\x80\xae now");
    json_free(reply);
}

static void test_what_holds_no_form_is_left_alone(void **state)
{
    static const char *const replies[] = { "{}", "{\"seq\":1}", "{\"form\":{\"version\":99}}",
                                           "{\"form\":7}" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct text out = { 0 };

        shown_add(replies[i], &out);
        assert_string_equal(text_string(&out), replies[i]);
        text_release(&out);
    }
}

static void test_a_secret_is_pointed_out(void **state)
{
    struct json *reply =
        show("{\"form\":{\"version\":1,\"title\":\"Deploy\","
             "\"prompt\":\"What is the password of the server?\"," FORM_FIELD "}}");

    (void)state;
    assert_true(json_is_true(json_member(json_member(reply, "shown"), "mentions_secret")));
    json_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_text_is_shown_as_it_may_be),
        cmocka_unit_test(test_what_holds_no_form_is_left_alone),
        cmocka_unit_test(test_a_secret_is_pointed_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
