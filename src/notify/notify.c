/* notify.c - A few run at a time; who comes when too many wait already is dropped. */
#include "notify/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/ask.h"
#include "i18n/i18n.h"
#include "settings/settings.h"

enum { NOTIFY_AT_ONCE = 4, NOTIFY_WAITING = 32, NOTIFY_LIMIT_MS = 60000 };

struct notify {
    struct notify_parts parts;
    struct message *messages; /* oldest first */
};

enum { MESSAGE_WORDS = 16, MESSAGE_VARIABLES = 64 };

/* A program to be run; texts are the message's own. */
struct message {
    struct message *next;
    struct notify *notify;
    const char *notifier;               /* for the log */
    const char *words[MESSAGE_WORDS];   /* NULL-ended; borrowed for ever, or `command` */
    char *command;                      /* owned */
    char *variables[MESSAGE_VARIABLES]; /* NULL-ended; owned */
    struct text input;
    struct child *child; /* NULL: it waits for its turn */
};

struct notifier {
    const char *name;
    bool (*is_wanted)(const struct notify_parts *parts, const struct announcement *announcement);
    /* Fills words and input; false: it can't be, and it was logged why. */
    bool (*prepare)(const struct notify_parts *parts, const struct announcement *announcement,
                    struct message *message);
};

/* a variable */
static void message_set(struct message *message, const char *name, const char *value)
{
    struct text variable = { 0 };
    size_t at = 0;

    while (message->variables[at])
        at++;
    if (at + 1 == MESSAGE_VARIABLES)
        return;
    text_add_format(&variable, "%s=%s", name, value ? value : "");
    message->variables[at] = text_take(&variable);
}

/* {event, session_id, title, agent, url?, destructive, waited_seconds, remaining_seconds} */
static void message_write_facts(const struct announcement *announcement, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_text(&writer, "event", announcement->is_reminder ? "ask.waiting" : "ask.created");
    json_write_text(&writer, "session_id", announcement->session_id);
    json_write_text(&writer, "title", announcement->title);
    json_write_text(&writer, "agent", announcement->agent);
    json_write_text(&writer, "url", announcement->url);
    json_write_bool(&writer, "destructive", announcement->is_destructive);
    json_write_integer(&writer, "waited_seconds", announcement->waited_ms / 1000);
    json_write_integer(&writer, "remaining_seconds", announcement->remaining_s);
    json_write_end_object(&writer);
}

/* By a command of the person's own: facts as JSON on its input and as variables. */

static bool command_is_wanted(const struct notify_parts *parts,
                              const struct announcement *announcement)
{
    (void)announcement;
    return settings_text(parts->settings, SETTING_NOTIFY_COMMAND)[0] != '\0';
}

static bool command_prepare(const struct notify_parts *parts,
                            const struct announcement *announcement, struct message *message)
{
    message->command = mem_text(settings_text(parts->settings, SETTING_NOTIFY_COMMAND));
    message->words[0] = "/bin/sh";
    message->words[1] = "-c";
    message->words[2] = message->command;
    message_set(message, "SAYSO_EVENT", announcement->is_reminder ? "ask.waiting" : "ask.created");
    message_set(message, "SAYSO_ASK", announcement->session_id);
    message_set(message, "SAYSO_TITLE", announcement->title);
    message_set(message, "SAYSO_AGENT", announcement->agent);
    message_set(message, "SAYSO_URL", announcement->url);
    message_write_facts(announcement, &message->input);
    text_add_char(&message->input, '\n');
    return true;
}

/* On the person's desktop, where no page and no inbox of ours is open to do it better. Our own
 * program is run for it, so that a bus that hangs does not hold up the hub. */

enum { PATH_BYTES = 4096 };

