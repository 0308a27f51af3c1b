/* gate.c - walks through what a tool is called with: texts that may be commands, and paths. */
#include "core/gate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"

/* Reads a command as a shell would, roughly: words, and where one command ends. Quotes are looked
 * through, because what stands in them is often a command itself. */

enum { VALUE_BYTES = 256 }; /* what is longer is a text, not the value of a word */
static const char ends_command[] = ";&|\n\r()`{}", groups[] = "()`{}", ends_word[] = " \t",
                  redirects[] = "<>";

/* Behind a variable whose value is known; what it stands for goes to `ret_meant`. */
static const char *skip_variable(const char *at, char *ret_meant)
{
    static const char *const known[] = { "${IFS}", "$IFS", "${HOME}", "$HOME" };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        *ret_meant = i < 2 ? ' ' : '~';
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return at + strlen(known[i]);
    }
    return NULL;
}

/* The end of the $(...), ${...} or `...` that begins here; NULL: none does. */
static const char *end_of_value(const char *at)
{
    char closes = at[0] == '`' ? '`' : at[1] == '(' ? ')' : '}';
    bool is_value = at[0] == '`' || (at[0] == '$' && (at[1] == '(' || at[1] == '{'));

    return is_value ? memchr(at + 1, closes, strnlen(at + 1, VALUE_BYTES)) : NULL;
}

/* Of a shell, of SQL; or what is no option any more. */
static bool begins_comment(const char *at, const char *command)
{
    return (*at == '#' || strncmp(at, "-- ", 3) == 0) &&
           (at == command || isspace((unsigned char)at[-1]));
}

/* Words get one blank between them, commands a line's end. {rm,-r} is words, $'rm' a quoted one. */
static void normalize(const char *command, enum quotes quotes, struct text *out)
{
    const char *value = NULL; /* the end of one that is a word */
    char quote = '\0', meant;
    int braces = 0;

    for (const char *at = command; *at; at++) {
        const char *behind_variable = skip_variable(at, &meant);
        bool is_quote = *at == '\'' || *at == '"', is_in_value = value && at <= value;

        if (quotes >= QUOTES_VALUES && !is_in_value)
            is_in_value = (value = end_of_value(at)) != NULL;
        braces += !quote && *at == '{' ? 1 : !quote && *at == '}' && braces ? -1 : 0;
        if (*at == '\\' && at[1]) {
            if (*++at != '\n') /* a line that goes on */
                text_add_char(out, quotes == QUOTES_SPLIT && strchr("'\"", *at) ? ' ' : *at);
        } else if (*at == quote || (!quote && is_quote)) {
            quote = quote ? '\0' : *at;
            if (quotes == QUOTES_SPLIT)
                text_add_char(out, ' ');
        } else if (quotes == QUOTES_SPLIT && strncmp(at, "/*", 2) == 0 &&
                   memmem(at + 2, strnlen(at + 2, VALUE_BYTES), "*/", 2)) {
            at = strstr(at + 2, "*/") + 1;
        } else if (quotes == QUOTES_SPLIT && begins_comment(at, command)) {
            text_add_text(out, *at == '#' ? "\n#" : "--\n#"); /* no ! is met in it */
            at += *at == '-';
        } else if (behind_variable) {
            text_add_char(out, meant);
            at = behind_variable - 1;
        } else if (is_in_value || (quote && quotes == QUOTES_WHOLE)) {
            text_add_char(out, isspace((unsigned char)*at) ? '_' : *at);
        } else if (strchr(groups, *at) && quotes >= QUOTES_VALUES) {
            text_add_char(out, ' ');
        } else if (strchr(ends_command, *at)) {
            text_add_char(out, quote && quotes != QUOTES_SPLIT ? ' ' : '\n');
        } else if (strchr(redirects, *at)) {
            text_add_format(out, " %c ", *at);
        } else if (strchr(ends_word, *at) || (braces && *at == ',') || is_quote) {
            text_add_char(out, is_quote && quotes != QUOTES_SPLIT ? *at : ' ');
        } else if (*at != '$' || quote || (at[1] != '\'' && at[1] != '"')) {
            text_add_char(out, *at);
        }
    }
}

/* One word, where it lies. */
struct word {
    const char *at;
    size_t length;
};

