/* command.c - by a command of the person's own: facts as JSON on its input and as variables. */
#include "base/mem.h"
#include "channels/notify/inside.h"

static bool is_wanted(const struct notify_parts *parts, const struct announcement *announcement)
{
    (void)announcement;
    return settings_text(parts->settings, SETTING_NOTIFY_COMMAND)[0] != '\0';
}

static bool prepare(const struct notify_parts *parts, const struct announcement *announcement,
                    struct message *message)
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

const struct way way_command = { "command", is_wanted, prepare };
