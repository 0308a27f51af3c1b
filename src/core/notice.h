/*
 * notice.h - late answers of earlier asks, announced in the result of another call (R5.7).
 * A notice says that there is an answer and how to collect it, never what it is: collecting is
 * what makes it delivered. Of an ask that timed out it says what a person told the agent after the
 * deadline. That is no answer, so there is nothing to collect.
 */
#ifndef CORE_NOTICE_H
#define CORE_NOTICE_H
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle.h"

struct text;

enum { NOTICES_MOST = 8 }; /* in one result */
struct notice {
    const char *session_id, *title;
    enum ask_state state;
    int64_t decided_ms;    /* UTC */
    const char *told_json; /* what a person said after the deadline; NULL: it was answered */
};

/* Adds them to a result, which is one whole JSON object; `more` is how many found no place. */
void notices_add(const struct notice *notices, size_t count, size_t more, struct text *result);

#endif
