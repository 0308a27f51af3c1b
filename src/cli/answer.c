/*
 * answer.c - `sayso answer`: a person answers from the command line. What is destructive needs a
 * terminal and a second act: the code shown there, typed there. Without a choice nothing is sent.
 * `sayso tell` takes the same words for an ask that timed out. They decide nothing any more.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/fields/answer.h"
#include "core/fields/field_class.h"
#include "core/fields/form.h"

struct answering {
    const struct arguments *arguments;
    struct client *link;
    struct rpc_message got; /* of ask/get */
    const struct json *ask;
    const char *id;
    struct form form;
    size_t first; /* of the words, behind the ID */
    bool is_late; /* `sayso tell` */
};

/* What fits no option goes on as it is: the check of the whole answer refuses it with the rest. */

enum way { BY_ID, BY_NAME, BY_PLACE, BY_BEGINNING, WAYS }; /* the surest first */

struct writing {
    const struct answering *answering;
    struct json_writer writer;
    struct error *err; /* of words that fit several options */
    bool has_failed;
};

/* How often something is chosen or written; notes alone are no answer. */
static size_t answer_words_count(const struct arguments *arguments, size_t first)
{
    static const char *const options[] = { "select", "text", "field", "other", "none" };
    size_t count = arguments->word_count - first;

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        count += arguments_value(arguments, options[i]) != NULL;
    return count;
}

static enum way way_of(const struct field *field, size_t index, const char *word, size_t length)
{
    const char *id = field->options[index].id, *label = field->options[index].label;
    bool begins_id = strncasecmp(id, word, length) == 0;
    bool begins_label = strncasecmp(label, word, length) == 0;
    char room[TEXT_INTEGER_BYTES];
    const char *place = text_of_integer((int64_t)index + 1, room);

    if (strlen(id) == length && memcmp(id, word, length) == 0)
        return BY_ID;
    if ((begins_id && !id[length]) || (begins_label && !label[length]))
        return BY_NAME;
    if (strlen(place) == length && memcmp(place, word, length) == 0)
        return BY_PLACE;
    return begins_id || begins_label ? BY_BEGINNING : WAYS;
}

/* NULL: none, or several, which are then named in `rivals`. Ids are the agent's: where a person
 * types one, it must not be the label or the place of another option as well. */
static const struct option *find_option(const struct field *field, const char *word, size_t length,
                                        enum way last, bool is_typed, struct text *rivals)
{
    const struct option *found = NULL;
    enum way surest = WAYS, max;
    size_t count = 0;

    text_clear(rivals);
    for (size_t i = 0; length > 0 && i < field->option_count; i++)
        if (way_of(field, i, word, length) < surest)
            surest = way_of(field, i, word, length);
    max = surest == BY_PLACE ? BY_BEGINNING : is_typed && surest < BY_PLACE ? BY_PLACE : surest;
    for (size_t i = 0; surest <= last && i < field->option_count; i++) {
        if (way_of(field, i, word, length) > max)
            continue;
        found = &field->options[i];
        text_add_format(rivals, "%s%s (%s)", count++ ? ", " : "", found->label, found->id);
    }
    return count == 1 ? found : NULL;
}

/* The options of a list between commas, which labels and ids may have in them too. */
static void write_picks(struct writing *writing, const struct field *field, const char *list,
                        bool is_typed)
{
    struct text rivals = { 0 };

    while (*list) {
        size_t length = strlen(list);
        const struct option *option =
            find_option(field, list, length, BY_BEGINNING, is_typed, &rivals);

        while (!option && length > 0 &&
               !(option = find_option(field, list, length, BY_NAME, is_typed, &rivals)))
            while (--length > 0 && list[length] != ',')
                continue;
        if (!option) {
            length = strcspn(list, ",");
            option = find_option(field, list, length, BY_BEGINNING, is_typed, &rivals);
        }
        if (!option && rivals.used > 0)
            writing->has_failed = !error_say(
                writing->err, ERROR_bad_enum, "", TEXT_REASON_SEVERAL_BEGIN, "word",
                text_head(list, 64, (char[65]){ 0 }), "options", text_string(&rivals), NULL);
        if (length)
            json_write_text_n(&writing->writer, NULL, option ? option->id : list,
                              option ? strlen(option->id) : length);
        list += length + (list[length] == ',');
    }
    text_release(&rivals);
}

