/* patterns.h - what is looked for, as PostgreSQL takes it: arrays of texts. */
#ifndef STORE_POSTGRES_PATTERNS_H
#define STORE_POSTGRES_PATTERNS_H

struct search_terms;
struct text;

/* Patterns for LIKE, one a term; and every three characters of the terms that have three, as
 * threes_of() makes them of a text (sql/step_1.sql). An array that would be empty is "". */
void patterns_write(const struct search_terms *search, struct text *patterns, struct text *threes);

#endif
