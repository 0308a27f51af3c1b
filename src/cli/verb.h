/* verb.h - what a command is made of. To add one: its row and function, and a line in verbs.def. */
#ifndef CLI_VERB_H
#define CLI_VERB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/os.h"
#include "i18n/i18n.h"

struct arguments;
struct app_result;
struct current_settings;

enum exit_code {
    EXIT_DONE,
    EXIT_ERROR,
    EXIT_USAGE,
    EXIT_REFUSED, /* cancelled, declined or withdrawn */
    EXIT_TIMEOUT,
    EXIT_PENDING,
    EXIT_RETIRED = 75, /* EX_TEMPFAIL of sysexits.h; sayso.service restarts after it */
};

struct verb_option {
    const char *name;  /* "prompt" for --prompt */
    char letter;       /* 'p' for -p; 0: none */
    const char *value; /* "TEXT"; NULL: takes none */
    enum text_id help;
    bool is_hidden; /* not in the help */
};
struct act;
struct verb {
    const char *name;
    enum text_id about;
    const char *const *usage;    /* lines after "sayso "; NULL-ended */
    const char *const *examples; /* likewise */
    const struct verb_option *options;
    size_t option_count;
    size_t max_words;           /* positional arguments */
    bool works_remotely;        /* --hub: what it does, it does at the hub alone */
    bool runs_without_settings; /* also where settings_problem speaks of them; see arguments */
    void (*print_more)(void);   /* behind the options in the help; may be NULL */
    enum exit_code (*run)(const struct arguments *arguments);
    const struct act *acts; /* hub_call.h, of one that act_choose runs */
    size_t act_count;
    const char *syntax; /* shown where no act fits */
};
/* The members that are tables of the verb's own file, under these names or others. */
#define VERB_TEXTS .usage = usage, .examples = examples
#define VERB_LINES(line, example)                                                                  \
    .usage = (const char *const[]){ (line), NULL }, .examples = (const char *const[])              \
    {                                                                                              \
        (example), NULL                                                                            \
    }
#define VERB_OPTIONS_OF(table) .options = (table), .option_count = ARRAY_LEN(table)
#define VERB_OPTIONS           VERB_OPTIONS_OF(options)
#define VERB_TABLES            VERB_TEXTS, VERB_OPTIONS
/* The verb `word` of that file: what it is about, those tables, what else is so. VERB_ROW's is run
 * by run_WORD, VERB_ACTS's by the calls to the hub in `acts`. */
#define VERB_ROW(word, text, ...) VERB_RUN(word, text, run_##word, __VA_ARGS__)
#define VERB_ACTS(word, text, ...)                                                                 \
    VERB_RUN(word, text, act_choose, .acts = acts, .act_count = ARRAY_LEN(acts), __VA_ARGS__)
#define VERB_RUN(word, text, function, ...)                                                        \
    const struct verb verb_##word = {                                                              \
        .name = #word, .about = (text), .run = (function), __VA_ARGS__                             \
    }

#define VERB(name) extern const struct verb verb_##name;
#include "cli/verbs.def"
#undef VERB

/* The command line after parsing: every verb also has --json and --help. */
struct arguments {
    const struct verb *verb;
    struct current_settings *settings;
    const struct error *problem; /* with the settings; NULL: none */
    bool is_json;
    const char *words[8];
    size_t word_count;
    struct {
        const struct verb_option *option;
        const char *value; /* "" for options without one */
    } given[256];
    size_t given_count;
};
bool arguments_parse(const struct verb *verb, int count, char **texts,
                     struct arguments *ret_arguments); /* false: said what is wrong */
const char *arguments_value(const struct arguments *arguments, const char *name); /* last; NULL */
/* The values of a repeated option one after the other: begins with *at = 0; NULL at the end. */
const char *arguments_next(const struct arguments *arguments, const char *name, size_t *at);
/* What stands behind KEY= in the first of its values that begins so; NULL: in none. */
const char *arguments_of_pair(const struct arguments *arguments, const char *name, const char *key,
                              size_t length);
/* False (and said so): one of its values has no =. */
bool arguments_are_pairs(const struct arguments *arguments, const char *name);
/* False (and said so): the value has more than `most` bytes. */
bool arguments_are_short(const struct arguments *arguments, const char *name, size_t max);
/* False (and said so): not a whole number within the limits. Absent: true, *ret_number kept. */
bool arguments_integer(const struct arguments *arguments, const char *name, int64_t min,
                       int64_t max, int64_t *ret_number);

const struct verb *verb_at(size_t index); /* in the order of verbs.def; NULL after the last */
const char *verb_heading(size_t index);   /* of the group that begins there, or NULL */
const struct verb *verb_find(const char *name);
void verb_print_help(const struct verb *verb);
/* Its own options, those of who may go far, those that every verb has; NULL behind the last. */
const struct verb_option *verb_option_at(const struct verb *verb, size_t index);

/* Whether a person is looking: standard input and error are a terminal, and so is /dev/tty.
 * `is_input_read`: standard input has something else, and keys come from /dev/tty all the same. */
bool terminal_is_person_here(bool is_input_read);
/* How the terminal ended, in words where there is something to say. Raises a signal again. */
enum exit_code terminal_finish(const struct arguments *arguments, const struct app_result *result);

/* To standard error, once a browser was looked for; `url` is the link without its code. */
void open_say(enum os_browser outcome, const char *url);
/* A result of ask/get, as `sayso show` prints it. */
void show_whole(const struct arguments *arguments, const struct json *got);
/* The arguments of an ask as JSON; `path` "-" is standard input. */
bool ask_arguments_from_file(const char *path, struct text *out, struct error *err);

/* `sayso __complete WORD...`, which the scripts of `sayso completion` run: what may come next on a
 * command line, from the tables of verbs, options, settings and clients. The last of `words` is the
 * one being typed. Prints a line for each that fits: the word, a tab, and what it is; ":files"
 * where a file's name is wanted. */
extern const char complete_command[];
void complete_print(int count, char **words);

#endif
