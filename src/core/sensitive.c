/*
 * sensitive.c - see sensitive.h. A name is read as words: camelCase, blanks and any other sign
 * divide it, case does not matter.
 */
#include "core/sensitive.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { WORD_BYTES = 24 }; /* longer ones are none of ours */

/* Secrets wherever the word stands in the name. */
static const char *const anywhere[] = {
    "password", "passwords",  "passwd",      "pwd",    "passphrase", "passcode", "secret",
    "secrets",  "credential", "credentials", "apikey", "cvv",        "cvc",      "otp",
};
/* Secrets where it is the last word: token_count is none. */
static const char *const last[] = { "token", "pin", "mnemonic" };
/* Secrets where the two follow each other. */
static const char *const pairs[][2] = {
    { "api", "key" },        { "private", "key" }, { "access", "key" },    { "ssh", "key" },
    { "encryption", "key" }, { "signing", "key" }, { "seed", "phrase" },   { "pass", "word" },
    { "pass", "phrase" },    { "pin", "code" },    { "security", "code" }, { "token", "value" },
    { "recovery", "code" },  { "card", "number" },
};
/* In Chinese words are not divided: looked for as they stand. */
static const char *const pieces[] = { "密码", "口令", "密钥", "令牌", "私钥" };

/* Takes the next word, in lower case; "" where it is too long. False: there is none any more. */
static bool next_word(const char **at, char word[WORD_BYTES])
{
    const char *start = *at;
    size_t length = 0;

    while (*start && !isalpha((unsigned char)*start))
        start++;
    while (isalpha((unsigned char)start[length])) {
        const char *sign = start + length;
        bool begins = length > 0 && isupper((unsigned char)*sign) &&
                      (islower((unsigned char)sign[-1]) || islower((unsigned char)sign[1]));

        if (begins)
            break;
        length++;
    }
    for (size_t i = 0; i < length && length < WORD_BYTES; i++)
        word[i] = (char)tolower((unsigned char)start[i]);
    word[length < WORD_BYTES ? length : 0] = '\0';
    *at = start + length;
    return length > 0;
}

static bool is_pair(const char *first, const char *second)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (strcmp(pairs[i][0], first) == 0 && strcmp(pairs[i][1], second) == 0)
            return true;
    }
    return false;
}

/* `is_prose`: what counts only as the last word of a name counts anywhere. */
static bool is_found(const char *text, bool is_prose)
{
    char word[WORD_BYTES] = "", before[WORD_BYTES];
    bool is_last = false;

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        if (strstr(text, pieces[i]))
            return true;
    }
    for (;;) {
        memcpy(before, word, sizeof before);
        if (!next_word(&text, word))
            return is_last;
        is_last = text_is_among(word, last, ARRAY_LEN(last));
        if (text_is_among(word, anywhere, ARRAY_LEN(anywhere)) || is_pair(before, word) ||
            (is_prose && is_last))
            return true;
    }
}

bool sensitive_is_name(const char *name)
{
    return is_found(name, false);
}

bool sensitive_is_mentioned(const char *prose)
{
    return is_found(prose, true);
}
