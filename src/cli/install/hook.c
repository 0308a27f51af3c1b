/* hook.c - see entry.h: what clients keep beside a server's entry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/install/entry.h"
#include "i18n/i18n.h"

bool hook_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
               struct error *err)
{
    const struct hook *hook = &client->hook;
    const char *file = is_project ? hook->project : hook->file;
    char place[CLIENT_PATH_BYTES];

    if (is_project ? !os_working_directory(place, sizeof place)
                   : !client_home(client, hook->home ? hook->home : client->home, place))
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_NO_HOME, NULL);
    return snprintf(out, CLIENT_PATH_BYTES, "%s/%s", place, file) < CLIENT_PATH_BYTES ||
           error_say(err, ERROR_too_long, "", TEXT_REASON_PATH_TOO_LONG, "name", hook->file, NULL);
}

/* For a shell, which the clients run hooks in. */
static char *make_command(const struct client *client, const char *program)
{
    struct json *environment = client->strips ? entry_environment() : NULL;
    struct text out = { 0 };

    for (void *it = json_first(environment); it; it = json_next(environment, it)) {
        text_add_format(&out, "%s=", json_key(it));
        text_add_shell_word(&out, json_text(json_value(it)));
        text_add_char(&out, ' ');
    }
    text_add_shell_word(&out, program);
    text_add_format(&out, " gate --client %s --wait %d", client->name,
                    HOOK_WAIT_S); /* not for people */
    json_free(environment);
    return text_take(&out);
}

/* The object with the command: the item itself, or the only one in its "hooks". */
static const struct json *command_of(const struct hook *hook, const struct json *item)
{
    const struct json *inner = json_member(item, "hooks");

    if (!hook->matcher)
        return item;
    return json_length(inner) == 1 && json_kind(inner) == KIND_LIST ? json_item(inner, 0) : NULL;
}

struct json *hook_make(const struct client *client, const char *program, const struct json *like)
{
    const struct hook *hook = &client->hook;
    const char *same = json_member_text(command_of(hook, like), hook->command_key);
    char *command = same ? mem_text(same) : make_command(client, program);
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    if (hook->matcher) {
        json_write_text(&writer, "matcher", hook->matcher);
        json_write_list(&writer, "hooks");
        json_write_object(&writer, NULL);
    }
    json_write_text(&writer, "type", "command");
    json_write_text(&writer, hook->command_key, command);
    json_write_integer(&writer, hook->timeout.key, HOOK_TIMEOUT_S * hook->timeout.per_s);
    if (hook->matcher) {
        json_write_end_object(&writer);
        json_write_end_list(&writer);
    }
    free(command);
    return config_take_object(&writer);
}

/* Runs a program called sayso with "gate" behind it; it may be in quotes. */
static bool runs_gate(const char *command)
{
    static const char program[] = "sayso", word[] = " gate";

    for (const char *at = command; at && (at = strstr(at, word)); at++) {
        const char *end = at;
        char behind = at[sizeof word - 1];

        while (end > command && (end[-1] == '\'' || end[-1] == '"'))
            end--;
        if ((behind == '\0' || behind == ' ') && end - command >= (long)sizeof program - 1 &&
            strncmp(end - (sizeof program - 1), program, sizeof program - 1) == 0)
            return true;
    }
    return false;
}

/* The next word as a shell reads a plain one; false: there is none. */
static bool next_word(const char **at, struct text *out)
{
    char quote = '\0';

    text_clear(out);
    *at += strspn(*at, " \t");
    if (!**at)
        return false;
    for (; **at && (quote || !strchr(" \t", **at)); ++*at) {
        if (quote ? **at == quote : **at == '\'' || **at == '"')
            quote = quote ? '\0' : **at;
        else if (**at == '\\' && quote != '\'' && (*at)[1])
            text_add_char(out, *++*at);
        else
            text_add_char(out, **at);
    }
    return true;
}

char *hook_program(const struct client *client, const struct json *item)
{
    const struct hook *hook = &client->hook;
    const char *at = json_member_text(command_of(hook, item), hook->command_key);
    struct text word = { 0 }, before = { 0 };
    bool is_found = false;

    while (at && !is_found && next_word(&at, &word)) {
        is_found = before.used > 0 && strcmp(text_string(&word), "gate") == 0;
        if (!is_found) {
            text_clear(&before);
            text_add(&before, text_string(&word), word.used);
        }
    }
    if (!is_found)
        text_clear(&before);
    text_release(&word);
    return text_take(&before);
}

static bool is_ours(const struct json *item, const void *context)
{
    const struct hook *hook = context;

    return runs_gate(json_member_text(command_of(hook, item), hook->command_key));
}

struct config_list hook_list(const struct client *client)
{
    const struct hook *hook = &client->hook;

    return (struct config_list){ .format = hook->format,
                                 .path = { .keys = { "hooks", hook->event }, .count = 2 },
                                 .fits = is_ours,
                                 .context = hook };
}

bool hook_put(const struct client *client, const struct json *item, struct text *text,
              struct error *err)
{
    const struct hook *hook = &client->hook;
    struct config_path version = { .keys = { "version" }, .count = 1 };
    struct config_list list = hook_list(client);
    struct json *one = NULL, *found = NULL;
    bool ok = true;

    if (hook->has_version && !(found = hook->format->find(text, &version))) {
        json_parse("1", 1, &one, NULL);
        ok = hook->format->set(text, &version, one, err);
    }
    ok = ok && config_list_put(&list, item, text, err);
    json_free(found);
    json_free(one);
    return ok;
}

char *permission_rule(const struct client *client, const char *server)
{
    /* "__" divides the server from the tool */
    return client->has_rules && !strstr(server, "__") ? mem_format("mcp__%s", server) : NULL;
}

static bool is_rule(const struct json *item, const void *rule)
{
    return json_text(item) && strcmp(json_text(item), rule) == 0;
}

static bool covers(const struct json *item, const void *rule)
{
    const char *text = json_text(item);
    size_t length = strlen(rule);

    return is_rule(item, rule) || (text && strncmp(text, rule, length) == 0 &&
                                   strcmp(text + length, "__*") == 0 /* every tool */);
}

struct config_list permission_list(const char *rule)
{
    return (struct config_list){ .format = &config_json,
                                 .path = { .keys = { "permissions", "allow" }, .count = 2 },
                                 .fits = is_rule,
                                 .context = rule };
}

struct json *permission_make(const char *rule)
{
    char *quoted = mem_format("\"%s\"", rule);
    struct json *item = config_read_value(quoted, strlen(quoted));

    free(quoted);
    return item;
}

bool permission_is_given(const struct text *settings, const char *rule)
{
    static const char *const kinds[] = { "deny", "ask", "allow" };
    struct config_list list = permission_list(rule);
    struct json *found = NULL;

    list.fits = covers;
    for (size_t i = 0; !found && i < ARRAY_LEN(kinds); i++) {
        list.path.keys[1] = kinds[i];
        found = config_list_find(&list, settings);
    }
    json_free(found);
    return found && strcmp(list.path.keys[1], "allow") == 0;
}
