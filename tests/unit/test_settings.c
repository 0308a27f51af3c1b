/*
 * test_settings.c - every row of the table, every source of a value, every way a value can be bad.
 * Proves: R8.1, R8.2, R5.7 (first limits)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "settings_fixture.h"

#include "base/json_writer.h"

static void rows_are_complete_and_alike(void **state)
{
    (void)state;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = setting_row((enum setting_id)i);
        enum setting_id id = SETTING_COUNT;
        char variable[80] = "SAYSO_";

        for (size_t c = 0; row->name[c]; c++)
            variable[6 + c] = (char)(row->name[c] == '_' ? '_' : row->name[c] - 'a' + 'A');
        assert_string_equal(row->environment, i == SETTING_LANGUAGE ? "CHOICE_LANG" : variable);
        assert_true(setting_find(row->name, &id));
        assert_int_equal(id, i);
        assert_true(!row->flag || row->scope == SETTING_SCOPE_HOST);
        assert_int_equal(row->type == SETTING_TYPE_ENUM, row->choices != NULL);
        for (int l = 0; l < LANGUAGE_COUNT; l++) {
            assert_true(*i18n_text_in((enum language)l, row->help));
            assert_true(*i18n_text_in((enum language)l, row->label));
        }
        assert_string_not_equal(i18n_text_in(LANGUAGE_EN, row->help),
                                i18n_text_in(LANGUAGE_ZH, row->help));
    }
}

static void built_in_values_are_the_specified_ones(void **state)
{
    static const struct {
        enum setting_id id;
        const char *value;
    } cases[] = {
        { SETTING_INTERFACE, "auto" },
        { SETTING_TIMEOUT_SECONDS, "300" },
        { SETTING_TIMEOUT_ACTION, "none" },
        { SETTING_SINGLE_SUBMIT, "agent" },
        { SETTING_NOTES, "on" },
        { SETTING_SETTINGS_FIRST, "off" },
        { SETTING_LANGUAGE, "auto" },
        { SETTING_DELIVER_AFTER, "5" },
        { SETTING_TYPING_HOLD, "on" },
        { SETTING_CLI_ANSWERS, "any" },
        { SETTING_SINGLE_KEYS, "on" },
        { SETTING_QUIET_HOURS, "" },
        { SETTING_PORTAL, "on" },
        { SETTING_TERMINAL, "on" },
        { SETTING_PORT, "7297" },
        { SETTING_IDLE_EXIT_SECONDS, "60" },
        { SETTING_RETENTION_DAYS, "30" },
        { SETTING_MAX_SESSIONS, "1000" },
        { SETTING_LIST_COUNT, "50" },
        { SETTING_MAX_PENDING, "32" },
        { SETTING_ASKS_PER_MINUTE, "30" },
        { SETTING_TOOLS, "ask" },
        { SETTING_STORE, "" },
        { SETTING_LISTEN_PLAIN, "off" },
        { SETTING_DRAIN_SECONDS, "0" },
        { SETTING_MCP_AUTH, "token" },
        { SETTING_LOG_LEVEL, "info" },
        { SETTING_THEME, "system" },
    };
    const struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_in_force(place->settings, cases[i].id, cases[i].value);
        assert_int_equal(settings_source(place->settings, cases[i].id), SETTING_BUILT_IN);
    }
    assert_int_equal(settings_warning_count(place->settings), 0);
}

static void built_in_and_good_values_survive_print_and_parse(void **state)
{
    (void)state;
    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
        char good[64];
        const char *texts[] = { setting_row(id)->built_in, good };

        good_value(id, good, sizeof good);
        for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
            struct setting_value value;
            struct text printed = { 0 };
            struct error err;

            assert_true(settings_parse(id, texts[t], &value, &err));
            settings_print_value(id, &value, &printed);
            assert_string_equal(text_string(&printed), texts[t]);
            setting_value_release(&value);
            text_release(&printed);
        }
    }
}

static const struct {
    enum setting_id id;
    const char *text;
    const char *printed; /* NULL: refused with `code` */
    enum error_code code;
} parse_cases[] = {
    { SETTING_NOTES, " ON\n", "on", ERROR_NONE },
    { SETTING_NOTES, "False", "off", ERROR_NONE },
    { SETTING_NOTES, "1", "on", ERROR_NONE },
    { SETTING_NOTES, "2", NULL, ERROR_bad_type },
    { SETTING_NOTES, "", NULL, ERROR_bad_type },
    { SETTING_PORT, "0", "0", ERROR_NONE },
    { SETTING_PORT, "65535", "65535", ERROR_NONE },
    { SETTING_PORT, "65536", NULL, ERROR_out_of_range },
    { SETTING_PORT, "-1", NULL, ERROR_out_of_range },
    { SETTING_PORT, "80x", NULL, ERROR_bad_type },
    { SETTING_PORT, "8e3", NULL, ERROR_bad_type },
    { SETTING_PORT, "99999999999999999999", NULL, ERROR_bad_type },
    { SETTING_RETENTION_DAYS, "0", NULL, ERROR_out_of_range },
    { SETTING_RETENTION_DAYS, "3650", "3650", ERROR_NONE },
    { SETTING_RETENTION_DAYS, "3651", NULL, ERROR_out_of_range },
    { SETTING_ASKS_PER_MINUTE, "100000000", "100000000", ERROR_NONE },
    { SETTING_TIMEOUT_SECONDS, "5m", "300", ERROR_NONE },
    { SETTING_TIMEOUT_SECONDS, "2H", "7200", ERROR_NONE },
    { SETTING_TIMEOUT_SECONDS, "30d", "2592000", ERROR_NONE },
    { SETTING_TIMEOUT_SECONDS, "2592000", "2592000", ERROR_NONE },
    { SETTING_TIMEOUT_SECONDS, "2592001", NULL, ERROR_out_of_range },
    { SETTING_TIMEOUT_SECONDS, "31d", NULL, ERROR_out_of_range },
    { SETTING_TIMEOUT_SECONDS, "9223372036854775807d", NULL, ERROR_out_of_range },
    { SETTING_TIMEOUT_SECONDS, "0", NULL, ERROR_out_of_range },
    { SETTING_TIMEOUT_SECONDS, "-9223372036854775808d", NULL, ERROR_out_of_range },
    { SETTING_TIMEOUT_SECONDS, "m", NULL, ERROR_bad_type },
    { SETTING_TIMEOUT_SECONDS, "", NULL, ERROR_bad_type },
    { SETTING_DELIVER_AFTER, "0", "0", ERROR_NONE },
    { SETTING_DELIVER_AFTER, "1m", "60", ERROR_NONE },
    { SETTING_DELIVER_AFTER, "61", NULL, ERROR_out_of_range },
    { SETTING_INTERFACE, "Terminal ", "terminal", ERROR_NONE },
    { SETTING_INTERFACE, "term", NULL, ERROR_bad_enum },
    { SETTING_INTERFACE, "auto|web", NULL, ERROR_bad_enum },
    { SETTING_INTERFACE, "", NULL, ERROR_bad_enum },
    { SETTING_STORE, "postgres://h/d", "postgres://h/d", ERROR_NONE },
    { SETTING_STORE, "", "", ERROR_NONE },
    { SETTING_STORE, "postgresql://h/d", "postgresql://h/d", ERROR_NONE },
    { SETTING_STORE, "mysql://h/d", NULL, ERROR_bad_format },
    { SETTING_STORE, " ", NULL, ERROR_bad_format },
    { SETTING_TOOLS, "ask,elicit_form", "ask,elicit_form", ERROR_NONE },
    { SETTING_TOOLS, "everything", NULL, ERROR_bad_format },
    { SETTING_LISTEN, "0.0.0.0:7443", "0.0.0.0:7443", ERROR_NONE },
    { SETTING_LISTEN, "[::]:0", "[::]:0", ERROR_NONE },
    { SETTING_LISTEN, "", "", ERROR_NONE },
    { SETTING_LISTEN, "0.0.0.0", NULL, ERROR_bad_format },
    { SETTING_LISTEN, "localhost:7443", NULL, ERROR_bad_format },
    { SETTING_LISTEN, "::1:7443", NULL, ERROR_bad_format },
    { SETTING_LISTEN, "[127.0.0.1]:7443", NULL, ERROR_bad_format },
    { SETTING_LISTEN, "127.0.0.1:65536", NULL, ERROR_bad_format },
    { SETTING_TLS_KEY, "数据", "数据", ERROR_NONE },
    { SETTING_TLS_KEY, "a\x1b[2J", NULL, ERROR_bad_format },
    { SETTING_TLS_KEY, "a\xc2\x9b", NULL, ERROR_bad_format },
    { SETTING_TLS_KEY, "a\xff", NULL, ERROR_bad_unicode },
    { SETTING_QUIET_HOURS, "00:00-23:59", "00:00-23:59", ERROR_NONE },
    { SETTING_QUIET_HOURS, " ", "", ERROR_NONE },
    { SETTING_QUIET_HOURS, "24:00-07:00", NULL, ERROR_bad_format },
    { SETTING_QUIET_HOURS, "22:60-07:00", NULL, ERROR_bad_format },
    { SETTING_QUIET_HOURS, "22:00-07:0", NULL, ERROR_bad_format },
    { SETTING_QUIET_HOURS, "22:00 07:00", NULL, ERROR_bad_format },
    { SETTING_QUIET_HOURS, "2a:00-07:00", NULL, ERROR_bad_format },
    { SETTING_HOLD_LIMITS, "{ \"*\" : 50 }", "{\"*\":50}", ERROR_NONE },
    { SETTING_HOLD_LIMITS, "{}", "{}", ERROR_NONE },
    { SETTING_HOLD_LIMITS, "", NULL, ERROR_bad_format },
    { SETTING_HOLD_LIMITS, "{\"*\":", NULL, ERROR_bad_format },
    { SETTING_HOLD_LIMITS, "{\"*\":0}", NULL, ERROR_out_of_range },
    { SETTING_HOLD_LIMITS, "{\"*\":86401}", NULL, ERROR_out_of_range },
    { SETTING_HOLD_LIMITS, "{\"*\":\"5\"}", NULL, ERROR_bad_type },
    { SETTING_HOLD_LIMITS, "{\"*\":1.5}", NULL, ERROR_bad_type },
    { SETTING_HOLD_LIMITS, "{\"\":5}", NULL, ERROR_bad_format },
    { SETTING_HOLD_LIMITS, "5", NULL, ERROR_bad_type },
};

