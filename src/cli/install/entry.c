#include "cli/install/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "core/known_clients.h"
#include "i18n/i18n.h"
#include "settings/settings.h"

/* Members that say how we are reached, whatever the client calls them; the first ones say where. */
enum { ADDRESS_MEMBERS = 4 };
static const char *const by_transport[] = {
    "command", "args", "url", "httpUrl", "env", "environment", "headers", "bearer_token_env_var",
};

static bool is_default(const char *variable, const char *value)
{
    char home[CLIENT_PATH_BYTES], usual[CLIENT_PATH_BYTES + 32] = "";

    if (!os_home(home, sizeof home))
        return false;
    if (strcmp(variable, "XDG_DATA_HOME") == 0)
        snprintf(usual, sizeof usual, "%s/.local/share", home);
    else if (strcmp(variable, "XDG_CONFIG_HOME") == 0)
        snprintf(usual, sizeof usual, "%s/.config", home);
    else if (strcmp(variable, "XDG_RUNTIME_DIR") == 0)
        snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
    else if (strcmp(variable, "HOME") == 0)
        return os_is_usual_home(value);
    return strcmp(usual, value) == 0;
}

static void write_variable(struct json_writer *writer, const char *name)
{
    const char *value = getenv(name);

    if (value && *value && text_is_utf8(value, strlen(value)) && !is_default(name, value))
        json_write_text(writer, name, value);
}

struct json *entry_environment(void)
{
    static const char *const places[] = { "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
                                          "XDG_RUNTIME_DIR" };
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        write_variable(&writer, places[i]);
    for (enum setting_id id = 0; id < SETTING_COUNT; id++)
        write_variable(&writer, setting_row(id)->environment);
    return config_take_object(&writer);
}

/* We hold its calls as long as it waits from now on. */
static bool waits_longer(const struct client *client)
{
    return client->timeout.key && !known_client_of_program(client->name)->backgrounds_calls;
}

static void write_command(const struct client *client, const struct entry_options *options,
                          struct json_writer *writer)
{
    struct json *environment;

    if (!client->is_one_list)
        json_write_text(writer, "command", options->program);
    json_write_list(writer, client->is_one_list ? "command" : "args");
    if (client->is_one_list)
        json_write_text(writer, NULL, options->program);
    json_write_text(writer, NULL, "mcp");
    if (waits_longer(client)) {
        json_write_text(writer, NULL, "--client-timeout");
        json_write_text(writer, NULL, TEXT_NUMBER(CLIENT_TIMEOUT_S));
    }
    if (options->as_name) {
        json_write_text(writer, NULL, "--as");
        json_write_text(writer, NULL, options->as_name);
    }
    if (options->tools && *options->tools) {
        json_write_text(writer, NULL, "--tools");
        json_write_text(writer, NULL, options->tools);
    }
    json_write_end_list(writer);
    environment = client->strips ? entry_environment() : NULL;
    if (json_length(environment) > 0)
        json_write_value(writer, client->env_key, environment);
    json_free(environment);
}

static void write_address(const struct client *client, const struct entry_options *options,
                          struct json_writer *writer)
{
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", options->port);
    if (waits_longer(client))
        snprintf(url + strlen(url), sizeof url - strlen(url), "?client_timeout=%d",
                 CLIENT_TIMEOUT_S);
    json_write_text(writer, client->url.key, url);
    if (!options->needs_token)
        return;
    if (client->url.token_key) {
        json_write_text(writer, client->url.token_key, client->url.token_value);
        return;
    }
    json_write_object(writer, "headers");
    json_write_text(writer, "Authorization", client->url.token_value);
    json_write_end_object(writer);
}

struct json *entry_make(const struct client *client, const struct entry_options *options)
{
    bool is_remote = options->like ? entry_port(client, options->like) > 0 : options->port > 0;
    const char *type = is_remote ? client->types.remote : client->types.local;
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    if (type)
        json_write_text(&writer, "type", type);
    if (options->like) {
        for (size_t i = 0; i < ARRAY_LEN(by_transport); i++)
            json_write_value(&writer, by_transport[i], json_member(options->like, by_transport[i]));
        if (client->trust_key)
            json_write_value(&writer, client->trust_key,
                             json_member(options->like, client->trust_key));
    } else if (is_remote) {
        write_address(client, options, &writer);
    } else {
        write_command(client, options, &writer);
    }
    if (client->timeout.key)
        json_write_integer(&writer, client->timeout.key, CLIENT_TIMEOUT_S * client->timeout.per_s);
    if (client->trust_key && options->is_trusted)
        json_write_bool(&writer, client->trust_key, true);
    if (client->extras)
        text_add_text(&out, client->extras);
    return config_take_object(&writer);
}

const char *entry_program(const struct client *client, const struct json *entry)
{
    const struct json *command = json_member(entry, "command");

    return json_text(client->is_one_list ? json_item(command, 0) : command);
}