/* A pattern, taken apart. */
struct pattern {
    char bytes[GATE_PATTERN_BYTES];
    const char *words[GATE_PATTERN_BYTES / 2];
    size_t count;
    bool is_close; /* begins with ^ */
};

/* The next word of one command; false: none is left. */
static bool next_word(const char **at, struct word *out)
{
    *at += strspn(*at, " ");
    *out = (struct word){ *at, strcspn(*at, " \n") };
    *at += out->length;
    return out->length > 0;
}

static struct word base_name(struct word word)
{
    const char *slash;

    while (word.length > 1 && word.at[word.length - 1] == '/')
        word.length--;
    slash = memrchr(word.at, '/', word.length);
    return slash ? (struct word){ slash + 1, word.length - (size_t)(slash + 1 - word.at) } : word;
}

static bool is_among(struct word word, const char *const *names)
{
    while (*names && (strncasecmp(*names, word.at, word.length) != 0 || (*names)[word.length]))
        names++;
    return *names != NULL;
}

/* Every letter of -rf in options of one dash: small ones in both cases, capital ones as they are.
 * So are all that must not be there (`is_no`), and they are in no value: -enode, -oci.none. */
static bool has_letters(const char *letters, const char *words, bool is_no)
{
    char other = is_no ? *letters : (char)toupper((unsigned char)*letters);
    struct word word;

    for (const char *at = words; *letters && next_word(&at, &word);) {
        size_t length = is_no ? strcspn(word.at, "eos \n") : word.length;

        if (word.at[0] == '-' && word.at[1] != '-' &&
            (memchr(word.at, *letters, length) || memchr(word.at, other, length)))
            return has_letters(letters + 1, words, is_no);
    }
    return !*letters;
}

static bool gate_glob(const char *pattern, const char *text, size_t length, unsigned how)
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

/* --force: also --force=yes, cut short (--for) as programs allow, and with one dash (-delete). */
static bool is_option(const char *wanted, struct word word)
{
    size_t dashes = word.at[0] != '-' ? 0 : word.length > 1 && word.at[1] == '-' ? 2 : 1;
    const char *name = word.at + dashes, *value = memchr(name, '=', word.length - dashes);
    size_t length = value ? (size_t)(value - name) : word.length - dashes;

    wanted += 2;
    return (dashes > 0 && length != 1 && gate_glob(wanted, name, length, 0)) ||
           (dashes == 2 && length > 0 && strncasecmp(wanted, name, length) == 0);
}

/* What must not be there (`is_no`) is not if it is taken back: --no-dry-run, =none, =false. */
static bool has_option(const char *wanted, const char *words, bool is_no)
{
    bool is_there = false;
    struct word word;

    while (next_word(&words, &word)) {
        const char *value = memchr(word.at, '=', word.length);

        if (is_no && strncmp(word.at, "--no-", 5) == 0 &&
            strncasecmp(wanted + 2, word.at + 5, word.length - 5) == 0)
            return false;
        is_there |= is_option(wanted, word) && !(is_no && value && strchr("nfo0", value[1]));
    }
    return is_there;
}

/* They start a command after other words: a host, a container, a user, a file. */
static const char *const carriers[] = { "ssh",    "su",      "docker",   "podman",  "kubectl",
                                        "oc",     "flock",   "parallel", "script",  "systemd-run",
                                        "chroot", "runuser", "gosu",     "nsenter", "tmux",
                                        "screen", NULL };

/* It only starts the command behind it, or belongs to what does. */
static bool is_starter(struct word word)
{
    static const char *const starters[] = {
        "sudo",   "doas",  "env",  "command", "builtin", "exec",   "nohup",    "time",   "timeout",
        "nice",   "bash",  "sh",   "zsh",     "dash",    "eval",   "busybox",  "xargs",  "if",
        "then",   "elif",  "else", "while",   "until",   "do",     "!",        "setsid", "stdbuf",
        "ionice", "watch", "trap", "coproc",  "strace",  "pkexec", "unbuffer", NULL
    };

    return strchr("-<>", word.at[0]) || isdigit((unsigned char)word.at[0]) ||
           memchr(word.at, '=', word.length) || is_among(base_name(word), starters);
}

/* What comes behind the first word that fits; NULL: none does. `is_close`: only options and what
 * may belong to them stand in between, and nothing before the first. */
