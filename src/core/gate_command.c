/*
 * gate_command.c - reads a command as a shell would, roughly: words, and where one command ends.
 * Quotes are looked through, because what stands in them is often a command itself.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "core/gate_inside.h"

/* How quotes are taken: what is in them belongs to the word beside them (r"m"), or is words of its
 * own (bash -c "rm x"). Either reading counts. */
enum quotes { QUOTES_JOIN, QUOTES_SPLIT, QUOTES_WAYS };

static const char ends_command[] = ";&|\n\r()`{}", ends_word[] = " \t<>";

static const char *skip_variable(const char *at)
{
    static const char *const blanks[] = { "${IFS}", "$IFS" };

    for (size_t i = 0; i < ARRAY_LEN(blanks); i++) {
        if (strncmp(at, blanks[i], strlen(blanks[i])) == 0)
            return at + strlen(blanks[i]);
    }
    return NULL;
}

/* Words with one blank between them, commands with a line's end; case stays. */
static void normalize(const char *command, enum quotes quotes, struct text *out)
{
    char quote = '\0';

    for (const char *at = command; *at; at++) {
        const char *blank = skip_variable(at);

        if (*at == '\\' && at[1]) {
            if (*++at != '\n') /* a line that goes on */
                text_add_char(out, *at);
        } else if (*at == quote || (!quote && (*at == '\'' || *at == '"'))) {
            quote = quote ? '\0' : *at;
            if (quotes == QUOTES_SPLIT)
                text_add_char(out, ' ');
        } else if (blank) {
            text_add_char(out, ' ');
            at = blank - 1;
        } else if (strchr(ends_command, *at)) {
            text_add_char(out, quote ? ' ' : '\n');
        } else if (strchr(ends_word, *at)) {
            text_add_char(out, ' ');
        } else {
            text_add_char(out, *at);
        }
    }
}

/* The next word of `text` up to `ends`, in a buffer that is as long; NULL: none is left. */
static const char *next_word(const char *text, struct text *out)
{
    size_t length;

    while (*text == ' ')
        text++;
    length = strcspn(text, " \n");
    if (length == 0)
        return NULL;
    text_clear(out);
    text_add(out, text, length);
    return text + length;
}

static const char *base_name(const char *word)
{
    const char *slash = strrchr(word, '/');

    return slash ? slash + 1 : word;
}

/* Every letter of -rf in options of one dash, wherever they stand. */
static bool has_letters(const char *letters, const char *words)
{
    struct text word = { 0 };
    size_t found = 0;

    for (const char *letter = letters; *letter; letter++) {
        bool is_there = false;

        for (const char *at = next_word(words, &word); at && !is_there; at = next_word(at, &word)) {
            const char *option = text_string(&word);

            for (size_t i = 1; option[0] == '-' && option[1] != '-' && option[i]; i++)
                is_there = is_there ||
                           tolower((unsigned char)option[i]) == tolower((unsigned char)*letter);
        }
        found += is_there;
    }
    text_release(&word);
    return found == strlen(letters);
}

/* --force, --force=yes; with * in the pattern whatever it fits. */
static bool has_option(const char *wanted, const char *words)
{
    struct text word = { 0 };
    bool is_there = false;

    for (const char *at = next_word(words, &word); at && !is_there; at = next_word(at, &word)) {
        const char *option = text_string(&word);
        size_t length = strlen(wanted);

        is_there = gate_glob(wanted, option, false) ||
                   (strncasecmp(option, wanted, length) == 0 && option[length] == '=');
    }
    text_release(&word);
    return is_there;
}

/* What comes behind the first word that fits; NULL: none does. */
static const char *behind(const char *wanted, const char *words, bool is_first)
{
    struct text word = { 0 };
    const char *at = next_word(words, &word);

    while (at &&
           !gate_glob(wanted, is_first ? base_name(text_string(&word)) : text_string(&word), false))
        at = next_word(at, &word);
    text_release(&word);
    return at;
}

/* One command: the plain words of the pattern in order, its options anywhere behind the first. */
static bool matches_one(const char *pattern, const char *words)
{
    struct text wanted = { 0 };
    const char *options = words, *at = words;
    bool is_first = true, ok = true;

    for (const char *next = next_word(pattern, &wanted); next && ok;
         next = next_word(next, &wanted)) {
        const char *want = text_string(&wanted);

        if (want[0] == '-' && want[1] != '-') {
            ok = has_letters(want + 1, options);
        } else if (want[0] == '-') {
            ok = has_option(want, options);
        } else {
            at = behind(want, at, is_first);
            ok = at != NULL;
            if (is_first)
                options = at;
            is_first = false;
        }
    }
    text_release(&wanted);
    return ok;
}

bool gate_matches_command(const char *pattern, const char *command)
{
    bool is_found = false;

    for (int quotes = 0; quotes < QUOTES_WAYS && !is_found; quotes++) {
        struct text words = { 0 };
        const char *at;

        normalize(command, (enum quotes)quotes, &words);
        at = text_string(&words);
        for (; at && !is_found; at = strchr(at, '\n')) {
            at += *at == '\n';
            is_found = matches_one(pattern, at);
        }
        text_release(&words);
    }
    return is_found;
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

bool gate_has_argument(const char *pattern, const char *command, const struct gate_call *call)
{
    struct text words = { 0 }, word = { 0 };
    bool is_found = false;

    normalize(command, QUOTES_JOIN, &words);
    for (char *at = words.used ? words.bytes : NULL; at && (at = strchr(at, '\n')); at++)
        *at = ' ';
    for (const char *at = next_word(text_string(&words), &word); at && !is_found;
         at = next_word(at, &word)) {
        const char *value = strchr(text_string(&word), '='); /* of=/dev/sda */

        is_found = gate_matches_path(pattern, text_string(&word), call) ||
                   (value && gate_matches_path(pattern, value + 1, call));
    }
    text_release(&word);
    text_release(&words);
    return is_found;
}
