/*
 * answer.c - `sayso answer`: a person answers from the command line. What is destructive needs a
 * terminal and a second act: the code shown there, typed there. Without a choice nothing is sent.
 * `sayso tell` takes the same words for an ask that timed out. They decide nothing any more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/answer_words.h"
#include "cli/call.h"
#include "cli/say.h"
#include "cli/seat.h"
#include "cli/show.h"
#include "core/answer.h"
#include "i18n/i18n.h"

enum { MISTAKES_MOST = 16 };

struct answering {
    const struct arguments *arguments;
    struct client *link;
    struct wire_message got; /* of ask/get */
    const struct json *ask;
    const char *id;
    struct form form;
    struct answer_words words;
    bool is_late; /* `sayso tell` */
};

/* Only what the terminal itself types counts; a pipe cannot do the second act. */
static bool read_code(const struct answering *answering, const char *code,
                      const struct json *chosen, char *typed, size_t size)
{
    static const char *const parts[] = { "selected_ids", "custom_input", "fields" };
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    FILE *tty = fd < 0 ? NULL : fdopen(fd, "r+");
    struct text line = { 0 };
    struct error err;
    bool ok;

    if (!tty) {
        error_say(&err, ERROR_wrong_state, "/session_id", TEXT_REASON_DESTRUCTIVE_HERE, "id",
                  text_head(answering->id, 8, (char[9]){ 0 }), NULL);
        if (answering->arguments->is_json)
            say_error(answering->arguments, &err, NULL);
        else
            say_problem(TEXT_CLI_NO_TERMINAL);
        return false;
    }
    say_add_shown(&line, answering->form.title);
    fprintf(tty, "! %s\n  %s\n", i18n_text(TEXT_CLI_DESTRUCTIVE), text_string(&line));
    text_clear(&line);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) { /* ids, not the agent's words for them */
        const struct json *part = json_member(chosen, parts[i]);
        char *json = json_length(part) > 0 ? json_encode(part) : NULL;

        say_add_shown(&line, json ? json : "");
        if (json)
            fprintf(tty, "  > %s\n", text_string(&line));
        text_clear(&line);
        free(json);
    }
    i18n_format(&line, TEXT_CLI_TYPE_CODE, "code", code, NULL);
    fprintf(tty, "%s ", text_string(&line));
    fflush(tty);
    ok = fgets(typed, (int)size, tty) != NULL;
    typed[ok ? strcspn(typed, "\r\n") : 0] = '\0';
    fclose(tty);
    text_release(&line);
    if (ok && typed[0])
        return true;
    say_note(TEXT_CLI_NOT_SENT);
    return false;
}

static bool second_act(const struct answering *answering, const struct json *chosen, char *typed,
                       size_t size)
{
    char *params = call_id_params(answering->id);
    struct wire_message reply;
    const char *code;
    bool ok = call_hub(answering->arguments, answering->link, "ask/challenge", params, &reply);

    code = ok ? json_member_text(reply.result, "code") : NULL;
    ok = code && read_code(answering, code, chosen, typed, size);
    wire_release(&reply);
    free(params);
    return ok;
}

static void report(const struct answering *answering, const struct json *ack)
{
    char *params = call_id_params(answering->id);
    struct wire_message got;
    const struct json *result;
    const char *summary;

    if (answering->arguments->is_json) {
        say_value(ack);
    } else if (answering->is_late) {
        say_note(TEXT_TOLD);
    } else if (call_hub(answering->arguments, answering->link, "ask/get", params, &got)) {
        result = json_member(got.result, "result");
        summary = json_member_text(result, "summary");
        if (!summary)
            summary = json_member_text(json_member(result, "selection"), "summary");
        say_result(json_is_yes(json_member(ack, "already")) ? TEXT_CLI_ALREADY_SO : TEXT_CLI_SAVED,
                   "answer", summary ? summary : "");
        wire_release(&got);
    }
    free(params);
}

