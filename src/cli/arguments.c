/* arguments.c - reading a command line by a verb's table of options. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/say.h"

/* published: arguments */
static const struct verb_option common_options[] = {
    { "json", 0, NULL, TEXT_OPT_JSON, false },
    { "help", 'h', NULL, TEXT_OPT_HELP, false },
};

/* Of verbs that may go to the hub of another machine. */
static const struct verb_option remote_options[] = {
    { "hub", 0, "URL", TEXT_OPT_HUB, false },
    { "token-file", 0, "FILE", TEXT_OPT_TOKEN_FILE, false },
    { "ca-file", 0, "FILE", TEXT_OPT_CA_FILE, false },
};

const struct verb_option *verb_option_at(const struct verb *verb, size_t index)
{
    size_t far_count = verb->works_remotely ? ARRAY_LEN(remote_options) : 0;

    if (index < verb->option_count)
        return &verb->options[index];
    index -= verb->option_count;
    if (index < far_count)
        return &remote_options[index];
    index -= far_count;
    return index < ARRAY_LEN(common_options) ? &common_options[index] : NULL;
}

static const struct verb_option *find_option(const struct verb *verb, const char *name,
                                             size_t length, char letter)
{
    const struct verb_option *option;

    for (size_t i = 0; (option = verb_option_at(verb, i)); i++) {
        if (letter ? option->letter == letter
                   : strncmp(option->name, name, length) == 0 && !option->name[length])
            return option;
    }
    return NULL;
}

/* One option at texts[*at]; its value may be the next text. */
static bool take_option(struct arguments *arguments, int count, char **texts, int *at)
{
    const char *text = texts[*at];
    bool is_long = text[1] == '-';
    const char *name = text + (is_long ? 2 : 1);
    size_t length = is_long ? strcspn(name, "=") : 1;
    const struct verb_option *option =
        find_option(arguments->verb, name, length, is_long ? '\0' : name[0]);
    const char *value = name[length] == '\0' ? NULL : name + length + is_long;
    bool takes_next = option && option->value && !value;

    if (!option) {
        say_problem(TEXT_CLI_UNKNOWN_OPTION, "verb", arguments->verb->name, "name", text);
    } else if (!option->value && value) {
        say_problem(TEXT_CLI_TAKES_NO_VALUE, "name", text);
    } else if (takes_next && *at + 1 >= count) {
        say_problem(TEXT_CLI_NEEDS_VALUE, "name", text);
    } else if (arguments->given_count == ARRAY_LEN(arguments->given)) {
        say_problem(TEXT_CLI_TOO_MANY, "verb", arguments->verb->name, "name", text);
    } else {
        if (takes_next)
            value = texts[++*at];
        arguments->given[arguments->given_count].option = option;
        arguments->given[arguments->given_count++].value = value ? value : "";
        arguments->is_json = arguments->is_json || option == &common_options[0];
        return true;
    }
    return false;
}

bool arguments_parse(const struct verb *verb, int count, char **texts,
                     struct arguments *ret_arguments)
{
    bool only_words = false;

    *ret_arguments = (struct arguments){ .verb = verb };
    for (int at = 0; at < count; at++) {
        const char *text = texts[at];

        if (!only_words && strcmp(text, "--") == 0) {
            only_words = true;
        } else if (!only_words && text[0] == '-' && text[1] != '\0') {
            if (!take_option(ret_arguments, count, texts, &at))
                return false;
        } else if (ret_arguments->word_count < verb->max_words) {
            ret_arguments->words[ret_arguments->word_count++] = text;
        } else {
            say_problem(TEXT_CLI_TOO_MANY, "verb", verb->name, "name", text);
            return false;
        }
    }
    return true;
}

const char *arguments_next(const struct arguments *arguments, const char *name, size_t *at)
{
    while (*at < arguments->given_count) {
        size_t i = (*at)++;

        if (strcmp(arguments->given[i].option->name, name) == 0)
            return arguments->given[i].value;
    }
    return NULL;
}

const char *arguments_value(const struct arguments *arguments, const char *name)
{
    const char *value = NULL, *next;
    size_t at = 0;

    while ((next = arguments_next(arguments, name, &at)))
        value = next;
    return value;
}

