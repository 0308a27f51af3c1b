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
#include "cli/install/entry.h"
#include "i18n/i18n.h"

#define TOKEN_VARIABLE "MCP_SAYSO_TOKEN"

static const struct client clients[] = {
    {
        { "claude", "claude-code", "Claude Code" },
        { &config_json, "mcpServers", "env" },
        { "~", "CLAUDE_CONFIG_DIR" },
        .files = { ".claude.json" },
        .project = ".mcp.json",
        .timeout = { "timeout", 1000 },
        .types = { "stdio", "http" },
        .url = { "url", NULL, "Bearer ${" TOKEN_VARIABLE "}" },
        .has_rules = true,
        .hook = {
            { &config_json, "PreToolUse", "*", "command" },
            { "~/.claude", "settings.json", ".claude/settings.json" },
            .timeout = { "timeout", 1 },
            /* its own dialog is open beside the first, and behind the second */
            .prompts = { { "PermissionRequest", 86400 }, { "Elicitation", HOOK_TIMEOUT_S }, { "Stop", HOOK_TIMEOUT_S } },
        },
    },
    {
        { "codex", "codex-cli", "Codex" },
        { &config_toml, "mcp_servers", "env" },
        { "~/.codex", "CODEX_HOME" },
        .files = { "config.toml" },
        .project = ".codex/config.toml",
        .timeout = { "tool_timeout_sec", 1 },
        .url = { "url", "bearer_token_env_var", TOKEN_VARIABLE },
        .strips = true,
        .hook = {
            { &config_json, "PreToolUse", ".*", "command" },
            { NULL, "hooks.json", ".codex/hooks.json" },
            .timeout = { "timeout", 1 },
            .prompts = { { "PermissionRequest", HOOK_TIMEOUT_S } },
            .needs_trust = true,
        },
    },
    {
        { "copilot", "copilot-cli", "Copilot CLI" },
        { &config_json, "mcpServers", "env" },
        { "~/.copilot", "COPILOT_HOME" },
        .files = { "mcp-config.json" },
        .project = ".mcp.json",
        .timeout = { "timeout", 1000 },
        .types = { "stdio", "http" },
        .url = { "url", NULL, "Bearer ${" TOKEN_VARIABLE "}" },
        .strips = true,
        .extras = ",\"tools\":[\"*\"]",
        .hook = {
            { &config_json, "preToolUse", NULL, "bash" },
            { NULL, "hooks/sayso.json", ".github/hooks/sayso.json" },
            .timeout = { "timeoutSec", 1 },
            .has_version = true,
        },
    },
    {
        { "vscode", "code", "VS Code" },
        { &config_jsonc, "servers", "env" },
        { "", NULL },
        .files = { "Code/User/mcp.json", "Code - Insiders/User/mcp.json",
                   "VSCodium/User/mcp.json" },
        .project = ".vscode/mcp.json",
        .types = { "stdio", "http" },
        .url = { "url", NULL, "Bearer ${env:" TOKEN_VARIABLE "}" },
        .strips = true, /* started from a desktop it never had the shell's */
    },
    {
        { "cursor", NULL, "Cursor" },
        { &config_jsonc, "mcpServers", "env" },
        { "~/.cursor", NULL },
        .files = { "mcp.json" },
        .project = ".cursor/mcp.json",
        .url = { "url", NULL, "Bearer ${env:" TOKEN_VARIABLE "}" },
        .strips = true,
    },
    {
        { "gemini", "gemini-cli", "Gemini CLI" },
        { &config_jsonc, "mcpServers", "env" },
        { "~/.gemini", NULL },
        .files = { "settings.json" },
        .project = ".gemini/settings.json",
        .timeout = { "timeout", 1000 },
        .url = { "httpUrl", NULL, "Bearer ${" TOKEN_VARIABLE "}" },
        .strips = true,
        .trust_key = "trust",
        .hook = {
            { &config_jsonc, "BeforeTool", ".*", "command" },
            { NULL, "settings.json", ".gemini/settings.json" },
            .timeout = { "timeout", 1000 },
        },
    },
    {
        { "qwen", "qwen-code", "Qwen Code" },
        { &config_jsonc, "mcpServers", "env" },
        { "~/.qwen", NULL },
        .files = { "settings.json" },
        .project = ".qwen/settings.json",
        .timeout = { "timeout", 1000 },
        .url = { "httpUrl", NULL, "Bearer ${" TOKEN_VARIABLE "}" },
        .trust_key = "trust",
        .extras = ",\"alwaysLoadTools\":true", /* else the model has to search for them */
    },
    {
        { "opencode", NULL, "opencode" },
        { &config_jsonc, "mcp", "environment" },
        { "", NULL },
        .files = { "opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json" },
        .project = "opencode.json",
        .project_too = "opencode.jsonc",
        .timeout = { "timeout", 1000 },
        .types = { "local", "remote" },
        .url = { "url", NULL, "Bearer {env:" TOKEN_VARIABLE "}" },
        .is_one_list = true,
        .extras = ",\"enabled\":true",
    },
    {
        { "cline", NULL, "Cline" },
        { &config_json, "mcpServers", "env" },
        { "~/.cline/data", "CLINE_DATA_DIR" },
        .files = { "settings/cline_mcp_settings.json" },
        .timeout = { "timeout", 1 },
    },
    {
        { "claude-desktop", "desktop", "Claude Desktop" },
        { &config_json, "mcpServers", "env" },
        { "", NULL },
        .files = { "Claude/claude_desktop_config.json" },
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
    char user[CLIENT_PATH_BYTES];

    if (!moved || moved[0] != '/')
        moved = home[0] == '~' ? NULL : getenv("XDG_CONFIG_HOME");
    if (moved && moved[0] == '/')
        return snprintf(out, CLIENT_PATH_BYTES, "%s", moved) < CLIENT_PATH_BYTES;
    return os_home(user, sizeof user) &&
           snprintf(out, CLIENT_PATH_BYTES, "%s%s", user, home[0] == '~' ? home + 1 : "/.config") <
               CLIENT_PATH_BYTES;
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

    if (!is_project)
        return find_user_file(client, out) ||
               error_say(err, ERROR_unavailable, "", TEXT_REASON_NO_HOME, NULL);
    if (!name || !os_working_directory(here, sizeof here))
        return error_say(err, ERROR_unsupported_flag, "/project", TEXT_REASON_NO_PROJECT_FILES,
                         "name", client->title, NULL);
    if (client->project_too && access(client->project_too, F_OK) == 0)
        name = client->project_too;
    return snprintf(out, CLIENT_PATH_BYTES, "%s/%s", here, name) < CLIENT_PATH_BYTES ||
           error_say(err, ERROR_too_long, "", TEXT_REASON_PATH_TOO_LONG, "name", name, NULL);
}