/* The field that NAME=VALUE speaks of: its name may have = in it. NULL: none. */
static const struct field *find_field(const struct form *form, const char *pair)
{
    for (size_t i = 0; form && i < form->field_count; i++) {
        size_t length = strlen(form->fields[i].name);

        if (strncmp(pair, form->fields[i].name, length) == 0 && pair[length] == '=')
            return &form->fields[i];
    }
    return NULL;
}

/* What a repeated option says next of this field; NULL: nothing more. */
static const char *next_said(const struct answering *answering, const char *option,
                             const struct field *field, size_t *at)
{
    const char *pair;

    while ((pair = arguments_next(answering->arguments, option, at))) {
        if (find_field(&answering->form, pair) == field)
            return pair + strlen(field->name) + 1;
    }
    return NULL;
}

/* A number, yes or no where the field wants that; else the text itself. */
static void write_scalar(struct writing *writing, const struct field *field, const char *value)
{
    const struct field_class *class = class_of(field);
    struct json *json = NULL;

    if (class->is_yes_no && (strcasecmp(value, "yes") == 0 || strcasecmp(value, "y") == 0))
        value = "true";
    else if (class->is_yes_no && (strcasecmp(value, "no") == 0 || strcasecmp(value, "n") == 0))
        value = "false";
    if (class_is_scalar(class) && json_parse(value, strlen(value), &json, NULL) &&
        json_kind(json) != KIND_TEXT)
        json_write_raw(&writing->writer, NULL, value);
    else
        json_write_text(&writing->writer, NULL, value);
    json_free(json);
}

/* The only field is a number, or yes or no: --text or a word is its value. */
static const char *sole_value(const struct answering *answering)
{
    const struct form *form = &answering->form;
    const char *text = arguments_value(answering->arguments, "text");

    if (form->field_count > 1 || !class_is_scalar(class_of(&form->fields[0])))
        return NULL;
    return text ? text : answering->arguments->words[answering->first];
}

/* One field by its name: options, own words, or both; --none leaves nothing of it. */
static void write_field(struct writing *writing, const struct field *field)
{
    const struct answering *answering = writing->answering;
    size_t at = 0, next = 0;
    const char *value = next_said(answering, "field", field, &at), *sole = sole_value(answering);
    const char *other = next_said(answering, "other", field, &next);
    const struct field_class *class = class_of(field);
    bool is_object = other || (value && class->has_options && class->has_words);

    if (!value && !other && !sole && !arguments_value(answering->arguments, "none"))
        return;
    json_write_foreign_key(&writing->writer, field->name);
    if (is_object)
        json_write_object(&writing->writer, NULL);
    if (field->option_count > 0 && (value || !other)) {
        json_write_list(&writing->writer, is_object ? "selected_ids" : NULL);
        for (; value; value = next_said(answering, "field", field, &at))
            write_picks(writing, field, value, false);
        json_write_end_list(&writing->writer);
    } else if (value || sole || (class_is_text(class) && !other)) {
        write_scalar(writing, field, value ? value : sole ? sole : "");
    } else if (!other) {
        json_write_null(&writing->writer, NULL);
    }
    if (other)
        json_write_text(&writing->writer, "custom_input", other);
    if (is_object)
        json_write_end_object(&writing->writer);
}

/* Repeated NAME=TEXT as members; the names are those of the form's fields, if there is one. */
static void write_pairs(struct writing *writing, const char *option, const struct form *form,
                        bool is_unknown_only)
{
    const char *pair;
    size_t at = 0;

    while ((pair = arguments_next(writing->answering->arguments, option, &at))) {
        const struct field *known = find_field(form, pair);
        size_t length = known ? strlen(known->name) : strcspn(pair, "=");
        char *name = mem_text_n(pair, length);

        if (!known || !is_unknown_only) {
            json_write_foreign_key(&writing->writer, name);
            json_write_text(&writing->writer, NULL, pair + length + 1);
        }
        free(name);
    }
}

