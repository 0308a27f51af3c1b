/*
 * test_settings_faults.c - every setting, with every way in which it can't be read: a strict one is
 * a problem that names where and how to fix it, any other a warning; no place of the file where it
 * may break off is taken for a shorter one.
 *
 * Proves: R8.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "settings_fixture.h"

static bool is_strict(enum setting_id id)
{
    return setting_row(id)->strictness == SETTING_STRICT;
}

/* What R8 names. For a new setting it must be decided; tests/settings_effects.json has the list. */
static void the_rows_of_store_listen_authentication_and_gate_are_strict(void **state)
{
    static const enum setting_id named[] = { SETTING_STORE,      SETTING_LISTEN,
                                             SETTING_MCP_AUTH,   SETTING_GATE_COMMANDS,
                                             SETTING_GATE_WORDS, SETTING_GATE_PATHS,
                                             SETTING_GATE_TOOLS };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        assert_true(is_strict(named[i]));
    for (int id = 0; id < SETTING_COUNT; id++) {
        if (setting_group((enum setting_id)id) == SETTING_GROUP_GATE)
            assert_true(is_strict((enum setting_id)id));
    }
}

static void expect_outcome(const struct settings *settings, enum setting_id id, const char *where,
                           const char *what)
{
    const struct setting_row *row = setting_row(id);
    struct error err = { 0 };
    bool has_problem = settings_problem(settings, &err);

    if (has_problem != is_strict(id))
        fail_msg("%s, %s: %s", row->name, what, has_problem ? err.message : "no problem");
    if (settings_warning_count(settings) != 1)
        fail_msg("%s, %s: %zu warnings", row->name, what, settings_warning_count(settings));
    if (!has_problem)
        return;
    assert_int_equal(err.code, ERROR_unavailable);
    if (!strstr(err.message, row->name) || !strstr(err.message, where) || strchr(err.message, '{'))
        fail_msg("%s, %s: %s", row->name, what, err.message);
}

/* In the third line of the file; the default counts where the program runs all the same. */
static void expect_in_file(const struct place *place, enum setting_id id, const char *value)
{
    struct settings *settings = settings_new();
    struct text text = { 0 }, where = { 0 };

    text_add_format(&text, "{\n  \"drain_seconds\": 7,\n  \"%s\": %s\n}\n", setting_row(id)->name,
                    value);
    write_text(place, text_string(&text));
    settings_load(settings, place->file);
    text_add_format(&where, "line 3 of %s, or run: sayso settings reset %s", place->file,
                    setting_row(id)->name);
    expect_outcome(settings, id, text_string(&where), value);
    assert_in_force(settings, SETTING_DRAIN_SECONDS, id == SETTING_DRAIN_SECONDS ? "0" : "7");
    text_release(&text);
    text_release(&where);
    settings_free(settings);
}

/* A saved value of a person: the hub has to start for it to be repaired, so a strict row gets the
 * value that allows least. */
static void expect_in_store(enum setting_id id, const char *value)
{
    static const char *const min[SETTING_COUNT] = { [SETTING_CLI_ANSWERS] = "off" };
    const struct setting_row *row = setting_row(id);
    struct settings *settings = settings_new();
    struct error err;

    assert_false(settings_put_saved(settings, row->name, value));
    assert_false(settings_problem(settings, &err));
    assert_int_equal(settings_warning_count(settings), 1);
    if (is_strict(id) != (min[id] != NULL))
        fail_msg("%s: a strict row of a person names here what allows least", row->name);
    assert_in_force(settings, id, min[id] ? min[id] : row->built_in);
    settings_free(settings);
}

static char *long_text(size_t length)
{
    char *text = mem_new(length + 3);

    memset(text, 'x', length + 2);
    text[0] = text[length + 1] = '"';
    return text;
}

static void every_saved_row_is_refused_or_warned_of(void **state)
{
    static const char *const kinds[] = { "[true]", "[]", "1.5", "\"a\\u0000b\"", "\"\\u001b[2J\"" };
    static const char *const stores[] = { "\"elsewhere\"",
                                          "\"postgres://\"",
                                          "\"postgresql://\"",
                                          "\"postgres://h/d?sslmode=%zz\"",
                                          "\"postgres://me:a%2@h/d\"",
                                          "\"postgres://h/d%\"",
                                          "\"postgres://h/d%00\"" };
    char *huge = long_text(20000);

    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;

        if (setting_row(id)->scope != SETTING_SCOPE_HOST) {
            expect_in_store(id, samples[setting_row(id)->type].bad);
            expect_in_store(id, huge);
            continue;
        }
        if (id == SETTING_DRAIN_SECONDS)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            expect_in_file(*state, id, kinds[k]);
        expect_in_file(*state, id, huge);
        if (is_strict(id))
            expect_in_file(*state, id, "null");
    }
    for (size_t i = 0; i < ARRAY_LEN(stores); i++)
        expect_in_file(*state, SETTING_STORE, stores[i]);
    expect_in_file(*state, SETTING_LISTEN, "\"7443\"");
    free(huge);
}

