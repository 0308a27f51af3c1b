/*
 * gate.c - `sayso gate`: what a client's hook runs before a tool of the agent's (R11.3). A call no
 * rule speaks of goes its way; any other is put to a person, as destructive, and only their yes
 * lets it through. Anything that goes wrong is a no with a reason: unreadable input or settings,
 * no hub, silence, and a program that hangs or crashes.
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
#include "cli/gate/prompts.h"
#include "cli/install/clients.h"
#include "cli/say.h"
#include "core/gate.h"
#include "rpc/location.h"
#include "settings/settings.h"

/* What agents' clients say before a tool runs, and want to hear: a row each, with its source. */

/* How its answers look, and what else it takes for one. */
enum hook_shape {
    HOOK_DECIDES = 1,      /* decision, reason */
    HOOK_PLAIN = 2,        /* permissionDecision, permissionDecisionReason */
    HOOK_SPECIFIC = 4,     /* the same in hookSpecificOutput */
    HOOK_SILENT_ALLOW = 8, /* there is no word for allow */
    HOOK_BY_CODE = 16,     /* exit code 2 is a no; others go on where a hook fails */
};
struct hook_format {
    const char *name;            /* of --client */
    const char *event, *own_key; /* by which it is recognised; NULL: whatever it is, none */
    const char *tool_key, *input_key;
    bool input_may_be_text; /* JSON in a text */
    unsigned shape;         /* of enum hook_shape */
    int64_t patience_s;     /* of the client, unless it was configured */
};

/* Members of the answer; `decision` is allow or deny, `reason` never empty. */
static void hook_format_write(const struct hook_format *format, const char *decision,
                              const char *reason, struct json_writer *writer)
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

/* NULL: none is called so, or none of ours is like it. */
static const struct hook_format *hook_format_find(const char *name)
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

/* A hook that hangs, crashes, runs out of memory or is ended by a signal denies the call: the reply
 * in the client's shape is written in advance and sent from a signal handler. What handlers call is
 * on signal-safety(7). */

enum { GATE_BLOCKS = 2 }; /* what clients take for a no without reading further */
enum { WORDS_BYTES = 512, STACK_BYTES = 65536 };

/* In both shapes: JSON for who reads it, and words for who only looks at the exit code. */
struct last_words {
    char json[WORDS_BYTES], plain[WORDS_BYTES];
    size_t json_bytes, plain_bytes;
    int code;
};
static struct last_words crashed, hung;
/* The exit code of what was decided; -1: nothing yet. When it is with the client, nothing is added
 * to it, whatever happens then. */
static volatile sig_atomic_t said_code = -1;

/* Without a format there is nothing to print that all would understand, only a way to end. */
static void guard_write_deny(const struct hook_format *format, const char *reason, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    if (!format) {
        text_add_text(out, "sayso gate: "); /* not for people */
        text_add_text(out, reason);
    } else {
        json_write_object(&writer, NULL);
        hook_format_write(format, "deny", reason, &writer);
        json_write_end_object(&writer);
    }
    text_add_char(out, '\n');
}

/* In place: there may be no memory, so what does not fit would be a fault of ours. */
static void prepare(struct last_words *words, const struct hook_format *format, const char *reason)
{
    struct text json = { .bytes = words->json, .capacity = sizeof words->json };
    struct text plain = { .bytes = words->plain, .capacity = sizeof words->plain };

    if (format)
        guard_write_deny(format, reason, &json);
    guard_write_deny(NULL, reason, &plain);
    words->json_bytes = json.used;
    words->plain_bytes = plain.used;
    words->code = format && !(format->shape & HOOK_BY_CODE) ? 0 : GATE_BLOCKS;
}

static void end_with(const struct last_words *words)
{
    if (said_code >= 0)
        _exit(said_code);
    if (words->code != 0 && write(STDERR_FILENO, words->plain, words->plain_bytes) < 0)
        _exit(GATE_BLOCKS);
    if (write(STDOUT_FILENO, words->json, words->json_bytes) != (ssize_t)words->json_bytes)
        _exit(GATE_BLOCKS);
    _exit(words->code);
}

static void on_signal(int number)
{
    end_with(number == SIGALRM ? &hung : &crashed);
}

/* On a stack of its own, since the other one may be what is full. One signal at a time: a second
 * one would add its reply to that of the first. */
void guard_begin(int count, char **texts)
{
    static const int not_deadly[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, /* ignored, or stop it */
                                      SIGTSTP, SIGTTIN, SIGTTOU };
    static char stack[STACK_BYTES];
    const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
    const struct hook_format *format = NULL;

    if (count >= 2 && strcmp(texts[1], "prompts") == 0)
        prompts_guard();
    if (count < 2 || strcmp(texts[1], "gate") != 0)
        return;
    for (int i = 2; i < count; i++) {
        bool is_joined = strncmp(texts[i], "--client=", 9) == 0;

        if (is_joined || (strcmp(texts[i], "--client") == 0 && i + 1 < count))
            format = hook_format_find(is_joined ? texts[i] + 9 : texts[i + 1]);
    }
    prepare(&crashed, format, "denied: the gate failed; ask the user");
    sigaltstack(&own, NULL);
    sigfillset(&action.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        sigaction(number, &action, NULL);
    for (size_t i = 0; i < ARRAY_LEN(not_deadly); i++)
        signal(not_deadly[i], SIG_DFL);
}

/* From now on no more than this long, whatever hangs; NULL: the format is not known. */
static void guard_watch(const struct hook_format *format, int64_t limit_s)
{
    alarm(0); /* the prepared denial is incomplete until it is written again */
    prepare(&hung, format, "denied: no decision in time; ask the user");
    prepare(&crashed, format, "denied: the gate failed; ask the user");
    hung.code = format ? 0 : GATE_BLOCKS;
    alarm((unsigned)limit_s);
}

int guard_end(int code)
{
    if (crashed.plain_bytes > 0 && said_code < 0 && code != 0)
        end_with(&crashed);
    return prompts_end(code);
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
    said_code = (int)code;
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

bool gate_find_rule(const char *tool, const struct json *input, const char *directory,
                    struct gate_match *ret_match, struct error *err)
{
    struct settings *settings = settings_new();
    char home[DIRECTORY_BYTES];
    struct location location;
    bool ok = location_find(&location, err);
    struct gate_call call = {
        .tool = tool,
        .input = input,
        .directory = directory,
        .home = os_home(home, sizeof home) ? home : NULL,
    };

    settings_load(settings, ok ? location.settings : NULL);
    ok = ok && !settings_problem(settings, err);
    *ret_match = settings_gate(settings, &call);
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

    if (!gate_find_rule(hook->question.tool, hook->question.input, hook->directory, &match, &err))
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