/* By the option to use, in the person's language; for scripts as the hub says it. */
static void say_mistake(const struct answering *answering, const struct json *given,
                        const struct error *err)
{
    struct text line = { 0 };

    if (answering->arguments->is_json) {
        say_error(answering->arguments, err, NULL);
        return;
    }
    answer_words_add_flag(&answering->words, given, err->path, &line);
    say_wrong(text_string(&line), err);
    text_release(&line);
}

/* Before anything is sent, so that all mistakes are told together. */
static bool check_answer(const struct answering *answering, const struct json *given)
{
    struct error errors[MISTAKES_MOST];
    struct answer answer = { 0 };
    size_t count = answer_read(&answering->form, given, &answer, errors, ARRAY_LEN(errors));
    bool is_none = arguments_value(answering->arguments, "none"), is_empty = true;

    for (size_t i = 0; i < answer.value_count; i++)
        is_empty = is_empty && !answer_has_value(&answer.values[i]);
    if (is_none ? answer_words_count(answering->arguments, answering->words.first) > 1
                : count == 0 && is_empty)
        count = !error_say(&errors[0], ERROR_missing_property, "", TEXT_REASON_NEEDS_NONE, NULL);
    answer_release(&answer);
    for (size_t i = 0; i < count && (i == 0 || !answering->arguments->is_json); i++)
        say_mistake(answering, given, &errors[i]);
    return count == 0;
}

static bool send_answer(struct answering *answering)
{
    const char *status = json_member_text(answering->ask, "status");
    bool is_open = status && state_is_open(state_find(status)), ok = true;
    bool is_choice = answer_words_count(answering->arguments, answering->words.first) > 0;
    struct wire_message reply = { 0 };
    struct text params = { 0 };
    struct json *given = NULL;
    char typed[32] = "";
    struct error err;

    if (!answer_words_write(&answering->words, answering->id, NULL, &params, &err) ||
        !json_parse(params.bytes, params.used, &given, &err)) {
        say_mistake(answering, given, &err);
        ok = false;
    }
    ok = ok && (answering->is_late ? !is_choice || check_answer(answering, given)
                                   : !is_open || check_answer(answering, given));
    if (ok && is_open && !answering->is_late &&
        answer_will_need_code(&answering->form, text_string(&params))) {
        ok = second_act(answering, given, typed, sizeof typed);
        text_clear(&params);
        answer_words_write(&answering->words, answering->id, typed, &params, &err);
    }
    if (ok && client_call_and_wait(answering->link, answering->is_late ? "ask/tell" : "ask/answer",
                                   text_string(&params), &reply, &err)) {
        report(answering, reply.result);
    } else if (ok) {
        const struct json *detail = json_member(json_member(reply.error, "data"), "detail");

        ok = false;
        if (err.code == ERROR_unsupported_flag)
            say_mistake(answering, given, &err); /* what a setting switched off */
        else
            say_error(answering->arguments, &err, detail);
    }
    json_free(given);
    wire_release(&reply);
    text_release(&params);
    return ok;
}

/* Where nothing was chosen: the question and the commands that answer it. On a person's terminal it
 * is opened instead; notes are not dropped by that. */
static enum exit_code show_question(struct answering *answering)
{
    const struct arguments *arguments = answering->arguments;
    const struct arguments attach = { .verb = &verb_attach,
                                      .words = { answering->id },
                                      .word_count = 1 };
    struct error err;

