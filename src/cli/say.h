/*
 * say.h - everything the command line prints for people: in their language, other people's words
 * only through the sanitizer. Results go to stdout; what is said about them to stderr.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/verb.h"

/* A sentence on stderr after "sayso: "; behind its id come pairs of name and value, as i18n_format
 * takes them but without an end. Values are sanitized here. */
#define say_problem(...) say_sentence(stderr, "sayso: ", __VA_ARGS__, NULL)
#define say_note(...)    say_sentence(stderr, "", __VA_ARGS__, NULL) /* the same without the name */
#define say_result(...)  say_sentence(stdout, "", __VA_ARGS__, NULL)
void say_sentence(FILE *file, const char *before, enum text_id id, ...);
void say_add_sentence(struct text *out, enum text_id id, va_list pairs);

/* That the verb needs `what`; EXIT_USAGE. */
enum exit_code say_needs(const struct arguments *arguments, const char *what);

/* An error: JSON on stdout {"error": …} or a sentence on stderr. `detail` is who won, or NULL. */
void say_error(const struct arguments *arguments, const struct error *err,
               const struct json *detail);
void say_failure(const struct error *err); /* a sentence on stderr, also with --json */
/* The same in the person's language, where that has the words, behind what it is about. */
void say_wrong(const char *place, const struct error *err);
/* JSON for scripts, with everything that could act on a terminal written as \uNNNN. */
void say_json(const char *json);
void say_value(const struct json *value);
void say_object(struct json_writer *writer); /* the one it is in ends, and its text is released */
void say_add_json(struct text *out, const char *json); /* the same into a text */

/* Appends an agent's or a person's words as one visible line, with a badge for hidden parts. */
void say_add_shown(struct text *out, const char *words);
const char *say_member(const struct json *object, const char *key); /* "" where it is no text */
/* Prints them so between words of ours. */
void say_words(const char *before, const char *words, const char *behind);
/* Prints several lines, each after `indent` spaces, so that none looks like ours. */
void say_lines(const char *words, int indent);
/* A column: words of ours, and blanks up to so many cells and two more. */
void say_add_cell(struct text *out, const char *words, int cells);
/* "claimed name" (what we know of it): a name can't fake the rest (R5.8). */
void say_add_agent(struct text *out, const struct json *ask);
/* A time of the hub as i18n_add_when writes it; with --utc as it came. */
void say_add_time(const struct arguments *arguments, struct text *out, const struct json *given);
void say_row(enum text_id label, const char *value); /* "Label:     value"; NULL: nothing */

#endif
