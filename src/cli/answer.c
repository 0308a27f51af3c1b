/*
 * answer.c - `sayso answer`: a person answers from the command line. What is destructive needs a
 * terminal and a second act: the code shown there, typed there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"
#include "core/answer.h"

/* How much of a list between commas is its first id: ids may have commas in them. */
static size_t first_id(const struct json *field, const char *commas)
{
    const struct json *options = json_member(field, "options");
    size_t longest = 0;

    for (size_t i = 0; i < json_length(options); i++) {
        const char *id = json_member_text(json_item(options, i), "id");
        size_t length = id ? strlen(id) : 0;

        if (length > longest && strncmp(commas, id, length) == 0 &&
            (commas[length] == ',' || commas[length] == '\0'))
            longest = length;
    }
    return longest ? longest : strcspn(commas, ",");
}

static void write_ids(struct json_writer *writer, const char *key, const struct json *field,
                      const char *commas)
{
    json_write_list(writer, key);
    while (*commas) {
        size_t length = first_id(field, commas);

        if (length)
            json_write_text_n(writer, NULL, commas, length);
        commas += length + (commas[length] == ',');
    }
    json_write_end_list(writer);
}

/* The field that NAME=VALUE speaks of: its name may have = in it. NULL: none. */
static const struct json *find_field(const struct json *form, const char *pair)
{
    const struct json *fields = json_member(form, "fields");

    for (size_t i = 0; i < json_length(fields); i++) {
        const char *name = json_member_text(json_item(fields, i), "name");
        size_t length = name ? strlen(name) : 0;

        if (name && strncmp(pair, name, length) == 0 && pair[length] == '=')
            return json_item(fields, i);
    }
    return NULL;
}

static const char *yes_or_no(const char *value)
{
    static const char *const words[][2] = {
        { "yes", "true" },
        { "y", "true" },
        { "no", "false" },
        { "n", "false" },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(value, words[i][0]) == 0)
            return words[i][1];
    }
    return value;
}

/* A value as the field wants it: a list of ids, a number, yes or no; else the text itself. */
static void write_value(struct json_writer *writer, const struct json *field, const char *value)
{
    const char *known = json_member_text(field, "kind"), *kind = known ? known : "";
    struct json *json = NULL;

    if (strcmp(kind, "confirm") == 0)
        value = yes_or_no(value);
    if (strcmp(kind, "multi") == 0) {
        write_ids(writer, NULL, field, value);
    } else if ((strcmp(kind, "number") == 0 || strcmp(kind, "confirm") == 0) &&
               json_parse(value, strlen(value), &json, NULL) && json_kind(json) != KIND_TEXT) {
        json_write_raw(writer, NULL, value);
    } else {
        json_write_text(writer, NULL, value);
    }
    json_free(json);
}

/* NAME=VALUE at its =, which check_pairs saw to. The name is the caller's to free. */
static char *split_pair(const struct json *form, const char *pair, const char **ret_value)
{
    const char *known = json_member_text(find_field(form, pair), "name");
    size_t length = known ? strlen(known) : strcspn(pair, "=");

    *ret_value = pair + length + 1;
    return mem_text_n(pair, length);
}

/* Repeated NAME=TEXT as an object; the names are those of the form's fields, if there is one. */
static void write_texts(const struct arguments *arguments, const char *option, const char *key,
                        const struct json *form, struct json_writer *writer)
{
    const char *pair, *value;
    size_t at = 0;

    if (!arguments_value(arguments, option))
        return;
    json_write_object(writer, key);
    while ((pair = arguments_next(arguments, option, &at))) {
        char *name = split_pair(form, pair, &value);

        json_write_foreign_key(writer, name);
        json_write_text(writer, NULL, value);
        free(name);
    }
    json_write_end_object(writer);
}

/* What an option says of the field of this name; NULL: nothing. */
static const char *said_of(const struct arguments *arguments, const char *option,
                           const struct json *form, const char *wanted)
{
    const char *pair, *value, *found = NULL;
    size_t at = 0;

    while (!found && (pair = arguments_next(arguments, option, &at))) {
        char *name = split_pair(form, pair, &value);

        if (strcmp(name, wanted) == 0)
            found = value;
        free(name);
    }
    return found;
}

static bool is_hybrid(const struct json *field)
{
    const char *kind = json_member_text(field, "kind");

    return kind && strcmp(kind, "hybrid") == 0;
}

