/*
 * test_settings_file.c - the host's settings file: what is read, what is refused, what is kept.
 * Proves: R8.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "settings_fixture.h"

static void the_file_sets_host_rows_in_their_own_kinds(void **state)
{
    const struct place *place = *state;
    struct settings *settings = place->settings;

    write_text(place, "{\"portal\":false,\"terminal\":\"off\",\"port\":80,\"idle_exit_seconds\":"
                      "\"5m\",\"log_level\":\"debug\",\"tls_key\":\"a\",\"list_count\":7.0,"
                      "\"hold_limits\":{\"x\":9},\"compat\":null}");
    settings_load_file(settings, place->file);
    assert_int_equal(settings_warning_count(settings), 0);
    assert_false(settings_is_on(settings, SETTING_PORTAL));
    assert_false(settings_is_on(settings, SETTING_TERMINAL));
    assert_int_equal(settings_integer(settings, SETTING_PORT), 80);
    assert_int_equal(settings_integer(settings, SETTING_IDLE_EXIT_SECONDS), 300);
    assert_string_equal(settings_text(settings, SETTING_LOG_LEVEL), "debug");
    assert_int_equal(settings_integer(settings, SETTING_LOG_LEVEL), 0);
    assert_string_equal(settings_text(settings, SETTING_TLS_KEY), "a");
    assert_int_equal(settings_integer(settings, SETTING_LIST_COUNT), 7);
    assert_int_equal(settings_hold_limit_s(settings, "x", false, 0), 9);
    assert_int_equal(settings_source(settings, SETTING_COMPAT), SETTING_BUILT_IN);
}

static const char *const bad_members[] = {
    "\"portal\":1",
    "\"portal\":[true]",
    "\"port\":1.5",
    "\"port\":true",
    "\"port\":{}",
    "\"port\":-1",
    "\"port\":\"a\\u0000b\"",
    "\"port\":\"80\\u0000\"",
    "\"store\":5",
    "\"log_level\":2",
    "\"log_level\":\"loud\"",
    "\"hold_limits\":[1]",
    "\"hold_limits\":{\"x\":{}}",
    "\"port\":1e300",
    "\"timeout_seconds\":9",
    "\"nothing\":1",
    "\"\":1",
    "\"\\u001b[2J\":1",
    "\"PORT\":1",
};

static void bad_members_are_warned_of_and_the_others_used(void **state)
{
    const struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad_members); i++) {
        struct settings *settings = settings_new();
        struct text message = { 0 };
        char text[128];

        snprintf(text, sizeof text, "{%s,\"list_count\":7}", bad_members[i]);
        write_text(place, text);
        settings_load_file(settings, place->file);
        if (settings_warning_count(settings) != 1)
            fail_msg("%s: %zu warnings", bad_members[i], settings_warning_count(settings));
        settings_describe_warning(settings, LANGUAGE_EN, settings_warning(settings, 0), &message);
        assert_null(strchr(text_string(&message), '\x1b'));
        assert_null(strstr(text_string(&message), "{name}"));
        assert_int_equal(settings_integer(settings, SETTING_LIST_COUNT), 7);
        assert_in_force(settings, SETTING_PORT, "7297");
        assert_in_force(settings, SETTING_TIMEOUT_SECONDS, "300");
        text_release(&message);
        settings_free(settings);
    }
}

static void expect_unused_file(const struct place *place, enum text_id reason)
{
    struct settings *settings = settings_new();
    struct error err = { 0 }, problem;

    settings_load_file(settings, place->file);
    assert_int_equal(settings_warning_count(settings), 1);
    assert_int_equal(settings_warning(settings, 0)->reason, reason);
    assert_true(settings_problem(settings, &problem));
    assert_non_null(strstr(problem.message, place->file));
    assert_null(strstr(problem.message, "{"));
    assert_in_force(settings, SETTING_PORT, "7297");
    /* What we could not read we do not overwrite. */
    assert_false(settings_save(place->file, SETTING_PORT, "80", &err));
    assert_string_equal(err.message, problem.message);
    settings_free(settings);
}

static void a_file_that_is_no_object_is_left_alone(void **state)
{
    static const char *const files[] = {
        "[]",
        "7",
        "null",
        "\"port\"",
        "{",
        "{\"port\":80",
        "port = 80",
        "{\"port\":80}{}",
        "\xef\xbb\xbf{}",
        "{\"port\":80,\"port\":81}",
        "{\"store\":\"\xff\"}",
        "{\"store\":\"\\ud800\"}",
        " ",
        "",
        "{'port':80}",
    };
    const struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        write_text(place, files[i]);
        expect_unused_file(place, TEXT_SETTING_FILE_NOT_JSON);
        assert_file(place->file, files[i]);
    }
}

static void deep_and_huge_files_are_refused(void **state)
{
    const struct place *place = *state;
    size_t size = (size_t)10 << 20;
    char *huge = mem_new(size);

    memset(huge, '[', 100000);
    write_bytes(place->file, huge, 100000);
    expect_unused_file(place, TEXT_SETTING_FILE_NOT_JSON);
    memset(huge, ' ', size);
    memcpy(huge, "{\"port\":80", 10);
    huge[size - 1] = '}';
    write_bytes(place->file, huge, size);
    expect_unused_file(place, TEXT_SETTING_FILE_TOO_LONG);
    free(huge);
    unlink(place->file);
    assert_int_equal(mkdir(place->file, 0700), 0);
    expect_unused_file(place, TEXT_SETTING_FILE_UNREADABLE);
}

