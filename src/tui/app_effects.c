/* app_effects.c - what a person did on a screen becomes calls to the hub, or bytes to the
 * terminal. Each effect is a row: its method, how its parameters are made, and what its result is
 * to the screen. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "i18n/i18n.h"
#include "tui/app.h"

enum { COPY_BYTES = 65536 };

static void free_wish(struct wish *wish)
{
    free((void *)(uintptr_t)wish->effect.json);
    free((void *)(uintptr_t)wish->effect.name);
    free((void *)(uintptr_t)wish->effect.text);
    free(wish);
}

void wish_note(void *context, const struct screen_effect *effect)
{
    struct app *app = context;
    struct wish *wish = mem_new(sizeof *wish), **at = &app->wishes;

    wish->effect = *effect;
    wish->effect.json = mem_text(effect->json);
    wish->effect.name = mem_text(effect->name);
    wish->effect.text = mem_text(effect->text);
    if (effect->session_id)
        memcpy(wish->session_id, effect->session_id,
               strnlen(effect->session_id, sizeof wish->session_id - 1));
    wish->effect.session_id = wish->session_id;
    while (*at)
        at = &(*at)->next;
    *at = wish;
}

void wishes_release(struct app *app)
{
    while (app->wishes) {
        struct wish *wish = app->wishes;

        app->wishes = wish->next;
        free_wish(wish);
    }
}

void app_take_text(struct app *app, enum screen_news news, struct text *take_json)
{
    struct json *json = NULL;

    if (json_parse(text_string(take_json), take_json->used, &json, NULL))
        app_take(app, news, json);
    json_free(json);
    text_release(take_json);
}

/* What changed comes as an event; only a refusal is news. */
static void on_changed(void *context, const struct client_reply *reply)
{
    const struct error *err = client_refusal(reply);
    struct text out = { 0 }, words = { 0 };
    struct json_writer writer;

    if (!err)
        return;
    writer = json_object_to(&out);
    error_write_in(err, i18n_language(), &words);
    json_write_text(&writer, "code", error_name(err->code));
    json_write_text(&writer, "path", err->path);
    json_write_text(&writer, "message", text_string(&words));
    json_write_value(&writer, "detail", reply->json);
    json_write_end_object(&writer);
    text_release(&words);
    app_take_text(context, NEWS_REFUSED, &out);
}

void app_take_reply(struct app *app, enum screen_news news, const struct client_reply *reply)
{
    if (client_refusal(reply))
        on_changed(app, reply);
    else
        app_take(app, news, reply->json);
}
#define TAKES(name, news)                                                                          \
    static void name(void *context, const struct client_reply *reply)                              \
    {                                                                                              \
        app_take_reply(context, news, reply);                                                      \
    }
TAKES(on_decided, NEWS_DECIDED)
TAKES(on_code, NEWS_CODE)
TAKES(on_whole, NEWS_WHOLE)
TAKES(on_history, NEWS_HISTORY)
TAKES(on_rules, NEWS_RULES)
TAKES(on_proposed, NEWS_PROPOSED)
TAKES(on_case, NEWS_CASE)
TAKES(on_stands, NEWS_STANDS)
TAKES(on_revoked, NEWS_REVOKED)
TAKES(on_undone, NEWS_UNDONE)
TAKES(on_unseen, NEWS_UNSEEN)
TAKES(on_told, NEWS_TOLD)

/* A terminal that shows one ask has nothing more to show then; an inbox has. */
static void on_snooze(void *context, const struct client_reply *reply)
{
    struct app *app = context;

    on_changed(app, reply);
    if (!client_refusal(reply) && !app->inbox)
        app_end(app, APP_LEFT);
}