static void values_are_read_within_their_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parse_cases); i++) {
        enum setting_id id = parse_cases[i].id;
        struct setting_value value = { 0 };
        struct text printed = { 0 };
        struct error err = { 0 };
        bool ok = settings_parse(id, parse_cases[i].text, &value, &err);

        if (ok)
            settings_print_value(id, &value, &printed);
        if (parse_cases[i].printed)
            assert_string_equal(text_string(&printed), parse_cases[i].printed);
        if (ok != (parse_cases[i].printed != NULL) || err.code != parse_cases[i].code)
            fail_msg("%s = %s: %s", setting_row(id)->name, parse_cases[i].text,
                     error_name(err.code));
        if (!ok) {
            assert_string_equal(err.path + 1, setting_row(id)->name);
            assert_non_null(strstr(err.message, setting_row(id)->name));
            assert_null(strchr(err.message, '\x1b'));
        }
        setting_value_release(&value);
        text_release(&printed);
    }
}

static void texts_beyond_their_length_are_refused(void **state)
{
    static const enum setting_id ids[] = {
        SETTING_STORE,           SETTING_HOLD_LIMITS, SETTING_PORT,
        SETTING_INTERFACE,       SETTING_QUIET_HOURS, SETTING_NOTES,
        SETTING_TIMEOUT_SECONDS, SETTING_LISTEN
    };
    char *huge = mem_new(1000001);

    (void)state;
    memset(huge, '1', 1000000);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct setting_value value;
        struct error err;

        assert_false(settings_parse(ids[i], huge, &value, &err));
    }
    huge[4096] = '\0';
    assert_true(settings_put_saved(((struct place *)*state)->settings, "tls_key", huge));
    huge[4096] = '1';
    huge[4097] = '\0';
    assert_false(settings_put_saved(((struct place *)*state)->settings, "tls_key", huge));
    free(huge);
}