static const char *behind(const char *wanted, const char *words, bool is_first, bool is_close)
{
    bool may_skip = !is_close;
    struct word word;

    while (next_word(&words, &word)) {
        bool has_directory = is_first || (word.at[0] == '/' && !strchr(wanted, '/'));
        struct word name = has_directory ? base_name(word) : word;

        if (gate_glob(wanted, name.at, name.length, 0))
            return words;
        if (!may_skip && word.at[0] != '-')
            return NULL;
        may_skip = !is_close || word.at[0] == '-';
    }
    return NULL;
}

/* An option of a pattern, or what must not be there, behind its !. */
static bool is_met(const char *want, const char *options)
{
    bool is_no = *want == '!', is_there;

    want += is_no;
    if (want[0] == '-')
        is_there = want[1] == '-' ? has_option(want, options, is_no)
                                  : has_letters(want + 1, options, is_no);
    else
        is_there = behind(want, options, false, false) != NULL;
    return is_there != is_no;
}

/* The plain words of the pattern in order, its options anywhere behind the first. */
static bool matches_at(const struct pattern *pattern, const char *at)
{
    const char *options = at;
    bool is_first = true;

    for (size_t i = 0; i < pattern->count; i++) {
        const char *want = pattern->words[i];

        if (*want == '-' || *want == '!') {
            if (!is_met(want, options))
                return false;
            continue;
        }
        at = behind(want, at, is_first, pattern->is_close);
        if (!at)
            return false;
        options = is_first ? at : options;
        is_first = false;
    }
    return true;
}

/* One command. What is behind a starter's option or a redirection may be its value. */
static bool matches_one(const struct pattern *pattern, const char *words)
{
    bool may_be_value = false, is_carried = false;
    struct word word;

    while (!matches_at(pattern, words)) {
        if (!pattern->is_close || !next_word(&words, &word))
            return false;
        is_carried |= is_among(base_name(word), carriers);
        if (!is_carried && !may_be_value && !is_starter(word))
            return false;
        may_be_value = strchr("-<>", word.at[0]) != NULL;
    }
    return true;
}

static bool begins_with(const char *words, const char *const *names)
{
    struct word word;

    return next_word(&words, &word) && is_among(word, names);
}

/* What these are given is looked for, not run; and these only say what is there. */
static const char *const searchers[] = { "grep", "egrep", "fgrep", "rg", "ag", "ack", NULL };
static const char *const lookers[] = { "ls", "stat", "file", "du", "tree", "test", NULL };
static const char *const copiers[] = { "mv", "cp", "rsync", "scp", "install", "ln", NULL };
static const char *const enterers[] = { "cd", "pushd", "-C", "--chdir", "--directory", NULL };

void gate_read(const char *command, struct gate_reading *ret_reading)
{
    *ret_reading = (struct gate_reading){ 0 };
    for (int quotes = 0; quotes < QUOTES_WAYS; quotes++) {
        struct text *way = &ret_reading->ways[quotes];

        normalize(command, (enum quotes)quotes, way);
        for (int before = 0; before < quotes; before++)
            ret_reading->is_repeated[quotes] |=
                strcmp(text_string(&ret_reading->ways[before]), text_string(way)) == 0;
    }
}

void gate_reading_release(struct gate_reading *reading)
{
    for (int quotes = 0; quotes < QUOTES_WAYS; quotes++)
        text_release(&reading->ways[quotes]);
}

/* Most patterns are about programs that are not named at all: a look for the letters is quicker. */
static bool may_hold(const char *words, const char *want)
{
    char literal[GATE_PATTERN_BYTES];

    want += strspn(want, "*");
    snprintf(literal, sizeof literal, "%.*s", (int)strcspn(want, "*"), want);
    return strcasestr(words, literal) != NULL;
}

