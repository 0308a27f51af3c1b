/*
 * gate.c - walks through what a tool is called with: texts that may be commands, and names of
 * files. How a command is read is gate_command.c's, how a path is gate_path.c's.
 */
#include "core/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/gate_inside.h"

/* By the name of the member; all others are read as commands, since many a tool takes a script or a
 * message to a shell under a name of its own. What is only written into a file is not run now, and
 * what describes a call is not the call. */
static const char paths[] = "file_path;path;paths;filePath;notebook_path;absolute_path;destination",
                  contents[] = "content;old_string;new_string;old_str;new_str;file_text;"
                               "new_source;description;instruction",
                  statements[] = "sql;query";

/* Tools that change nothing, by the names Claude Code, Codex, Gemini CLI and Copilot give them, and
 * our own that ask: a rule about paths or commands does not apply to them, only one that names
 * them. What a subagent (Task) runs comes to the gate by itself. */
static const char readers[] =
    "read;glob;grep;ls;notebookread;webfetch;websearch;read_file;read_many_files;list_directory;"
    "search_file_content;google_web_search;web_fetch;view;"
    "todowrite;write_todos;update_plan;task;exitplanmode;askuserquestion;ask_user;"
    "*provide_choice;*ask_user_question;*elicit_*;*get_answer;*check_decision";

/* A look under way. */
struct look {
    const struct gate_rules *rules;
    const struct gate_call *call;
    struct gate_reading reading; /* of the text that is looked at */
    struct gate_match match;
};

/* The next one of a list, cut to its room, and where to go on; NULL: no more. */
static const char *next_pattern(const char *list, char out[GATE_PATTERN_BYTES])
{
    const char *at = list ? list + strspn(list, "; ") : "";
    size_t length = strcspn(at, ";");

    while (length > 0 && at[length - 1] == ' ')
        length--;
    snprintf(out, GATE_PATTERN_BYTES, "%.*s", (int)length, at);
    return length > 0 ? at + length : NULL;
}

bool gate_glob(const char *pattern, const char *text, size_t length, unsigned how)
{
    const char *star = NULL, *retry = NULL, *end = text + length;

    while (text < end) {
        bool is_plain = pattern[0] == '\\' && pattern[1] == '*'; /* \* is a star */
        char wanted = pattern[is_plain];
        bool is_same = how & GATE_CASE ? wanted == *text : strncasecmp(&wanted, text, 1) == 0;

        if ((how & GATE_PARENTS) && !wanted && *text == '/')
            return true;
        if (!is_plain && *pattern == '*') {
            if ((how & GATE_STEPS) && *text == '.' && pattern[-1] == '/')
                return false;
            star = ++pattern;
            retry = text;
        } else if (is_same) {
            pattern += 1 + is_plain;
            text++;
        } else if (star && !((how & GATE_STEPS) && *retry == '/')) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* A command that names a file changes it, for all we know; then there is a reading, and no text. */
static bool matches(const struct look *look, enum gate_kind kind, const char *pattern,
                    const char *text)
{
    if (kind == GATE_COMMAND)
        return gate_reading_matches(pattern, &look->reading);
    if (kind == GATE_PATH)
        return text ? gate_matches_path(pattern, text, look->call, GATE_ITSELF)
                    : gate_has_argument(pattern, &look->reading, look->call);
    return kind == GATE_WORD ? gate_has_word(pattern, text)
                             : gate_glob(pattern, text, strlen(text), 0);
}

static bool find_in(struct look *look, const char *list, enum gate_kind kind, const char *text)
{
    char pattern[GATE_PATTERN_BYTES];

    for (const char *at = next_pattern(list, pattern); at; at = next_pattern(at, pattern)) {
        if (!matches(look, kind, pattern, text))
            continue;
        look->match.kind = kind;
        memcpy(look->match.pattern, pattern, sizeof pattern);
        return true;
    }
    return false;
}

static bool is_listed(const char *list, const char *name_or_null)
{
    return name_or_null && find_in(&(struct look){ 0 }, list, GATE_TOOL, name_or_null);
}

/* A line's end ends no statement, unless a comment ends there. */
static void join_lines(char *sql)
{
    for (char *at = sql, *end; (end = strchr(at, '\n')); at = end + 1) {
        if (!memmem(at, (size_t)(end - at), "--", 2))
            *end = ' ';
    }
}

static bool look_at_text(struct look *look, const char *name, const char *text)
{
    const struct gate_rules *rules = look->rules;
    char *read;
    bool is_found;

    if (is_listed(contents, name))
        return false;
    if (is_listed(paths, name))
        return find_in(look, rules->paths, GATE_PATH, text);
    read = mem_text(text);
    if (is_listed(statements, name))
        join_lines(read);
    gate_read(read, &look->reading);
    free(read);
    is_found = find_in(look, rules->commands, GATE_COMMAND, NULL) ||
               find_in(look, rules->words, GATE_WORD, text) ||
               find_in(look, rules->paths, GATE_PATH, NULL);
    gate_reading_release(&look->reading);
    return is_found;
}

/* A list of words is one command. */
static bool look_at_words(struct look *look, const char *name, const struct json *list)
{
    struct text joined = { 0 };
    bool is_found;

    for (size_t i = 0; i < json_length(list); i++) {
        const char *word = json_text(json_item(list, i));

        if (word)
            text_add_format(&joined, "%s%s", joined.used ? " " : "", word);
    }
    is_found = look_at_text(look, name, text_string(&joined));
    text_release(&joined);
    return is_found;
}

static bool look_at(struct look *look, const char *name, const struct json *value)
{
    bool is_found = false;

    if (json_text(value) && strlen(json_text(value)) == json_length(value))
        return look_at_text(look, name, json_text(value));
    if (json_text(value)) { /* it is unknown who reads on after a NUL */
        look->match = (struct gate_match){ GATE_COMMAND, "U+0000" };
        return true;
    }
    for (size_t i = 0; json_kind(value) == KIND_LIST && !is_found && i < json_length(value); i++)
        is_found = look_at(look, name, json_item(value, i));
    if (json_kind(value) == KIND_LIST)
        return is_found || look_at_words(look, name, value);
    for (void *it = json_first(value); it && !is_found; it = json_next(value, it))
        is_found = look_at(look, json_key(it), json_value(it));
    return is_found;
}

struct gate_match gate_find(const struct gate_rules *rules, const struct gate_call *call)
{
    struct look look = { .rules = rules, .call = call };

    if (!find_in(&look, rules->tools, GATE_TOOL, call->tool) && !is_listed(readers, call->tool))
        look_at(&look, NULL, call->input);
    return look.match;
}
