/*
 * hook_format.c - the formats, the more particular before the more general.
 *
 * Claude Code   code.claude.com/docs/en/hooks, PreToolUse: decision in hookSpecificOutput
 * Codex         openai/codex, codex-rs/hooks: schema/generated/pre-tool-use.command.*.schema.json
 * and src/engine/output_parser.rs, which refuses an explicit allow, a deny without a reason, and
 * members it does not know Gemini CLI    google-gemini/gemini-cli, docs/hooks/reference.md,
 * BeforeTool: 60 s by default Copilot CLI   github/docs,
 * content/copilot/reference/copilot-cli-reference/cli-hooks-reference.md and
 * hooks-configuration.md: toolArgs is an object or JSON in a text, 30 s by default, and a hook that
 * ends with an error is skipped. Configured as PreToolUse it sends the members of VS Code's format,
 * with a timestamp.
 */
#include "cli/gate/hook_format.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "cli/install/clients.h"

void hook_format_write(const struct hook_format *format, const char *decision, const char *reason,
                       struct json_writer *writer)
{
    if (format->shape & HOOK_DECIDES) {
        json_write_text(writer, "decision", decision);
        json_write_text(writer, "reason", reason);
    }
    if (format->shape & HOOK_PLAIN) {
        json_write_text(writer, "permissionDecision", decision);
        json_write_text(writer, "permissionDecisionReason", reason);
    }
    if (format->shape & HOOK_SPECIFIC) {
        json_write_object(writer, "hookSpecificOutput");
        json_write_text(writer, "hookEventName", "PreToolUse");
        json_write_text(writer, "permissionDecision", decision);
        json_write_text(writer, "permissionDecisionReason", reason);
        json_write_end_object(writer);
    }
}

/* VS Code's is read by two, each of which looks for another of the shapes. */
static const struct hook_format formats[] = {
    { "gemini", "BeforeTool", NULL, "tool_name", "tool_input", false, HOOK_DECIDES | HOOK_BY_CODE,
      60 },
    { "copilot", NULL, "toolName", "toolName", "toolArgs", true, HOOK_PLAIN, 30 },
    { "vscode", "PreToolUse", "timestamp", "tool_name", "tool_input", true,
      HOOK_PLAIN | HOOK_SPECIFIC, 30 },
    { "codex", "PreToolUse", "model", "tool_name", "tool_input", false,
      HOOK_SPECIFIC | HOOK_SILENT_ALLOW | HOOK_BY_CODE, 60 },
    { "claude", "PreToolUse", NULL, "tool_name", "tool_input", false, HOOK_SPECIFIC | HOOK_BY_CODE,
      60 },
};

const struct hook_format *hook_format_find(const char *name)
{
    const struct client *client = client_find(name);

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (strcmp(formats[i].name, client ? client->name : name) == 0)
            return &formats[i];
    }
    return NULL;
}

const struct hook_format *hook_format_recognise(const struct json *hook)
{
    const char *event = json_member_text(hook, "hook_event_name");

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        const struct hook_format *format = &formats[i];

        if ((!format->event || (event && strcmp(event, format->event) == 0)) &&
            (!format->own_key || json_member(hook, format->own_key)))
            return format;
    }
    return NULL;
}
