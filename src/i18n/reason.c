/*
 * reason.c - an error's English message in another language.
 * The hub speaks English on the wire, to agents and logs alike. The texts REASON_… are its
 * sentences with {names} where values stand: the English one is found by its words, what stood at
 * the names goes into the other language's. tools/check_reasons sees that they stay the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"

enum { REASON_NAMES = 5 };

struct captured {
    char *names[REASON_NAMES], *values[REASON_NAMES]; /* owned */
    size_t count;
    size_t alike; /* bytes of the pattern that are in the message as they are */
};

static void release(struct captured *captured)
{
    for (size_t i = 0; i < captured->count; i++) {
        free(captured->names[i]);
        free(captured->values[i]);
    }
    *captured = (struct captured){ 0 };
}

/* Where the text between two placeholders comes next; the last one of a pattern ends the message.
 */
static const char *find_piece(const char *message, const char *piece, size_t length, bool is_last)
{
    size_t left = strlen(message);

    if (is_last)
        return left >= length && memcmp(message + left - length, piece, length) == 0
                   ? message + left - length
                   : NULL;
    return memmem(message, left, piece, length);
}

static bool matches(const char *pattern, const char *message, struct captured *ret_captured)
{
    size_t piece = strcspn(pattern, "{");

    if (strncmp(pattern, message, piece) != 0)
        return false;
    ret_captured->alike = piece;
    pattern += piece;
    message += piece;
    while (*pattern && ret_captured->count < REASON_NAMES) {
        const char *name = pattern + 1, *end;
        size_t length = strcspn(name, "}");

        pattern = name + length + 1;
        piece = strcspn(pattern, "{");
        end = find_piece(message, pattern, piece, pattern[piece] == '\0');
        if (!end)
            return false;
        ret_captured->names[ret_captured->count] = mem_text_n(name, length);
        ret_captured->values[ret_captured->count++] = mem_text_n(message, (size_t)(end - message));
        ret_captured->alike += piece;
        pattern += piece;
        message = end + piece;
    }
    return *message == '\0';
}

/* What is wrong with settings is said by errors too. */
static bool is_reason(enum text_id id)
{
    static const char *const kinds[] = { "REASON_", "SETTING_" };
    bool is_one = false;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        is_one = is_one || strncmp(i18n_key(id), kinds[i], strlen(kinds[i])) == 0;
    return is_one;
}

bool i18n_reason_in(enum language language, struct text *out, const char *english)
{
    struct captured best = { 0 };
    enum text_id found = TEXT_COUNT;

    for (int i = 0; i < TEXT_COUNT; i++) {
        enum text_id id = (enum text_id)i;
        struct captured captured = { 0 };

        if (is_reason(id) && matches(i18n_text_in(LANGUAGE_EN, id), english, &captured) &&
            (found == TEXT_COUNT || captured.alike > best.alike)) {
            release(&best);
            best = captured;
            found = id;
        } else {
            release(&captured);
        }
    }
    for (size_t i = 0; i < best.count; i++) {
        struct text words = { 0 };

        if (strcmp(best.names[i], "takes") == 0 &&
            i18n_reason_in(language, &words, best.values[i])) {
            free(best.values[i]); /* a reason in a reason */
            best.values[i] = text_take(&words);
        }
    }
    if (found != TEXT_COUNT)
        i18n_format_in(language, out, found, best.names[0], best.values[0], best.names[1],
                       best.values[1], best.names[2], best.values[2], best.names[3], best.values[3],
                       best.names[4], best.values[4], NULL);
    release(&best);
    return found != TEXT_COUNT;
}

bool i18n_reason(struct text *out, const char *english)
{
    return i18n_reason_in(i18n_language(), out, english);
}
