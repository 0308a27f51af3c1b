#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "core/lifecycle.h"
#include "core/visible_text.h"
#include "tui/facts.h"

enum { SAY_LABEL_CELLS = 12 };

static void add_badges(struct text *out, unsigned flags)
{
    if (flags & VISIBLE_HIDDEN)
        text_add_format(out, " [%s]", i18n_text(TEXT_CLI_HIDDEN_CHARACTERS));
    if (flags & VISIBLE_MIXED_SCRIPT)
        text_add_format(out, " [%s]", i18n_text(TEXT_CLI_MIXED_SCRIPTS));
}

void say_add_shown(struct text *out, const char *words)
{
    add_badges(out, visible_text(words, strlen(words), VISIBLE_ONE_LINE, out));
}

const char *say_member(const struct json *object, const char *key)
{
    const char *words = json_member_text(object, key);

    return words ? words : "";
}

void say_words(const char *before, const char *words, const char *behind)
{
    struct text shown = { 0 };

    say_add_shown(&shown, words);
    printf("%s%s%s", before, text_string(&shown), behind);
    text_release(&shown);
}

/* At most four pairs are ever needed here. */
void say_add_sentence(struct text *out, enum text_id id, va_list pairs)
{
    enum { MAX = 4 };
    const char *names[MAX] = { NULL }, *name;
    struct text values[MAX] = { { 0 } };
    size_t count = 0;

    while (count < MAX && (name = va_arg(pairs, const char *))) {
        const char *value = va_arg(pairs, const char *);

        names[count] = name;
        visible_text(value, strlen(value), VISIBLE_ONE_LINE, &values[count++]);
    }
    i18n_format(out, id, names[0], text_string(&values[0]), names[1], text_string(&values[1]),
                names[2], text_string(&values[2]), names[3], text_string(&values[3]), NULL);
    for (size_t i = 0; i < count; i++)
        text_release(&values[i]);
}

void say_sentence(FILE *file, const char *before, enum text_id id, ...)
{
    struct text line = { 0 };
    va_list pairs;

    va_start(pairs, id);
    say_add_sentence(&line, id, pairs);
    va_end(pairs);
    fprintf(file, "%s%s\n", before, text_string(&line));
    text_release(&line);
}

enum exit_code say_needs(const struct arguments *arguments, const char *what)
{
    say_problem(TEXT_CLI_NEEDS_ARGUMENT, "verb", arguments->verb->name, "name", what);
    return EXIT_USAGE;
}

static void say_error_json(const struct error *err, const struct json *detail)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_object(&writer, "error");
    error_write(err, NULL, &writer);
    error_write_message(err, &writer);
    json_write_value(&writer, "detail", detail);
    json_write_end_object(&writer);
    say_object(&writer);
}

/* Who was faster, in words. False: the detail does not say. */
static bool say_winner(const struct arguments *arguments, const struct json *detail)
{
    const struct json *by = json_member(detail, "answered_by");
    const char *state = json_member_text(detail, "status");
    const char *person = json_member_text(by, "person"), *via = json_member_text(by, "via");
    const struct json *at = json_member(detail, "answered_at");
    struct text when = { 0 };

    if (!state || !person || !via || !at)
        return false;
    say_add_time(arguments, &when, at);
    say_problem(TEXT_CLI_TOO_LATE, "state", state_text(state_find(state)), "person", person, "via",
                via, "time", text_string(&when));
    text_release(&when);
    return true;
}

void say_wrong(const char *place, const struct error *err)
{
    struct text detail = { 0 };

    text_add_format(&detail, "%s%s", place, place[0] ? ": " : "");
    error_write_in(err, i18n_language(), &detail);
    say_problem(TEXT_ERROR_KNOWN, "detail", text_string(&detail));
    text_release(&detail);
}

void say_failure(const struct error *err)
{
    struct error one;

    for (size_t i = 0; error_at(err, i, &one); i++)
        say_wrong(one.path, &one);
}

/* JSON pointers are for who wrote JSON; others read the names in it, and know the ask. */
static void say_plainly(const struct arguments *arguments, const struct error *err)
{
    struct error one;

    for (size_t i = 0; error_at(err, i, &one); i++) {
        const char *place = one.path;

        if (!arguments_value(arguments, "from")) {
            for (char *at = one.path; *at; at++)
                *at = *at == '/' ? ' ' : *at;
            place = strcmp(one.path, " session_id") == 0 ? "" : one.path + (one.path[0] == ' ');
        }
        say_wrong(place, &one);
    }
}

static void say_unsaved(const struct error *err)
{
    struct text words = { 0 };

    error_write_in(err, i18n_language(), &words);
    say_problem(TEXT_ERROR_STORAGE, "message", text_string(&words));
    text_release(&words);
}

