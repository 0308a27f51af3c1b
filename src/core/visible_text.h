/*
 * visible_text.h - the one sanitizer: what a person may be shown of an agent's or another person's
 * text. Nothing that comes out can act on a terminal or a page, hide, or reorder what is read.
 * Stored text stays as received; answers given back use ids, never shown text. Also here, because
 * they need the same tables: what is left of a text for the eye, and when two labels look alike.
 */
#ifndef CORE_VISIBLE_TEXT_H
#define CORE_VISIBLE_TEXT_H
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum visible_lines {
    VISIBLE_ONE_LINE, /* titles, labels, ids, names: LF and TAB are written \n and \t */
    VISIBLE_LINES,    /* prompts, descriptions, previews, notes: LF kept, TAB as 4 spaces */
};
/* What a badge beside the text should say; several may apply. */
enum visible_flags {
    VISIBLE_HIDDEN = 1,       /* something was written as an escape or dropped */
    VISIBLE_BIDI = 2,         /* among it a direction control */
    VISIBLE_INVISIBLE = 4,    /* among it a character without a shape */
    VISIBLE_MIXED_SCRIPT = 8, /* one word mixes scripts with look-alike letters */
};

/* Appends the shown form; returns visible_flags. Bytes that are not UTF-8 are written \xNN each. */
unsigned visible_text(const char *bytes, size_t length, enum visible_lines lines, struct text *out);

/* Code points left without outer blanks and invisible ones, for minimums (R2); up to `enough`. */
size_t visible_count(const char *bytes, size_t length, size_t enough);
bool visible_is_empty(const char *bytes, size_t length); /* that none is left */

/* True when a person could take one label for the other: equal after NFKC, without invisible
 * characters, blanks folded, case folded, and look-alike letters and digits made one. */
bool visible_alike(const char *a, size_t a_length, const char *b, size_t b_length);

/* What visible_alike compares, for comparing many labels with each other: made once a label. */
enum { VISIBLE_LOOKS = 3 };
struct visible_look {
    struct text keys[VISIBLE_LOOKS], shown_keys[VISIBLE_LOOKS]; /* the latter where has_hidden */
    bool has_hidden;
};
void visible_look_init(struct visible_look *look, const char *bytes, size_t length);
void visible_look_release(struct visible_look *look);
bool visible_look_alike(const struct visible_look *a, const struct visible_look *b);

/* NFC of valid UTF-8, for comparing ids. Appends to `out`. */
void visible_nfc(const char *bytes, size_t length, struct text *out);

/* Fields that ask for secrets, which no form may (R4.4), and questions people are warned of. */

/* "password", "apiKey", "GITHUB_TOKEN", "PIN code"; not "max_tokens", "token_count" or "key". */
bool sensitive_is_name(const char *name);
bool sensitive_is_mentioned(const char *prose);

#endif
