/*
 * ask.c - `sayso ask`: a script asks, a person answers, stdout gets the ids or the text. A bad
 * call is refused here, before a hub is started or anyone disturbed. If the hub dies while we wait
 * it is started again and our ask taken up where it stood. `sayso explain` goes on waiting so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/limits.h"
#include "core/outcome.h"
#include "core/tools/arguments.h"
#include "tui/app.h"

/* From the options of `sayso ask` to the arguments of provide_choice. */

static bool is_recommended(const struct arguments *arguments, const char *id, size_t length)
{
    const char *wanted;
    size_t at = 0;

    while ((wanted = arguments_next(arguments, "recommend", &at))) {
        if (strncmp(wanted, id, length) == 0 && !wanted[length])
            return true;
    }
    return false;
}

/* Each --describe is of an option: a misspelled one would be dropped. */
static bool check_descriptions(const struct arguments *arguments)
{
    size_t at = 0;
    const char *pair;

    while ((pair = arguments_next(arguments, "describe", &at))) {
        size_t length = strcspn(pair, "=");

        if (!pair[length] || !arguments_of_pair(arguments, "option", pair, length)) {
            say_problem(TEXT_CLI_BAD_DESCRIBE, "pair", pair);
            return false;
        }
    }
    return true;
}

static void write_options(const struct arguments *arguments, struct json_writer *writer)
{
    const char *pair;
    size_t at = 0;

    if (!arguments_value(arguments, "option"))
        return;
    json_write_list(writer, "options");
    while ((pair = arguments_next(arguments, "option", &at))) {
        size_t length = strcspn(pair, "=");

        json_write_object(writer, NULL);
        json_write_text_n(writer, "id", pair, length);
        json_write_text(writer, "label", pair + length + 1);
        json_write_text_if(writer, "description",
                           arguments_of_pair(arguments, "describe", pair, length));
        json_write_bool_if(writer, "recommended", is_recommended(arguments, pair, length));
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

static void write_defaults(const struct arguments *arguments, struct json_writer *writer)
{
    const char *id;
    size_t at = 0;

    if (!arguments_value(arguments, "default"))
        return;
    json_write_list(writer, "default_selection_ids");
    while ((id = arguments_next(arguments, "default", &at)))
        json_write_text(writer, NULL, id);
    json_write_end_list(writer);
}

/* or said */
static bool ask_arguments_from_options(const struct arguments *arguments, struct text *out)
{
    struct json_writer writer = json_object_to(out);
    const char *prompt = arguments_value(arguments, "prompt");
    const char *key = arguments_value(arguments, "key");
    int64_t timeout_s = 0, min = -1, max = -1;

    if (!arguments_integer(arguments, "timeout", 1, LIMIT_TIMEOUT_S, &timeout_s) ||
        !arguments_integer(arguments, "min", 0, LIMIT_OPTIONS, &min) ||
        !arguments_integer(arguments, "max", 1, LIMIT_OPTIONS, &max) ||
        !check_descriptions(arguments) || !arguments_are_pairs(arguments, "option"))
        return false;
    json_write_text(&writer, "title", arguments->words[0]);
    if (prompt)
        json_write_text(&writer, "prompt", prompt);
    json_write_text(&writer, "selection_mode",
                    arguments_value(arguments, "text")     ? "text_input"
                    : arguments_value(arguments, "hybrid") ? "hybrid"
                    : arguments_value(arguments, "multi")  ? "multi"
                                                           : "single");
    write_options(arguments, &writer);
    write_defaults(arguments, &writer);
    if (timeout_s > 0)
        json_write_integer(&writer, "timeout_seconds", timeout_s);
    json_write_bool_if(&writer, "destructive", arguments_value(arguments, "destructive") != NULL);
    if (min >= 0)
        json_write_integer(&writer, "min_selections", min);
    if (max >= 0)
        json_write_integer(&writer, "max_selections", max);
    json_write_text_if(&writer, "placeholder", arguments_value(arguments, "placeholder"));
    json_write_text_if(&writer, "interface", arguments_value(arguments, "interface"));
    if (key)
        json_write_text(&writer, "idempotency_key", key);
    json_write_end_object(&writer);
    return true;
}

static bool read_all(int fd, const char *name, struct text *out, struct error *err)
{
    char bytes[65536];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        text_add(out, bytes, (size_t)got);
        if (out->used > LIMIT_RPC_LINE_BYTES)
            return error_say(err, ERROR_too_long, "", TEXT_REASON_INPUT_TOO_LONG, "limit",
                             TEXT_NUMBER(LIMIT_RPC_LINE_BYTES), NULL);
    }
    return got == 0 || error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_READ, "path", name,
                                 "reason", strerror(errno), NULL);
}

