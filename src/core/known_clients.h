/*
 * known_clients.h - what the clients of agents were measured to do (docs/clients.md), by the name
 * they send in clientInfo, and nowhere else; zero is what holds for one that was not measured.
 */
#ifndef CORE_KNOWN_CLIENTS_H
#define CORE_KNOWN_CLIENTS_H
#include <stdbool.h>
#include <stdint.h>

struct known_client {
    const char *name;     /* "begin*": every name that begins so; "*": all others */
    const char *measured; /* version and date */
    const char *program;  /* as `sayso install` calls it; NULL: not known there */

    /* Its protocol. */
    bool keeps_rounds_open; /* its dialog of a 2026-07-28 round can't be withdrawn */

    /* Its calls. */
    int64_t limit_s; /* as it comes: it gives up a call without a word from us then; 0: not known */
    int64_t hold_s;  /* such a call is answered with `pending` by then */
    bool progress_extends;  /* its limit: progress keeps a call alive for ten minutes at least */
    bool backgrounds_calls; /* after 120 s; a later result is told to the model as hearsay */

    bool cancels_silently; /* at Esc: what its call is answered then is lost */

    /* Its forms. */
    bool stops_clock;   /* of the call, while a form is open */
    bool only_cancels;  /* without a person it cancels; so a decline is a person's, however fast */
    bool lacks_lists;   /* no arrays, whatever its revision has */
    bool lacks_numbers; /* a dialog without fields is shown instead */
    bool needs_every_text; /* an optional text can't stay empty */
    bool shows_notes;      /* the others are given no field that is a mere courtesy */
    bool wants_one_of;     /* for labeled choices, whatever its revision says */
    bool picks_yes;        /* of a yes or no, yes is first, and what Enter takes */
    int message_lines;     /* it shows so many, each cut at the window's width; 0: all of them */
    int title_columns;     /* a title or option is cut there; 0: nowhere */
};

/* The row of this name, else of the longest beginning of it, else of all others; NULL: no name. */
const struct known_client *known_client(const char *name);
/* For how long a call of it may be held: as it was measured, with progress or without a word, or as
 * long as its configuration lets it wait (`timeout_s`; 0: unknown). */
int64_t known_client_hold_s(const char *name, bool has_progress, int64_t timeout_s);
/* The row of what `sayso install` calls so. */
const struct known_client *known_client_of_program(const char *program);

/* Which of our tools a client is told of: the setting `tools` and --tools. Every tool of the list
 * is text in each conversation of the agent; one that is not there can still be called. */

/* Words with commas or spaces between them: "ask", "all", or the name of a tool. */
bool offered_tools_are_valid(const char *list);
/* An empty list is "ask". A list also has what collects the answers of a tool that it has. */
bool offered_tools_have(const char *list, const char *tool);

#endif