static void a_flood_of_bad_members_is_bounded(void **state)
{
    const struct place *place = *state;
    struct text text = { 0 };

    text_add_text(&text, "{");
    for (int i = 0; i < 20000; i++)
        text_add_format(&text, "\"unknown_%d\":%d,", i, i);
    text_add_text(&text, "\"port\":80}");
    write_text(place, text_string(&text));
    text_release(&text);
    settings_load_file(place->settings, place->file);
    assert_int_equal(settings_warning_count(place->settings), SETTINGS_MAX_WARNINGS);
    assert_in_force(place->settings, SETTING_PORT, "80");
}

static void a_missing_file_is_no_matter(void **state)
{
    const struct place *place = *state;
    struct error err;

    settings_load_file(place->settings, place->file);
    assert_int_equal(access(place->file, F_OK), -1);
    assert_int_equal(settings_warning_count(place->settings), 0);
    assert_true(settings_save(place->file, SETTING_PORT, "80", &err));
    assert_file(place->file, "{\n  \"port\": 80\n}\n");
}

static void every_host_row_goes_through_the_file(void **state)
{
    const struct place *place = *state;
    struct settings *again = settings_new();
    struct stat facts;
    struct error err;

    for (int i = 0; i < SETTING_COUNT; i++) {
        char good[64];

        good_value((enum setting_id)i, good, sizeof good);
        assert_true(setting_row((enum setting_id)i)->scope == SETTING_SCOPE_PERSON ||
                    settings_save(place->file, (enum setting_id)i, good, &err));
    }
    assert_int_equal(stat(place->file, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0600);
    settings_load_file(again, place->file);
    assert_int_equal(settings_warning_count(again), 0);
    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
        bool is_host = setting_row(id)->scope == SETTING_SCOPE_HOST;
        char good[64];

        good_value(id, good, sizeof good);
        assert_in_force(again, id, is_host ? good : setting_row(id)->built_in);
        assert_int_equal(settings_source(again, id), is_host ? SETTING_SAVED : SETTING_BUILT_IN);
    }
    settings_free(again);
}

static void saving_keeps_what_is_not_ours_to_change(void **state)
{
    const struct place *place = *state;
    struct error err;

    write_text(place, "{\"future\":{\"a\":[1,null]},\"port\":80,\"log_level\":\"loud\","
                      "\"notes\":true,\"list_count\":7,\"\xe6\x95\xb0\":\"\\n\"}");
    assert_true(settings_save(place->file, SETTING_LIST_COUNT, NULL, &err));
    /* Another process changed another row in between. */
    write_text(place, "{\"future\":{\"a\":[1,null]},\"port\":80,\"log_level\":\"loud\",\"max_"
                      "pending\":9,\"notes\":true,\"list_count\":7,"
                      "\"\xe6\x95\xb0\":\"\\n\"}");
    assert_true(settings_save(place->file, SETTING_PORT, "81", &err));
    assert_true(settings_save(place->file, SETTING_LIST_COUNT, NULL, &err));
    assert_true(settings_save(place->file, SETTING_PORTAL, "off", &err));
    assert_file(place->file, "{\n  \"future\": {\"a\":[1,null]},\n  \"port\": 81,\n"
                             "  \"log_level\": \"loud\",\n  \"max_pending\": 9,\n"
                             "  \"notes\": true,\n"
                             "  \"\xe6\x95\xb0\": \"\\n\",\n  \"portal\": false\n}\n");
}

static void a_link_stays_a_link(void **state)
{
    const struct place *place = *state;
    char target[128];
    struct stat facts;
    struct error err;

    snprintf(target, sizeof target, "%s/elsewhere.json", place->directory);
    write_bytes(target, "{\"port\":80}", 11);
    assert_int_equal(symlink(target, place->file), 0);
    settings_load_file(place->settings, place->file);
    assert_in_force(place->settings, SETTING_PORT, "80");
    assert_true(settings_save(place->file, SETTING_PORT, "81", &err));
    assert_int_equal(lstat(place->file, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_file(target, "{\n  \"port\": 81\n}\n");
    unlink(target);
    expect_unused_file(place, TEXT_SETTING_FILE_UNREADABLE); /* it leads nowhere */
}

static void saving_that_fails_can_be_tried_again(void **state)
{
    const struct place *place = *state;
    struct error err = { 0 };
    static const char nowhere[] = "/dev/null/settings.json";

    assert_false(settings_save(nowhere, SETTING_PORT, "81", &err));
    assert_int_equal(err.code, ERROR_storage_failed);
    assert_false(settings_save(place->file, SETTING_PORT, "high", &err));
    assert_int_equal(access(place->file, F_OK), -1);
    assert_true(settings_save(place->file, SETTING_PORT, "81", &err));
    assert_file(place->file, "{\n  \"port\": 81\n}\n");
}

static void a_file_that_would_grow_too_long_is_not_written(void **state)
{
    const struct place *place = *state;
    struct text text = { 0 };
    struct error err = { 0 };

    text_add_text(&text, "{\"future\":[0");
    while (text.used < 900000)
        text_add_text(&text, ",0.1");
    text_add_text(&text, "]}");
    write_text(place, text_string(&text));
    assert_false(settings_save(place->file, SETTING_PORT, "81", &err));
    assert_non_null(strstr(err.message, "larger than 1048576 bytes"));
    text_release(&text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(the_file_sets_host_rows_in_their_own_kinds),
        CASE(bad_members_are_warned_of_and_the_others_used),
        CASE(a_file_that_is_no_object_is_left_alone),
        CASE(deep_and_huge_files_are_refused),
        CASE(a_flood_of_bad_members_is_bounded),
        CASE(a_missing_file_is_no_matter),
        CASE(every_host_row_goes_through_the_file),
        CASE(saving_keeps_what_is_not_ours_to_change),
        CASE(a_link_stays_a_link),
        CASE(saving_that_fails_can_be_tried_again),
        CASE(a_file_that_would_grow_too_long_is_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
