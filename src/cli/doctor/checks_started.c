/* checks_started.c - who else starts this program: clients' hooks, the service manager. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/install/config_file.h"
#include "cli/install/config_text.h"
#include "cli/install/hook.h"
#include "crypto/hash.h"

enum { UNIT_LINE_BYTES = 4096 };

/* The hash that Codex keeps for a hook it trusts: of canonical JSON (openai/codex, codex-rs/hooks
 * and codex-rs/config, version_for_toml). */
static void hash_hook(const struct json *item, char out[HASH_HEX_BYTES])
{
    const struct json *hook = json_item(json_member(item, "hooks"), 0);
    char *matcher = json_encode(json_member(item, "matcher"));
    char *command = json_encode(json_member(hook, "command"));
    char *identity = mem_format(
        "{\"event_name\":\"pre_tool_use\",\"hooks\":[{\"async\":false,\"command\":%s,"
        "\"timeout\":%lld,\"type\":\"command\"}],\"matcher\":%s}",
        command, (long long)json_member_integer(hook, "timeout", HOOK_TIMEOUT_S), matcher);
    uint8_t hash[HASH_BYTES];

    hash_bytes(identity, strlen(identity), hash);
    hash_hex(hash, HASH_BYTES, out);
    free(identity);
    free(command);
    free(matcher);
}

/* Whether Codex runs the hook: it passes over one that was not reviewed as it is now, or was turned
 * off. It keeps that in its configuration, by the file of the hooks and the place in it. */
static bool is_trusted(const struct client *client, const struct config_file *hooks,
                       const char *name, const struct json *item)
{
    struct config_path list = hook_list(client).path;
    struct config_path path = { .keys = { "hooks", "state" }, .count = 3 };
    struct json *items = client->hook.format->find(&hooks->bytes, &list), *state = NULL;
    char config[CLIENT_PATH_BYTES], hash[HASH_HEX_BYTES], *key;
    struct config_file file = { 0 };
    const char *trusted;
    size_t index = 0;
    bool is_so;

    while (index < json_length(items) && !json_same(json_item(items, index), item))
        index++;
    path.keys[2] = key = mem_format("%s:pre_tool_use:%zu:0", name, index);
    if (client_file(client, false, config, NULL) && config_file_read(config, false, &file, NULL) &&
        client->format->check(&file.bytes, NULL))
        state = client->format->find(&file.bytes, &path);
    hash_hook(item, hash);
    trusted = json_member_text(state, "trusted_hash");
    is_so = trusted && strncmp(trusted, "sha256:", 7) == 0 && strcmp(trusted + 7, hash) == 0 &&
            (!json_member(state, "enabled") || json_is_yes(json_member(state, "enabled")));
    free(key);
    json_free(state);
    json_free(items);
    config_file_release(&file);
    return is_so;
}

/* False: this client has no hook of ours, or its file can't be read, which check_clients says where
 * it is the client's own. */
static bool judge_hook(struct doctor *doctor, const struct client *client)
{
    struct config_file file = { 0 };
    struct config_list ours = hook_list(client);
    char name[CLIENT_PATH_BYTES], *program = NULL;
    struct json *item = NULL;
    struct error err;
    bool is_there;

    if (hook_file(client, false, name, NULL) && access(name, F_OK) == 0 &&
        config_file_read(name, false, &file, &err) && ours.format->check(&file.bytes, &err))
        item = config_list_find(&ours, &file.bytes);
    is_there = item != NULL;
    if (is_there)
        program = hook_program(client, item);
    if (program && program[0] == '/' && access(program, X_OK) != 0)
        doctor_fault(doctor, TEXT_FOUND_HOOK_GONE, TEXT_MEND_HOOK, "client", client->title,
                     "program", program, "name", client->name);
    else if (program && client->hook.needs_trust && !is_trusted(client, &file, name, item))
        doctor_fault(doctor, TEXT_FOUND_HOOK_UNTRUSTED, TEXT_MEND_HOOK_UNTRUSTED, "client",
                     client->title);
    else if (program)
        doctor_ok(doctor, TEXT_FOUND_HOOK, "client", client->title, "file", name);
    free(program);
    json_free(item);
    config_file_release(&file);
    return is_there;
}

void check_hooks(struct doctor *doctor)
{
    bool has_any = false;

    for (size_t i = 0; i < client_count(); i++)
        has_any = (client_at(i)->hook.file && judge_hook(doctor, client_at(i))) || has_any;
    if (!has_any)
        doctor_ok(doctor, TEXT_FOUND_HOOKS_NONE);
}

/* The program of "ExecStart=-/path/to/sayso serve": prefixes and quotes are not part of it. */
static bool read_program(const char *line, char out[UNIT_LINE_BYTES])
{
    static const char key[] = "ExecStart";
    size_t length;

    line += strspn(line, " \t");
    if (strncmp(line, key, sizeof key - 1) != 0)
        return false;
    line += sizeof key - 1;
    line += strspn(line, " \t");
    if (*line++ != '=')
        return false;
    line += strspn(line, " \t-@:+!");
    length = *line == '"' || *line == '\'' ? strcspn(line + 1, *line == '"' ? "\"\n" : "'\n")
                                           : strcspn(line, " \t\n");
    line += *line == '"' || *line == '\'';
    snprintf(out, UNIT_LINE_BYTES, "%.*s", (int)length, line);
    return length > 0;
}

/* The last line counts, as for the manager. False: no such unit, or it starts nothing. */
static bool read_unit(const char *path, char program[UNIT_LINE_BYTES])
{
    char line[UNIT_LINE_BYTES];
    bool is_found = false;
    struct stat found;
    FILE *file;

    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        is_found = read_program(line, program) || is_found;
    if (file)
        fclose(file);
    return is_found;
}

/* Where a user's manager looks, strongest first. */
static void add_units(struct text *out)
{
    static const struct {
        const char *variable, *otherwise; /* below the home directory */
    } places[] = { { "XDG_CONFIG_HOME", ".config" }, { "XDG_DATA_HOME", ".local/share" } };
    char home[CLIENT_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *given = getenv(places[i].variable);

        if (given && given[0] == '/')
            text_add_format(out, "%s", given);
        else if (os_home(home, sizeof home))
            text_add_format(out, "%s/%s", home, places[i].otherwise);
        text_add_text(out, "/systemd/user/sayso.service\n");
    }
    text_add_text(out, "/etc/systemd/user/sayso.service\n"
                       "/usr/local/lib/systemd/user/sayso.service\n"
                       "/usr/lib/systemd/user/sayso.service\n");
}

void check_service(struct doctor *doctor)
{
    char program[UNIT_LINE_BYTES];
    struct text units = { 0 };
    const char *unit = NULL;

    add_units(&units);
    for (char *next = NULL, *at = strtok_r(units.bytes, "\n", &next); at && !unit;
         at = strtok_r(NULL, "\n", &next)) {
        if (read_unit(at, program))
            unit = at;
    }
    if (!unit)
        doctor_ok(doctor, TEXT_FOUND_SERVICE_NONE);
    else if (program[0] == '/' && access(program, X_OK) != 0)
        doctor_fault(doctor, TEXT_FOUND_SERVICE_GONE, TEXT_MEND_SERVICE, "unit", unit, "program",
                     program);
    else
        doctor_ok(doctor, TEXT_FOUND_SERVICE, "unit", unit, "program", program);
    text_release(&units);
}
