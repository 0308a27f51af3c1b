/*
 * test_search_text.c - by which words an ask is found again.
 * Proves: R9.2
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
#include "base/mem.h"
#include "base/text.h"
#include "core/search_text.h"

static const char form[] =
    "{\"title\":\"Ship \\u003crelease\\u003e 2.0?\",\"prompt\":\"First line\\nsecond line\","
    "\"fields\":[{\"name\":\"choice\",\"kind\":\"single\",\"options\":["
    "{\"id\":\"yes-id\",\"label\":\"Stra\\u00dfe \\uff21\\uff22\\uff23\","
    "\"description\":\"\\u90e8\\u7f72\\u5230\\u751f\\u4ea7\\u73af\\u5883\","
    "\"preview\":{\"type\":\"code\",\"text\":\"rm -rf build\"}}]}]}";
static const char answer[] = "{\"selected_ids\":[\"yes-id\"],\"global_annotation\":"
                             "\"pa\\u200bss\\u00adword\"}";

static bool finds(const char *form_json, const char *answer_json, const char *words)
{
    struct text body = { 0 };
    struct search_terms terms = { 0 };
    struct error err;
    bool is_found;

    search_text(form_json, answer_json, &body);
    assert_true(search_terms_read(words, &terms, &err));
    is_found = search_terms_found(&terms, text_string(&body));
    search_terms_release(&terms);
    text_release(&body);
    return is_found;
}

static void words_are_found(void **state)
{
    static const struct {
        const char *words;
        bool is_found;
    } cases[] = {
        { "", true },
        { "ship", true },
        { "SHIP <RELEASE>", true },
        { "2.0? ship", true }, /* in any order */
        { "\"ship <rel\"", true },
        { "\"2.0? ship\"", false }, /* as one they are not */
        { "line second", true },
        { "\"line second\"", true }, /* the end of a line is a blank */
        { "\"2.0? first\"", false }, /* but nothing spans two texts */
        { "strasse", true },
        { "STRASSE abc", true }, /* fullwidth letters are letters */
        { "\xe9\x83\xa8\xe7\xbd\xb2", true },
        { "\xe7\x94\x9f\xe4\xba\xa7", true },
        { "\xe7\x8e\xaf", true },
        { "\xe4\xb8\x8b", false },
        { "rm -rf", true },
        { "password", true }, /* what is not seen does not hide it */
        { "yes-id", true },   /* was answered */
        { "kind", false },
        { "single", false },
        { "ship never", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (finds(form, answer, cases[i].words) != cases[i].is_found)
            fail_msg("%s", cases[i].words);
    }
    /* one character that stands for eighteen */
    assert_true(finds("{\"title\":\"\\ufdfa\"}", NULL, "\xd8\xb5\xd9\x84\xd9\x89"));
    assert_false(finds(form, NULL, "yes-id"));
    assert_false(finds(form, NULL, "code"));
    assert_false(finds("not JSON", "[", "not"));
    assert_false(finds(NULL, NULL, "a"));
}

static void what_is_looked_for_is_bounded(void **state)
{
    struct search_terms terms = { 0 };
    struct error err;
    char words[SEARCH_BYTES + 2];

    (void)state;
    memset(words, 'a', sizeof words);
    words[SEARCH_BYTES] = '\0';
    assert_true(search_terms_read(words, &terms, &err));
    assert_int_equal(terms.count, 1);
    search_terms_release(&terms);
    words[SEARCH_BYTES] = 'a';
    words[SEARCH_BYTES + 1] = '\0';
    assert_false(search_terms_read(words, &terms, &err));
    assert_int_equal(err.code, ERROR_too_long);
    for (int i = 0; i < SEARCH_TERMS + 1; i++)
        memcpy(words + 2 * i, "a ", 3);
    assert_false(search_terms_read(words, &terms, &err));
    assert_string_equal(err.path, "/search");
    words[2 * SEARCH_TERMS] = '\0';
    assert_true(search_terms_read(words, &terms, &err));
    assert_int_equal(terms.count, SEARCH_TERMS);
    search_terms_release(&terms);
    assert_true(search_terms_read(" \" \"\" ", &terms, &err));
    search_terms_release(&terms);
}

static void a_text_is_bounded(void **state)
{
    struct text json = { 0 }, body = { 0 };

    (void)state;
    text_add_text(&json, "{\"title\":\"");
    for (int i = 0; i < SEARCH_TEXT_BYTES / 3 + 10; i++)
        text_add_text(&json, "\xe9\x83\xa8");
    text_add_text(&json, "\",\"prompt\":\"behind\"}");
    search_text(text_string(&json), NULL, &body);
    assert_true(body.used <= SEARCH_TEXT_BYTES + 1);
    assert_true(text_is_utf8(body.bytes, body.used));
    assert_null(strstr(text_string(&body), "behind"));
    text_release(&json);
    text_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found),
        cmocka_unit_test(what_is_looked_for_is_bounded),
        cmocka_unit_test(a_text_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
