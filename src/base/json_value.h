/*
 * json_value.h - how JSON lies in memory; for json.c and json_parser.c only.
 * A document is one allocation: values, then the bytes of the texts. The parts of a list or an
 * object stand beside each other. Every value knows its place, so that any of them keeps the whole.
 */
#ifndef BASE_JSON_VALUE_H
#define BASE_JSON_VALUE_H
#include <stdint.h>

#include "base/json.h"

struct json {
    const char *key; /* NULL: not the member of an object */
    union {
        int64_t integer;
        double real;
        const char *text; /* of KIND_HUGE as well, without a NUL behind it */
        struct json *parts;
        bool is_yes;
    } of;
    uint32_t key_length;
    uint32_t length; /* bytes, items or members */
    uint32_t place;  /* among the document's values */
    uint8_t kind;    /* enum json_kind */
};

/* In builds with crash points SAYSO_COUNT_JSON has a process say at its end how many texts it
 * parsed, and how many lists and objects that were parsed it encoded. */
#ifdef SAYSO_CRASH_POINTS
void json_count(bool is_parsed);
#define COUNT_JSON(is_parsed) json_count(is_parsed)
#else
#define COUNT_JSON(is_parsed) ((void)0)
#endif

struct json_document {
    int owners;
    bool has_huge;        /* somewhere in it */
    struct json values[]; /* the first is the root */
};

#endif