void say_error(const struct arguments *arguments, const struct error *err,
               const struct json *detail)
{
    const char *state = json_member_text(detail, "status");
    enum ask_state ended = state_find(state);

    if (arguments->is_json)
        say_error_json(err, detail);
    else if (err->code == ERROR_already_answered && say_winner(arguments, detail))
        return;
    else if (ended == STATE_TIMEOUT || ended == STATE_AUTO_SUBMITTED)
        say_problem(TEXT_ERROR_TIMED_OUT);
    else if (ended == STATE_WITHDRAWN)
        say_problem(TEXT_ERROR_TAKEN_BACK);
    else if (err->code == ERROR_already_answered)
        say_problem(TEXT_ERROR_OVER);
    else if (err->code == ERROR_not_found && strcmp(err->path, "/session_id") == 0)
        say_problem(error_is(err, TEXT_REASON_NOTHING_WAITS) ? TEXT_ERROR_NOTHING_WAITS
                                                             : TEXT_ERROR_NOT_FOUND);
    else if (err->code == ERROR_conflicting_arguments && strcmp(err->path, "/session_id") == 0)
        say_problem(TEXT_ERROR_SEVERAL);
    else if (err->code == ERROR_storage_failed)
        say_unsaved(err);
    else
        say_plainly(arguments, err);
}

/* \uNNNN, as two surrogates above the first plane. */
static void add_escape(struct text *out, int32_t code_point)
{
    int32_t rest = code_point - 0x10000;

    if (code_point < 0x10000)
        text_add_format(out, "\\u%04x", (unsigned)code_point);
    else
        text_add_format(out, "\\u%04x\\u%04x", 0xd800U + (unsigned)(rest >> 10),
                        0xdc00U + (unsigned)(rest & 0x3ff));
}

static bool would_hide(const char *bytes, size_t length)
{
    struct text shown = { 0 };
    unsigned flags = visible_text(bytes, length, VISIBLE_LINES, &shown);

    text_release(&shown);
    return flags & VISIBLE_HIDDEN;
}

/* Beyond ASCII, what would be hidden or acted upon is escaped: the value stays the same. */
void say_add_json(struct text *out, const char *json)
{
    const char *at = json, *end = json + strlen(json);

    while (at < end) {
        const char *start = at;
        int32_t code_point = text_decode(&at, end);

        if (code_point < 0)
            break; /* what we print was parsed before: it is UTF-8 */
        if (code_point >= 0x7f && would_hide(start, (size_t)(at - start)))
            add_escape(out, code_point);
        else
            text_add(out, start, (size_t)(at - start));
    }
}

void say_json(const char *json)
{
    struct text out = { 0 };

    say_add_json(&out, json);
    puts(text_string(&out));
    text_release(&out);
}

void say_value(const struct json *value)
{
    char *json = json_encode(value);

    say_json(json);
    free(json);
}

void say_object(struct json_writer *writer)
{
    json_write_end_object(writer);
    say_json(text_string(writer->out));
    text_release(writer->out);
}

void say_lines(const char *words, int indent)
{
    struct text shown = { 0 };
    char *rest = NULL;

    add_badges(&shown, visible_text(words, strlen(words), VISIBLE_LINES, &shown));
    if (shown.used) {
        for (char *line = shown.bytes; line; line = rest) {
            rest = strchr(line, '\n');
            if (rest)
                *rest++ = '\0';
            printf("%*s%s\n", *line ? indent : 0, "", line);
        }
    }
    text_release(&shown);
}

/* What a token is called, or that there was none. */
static void add_token(struct text *out, const struct json *origin)
{
    const char *label = json_member_text(origin, "token");
    struct text shown = { 0 };

    if (!label) {
        text_add_text(out, i18n_text(TEXT_AGENT_NO_TOKEN));
        return;
    }
    say_add_shown(&shown, label);
    i18n_format(out, TEXT_AGENT_TOKEN, "label", text_string(&shown), NULL);
    text_release(&shown);
}

void say_add_agent(struct text *out, const struct json *ask)
{
    const struct json *origin = json_member(ask, "origin");
    struct text shown = { 0 };

    say_add_shown(&shown, say_member(ask, "agent"));
    text_add_char(out, '"');
    for (const char *at = text_string(&shown); *at; at++) {
        if (*at == '"')
            text_add_char(out, '\\');
        text_add_char(out, *at);
    }
    text_add_text(out, "\" (");
    if (json_member_text(origin, "via"))
        add_token(out, origin);
    else
        text_add_format(out, "uid %lld, pid %lld",
                        (long long)json_member_integer(origin, "uid", -1),
                        (long long)json_member_integer(origin, "pid", 0));
    text_add_char(out, ')');
    text_release(&shown);
}

void say_add_time(const struct arguments *arguments, struct text *out, const struct json *given)
{
    int64_t utc_ms = facts_time(given);

    if (utc_ms && !arguments_value(arguments, "utc"))
        i18n_add_when(out, utc_ms, (int64_t)time(NULL) * 1000);
    else if (json_text(given))
        say_add_shown(out, json_text(given));
}

/* Columns our own labels take: Latin letters one, Chinese characters two. */
static int cells_of(const char *label)
{
    const char *end = label + strlen(label);
    int cells = 0;

    while (label < end) {
        int32_t code_point = text_decode(&label, end);

        cells += code_point >= 0x2e80 ? 2 : 1;
    }
    return cells;
}

void say_add_cell(struct text *out, const char *words, int cells)
{
    int blanks = cells - cells_of(words) + 2;

    text_add_format(out, "%s%*s", words, blanks > 0 ? blanks : 0, "");
}

void say_row(enum text_id label, const char *value)
{
    struct text shown = { 0 };

    if (!value)
        return;
    say_add_shown(&shown, value);
    printf("%s:%*s%s\n", i18n_text(label), SAY_LABEL_CELLS - cells_of(i18n_text(label)), "",
           text_string(&shown));
    text_release(&shown);
}