bool gate_reading_matches(const char *text, const struct gate_reading *reading)
{
    struct pattern pattern = { .is_close = *text == '^' };
    char *rest = NULL;

    snprintf(pattern.bytes, sizeof pattern.bytes, "%s", text + pattern.is_close);
    for (char *at = strtok_r(pattern.bytes, " ", &rest); at; at = strtok_r(NULL, " ", &rest))
        pattern.words[pattern.count++] = at;
    for (int quotes = 0; pattern.count > 0 && quotes < QUOTES_WAYS; quotes++) {
        const char *words = text_string(&reading->ways[quotes]);

        if (reading->is_repeated[quotes] ||
            (!strchr("-!", pattern.words[0][0]) && !may_hold(words, pattern.words[0])))
            continue;
        for (const char *at = words; at; at = strchr(at, '\n')) {
            at += *at == '\n';
            if (!begins_with(at, searchers) && matches_one(&pattern, at))
                return true;
        }
    }
    return false;
}

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || (unsigned char)byte >= 0x80;
}

/* Words of other scripts have no blanks between them: there a part is enough. */
static bool gate_has_word(const char *word, const char *command)
{
    size_t length = strlen(word);
    bool is_ascii = text_is_ascii(word, length);

    for (const char *at = command; *at; at++) {
        bool begins = at == command || !is_word_byte(at[-1]);

        if (strncasecmp(at, word, length) == 0 &&
            (!is_ascii || (begins && !is_word_byte(at[length]))))
            return true;
    }
    return false;
}

/* A look for what a rule about paths names. */
struct trail {
    const char *pattern;
    const struct gate_call *call;
    struct text here, path; /* the directory that was entered, as written; what is looked at */
};

/* The word in `into`, which may be empty; also from the directory that was entered. */
static bool leads(struct trail *trail, struct word into, struct word word, enum gate_reach reach)
{
    text_clear(&trail->path);
    text_add_format(&trail->path, "%s/%.*s%s%.*s", text_string(&trail->here), (int)into.length,
                    into.at, into.length ? "/" : "", (int)word.length, word.at);
    return gate_matches_path(trail->pattern, trail->path.bytes, trail->call, reach) ||
           gate_matches_path(trail->pattern, trail->path.bytes + trail->here.used + 1, trail->call,
                             reach);
}

/* What a command names, what it moves with a path of the rule in it, what it puts there by name. */
static bool has_path(struct trail *trail, const char *line)
{
    enum gate_reach reach = begins_with(line, lookers) ? GATE_BELOW : GATE_ITSELF;
    struct word none = { "", 0 }, word, last = none, into = none, copier = none;

    for (const char *at = line; next_word(&at, &word); last = word) {
        const char *value = memchr(word.at, '=', word.length); /* of=/dev/sda */
        struct word operand = value ? (struct word){ value + 1, (size_t)(at - value - 1) } : word;
        bool holds = copier.length && leads(trail, none, operand, GATE_ABOVE);
        bool is_last = last.at != copier.at && *last.at != '-' && strchr("\n", at[strspn(at, " ")]);

        into = holds ? operand : into;
        if (leads(trail, none, word, reach) || (value && leads(trail, none, operand, reach)) ||
            (holds && copier.at[0] == 'm' && !is_last))
            return true;
        if (is_among(last, enterers) && strchr("/~", word.at[0]))
            text_clear(&trail->here);
        if (is_among(last, enterers))
            text_add_format(&trail->here, &"/%.*s"[!trail->here.used], (int)word.length, word.at);
        copier = is_among(base_name(word), copiers) ? base_name(word) : copier;
    }
    while (into.length && next_word(&line, &word) && !leads(trail, into, base_name(word), reach))
        ;
    return into.length && word.length;
}

/* One of the command's words is a path that the pattern names. */
static bool gate_has_argument(const char *pattern, const struct gate_reading *reading,
                              const struct gate_call *call)
{
    struct trail trail = { .pattern = pattern, .call = call };
    const char *line = text_string(&reading->ways[QUOTES_JOIN]);
    bool is_found;

    text_add_char(&trail.here, '.');
    while (!(is_found = has_path(&trail, line)) && (line = strchr(line, '\n')))
        line++;
    text_release(&trail.here);
    text_release(&trail.path);
    return is_found;
}

/* By the name of the member; all others are read as commands, since many a tool takes a script or a
 * message to a shell under a name of its own. What is written to a file or describes isn't run. */
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

/* Paths against rules: as written, and as what they come to. Nothing is looked up. */

