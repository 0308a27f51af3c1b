/*
 * gate.c - `sayso gate`: what a client's hook runs before a tool of the agent's (R11.3). A call no
 * rule speaks of goes its way; any other is put to a person, as destructive, and only their yes
 * lets it through. Anything that goes wrong is a no with a reason: unreadable input or settings,
 * no hub, silence, and a program that hangs or crashes (guard.c).
 *
 * What is printed is for the client and its agent, in English; a person is asked in their
 * language.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/gate/ask.h"
#include "cli/install/clients.h"
#include "cli/say.h"
#include "core/gate.h"
#include "rpc/location.h"
#include "settings/settings.h"

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

/* The more particular before the more general. */
static const struct hook_format formats[] = {
    /* google-gemini/gemini-cli, docs/hooks/reference.md: 60 s by default */
    { "gemini", "BeforeTool", NULL, "tool_name", "tool_input", false, HOOK_DECIDES | HOOK_BY_CODE,
      60 },
    /* github/docs, copilot-cli-reference/cli-hooks-reference.md and hooks-configuration.md:
     * toolArgs is an object or JSON in a text, 30 s by default, and a hook that ends with an error
     * is skipped */
    { "copilot", NULL, "toolName", "toolName", "toolArgs", true, HOOK_PLAIN, 30 },
    /* of Copilot as well, configured as PreToolUse; each looks for another of the shapes */
    { "vscode", "PreToolUse", "timestamp", "tool_name", "tool_input", true,
      HOOK_PLAIN | HOOK_SPECIFIC, 30 },
    /* openai/codex, codex-rs/hooks, schema/generated and src/engine/output_parser.rs: refuses an
     * explicit allow, a deny without a reason, and members it does not know */
    { "codex", "PreToolUse", "model", "tool_name", "tool_input", false,
      HOOK_SPECIFIC | HOOK_SILENT_ALLOW | HOOK_BY_CODE, 60 },
    /* code.claude.com/docs/en/hooks */
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

static const struct hook_format *hook_format_recognise(const struct json *hook)
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

enum {
    GATE_REPLY_S = 3,  /* the person's deadline comes before the watchdog, */
    GATE_MARGIN_S = 5, /* and that before the client's patience ends */
    GATE_WAIT_MIN_S = 5,
    GATE_WAIT_MAX_S = 86400,
    GATE_UNKNOWN_S = 30, /* the shortest patience of all formats */
    DIRECTORY_BYTES = 4096,
};

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);

        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Signals wait until it is said: with the guard's reply after it, this one could not be read. */
static enum exit_code say(const struct hook_format *format, struct text *take_words)
{
    enum exit_code code;
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    code = write_all(format ? STDOUT_FILENO : STDERR_FILENO, take_words->bytes, take_words->used) &&
                   format
               ? EXIT_DONE
               : (enum exit_code)GATE_BLOCKS;
    guard_is_said((int)code);
    sigprocmask(SIG_SETMASK, &before, NULL);
    text_release(take_words);
    return code;
}

static enum exit_code deny(const struct hook_format *format, const char *reason)
{
    struct text out = { 0 };

    guard_write_deny(format, reason, &out);
    return say(format, &out);
}

static enum exit_code allow(const struct hook_format *format, const char *reason_or_null)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    if (reason_or_null && !(format->shape & HOOK_SILENT_ALLOW))
        hook_format_write(format, "allow", reason_or_null, &writer);
    json_write_end_object(&writer);
    text_add_char(&out, '\n');
    return say(format, &out);
}

/* What was read of a hook. */
struct hook_call {
    const struct hook_format *format;
    struct json *json, *inner; /* owned; the latter where the input was a text */
    const char *directory;
    struct gate_question question;
};

static const char *read_input(struct hook_call *hook)
{
    const struct json *input = json_member(hook->json, hook->format->input_key);
    const char *text = json_text(input);

    if (!input)
        return "the hook's input does not say what the tool is called with";
    hook->question.input = input;
    if (text && hook->format->input_may_be_text && *text) {
        if (!json_parse(text, json_length(input), &hook->inner, NULL))
            return "what the tool is called with is not readable as JSON";
        hook->question.input = hook->inner;
    }
    return NULL;
}