const char *arguments_of_pair(const struct arguments *arguments, const char *name, const char *key,
                              size_t length)
{
    const char *pair;
    size_t at = 0;

    while ((pair = arguments_next(arguments, name, &at))) {
        if (strncmp(pair, key, length) == 0 && pair[length] == '=')
            return pair + length + 1;
    }
    return NULL;
}

bool arguments_are_pairs(const struct arguments *arguments, const char *name)
{
    char shown[64];
    const char *pair;
    size_t at = 0;

    snprintf(shown, sizeof shown, "--%s", name);
    while ((pair = arguments_next(arguments, name, &at))) {
        if (!strchr(pair, '=')) {
            say_problem(TEXT_CLI_BAD_PAIR, "name", shown);
            return false;
        }
    }
    return true;
}

bool arguments_are_short(const struct arguments *arguments, const char *name, size_t max)
{
    const char *value = arguments_value(arguments, name);
    char shown[64];

    if (!value || strlen(value) <= max)
        return true;
    snprintf(shown, sizeof shown, "--%s", name);
    say_problem(TEXT_CLI_TOO_LONG, "name", shown, "most", TEXT_NUMBER((int64_t)max));
    return false;
}

bool arguments_integer(const struct arguments *arguments, const char *name, int64_t min,
                       int64_t max, int64_t *ret_number)
{
    const char *value = arguments_value(arguments, name);
    char shown[64];
    int64_t number;

    if (!value)
        return true;
    if (text_parse_integer(value, &number) && number >= min && number <= max) {
        *ret_number = number;
        return true;
    }
    snprintf(shown, sizeof shown, "--%s", name);
    say_problem(TEXT_CLI_BAD_NUMBER, "name", shown, "least", TEXT_NUMBER(min), "most",
                TEXT_NUMBER(max));
    return false;
}

static void print_options(const struct verb *verb)
{
    const struct verb_option *option;

    for (size_t i = 0; (option = verb_option_at(verb, i)); i++) {
        struct text line = { 0 };

        if (option->is_hidden)
            continue;
        if (option->letter)
            text_add_format(&line, "  -%c, --%s", option->letter, option->name);
        else
            text_add_format(&line, "      --%s", option->name);
        if (option->value)
            text_add_format(&line, " %s", option->value);
        printf("%-28s  %s\n", text_string(&line), i18n_text(option->help));
        text_release(&line);
    }
}

const struct verb *verb_at(size_t index)
{
    static const struct verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "cli/verbs.def"
#undef VERB
    };

    return index < ARRAY_LEN(verbs) ? verbs[index] : NULL;
}

enum {
#define VERB_GROUP(name) FIRST_##name, BEFORE_##name = FIRST_##name - 1,
#define VERB(name)       AT_##name,
#include "cli/verbs.def"
#undef VERB
};

const char *verb_heading(size_t index)
{
    static const enum text_id headings[] = {
#define VERB_GROUP(name) [FIRST_##name] = TEXT_CLI_GROUP_##name,
#define VERB(name)
#include "cli/verbs.def"
#undef VERB
    };

    return index < ARRAY_LEN(headings) && headings[index] ? i18n_text(headings[index]) : NULL;
}

const struct verb *verb_find(const char *name)
{
    const struct verb *verb;

    for (size_t i = 0; (verb = verb_at(i)) && strcmp(verb->name, name) != 0; i++)
        continue;
    return verb;
}

void verb_print_help(const struct verb *verb)
{
    printf("%s\n\n%s\n", i18n_text(verb->about), i18n_text(TEXT_CLI_USAGE));
    for (const char *const *line = verb->usage; *line; line++)
        printf("  sayso %s\n", *line);
    printf("\n%s\n", i18n_text(TEXT_CLI_OPTIONS));
    print_options(verb);
    if (verb->print_more)
        verb->print_more();
    printf("\n%s\n", i18n_text(TEXT_CLI_EXAMPLES));
    for (const char *const *line = verb->examples; *line; line++)
        printf("  sayso %s\n", *line);
    printf("\n%s\n", i18n_text(TEXT_CLI_EXIT_CODES));
}