static bool has_bus(void)
{
    const char *place = getenv("XDG_RUNTIME_DIR"), *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    char path[PATH_BYTES];

    if (address && *address)
        return true;
    return place && snprintf(path, sizeof path, "%s/bus", place) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static bool desktop_is_wanted(const struct notify_parts *parts,
                              const struct announcement *announcement)
{
    return settings_is_on(parts->settings, SETTING_NOTIFICATIONS) &&
           settings_is_on(parts->settings, SETTING_DESKTOP) && !announcement->is_watched &&
           has_bus();
}

/* Bodies are read as markup by some desktops. */
static void add_escaped(struct text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            text_add_text(out, "&amp;");
        else if (*text == '<')
            text_add_text(out, "&lt;");
        else if (*text == '>')
            text_add_text(out, "&gt;");
        else
            text_add_char(out, *text);
    }
}

static bool desktop_prepare(const struct notify_parts *parts,
                            const struct announcement *announcement, struct message *message)
{
    enum language language = settings_language(parts->settings);
    struct json_writer writer = json_object_to(&message->input);
    struct text title = { 0 }, body = { 0 };

    i18n_format_in(language, &title,
                   announcement->is_reminder ? TEXT_NOTIFY_STILL : TEXT_NOTIFY_NEW, "agent",
                   announcement->agent, NULL);
    add_escaped(&body, announcement->title);
    json_write_text(&writer, "title", text_string(&title));
    json_write_text(&writer, "body", text_string(&body));
    json_write_bool(&writer, "urgent", announcement->is_destructive);
    json_write_end_object(&writer);
    message->words[0] = parts->program;
    message->words[1] = "notify";
    message->words[2] = "desktop";
    text_release(&title);
    text_release(&body);
    return true;
}

/* By a signed message to an address. curl sends it: it knows certificates and proxies, and it reads
 * address, signature and body from its input, where no other user sees them. */

enum { ID_BYTES = 27 };

static bool webhook_is_wanted(const struct notify_parts *parts,
                              const struct announcement *announcement)
{
    (void)announcement;
    return settings_text(parts->settings, SETTING_NOTIFY_WEBHOOK)[0] != '\0';
}

/* As curl reads a value between quotes. */
static void add_quoted(struct text *out, const char *name, const char *value)
{
    text_add_format(out, "%s = \"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            text_add_char(out, '\\');
        text_add_char(out, *value);
    }
    text_add_text(out, "\"\n");
}

static void add_header(struct text *out, const char *name, const char *value)
{
    struct text line = { 0 };

    text_add_format(&line, "%s: %s", name, value);
    add_quoted(out, "header", text_string(&line));
    text_release(&line);
}

static bool is_address(const char *url)
{
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return false;
    for (const char *at = url; *at; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return false;
    }
    return true;
}

static void write_body(const struct announcement *announcement, int64_t now_s, struct text *out)
{
    struct json_writer writer = json_object_to(out);
    struct text facts = { 0 };

    message_write_facts(announcement, &facts);
    json_write_text(&writer, "type", announcement->is_reminder ? "ask.waiting" : "ask.created");
    json_write_integer(&writer, "timestamp", now_s);
    json_write_raw(&writer, "data", text_string(&facts));
    json_write_end_object(&writer);
    text_release(&facts);
}

static bool webhook_prepare(const struct notify_parts *parts,
                            const struct announcement *announcement, struct message *message)
{
    static const char *const words[] = { "curl",       "-q",     "--silent", "--output",
                                         "/dev/null",  "--fail", "--proto",  "=http,https",
                                         "--max-time", "15",     "--retry",  "2",
                                         "--config",   "-",      NULL };
    const char *url = settings_text(parts->settings, SETTING_NOTIFY_WEBHOOK);
    struct text *input = &message->input, body = { 0 }, signature = { 0 };
    int64_t now_s = (int64_t)time(NULL);
    char id[ID_BYTES];
    bool ok;

    random_id(id);
    write_body(announcement, now_s, &body);
    ok = is_address(url) &&
         parts->sign(parts->context, id, now_s, text_string(&body), body.used, &signature);
    if (ok) {
        memcpy(message->words, words, sizeof words);
        add_quoted(input, "url", url);
        add_header(input, "Content-Type", "application/json");
        add_header(input, "webhook-id", id);
        add_header(input, "webhook-timestamp", TEXT_NUMBER(now_s));
        add_header(input, "webhook-signature", text_string(&signature));
        add_quoted(input, "data-raw", text_string(&body));
    } else {
        log_warning("notify.webhook_refused", "reason=%s",
                    is_address(url) ? "no_secret" : "no_address");
    }
    text_release(&body);
    text_release(&signature);
    return ok;
}

