/*
 * gate.c - walks through what a tool is called with: texts that may be commands, and names of
 * files. How a command is read is gate_command.c's, how a path is gate_path.c's.
 */
#include "core/gate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/gate_inside.h"

enum member_kind { MEMBER_TEXT, MEMBER_PATH, MEMBER_CONTENT };

/* By the name of the member; all others are read as commands, since many a tool takes SQL, a
 * script or a message to a shell under a name of its own. What is only written into a file is not
 * run now, and what describes a call is not the call. */
static const struct {
    const char *name;
    enum member_kind kind;
} members[] = {
    { "file_path", MEMBER_PATH },      { "path", MEMBER_PATH },
    { "paths", MEMBER_PATH },          { "filePath", MEMBER_PATH },
    { "notebook_path", MEMBER_PATH },  { "absolute_path", MEMBER_PATH },
    { "destination", MEMBER_PATH },    { "content", MEMBER_CONTENT },
    { "old_string", MEMBER_CONTENT },  { "new_string", MEMBER_CONTENT },
    { "old_str", MEMBER_CONTENT },     { "new_str", MEMBER_CONTENT },
    { "file_text", MEMBER_CONTENT },   { "new_source", MEMBER_CONTENT },
    { "description", MEMBER_CONTENT }, { "instruction", MEMBER_CONTENT },
};

/* Tools that change nothing, by the names Claude Code, Codex, Gemini CLI and Copilot give them: a
 * rule about paths or commands does not speak of them, only one that names them. */
static const char *const readers[] = {
    "read",
    "glob",
    "grep",
    "ls",
    "notebookread",
    "webfetch",
    "websearch",
    "read_file",
    "read_many_files",
    "list_directory",
    "search_file_content",
    "google_web_search",
    "web_fetch",
    "view",
};

/* A look under way. */
struct look {
    const struct gate_rules *rules;
    const struct gate_call *call;
    struct gate_match match;
};

const char *gate_next_pattern(const char *list, char out[GATE_PATTERN_BYTES])
{
    while (list && *list) {
        size_t length = strcspn(list, ";"), begin = strspn(list, " ");
        const char *rest = list + length + (list[length] == ';');

        while (length > begin && list[length - 1] == ' ')
            length--;
        if (length > begin) {
            snprintf(out, GATE_PATTERN_BYTES, "%.*s", (int)(length - begin), list + begin);
            return rest;
        }
        list = rest;
    }
    return NULL;
}

bool gate_glob(const char *pattern, const char *text, bool is_case_known)
{
    const char *star = NULL, *retry = NULL;

    while (*text) {
        bool is_same =
            is_case_known ? *pattern == *text : strncasecmp(pattern, text, 1) == 0 && *pattern;

        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (is_same) {
            pattern++;
            text++;
        } else if (star) {
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

static bool find_in(struct look *look, const char *list, enum gate_kind kind, const char *text,
                    bool (*matches)(const struct look *look, const char *pattern, const char *text))
{
    char pattern[GATE_PATTERN_BYTES];

    for (const char *at = gate_next_pattern(list, pattern); at;
         at = gate_next_pattern(at, pattern)) {
        if (!matches(look, pattern, text))
            continue;
        look->match.kind = kind;
        memcpy(look->match.pattern, pattern, sizeof pattern);
        return true;
    }
    return false;
}

static bool matches_tool(const struct look *look, const char *pattern, const char *text)
{
    (void)look;
    return gate_glob(pattern, text, false);
}

static bool matches_command(const struct look *look, const char *pattern, const char *text)
{
    (void)look;
    return gate_matches_command(pattern, text);
}

static bool matches_word(const struct look *look, const char *pattern, const char *text)
{
    (void)look;
    return gate_has_word(pattern, text);
}

static bool matches_path(const struct look *look, const char *pattern, const char *text)
{
    return gate_matches_path(pattern, text, look->call);
}

/* A command that names a file as an argument changes it, for all we know. */
static bool matches_argument(const struct look *look, const char *pattern, const char *text)
{
    return gate_has_argument(pattern, text, look->call);
}

static enum member_kind kind_of(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(members); i++) {
        if (strcmp(members[i].name, name) == 0)
            return members[i].kind;
    }
    return MEMBER_TEXT;
}

static bool look_at_text(struct look *look, const char *name, const char *text)
{
    const struct gate_rules *rules = look->rules;

    switch (kind_of(name)) {
    case MEMBER_CONTENT:
        return false;
    case MEMBER_PATH:
        return find_in(look, rules->paths, GATE_PATH, text, matches_path);
    case MEMBER_TEXT:
        break;
    }
    return find_in(look, rules->commands, GATE_COMMAND, text, matches_command) ||
           find_in(look, rules->words, GATE_WORD, text, matches_word) ||
           find_in(look, rules->paths, GATE_PATH, text, matches_argument);
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

/* Nobody can say what stands behind a NUL, or who reads on there. */
static bool match_hidden(struct look *look)
{
    look->match = (struct gate_match){ GATE_COMMAND, "U+0000" };
    return true;
}

static bool look_at(struct look *look, const char *name, const struct json *value)
{
    bool is_found = false;

    if (json_text(value) && strlen(json_text(value)) != json_length(value))
        return match_hidden(look);
    if (json_text(value))
        return look_at_text(look, name, json_text(value));
    for (size_t i = 0; json_kind(value) == KIND_LIST && !is_found && i < json_length(value); i++)
        is_found = look_at(look, name, json_item(value, i));
    if (json_kind(value) == KIND_LIST)
        return is_found || look_at_words(look, name, value);
    for (void *it = json_first(value); it && !is_found; it = json_next(value, it))
        is_found = look_at(look, json_key(it), json_value(it));
    return is_found;
}

static bool only_reads(const char *tool)
{
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        if (strcasecmp(readers[i], tool) == 0)
            return true;
    }
    return false;
}

struct gate_match gate_find(const struct gate_rules *rules, const struct gate_call *call)
{
    struct look look = { .rules = rules, .call = call };

    if (!find_in(&look, rules->tools, GATE_TOOL, call->tool, matches_tool) &&
        !only_reads(call->tool))
        look_at(&look, NULL, call->input);
    return look.match;
}