static void messages_name_the_remedy_in_both_languages(void **state)
{
    struct setting_value value;
    struct text chinese = { 0 };
    struct error err;

    (void)state;
    assert_false(settings_parse(SETTING_RETENTION_DAYS, "x", &value, &err));
    assert_string_equal(err.message, "retention_days must be a whole number from 1 to 3650.");
    assert_false(settings_parse(SETTING_CLI_ANSWERS, "x", &value, &err));
    assert_string_equal(err.message, "cli_answers must be one of: any, tty, off.");
    error_write_in(&err, LANGUAGE_ZH, &chinese);
    assert_string_equal(text_string(&chinese), "cli_answers 可设为以下之一：any, tty, off。");
    text_release(&chinese);
}

static void every_row_reads_its_environment_variable(void **state)
{
    const struct place *place = *state;

    for (int i = 0; i < SETTING_COUNT; i++) {
        char good[64];

        good_value((enum setting_id)i, good, sizeof good);
        setenv(setting_row((enum setting_id)i)->environment, good, 1);
    }
    settings_load_environment(place->settings);
    assert_int_equal(settings_warning_count(place->settings), 0);
    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
        char good[64];

        good_value(id, good, sizeof good);
        assert_in_force(place->settings, id, good);
        assert_int_equal(settings_source(place->settings, id), SETTING_ENVIRONMENT);
    }
}

