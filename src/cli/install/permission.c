/* permission.c - see permission.h. */
#include "cli/install/permission.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/install/hook.h"

char *permission_rule(const struct client *client, const char *server)
{
    /* "__" divides the server from the tool */
    return client->has_rules && !strstr(server, "__") ? mem_format("mcp__%s", server) : NULL;
}

/* The client's settings, which hold its hooks as well. */
bool permission_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
                     struct error *err)
{
    return hook_file(client, is_project, out, err);
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
