/*
 * clients.c - see clients.h. Places and members are from each program's own documentation, times
 * and stripped environments were measured on the real programs (docs/connect.md). Of hooks:
 * Claude Code  code.claude.com/docs/en/hooks          Codex developers.openai.com/codex/hooks
 * Gemini CLI   google-gemini/gemini-cli, docs/hooks   Copilot CLI  docs.github.com, hooks reference
 */
#include "cli/install/clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/install/config_text.h"
#include "i18n/i18n.h"

#define TOKEN_VARIABLE "MCP_SAYSO_TOKEN"

static const struct client clients[] = {
    {
        .name = "claude",
        .alias = "claude-code",
        .title = "Claude Code",
        .format = &config_json,
        .container = "mcpServers",
        .home_variable = "CLAUDE_CONFIG_DIR",
        .home = "~",
        .files = { ".claude.json" },
        .project = ".mcp.json",
        .timeout_key = "timeout",
        .timeout_per_s = 1000,
        .local_type = "stdio",
        .remote_type = "http",
        .url_key = "url",
        .token_value = "Bearer ${" TOKEN_VARIABLE "}",
        .env_key = "env",
        .has_rules = true,
        .hook = {
            .format = &config_json,
            .home = "~/.claude",
            .file = "settings.json",
            .project = ".claude/settings.json",
            .event = "PreToolUse",
            .matcher = "*",
            .command_key = "command",
            .timeout_key = "timeout",
            .timeout_per_s = 1,
        },
    },
    {
        .name = "codex",
        .alias = "codex-cli",
        .title = "Codex",
        .format = &config_toml,
        .container = "mcp_servers",
        .home_variable = "CODEX_HOME",
        .home = "~/.codex",
        .files = { "config.toml" },
        .project = ".codex/config.toml",
        .timeout_key = "tool_timeout_sec",
        .timeout_per_s = 1,
        .url_key = "url",
        .token_key = "bearer_token_env_var",
        .token_value = TOKEN_VARIABLE,
        .env_key = "env",
        .strips = true,
        .hook = {
            .format = &config_json,
            .file = "hooks.json",
            .project = ".codex/hooks.json",
            .event = "PreToolUse",
            .matcher = ".*",
            .command_key = "command",
            .timeout_key = "timeout",
            .timeout_per_s = 1,
            .needs_trust = true,
        },
    },
    {
        .name = "copilot",
        .alias = "copilot-cli",
        .title = "Copilot CLI",
        .format = &config_json,
        .container = "mcpServers",
        .home_variable = "COPILOT_HOME",
        .home = "~/.copilot",
        .files = { "mcp-config.json" },
        .project = ".mcp.json",
        .timeout_key = "timeout",
        .timeout_per_s = 1000,
        .local_type = "stdio",
        .remote_type = "http",
        .url_key = "url",
        .token_value = "Bearer ${" TOKEN_VARIABLE "}",
        .env_key = "env",
        .strips = true,
        .extras = ",\"tools\":[\"*\"]",
        .hook = {
            .format = &config_json,
            .file = "hooks/sayso.json",
            .project = ".github/hooks/sayso.json",
            .event = "preToolUse",
            .command_key = "bash",
            .timeout_key = "timeoutSec",
            .timeout_per_s = 1,
            .has_version = true,
        },
    },
    {
        .name = "vscode",
        .alias = "code",
        .title = "VS Code",
        .format = &config_jsonc,
        .container = "servers",
        .home = "",
        .files = { "Code/User/mcp.json", "Code - Insiders/User/mcp.json",
                   "VSCodium/User/mcp.json" },
        .project = ".vscode/mcp.json",
        .local_type = "stdio",
        .remote_type = "http",
        .url_key = "url",
        .token_value = "Bearer ${env:" TOKEN_VARIABLE "}",
        .env_key = "env",
        .strips = true, /* started from a desktop it never had the shell's */
    },
    {
        .name = "cursor",
        .title = "Cursor",
        .format = &config_jsonc,
        .container = "mcpServers",
        .home = "~/.cursor",
        .files = { "mcp.json" },
        .project = ".cursor/mcp.json",
        .url_key = "url",
        .token_value = "Bearer ${env:" TOKEN_VARIABLE "}",
        .env_key = "env",
        .strips = true,
    },
    {
        .name = "gemini",
        .alias = "gemini-cli",
        .title = "Gemini CLI",
        .format = &config_jsonc,
        .container = "mcpServers",
        .home = "~/.gemini",
        .files = { "settings.json" },
        .project = ".gemini/settings.json",
        .timeout_key = "timeout",
        .timeout_per_s = 1000,
        .url_key = "httpUrl",
        .token_value = "Bearer ${" TOKEN_VARIABLE "}",
        .env_key = "env",
        .strips = true,
        .trust_key = "trust",
        .hook = {
            .format = &config_jsonc,
            .file = "settings.json",
            .project = ".gemini/settings.json",
            .event = "BeforeTool",
            .matcher = ".*",
            .command_key = "command",
            .timeout_key = "timeout",
            .timeout_per_s = 1000,
        },
    },
    {
        .name = "qwen",
        .alias = "qwen-code",
        .title = "Qwen Code",
        .format = &config_jsonc,
        .container = "mcpServers",
        .home = "~/.qwen",
        .files = { "settings.json" },
        .project = ".qwen/settings.json",
        .timeout_key = "timeout",
        .timeout_per_s = 1000,
        .url_key = "httpUrl",
        .token_value = "Bearer ${" TOKEN_VARIABLE "}",
        .env_key = "env",
        .trust_key = "trust",
        .extras = ",\"alwaysLoadTools\":true", /* else the model has to search for them */
    },
    {
        .name = "opencode",
        .title = "opencode",
        .format = &config_jsonc,
        .container = "mcp",
        .home = "",
        .files = { "opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json" },
        .project = "opencode.json",
        .project_too = "opencode.jsonc",
        .timeout_key = "timeout",
        .timeout_per_s = 1000,
        .local_type = "local",
        .remote_type = "remote",
        .url_key = "url",
        .token_value = "Bearer {env:" TOKEN_VARIABLE "}",
        .env_key = "environment",
        .is_one_list = true,
        .extras = ",\"enabled\":true",
    },
    {
        .name = "cline",
        .title = "Cline",
        .format = &config_json,
        .container = "mcpServers",
        .home_variable = "CLINE_DATA_DIR",
        .home = "~/.cline/data",
        .files = { "settings/cline_mcp_settings.json" },
        .timeout_key = "timeout",
        .timeout_per_s = 1,
        .env_key = "env",
    },
    {
        .name = "claude-desktop",
        .alias = "desktop",
        .title = "Claude Desktop",
        .format = &config_json,
        .container = "mcpServers",
        .home = "",
        .files = { "Claude/claude_desktop_config.json" },
        .env_key = "env",
        .strips = true,
    },
};