static void a_bad_variable_is_a_warning_and_not_used(void **state)
{
    const struct place *place = *state;

    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = setting_row((enum setting_id)i);

        setenv(row->environment, samples[row->type].bad, 1);
    }
    settings_load_environment(place->settings);
    settings_load_environment(place->settings); /* again: warned of once */
    assert_int_equal(settings_warning_count(place->settings), SETTING_COUNT);
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = setting_row((enum setting_id)i);

        assert_string_equal(settings_warning(place->settings, (size_t)i)->setting, row->name);
        if (i != SETTING_LANGUAGE)
            assert_in_force(place->settings, (enum setting_id)i, row->built_in);
    }
    assert_warned(place->settings, SETTING_PORT,
                  "port must be a whole number from 0 to 65535. "
                  "The value from SAYSO_PORT is ignored.");
    i18n_use(LANGUAGE_ZH);
    assert_warned(place->settings, SETTING_NOTES,
                  "notes 可设为 on 或 off。来自SAYSO_NOTES 的值已忽略。");
}

static void an_empty_variable_counts_as_unset(void **state)
{
    const struct place *place = *state;

    for (int i = 0; i < SETTING_COUNT; i++)
        setenv(setting_row((enum setting_id)i)->environment, "", 1);
    settings_load_environment(place->settings);
    assert_int_equal(settings_warning_count(place->settings), 0);
    for (int i = 0; i < SETTING_COUNT; i++)
        assert_int_equal(settings_source(place->settings, (enum setting_id)i), SETTING_BUILT_IN);
}