/* The draft was sent before this was asked for, so it is there when the browser is. */
static void on_link(void *context, const struct client_reply *reply)
{
    const char *link = json_member_text(reply->json, "link");
    const char *url = json_member_text(reply->json, "url");
    struct text out = { 0 }, words = { 0 };
    struct json_writer writer;
    struct app *app = context;
    enum os_browser browser;

    on_changed(app, reply);
    if (client_refusal(reply) || !link || !url)
        return;
    browser = os_open_browser(link);
    if (app->inbox) { /* it goes on, and says where the ask went */
        writer = json_object_to(&out);
        i18n_format(&words, TEXT_TUI_MOVED, "url", browser == OS_BROWSER_OPENED ? url : link, NULL);
        json_write_text(&writer, "words", text_string(&words));
        json_write_end_object(&writer);
        app_take_text(app, NEWS_LINK, &out);
        text_release(&words);
        return;
    }
    text_add_text(&app->result->link, link);
    text_add_text(&app->result->url, url);
    app->result->browser = browser;
    app_end(app, APP_MOVED);
}

static void on_drafted(void *context, const struct client_reply *reply)
{
    struct app *app = context;

    app->drafts--;
    if (app->is_leaving && app->drafts == 0)
        app_end(app, app->last);
    else
        on_changed(app, reply);
}

static void write_members(struct json_writer *writer, const char *object_json)
{
    struct json *object = NULL;

    if (!object_json || !json_parse(object_json, strlen(object_json), &object, NULL))
        return;
    for (void *at = json_first(object); at; at = json_next(object, at))
        json_write_value(writer, json_key(at), json_value(at));
    json_free(object);
}

enum carries { NOTHING, MEMBERS, ANSWER, DRAFT, SECONDS, SETTING, WEB };

static void write_params(struct json_writer *writer, const struct wish *wish, enum carries carries)
{
    char key[27];

    if (carries != SETTING)
        json_write_text_if(writer, "session_id", wish->session_id);
    switch (carries) {
    case ANSWER: /* said again after a lost reply, it is still one answer */
        random_id(key);
        json_write_text(writer, "answer_key", key);
        write_members(writer, wish->effect.json);
        break;
    case MEMBERS:
        write_members(writer, wish->effect.json);
        break;
    case DRAFT:
        json_write_raw(writer, "draft", wish->effect.json);
        break;
    case SECONDS:
        json_write_integer(writer, "seconds", wish->effect.number);
        break;
    case SETTING:
        json_write_text(writer, "name", wish->effect.name);
        if (wish->effect.text)
            json_write_text(writer, "value", wish->effect.text);
        break;
    case WEB:
        json_write_text(writer, "interface", "web");
        break;
    case NOTHING:
        break;
    }
    json_write_end_object(writer);
}

/* Effects that are one call; the others are done by hand below. */
static const struct row {
    enum screen_effect_kind kind;
    enum method method;
    enum carries carries;
    client_done *done;
} rows[] = {
    { EFFECT_ANSWER, METHOD_ask_answer, ANSWER, on_decided },
    { EFFECT_CHALLENGE, METHOD_ask_challenge, NOTHING, on_code },
    { EFFECT_CANCEL, METHOD_ask_cancel, MEMBERS, on_decided },
    { EFFECT_DECLINE, METHOD_ask_decline, MEMBERS, on_decided },
    { EFFECT_DRAFT, METHOD_ask_draft, DRAFT, on_drafted },
    { EFFECT_EXTEND, METHOD_ask_extend, SECONDS, on_changed },
    { EFFECT_UNDO, METHOD_ask_undo, NOTHING, on_undone },
    { EFFECT_UNDO, METHOD_ask_get, NOTHING, on_whole },
    { EFFECT_SEND_NOW, METHOD_ask_send, NOTHING, on_decided },
    { EFFECT_BROWSER, METHOD_ask_switch, WEB, on_changed },
    { EFFECT_BROWSER, METHOD_portal_link, NOTHING, on_link },
    { EFFECT_SETTING, METHOD_settings_set, SETTING, on_changed },
    { EFFECT_HIDE, METHOD_ask_hide, MEMBERS, on_changed },
    { EFFECT_BACK, METHOD_ask_back, MEMBERS, on_changed },
    { EFFECT_SNOOZE, METHOD_ask_later, SECONDS, on_snooze },
    { EFFECT_HISTORY, METHOD_ask_history, MEMBERS, on_history },
    { EFFECT_RULES, METHOD_rule_list, NOTHING, on_rules },
    { EFFECT_RULES, METHOD_rule_suggest, NOTHING, on_proposed },
    { EFFECT_CASE, METHOD_rule_preview, MEMBERS, on_case },
    { EFFECT_STAND, METHOD_rule_add, MEMBERS, on_stands },
    { EFFECT_REVOKE, METHOD_rule_remove, MEMBERS, on_revoked },
    { EFFECT_UNSEEN, METHOD_ask_unseen, NOTHING, on_unseen },
    { EFFECT_SEEN, METHOD_ask_seen, NOTHING, on_changed },
    { EFFECT_TELL, METHOD_ask_tell, MEMBERS, on_told },
    { EFFECT_LOOK, METHOD_ask_get, NOTHING, on_whole },
    { EFFECT_OPEN, METHOD_ask_attach, NOTHING, on_whole },
};