static void every_variable_is_refused_or_warned_of(void **state)
{
    char *huge = long_text(20000);

    (void)state;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = setting_row((enum setting_id)i);
        const char *const values[] = { samples[row->type].bad, huge };

        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            struct settings *settings = settings_new();
            char where[96];

            setenv(row->environment, values[k], 1);
            settings_load(settings, NULL);
            snprintf(where, sizeof where, "Fix or unset %s.", row->environment);
            expect_outcome(settings, (enum setting_id)i, where, values[k]);
            settings_free(settings);
        }
        unsetenv(row->environment);
    }
    free(huge);
}

static void every_flag_is_refused_and_what_was_active_stays(void **state)
{
    const struct place *place = *state;

    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting_row *row = setting_row((enum setting_id)i);
        struct error err = { 0 };

        if (!row->flag)
            continue;
        assert_false(
            settings_put_flag(place->settings, (enum setting_id)i, samples[row->type].bad, &err));
        assert_non_null(strstr(err.message, row->name));
        assert_in_force(place->settings, (enum setting_id)i, row->built_in);
    }
}

static void a_missing_row_is_what_is_built_in(void **state)
{
    const struct place *place = *state;
    struct error err;

    write_text(place, "{}");
    settings_load(place->settings, place->file);
    assert_false(settings_problem(place->settings, &err));
    for (int id = 0; id < SETTING_COUNT; id++)
        assert_in_force(place->settings, (enum setting_id)id,
                        setting_row((enum setting_id)id)->built_in);
    write_text(place, "{\"compat\":null,\"list_count\":null}"); /* of a row that is not strict */
    settings_load(place->settings, place->file);
    assert_false(settings_problem(place->settings, &err));
}

static void a_stronger_source_makes_a_bad_value_harmless_and_a_weaker_does_not(void **state)
{
    const struct place *place = *state;
    struct settings *settings = settings_new();
    struct error err;

    setenv("SAYSO_MCP_AUTH", "purple", 1);
    write_text(place, "{\"mcp_auth\":\"token\"}");
    settings_load(place->settings, place->file);
    assert_false(settings_problem(place->settings, &err));
    setenv("SAYSO_MCP_AUTH", "none", 1); /* what is saved was meant to be stronger */
    write_text(place, "{\"mcp_auth\":\"purple\"}");
    settings_load(settings, place->file);
    assert_true(settings_problem(settings, &err));
    assert_true(settings_put_flag(settings, SETTING_MCP_AUTH, "token", &err));
    assert_false(settings_problem(settings, &err));
    settings_free(settings);
}

static void what_was_read_before_stays_when_the_file_breaks(void **state)
{
    const struct place *place = *state;
    struct error err;

    write_text(place, "{\"mcp_auth\":\"none\",\"gate_words\":\"staging\"}");
    settings_load(place->settings, place->file);
    write_text(place, "{\"mcp_auth\":7,\"gate_words\":[]}");
    settings_load(place->settings, place->file);
    assert_false(settings_problem(place->settings, &err));
    write_text(place, "{\"mcp_auth\"");
    settings_load(place->settings, place->file);
    assert_true(settings_problem(place->settings, &err));
    assert_in_force(place->settings, SETTING_MCP_AUTH, "none");
    assert_in_force(place->settings, SETTING_GATE_WORDS, "staging");
}

static const char whole[] = "{\n  \"store\": \"postgres://host/database\",\n"
                            "  \"future\": { \"a\": [1, null, \"\\u00e9\"] },\n"
                            "  \"gate_words\": \"\xe6\x95\xb0\",\n  \"port\": 80\n}";

static size_t lines_of(const char *bytes, size_t length)
{
    size_t lines = 1;

    for (size_t i = 0; i < length; i++)
        lines += bytes[i] == '\n';
    return lines;
}

static void half_a_file_is_never_a_shorter_one(void **state)
{
    const struct place *place = *state;

    for (size_t length = 0; length < sizeof whole - 1; length++) {
        struct settings *settings = settings_new();
        struct error err = { 0 };
        char line[24];

        write_bytes(place->file, whole, length);
        settings_load(settings, place->file);
        snprintf(line, sizeof line, "Line %zu of ", lines_of(whole, length));
        if (!settings_problem(settings, &err) || !strstr(err.message, place->file) ||
            !strstr(err.message, "Fix or delete the file"))
            fail_msg("%zu bytes: %s", length, err.message);
        if (whole[length] != '\n' && !strstr(err.message, line))
            fail_msg("%zu bytes, %s: %s", length, line, err.message);
        assert_in_force(settings, SETTING_STORE, "");
        settings_free(settings);
    }
    write_text(place, whole);
    settings_load(place->settings, place->file);
    assert_int_equal(settings_warning_count(place->settings), 1); /* of what is unknown */
    assert_in_force(place->settings, SETTING_STORE, "postgres://host/database");
}