/* What speaks of the first field without its name. */
static void write_first(struct writing *writing)
{
    const struct answering *answering = writing->answering;
    const struct arguments *arguments = answering->arguments;
    const struct field *field = &answering->form.fields[0];
    const char *select = arguments_value(arguments, "select");
    bool has_words = field->option_count > 0 && arguments->word_count > answering->first;

    if (!sole_value(answering) && arguments_value(arguments, "text"))
        json_write_text(&writing->writer, "custom_input", arguments_value(arguments, "text"));
    if (!select && !has_words)
        return;
    json_write_list(&writing->writer, "selected_ids");
    write_picks(writing, field, select ? select : "", false);
    for (size_t i = answering->first; has_words && i < arguments->word_count; i++)
        write_picks(writing, field, arguments->words[i], true);
    json_write_end_list(&writing->writer);
}

/* Words need a question that they can only be the answer to: a mistyped ID is none. */
static bool check_words(const struct answering *answering, struct error *err)
{
    const struct arguments *arguments = answering->arguments;
    const struct field *field = &answering->form.fields[0];
    size_t count = arguments->word_count - answering->first;
    const char *last = count ? arguments->words[arguments->word_count - 1] : NULL;

    enum text_id reason;

    if (!last)
        return true;
    if (answering->form.field_count > 1)
        reason = TEXT_REASON_NEEDS_FIELD;
    else if (class_is_text(class_of(field)))
        reason = TEXT_REASON_NEEDS_TEXT;
    else if (!field->option_count && (count > 1 || arguments_value(arguments, "text")))
        reason = TEXT_REASON_ONE_VALUE;
    else
        return true;
    return error_say(err, ERROR_conflicting_arguments, "", reason, "word",
                     text_head(last, 64, (char[65]){ 0 }), NULL);
}

/* Writes the parameters of ask/answer. False: a word fits several options, or is of no use here. */
static bool answer_words_write(const struct answering *answering, const char *id, const char *code,
                               struct text *out, struct error *err)
{
    struct writing writing = { .answering = answering, .writer = json_writer_to(out), .err = err };
    const char *note = arguments_value(answering->arguments, "note");

    if (!check_words(answering, err))
        return false;
    json_write_object(&writing.writer, NULL);
    json_write_text(&writing.writer, "session_id", id);
    json_write_text_if(&writing.writer, "code", code);
    json_write_text_if(&writing.writer, "global_annotation", note);
    write_first(&writing);
    json_write_object(&writing.writer, "fields");
    for (size_t i = 0; i < answering->form.field_count; i++)
        write_field(&writing, &answering->form.fields[i]);
    write_pairs(&writing, "field", &answering->form, true);
    write_pairs(&writing, "other", &answering->form, true);
    json_write_end_object(&writing.writer);
    json_write_object(&writing.writer, "option_annotations");
    write_pairs(&writing, "option-note", NULL, false);
    json_write_end_object(&writing.writer);
    json_write_object(&writing.writer, "field_annotations");
    write_pairs(&writing, "field-note", &answering->form, false);
    json_write_end_object(&writing.writer);
    json_write_end_object(&writing.writer);
    return !writing.has_failed;
}

/* By which option or word of what was given an error came about: "--field size". */
static void answer_words_add_flag(const struct answering *answering, const struct json *given,
                                  const char *path, struct text *out)
{
    const struct arguments *arguments = answering->arguments;
    bool is_only = answering->form.field_count == 1 && !arguments_value(arguments, "field") &&
                   strncmp(path, "/fields/", strlen("/fields/")) == 0;
    const char *alone = arguments_value(arguments, "text") ? "--text"
                        : arguments->word_count > answering->first
                            ? arguments->words[arguments->word_count - 1]
                        : arguments_value(arguments, "none") ? "--none"
                                                             : NULL;
    static const char *const rows[][2] = {
        { "/selected_ids", "--select" },           { "/custom_input", "--text" },
        { "/global_annotation", "--note" },        { "/option_annotations", "--option-note " },
        { "/field_annotations", "--field-note " }, { "/fields", "--field " },
    };
    int64_t index;

    if (is_only && alone) { /* its name is not the person's */
        text_add_text(out, alone);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *rest = path + strlen(rows[i][0]) + 1;

        if (strncmp(path, rows[i][0], strlen(rows[i][0])) != 0)
            continue;
        if (i == 0 && rest[-1] && text_parse_integer(rest, &index)) { /* the very word */
            text_add_text(out,
                          json_text(json_item(json_member(given, "selected_ids"), (size_t)index)));
            return;
        }
        text_add_text(out, strstr(rest - 1, "/custom_input") ? "--other " : rows[i][1]);
        for (; rest[-1] && *rest && *rest != '/'; rest++) /* out of the pointer */
            text_add_char(out, *rest != '~' ? *rest : *++rest == '1' ? '/' : '~');
        return;
    }
}

