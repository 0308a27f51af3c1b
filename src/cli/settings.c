/*
 * settings.c - `sayso settings list|get|set|reset|edit`. The last shows the table as a page of
 * lines in the person's editor: only what differs from what was shown is set, so what changed
 * elsewhere stays; one bad line, and nothing is set.
 */
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
#include "cli/hub_call.h"
#include "cli/say.h"
#include "rpc/location.h"
#include "settings/settings.h"

/* As it is typed; the caller frees. "" where a hub gave none. */
static char *value_text(const struct json *setting)
{
    const struct json *value = json_member(setting, "value");
    const char *text = json_text(value);

    if (text || !value)
        return mem_text(text ? text : "");
    if (json_kind(value) == KIND_BOOL)
        return mem_text(json_is_true(value) ? "on" : "off");
    return json_encode(value);
}

static void write_params(const char *name, const char *value, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    if (name)
        json_write_text(&writer, "name", name);
    if (value)
        json_write_text(&writer, "value", value);
    json_write_end_object(&writer);
}

enum { EDITOR_WORDS = 16 };

struct edit {
    const struct arguments *arguments;
    struct client *link;
    char path[LOCATION_PATH_BYTES + 48];
    char *shown[SETTING_COUNT];  /* what is saved; NULL: nothing */
    char *wanted[SETTING_COUNT]; /* what the page says now */
    bool is_bad;
};