/* Options, own words, or both; where neither is said, what stood there stays. */
static void write_hybrid(struct json_writer *writer, const struct json *field, const char *picks,
                         const char *words)
{
    json_write_object(writer, NULL);
    if (picks)
        write_ids(writer, "selected_ids", field, picks);
    if (words)
        json_write_text(writer, "custom_input", words);
    json_write_end_object(writer);
}

static void write_fields(const struct arguments *arguments, const struct json *form,
                         struct json_writer *writer)
{
    const char *pair, *value;
    size_t at = 0;

    if (!arguments_value(arguments, "field") && !arguments_value(arguments, "other"))
        return;
    json_write_object(writer, "fields");
    while ((pair = arguments_next(arguments, "field", &at))) {
        const struct json *field = find_field(form, pair);
        char *name = split_pair(form, pair, &value);

        json_write_foreign_key(writer, name);
        if (is_hybrid(field))
            write_hybrid(writer, field, value, said_of(arguments, "other", form, name));
        else
            write_value(writer, field, value);
        free(name);
    }
    for (at = 0; (pair = arguments_next(arguments, "other", &at));) {
        const struct json *field = find_field(form, pair);
        char *name = split_pair(form, pair, &value);

        if (!is_hybrid(field) || !said_of(arguments, "field", form, name)) {
            json_write_foreign_key(writer, name);
            write_hybrid(writer, field, NULL, value);
        }
        free(name);
    }
    json_write_end_object(writer);
}

static void write_answer(const struct arguments *arguments, const char *id, const char *code,
                         const struct json *form, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    const char *select = arguments_value(arguments, "select");
    const char *text = arguments_value(arguments, "text");
    const char *note = arguments_value(arguments, "note");

    json_write_object(&writer, NULL);
    json_write_text(&writer, "session_id", id);
    if (select)
        write_ids(&writer, "selected_ids", json_item(json_member(form, "fields"), 0), select);
    if (text)
        json_write_text(&writer, "custom_input", text);
    if (note)
        json_write_text(&writer, "global_annotation", note);
    if (code)
        json_write_text(&writer, "code", code);
    write_fields(arguments, form, &writer);
    write_texts(arguments, "option-note", "option_annotations", NULL, &writer);
    write_texts(arguments, "field-note", "field_annotations", form, &writer);
    json_write_end_object(&writer);
}

/* Only what the terminal itself types counts; a pipe cannot do the second act. */
static bool read_code(const struct arguments *arguments, const char *id, const char *title,
                      const char *code, char *typed, size_t size)
{
    static const char *const values[] = { "field", "other" };
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    FILE *tty = fd < 0 ? NULL : fdopen(fd, "r+");
    const char *chosen = arguments_value(arguments, "select"), *pair;
    size_t at;
    struct text line = { 0 };
    struct error err;
    bool ok;

    if (!tty) {
        error_set(
            &err, ERROR_wrong_state, "/session_id",
            "this answer is destructive: give it in a terminal of your own (sayso answer %.8s)",
            id);
        if (arguments->is_json)
            say_error(arguments, &err, NULL);
        else
            say_problem(TEXT_CLI_NO_TERMINAL, NULL);
        return false;
    }
    say_add_shown(&line, title);
    fprintf(tty, "! %s\n  %s\n", i18n_text(TEXT_CLI_DESTRUCTIVE), text_string(&line));
    text_clear(&line);
    if (chosen) { /* the ids, not the agent's words for them: this is what it will get */
        say_add_shown(&line, chosen);
        fprintf(tty, "  > %s\n", text_string(&line));
        text_clear(&line);
    }
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        for (at = 0; (pair = arguments_next(arguments, values[i], &at));) {
            say_add_shown(&line, pair);
            fprintf(tty, "  > %s\n", text_string(&line));
            text_clear(&line);
        }
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
    say_note(TEXT_CLI_NOT_SENT, NULL);
    return false;
}

static bool second_act(const struct arguments *arguments, struct link *link, const char *id,
                       const char *title, char *typed, size_t size)
{
    char *params = call_id_params(id);
    struct wire_message reply;
    const char *code;
    bool ok = call_hub(arguments, link, "ask/challenge", params, &reply);

    code = ok ? json_member_text(reply.result, "code") : NULL;
    ok = code && read_code(arguments, id, title, code, typed, size);
    wire_release(&reply);
    free(params);
    return ok;
}

