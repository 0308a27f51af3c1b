/* notify.c - `sayso notify`: tries the desktop, and shows with what webhooks are signed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/say.h"
#include "hub/webhook_secret.h"
#include "wire/place.h"

enum { INPUT_BYTES = 65536 };

static bool read_words(struct text *out)
{
    char bytes[4096];
    ssize_t count;

    while (out->used < INPUT_BYTES && (count = read(STDIN_FILENO, bytes, sizeof bytes)) > 0)
        text_add(out, bytes, (size_t)count);
    return out->used > 0;
}

/* What the hub wants shown comes on the input; on a terminal it is a try. */
static enum exit_code show_on_desktop(const struct arguments *arguments)
{
    static const enum text_id said[] = {
        [OS_NOTIFY_SHOWN] = TEXT_NOTIFY_SHOWN,
        [OS_NOTIFY_NO_LIBRARY] = TEXT_NOTIFY_NO_LIBRARY,
        [OS_NOTIFY_NO_BUS] = TEXT_NOTIFY_NO_BUS,
        [OS_NOTIFY_REFUSED] = TEXT_NOTIFY_REFUSED,
    };
    const char *title = i18n_text(TEXT_NOTIFY_TRY_TITLE), *body = i18n_text(TEXT_NOTIFY_TRY_BODY);
    struct text input = { 0 };
    struct json *words = NULL;
    enum os_notify outcome;
    bool is_urgent = false;

    (void)arguments;
    if (!isatty(STDIN_FILENO) && read_words(&input) &&
        json_parse(input.bytes, input.used, &words, NULL) && json_member_text(words, "title")) {
        title = json_member_text(words, "title");
        body = json_member_text(words, "body") ? json_member_text(words, "body") : "";
        is_urgent = json_is_yes(json_member(words, "urgent"));
    }
    outcome = os_notify_desktop(title, body, is_urgent);
    json_free(words);
    text_release(&input);
    if (outcome == OS_NOTIFY_SHOWN)
        say_note(said[outcome]);
    else
        say_problem(said[outcome]);
    return outcome == OS_NOTIFY_SHOWN ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code print_secret(const struct arguments *arguments)
{
    struct place place;
    struct text secret = { 0 };
    struct error err;
    bool ok = place_find(&place, &err) && place_prepare(&place, &err) &&
              webhook_secret_get(&place, &secret, &err);

    if (ok)
        printf("%s\n", text_string(&secret));
    else
        say_error(arguments, &err, NULL);
    text_release(&secret);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code run_notify(const struct arguments *arguments)
{
    const char *name = arguments->word_count ? arguments->words[0] : "";

    if (strcmp(name, "desktop") == 0)
        return show_on_desktop(arguments);
    if (strcmp(name, "secret") == 0)
        return print_secret(arguments);
    return say_needs(arguments, "desktop | secret");
}

static const char *const usage[] = { "notify desktop", "notify secret", NULL };
static const char *const examples[] = { "notify desktop", NULL };
VERB_ROW(notify, TEXT_CLI_NOTIFY, VERB_TEXTS, .most_words = 1);
