/*
 * fuzz_settings.c - any bytes as settings file: no value out of its limits comes into force, what
 * is said about it is clean, and saving into it loses nothing that could be read.
 * Proves: R8.1
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "settings/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static char directory[64], path[96];

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void clean_up(void)
{
    unlink(path);
    rmdir(directory);
}

/* Saving syncs, so memory is used where the system has a directory of it. */
static void prepare(void)
{
    static const char *const places[] = { "/dev/shm", "/tmp" };

    for (size_t i = 0; !*path && i < ARRAY_LEN(places); i++) {
        snprintf(directory, sizeof directory, "%s/fuzz-settings-XXXXXX", places[i]);
        if (mkdtemp(directory))
            snprintf(path, sizeof path, "%s/settings.json", directory);
    }
    require(*path);
    atexit(clean_up);
}

static void check_values(const struct settings *settings)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
        struct setting_value value;
        enum setting_type type = setting_row(id)->type;
        char number[TEXT_INTEGER_BYTES];
        struct error err;

        require(settings_parse(
            id,
            type == SETTING_TYPE_BOOL  ? settings_is_on(settings, id) ? "on" : "off"
            : type < SETTING_TYPE_ENUM ? text_of_integer(settings_integer(settings, id), number)
                                       : settings_text(settings, id),
            &value, &err));
        require(setting_row(id)->scope == SETTING_SCOPE_HOST ||
                settings_source(settings, id) == SETTING_BUILT_IN);
        setting_value_release(&value);
    }
    require(settings_hold_limit_s(settings, "claude-code", false, 0) > 0);
}

static void check_warnings(const struct settings *settings)
{
    require(settings_warning_count(settings) <= SETTINGS_MAX_WARNINGS);
    for (size_t i = 0; i < settings_warning_count(settings); i++) {
        struct text said = { 0 };

        settings_describe_warning(settings, LANGUAGE_EN, settings_warning(settings, i), &said);
        require(said.used > 0 && text_is_utf8(said.bytes, said.used));
        for (size_t c = 0; c < said.used; c++)
            require((unsigned char)said.bytes[c] >= 0x20 && said.bytes[c] != 0x7f);
        text_release(&said);
    }
}

static struct json *read_back(void)
{
    struct text bytes = { 0 };
    struct json *object = NULL;
    struct error err;

    require(os_read_file(path, SETTINGS_FILE_MAX_BYTES, &bytes, &err));
    if (bytes.used)
        json_parse(bytes.bytes, bytes.used, &object, &err);
    text_release(&bytes);
    return object;
}

static void check_saving(void)
{
    struct json *before = read_back(), *after;
    struct error err = { 0 };

    if (!settings_save(path, SETTING_PORT, "81", &err)) {
        require(err.code == ERROR_too_long || json_kind(before) != KIND_OBJECT);
        json_free(before);
        return;
    }
    after = read_back();
    require(json_member_integer(after, "port", 0) == 81);
    for (void *it = before ? json_first(before) : NULL; it; it = json_next(before, it)) {
        if (strcmp(json_key(it), "port") != 0)
            require(json_same(json_member(after, json_key(it)), json_value(it)));
    }
    json_free(before);
    json_free(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct settings *settings = settings_new();
    FILE *file;

    if (!*path)
        prepare();
    file = fopen(path, "w");
    require(file && fwrite(bytes, 1, length, file) == length);
    fclose(file);
    settings_load_file(settings, path);
    check_values(settings);
    check_warnings(settings);
    check_saving();
    settings_free(settings);
    return 0;
}
