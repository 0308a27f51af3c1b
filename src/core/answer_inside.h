/*
 * answer_inside.h - what the three files that read an answer share: answer.c finds where each
 * field's value stands, answer_value.c judges it, answer_notes.c reads the notes.
 */
#ifndef CORE_ANSWER_INSIDE_H
#define CORE_ANSWER_INSIDE_H
#include <stdbool.h>
#include <stddef.h>

#include "core/answer.h"

struct error;
struct json;

/* What was said about one field; NULL: nothing. Pointers are relative to where the field stands. */
struct said {
    const struct json *picks, *words, *scalar;
    const char *picks_path, *words_path;
    bool is_top; /* by selected_ids and custom_input of the answer itself */
};

/* All that is wrong with an answer, as far as there is room: what has no end stops there. */
struct mistakes {
    struct error *errors; /* NULL: only counted */
    size_t count, most;
};

/* Where the next one is to be written, until mistakes_count says that it was one. */
struct error *mistakes_next(const struct mistakes *mistakes);
void mistakes_count(struct mistakes *mistakes, bool is_right);

/* What a kind of field takes, and how it is read and judged. */
struct answer_rule {
    bool takes_picks, takes_words;
    bool (*read)(const struct field *field, const struct json *scalar, struct field_value *value,
                 struct error *err); /* NULL: picks and words are all there is */
    bool (*judge)(const struct field *field, const struct said *said,
                  const struct field_value *value, struct error *err);
};

const struct answer_rule *answer_rule(enum field_kind kind);
void answer_read_picks(const struct field *field, const struct said *said,
                       struct field_value *value, struct mistakes *mistakes);
bool answer_read_words(const struct said *said, struct field_value *value, struct error *err);
size_t answer_count_picks(const struct field_value *value);

void answer_read_notes(const struct form *form, const struct json *given, struct answer *answer,
                       struct mistakes *mistakes);

/* Puts parent/key before the error's path. Keys are other people's text: shown form, pointer
 * escapes, cut between characters. Always false. */
bool answer_error_below(struct error *err, const char *parent, const char *key);
bool answer_refuse_type(const struct json *value, const char *path, const char *wanted,
                        struct error *err);
bool answer_refuse_id(const struct field *field, const char *path, struct error *err);
bool answer_check_text(const struct json *value, const char *path, struct error *err);
bool answer_has_visible(const struct json *text);

#endif