static void the_language_is_saved_then_variable_then_locale(void **state)
{
    static const struct {
        const char *saved, *variable, *lc_all, *lang;
        enum language language;
        size_t warnings;
    } cases[] = {
        { NULL, NULL, NULL, NULL, LANGUAGE_EN, 0 },
        { NULL, NULL, NULL, "zh_CN.UTF-8", LANGUAGE_ZH, 0 },
        { NULL, NULL, "C", "zh_CN.UTF-8", LANGUAGE_EN, 0 },
        { NULL, NULL, "", "zh_CN.UTF-8", LANGUAGE_ZH, 0 },
        { NULL, NULL, NULL, "fr_FR.UTF-8", LANGUAGE_EN, 0 },
        { NULL, "en", NULL, "zh_CN.UTF-8", LANGUAGE_EN, 0 },
        { NULL, " ZH ", NULL, "C", LANGUAGE_ZH, 0 },
        { NULL, "fr", NULL, "zh_CN.UTF-8", LANGUAGE_EN, 1 },
        { "zh", "en", NULL, "C", LANGUAGE_ZH, 0 },
        { "zh", "fr", NULL, "C", LANGUAGE_ZH, 1 },
        { "auto", "en", NULL, "zh_CN.UTF-8", LANGUAGE_ZH, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settings *settings = settings_new();

        cases[i].variable ? setenv("CHOICE_LANG", cases[i].variable, 1) : unsetenv("CHOICE_LANG");
        cases[i].lc_all ? setenv("LC_ALL", cases[i].lc_all, 1) : unsetenv("LC_ALL");
        cases[i].lang ? setenv("LANG", cases[i].lang, 1) : unsetenv("LANG");
        settings_load_environment(settings);
        if (cases[i].saved)
            assert_true(settings_put_saved(settings, "language", cases[i].saved));
        assert_int_equal(settings_language(settings), cases[i].language);
        assert_int_equal(settings_warning_count(settings), cases[i].warnings);
        settings_free(settings);
    }
    (void)state;
}

static void the_strongest_source_wins(void **state)
{
    const struct place *place = *state;
    struct settings *settings = place->settings;
    struct error err;

    setenv("SAYSO_PORT", "1001", 1);
    settings_load_environment(settings);
    assert_int_equal(settings_integer(settings, SETTING_PORT), 1001);
    write_text(place, "{\"port\": 1002}");
    settings_load_file(settings, place->file);
    assert_int_equal(settings_integer(settings, SETTING_PORT), 1002);
    assert_int_equal(settings_source(settings, SETTING_PORT), SETTING_SAVED);
    assert_false(settings_put_flag(settings, SETTING_PORT, "high", &err));
    assert_int_equal(settings_integer(settings, SETTING_PORT), 1002);
    assert_true(settings_put_flag(settings, SETTING_PORT, "1003", &err));
    assert_true(settings_put_flag(settings, SETTING_PORT, "1004", &err));
    assert_true(settings_put_saved(settings, "port", "1005"));
    assert_int_equal(settings_integer(settings, SETTING_PORT), 1004);
    assert_int_equal(settings_source(settings, SETTING_PORT), SETTING_FLAG);
    assert_int_equal(settings_warning_count(settings), 0);
}

static void removing_and_bad_saving_fall_back(void **state)
{
    struct settings *settings = ((struct place *)*state)->settings;

    setenv("SAYSO_NOTES", "off", 1);
    settings_load_environment(settings);
    assert_true(settings_put_saved(settings, "notes", "on"));
    assert_true(settings_is_on(settings, SETTING_NOTES));
    assert_false(settings_put_saved(settings, "notes", "perhaps"));
    assert_true(settings_is_on(settings, SETTING_NOTES));
    assert_warned(settings, 0, "notes must be on or off. The saved value is ignored.");
    assert_true(settings_put_saved(settings, "notes", NULL));
    assert_false(settings_is_on(settings, SETTING_NOTES));
    assert_false(settings_put_saved(settings, "nots", "on"));
    assert_warned(settings, 1,
                  "Unknown setting: nots. Run 'sayso settings list' to see all settings.");
    assert_false(settings_put_saved(settings, "\x1b[2J", NULL));
    assert_string_equal(settings_warning(settings, 2)->setting, "");
}

static void quiet_hours_go_over_midnight(void **state)
{
    static const struct {
        const char *period;
        int minute;
        bool is_quiet;
    } cases[] = {
        { "", 0, false },
        { "22:00-07:00", 22 * 60 - 1, false },
        { "22:00-07:00", 22 * 60, true },
        { "22:00-07:00", 0, true },
        { "22:00-07:00", 7 * 60 - 1, true },
        { "22:00-07:00", 7 * 60, false },
        { "12:30-13:00", 12 * 60 + 30, true },
        { "12:30-13:00", 13 * 60, false },
        { "08:00-08:00", 8 * 60, false },
    };
    struct settings *settings = ((struct place *)*state)->settings;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(settings_put_saved(settings, "quiet_hours", cases[i].period));
        assert_int_equal(settings_is_quiet(settings, cases[i].minute), cases[i].is_quiet);
    }
    assert_true(settings_put_saved(settings, "do_not_disturb", "on"));
    assert_true(settings_is_quiet(settings, 720));
}