int entry_port(const struct client *client, const struct json *entry)
{
    static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]" };
    const char *url = client->url.key ? json_member_text(entry, client->url.key) : NULL;

    for (size_t i = 0; url && i < ARRAY_LEN(hosts); i++) {
        char *before = mem_format("http://%s:", hosts[i]);
        size_t length = strlen(before), digits;
        bool is_same = strncmp(url, before, length) == 0;

        free(before);
        digits = is_same ? strspn(url + length, "0123456789") : 0;
        if (digits > 0 && digits < 6 && strncmp(url + length + digits, "/mcp", 4) == 0 &&
            strchr("?", url[length + digits + 4]))
            return (int)strtol(url + length, NULL, 10);
    }
    return 0;
}

bool entry_is_ours(const struct client *client, const struct json *entry)
{
    const struct json *list = json_member(entry, client->is_one_list ? "command" : "args");
    const char *program = entry_program(client, entry);
    const char *first = json_text(json_item(list, client->is_one_list ? 1 : 0));
    const char *slash = program ? strrchr(program, '/') : NULL;

    if (program && strcmp(slash ? slash + 1 : program, "sayso") == 0)
        return first && strcmp(first, "mcp") == 0;
    return entry_port(client, entry) > 0;
}

int64_t entry_timeout_s(const struct client *client, const struct json *entry)
{
    const char *key = client->timeout.key;
    int64_t given = key ? json_member_integer(entry, key, -1) : -1;

    return given < 0 ? -1 : given / client->timeout.per_s;
}

static struct config_path path_of(const struct client *client, const char *name)
{
    return (struct config_path){ .keys = { client->container, name }, .count = 2 };
}

struct json *entry_find(const struct client *client, const char *name, const struct text *text)
{
    struct config_path path = path_of(client, name);

    return client->format->find(text, &path);
}

bool entry_drop(const struct client *client, const char *name, struct text *text, struct error *err)
{
    struct config_path path = path_of(client, name);

    return client->format->drop(text, &path, err);
}

/* One member of an entry that is there; objects (environment, headers) member by member. */
static bool put_member(const struct client *client, struct config_path path, const struct json *old,
                       const char *key, const struct json *value, struct text *text,
                       struct error *err)
{
    const struct json *before = json_member(old, key);
    bool ok = true;

    if (before && json_same(before, value))
        return true;
    path.keys[path.count++] = key;
    if (!before || json_kind(before) != KIND_OBJECT || json_kind(value) != KIND_OBJECT)
        return client->format->set(text, &path, value, err);
    for (void *it = json_first(value); it && ok; it = json_next(value, it)) {
        struct config_path inner = path;
        const struct json *was = json_member(before, json_key(it));

        inner.keys[inner.count++] = json_key(it);
        if (!was || !json_same(was, json_value(it)))
            ok = client->format->set(text, &inner, json_value(it), err);
    }
    return ok;
}

/* Two addresses in one entry would leave the choice, and what is trusted, to the client. */
bool entry_put(const struct client *client, const char *name, const struct json *entry,
               struct text *text, struct error *err)
{
    struct config_path path = path_of(client, name);
    struct json *old = client->format->find(text, &path);
    bool ok = true;

    if (!old)
        return client->format->set(text, &path, entry, err);
    for (size_t i = 0; ok && i < ARRAY_LEN(by_transport); i++) {
        bool was_remote = entry_port(client, old) > 0, is_remote = entry_port(client, entry) > 0;
        struct config_path member = path;

        member.keys[member.count++] = by_transport[i];
        if ((was_remote != is_remote || i < ADDRESS_MEMBERS) && json_member(old, by_transport[i]) &&
            !json_member(entry, by_transport[i]))
            ok = client->format->drop(text, &member, err);
    }
    for (void *it = json_first(entry); it && ok; it = json_next(entry, it))
        ok = put_member(client, path, old, json_key(it), json_value(it), text, err);
    json_free(old);
    return ok;
}

/* What clients keep beside the entry of a server: hooks, and rules of permission. */

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

static const char *const words[] = { [HOOK_GATE] = "gate", [HOOK_PROMPTS] = "prompts" };

bool hook_is_known(const struct client *client, enum hook_use use)
{
    return client->hook.file && (use == HOOK_GATE || client->hook.prompts[0].name);
}

const struct hook_event *hook_event_at(const struct client *client, enum hook_use use, size_t index)
{
    static struct hook_event gate = { NULL, HOOK_TIMEOUT_S };
    const struct hook_event *event = index < HOOK_EVENTS ? &client->hook.prompts[index] : NULL;

    if (use == HOOK_GATE) {
        gate.name = client->hook.event;
        event = index == 0 ? &gate : NULL;
    }
    return event && event->name ? event : NULL;
}

