/* settings.c - `sayso settings list|get|set|reset|edit`. */
#include "settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"
#include "cli/settings_edit.h"
#include "wire/place.h"

char *settings_value_text(const struct json *setting)
{
    const struct json *value = json_member(setting, "value");
    const char *text = json_text(value);

    if (text || !value)
        return mem_text(text ? text : "");
    if (json_kind(value) == KIND_BOOL)
        return mem_text(json_is_yes(value) ? "on" : "off");
    return json_encode(value);
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
        char *value = settings_value_text(setting);
        enum setting_id id;

        if (setting_find(name, &id))
            printf("%-18s %-14s %-12s %s\n", name, value, source_words(setting, id),
                   i18n_text(setting_row(id)->help));
        free(value);
    }
}

static void write_params(const char *name, const char *value, bool is_reset, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    if (name)
        json_write_text(&writer, "name", name);
    if (value && !is_reset)
        json_write_text(&writer, "value", value);
    json_write_end_object(&writer);
}

static void print_reply(const struct arguments *arguments, const char *act,
                        const struct json *result)
{
    const struct json *settings = json_member(result, "settings");
    char *text;

    if (arguments->is_json) {
        text = json_encode(settings ? settings : result);
        say_json(text);
    } else if (strcmp(act, "list") == 0) {
        print_settings(settings);
        return;
    } else if (strcmp(act, "get") == 0) {
        text = settings_value_text(json_item(settings, 0));
        printf("%s\n", text);
    } else {
        text = settings_value_text(result);
        if (strcmp(json_member_text(result, "name"), "language") == 0)
            call_speak_as_saved();
        say_result(TEXT_CLI_SETTING_SET, "name", json_member_text(result, "name"), "value", text);
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
        error_set(&err, ERROR_bad_enum, "/name", "there is no such setting");
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
    struct place place;
    enum setting_id id;

    ok = place_find(&place, &err);
    if (ok && is_change) {
        settings_load_file(settings, place.settings);
        ok = settings_problem(settings, &err) && setting_find(name, &id) &&
             setting_row(id)->scope == SETTING_SCOPE_HOST &&
             settings_save(place.settings, id, is_set ? value : NULL, &err) &&
             settings_put_saved(settings, name, NULL); /* what was read before it was changed */
    }
    settings_load(settings, ok ? place.settings : NULL);
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
        return settings_edit(arguments);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct wire_message reply = { 0 };
        struct link *link = NULL;
        struct text params = { 0 };
        struct error err;
        bool ok;

        if (strcmp(acts[i].act, act) != 0)
            continue;
        if (arguments->word_count != acts[i].words && arguments->word_count != 0)
            break;
        if (name && !check_value(arguments, name, value))
            return EXIT_ERROR;
        if (arguments->problem && strcmp(acts[i].method, "settings/list") == 0)
            say_failure(arguments->problem);
        if (arguments->problem && !link_open(&call_person, LINK_MUST_RUN, &link, &err))
            return act_here(arguments, act, name, value) ? EXIT_DONE : EXIT_ERROR;
        write_params(name, value, strcmp(act, "reset") == 0, &params);
        ok = (link || call_open(arguments, &call_person, LINK_MAY_START, &link)) &&
             call_hub(arguments, link, acts[i].method, text_string(&params), &reply);
        if (ok)
            print_reply(arguments, act, reply.result);
        wire_release(&reply);
        link_close(link);
        text_release(&params);
        return ok ? EXIT_DONE : EXIT_ERROR;
    }
    return say_needs(arguments, "list | get NAME | set NAME VALUE | reset NAME | edit");
}

/* Every row of the table, behind the help of the verb. */
static void print_rows(void)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        enum setting_id id = (enum setting_id)i;
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
VERB_ROW(settings, TEXT_CLI_SETTINGS, VERB_TEXTS, .most_words = 3, .runs_without_settings = true,
         .print_more = print_rows);