static const struct notifier notifiers[] = {
    { "desktop", desktop_is_wanted, desktop_prepare },
    { "command", command_is_wanted, command_prepare },
    { "webhook", webhook_is_wanted, webhook_prepare },
};

/* What programs of the person's own session need; nothing of another tool's secrets. */
static const char *const passed_on[] = {
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "TMPDIR",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "TZ",
    "LC_ALL",
    "LC_CTYPE",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "http_proxy",
    "https_proxy",
    "no_proxy",
};

static void message_free(struct message *message)
{
    free(message->command);
    for (size_t i = 0; message->variables[i]; i++)
        free(message->variables[i]);
    text_release(&message->input);
    free(message);
}

static void start_some(struct notify *notify);

static void on_done(void *context, int status)
{
    struct message *message = context;
    struct notify *notify = message->notify;
    struct message **at = &notify->messages;

    if (status != 0)
        log_warning("notify.failed", "way=%s status=%d", message->notifier, status);
    while (*at != message)
        at = &(*at)->next;
    *at = message->next;
    message_free(message);
    start_some(notify);
}

static void start(struct message *message)
{
    const struct child_plan plan = {
        .arguments = message->words,
        .environment = (const char *const *)message->variables,
        .input = text_string(&message->input),
        .input_length = message->input.used,
        .limit_ms = NOTIFY_LIMIT_MS,
        .done = on_done,
        .context = message,
    };

    message->child = child_start(message->notify->parts.loop, &plan);
}

static void start_some(struct notify *notify)
{
    size_t running = 0;

    for (struct message *message = notify->messages; message; message = message->next) {
        if (message->child)
            running++;
        else if (running < NOTIFY_AT_ONCE) {
            start(message);
            running++;
        }
    }
}

static void add(struct notify *notify, const struct notifier *notifier,
                const struct announcement *announcement)
{
    struct message *message = mem_new(sizeof *message), **end = &notify->messages;
    size_t count = 0;

    message->notify = notify;
    message->notifier = notifier->name;
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        if (getenv(passed_on[i]))
            message_set(message, passed_on[i], getenv(passed_on[i]));
    }
    for (; *end; end = &(*end)->next)
        count++;
    if (count >= NOTIFY_AT_ONCE + NOTIFY_WAITING) {
        log_warning("notify.dropped", "way=%s ask=%s", notifier->name, announcement->session_id);
        message_free(message);
    } else if (!notifier->prepare(&notify->parts, announcement, message)) {
        message_free(message);
    } else {
        *end = message;
    }
}

struct notify *notify_new(const struct notify_parts *parts)
{
    struct notify *notify = mem_new(sizeof *notify);

    notify->parts = *parts;
    return notify;
}

void notify_free(struct notify *notify)
{
    while (notify && notify->messages) {
        struct message *message = notify->messages;

        notify->messages = message->next;
        if (message->child)
            child_end(message->child);
        message_free(message);
    }
    free(notify);
}

void notify_tell(struct notify *notify, const struct announcement *announcement)
{
    for (size_t i = 0; i < ARRAY_LEN(notifiers); i++) {
        if (notifiers[i].is_wanted(&notify->parts, announcement))
            add(notify, &notifiers[i], announcement);
    }
    start_some(notify);
}
