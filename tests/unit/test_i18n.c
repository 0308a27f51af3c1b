/*
 * test_i18n.c - the catalogues are complete and alike, and a value can't do more than be shown.
 * Proves: R8.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/lifecycle.h"
#include "i18n/i18n.h"

static void every_language_fills_every_text(void **state)
{
    (void)state;
    for (int l = 0; l < LANGUAGE_COUNT; l++) {
        for (int id = 0; id < TEXT_COUNT; id++) {
            const char *text = i18n_text_in((enum language)l, (enum text_id)id);

            if (!text || !*text)
                fail_msg("%s lacks %s", language_tag((enum language)l), i18n_key((enum text_id)id));
        }
    }
}

/* The n-th {name} in a text; NULL: there are fewer. */
static const char *placeholder(const char *text, size_t n, size_t *ret_length)
{
    for (; (text = strchr(text, '{')); text++) {
        size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");

        if (length && text[length + 1] == '}' && n-- == 0) {
            *ret_length = length + 2;
            return text;
        }
    }
    return NULL;
}

/* In what an agent is told these stand for English words (i18n/arguments.def). */
static bool may_be_left_out(const char *key, const char *name)
{
    return strncmp(key, "REASON_", strlen("REASON_")) == 0 &&
           (strcmp(name, "{hint}") == 0 || strcmp(name, "{kind}") == 0 ||
            strcmp(name, "{given}") == 0);
}

static void assert_has_placeholders_of(const char *text, const char *other, const char *key)
{
    const char *name;
    size_t length;

    for (size_t n = 0; (name = placeholder(other, n, &length)); n++) {
        char *wanted = mem_text_n(name, length);

        if (!strstr(text, wanted) && !may_be_left_out(key, wanted))
            fail_msg("%s: %s is missing in: %s", key, wanted, text);
        free(wanted);
    }
}

static void placeholders_are_the_same_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < TEXT_COUNT; i++) {
        enum text_id id = (enum text_id)i;
        const char *english = i18n_text_in(LANGUAGE_EN, id);

        for (int l = 0; l < LANGUAGE_COUNT; l++) {
            const char *text = i18n_text_in((enum language)l, id);

            assert_has_placeholders_of(text, english, i18n_key(id));
            assert_has_placeholders_of(english, text, i18n_key(id));
        }
    }
}

static void texts_are_utf8_without_controls_or_blank_ends(void **state)
{
    (void)state;
    for (int l = 0; l < LANGUAGE_COUNT; l++) {
        for (int id = 0; id < TEXT_COUNT; id++) {
            const char *text = i18n_text_in((enum language)l, (enum text_id)id);
            const char *end = text + strlen(text);

            assert_true(text_is_utf8(text, strlen(text)));
            assert_true(*text != ' ' && end[-1] != ' ');
            for (const char *at = text; at < end;) {
                int32_t point = text_decode(&at, end);

                if (point < 0x20 || (point >= 0x7f && point < 0xa0))
                    fail_msg("%s has a control character", i18n_key((enum text_id)id));
            }
        }
    }
}

static bool is_chinese(int32_t point)
{
    return (point >= 0x4e00 && point <= 0x9fff) || (point >= 0x3000 && point <= 0x303f) ||
           (point >= 0xff00 && point <= 0xff60);
}

static void chinese_has_full_width_punctuation_and_its_own_words(void **state)
{
    (void)state;
    for (int id = 0; id < TEXT_COUNT; id++) {
        const char *text = i18n_text_in(LANGUAGE_ZH, (enum text_id)id);
        const char *end = text + strlen(text);

        for (const char *at = text; at < end;) {
            int32_t point = text_decode(&at, end);

            if (is_chinese(point) && at < end && strchr(",.?!:;()", *at))
                fail_msg("%s: ASCII punctuation in %s", i18n_key((enum text_id)id), text);
        }
        assert_null(strstr(text, "代理"));
        assert_null(strstr(text, "您"));
    }
}

static void english_keeps_the_tone(void **state)
{
    static const char *const never[] = { "!",    "please", "Please", "successfully",
                                         "oops", "bot ",   "AI will" };

    (void)state;
    for (int id = 0; id < TEXT_COUNT; id++) {
        for (size_t i = 0; i < ARRAY_LEN(never); i++)
            assert_null(strstr(i18n_text_in(LANGUAGE_EN, (enum text_id)id), never[i]));
    }
}