bool ask_arguments_from_file(const char *path, struct text *out, struct error *err)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return error_say(err, errno == ENOENT ? ERROR_not_found : ERROR_unavailable, "",
                         TEXT_REASON_CANT_OPEN, "path", path, "reason", strerror(errno), NULL);
    ok = read_all(fd, fd == STDIN_FILENO ? "standard input" : path, out, err);
    if (fd != STDIN_FILENO)
        close(fd);
    return ok;
}

enum {
    ASK_NAME_BYTES = 200,      /* of --as */
    ASK_ENVELOPE_BYTES = 1024, /* what the wire puts around the arguments */
};

#define ASK_TAG "ask"

struct asking {
    const struct arguments *arguments;
    const struct ask_tool *tool;
    char *value_key; /* of the value in the result; NULL: not known, it is collected */
    struct client_identity identity;
    char *directory; /* owned */
    char *arguments_json;
    char session_id[27];     /* "" until the hub told it */
    const char *explanation; /* NULL: none, or it was said */
    int64_t wait_s;          /* -1: to the end */
    bool wants_launch;       /* collecting: a fresh command for a terminal */
    bool may_show;           /* here, if a person is looking: the call names no place */
    struct client *client;
};

static void on_event(void *context, const struct rpc_message *note, const char *line, size_t length)
{
    struct asking *asking = context;
    const char *id = json_member_text(note->params, "session_id");

    (void)line;
    (void)length;
    if (strcmp(note->method, "ask/created") != 0 || !id || strlen(id) != LIMIT_ID_CHARS)
        return;
    if (!asking->session_id[0] && !asking->arguments->is_json && asking->wait_s != 0)
        say_note(TEXT_CLI_WAITING, "id", id);
    snprintf(asking->session_id, sizeof asking->session_id, "%s", id);
}

/* Everything core/arguments can find wrong is found before the hub is needed. */
static bool check(struct asking *asking, const struct text *given, struct error *err)
{
    struct json *json = NULL;
    struct ask_call call;
    bool ok;

    if (given->used > LIMIT_RPC_LINE_BYTES)
        return error_say(err, ERROR_too_long, "", TEXT_REASON_ARGUMENTS_TOO_LONG, "limit",
                         TEXT_NUMBER(LIMIT_RPC_LINE_BYTES), NULL);
    if (!json_parse(text_string(given), given->used, &json, err))
        return false;
    ok = arguments_check(asking->tool, json, &call, err);
    if (ok && call.session_id[0]) {
        snprintf(asking->session_id, sizeof asking->session_id, "%s", call.session_id);
        asking->wants_launch = call.interface == INTERFACE_TERMINAL;
        if (asking->wait_s < 0)
            asking->wait_s = call.wait_s;
    } else if (ok && asking->tool != &tool_provide_choice) {
        asking->value_key =
            mem_text(asking->tool->value_key ? asking->tool->value_key : call.form.fields[0].name);
    }
    if (ok) {
        asking->may_show = !call.session_id[0] && asking->wait_s < 0 &&
                           (call.interface == INTERFACE_NONE || call.interface == INTERFACE_AUTO);
        asking->arguments_json = json_encode(json);
        if (strlen(asking->arguments_json) > LIMIT_RPC_LINE_BYTES - ASK_ENVELOPE_BYTES)
            ok = error_say(err, ERROR_too_long, "", TEXT_REASON_ARGUMENTS_TOO_LONG, "limit",
                           TEXT_NUMBER(LIMIT_RPC_LINE_BYTES - ASK_ENVELOPE_BYTES), NULL);
        ask_call_release(&call);
    }
    json_free(json);
    return ok;
}