static void interface_and_hold_limits_speak_for_themselves(void **state)
{
    struct settings *settings = ((struct place *)*state)->settings;

    assert_int_equal(settings_interface(settings), INTERFACE_NONE);
    assert_true(settings_put_saved(settings, "interface", "auto"));
    assert_int_equal(settings_interface(settings), INTERFACE_AUTO);
    assert_true(settings_put_saved(settings, "interface", "client"));
    assert_int_equal(settings_interface(settings), INTERFACE_CLIENT);
    assert_int_equal(settings_hold_limit_s(settings, "claude-code", false, 0), 110);
    assert_int_equal(settings_hold_limit_s(settings, "\xff unheard of", false, 0), 50);
    assert_true(settings_put_saved(settings, "hold_limits", "{\"*\":20}"));
    assert_int_equal(settings_hold_limit_s(settings, "claude-code", false, 0), 20);
    assert_true(settings_put_saved(settings, "hold_limits", "{\"codex*\":3500}"));
    assert_int_equal(settings_hold_limit_s(settings, "codex-mcp-client", false, 0), 3500);
    /* as measured */
    assert_int_equal(settings_hold_limit_s(settings, "claude-code", false, 0), 110);
}

static void values_are_written_as_json_of_their_kind(void **state)
{
    struct settings *settings = ((struct place *)*state)->settings;
    static const enum setting_id ids[] = { SETTING_NOTES, SETTING_PORT, SETTING_THEME,
                                           SETTING_STORE, SETTING_HOLD_LIMITS };
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    assert_true(settings_put_saved(settings, "hold_limits", "{\"*\":9}"));
    json_write_object(&writer, NULL);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        settings_write(settings, ids[i], &writer, setting_row(ids[i])->name);
    json_write_end_object(&writer);
    assert_string_equal(text_string(&out),
                        "{\"notes\":true,\"port\":7297,\"theme\":\"system\",\"store\":\"\","
                        "\"hold_limits\":{\"*\":9}}");
    text_release(&out);
}

/* The eleven clients that were measured, by the names they send in clientInfo, and after how long
 * without a word from us they give up or move the call away: all are answered before (R5.7). */
static void every_measured_client_is_answered_in_time(void **state)
{
    static const struct {
        const char *client, *name;
        int64_t cut_off_s, at_least_s;
    } clients[] = {
        { "Codex CLI", "codex-mcp-client", 300, 270 },
        { "Claude Code, TUI", "claude-code", 120, 100 },
        { "Copilot CLI", "copilot-cli", 180, 160 },
        { "Copilot, another surface", "github-copilot-developer", 180, 160 },
        { "Gemini CLI", "gemini-cli-mcp-client", 600, 540 },
        { "Gemini CLI, with the server's name", "gemini-cli-mcp-client-sayso", 600, 540 },
        { "Qwen Code", "qwen-code-mcp-client", 300, 270 },
        { "Qwen Code, with the server's name", "qwen-cli-mcp-client-sayso", 300, 270 },
        { "opencode", "opencode", 60, 45 },
        { "Continue CLI", "continue-cli-client", 60, 45 },
        { "Cline CLI", "Cline", 60, 45 },
        { "Inspector", "inspector-cli", 60, 45 },
        { "SDK v1 client", "whatever its user says", 60, 45 },
        { "SDK v2 client", "", 60, 45 },
    };
    struct settings *settings = ((struct place *)*state)->settings;

    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        int64_t limit_s = settings_hold_limit_s(settings, clients[i].name, false, 0);

        /* two seconds more are given to a hub that hangs */
        if (limit_s + 2 >= clients[i].cut_off_s || limit_s < clients[i].at_least_s)
            fail_msg("%s is held for %d s", clients[i].client, (int)limit_s);
    }
}