/* One step of a path: . is nothing, .. takes the last one away. */
static void add_step(struct text *out, const char *step, size_t length)
{
    if (length == 0 || (length == 1 && step[0] == '.'))
        return;
    if (length == 2 && step[0] == '.' && step[1] == '.') {
        while (out->used > 0 && out->bytes[out->used - 1] != '/')
            out->used--;
        if (out->used > 0)
            out->used--;
        return;
    }
    text_add_char(out, '/');
    text_add(out, step, length);
}

static void add_steps(struct text *out, const char *path)
{
    while (*path) {
        size_t length = strcspn(path, "/");

        add_step(out, path, length);
        path += length + (path[length] == '/');
    }
}

/* Behind what stands for the home directory: ~, ~ada, $HOME, ${HOME}; NULL: none of them. */
static const char *skip_home(const char *path, const char *home)
{
    const char *name = home && strrchr(home, '/') ? strrchr(home, '/') + 1 : "";
    size_t length = strcspn(path, "/"), named = strlen(name);
    bool is_own = length == 1 || (length == named + 1 && strncmp(path + 1, name, named) == 0);

    return home && ((path[0] == '~' && is_own) || (length == 5 && strncmp(path, "$HOME", 5) == 0) ||
                    (length == 7 && strncmp(path, "${HOME}", 7) == 0))
               ? path + length
               : NULL;
}

/* From the root, without . and .. in it. */
static void make_absolute(const char *path, const struct gate_call *call, struct text *out)
{
    const char *below_home = skip_home(path, call->home);

    if (below_home)
        add_steps(out, call->home);
    else if (path[0] != '/' && call->directory)
        add_steps(out, call->directory);
    add_steps(out, below_home ? below_home : path);
    if (out->used > 0) /* what add_step took away is behind the end now */
        out->bytes[out->used] = '\0';
}

static void make_pattern(const char *pattern, const struct gate_call *call, struct text *out)
{
    if (pattern[0] == '~' && pattern[1] == '/' && call->home)
        text_add_text(out, call->home);
    else if (!strchr("/~*", pattern[0]))
        text_add_text(out, "*/");
    text_add_text(out, pattern[0] == '~' && call->home ? pattern + 1 : pattern);
    if (pattern[strlen(pattern) - 1] == '/')
        text_add_char(out, '*');
}

/* A shell may make of the path, from one of its steps on, what the rule names, or `is_above` what
 * that is in: wherever it may put something, anything may be. .* is rather a regular expression. */
static bool may_become(const char *path, const struct text *wanted, bool is_above)
{
    unsigned how = GATE_CASE | GATE_STEPS | (is_above ? GATE_PARENTS : 0);
    struct text named = { 0 }, pattern = { 0 };
    bool is_found = false;

    for (size_t i = 0; i < wanted->used; i++) {
        if (wanted->bytes[i] != '*' && (wanted->bytes[i] != '/' || i + 2 < wanted->used))
            text_add_char(&named, wanted->bytes[i]);
    }
    for (const char *at = path; *at; at++) {
        const char *end = *at == '[' ? strpbrk(at, "]/") : NULL;

        text_add_char(&pattern, *at == '?' || *at == '[' ? '*' : *at);
        at = end && *end == ']' ? end : at;
    }
    path = strstr(path, "/.*") ? NULL : text_string(&pattern);
    for (; path && !is_found; path = strchr(path + 1, '/'))
        is_found = gate_glob(path, text_string(&named), named.used, how);
    text_release(&named);
    text_release(&pattern);
    return is_found;
}

bool gate_matches_path(const char *pattern, const char *path, const struct gate_call *call,
                       enum gate_reach reach)
{
    struct text wanted = { 0 }, absolute = { 0 };
    bool is_found;

    make_pattern(pattern, call, &wanted);
    make_absolute(path, call, &absolute);
    is_found = gate_glob(text_string(&wanted), path, strlen(path), GATE_CASE) ||
               gate_glob(text_string(&wanted), text_string(&absolute), absolute.used, GATE_CASE);
    if (!is_found && reach != GATE_BELOW && absolute.used) {
        is_found = absolute.used < FILENAME_MAX &&
                   may_become(absolute.bytes, &wanted, reach == GATE_ABOVE);
        text_add_char(&absolute, '/'); /* with it the directory is like what is below */
        is_found |=
            gate_glob(text_string(&wanted), text_string(&absolute), absolute.used, GATE_CASE);
    }
    text_release(&absolute);
    text_release(&wanted);
    return is_found;
}
