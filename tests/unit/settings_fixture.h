/*
 * settings_fixture.h - a directory of its own and fresh settings for each test about settings.
 * To be included behind cmocka's four headers.
 */
#ifndef TESTS_SETTINGS_FIXTURE_H
#define TESTS_SETTINGS_FIXTURE_H
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "settings/settings.h"

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct place {
    char directory[64], file[96];
    struct settings *settings;
};

static inline int set_up(void **state)
{
    struct place *place = mem_new(sizeof *place);

    for (int id = 0; id < SETTING_COUNT; id++)
        unsetenv(setting_row((enum setting_id)id)->environment);
    unsetenv("LC_ALL");
    unsetenv("LC_MESSAGES");
    unsetenv("LANG");
    i18n_use(LANGUAGE_EN);
    snprintf(place->directory, sizeof place->directory, "/tmp/sayso-settings-XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    snprintf(place->file, sizeof place->file, "%s/settings.json", place->directory);
    place->settings = settings_new();
    *state = place;
    return 0;
}

static inline int tear_down(void **state)
{
    struct place *place = *state;

    settings_free(place->settings);
    unlink(place->file);
    rmdir(place->file);
    assert_int_equal(rmdir(place->directory), 0);
    free(place);
    return 0;
}

static inline void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const struct place *place, const char *text)
{
    write_bytes(place->file, text, strlen(text));
}

static inline void assert_file(const char *path, const char *wanted)
{
    struct text bytes = { 0 };
    struct error err;

    assert_true(os_read_file(path, SETTINGS_FILE_MAX_BYTES, &bytes, &err));
    assert_string_equal(text_string(&bytes), wanted);
    text_release(&bytes);
}

static inline void assert_in_force(const struct settings *settings, enum setting_id id,
                                   const char *wanted)
{
    enum setting_type type = setting_row(id)->type;
    char number[TEXT_INTEGER_BYTES];

    if (type == SETTING_TYPE_BOOL)
        assert_string_equal(settings_is_on(settings, id) ? "on" : "off", wanted);
    else if (type < SETTING_TYPE_ENUM)
        assert_string_equal(text_of_integer(settings_integer(settings, id), number), wanted);
    else
        assert_string_equal(settings_text(settings, id), wanted);
}

static inline void assert_warned(const struct settings *settings, size_t index, const char *wanted)
{
    struct text text = { 0 };

    assert_true(index < settings_warning_count(settings));
    settings_describe_warning(settings, i18n_language(), settings_warning(settings, index), &text);
    assert_string_equal(text_string(&text), wanted);
    text_release(&text);
}

/* One good and one bad value a type; both differ from what is built in. */
static const struct {
    const char *good, *bad;
} samples[] = {
    [SETTING_TYPE_BOOL] = { NULL, "perhaps" },
    [SETTING_TYPE_INTEGER] = { "77", "seven" },
    [SETTING_TYPE_SECONDS] = { "7", "7 weeks" },
    [SETTING_TYPE_ENUM] = { NULL, "purple" },
    [SETTING_TYPE_TEXT] = { "words", "two\nlines" },
    [SETTING_TYPE_PERIOD] = { "22:00-07:00", "late" },
    [SETTING_TYPE_LIMITS] = { "{\"x\":9}", "[]" },
};

static inline void good_value(enum setting_id id, char *out, size_t size)
{
    const struct setting_row *row = setting_row(id);

    if (id == SETTING_STORE)
        snprintf(out, size, "postgres://host/database");
    else if (id == SETTING_LISTEN)
        snprintf(out, size, "[::1]:7443");
    else if (id == SETTING_TOOLS)
        snprintf(out, size, "all");
    else if (row->type == SETTING_TYPE_BOOL)
        snprintf(out, size, "%s", strcmp(row->built_in, "on") == 0 ? "off" : "on");
    else if (row->type == SETTING_TYPE_ENUM)
        snprintf(out, size, "%s", strrchr(row->choices, '|') + 1);
    else
        snprintf(out, size, "%s", samples[row->type].good);
}

#endif