static void the_language_of_the_process_changes_at_once(void **state)
{
    (void)state;
    assert_int_equal(i18n_language(), LANGUAGE_EN);
    assert_string_equal(i18n_text(TEXT_STATE_TIMEOUT), "timed out");
    i18n_use(LANGUAGE_ZH);
    assert_int_equal(i18n_language(), LANGUAGE_ZH);
    assert_string_equal(i18n_text(TEXT_STATE_TIMEOUT), "已超时");
    assert_string_equal(state_text(STATE_WITHDRAWN), "已撤回");
    i18n_use(LANGUAGE_EN);
    assert_string_equal(i18n_key(TEXT_STATE_TIMEOUT), "STATE_TIMEOUT");
    assert_string_equal(language_name(LANGUAGE_ZH), "中文");
    assert_string_equal(language_tag(LANGUAGE_ZH), "zh");
}

static void every_state_has_a_word(void **state)
{
    static const struct {
        enum ask_state state;
        const char *word;
    } cases[] = {
        { STATE_PENDING_TERMINAL_LAUNCH, "pending" },
        { STATE_PENDING, "pending" },
        { STATE_SUBMITTED, "answered" },
        { STATE_AUTO_SUBMITTED, "auto-answered" },
        { STATE_CANCELLED, "cancelled" },
        { STATE_DECLINED, "declined" },
        { STATE_TIMEOUT, "timed out" },
        { STATE_WITHDRAWN, "withdrawn" },
    };

    (void)state;
    assert_int_equal(ARRAY_LEN(cases) + 1, STATE_COUNT);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(state_text(cases[i].state), cases[i].word);
}

static void format_fills_in_by_name(void **state)
{
    struct text out = { 0 };

    (void)state;
    i18n_format(&out, TEXT_CHOOSE_RANGE, "max", "3", "min", "1", NULL);
    assert_string_equal(text_string(&out), "Choose 1 to 3");
    text_clear(&out);
    text_add_text(&out, "> ");
    i18n_format_in(LANGUAGE_ZH, &out, TEXT_CHOOSE_RANGE, "min", "1", "max", "3", NULL);
    assert_string_equal(text_string(&out), "> 请选择 1 至 3 项");
    text_release(&out);
}

static void a_placeholder_nobody_gave_stays_visible(void **state)
{
    struct text out = { 0 };

    (void)state;
    i18n_format(&out, TEXT_CHOOSE_RANGE, "min", "1", "maximum", "9", NULL);
    assert_string_equal(text_string(&out), "Choose 1 to {max}");
    text_clear(&out);
    i18n_format(&out, TEXT_CHOOSE_RANGE, NULL);
    assert_string_equal(text_string(&out), "Choose {min} to {max}");
    text_clear(&out);
    i18n_format(&out, TEXT_CHOOSE_RANGE, "min", NULL, "max", "3", NULL);
    assert_string_equal(text_string(&out), "Choose  to 3");
    text_clear(&out);
    i18n_format(&out, TEXT_SETTING_TAKES_LIMITS, "name", "x", "most", "9", NULL);
    assert_non_null(strstr(text_string(&out), "{\"*\":50}"));
    text_release(&out);
}

static void hostile_values_are_only_inserted(void **state)
{
    static const char *const values[] = {
        "{max}", "{min}", "%s%n%1000000d", "{", "}", "{{min}}", "\\", "", "\xff\xfe", "{max",
    };
    struct text out = { 0 }, wanted = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        text_clear(&out);
        text_clear(&wanted);
        i18n_format(&out, TEXT_CHOOSE_RANGE, "min", values[i], "max", values[i], NULL);
        text_add_text(&wanted, "Choose ");
        text_add_text(&wanted, values[i]);
        text_add_text(&wanted, " to ");
        text_add_text(&wanted, values[i]);
        assert_string_equal(text_string(&out), text_string(&wanted));
    }
    text_release(&out);
    text_release(&wanted);
}

static void a_full_buffer_and_too_many_pairs_do_no_harm(void **state)
{
    struct text out = { .max_bytes = 12 };

    (void)state;
    i18n_format(&out, TEXT_NOBODY_WAITING, NULL);
    assert_true(out.has_overflowed);
    assert_true(out.used <= 12);
    text_release(&out);
    out.max_bytes = 0;
    i18n_format(&out, TEXT_CHOOSE_RANGE, "a", "", "a", "", "a", "", "a", "", "a", "", "a", "", "a",
                "", "a", "", "a", "", "a", "", "a", "", "a", "", "a", "", "a", "", "a", "", "min",
                "1", "max", "too late", NULL);
    assert_string_equal(text_string(&out), "Choose 1 to {max}");
    text_release(&out);
}