size_t client_count(void)
{
    return ARRAY_LEN(clients);
}

const struct client *client_at(size_t index)
{
    return &clients[index];
}

const struct client *client_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        if (strcasecmp(clients[i].name, name) == 0 ||
            (clients[i].alias && strcasecmp(clients[i].alias, name) == 0))
            return &clients[i];
    }
    return NULL;
}

bool client_home(const struct client *client, const char *home, char out[CLIENT_PATH_BYTES])
{
    const char *moved = client->home_variable ? getenv(client->home_variable) : NULL;
    const char *config = getenv("XDG_CONFIG_HOME");
    char user[CLIENT_PATH_BYTES];
    int length;

    if (moved && moved[0] == '/')
        length = snprintf(out, CLIENT_PATH_BYTES, "%s", moved);
    else if (home[0] != '~' && config && config[0] == '/')
        length = snprintf(out, CLIENT_PATH_BYTES, "%s", config);
    else if (!os_home(user, sizeof user))
        return false;
    else
        length =
            snprintf(out, CLIENT_PATH_BYTES, "%s%s", user, home[0] == '~' ? home + 1 : "/.config");
    return length < CLIENT_PATH_BYTES;
}

static bool has_directory(const char *path)
{
    char *directory = mem_text(path);
    bool is_there;

    *strrchr(directory, '/') = '\0';
    is_there = access(directory, F_OK) == 0;
    free(directory);
    return is_there;
}

static bool find_user_file(const struct client *client, char out[CLIENT_PATH_BYTES])
{
    char home[CLIENT_PATH_BYTES];

    if (!client_home(client, client->home, home))
        return false;
    for (int needs_file = 1; needs_file >= 0; needs_file--) {
        for (size_t i = 0; i < ARRAY_LEN(client->files) && client->files[i]; i++) {
            if (snprintf(out, CLIENT_PATH_BYTES, "%s/%s", home, client->files[i]) >=
                CLIENT_PATH_BYTES)
                return false;
            if (needs_file ? access(out, F_OK) == 0 : has_directory(out))
                return true;
        }
    }
    return snprintf(out, CLIENT_PATH_BYTES, "%s/%s", home, client->files[0]) < CLIENT_PATH_BYTES;
}

bool client_file(const struct client *client, bool is_project, char out[CLIENT_PATH_BYTES],
                 struct error *err)
{
    char here[CLIENT_PATH_BYTES];
    const char *name = client->project;
    bool ok;

    if (!is_project)
        return find_user_file(client, out) ||
               error_say(err, ERROR_unavailable, "", TEXT_REASON_NO_HOME, NULL);
    if (!name || !os_working_directory(here, sizeof here))
        return error_say(err, ERROR_unsupported_flag, "/project", TEXT_REASON_NO_PROJECT_FILES,
                         "name", client->title, NULL);
    if (client->project_too && access(client->project_too, F_OK) == 0)
        name = client->project_too;
    ok = snprintf(out, CLIENT_PATH_BYTES, "%s/%s", here, name) < CLIENT_PATH_BYTES;
    return ok || error_say(err, ERROR_too_long, "", TEXT_REASON_PATH_TOO_LONG, "name", name, NULL);
}
