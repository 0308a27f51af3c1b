/* token.c - `sayso token new|list|revoke`: who may come through HTTP. A secret is shown once, on
 * stdout or in a file for its owner alone; it is never taken from a command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/hub_call.h"
#include "cli/say.h"

enum { LABEL_BYTES = 128, MAX_DAYS = 3650 };

static bool write_new(const struct arguments *arguments, struct text *params)
{
    static const char *const given[] = { "kind", "label" };
    struct json_writer writer = json_object_to(params);
    int64_t days = 0;

    if (!arguments_integer(arguments, "expires", 1, MAX_DAYS, &days) ||
        !arguments_are_short(arguments, "label", LABEL_BYTES))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        if (arguments_value(arguments, given[i])) /* an empty one is refused, not left out */
            json_write_text(&writer, given[i], arguments_value(arguments, given[i]));
    }
    json_write_bool_if(&writer, "sub_agent", arguments_value(arguments, "sub-agent") != NULL);
    json_write_bool_if(&writer, "may_answer", arguments_value(arguments, "may-answer") != NULL);
    if (days)
        json_write_integer(&writer, "expires_days", days);
    json_write_end_object(&writer);
    return true;
}

/* A token whose secret can't be written to the file is revoked. */
static bool save_secret(const struct arguments *arguments, struct client *link, const char *path,
                        const struct json *token)
{
    char *params = call_params("id", json_member_text(token, "id"));
    struct text line = { 0 };
    struct rpc_message reply = { 0 };
    struct error err, unused;
    bool ok;

    text_add_format(&line, "%s\n", json_member_text(token, "token"));
    ok = os_write_file(path, line.bytes, line.used, &err);
    explicit_bzero(line.bytes, line.used);
    text_release(&line);
    if (!ok) {
        client_call_and_wait(link, "token/revoke", params, &reply, &unused);
        say_error(arguments, &err, NULL);
    }
    rpc_release(&reply);
    free(params);
    return ok;
}

static bool finish_new(const struct arguments *arguments, struct client *link,
                       const struct json *token)
{
    const char *path = arguments_value(arguments, "out");
    const char *id = json_member_text(token, "id");
    struct json *shown;

    if (path && !save_secret(arguments, link, path, token))
        return false;
    shown = json_keep(token);
    if (path)
        json_drop_member(shown, "token");
    if (arguments->is_json)
        say_value(shown);
    else if (!path)
        printf("%s\n", json_member_text(token, "token"));
    if (path)
        say_note(TEXT_CLI_TOKEN_IN_FILE, "id", id, "file", path);
    else
        say_note(TEXT_CLI_TOKEN_MADE, "id", id);
    json_free(shown);
    return true;
}

/* In a column of its own: never longer than its least width, but for Chinese. */
static void print_times(const struct arguments *arguments, const struct json *token)
{
    const struct json *ends = json_member(token, "expires_at"),
                      *used = json_member(token, "used_at");
    struct text when = { 0 }, said = { 0 };

    say_add_time(arguments, &when, ends);
    printf("%-16s  ", json_text(ends) ? text_string(&when) : i18n_text(TEXT_TOKEN_NEVER));
    text_clear(&when);
    say_add_time(arguments, &when, used);
    if (json_text(used))
        i18n_format(&said, TEXT_TOKEN_USED, "time", text_string(&when), NULL);
    printf("%-26s  ", json_text(used) ? text_string(&said) : i18n_text(TEXT_TOKEN_UNUSED));
    text_release(&when);
    text_release(&said);
}

static void print_token(const struct arguments *arguments, const struct json *token)
{
    printf("%.8s  %-7s ", json_member_text(token, "id"), json_member_text(token, "kind"));
    print_times(arguments, token);
    say_words("\"", json_member_text(token, "label"), "\"");
    if (json_is_true(json_member(token, "sub_agent")))
        printf(" (%s)", i18n_text(TEXT_TOKEN_SUB_AGENT));
    if (json_is_true(json_member(token, "may_answer")))
        printf(" (%s)", i18n_text(TEXT_TOKEN_MAY_ANSWER));
    if (json_is_true(json_member(token, "expired")))
        printf(" (%s)", i18n_text(TEXT_TOKEN_EXPIRED));
    printf("\n");
}

static void print_revoked(const struct arguments *arguments, const struct json *token)
{
    (void)arguments;
    say_result(TEXT_CLI_TOKEN_REVOKED, "id", json_member_text(token, "id"), "label",
               json_member_text(token, "label"));
}

static const struct act acts[] = {
    { "list", 1, "token/list", .shown = "tokens", .print_item = print_token,
      .none = TEXT_CLI_NO_TOKENS },
    { "new", 1, "token/new", write_new, .finish = finish_new },
    { "revoke", 2, "token/revoke", act_write_id, .print = print_revoked },
};

static const struct verb_option options[] = {
    { "kind", 0, "agent|person|host", TEXT_OPT_TOKEN_KIND, false },
    { "label", 0, "TEXT", TEXT_OPT_TOKEN_LABEL, false },
    { "expires", 0, "DAYS", TEXT_OPT_TOKEN_EXPIRES, false },
    { "sub-agent", 0, NULL, TEXT_OPT_TOKEN_SUB_AGENT, false },
    { "may-answer", 0, NULL, TEXT_OPT_TOKEN_MAY_ANSWER, false },
    { "out", 0, "FILE", TEXT_OPT_TOKEN_OUT, false },
    { "utc", 0, NULL, TEXT_OPT_UTC, false },
};
static const char *const usage[] = {
    "token [list]",
    "token new [--kind agent|person|host] [--label TEXT] [--expires DAYS] [--sub-agent] "
    "[--may-answer] [--out FILE]",
    "token revoke ID", NULL
};
static const char *const examples[] = { "token new --label \"laptop\" --out ~/.sayso-token",
                                        "token new --kind person --expires 30", "token list",
                                        "token revoke 3f0c", NULL };
VERB_ACTS(token, TEXT_CLI_TOKEN, VERB_TABLES, .syntax = "list | new | revoke ID", .max_words = 2,
          .works_remotely = true);
