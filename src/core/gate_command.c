/*
 * gate_command.c - reads a command as a shell would, roughly: words, and where one command ends.
 * Quotes are looked through, because what stands in them is often a command itself.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "core/gate_inside.h"

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

/* Words with one blank between them, commands with a line's end; case stays. {rm,-r} is a list of
 * words, and $'rm' a quoted one. */
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

/* One command. What is behind an option of a starter or a redirection may be its
 * value, or the command. */
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
    for (int quotes = 0; quotes < QUOTES_WAYS; quotes++)
        normalize(command, (enum quotes)quotes, &ret_reading->ways[quotes]);
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

        if (!strchr("-!", pattern.words[0][0]) && !may_hold(words, pattern.words[0]))
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
bool gate_has_word(const char *word, const char *command)
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

/* One command: what it names, what it moves with a path of the rule in it (all but its last word),
 * and what it puts there by the name it has now. */
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

bool gate_has_argument(const char *pattern, const struct gate_reading *reading,
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