/* 2026-07-28 is for clients that can withdraw its forms, unless the setting says for whom (R4.2).
 */
static void the_newest_revision_is_not_for_everybody(void **state)
{
    static const struct {
        const char *action, *client;
        bool is_offered;
    } cases[] = {
        { "auto", "claude-code", false }, { "auto", "copilot-cli", false },
        { "auto", "unknown", true },      { "auto", NULL, true },
        { "on", "claude-code", true },    { "on", NULL, true },
        { "off", "claude-code", false },  { "off", "unknown", false },
    };
    struct settings *settings = ((struct place *)*state)->settings;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(settings_put_saved(settings, "mcp_modern", cases[i].action));
        assert_int_equal(settings_offers_modern(settings, cases[i].client), cases[i].is_offered);
    }
}

/* Progress keeps the calls of some clients open; what is set counts with it and without. */
static void progress_extends_what_was_measured(void **state)
{
    static const struct {
        const char *client;
        int64_t silent_s, told_s;
    } cases[] = {
        { "opencode", 50, 630 },
        { "qwen-code-mcp-client", 280, 630 },
        { "copilot-cli", 170, 630 },
        { "codex-mcp-client", 280, 280 },
        { "gemini-cli-mcp-client", 580, 580 },
        { "claude-code", 110, 110 }, /* it moves the call to the background all the same */
        { "unknown", 50, 50 },
    };
    struct settings *settings = ((struct place *)*state)->settings;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(settings_hold_limit_s(settings, cases[i].client, false, 0),
                         cases[i].silent_s);
        assert_int_equal(settings_hold_limit_s(settings, cases[i].client, true, 0),
                         cases[i].told_s);
    }
    assert_true(settings_put_saved(settings, "hold_limits", "{\"opencode\":20}"));
    assert_int_equal(settings_hold_limit_s(settings, "opencode", true, 0), 20);
    assert_int_equal(settings_hold_limit_s(settings, "copilot-cli", true, 0), 630);
}

static void the_longest_beginning_counts(void **state)
{
    static const struct {
        const char *name;
        int64_t limit_s;
    } cases[] = {
        { "ab", 1 },  { "abc", 2 }, { "abcd", 3 }, { "abce", 2 }, { "a", 5 },
        { "abd", 4 }, { "", 5 },    { "*", 5 },    { "ab*", 4 },  { "\xff", 5 },
    };
    struct settings *settings = ((struct place *)*state)->settings;

    assert_true(settings_put_saved(settings, "hold_limits",
                                   "{\"ab*\":4,\"*\":5,\"ab\":1,\"abc*\":2,\"abcd\":3}"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(settings_hold_limit_s(settings, cases[i].name, false, 0),
                         cases[i].limit_s);
    assert_true(settings_put_saved(settings, "hold_limits", "{\"ab*\":4}"));
    assert_int_equal(settings_hold_limit_s(settings, "x", false, 0), 50);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(rows_are_complete_and_alike),
        CASE(built_in_values_are_the_specified_ones),
        CASE(built_in_and_good_values_survive_print_and_parse),
        CASE(values_are_read_within_their_limits),
        CASE(texts_beyond_their_length_are_refused),
        CASE(messages_name_the_remedy_in_both_languages),
        CASE(every_row_reads_its_environment_variable),
        CASE(a_bad_variable_is_a_warning_and_not_used),
        CASE(an_empty_variable_counts_as_unset),
        CASE(the_language_is_saved_then_variable_then_locale),
        CASE(the_strongest_source_wins),
        CASE(removing_and_bad_saving_fall_back),
        CASE(quiet_hours_go_over_midnight),
        CASE(interface_and_hold_limits_speak_for_themselves),
        CASE(values_are_written_as_json_of_their_kind),
        CASE(every_measured_client_is_answered_in_time),
        CASE(the_newest_revision_is_not_for_everybody),
        CASE(progress_extends_what_was_measured),
        CASE(the_longest_beginning_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