static void write_request(const struct asking *asking, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    if (asking->session_id[0]) {
        json_write_text(&writer, "session_id", asking->session_id);
        json_write_text_if(&writer, "explanation", asking->explanation);
        if (asking->wants_launch)
            json_write_text(&writer, "interface", interface_name(INTERFACE_TERMINAL));
    } else {
        json_write_text(&writer, "tool", asking->tool->name);
        json_write_raw(&writer, "arguments", asking->arguments_json);
        json_write_text(&writer, "tag", ASK_TAG);
    }
    json_write_integer(&writer, "wait_seconds", asking->wait_s);
    json_write_end_object(&writer);
}

/* Of an ask that is only collected the result itself tells what it was. */
static const struct json *find_value(const struct asking *asking, const struct json *result)
{
    const struct json *value = NULL;

    if (asking->value_key)
        return json_member(result, asking->value_key);
    for (size_t i = 0; !value && ask_tool_at(i); i++) {
        if (ask_tool_at(i)->value_key)
            value = json_member(result, ask_tool_at(i)->value_key);
    }
    return value ? value : json_member(result, "input");
}

/* What a script wants to read, each on its own line: the ids chosen, then the text; of other tools
 * a text as it is, all else as JSON. */
static void print_values(const struct asking *asking, const struct json *result)
{
    const struct json *selection = json_member(result, "selection");
    const struct json *ids = json_member(selection, "selected_ids");
    const struct json *value =
        selection ? json_member(selection, "custom_input") : find_value(asking, result);
    char *json = value && !json_text(value) && !selection ? json_encode(value) : NULL;

    for (size_t i = 0; i < json_length(ids); i++)
        printf("%s\n", json_text(json_item(ids, i)));
    if (json || json_text(value))
        printf("%s\n", json ? json : json_text(value));
    free(json);
}

/* Of an ask that is over: the exit code, and what a person is told where it is no answer. */
static const struct {
    enum exit_code code;
    enum text_id said;
} endings[ENDING_COUNT] = {
    [ENDING_PENDING] = { EXIT_ERROR, 0 },
    [ENDING_ANSWERED] = { EXIT_DONE, 0 },
    [ENDING_DECLINED] = { EXIT_REFUSED, TEXT_STATE_DECLINED },
    [ENDING_CANCELLED] = { EXIT_REFUSED, TEXT_STATE_CANCELLED },
    [ENDING_TIMEOUT] = { EXIT_TIMEOUT, TEXT_STATE_TIMEOUT },
    [ENDING_WITHDRAWN] = { EXIT_REFUSED, TEXT_STATE_WITHDRAWN },
    [ENDING_UNKNOWN] = { EXIT_ERROR, 0 },
};
_Static_assert(ENDING_COUNT == 7, "one that is not in the table would be an answer");

/* What a person said after an earlier ask had timed out; other notices are for agents. */
static void print_told(const struct json *notices)
{
    for (size_t i = 0; i < json_length(notices); i++) {
        const struct json *notice = json_item(notices, i);
        const struct json *told = json_member(notice, "told_after_deadline");
        const char *summary = json_member_text(told, "summary");
        const char *note = json_member_text(json_member(told, "answer"), "global_annotation");
        struct text words = { 0 };

        text_add_text(&words, summary ? summary : "");
        if (note && (!summary || strcmp(summary, note) != 0))
            text_add_format(&words, "%s%s", summary ? "; " : "", note);
        if (told)
            say_note(TEXT_CLI_TOLD_LATE, "title", json_member_text(notice, "title"), "words",
                     text_string(&words));
        text_release(&words);
    }
}

