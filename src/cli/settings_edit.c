/*
 * settings_edit.c - see settings_edit.h. Only what differs from what was shown is set, so whatever
 * changed meanwhile elsewhere stays; one bad line, and nothing is set.
 */
#include "cli/settings_edit.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/say.h"
#include "settings/settings.h"
#include "wire/place.h"

enum { EDITOR_WORDS = 16 };

struct edit {
    const struct arguments *arguments;
    struct link *link;
    char path[PLACE_PATH_BYTES + 48];
    char *shown[SETTING_COUNT];  /* what is saved; NULL: nothing */
    char *wanted[SETTING_COUNT]; /* what the page says now */
    bool is_bad;
};

static void add_setting(struct edit *edit, const struct json *setting, enum setting_id id,
                        struct text *out)
{
    const char *source = json_member_text(setting, "source");
    bool is_saved = source && strcmp(source, "saved") == 0;
    char *value = settings_value_text(setting);
    struct text takes = { 0 };

    setting_add_values(id, &takes);
    text_add_format(out, "# %s (%s)\n%s%s = %s\n\n", i18n_text(setting_row(id)->help),
                    text_string(&takes), is_saved ? "" : "# ", setting_row(id)->name, value);
    free(edit->shown[id]);
    edit->shown[id] = is_saved ? mem_text(value) : NULL;
    text_release(&takes);
    free(value);
}

static void add_page(struct edit *edit, const struct json *settings, struct text *out)
{
    text_add_format(out, "# %s\n", i18n_text(TEXT_CLI_EDIT_HEAD));
    for (size_t i = 0; i < json_length(settings); i++) {
        const struct json *setting = json_item(settings, i);
        const char *name = json_member_text(setting, "name");
        enum setting_id id;

        if (!name || !setting_find(name, &id))
            continue;
        if (setting_heading(id))
            text_add_format(out, "\n## %s\n\n", setting_heading(id));
        add_setting(edit, setting, id, out);
    }
}

/* VISUAL and EDITOR may have words behind the name of the program; no shell reads them. */
static bool run_editor(const struct edit *edit)
{
    const char *visual = getenv("VISUAL"), *plain = getenv("EDITOR");
    const char *editor = visual && *visual ? visual : plain && *plain ? plain : "editor";
    char *words = mem_text(editor), *at = NULL;
    const char *argv[EDITOR_WORDS + 2] = { NULL };
    size_t count = 0;
    int status = 0;
    bool has_started;
    pid_t pid;

    for (char *word = strtok_r(words, " \t", &at); word && count < EDITOR_WORDS;
         word = strtok_r(NULL, " \t", &at))
        argv[count++] = word;
    argv[count] = edit->path;
    has_started = count > 0 && posix_spawnp(&pid, argv[0], NULL, NULL,
                                            (char *const *)(uintptr_t)argv, environ) == 0;
    free(words);
    if (!has_started) {
        say_problem(TEXT_CLI_EDIT_NO_EDITOR, "editor", editor);
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        say_problem(TEXT_CLI_EDIT_NO_EDITOR, "editor", editor);
    else
        say_problem(TEXT_CLI_EDIT_FAILED);
    return false;
}

static void complain(struct edit *edit, int64_t number, const char *reason)
{
    char room[TEXT_INTEGER_BYTES];

    edit->is_bad = true;
    say_problem(TEXT_CLI_EDIT_LINE, "line", text_of_integer(number, room), "reason", reason);
}

static char *trimmed(const char *from, size_t length)
{
    while (length && (*from == ' ' || *from == '\t')) {
        from++;
        length--;
    }
    while (length && strchr(" \t\r", from[length - 1]))
        length--;
    return mem_text_n(from, length);
}

static void read_line(struct edit *edit, const char *line, size_t length, int64_t number)
{
    const char *equals = memchr(line, '=', length);
    char *name = trimmed(line, equals ? (size_t)(equals - line) : length), *value;
    struct setting_value parsed = { 0 };
    struct text reason = { 0 };
    struct error err;
    enum setting_id id;

    if (*name == '\0' && !equals) {
        free(name);
        return;
    }
    value = equals ? trimmed(equals + 1, length - (size_t)(equals + 1 - line)) : NULL;
    if (!value) {
        complain(edit, number, i18n_text(TEXT_CLI_EDIT_NO_VALUE));
    } else if (!setting_find(name, &id)) {
        i18n_format(&reason, TEXT_CLI_NO_SUCH_SETTING, "name", name, NULL);
        complain(edit, number, text_string(&reason));
    } else if (edit->shown[id] && strcmp(edit->shown[id], value) == 0) {
        free(edit->wanted[id]); /* as it was, also where not all of it was shown */
        edit->wanted[id] = mem_text(value);
    } else if (!settings_parse(id, value, &parsed, &err)) {
        complain(edit, number, err.message);
    } else {
        struct text printed = { 0 };

        settings_print_value(id, &parsed, &printed);
        free(edit->wanted[id]);
        edit->wanted[id] = text_take(&printed);
    }
    setting_value_release(&parsed);
    text_release(&reason);
    free(name);
    free(value);
}

static void read_page(struct edit *edit, const struct text *page)
{
    const char *at = text_string(page);

    for (int64_t number = 1; *at; number++) {
        size_t length = strcspn(at, "\n");

        if (at[strspn(at, " \t")] != '#')
            read_line(edit, at, length, number);
        at += length + (at[length] == '\n');
    }
}

static bool set_one(const struct edit *edit, enum setting_id id, struct json_writer *changed)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    struct wire_message reply = { 0 };
    char *text;
    bool ok;

    json_write_object(&writer, NULL);
    json_write_text(&writer, "name", setting_row(id)->name);
    if (edit->wanted[id])
        json_write_text(&writer, "value", edit->wanted[id]);
    json_write_end_object(&writer);
    ok = call_hub(edit->arguments, edit->link, "settings/set", text_string(&params), &reply);
    if (ok && edit->arguments->is_json) {
        text = json_encode(reply.result);
        json_write_raw(changed, NULL, text);
        free(text);
    } else if (ok) {
        text = settings_value_text(reply.result);
        say_result(TEXT_CLI_SETTING_SET, "name", setting_row(id)->name, "value", text);
        free(text);
    }
    wire_release(&reply);
    text_release(&params);
    return ok;
}