static void print_command(const char *id, struct text *words)
{
    printf("  %s answer %.8s", "sayso", id); /* not for people */
    say_words("", text_string(words), "\n"); /* names of fields are the agent's */
    text_clear(words);
}

/* What means this option alone where it is typed: its id, else its place; NULL: neither does. */
static const char *word_of(const struct field *field, size_t index, char room[TEXT_INTEGER_BYTES])
{
    const struct option *option = &field->options[index];
    const char *word = option->id;
    struct text rivals = { 0 };
    size_t plain = 0;
    bool is_alone;

    while (word[plain] > ' ' && word[plain] < 0x7f && word[plain] != ',')
        plain++;
    if (plain == 0 || word[plain] || *word == '-')
        word = text_of_integer((int64_t)index + 1, room);
    is_alone = find_option(field, word, strlen(word), BY_BEGINNING, true, &rivals) == option;
    text_release(&rivals);
    return is_alone ? word : NULL;
}

static void add_options(struct text *out, const struct field *field, size_t first, size_t count)
{
    struct text words = { 0 }, ids = { 0 };
    bool are_alone = count < verb_answer.max_words; /* the ask's own ID is a word, too */

    for (size_t i = first; i < first + count; i++) {
        char room[TEXT_INTEGER_BYTES];
        const char *word = word_of(field, i, room);

        text_add_format(&ids, "%s%s", i > first ? "," : "", field->options[i].id);
        text_add_char(&words, ' ');
        text_add_shell_word(&words, word ? word : "");
        are_alone = are_alone && word;
    }
    text_add_text(out, are_alone ? text_string(&words) : " --select ");
    if (!are_alone)
        text_add_shell_word(out, text_string(&ids));
    text_release(&words);
    text_release(&ids);
}

/* As many options in each as the ask needs; where more may be chosen, one shows how. */
static void print_choices(const struct field *field, const char *id)
{
    size_t min = field->min_selections > 1 ? (size_t)field->min_selections : 1;
    struct text words = { 0 };

    for (size_t i = 0; i + min <= field->option_count; i += min) {
        add_options(&words, field, i, min);
        print_command(id, &words);
    }
    if (min == 1 && field->max_selections > 1 && field->option_count > 1) {
        add_options(&words, field, 0, 2);
        print_command(id, &words);
    }
    text_release(&words);
}

/* The commands that answer this ask, one a line. */
static void answer_words_print_commands(const struct form *form, const char *id)
{
    const struct field *field = &form->fields[0];
    const struct field_class *class = class_of(field);
    const struct {
        bool is_taken;
        const char *words;
    } more[] = {
        { class->has_words, " --text TEXT" }, { class->is_number, " --text NUMBER" },
        { class->is_yes_no, " yes" },         { class->is_yes_no, " no" },
        { !field->is_required, " --none" },
    };
    struct text words = { 0 };

    if (form->field_count == 1)
        print_choices(field, id);
    for (size_t i = 0; form->field_count == 1 && i < ARRAY_LEN(more); i++) {
        text_add_text(&words, more[i].is_taken ? more[i].words : "");
        if (words.used)
            print_command(id, &words);
    }
    for (size_t i = 0; form->field_count > 1 && i < form->field_count; i++) {
        text_add_text(&words, " --field ");
        text_add_shell_word(&words, form->fields[i].name);
        text_add_text(&words, "=VALUE");
    }
    if (words.used)
        print_command(id, &words);
    text_release(&words);
}

enum { MISTAKES_MAX = 16 };

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
    fprintf(tty, "! %s\n  %s\n", i18n_text(TEXT_DESTRUCTIVE_TWO_ACTS), text_string(&line));
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
    char *params = call_params("session_id", answering->id);
    struct rpc_message reply;
    bool ok = call_hub(answering->arguments, answering->link, "ask/challenge", params, &reply);
    const char *code = ok ? json_member_text(reply.result, "code") : NULL;

    ok = code && read_code(answering, code, chosen, typed, size);
    rpc_release(&reply);
    free(params);
    return ok;
}