static enum exit_code finish(struct asking *asking, enum reply_kind kind, const struct json *result)
{
    const char *id = json_member_text(result, "session_id");
    enum ending ending = outcome_read(result);
    enum exit_code code = kind == REPLY_FINAL ? endings[ending].code : EXIT_PENDING;

    if (asking->arguments->is_json) {
        say_value(result);
    } else if (code == EXIT_PENDING) {
        const char *command = json_member_text(result, "terminal_command");

        printf("%s\n", id);
        if (command)
            say_note(TEXT_CLI_RUN_LAUNCH, "command", command);
        else
            say_note(TEXT_CLI_STILL_PENDING);
    } else {
        print_values(asking, result);
        if (code == EXIT_REFUSED || code == EXIT_TIMEOUT)
            say_note(endings[ending].said);
    }
    if (!asking->arguments->is_json)
        print_told(json_member(result, "notices"));
    if (fflush(stdout) != 0 || ferror(stdout))
        return EXIT_ERROR; /* not delivered: kept for the next identical call */
    if (id)
        call_confirm(asking->client, kind == REPLY_FINAL ? id : NULL, id);
    return code;
}

static void print_pending(const struct asking *asking)
{
    printf("{\"%s\":\"pending\",\"session_id\":\"%s\"}\n",
           asking->tool == &tool_provide_choice      ? "action_status"
           : asking->tool == &tool_ask_user_question ? "status"
                                                     : "action",
           asking->session_id);
}

/* What is asked back is said and waited on, for `sayso explain`. JSON tells it in the result. */
static bool waits_on(struct asking *asking, const struct json *result)
{
    const char *question = json_member_text(result, "asked_back");
    const char *id = json_member_text(result, "session_id");

    if (!question || !id || asking->arguments->is_json ||
        arguments_value(asking->arguments, "wait"))
        return false;
    snprintf(asking->session_id, sizeof asking->session_id, "%s", id);
    asking->explanation = NULL;
    say_note(TEXT_CLI_ASKED_BACK, "question", question, "id", id);
    return true;
}

static void open_client(struct asking *asking)
{
    static const struct client_ops ops = { .event = on_event };

    asking->client = client_new(&asking->identity, &client_for_ask, &ops, asking, loop_boot_ms);
}

/* Until it is over, a hub that is lost notwithstanding. */
static enum exit_code wait_for_end(struct asking *asking)
{
    enum exit_code code = EXIT_ERROR;
    bool is_waiting = true;

    open_client(asking);
    while (is_waiting) {
        struct text params = { 0 };
        const struct request request = {
            .method = asking->session_id[0] ? METHOD_ask_wait : METHOD_ask_create,
            .text = &params,
            .wait_ms = asking->wait_s < 0 ? -1 : asking->wait_s * 1000,
            .tag = ASK_TAG,
        };
        struct rpc_message reply;
        enum reply_kind kind;
        struct error err;
        bool ok;

        write_request(asking, &params);
        ok = client_request_and_wait(asking->client, &request, &reply, &err);
        is_waiting = ok && waits_on(asking, reply.result);
        if (!is_waiting && ok && rpc_read_kind(reply.root, &kind, &err)) {
            code = finish(asking, kind, reply.result);
        } else if (!ok && client_failure(asking->client)->failure == FAILURE_STOPPED) {
            if (asking->arguments->is_json)
                print_pending(asking);
            say_problem(TEXT_CLI_HUB_STOPPED, "id", asking->session_id);
            code = EXIT_PENDING; /* it is not started again behind the back of who stopped it */
        } else if (!ok) {
            say_error(asking->arguments, &err, call_detail(&reply));
        }
        rpc_release(&reply);
        text_release(&params);
    }
    client_free(asking->client);
    return code;
}

