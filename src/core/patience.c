/* patience.c - see patience.h. */
#include "core/patience.h"

#include <stddef.h>
#include <string.h>

#include "core/limits.h"

static const int64_t SHORTEST_MS = 1000; /* a limit below this leaves no time to answer in */
static const int64_t LONGEST_MS = (int64_t)LIMIT_TIMEOUT_S * 1000; /* no ask is held longer */
static const int64_t BY_HAND_MS = 10000; /* earlier than this it is likely to be a person */
static const int64_t SAME_WITHIN_MS = 2000;
static const int64_t MARGIN_MS = 5000; /* the answer must be there before the client gives up */

int64_t patience_learn(int64_t known_ms, int64_t held_ms, bool says_time_was_up)
{
    int64_t seen_ms, apart_ms;

    if (known_ms < -LONGEST_MS || known_ms > LONGEST_MS)
        known_ms = 0;
    if (held_ms < SHORTEST_MS || held_ms > LONGEST_MS)
        return known_ms;
    seen_ms = known_ms < 0 ? -known_ms : known_ms;
    apart_ms = held_ms < seen_ms ? seen_ms - held_ms : held_ms - seen_ms;
    if (says_time_was_up)
        return held_ms;
    if (held_ms < BY_HAND_MS)
        return known_ms;
    if (known_ms != 0 && apart_ms <= SAME_WITHIN_MS)
        return held_ms < seen_ms ? held_ms : seen_ms;
    return known_ms > 0 ? known_ms : -held_ms;
}

int64_t patience_hold_ms(int64_t known_ms)
{
    int64_t margin_ms = known_ms / 10;

    if (known_ms <= 0 || known_ms > LONGEST_MS)
        return -1;
    if (margin_ms < MARGIN_MS)
        margin_ms = known_ms / 2 < MARGIN_MS ? known_ms / 2 : MARGIN_MS;
    return known_ms - margin_ms;
}

static bool contains(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (; *text; text++) {
        size_t i = 0;

        while (i < length && (text[i] == word[i] || (text[i] | 0x20) == word[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

bool patience_is_time_up(const char *reason)
{
    /* the SDKs' own words and code, and those of others */
    return reason && (contains(reason, "timed out") || contains(reason, "timeout") ||
                      contains(reason, "time limit") || contains(reason, "-32001"));
}
