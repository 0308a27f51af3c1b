/*
 * test_notice.c - late answers announced in a result: still one JSON object, nothing in the title
 * acts on the terminal that shows it.
 * Proves: R5.7, R2.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/ask.h"

static struct json *add_to(const char *result, const struct notice *notices, size_t count,
                           size_t more)
{
    struct text text = { 0 };
    struct json *json = NULL;

    text_add_text(&text, result);
    notices_add(notices, count, more, &text);
    assert_true(json_parse(text_string(&text), text.used, &json, NULL));
    text_release(&text);
    return json;
}

static void test_notices_follow_what_is_there(void **state)
{
    static const struct notice notices[] = {
        { "abcdefghijklmnopqrstuvwxyz", "Deploy", STATE_SUBMITTED, 1700000000123, NULL },
        { "bbcdefghijklmnopqrstuvwxyz", NULL, STATE_DECLINED, 0, NULL },
    };
    struct json *json = add_to("{\"action_status\":\"pending\"}", notices, ARRAY_LEN(notices), 3);
    const struct json *list = json_member(json, "notices");

    (void)state;
    assert_string_equal(json_member_text(json, "action_status"), "pending");
    assert_int_equal(json_length(list), 2);
    assert_string_equal(json_member_text(json_item(list, 0), "session_id"), notices[0].session_id);
    assert_string_equal(json_member_text(json_item(list, 0), "title"), "Deploy");
    assert_string_equal(json_member_text(json_item(list, 0), "status"), "submitted");
    assert_string_equal(json_member_text(json_item(list, 0), "answered_at"),
                        "2023-11-14T22:13:20.123Z");
    assert_non_null(strstr(json_member_text(json_item(list, 0), "instructions"), "get_answer"));
    assert_string_equal(json_member_text(json_item(list, 1), "title"), "");
    assert_string_equal(json_member_text(json_item(list, 1), "status"), "declined");
    assert_int_equal(json_member_integer(json, "notices_more", 0), 3);
    json_free(json);
}

static void test_no_notice_changes_nothing(void **state)
{
    struct json *json = add_to("{\"action_status\":\"pending\"}", NULL, 0, 0);

    (void)state;
    assert_null(json_member(json, "notices"));
    assert_null(json_member(json, "notices_more"));
    json_free(json);
}

static void test_titles_are_shown_not_obeyed(void **state)
{
    static const struct {
        const char *title, *absent;
    } cases[] = {
        { "a\x1b]0;owned\x07z", "\x1b" },
        { "a\xe2\x80\xaez", "\xe2\x80\xae" },
        { "a\",\"status\":\"declined\nz", "\n" },
        { "a\xf3\xa0\x81\x81z", "\xf3\xa0" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct notice notice = { "abcdefghijklmnopqrstuvwxyz", cases[i].title, STATE_SUBMITTED, 1,
                                 NULL };
        struct json *json = add_to("{}", &notice, 1, 0);
        const struct json *first = json_item(json_member(json, "notices"), 0);
        const char *title = json_member_text(first, "title");

        assert_string_equal(json_member_text(first, "status"), "submitted");
        assert_true(title[0] == 'a' && title[strlen(title) - 1] == 'z');
        assert_null(strstr(title, cases[i].absent));
        json_free(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notices_follow_what_is_there),
        cmocka_unit_test(test_no_notice_changes_nothing),
        cmocka_unit_test(test_titles_are_shown_not_obeyed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