/* It is over, or the terminal would still show it. */
static enum exit_code finish_shown(struct asking *asking, const char *result_json)
{
    struct json *result = NULL;
    enum exit_code code = EXIT_ERROR;

    open_client(asking);
    if (json_parse(result_json, strlen(result_json), &result, NULL))
        code = finish(asking, REPLY_FINAL, result);
    client_free(asking->client);
    json_free(result);
    return code;
}

/* In place, on a person's terminal (R6.3). False: it can't be, or goes on in the browser: wait. */
static bool show_here(struct asking *asking, enum exit_code *ret_code)
{
    struct text params = { 0 };
    struct app_options options = { .asker = &asking->identity };
    struct app_result result;
    bool was_shown;

    write_request(asking, &params);
    options.create_json = text_string(&params);
    app_run(&options, &result);
    was_shown = result.end != APP_NO_TERMINAL;
    snprintf(asking->session_id, sizeof asking->session_id, "%s", result.session_id);
    if (result.end == APP_MOVED || result.end == APP_ELSEWHERE) { /* the answer comes from there */
        terminal_finish(asking->arguments, &result);
        was_shown = false;
    } else if (result.end == APP_DONE) {
        *ret_code = finish_shown(asking, text_string(&result.result_json));
    } else if (was_shown) {
        if (result.end == APP_LEFT && !asking->arguments->is_json)
            printf("%s\n", result.session_id);
        else if (result.end == APP_LEFT)
            print_pending(asking);
        *ret_code = terminal_finish(asking->arguments, &result);
    }
    app_result_release(&result);
    text_release(&params);
    return was_shown;
}

static bool choose_tool(struct asking *asking)
{
    const char *name = arguments_value(asking->arguments, "tool");

    asking->tool = name ? ask_tool_find(name) : &tool_provide_choice;
    if (!asking->tool)
        say_problem(TEXT_CLI_NO_TOOL, "name", name);
    else if (name && !arguments_value(asking->arguments, "from"))
        say_problem(TEXT_CLI_TOOL_NEEDS_FROM);
    else
        return true;
    return false;
}

static bool gather(struct asking *asking, enum exit_code *ret_code)
{
    const struct arguments *arguments = asking->arguments;
    const char *path = arguments_value(arguments, "from");
    struct text given = { 0 };
    struct error err;
    bool ok = false;

    *ret_code = EXIT_USAGE;
    if (!choose_tool(asking))
        return false;
    if (!path && arguments->word_count == 0) {
        say_needs(arguments, "TITLE");
        return false;
    }
    if (!arguments_integer(arguments, "wait", 0, LIMIT_TIMEOUT_S, &asking->wait_s))
        return false;
    if (path || ask_arguments_from_options(arguments, &given)) {
        ok = (!path || ask_arguments_from_file(path, &given, &err)) && check(asking, &given, &err);
        if (!ok) {
            say_error(arguments, &err, NULL);
            *ret_code = EXIT_ERROR;
        }
    }
    text_release(&given);
    return ok;
}

/* False: said. */
static bool identify(struct asking *asking, const struct arguments *arguments)
{
    asking->arguments = arguments;
    asking->wait_s = -1;
    asking->directory = call_directory();
    asking->identity = call_asker(arguments, asking->directory);
    return arguments_are_short(arguments, "as", ASK_NAME_BYTES);
}

static void release(struct asking *asking)
{
    free(asking->arguments_json);
    free(asking->value_key);
    free(asking->directory);
}

/* `sayso explain`: tells a person who asked back, as the one who asked, and waits on. */
static enum exit_code run_explain(const struct arguments *arguments)
{
    struct asking asking = { .tool = &tool_provide_choice, .explanation = arguments->words[1] };
    struct text given = { 0 };
    struct error err;
    enum exit_code code = EXIT_ERROR;
    int64_t wait_s = -1;