static void report(const struct arguments *arguments, struct link *link, const char *id,
                   const struct json *ack)
{
    char *params = call_id_params(id);
    struct wire_message got;
    const struct json *result;
    const char *summary;

    if (arguments->is_json) {
        say_value(ack);
    } else if (call_hub(arguments, link, "ask/get", params, &got)) {
        result = json_member(got.result, "result");
        summary = json_member_text(result, "summary");
        if (!summary)
            summary = json_member_text(json_member(result, "selection"), "summary");
        say_result(json_is_yes(json_member(ack, "already")) ? TEXT_CLI_ALREADY_SO : TEXT_CLI_SAVED,
                   "answer", summary ? summary : "", NULL);
        wire_release(&got);
    }
    free(params);
}

/* As the hub will judge it; a form of a later hub is not ours to judge, and the hub says so. */
static bool needs_code(const struct json *form, const struct text *answer)
{
    struct form read = { 0 };
    bool needs = form_read(form, &read, NULL) && answer_will_need_code(&read, text_string(answer));

    form_release(&read);
    return needs;
}

static bool send_answer(const struct arguments *arguments, struct link *link,
                        const struct json *got)
{
    const struct json *ask = json_member(got, "ask");
    const char *id = json_member_text(ask, "session_id");
    const char *title = json_member_text(ask, "title");
    const char *status = json_member_text(ask, "status");
    bool is_open = status && state_is_open(state_find(status));
    char typed[32] = "";
    struct text params = { 0 };
    struct wire_message reply = { 0 };
    bool ok = true;

    write_answer(arguments, id, NULL, json_member(got, "form"), &params);
    if (is_open && needs_code(json_member(got, "form"), &params)) {
        ok = second_act(arguments, link, id, title, typed, sizeof typed);
        text_clear(&params);
        write_answer(arguments, id, typed, json_member(got, "form"), &params);
    }
    ok = ok && call_hub(arguments, link, "ask/answer", text_string(&params), &reply);
    if (ok)
        report(arguments, link, id, reply.result);
    wire_release(&reply);
    text_release(&params);
    return ok;
}

/* Before a hub is troubled. */
static bool check_pairs(const struct arguments *arguments, const char *option)
{
    const char *pair;
    char shown[32];
    size_t at = 0;

    snprintf(shown, sizeof shown, "--%s", option);
    while ((pair = arguments_next(arguments, option, &at))) {
        if (!strchr(pair, '=')) {
            say_problem(TEXT_CLI_BAD_PAIR, "name", shown, NULL);
            return false;
        }
    }
    return true;
}

static enum exit_code run_answer(const struct arguments *arguments)
{
    char *params;
    bool ok;
    static const char *const pairs[] = { "field", "other", "field-note", "option-note" };
    struct wire_message got = { 0 };
    struct link *link = NULL;

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (!check_pairs(arguments, pairs[i]))
            return EXIT_USAGE;
    }
    params = call_id_params(arguments->word_count ? arguments->words[0] : NULL);
    ok = call_open(arguments, &call_person, LINK_MAY_START, &link) &&
         call_hub(arguments, link, "ask/get", params, &got) &&
         send_answer(arguments, link, got.result);

    wire_release(&got);
    link_close(link);
    free(params);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static const struct verb_option options[] = {
    { "select", 's', "ID[,ID...]", TEXT_OPT_SELECT, false },
    { "text", 't', "TEXT", TEXT_OPT_TEXT, false },
    { "field", 'F', "NAME=VALUE", TEXT_OPT_FIELD, false },
    { "other", 'O', "NAME=TEXT", TEXT_OPT_OTHER, false },
    { "field-note", 0, "NAME=TEXT", TEXT_OPT_FIELD_NOTE, false },
    { "note", 'n', "TEXT", TEXT_OPT_NOTE, false },
    { "option-note", 'N', "ID=TEXT", TEXT_OPT_OPTION_NOTE, false },
};
static const char *const usage[] = {
    "answer [ID] --select ID[,ID...] [--note TEXT]",
    "answer [ID] --text TEXT",
    "answer [ID] --field NAME=VALUE [--field NAME=VALUE...] [--other NAME=TEXT...]",
    NULL,
};
static const char *const examples[] = {
    "answer --select eu",
    "answer k3f7 --select unit,lint --note 'lint may stay a warning'",
    "answer k3f7 --text 'Call it Heron'",
    "answer k3f7 --field confirmed=yes",
    "answer k3f7 --field q1=Redis --field q2=Unit,Lint --other q3='neither, ask Ada'",
    NULL,
};
const struct verb verb_answer = {
    .name = "answer",
    .about = TEXT_CLI_ANSWER,
    VERB_TABLES,
    .most_words = 1,
    .may_go_far = true,
    .run = run_answer,
};