static void report(const struct answering *answering, const struct json *ack)
{
    char *params = call_params("session_id", answering->id);
    struct rpc_message got;

    if (answering->arguments->is_json) {
        say_value(ack);
    } else if (answering->is_late) {
        say_note(TEXT_TOLD);
    } else if (call_hub(answering->arguments, answering->link, "ask/get", params, &got)) {
        const struct json *result = json_member(got.result, "result");
        const char *summary = json_member_text(result, "summary");

        if (!summary)
            summary = json_member_text(json_member(result, "selection"), "summary");
        say_result(json_is_true(json_member(ack, "already")) ? TEXT_CLI_ALREADY_SO : TEXT_CLI_SAVED,
                   "answer", summary ? summary : "");
        rpc_release(&got);
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
    } else {
        answer_words_add_flag(answering, given, err->path, &line);
        say_wrong(text_string(&line), err);
        text_release(&line);
    }
}

/* Before anything is sent, so that all mistakes are told together. */
static bool check_answer(const struct answering *answering, const struct json *given)
{
    struct error errors[MISTAKES_MAX];
    struct answer answer = { 0 };
    size_t count = answer_read(&answering->form, given, &answer, errors, ARRAY_LEN(errors));
    bool is_none = arguments_value(answering->arguments, "none"), is_empty = true;

    for (size_t i = 0; i < answer.value_count; i++)
        is_empty = is_empty && !answer_has_value(&answer.values[i]);
    if (is_none ? answer_words_count(answering->arguments, answering->first) > 1
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
    bool is_choice = answer_words_count(answering->arguments, answering->first) > 0;
    struct rpc_message reply = { 0 };
    struct text params = { 0 };
    struct json *given = NULL;
    char typed[32] = "";
    struct error err;

    if (!answer_words_write(answering, answering->id, NULL, &params, &err) ||
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
        answer_words_write(answering, answering->id, typed, &params, &err);
    }
    if (ok && client_call_and_wait(answering->link, answering->is_late ? "ask/tell" : "ask/answer",
                                   text_string(&params), &reply, &err)) {
        report(answering, reply.result);
    } else if (ok) {
        ok = false;
        if (err.code == ERROR_unsupported_flag)
            say_mistake(answering, given, &err); /* what a setting switched off */
        else
            say_error(answering->arguments, &err, call_detail(&reply));
    }
    json_free(given);
    rpc_release(&reply);
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
    char *params = call_params("session_id", arguments->word_count ? arguments->words[0] : NULL);
    struct error err, other;
    bool ok = client_call_and_wait(answering->link, "ask/get", params, &answering->got, &err);

    free(params);
    answering->first = ok && arguments->word_count > 0;
    if (!ok && arguments->word_count > 0 && !answering->is_late &&
        (err.code == ERROR_not_found || err.code == ERROR_bad_format)) {
        rpc_release(&answering->got);
        ok = client_call_and_wait(answering->link, "ask/get", "{}", &answering->got, &other);
        if (err.code == ERROR_bad_format)
            err = other;
    }
    if (!ok)
        say_error(arguments, &err, NULL);
    return ok;
}

static enum exit_code run_answer(const struct arguments *arguments)
{
    static const char *const pairs[] = { "field", "other", "field-note", "option-note" };
    struct answering answering = { .arguments = arguments,
                                   .is_late = arguments->verb == &verb_tell };
    enum exit_code code = EXIT_ERROR;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) { /* before a hub is troubled */
        if (!arguments_are_pairs(arguments, pairs[i]))
            return EXIT_USAGE;
    }
    if (call_open(arguments, &call_person, &answering.link) && find_ask(&answering)) {
        answering.ask = json_member(answering.got.result, "ask");
        answering.id = json_member_text(answering.ask, "session_id");
        if (!form_read(json_member(answering.got.result, "form"), &answering.form, &err))
            say_error(arguments, &err, NULL);
        else if (!answering.is_late && answer_words_count(arguments, answering.first) == 0)
            code = show_question(&answering);
        else
            code = send_answer(&answering) ? EXIT_DONE : EXIT_ERROR;
    }
    form_release(&answering.form);
    rpc_release(&answering.got);
    client_free(answering.link);
    return code;
}

static enum exit_code run_tell(const struct arguments *arguments)
{
    return arguments->word_count > 0 ? run_answer(arguments) : say_needs(arguments, "ID");
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
VERB_ROW(answer, TEXT_CLI_ANSWER, VERB_TABLES, .max_words = 8, .works_remotely = true);

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
         .max_words = 8, .works_remotely = true);
