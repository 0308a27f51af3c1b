/*
 * search_text.h - by which words an ask is found again: what a person could read of the question,
 * and what was answered, in one folded text. Letters are compared without case, width and
 * invisible characters (NFKC, case folded), so that a fullwidth or split word is found as well.
 */
#ifndef CORE_SEARCH_TEXT_H
#define CORE_SEARCH_TEXT_H
#include <stdbool.h>
#include <stddef.h>

struct error;
struct text;

enum {
    SEARCH_TEXT_BYTES = 262144, /* of one ask; what comes behind is not found */
    SEARCH_BYTES = 800,         /* of what is looked for */
    SEARCH_TERMS = 16,
};

/* One line a text of form and answer, each of which may be NULL; what is no JSON has no texts. */
void search_text(const char *form_json, const char *answer_json, struct text *out);

/* What is looked for: words, all of them, inside of longer ones too; "several words" are one. */
struct search_terms {
    char *folded; /* owned; the terms lie in it */
    const char *terms[SEARCH_TERMS];
    size_t count; /* 0: anything is found */
};
bool search_terms_read(const char *words, struct search_terms *ret_terms, struct error *err);
void search_terms_release(struct search_terms *terms);
bool search_terms_found(const struct search_terms *terms, const char *folded_text);

#endif