static void call(struct app *app, const struct wish *wish)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text params = { 0 };
        struct json_writer writer;

        if (rows[i].kind != wish->effect.kind)
            continue;
        writer = json_object_to(&params);
        write_params(&writer, wish, rows[i].carries);
        app->drafts += wish->effect.kind == EFFECT_DRAFT;
        app_call(app, rows[i].method, text_string(&params), rows[i].done);
        text_release(&params);
    }
}

/* OSC 52: the terminal puts it on the clipboard, if it wants to. */
static void copy(struct app *app, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strnlen(text, COPY_BYTES);
    struct text out = { 0 };

    text_add_text(&out, "\033]52;c;");
    for (size_t i = 0; i < length; i += 3) {
        unsigned long group = 0;

        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (i + k < length ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            text_add_char(&out, i + k > length ? '=' : digits[group >> (18 - 6 * k) & 63]);
    }
    text_add_text(&out, "\033\\");
    tty_write(app->tty, &out);
}

/* Rings the bell. If the inbox is not looked at and the terminal has notifications, it shows one: a
 * sentence of ours, nothing an agent wrote. */
static void ring(struct app *app)
{
    static const char *const beginnings[] = {
        [NOTICE_NONE] = "",
        [NOTICE_OSC_9] = "\033]9;sayso: ",
        [NOTICE_OSC_99] = "\033]99;i=sayso;sayso: ",
        [NOTICE_OSC_777] = "\033]777;notify;sayso;",
    };
    struct text out = { 0 };

    text_add_char(&out, '\a');
    if (app->inbox && app->kind.notice != NOTICE_NONE && !app->kind.is_ascii && !app->is_looked_at)
        text_add_format(&out, "%s%s\033\\", beginnings[app->kind.notice],
                        i18n_text(TEXT_CLI_ASK_WAITS));
    tty_write(app->tty, &out);
}

static void suspend(struct app *app)
{
    struct text out = { 0 };
    int rows_now, columns;

    painter_end(&app->painter, &out);
    tty_write(app->tty, &out);
    tty_suspend(app->tty);
    app->titled = -1; /* the shell's own is there again */
    tty_size(app->tty, &rows_now, &columns);
    painter_resize(&app->painter, rows_now, columns, &out);
    text_release(&out); /* drawing begins in a new place: there is nothing to clear */
}

static void perform(struct app *app, const struct wish *wish)
{
    switch (wish->effect.kind) {
    case EFFECT_RECONNECT:
        client_retry(loop_client_of(app->person));
        break;
    case EFFECT_COPY:
        if (wish->effect.text)
            copy(app, wish->effect.text);
        break;
    case EFFECT_BELL:
        ring(app);
        break;
    case EFFECT_SUSPEND:
        suspend(app);
        break;
    case EFFECT_CLOSE:
        if (app->inbox && wish->session_id[0]) /* the one inside is; the inbox goes on */
            app->shown[0] = '\0';
        else if (!app->options->create_json) /* else its result comes by itself */
            app_end(app, APP_DONE);
        break;
    case EFFECT_QUIT:
        app_leave(app, APP_LEFT);
        break;
    default:
        call(app, wish);
        break;
    }
    if (wish->effect.kind == EFFECT_OPEN)
        memcpy(app->shown, wish->session_id, sizeof app->shown);
}

void wishes_perform(struct app *app)
{
    while (app->wishes && !app->is_over) {
        struct wish *wish = app->wishes;

        app->wishes = wish->next;
        perform(app, wish);
        free_wish(wish);
    }
}
