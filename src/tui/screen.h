/*
 * screen.h - what every screen has in common: what it is told, and what it wants done.
 *
 * A screen is a pure model. It reads no terminal and knows no hub: keys, news and the time come in
 * by calls, pictures go out into a canvas, and what the person wants becomes effects. The owner of
 * the terminal and the connection does this, for a screen S of either kind (ask, inbox):
 *
 *     S_new(&setup, whole, now)      once ask/get (ask/watch for the inbox) has answered
 *     S_key(S, key, now)             for each key of the keyboard
 *     S_take(S, news, json, now)     for each message of the hub that a row of screen_news names
 *     S_draw(S, canvas, columns, rows, now)   after any of these, and at S_wake_ms; then
 *     ask_screen_wants_alternate(ask)         after it: this picture needs the alternate screen, as
 *                                             an inbox always does
 *
 * Effects come through setup.effect during S_key, S_take and S_draw (time passes there); they must
 * not free the screen: remember them, and act when the call has returned. Everything in an effect
 * is borrowed for the call.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H
#include <stdbool.h>
#include <stdint.h>

struct json;
struct preferences;

/* Both at the same instant; the first never jumps. */
struct screen_time {
    int64_t mono_ms;
    int64_t utc_ms;
};

/* What the hub said. The JSON is the wire's (docs/wire.md) and borrowed for the call. */
enum screen_news {
    NEWS_WHOLE,    /* result of ask/get: the ask as it is now, also after a reconnect */
    NEWS_LIST,     /* inbox: result of ask/watch or ask/list */
    NEWS_CHANGED,  /* params of ask/changed */
    NEWS_DRAFTED,  /* params of ask/drafted */
    NEWS_SETTINGS, /* result of settings/list, params of settings/changed */
    NEWS_CODE,     /* result of ask/challenge */
    NEWS_DECIDED,  /* result of ask/answer, ask/cancel, ask/decline or ask/send */
    NEWS_UNDONE,   /* result of ask/undo; a NEWS_WHOLE behind it is welcome */
    NEWS_REFUSED,  /* {code, path?, message, detail?} of any of our calls that failed */
    NEWS_LOST,     /* {retry_ms}: the hub is gone; it is tried again so much later */
    NEWS_STATUS,   /* result of hub/status: the portal's url */
    NEWS_HISTORY,  /* result of ask/history */
    NEWS_RULES,    /* result of rule/list */
    NEWS_PROPOSED, /* result of rule/suggest */
    NEWS_CASE,     /* result of rule/preview */
    NEWS_STANDS,   /* result of rule/add */
    NEWS_REVOKED,  /* result of rule/remove */
    NEWS_RULED,    /* params of rule/changed: they are others now */
    NEWS_UNSEEN,   /* result of ask/unseen */
    NEWS_TOLD,     /* result of ask/tell */
    NEWS_LINK,     /* {words}: where the ask went on in a browser */
};

enum screen_effect_kind {
    EFFECT_ANSWER,    /* json: params of ask/answer without session_id; `code` where needed */
    EFFECT_CHALLENGE, /* ask/challenge is wanted; its result comes back as NEWS_CODE */
    EFFECT_CANCEL,    /* json: {global_annotation?} */
    EFFECT_DECLINE,   /* json: {global_annotation?} */
    EFFECT_DRAFT,     /* json: the draft, an object like an answer; at most one a second */
    EFFECT_EXTEND,    /* number: seconds from now, as ask/extend takes them */
    EFFECT_UNDO,
    EFFECT_SEND_NOW,
    EFFECT_BROWSER,   /* go on there: the draft was sent before; then the terminal ends */
    EFFECT_SETTING,   /* name, text (NULL: the built-in value): settings/set */
    EFFECT_HIDE,      /* json: {option_id, hidden} of this title and principal (R6.4) */
    EFFECT_BACK,      /* json: {text}, a question to the agent: ask/back */
    EFFECT_SNOOZE,    /* number: seconds to be silent about this ask; its screen is left */
    EFFECT_LOOK,      /* ask/get is wanted, as NEWS_WHOLE */
    EFFECT_OPEN,      /* inbox: the same, for the ask that the person chose */
    EFFECT_RECONNECT, /* now instead of at the next try */
    EFFECT_COPY,      /* text: to the clipboard (OSC 52) */
    EFFECT_BELL,
    EFFECT_NEIGHBOUR, /* number: -1 or 1: the ask before or behind this one; only in an inbox */
    EFFECT_HISTORY,   /* json: params of ask/history; its result comes back as NEWS_HISTORY */
    EFFECT_RULES,     /* inbox: rule/list and rule/suggest, as NEWS_RULES and NEWS_PROPOSED */
    EFFECT_CASE,      /* json: params of rule/preview; its result comes back as NEWS_CASE */
    EFFECT_STAND,     /* json: params of rule/add; NEWS_STANDS */
    EFFECT_REVOKE,    /* json: params of rule/remove; NEWS_REVOKED */
    EFFECT_UNSEEN,    /* inbox: ask/unseen, as NEWS_UNSEEN; also after each list */
    EFFECT_SEEN,      /* inbox: what that said was shown, and the person went on: ask/seen */
    EFFECT_TELL,      /* json: {global_annotation}: ask/tell, of one that timed out; NEWS_TOLD */
    EFFECT_SUSPEND,   /* Ctrl-Z */
    EFFECT_CLOSE,     /* this screen is done: see S_exit_code and the summary */
    EFFECT_QUIT,      /* Ctrl-C: leave, everything stays as it is in the hub */
};
struct screen_effect {
    enum screen_effect_kind kind;
    const char *session_id; /* "" where no ask is concerned */
    const char *json, *name, *text;
    int64_t number;
};

struct screen_setup {
    void *context;
    void (*effect)(void *context, const struct screen_effect *effect);
    const struct json *settings; /* result of settings/list; borrowed for S_new; NULL: see below */
    const struct preferences *preferences; /* borrowed for S_new; NULL too: built in */
    const char *home; /* written ~ in directories; borrowed for S_new; may be NULL */
    int64_t uid;      /* ours: asks of this uid are from "you" */
    bool is_ascii;    /* the terminal has no UTF-8 or no glyphs beyond ASCII */
    bool has_portal;  /* pages are served, where the setting portal is on */
    bool is_inbox;    /* `[` `]` are offered; Ctrl-C is taken as going back to the list */
};

#endif