static void a_way_that_leads_nowhere_is_not_a_file_never_made(void **state)
{
    static const struct {
        const char *leads_to; /* NULL: a file */
        const char *rest;
        bool is_problem;
    } cases[] = {
        { "nowhere", "settings.json", true }, { "nowhere", "a/b/settings.json", true },
        { "way", "settings.json", true }, /* to itself */
        { NULL, "settings.json", true },      { NULL, "a/settings.json", true },
        { ".", "none.json", false },          { ".", "a/b/none.json", false },
    };
    const struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settings *settings = settings_new();
        struct error err = { 0 };
        char way[96], file[128];

        snprintf(way, sizeof way, "%s/way", place->directory);
        snprintf(file, sizeof file, "%s/%s", way, cases[i].rest);
        if (cases[i].leads_to)
            assert_int_equal(symlink(cases[i].leads_to, way), 0);
        else
            write_bytes(way, "{}", 2);
        settings_load(settings, file);
        if (settings_problem(settings, &err) != cases[i].is_problem)
            fail_msg("%s, %s: %s", cases[i].leads_to, cases[i].rest, err.message);
        if (cases[i].is_problem) {
            assert_non_null(strstr(err.message, file));
            assert_false(settings_save(file, SETTING_PORT, "8000", &err));
        }
        settings_free(settings);
        assert_int_equal(unlink(way), 0);
    }
}

static void the_line_is_that_of_the_mistake(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "{\n  \"port\": 80,\n}\n", "Line 3 of " },
        { "{\n\n  \"port\": 80,\n  'store': 1\n}\n", "Line 4 of " },
        { "{\n  \"port\": 80,\n  \"notes\": true,\n  \"port\": 81\n,\"a\":1}", "Line 4 of " },
        { "{\n  \"port\": 80\n}\n}\n", "Line 4 of " },
        { "{\n  \"store\": \"\xff\"\n}\n", "Line 2 of " },
        { "{\"hold_limits\":{\"store\":\n7},\n\"a\":\"\\n\\n\",\n\"store\":\n7}", "line 4 of " },
        { "{\n\"\\u0061\":1,\n\"stor\\u0065\":7}", "line 3 of " },
    };
    const struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct settings *settings = settings_new();
        struct error err = { 0 };

        write_text(place, cases[i].text);
        settings_load(settings, place->file);
        if (!settings_problem(settings, &err) || !strstr(err.message, cases[i].said))
            fail_msg("%s: %s", cases[i].text, err.message);
        settings_free(settings);
    }
}

static void a_flood_of_warnings_hides_no_problem(void **state)
{
    const struct place *place = *state;
    struct text text = { 0 };
    struct error err = { 0 };

    text_add_text(&text, "{\n");
    for (int i = 0; i < 200; i++)
        text_add_format(&text, "\"unknown_%d\":%d,\n", i, i);
    text_add_text(&text, "\"store\":7}");
    write_text(place, text_string(&text));
    text_release(&text);
    settings_load(place->settings, place->file);
    assert_int_equal(settings_warning_count(place->settings), SETTINGS_MAX_WARNINGS);
    assert_true(settings_problem(place->settings, &err));
    assert_non_null(strstr(err.message, "line 202 of "));
}

static void problems_are_said_in_the_language_of_the_reader(void **state)
{
    static const char *const files[] = { "{,}", "{\"store\":7}", "{\"mcp_auth\":7}" };
    const struct place *place = *state;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct settings *settings = settings_new();
        struct text said = { 0 }, directly = { 0 };
        struct error err;

        write_text(place, files[i]);
        settings_load(settings, place->file);
        assert_true(settings_problem(settings, &err));
        assert_true(error_write_in(&err, LANGUAGE_ZH, &said));
        settings_describe_warning(settings, LANGUAGE_ZH, settings_warning(settings, 0), &directly);
        assert_string_equal(text_string(&said), text_string(&directly));
        text_release(&said);
        text_release(&directly);
        settings_free(settings);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(the_rows_of_store_listen_authentication_and_gate_are_strict),
        CASE(every_saved_row_is_refused_or_warned_of),
        CASE(every_variable_is_refused_or_warned_of),
        CASE(every_flag_is_refused_and_what_was_active_stays),
        CASE(a_missing_row_is_what_is_built_in),
        CASE(a_stronger_source_makes_a_bad_value_harmless_and_a_weaker_does_not),
        CASE(what_was_read_before_stays_when_the_file_breaks),
        CASE(half_a_file_is_never_a_shorter_one),
        CASE(a_way_that_leads_nowhere_is_not_a_file_never_made),
        CASE(the_line_is_that_of_the_mistake),
        CASE(a_flood_of_warnings_hides_no_problem),
        CASE(problems_are_said_in_the_language_of_the_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