    if (arguments->word_count < 2)
        return say_needs(arguments, "ID TEXT");
    act_write_session(arguments, &given);
    if (!identify(&asking, arguments) ||
        !arguments_integer(arguments, "wait", 0, LIMIT_TIMEOUT_S, &wait_s)) {
        code = EXIT_USAGE;
    } else if (check(&asking, &given, &err)) {
        asking.wait_s = wait_s;
        code = wait_for_end(&asking);
    } else {
        say_error(arguments, &err, NULL);
    }
    release(&asking);
    text_release(&given);
    return code;
}

static enum exit_code run_ask(const struct arguments *arguments)
{
    const char *path = arguments_value(arguments, "from");
    bool is_piped = path && strcmp(path, "-") == 0; /* keys come from the terminal all the same */
    struct asking asking = { 0 };
    enum exit_code code = EXIT_USAGE;

    if (identify(&asking, arguments) && gather(&asking, &code) &&
        !(asking.may_show && terminal_is_person_here(is_piped) && show_here(&asking, &code)))
        code = wait_for_end(&asking);
    release(&asking);
    return code;
}

static const struct verb_option options[] = {
    { "prompt", 'p', "TEXT", TEXT_OPT_PROMPT, false },
    { "option", 'o', "ID=LABEL", TEXT_OPT_OPTION, false },
    { "recommend", 'r', "ID", TEXT_OPT_RECOMMEND, false },
    { "default", 'd', "ID", TEXT_OPT_DEFAULT, false },
    { "describe", 0, "ID=TEXT", TEXT_OPT_DESCRIBE, false },
    { "multi", 0, NULL, TEXT_OPT_MULTI, false },
    { "min", 0, "COUNT", TEXT_OPT_MIN, false },
    { "max", 0, "COUNT", TEXT_OPT_MAX, false },
    { "text", 0, NULL, TEXT_OPT_TEXT_MODE, false },
    { "hybrid", 0, NULL, TEXT_OPT_HYBRID, false },
    { "placeholder", 0, "TEXT", TEXT_OPT_PLACEHOLDER, false },
    { "interface", 0, "auto|web|terminal", TEXT_OPT_INTERFACE, false },
    { "destructive", 0, NULL, TEXT_OPT_DESTRUCTIVE, false },
    { "timeout", 't', "SECONDS", TEXT_OPT_TIMEOUT, false },
    { "wait", 'w', "SECONDS", TEXT_OPT_WAIT, false },
    { "key", 'k', "TEXT", TEXT_OPT_KEY, false },
    { "as", 0, "NAME", TEXT_OPT_AS, false },
    { "from", 'f', "FILE", TEXT_OPT_FROM, false },
    { "tool", 0, "NAME", TEXT_OPT_TOOL, false },
};
static const char *const usage[] = {
    "ask [OPTIONS] TITLE -p PROMPT -o ID=LABEL -o ID=LABEL --recommend ID",
    "ask [OPTIONS] TITLE -p PROMPT --text",
    "ask [OPTIONS] [--tool NAME] --from FILE|-",
    NULL,
};
static const char *const examples[] = {
    "ask 'Which target?' -p 'The build is done; both are healthy.' -o eu=Europe -o us=US -r eu",
    "ask 'Release name?' -p 'The changelog needs a name for version 3.0.' --text",
    "ask --from question.json --json",
    "ask --tool elicit_confirm --from - <<< '{\"message\":\"Delete 5 files?\"}'",
    NULL,
};
VERB_ROW(ask, TEXT_CLI_ASK, VERB_TABLES, .max_words = 1, .works_remotely = true);

static const struct verb_option explain_options[] = {
    { "wait", 'w', "SECONDS", TEXT_OPT_WAIT, false },
    { "as", 0, "NAME", TEXT_OPT_AS, false },
};
VERB_ROW(
    explain, TEXT_CLI_EXPLAIN,
    VERB_LINES("explain ID TEXT [--wait SECONDS] [--as NAME]",
               "explain k3f7tz2mdq5xw4ua6rbn3cyhge 'The old files stay where they are.' --json"),
    VERB_OPTIONS_OF(explain_options), .max_words = 2);