static bool set_changes(const struct edit *edit)
{
    struct text changed = { 0 };
    struct json_writer writer = json_writer_to(&changed);
    size_t count = 0;
    bool ok = true;

    json_write_list(&writer, NULL);
    for (int id = 0; ok && id < SETTING_COUNT; id++) {
        const char *before = edit->shown[id], *now = edit->wanted[id];

        if (before ? now && strcmp(before, now) == 0 : !now)
            continue;
        ok = set_one(edit, (enum setting_id)id, &writer);
        count++;
    }
    json_write_end_list(&writer);
    if (ok && edit->arguments->is_json)
        say_json(text_string(&changed));
    else if (ok && count == 0)
        say_note(TEXT_CLI_EDIT_NOTHING);
    text_release(&changed);
    return ok;
}

/* The page lies beside the store: private, and there even when there is no runtime directory. */
static bool write_page(struct edit *edit, const struct json *settings)
{
    struct text page = { 0 };
    struct place place;
    struct error err;
    bool ok = place_find(&place, &err);

    add_page(edit, settings, &page);
    if (ok) {
        snprintf(edit->path, sizeof edit->path, "%s/settings-%lld.txt", place.data,
                 (long long)getpid());
        ok = os_write_file(edit->path, page.bytes, page.used, &err);
    }
    if (!ok)
        say_error(edit->arguments, &err, NULL);
    text_release(&page);
    return ok;
}

static enum exit_code edit_page(struct edit *edit)
{
    struct text page = { 0 };
    struct error err;
    bool ok;

    if (!run_editor(edit)) {
        unlink(edit->path);
        return EXIT_ERROR;
    }
    if (!os_read_file(edit->path, SETTINGS_FILE_MAX_BYTES, &page, &err)) {
        say_error(edit->arguments, &err, NULL);
        return EXIT_ERROR;
    }
    read_page(edit, &page);
    text_release(&page);
    if (edit->is_bad) {
        say_note(TEXT_CLI_EDIT_KEPT, "path", edit->path);
        return EXIT_ERROR;
    }
    ok = set_changes(edit);
    unlink(edit->path);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

enum exit_code settings_edit(const struct arguments *arguments)
{
    struct edit edit = { .arguments = arguments };
    struct wire_message reply = { 0 };
    enum exit_code code = EXIT_ERROR;

    if (call_open(arguments, &call_person, LINK_MAY_START, &edit.link) &&
        call_hub(arguments, edit.link, "settings/list", "{}", &reply) &&
        write_page(&edit, json_member(reply.result, "settings")))
        code = edit_page(&edit);
    for (int id = 0; id < SETTING_COUNT; id++) {
        free(edit.shown[id]);
        free(edit.wanted[id]);
    }
    wire_release(&reply);
    link_close(edit.link);
    return code;
}