/* For a shell, which the clients run hooks in. */
static char *make_command(const struct client *client, enum hook_use use, int64_t timeout_s,
                          const char *program)
{
    struct json *environment = client->strips ? entry_environment() : NULL;
    struct text out = { 0 };

    for (void *it = json_first(environment); it; it = json_next(environment, it)) {
        text_add_format(&out, "%s=", json_key(it));
        text_add_shell_word(&out, json_text(json_value(it)));
        text_add_char(&out, ' ');
    }
    text_add_shell_word(&out, program);
    text_add_format(&out, " %s --client %s --wait %d", words[use], client->name,
                    (int)timeout_s - HOOK_MARGIN_S); /* not for people */
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

static void write_hook(struct json_writer *writer, const struct client *client, enum hook_use use,
                       const struct hook_event *event, const char *program, const struct json *like)
{
    const struct hook *hook = &client->hook;
    const char *same = json_member_text(command_of(hook, like), hook->command_key);
    char *command = same ? mem_text(same) : make_command(client, use, event->timeout_s, program);

    json_write_object(writer, event->name);
    if (hook->matcher) {
        json_write_text(writer, "matcher", hook->matcher);
        json_write_list(writer, "hooks");
        json_write_object(writer, NULL);
    }
    json_write_text(writer, "type", "command");
    json_write_text(writer, hook->command_key, command);
    json_write_integer(writer, hook->timeout.key, event->timeout_s * hook->timeout.per_s);
    if (hook->matcher) {
        json_write_end_object(writer);
        json_write_end_list(writer);
    }
    json_write_end_object(writer);
    free(command);
}

struct json *hooks_make(const struct client *client, enum hook_use use, const char *program,
                        const struct json *like)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    const struct hook_event *event;

    for (size_t i = 0; (event = hook_event_at(client, use, i)); i++)
        write_hook(&writer, client, use, event, program, json_member(like, event->name));
    return config_take_object(&writer);
}

/* Runs a program called sayso with this word behind it; it may be in quotes. */
static bool runs(const char *command, const char *word)
{
    static const char program[] = "sayso";
    size_t length = strlen(word);

    for (const char *at = command; at && (at = strstr(at, word)); at++) {
        const char *end = at;
        char behind = at[length];

        if (end > command && end[-1] == ' ')
            end--;
        else
            continue;
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

char *hook_program(const struct client *client, enum hook_use use, const struct json *item)
{
    const struct hook *hook = &client->hook;
    const char *at = json_member_text(command_of(hook, item), hook->command_key);
    struct text word = { 0 }, before = { 0 };
    bool is_found = false;

    while (at && !is_found && next_word(&at, &word)) {
        is_found = before.used > 0 && strcmp(text_string(&word), words[use]) == 0;
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

static bool is_gate(const struct json *item, const void *context)
{
    const struct hook *hook = context;

    return runs(json_member_text(command_of(hook, item), hook->command_key), words[HOOK_GATE]);
}

static bool is_prompts(const struct json *item, const void *context)
{
    const struct hook *hook = context;

    return runs(json_member_text(command_of(hook, item), hook->command_key), words[HOOK_PROMPTS]);
}

struct config_list hook_list(const struct client *client, enum hook_use use, size_t index)
{
    return (struct config_list){
        .format = client->hook.format,
        .path = { .keys = { "hooks", hook_event_at(client, use, index)->name }, .count = 2 },
        .fits = use == HOOK_GATE ? is_gate : is_prompts,
        .context = &client->hook
    };
}

struct json *hooks_find(const struct client *client, enum hook_use use, const struct text *text)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    const struct hook_event *event;
    bool has_any = false;

    for (size_t i = 0; (event = hook_event_at(client, use, i)); i++) {
        struct config_list list = hook_list(client, use, i);
        struct json *item = config_list_find(&list, text);

        json_write_value(&writer, event->name, item);
        has_any = has_any || item;
        json_free(item);
    }
    if (has_any)
        return config_take_object(&writer);
    text_release(&out);
    return NULL;
}

bool hooks_put(const struct client *client, enum hook_use use, const struct json *hooks,
               struct text *text, struct error *err)
{
    const struct hook *hook = &client->hook;
    struct config_path version = { .keys = { "version" }, .count = 1 };
    struct json *one = NULL, *found = NULL;
    const struct hook_event *event;
    bool ok = true;

    if (hook->has_version && !(found = hook->format->find(text, &version))) {
        json_parse("1", 1, &one, NULL);
        ok = hook->format->set(text, &version, one, err);
    }
    for (size_t i = 0; ok && (event = hook_event_at(client, use, i)); i++) {
        struct config_list list = hook_list(client, use, i);
        const struct json *item = json_member(hooks, event->name);

        ok = !item || config_list_put(&list, item, text, err);
    }
    json_free(found);
    json_free(one);
    return ok;
}

bool hooks_drop(const struct client *client, enum hook_use use, struct text *text,
                struct error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && hook_event_at(client, use, i); i++) {
        struct config_list list = hook_list(client, use, i);
        struct json *item = config_list_find(&list, text);

        ok = !item || config_list_drop(&list, text, err);
        json_free(item);
    }
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