    if (arguments->given_count == 0 && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return verb_attach.run(&attach);
    error_say(&err, ERROR_missing_property, "", TEXT_REASON_NEEDS_CHOICE, NULL);
    if (!arguments->is_json) {
        show_whole(arguments, answering->got.result);
        printf("\n");
        answer_words_print_commands(&answering->form, answering->id);
        fflush(stdout);
    }
    say_mistake(answering, NULL, &err);
    return EXIT_USAGE;
}

/* The first word is an ID where an ask has it, else an answer to the only ask there is. */
static bool find_ask(struct answering *answering)
{
    const struct arguments *arguments = answering->arguments;
    char *params = call_id_params(arguments->word_count ? arguments->words[0] : NULL);
    struct error err, other;
    bool ok = client_call_and_wait(answering->link, "ask/get", params, &answering->got, &err);

    free(params);
    answering->words.first = ok && arguments->word_count > 0;
    if (!ok && arguments->word_count > 0 && !answering->is_late &&
        (err.code == ERROR_not_found || err.code == ERROR_bad_format)) {
        wire_release(&answering->got);
        ok = client_call_and_wait(answering->link, "ask/get", "{}", &answering->got, &other);
        if (err.code == ERROR_bad_format)
            err = other;
    }
    if (!ok)
        say_error(arguments, &err, NULL);
    return ok;
}

static enum exit_code run(const struct arguments *arguments, bool is_late)
{
    static const char *const pairs[] = { "field", "other", "field-note", "option-note" };
    struct answering answering = { .arguments = arguments, .is_late = is_late };
    enum exit_code code = EXIT_ERROR;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) { /* before a hub is troubled */
        if (!arguments_are_pairs(arguments, pairs[i]))
            return EXIT_USAGE;
    }
    answering.words = (struct answer_words){ arguments, &answering.form, 0 };
    if (call_open(arguments, &call_person, &client_for_command, &answering.link) &&
        find_ask(&answering)) {
        answering.ask = json_member(answering.got.result, "ask");
        answering.id = json_member_text(answering.ask, "session_id");
        if (!form_read(json_member(answering.got.result, "form"), &answering.form, &err))
            say_error(arguments, &err, NULL);
        else if (!is_late && answer_words_count(arguments, answering.words.first) == 0)
            code = show_question(&answering);
        else
            code = send_answer(&answering) ? EXIT_DONE : EXIT_ERROR;
    }
    form_release(&answering.form);
    wire_release(&answering.got);
    client_free(answering.link);
    return code;
}

static enum exit_code run_answer(const struct arguments *arguments)
{
    return run(arguments, false);
}

static enum exit_code run_tell(const struct arguments *arguments)
{
    return arguments->word_count > 0 ? run(arguments, true) : say_needs(arguments, "ID");
}

static const struct verb_option options[] = {
    { "select", 's', "CHOICE[,CHOICE...]", TEXT_OPT_SELECT, false },
    { "text", 't', "TEXT", TEXT_OPT_TEXT, false },
    { "field", 'F', "NAME=VALUE", TEXT_OPT_FIELD, false },
    { "other", 'O', "NAME=TEXT", TEXT_OPT_OTHER, false },
    { "field-note", 0, "NAME=TEXT", TEXT_OPT_FIELD_NOTE, false },
    { "none", 0, NULL, TEXT_OPT_NONE, false },
    { "note", 'n', "TEXT", TEXT_OPT_NOTE, false },
    { "option-note", 'N', "ID=TEXT", TEXT_OPT_OPTION_NOTE, false },
};
static const char *const usage[] = {
    "answer [ID] CHOICE... [--note TEXT]",
    "answer [ID] --text TEXT",
    "answer [ID] --field NAME=VALUE [--field NAME=VALUE...] [--other NAME=TEXT...]",
    "answer [ID] --none",
    NULL,
};
static const char *const examples[] = {
    "answer yes",
    "answer k3f7 Europe",
    "answer k3f7 2",
    "answer k3f7 unit lint --note 'lint may stay a warning'",
    "answer k3f7 --text 'Call it Heron'",
    "answer k3f7 --field q1=Redis --field q2=Unit,Lint --other q3='neither, ask Ada'",
    NULL,
};
VERB_ROW(answer, TEXT_CLI_ANSWER, VERB_TABLES, .most_words = 8, .may_go_far = true);

static const char *const tell_usage[] = {
    "tell ID --note TEXT",
    "tell ID CHOICE... [--note TEXT]",
    NULL,
};
static const char *const tell_examples[] = {
    "tell k3f7 --note 'I was away: ask me again'",
    "tell k3f7 Europe",
    NULL,
};
VERB_ROW(tell, TEXT_CLI_TELL, .usage = tell_usage, .examples = tell_examples, VERB_OPTIONS,
         .most_words = 8, .may_go_far = true);