static void add_setting(struct edit *edit, const struct json *setting, enum setting_id id,
                        struct text *out)
{
    const char *source = json_member_text(setting, "source");
    bool is_saved = source && strcmp(source, "saved") == 0;
    char *value = value_text(setting);
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
    edit->is_bad = true;
    say_problem(TEXT_CLI_EDIT_LINE, "line", TEXT_NUMBER(number), "reason", reason);
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
        error_write_in(&err, i18n_language(), &reason);
        complain(edit, number, text_string(&reason));
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

static bool set_one(const struct edit *edit, enum setting_id id, struct json_writer *changed)
{
    struct text params = { 0 };
    struct rpc_message reply = { 0 };
    bool ok;

    write_params(setting_row(id)->name, edit->wanted[id], &params);
    ok = call_hub(edit->arguments, edit->link, "settings/set", text_string(&params), &reply);
    if (ok && edit->arguments->is_json) {
        json_write_value(changed, NULL, reply.result);
    } else if (ok) {
        char *text = value_text(reply.result);

        say_result(TEXT_CLI_SETTING_SET, "name", setting_row(id)->name, "value", text);
        free(text);
    }
    rpc_release(&reply);
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
    for (enum setting_id id = 0; ok && id < SETTING_COUNT; id++) {
        const char *before = edit->shown[id], *now = edit->wanted[id];

        if (before ? now && strcmp(before, now) == 0 : !now)
            continue;
        ok = set_one(edit, id, &writer);
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
    struct location location;
    struct error err;
    bool ok = location_find(&location, &err);

    add_page(edit, settings, &page);
    if (ok) {
        snprintf(edit->path, sizeof edit->path, "%s/settings-%lld.txt", location.data,
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
    int64_t number = 1;
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
    for (const char *at = text_string(&page); *at; number++) {
        size_t length = strcspn(at, "\n");

        if (at[strspn(at, " \t")] != '#')
            read_line(edit, at, length, number);
        at += length + (at[length] == '\n');
    }
    text_release(&page);
    if (edit->is_bad) {
        say_note(TEXT_CLI_EDIT_KEPT, "path", edit->path);
        return EXIT_ERROR;
    }
    ok = set_changes(edit);
    unlink(edit->path);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code edit_settings(const struct arguments *arguments)
{
    struct edit edit = { .arguments = arguments };
    struct rpc_message reply = { 0 };
    enum exit_code code = EXIT_ERROR;

    if (call_open(arguments, &call_person, &edit.link) &&
        call_hub(arguments, edit.link, "settings/list", "{}", &reply) &&
        write_page(&edit, json_member(reply.result, "settings")))
        code = edit_page(&edit);
    for (int id = 0; id < SETTING_COUNT; id++) {
        free(edit.shown[id]);
        free(edit.wanted[id]);
    }
    rpc_release(&reply);
    client_free(edit.link);
    return code;
}

static const char *source_words(const struct json *setting, enum setting_id id)
{
    const char *source = json_member_text(setting, "source");

    if (strcmp(source, "environment") == 0)
        return setting_row(id)->environment;
    if (strcmp(source, "flag") == 0)
        return setting_row(id)->flag;
    return i18n_text(strcmp(source, "saved") == 0 ? TEXT_SOURCE_SAVED : TEXT_SOURCE_BUILT_IN);
}

static void print_settings(const struct json *settings)
{
    for (size_t i = 0; i < json_length(settings); i++) {
        const struct json *setting = json_item(settings, i);
        const char *name = json_member_text(setting, "name");
        char *value = value_text(setting);
        enum setting_id id;

        if (setting_find(name, &id))
            printf("%-18s %-14s %-12s %s\n", name, value, source_words(setting, id),
                   i18n_text(setting_row(id)->help));
        free(value);
    }
}

static void print_reply(const struct arguments *arguments, const char *act,
                        const struct json *result)
{
    const struct json *settings = json_member(result, "settings");
    const char *name = json_member_text(result, "name");
    char *text = value_text(settings ? json_item(settings, 0) : result);

    if (arguments->is_json) {
        say_value(settings ? settings : result);
    } else if (strcmp(act, "list") == 0) {
        print_settings(settings);
    } else if (strcmp(act, "get") == 0) {
        printf("%s\n", text);
    } else {
        if (strcmp(name, "language") == 0)
            call_speak_as_saved();
        say_result(TEXT_CLI_SETTING_SET, "name", name, "value", text);
    }
    free(text);
}

/* Said in the person's own language before the hub, which speaks English, is troubled. */
static bool check_value(const struct arguments *arguments, const char *name, const char *value)
{
    struct setting_value parsed = { 0 };
    enum setting_id id;
    struct error err;

    if (!setting_find(name, &id)) {
        error_say(&err, ERROR_bad_enum, "/name", TEXT_REASON_NO_SETTING_SAID, NULL);
        if (arguments->is_json)
            say_error(arguments, &err, NULL);
        else
            say_problem(TEXT_CLI_NO_SUCH_SETTING, "name", name);
        return false;
    }
    if (value && !settings_parse(id, value, &parsed, &err)) {
        say_error(arguments, &err, NULL);
        return false;
    }
    setting_value_release(&parsed);
    return true;
}

/* A hub can't start on settings that have a problem, and so can't fix them: those of the host are
 * read in their file, and changed there if the file itself is bad. A bad variable is no reason to
 * change it: an agent can set one, and only the hub knows which processes are the agent's. */
static bool act_here(const struct arguments *arguments, const char *act, const char *name,
                     const char *value)
{
    bool is_set = strcmp(act, "set") == 0, is_change = is_set || strcmp(act, "reset") == 0, ok;
    struct settings *settings = settings_new();
    struct error err = *arguments->problem;
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    struct json *reply = NULL;
    struct location location;
    enum setting_id id;

    ok = location_find(&location, &err);
    if (ok && is_change) {
        settings_load_file(settings, location.settings);
        ok = settings_problem(settings, &err) && setting_find(name, &id) &&
             setting_row(id)->scope == SETTING_SCOPE_HOST &&
             settings_save(location.settings, id, is_set ? value : NULL, &err) &&
             settings_put_saved(settings, name, NULL); /* what was read before it was changed */
    }
    settings_load(settings, ok ? location.settings : NULL);
    if (ok && is_change)
        settings_write_row(settings, id, false, &writer);
    else
        settings_write_list(settings, name, &writer);
    if (!ok)
        say_error(arguments, &err, NULL);
    else if (json_parse(out.bytes, out.used, &reply, &err))
        print_reply(arguments, act, reply);
    json_free(reply);
    text_release(&out);
    settings_free(settings);
    return ok;
}

static enum exit_code run_settings(const struct arguments *arguments)
{
    static const struct {
        const char *act;
        size_t words;
        const char *method;
    } acts[] = {
        { "list", 1, "settings/list" },
        { "get", 2, "settings/list" },
        { "set", 3, "settings/set" },
        { "reset", 2, "settings/set" },
    };
    const char *act = arguments->word_count ? arguments->words[0] : "list";
    const char *name = arguments->word_count > 1 ? arguments->words[1] : NULL;
    const char *value = arguments->word_count > 2 ? arguments->words[2] : NULL;

    if (strcmp(act, "edit") == 0 && arguments->word_count == 1)
        return edit_settings(arguments);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        bool is_set = strcmp(acts[i].method, "settings/set") == 0, ok;
        struct rpc_message reply = { 0 };
        struct client *link = NULL;
        struct text params = { 0 };
        struct error err;

        if (strcmp(acts[i].act, act) != 0)
            continue;
        if (arguments->word_count != acts[i].words && arguments->word_count != 0)
            break;
        if (name && !check_value(arguments, name, value))
            return EXIT_ERROR;
        if (arguments->problem && !is_set)
            say_failure(arguments->problem);
        if (arguments->problem && !call_look(&link, &err))
            return act_here(arguments, act, name, value) ? EXIT_DONE : EXIT_ERROR;
        write_params(name, value, &params);
        ok = (link || call_open(arguments, &call_person, &link)) &&
             call_hub(arguments, link, acts[i].method, text_string(&params), &reply) &&
             (arguments->is_json || !is_set || call_expect(arguments, reply.result, "name"));
        if (ok)
            print_reply(arguments, act, reply.result);
        rpc_release(&reply);
        client_free(link);
        text_release(&params);
        return ok ? EXIT_DONE : EXIT_ERROR;
    }
    return say_needs(arguments, "list | get NAME | set NAME VALUE | reset NAME | edit");
}

/* Every row of the table, behind the help of the verb. */
static void print_rows(void)
{
    for (enum setting_id id = 0; id < SETTING_COUNT; id++) {
        const struct setting_row *row = setting_row(id);
        struct text takes = { 0 };

        if (setting_heading(id))
            printf("\n%s\n", setting_heading(id));
        setting_add_values(id, &takes);
        printf("  %-18s  %s\n                      %s, %s%s%s\n", row->name, i18n_text(row->help),
               text_string(&takes), row->environment, row->flag ? ", " : "",
               row->flag ? row->flag : "");
        text_release(&takes);
    }
}

static const char *const usage[] = { "settings [list]",         "settings get NAME",
                                     "settings set NAME VALUE", "settings reset NAME",
                                     "settings edit",           NULL };
static const char *const examples[] = { "settings", "settings set timeout_seconds 600",
                                        "settings set language zh", "settings edit", NULL };
VERB_ROW(settings, TEXT_CLI_SETTINGS, VERB_TEXTS, .max_words = 3, .runs_without_settings = true,
         .print_more = print_rows);
