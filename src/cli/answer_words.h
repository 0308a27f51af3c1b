/*
 * answer_words.h - what a person wrote behind `sayso answer`, read against the form of the ask: an
 * option by its id, its place in the list, or the beginning of its label or id.
 */
#ifndef CLI_ANSWER_WORDS_H
#define CLI_ANSWER_WORDS_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/verb.h"
#include "core/form.h"

struct error;
struct json;
struct text;

struct answer_words {
    const struct arguments *arguments;
    const struct form *form;
    size_t first; /* of the words, behind the ID */
};

/* How often something is chosen or written; notes alone are no answer. */
size_t answer_words_count(const struct arguments *arguments, size_t first);
/* Writes the parameters of ask/answer. False: a word fits several options, or is of no use here. */
bool answer_words_write(const struct answer_words *words, const char *id, const char *code,
                        struct text *out, struct error *err);
/* By which option or word of what was given an error came about: "--field size". */
void answer_words_add_flag(const struct answer_words *words, const struct json *given,
                           const char *path, struct text *out);
/* The commands that answer this ask, one a line. */
void answer_words_print_commands(const struct form *form, const char *id);

#endif