/* NULL, or why it can't be judged. */
static const char *read_hook(struct hook_call *hook, const struct text *given)
{
    if (!json_parse(text_string(given), given->used, &hook->json, NULL) ||
        json_kind(hook->json) != KIND_OBJECT)
        return "the hook's input is not a JSON object";
    if (!hook->format)
        hook->format = hook_format_recognise(hook->json);
    if (!hook->format)
        return "the hook's input is of no format it knows; --client says whose it is";
    hook->question.client = hook->format->name;
    hook->question.tool = json_member_text(hook->json, hook->format->tool_key);
    hook->question.use_id = json_member_text(hook->json, "tool_use_id");
    hook->directory = json_member_text(hook->json, "cwd");
    if (!hook->question.tool || !*hook->question.tool)
        return "the hook's input does not name the tool";
    return read_input(hook);
}

/* False: what the rules are can't be read. */
static bool find_rule(const struct hook_call *hook, struct gate_match *ret_match, struct error *err)
{
    struct settings *settings = settings_new();
    char home[DIRECTORY_BYTES];
    struct location location;
    struct gate_rules rules;
    bool ok = location_find(&location, err);
    struct gate_call call = {
        .tool = hook->question.tool,
        .input = hook->question.input,
        .directory = hook->directory,
        .home = os_home(home, sizeof home) ? home : NULL,
    };

    settings_load(settings, ok ? location.settings : NULL);
    ok = ok && !settings_problem(settings, err);
    rules = (struct gate_rules){
        .commands = settings_text(settings, SETTING_GATE_COMMANDS),
        .words = settings_text(settings, SETTING_GATE_WORDS),
        .paths = settings_text(settings, SETTING_GATE_PATHS),
        .tools = settings_text(settings, SETTING_GATE_TOOLS),
    };
    *ret_match = gate_find(&rules, &call);
    settings_free(settings);
    return ok;
}

static enum exit_code judge(struct hook_call *hook)
{
    struct gate_match match;
    struct gate_answer answer = { 0 };
    const char *reason;
    struct error err;
    enum exit_code code;

    if (!find_rule(hook, &match, &err))
        return deny(hook->format, err.message);
    if (match.kind == GATE_NONE)
        return allow(hook->format, NULL);
    hook->question.match = &match;
    gate_ask(&hook->question, &answer);
    reason = text_string(&answer.reason);
    code = answer.is_allowed ? allow(hook->format, reason) : deny(hook->format, reason);
    gate_confirm(&answer);
    return code;
}

/* How long the person has. */
static int64_t wait_of(const struct hook_format *format, int64_t chosen_s)
{
    int64_t patience_s = format ? format->patience_s : GATE_UNKNOWN_S;

    return chosen_s ? chosen_s : patience_s - GATE_MARGIN_S - GATE_REPLY_S;
}

static enum exit_code answer_hook(struct hook_call *hook, int64_t chosen_s)
{
    struct text given = { 0 };
    struct error err;
    const char *problem;

    guard_watch(hook->format, wait_of(hook->format, chosen_s) + GATE_REPLY_S);
    problem = ask_arguments_from_file("-", &given, &err) ? read_hook(hook, &given) : err.message;
    text_release(&given);
    if (problem)
        return deny(hook->format, problem);
    hook->question.wait_s = wait_of(hook->format, chosen_s);
    guard_watch(hook->format, hook->question.wait_s + GATE_REPLY_S);
    return judge(hook);
}

static enum exit_code run_gate(const struct arguments *arguments)
{
    const char *client = arguments_value(arguments, "client");
    struct hook_call hook = { .format = client ? hook_format_find(client) : NULL };
    enum exit_code code = (enum exit_code)GATE_BLOCKS;
    int64_t wait_s = 0;

    if (client && !hook.format)
        say_problem(TEXT_CLI_NO_HOOK, "name", client);
    else if (arguments_integer(arguments, "wait", GATE_WAIT_MIN_S, GATE_WAIT_MAX_S, &wait_s))
        code = answer_hook(&hook, wait_s);
    json_free(hook.inner);
    json_free(hook.json);
    return code;
}

static const struct verb_option options[] = {
    { "client", 0, "NAME", TEXT_OPT_HOOK_CLIENT, false },
    { "wait", 'w', "SECONDS", TEXT_OPT_HOOK_WAIT, false },
};
static const char *const usage[] = { "gate [--client NAME] [--wait SECONDS] < HOOK", NULL };
static const char *const examples[] = {
    "gate --client claude",
    "gate --client copilot --wait 110",
    "settings set gate_commands 'rm -r;git push --force*;terraform destroy'",
    NULL,
};
VERB_ROW(gate, TEXT_CLI_GATE, VERB_TABLES, .works_remotely = true, .runs_without_settings = true);
