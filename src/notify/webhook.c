/*
 * webhook.c - by a signed message to an address. curl sends it: it knows certificates and proxies,
 * and it reads address, signature and body from its input, where no other user sees them.
 */
#include <string.h>
#include <time.h>

#include "base/json_writer.h"
#include "base/log.h"
#include "base/random.h"
#include "notify/notifier.h"

enum { ID_BYTES = 27 };

static bool is_wanted(const struct notify_parts *parts, const struct announcement *announcement)
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

static bool prepare(const struct notify_parts *parts, const struct announcement *announcement,
                    struct message *message)
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

const struct way way_webhook = { "webhook", is_wanted, prepare };