static void languages_are_found_by_tag_and_locale(void **state)
{
    static const struct {
        const char *tag;
        bool is_found;
        enum language language;
    } cases[] = {
        { "en", true, LANGUAGE_EN },
        { "zh", true, LANGUAGE_ZH },
        { "ZH", true, LANGUAGE_ZH },
        { "zh_CN.UTF-8", true, LANGUAGE_ZH },
        { "zh-Hans", true, LANGUAGE_ZH },
        { "zh.UTF-8", true, LANGUAGE_ZH },
        { "en_GB.UTF-8@euro", true, LANGUAGE_EN },
        { "C", true, LANGUAGE_EN },
        { "C.UTF-8", true, LANGUAGE_EN },
        { "POSIX", true, LANGUAGE_EN },
        { "de_DE.UTF-8", false, LANGUAGE_EN },
        { "", false, LANGUAGE_EN },
        { "z", false, LANGUAGE_EN },
        { "zhx", false, LANGUAGE_EN },
        { "auto", false, LANGUAGE_EN },
        { "_zh", false, LANGUAGE_EN },
        { "english", false, LANGUAGE_EN },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum language language = LANGUAGE_COUNT;

        assert_int_equal(language_find(cases[i].tag, &language), cases[i].is_found);
        assert_int_equal(language, cases[i].is_found ? cases[i].language : LANGUAGE_COUNT);
    }
}

/* What the words of an error are on the wire, and of `said` again; NULL: none. */
static void assert_words(const struct error *err, const char *words, const char *chinese)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    json_write_object(&writer, NULL);
    error_write_words(err, &writer);
    json_write_end_object(&writer);
    assert_string_equal(text_string(&out), words);
    text_clear(&out);
    error_write_in(err, LANGUAGE_ZH, &out);
    assert_string_equal(text_string(&out), chinese);
    text_release(&out);
}

static void read_words(struct error *err, const char *said)
{
    struct json *json = NULL;

    error_set(err, ERROR_bad_enum, "/a", "what the hub said");
    err->retry_after_s = 7;
    assert_true(json_parse(said, strlen(said), &json, NULL));
    error_read_words(err, json);
    json_free(json);
    assert_int_equal(err->code, ERROR_bad_enum);
    assert_string_equal(err->path, "/a");
    assert_int_equal(err->retry_after_s, 7);
}

static void an_error_knows_its_words(void **state)
{
    static const char said[] =
        "{\"text\":\"REASON_CANT_OPEN\",\"values\":{\"path\":\"{reason}: b\","
        "\"reason\":\"\"}}";
    static const char chinese[] = "无法打开 {reason}: b：";
    struct error err, more = { 0 };

    (void)state;
    assert_false(error_say(&err, ERROR_bad_enum, "/a", TEXT_REASON_CANT_OPEN, "reason", "", "path",
                           "{reason}: b", NULL));
    assert_string_equal(err.message, "can't open {reason}: b: ");
    assert_words(&err, said, chinese);
    error_add(&more, &err);
    memcpy(err.path, "/b", sizeof "/b");
    error_add(&more, &err);
    assert_true(error_at(&more, 1, &err));
    assert_words(&err, said, chinese);
    read_words(&err, said);
    assert_string_equal(err.message, "can't open {reason}: b: ");
    assert_words(&err, said, chinese);
}

static void words_that_are_not_ours_leave_the_message(void **state)
{
    static const char *const said[] = {
        "{}",
        "{\"text\":\"REASON_OF_A_LATER_VERSION\",\"values\":{}}",
        "{\"text\":\"REASON_CANT_OPEN\"}",
        "{\"text\":\"SETTING_REFUSED\",\"takes\":\"SETTING_OF_A_LATER_VERSION\",\"values\":{"
        "\"source\":"
        "\"X\"}}",
        "{\"text\":\"REASON_CANT_OPEN\",\"values\":{\"path\":\"/x\"}}",
        "{\"text\":\"REASON_CANT_OPEN\",\"values\":{\"path\":1,\"reason\":\"\"}}",
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        read_words(&err, said[i]);
        assert_string_equal(err.message, "what the hub said");
        assert_words(&err, "{}", "what the hub said");
    }
}

static void a_value_that_is_too_long_is_cut_and_not_the_sentence(void **state)
{
    struct text out = { 0 };
    char path[600];
    struct error err;

    (void)state;
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    error_say(&err, ERROR_bad_enum, "/a", TEXT_REASON_CANT_OPEN, "path", path, "reason", "no",
              NULL);
    assert_string_equal(strrchr(err.message, 'a'), "a: no");
    assert_true(error_write_in(&err, LANGUAGE_ZH, &out));
    assert_string_equal(strrchr(text_string(&out), 'a'), "a：no");
    assert_int_equal(strspn(strchr(text_string(&out), 'a'), "a"), 400);
    text_release(&out);
    for (size_t i = 0; i + 3 < sizeof path; i += 3)
        memcpy(path + i, "\xe8\xb7\xaf", 4);
    error_say(&err, ERROR_bad_enum, "/a", TEXT_REASON_CANT_OPEN, "path", path, "reason", path,
              NULL);
    assert_true(text_is_utf8(err.message, strlen(err.message)));
}

