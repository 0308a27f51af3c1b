/*
 * facts.h - what the hub says about an ask beside its form: who asks, from where, since when, how
 * long it is open, and how it ended. Texts are made visible; times are put on our own clock.
 */
#ifndef TUI_FACTS_H
#define TUI_FACTS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "core/lifecycle.h"
#include "core/routing.h"
#include "i18n/i18n.h"
#include "tui/screen.h"

struct facts {
    char id[32];
    char *title, *agent, *directory, *token; /* owned; visible; "" where unknown */
    int64_t pid, uid;
    enum ask_state state;
    enum ask_interface interface; /* where it is announced */
    int64_t version;
    int64_t created_utc_ms, decided_utc_ms;
    int64_t deadline_mono_ms; /* -1: none */
    int64_t total_ms;         /* from being asked to the deadline */
    bool is_detached, is_destructive, is_asked_back;
    int64_t snooze_utc_ms;       /* put off until then; 0: not */
    int64_t quiet_until_mono_ms; /* the agent's own client shows it: others are silent so long */
    bool is_told;                /* not from the hub: the inbox has announced it */
    char *via, *person;          /* of the decision; owned; "" */
};
void facts_release(struct facts *facts);
/* Reads the `ask` of ask/get, ask/list and ask/changed; `home` becomes ~. */
void facts_read(struct facts *facts, const struct json *ask, const char *home,
                struct screen_time now);

/* Appends visible text; NULL is nothing. */
void facts_add_visible(struct text *out, const char *bytes);
char *facts_visible(const char *bytes, bool has_lines); /* owned by the caller */
/* The same, and what had to be changed for it is added to the visible_flags. */
char *facts_visible_flags(const char *bytes, bool has_lines, unsigned *flags);

char *facts_directory(const char *directory, const char *home); /* visible; owned by the caller */
char *facts_answer(const struct json *ask);   /* its summary in one line; likewise */
int64_t facts_time(const struct json *value); /* as the hub writes it; 0: none */

/* "4:12", "1:02:03", "3 d"; what is left is rounded up, what has passed down. */
void facts_add_clock(struct text *out, int64_t ms);
void facts_add_duration(struct text *out, int64_t s); /* "48 s", "12 min", in words */
void facts_add_since(struct text *out, int64_t from_utc_ms, int64_t to_utc_ms); /* never < 0 s */
/* That the same call was answered then, in words; nothing where it was not. */
void facts_add_answered(struct text *out, int64_t answered_utc_ms, int64_t now_utc_ms);
/* Today to the second, else as i18n_add_when. */
void facts_add_when(struct text *out, int64_t utc_ms, int64_t now_utc_ms);
/* "you", a process, a token; `uid` is ours. */
void facts_add_who(struct text *out, const struct facts *facts, int64_t uid);
const char *facts_interface(const struct facts *facts); /* in words */
/* How it was decided, in words: as a name, and where that was. */
struct facts_way {
    const char *via;
    enum text_id channel, place;
};
const struct facts_way *facts_way(const struct facts *facts);
int64_t facts_left_ms(const struct facts *facts, struct screen_time now); /* -1: no deadline */

#endif
