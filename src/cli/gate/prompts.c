/*
 * prompts.c - `sayso prompts`: what a client's hook runs when the client asks its user something
 * itself (R15). It becomes an ask; what a person decides goes back as the hook's decision. All else
 * is no decision: nothing is printed, the exit code is 0, and the client goes on as if we were not
 * there. The gate beside it fails to "no"; this fails to nothing.
 *
 * Claude Code (2.1.325) shows its own dialog of permissions and questions while the hook runs: the
 * first answer wins, and the transcript tells of one that was given there. A form of a server, what
 * Stop asks, and all of Codex's prompts wait for the hook.
 */
#include "cli/gate/prompts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "cli/gate/ask.h"
#include "cli/hub_call.h"
#include "cli/install/config_file.h"
#include "cli/install/entry.h"
#include "cli/say.h"
#include "core/gate.h"
#include "core/limits.h"
#include "core/outcome.h"
#include "core/prompt.h"
#include "rpc/location.h"
#include "settings/settings.h"

#define TAG "prompt"

enum {
    TRIES = 3,
    PROMPTS_WAIT_S = 570,
    PROMPTS_WAIT_MIN_S = 5,
    PROMPTS_WAIT_MAX_S = 86400,
    PROMPTS_MARGIN_S = 20, /* the ask's own end comes before the watchdog */
    STACK_BYTES = 65536,
    DIGEST_BYTES = 8,
};

static const struct prompt_client {
    const char *name;
    bool opens_dialog; /* of permissions and questions, while the hook runs */
    bool keeps_rules;  /* takes "always" */
} prompt_clients[] = {
    { "claude", true, true },
    { "codex", false, false },
};

static const char nothing_to_ask[] = ""; /* nor anything to log */
static bool is_guarded;
static int stop_ends[2] = { -1, -1 }; /* readable when the client has ended us */

/* What handlers call is on signal-safety(7). */
static void on_signal(int number)
{
    static const char crashed[] = "{\"level\":\"error\",\"event\":\"prompts.crashed\"}\n";
    bool is_end = number == SIGTERM || number == SIGINT || number == SIGHUP;

    if (is_end && stop_ends[1] >= 0 && write(stop_ends[1], "", 1) == 1)
        return;
    if (!is_end && write(STDERR_FILENO, crashed, sizeof crashed - 1) < 0)
        _exit(EXIT_DONE);
    _exit(EXIT_DONE);
}

void prompts_guard(void)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP,  SIGALRM, SIGSEGV,
                                   SIGBUS,  SIGFPE, SIGILL,  SIGABRT, SIGXCPU,
                                   SIGXFSZ, SIGSYS, SIGQUIT, SIGUSR1, SIGUSR2 };
    static char stack[STACK_BYTES];
    const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

    is_guarded = true;
    sigaltstack(&own, NULL);
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int prompts_end(int code)
{
    return is_guarded ? EXIT_DONE : code;
}

/* One prompt on its way to a person. */
struct mirror {
    const struct prompt_client *client;
    struct json *hook; /* owned */
    struct prompt prompt;
    char digest[2 * DIGEST_BYTES + 1], key[32], session_id[27];
    struct transcript transcript;
    struct client_identity identity;
    struct client_policy policy;
    struct client *link;
    struct rpc_message reply; /* the final one */
    bool is_done, is_withdrawn;
    const char *reason; /* why nothing is decided; a word for the log */
};

/* Into the hub's log, where there is one: clients show what a hook says only where it failed. */
static void log_no_decision(const struct mirror *mirror)
{
    struct location location;
    int fd = -1;

    if (location_find(&location, NULL) && access(location.log, F_OK) == 0)
        fd = os_open_log(location.log, LIMIT_ECHO_CHARS);
    if (fd >= 0) {
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
    log_info("prompts.no_decision", "client=%s reason=%s", mirror->client->name, mirror->reason);
}

static void call(struct mirror *mirror, enum method method, struct json_writer *params,
                 client_done *done)
{
    const struct request request = {
        .method = method, .text = params->out, .wait_ms = -1, .tag = TAG
    };

    json_write_end_object(params);
    client_call(mirror->link, &request, done, mirror);
    text_release(params->out);
}

/* A hook can neither explain something to a person who asks back nor open a terminal. */
static void on_reply(void *context, const struct client_reply *reply)
{
    struct mirror *mirror = context;
    struct text params = { 0 };
    struct json_writer writer;

    if (reply->err.code == ERROR_NONE && reply->kind != REPLY_FINAL) {
        writer = json_object_to(&params);
        json_write_text(&writer, "session_id", json_member_text(reply->json, "session_id"));
        json_write_integer(&writer, "wait_seconds", -1);
        call(mirror, METHOD_ask_wait, &writer, on_reply);
        return;
    }
    mirror->is_done = true;
    if (reply->err.code != ERROR_NONE) {
        mirror->reason = reply->failure == FAILURE_NONE ? error_name(reply->err.code) : "no_hub";
    } else {
        mirror->reply = *reply->message;
        json_keep(mirror->reply.root);
    }
}

static void on_event(void *context, const struct rpc_message *note, const char *line, size_t length)
{
    struct mirror *mirror = context;
    const char *id = json_member_text(note->params, "session_id");

    (void)line;
    (void)length;
    if (strcmp(note->method, "ask/created") == 0 && id && strlen(id) == LIMIT_ID_CHARS)
        text_put(mirror->session_id, sizeof mirror->session_id, id);
}

static void withdraw(struct mirror *mirror)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    mirror->is_withdrawn = true;
    json_write_text(&writer, "session_id", mirror->session_id);
    call(mirror, METHOD_ask_withdraw, &writer, NULL);
    client_flush(mirror->link);
    alarm(PROMPTS_MARGIN_S);
}