static void a_text_may_be_in_another(void **state)
{
    static const char said[] =
        "{\"text\":\"SETTING_REFUSED\",\"takes\":\"SETTING_TAKES_ENUM\",\"values\":{\"name\":\"x\","
        "\"choices\":\"a, b\",\"source\":\"X\"}}";
    struct error err;

    (void)state;
    error_say_within(&err, ERROR_bad_enum, TEXT_SETTING_REFUSED, TEXT_SETTING_TAKES_ENUM, "source",
                     "X", "name", "x", "choices", "a, b", NULL);
    assert_string_equal(err.message, "x must be one of: a, b. Fix or unset X.");
    assert_words(&err, said, "x 可设为以下之一：a, b。请更正或取消 X。");
    read_words(&err, said);
    assert_string_equal(err.message, "x must be one of: a, b. Fix or unset X.");
    assert_words(&err, said, "x 可设为以下之一：a, b。请更正或取消 X。");
}

static void a_name_that_stands_twice_is_written_once(void **state)
{
    static const char said[] =
        "{\"text\":\"SETTING_REFUSED_SAVED\",\"takes\":\"SETTING_TAKES_BOOL\",\"values\":{"
        "\"name\":\"x\",\"line\":\"3\",\"path\":\"/y\"}}";
    static const char english[] =
        "x must be on or off. Fix line 3 of /y, or run: sayso settings reset x";
    static const char chinese[] =
        "x 可设为 on 或 off。请修正 /y 第 3 行，或运行：sayso settings reset x";
    struct error err;

    (void)state;
    error_say_within(&err, ERROR_bad_enum, TEXT_SETTING_REFUSED_SAVED, TEXT_SETTING_TAKES_BOOL,
                     "name", "x", "line", "3", "path", "/y", NULL);
    assert_string_equal(err.message, english);
    assert_words(&err, said, chinese);
    read_words(&err, said);
    assert_string_equal(err.message, english);
    assert_words(&err, said, chinese);
}

static int64_t utc_ms(int day, int hour, int minute)
{
    struct tm parts = {
        .tm_year = 126, .tm_mon = 2, .tm_mday = day, .tm_hour = hour, .tm_min = minute
    };

    return (int64_t)timegm(&parts) * 1000;
}

static void times_are_local_and_as_short_as_the_day_allows(void **state)
{
    static const struct {
        int day, hour, minute;
        const char *english, *chinese;
    } cases[] = {
        { 30, 10, 5, "12:05", "12:05" },
        { 29, 22, 30, "00:30", "00:30" }, /* today there, yesterday in UTC */
        { 29, 21, 59, "yesterday 23:59", "昨天 23:59" },
        { 28, 23, 0, "yesterday 00:00", "昨天 00:00" },
        { 28, 22, 59, "2026-03-28 23:59", "2026-03-28 23:59" },
        { 31, 9, 0, "2026-03-31 11:00", "2026-03-31 11:00" },
    };
    struct text out = { 0 };

    (void)state;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1); /* the 29th has 23 hours */
    tzset();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (int language = LANGUAGE_EN; language <= LANGUAGE_ZH; language++) {
            i18n_use((enum language)language);
            text_clear(&out);
            i18n_add_when(&out, utc_ms(cases[i].day, cases[i].hour, cases[i].minute),
                          utc_ms(30, 11, 0));
            assert_string_equal(text_string(&out),
                                language == LANGUAGE_EN ? cases[i].english : cases[i].chinese);
        }
    }
    text_release(&out);
    i18n_use(LANGUAGE_EN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_language_fills_every_text),
        cmocka_unit_test(placeholders_are_the_same_everywhere),
        cmocka_unit_test(texts_are_utf8_without_controls_or_blank_ends),
        cmocka_unit_test(chinese_has_full_width_punctuation_and_its_own_words),
        cmocka_unit_test(english_keeps_the_tone),
        cmocka_unit_test(the_language_of_the_process_changes_at_once),
        cmocka_unit_test(every_state_has_a_word),
        cmocka_unit_test(format_fills_in_by_name),
        cmocka_unit_test(a_placeholder_nobody_gave_stays_visible),
        cmocka_unit_test(hostile_values_are_only_inserted),
        cmocka_unit_test(a_full_buffer_and_too_many_pairs_do_no_harm),
        cmocka_unit_test(languages_are_found_by_tag_and_locale),
        cmocka_unit_test(an_error_knows_its_words),
        cmocka_unit_test(words_that_are_not_ours_leave_the_message),
        cmocka_unit_test(a_text_may_be_in_another),
        cmocka_unit_test(a_name_that_stands_twice_is_written_once),
        cmocka_unit_test(a_value_that_is_too_long_is_cut_and_not_the_sentence),
        cmocka_unit_test(times_are_local_and_as_short_as_the_day_allows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
