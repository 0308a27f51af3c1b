/*
 * desktop.c - on the person's desktop, where no page and no inbox of ours is open to do it better.
 * Our own program is run for it, so that a bus that hangs holds nobody up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "channels/notify/inside.h"
#include "i18n/i18n.h"

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

static bool is_wanted(const struct notify_parts *parts, const struct announcement *announcement)
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

static bool prepare(const struct notify_parts *parts, const struct announcement *announcement,
                    struct message *message)
{
    enum language language = settings_language(parts->settings);
    struct json_writer writer = json_writer_to(&message->input);
    struct text title = { 0 }, body = { 0 };

    i18n_format_in(language, &title,
                   announcement->is_reminder ? TEXT_NOTIFY_STILL : TEXT_NOTIFY_NEW, "agent",
                   announcement->agent, NULL);
    add_escaped(&body, announcement->title);
    json_write_object(&writer, NULL);
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

const struct way way_desktop = { "desktop", is_wanted, prepare };
