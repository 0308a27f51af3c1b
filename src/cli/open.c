/* open.c - `sayso open`: a link that signs a browser in, printed and opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/hub_call.h"
#include "cli/say.h"

/* On the person's own machine; the numbers of both ports are the same, because the hub looks at
 * the one the browser names. */
static void say_tunnel(const char *url)
{
    const char *port = strrchr(url, ':'), *ends = getenv("SSH_CONNECTION");
    char user[128], host[128] = "HOST", command[512];
    int length = port ? (int)strspn(port + 1, "0123456789") : 0;

    if (ends) /* whose address and port, then ours */
        sscanf(ends, "%*s %*s %127s", host);
    os_user_name(user, sizeof user);
    snprintf(command, sizeof command, "ssh -N -L %.*s:127.0.0.1:%.*s %s@%s", length,
             port ? port + 1 : "", length, port ? port + 1 : "", user, host);
    say_note(TEXT_CLI_OPEN_TUNNEL, "command", command);
}

void open_say(enum os_browser outcome, const char *url)
{
    static const enum text_id notes[] = {
        [OS_BROWSER_OPENED] = TEXT_CLI_OPENED,
        [OS_BROWSER_CONTAINED] = TEXT_CLI_OPEN_CONTAINER,
        [OS_BROWSER_NONE] = TEXT_CLI_OPEN_YOURSELF,
    };

    if (outcome == OS_BROWSER_REMOTE)
        say_tunnel(url);
    else
        say_note(notes[outcome]);
}

static bool show(const struct arguments *arguments, struct client *hub, const struct json *link)
{
    const char *address = json_member_text(link, "link");
    bool is_wanted = !arguments_value(arguments, "no-browser");
    enum os_browser outcome = OS_BROWSER_NONE;

    (void)hub;
    if (!call_expect(arguments, link, "link") || !call_expect(arguments, link, "url"))
        return false;
    if (is_wanted)
        outcome = os_open_browser(address);
    if (arguments->is_json) {
        struct text out = { 0 };
        struct json_writer writer = json_object_to(&out);

        json_write_text(&writer, "url", json_member_text(link, "url"));
        json_write_text(&writer, "link", address);
        json_write_integer(&writer, "seconds", json_member_integer(link, "seconds", 0));
        json_write_bool(&writer, "opened", outcome == OS_BROWSER_OPENED);
        say_object(&writer);
        return true;
    }
    printf("%s\n", address);
    fflush(stdout);
    if (is_wanted)
        open_say(outcome, json_member_text(link, "url"));
    return true;
}

static const struct act acts[] = {
    { .method = "portal/link", .write = act_write_session, .finish = show }
};
static const struct verb_option options[] = {
    { "no-browser", 0, NULL, TEXT_OPT_NO_BROWSER, false },
};
static const char *const usage[] = { "open [ID] [--no-browser]", NULL };
static const char *const examples[] = { "open", "open k3f7", NULL };
VERB_ACTS(open, TEXT_CLI_OPEN, VERB_TABLES, .max_words = 1);