/* Until it is decided here or there, or the client has ended. */
static void wait_for_person(struct mirror *mirror)
{
    enum { HUB, STOP, OUTPUT, NEWS, COUNT };
    bool is_over = false; /* for the client */

    while (!mirror->is_done) {
        struct pollfd ready[COUNT] = {
            [STOP] = { .fd = stop_ends[0], .events = POLLIN },
            [OUTPUT] = { .fd = STDOUT_FILENO }, /* whether the client still reads it */
            [NEWS] = { .fd = mirror->transcript.watch, .events = POLLIN },
        };
        int limit_ms = client_wait_for(mirror->link, &ready[HUB]);

        if (poll(ready, COUNT, limit_ms) < 0 && errno != EINTR)
            return;
        client_advance(mirror->link);
        if (ready[NEWS].revents)
            transcript_read(&mirror->transcript);
        if (!is_over && transcript_is_decided(&mirror->transcript)) {
            mirror->reason = "answered_in_client";
            is_over = true;
        }
        if (ready[STOP].revents || (ready[OUTPUT].revents & (POLLERR | POLLHUP))) {
            mirror->reason = "client_ended";
            is_over = true;
        }
        if (is_over && !mirror->session_id[0] && !client_is_up(mirror->link))
            return; /* no one was asked */
        if (is_over && mirror->session_id[0] && !mirror->is_withdrawn)
            withdraw(mirror);
    }
}

static bool ask(struct mirror *mirror)
{
    static const struct client_ops ops = { .event = on_event };
    const struct client *client = client_find(mirror->client->name);
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);
    const char *tool;

    json_write_object(&writer, "arguments");
    tool = prompt_write_arguments(&mirror->prompt, &writer);
    json_write_end_object(&writer);
    if (!tool) {
        mirror->reason = "too_long";
        text_release(&params);
        return false;
    }
    mirror->identity = (struct client_identity){ .role = "agent",
                                                 .name = client->title,
                                                 .directory = json_member_text(mirror->hook, "cwd"),
                                                 .client_version = mirror->transcript.version };
    mirror->policy = client_for_ask;
    mirror->policy.max_losses = TRIES - 1;
    mirror->link = client_new(&mirror->identity, &mirror->policy, &ops, mirror, loop_boot_ms);
    json_write_text(&writer, "tool", tool);
    json_write_text(&writer, "tag", TAG);
    json_write_integer(&writer, "wait_seconds", -1);
    call(mirror, METHOD_ask_create, &writer, on_reply);
    client_advance(mirror->link);
    wait_for_person(mirror);
    return mirror->is_done && mirror->reply.result;
}

/* How an ask ended from which no decision follows. */
static const char *const endings[ENDING_COUNT] = {
    [ENDING_PENDING] = "unknown",   [ENDING_ANSWERED] = "not_by_a_person",
    [ENDING_DECLINED] = "declined", [ENDING_CANCELLED] = "cancelled",
    [ENDING_TIMEOUT] = "timeout",   [ENDING_WITHDRAWN] = "withdrawn",
    [ENDING_UNKNOWN] = "unknown",
};

/* What was answered before it could be withdrawn is the client's to take or leave. */
static void decide(struct mirror *mirror)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    bool is_decided = prompt_write_decision(&mirror->prompt, mirror->reply.result, &writer);
    size_t done = 0;

    json_write_end_object(&writer);
    text_add_char(&out, '\n');
    while (is_decided && done < out.used) {
        ssize_t written = write(STDOUT_FILENO, out.bytes + done, out.used - done);

        if (written <= 0)
            break;
        done += (size_t)written;
    }
    if (!is_decided || done == out.used) /* else the client lacks it: it is kept */
        call_confirm(mirror->link, json_member_text(mirror->reply.result, "session_id"), NULL);
    if (!mirror->reason && done < out.used)
        mirror->reason = is_decided ? "not_written" : endings[outcome_read(mirror->reply.result)];
    text_release(&out);
}

/* Our own server asks by itself; its forms are no news to the hub. */
static bool is_own_server(const struct client *client, const char *server)
{
    bool is_ours = strcmp(server, "sayso") == 0;

    for (int is_project = 0; !is_ours && is_project < 2; is_project++) {
        struct config_file file = { 0 };
        char path[CLIENT_PATH_BYTES];
        struct json *entry = NULL;

        if (client_file(client, is_project, path, NULL) &&
            config_file_read(path, is_project, &file, NULL) &&
            client->format->check(&file.bytes, NULL))
            entry = entry_find(client, server, &file.bytes);
        is_ours = entry && entry_is_ours(client, entry);
        json_free(entry);
        config_file_release(&file);
    }
    return is_ours;
}

