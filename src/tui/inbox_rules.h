/*
 * inbox_rules.h - answers that stand, in the inbox: those there are, those that history
 * proposes, and one before it is made: for which asks, and what it would have answered. Pure, as
 * the screens are; inbox_rules.c has its life, keys and pictures.
 */
#ifndef TUI_INBOX_RULES_H
#define TUI_INBOX_RULES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "tui/draw.h"
#include "tui/screen.h"

struct json;
struct key;
struct pen;

enum { STANDING_ROWS = 320, STANDING_CASES = 10, STANDING_TERMS = 5 };

/* Texts are visible; owned. */
struct standing_row {
    char id[32]; /* "": it is only proposed */
    char from[32];
    char *title, *answer, *agent, *directory, *person;
    bool any_prompt, is_over;
    int64_t until_utc_ms, count;
};
struct standing_past {
    char *answer;
    int64_t utc_ms;
    bool is_same;
};
/* The ask whose answer might stand, while the person looks at it. */
struct standing_case {
    char from[32];
    bool any_prompt, may_any_prompt;
    bool is_waiting, is_refused, is_from_history;
    struct standing_row facts;
    struct standing_past past[STANDING_CASES];
    size_t past_count;
    int64_t same, other;
};
struct inbox_standing {
    struct standing_row rows[STANDING_ROWS]; /* those in force first */
    size_t rule_count, count, cursor, top;
    bool has_rules, has_proposed; /* the hub has said which */
    bool is_case, is_revoking;
    char revoking[32];
    struct standing_case look;
};
enum standing_wish {
    STANDING_NOTHING,
    STANDING_PREVIEW, /* what the one looked at would have answered */
    STANDING_ADD,
    STANDING_REVOKE,
    STANDING_LOOK, /* the ask it was made from */
    STANDING_CLOSE,
    STANDING_TO_HISTORY,
};

void inbox_standing_release(struct inbox_standing *standing);
/* Begins to look at one; whatever the prompt says where the tool knows that. */
void inbox_standing_consider(struct inbox_standing *standing, const char *from, bool any_prompt,
                             bool is_from_history);
/* NEWS_RULES, NEWS_PROPOSED, NEWS_CASE; NEWS_STANDS and NEWS_REFUSED as far as they concern it. */
void inbox_standing_take(struct inbox_standing *standing, enum screen_news news,
                         const struct json *json, const char *home);
enum standing_wish inbox_standing_key(struct inbox_standing *standing, const struct key *key,
                                      struct text *ret_params);
const char *inbox_standing_ask(const struct inbox_standing *standing); /* NULL: none */
/* The parameters of rule/preview. */
void inbox_standing_write_preview(const struct inbox_standing *standing, struct text *out);
void inbox_standing_draw(struct inbox_standing *standing, const struct marks *marks,
                         const char *said, struct screen_time now, struct pen *pen, int rows);

#endif