static bool asks_what_next(void)
{
    struct settings *settings = call_settings();
    bool is_on = settings_is_on(settings, SETTING_WHAT_NEXT);

    settings_free(settings);
    return is_on;
}

static void name_ask(struct mirror *mirror)
{
    struct text identity = { 0 };
    uint8_t hash[HASH_BYTES];

    prompt_write_identity(&mirror->prompt, &identity);
    hash_bytes(identity.bytes, identity.used, hash);
    hash_hex(hash, DIGEST_BYTES, mirror->digest);
    random_id(mirror->key);
    mirror->prompt.digest = mirror->digest;
    mirror->prompt.key = mirror->key;
    text_release(&identity);
}

/* NULL, or why there is nothing to ask. */
static const char *read_prompt(struct mirror *mirror, const struct text *given)
{
    struct prompt *prompt = &mirror->prompt;
    const char *problem;
    struct gate_match match = { 0 };
    struct error err;

    if (!json_parse(text_string(given), given->used, &mirror->hook, NULL) ||
        json_kind(mirror->hook) != KIND_OBJECT)
        return "no_json";
    problem = prompt_read(mirror->hook, prompt);
    if (problem)
        return problem;
    if (prompt->kind == PROMPT_NEXT && !asks_what_next())
        return nothing_to_ask;
    prompt->client = client_find(mirror->client->name)->title;
    prompt->dialog = mirror->client->opens_dialog &&
                             (prompt->kind == PROMPT_PERMISSION || prompt->kind == PROMPT_QUESTIONS)
                         ? DIALOG_OPEN
                         : DIALOG_LATER;
    if (!mirror->client->keeps_rules)
        prompt->suggestions = NULL;
    if (prompt->kind == PROMPT_FORM &&
        is_own_server(client_find(mirror->client->name), prompt->server))
        return "own_server";
    if (prompt->kind == PROMPT_PERMISSION &&
        !gate_find_rule(prompt->tool, prompt->input, json_member_text(mirror->hook, "cwd"), &match,
                        &err))
        return "settings";
    prompt->is_destructive = match.kind != GATE_NONE;
    name_ask(mirror);
    return NULL;
}

static void mirror_hook(struct mirror *mirror)
{
    struct text given = { 0 };
    struct error err;

    mirror->reason = ask_arguments_from_file("-", &given, &err) ? read_prompt(mirror, &given)
                                                                : error_name(err.code);
    text_release(&given);
    if (!mirror->reason && pipe(stop_ends) == 0) {
        fcntl(stop_ends[0], F_SETFD, FD_CLOEXEC);
        fcntl(stop_ends[1], F_SETFD, FD_CLOEXEC);
        alarm((unsigned)mirror->prompt.wait_s + PROMPTS_MARGIN_S);
        transcript_open(&mirror->transcript,
                        mirror->prompt.dialog == DIALOG_OPEN
                            ? json_member_text(mirror->hook, "transcript_path")
                            : NULL,
                        mirror->prompt.tool, mirror->prompt.input);
        if (ask(mirror))
            decide(mirror);
        transcript_close(&mirror->transcript);
    }
    if (mirror->reason && mirror->reason != nothing_to_ask)
        log_no_decision(mirror);
    rpc_release(&mirror->reply);
    client_free(mirror->link);
    json_free(mirror->hook);
}

static enum exit_code run_prompts(const struct arguments *arguments)
{
    const char *name = arguments_value(arguments, "client");
    const struct client *known = name ? client_find(name) : NULL;
    struct mirror mirror = { .prompt.wait_s = PROMPTS_WAIT_S };

    for (size_t i = 0; known && i < ARRAY_LEN(prompt_clients); i++) {
        if (strcmp(prompt_clients[i].name, known->name) == 0)
            mirror.client = &prompt_clients[i];
    }
    if (!mirror.client)
        say_problem(TEXT_CLI_NO_PROMPTS, "name", name ? name : "");
    else if (arguments_integer(arguments, "wait", PROMPTS_WAIT_MIN_S, PROMPTS_WAIT_MAX_S,
                               &mirror.prompt.wait_s))
        mirror_hook(&mirror);
    return EXIT_DONE;
}

static const struct verb_option options[] = {
    { "client", 0, "NAME", TEXT_OPT_PROMPTS_CLIENT, false },
    { "wait", 'w', "SECONDS", TEXT_OPT_PROMPTS_WAIT, false },
};
static const char *const usage[] = { "prompts --client NAME [--wait SECONDS] < HOOK", NULL };
static const char *const examples[] = { "prompts --client claude --wait 86000", NULL };
VERB_ROW(prompts, TEXT_CLI_PROMPTS, VERB_TABLES, .works_remotely = true,
         .runs_without_settings = true);
