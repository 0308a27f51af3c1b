/* decide.c - one call that ends or changes an ask: cancel, decline, extend, reply, withdraw. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/say.h"
#include "core/limits.h"
#include "rpc/client.h"

struct decision {
    const char *method;
    enum text_id done; /* takes {title}, {id}, {seconds} */
    const char *id;    /* NULL: the only pending one */
    int64_t seconds;   /* 0: not sent */
    const char *text;  /* NULL: not sent */
};

static void write_params(const struct arguments *arguments, const struct decision *decision,
                         struct text *out)
{
    struct json_writer writer = json_object_to(out);
    const char *note = arguments_value(arguments, "note");

    if (decision->id) /* also an empty one, which is refused */
        json_write_text(&writer, "session_id", decision->id);
    if (note)
        json_write_text(&writer, "global_annotation", note);
    if (decision->seconds)
        json_write_integer(&writer, "seconds", decision->seconds);
    json_write_text_if(&writer, "text", decision->text);
    json_write_end_object(&writer);
}

/* The title makes the confirmation readable. Agents can't read asks, so they get the ID. */
static char *find_title(struct client *link, const char *id)
{
    char *params = call_params("session_id", id), *title = NULL;
    struct rpc_message got = { 0 };
    struct error err;

    if (client_call_and_wait(link, "ask/get", params, &got, &err)) {
        const char *found = json_member_text(json_member(got.result, "ask"), "title");

        title = mem_text(found);
    }
    rpc_release(&got);
    free(params);
    return title;
}

/* Agents give whole ids to the hub; who types may give the beginning of one of their own. */
static bool find_own(const struct arguments *arguments, struct client *link, const char *word,
                     char id[LIMIT_ID_CHARS + 1])
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);
    struct rpc_message reply = { 0 };
    const struct json *asks;
    struct error err;
    bool ok;

    json_write_text(&writer, "prefix", word);
    json_write_integer(&writer, "limit", 2);
    json_write_end_object(&writer);
    ok = call_hub(arguments, link, "mine/list", text_string(&params), &reply);
    asks = json_member(reply.result, "asks");
    if (ok && json_length(asks) != 1) {
        ok = json_length(asks) > 1
                 ? error_set(&err, ERROR_conflicting_arguments, "/session_id",
                             "more than one ask begins so: give the id, or more of it")
                 : error_say(&err, ERROR_not_found, "/session_id", TEXT_REASON_NO_SUCH_ASK, NULL);
        say_error(arguments, &err, NULL);
    }
    if (ok)
        snprintf(id, LIMIT_ID_CHARS + 1, "%s", json_member_text(json_item(asks, 0), "session_id"));
    rpc_release(&reply);
    text_release(&params);
    return ok;
}

static enum exit_code decide(const struct arguments *arguments,
                             const struct client_identity *identity, struct decision decision)
{
    char own[LIMIT_ID_CHARS + 1];
    struct rpc_message reply = { 0 };
    struct client *link = NULL;
    struct text params = { 0 };
    size_t length = decision.id ? strlen(decision.id) : 0;
    bool is_own_prefix =
        identity != &call_person && length < LIMIT_ID_CHARS && length >= LIMIT_ID_PREFIX_CHARS;
    bool ok = true;

    if (!call_open(arguments, identity, &link))
        return EXIT_ERROR;
    if (is_own_prefix) {
        ok = find_own(arguments, link, decision.id, own);
        decision.id = own;
    }
    write_params(arguments, &decision, &params);
    ok = ok && call_hub(arguments, link, decision.method, text_string(&params), &reply);
    if (ok && arguments->is_json) {
        say_value(reply.result);
    } else if (ok) {
        const char *id = json_member_text(reply.result, "session_id");
        char *title = identity == &call_person ? find_title(link, id) : NULL;

        say_result(decision.done, "title", title ? title : "", "id", id ? id : "", "seconds",
                   TEXT_NUMBER(decision.seconds));
        free(title);
    }
    rpc_release(&reply);
    text_release(&params);
    client_free(link);
    return ok ? EXIT_DONE : EXIT_ERROR;
}

static enum exit_code run_cancel(const struct arguments *arguments)
{
    return decide(arguments, &call_person,
                  (struct decision){ "ask/cancel", TEXT_CLI_CANCELLED, .id = arguments->words[0] });
}

static enum exit_code run_decline(const struct arguments *arguments)
{
    return decide(arguments, &call_person,
                  (struct decision){ "ask/decline", TEXT_CLI_DECLINED, .id = arguments->words[0] });
}

static enum exit_code run_extend(const struct arguments *arguments)
{
    struct decision decision = { "ask/extend", TEXT_CLI_EXTENDED, .id = arguments->words[0] };

    if (arguments->word_count < 2)
        return say_needs(arguments, "ID SECONDS");
    if (text_parse_integer(arguments->words[1], &decision.seconds) && decision.seconds >= 1 &&
        decision.seconds <= LIMIT_TIMEOUT_S)
        return decide(arguments, &call_person, decision);
    say_problem(TEXT_CLI_BAD_NUMBER, "name", "SECONDS", "least", "1", "most", "2592000");
    return EXIT_USAGE;
}

static enum exit_code run_reply(const struct arguments *arguments)
{
    size_t last = arguments->word_count - 1;

    if (arguments->word_count == 0)
        return say_needs(arguments, "[ID] TEXT");
    return decide(arguments, &call_person,
                  (struct decision){ "ask/back", TEXT_CLI_REPLIED,
                                     .id = last ? arguments->words[0] : NULL,
                                     .text = arguments->words[last] });
}

static enum exit_code run_withdraw(const struct arguments *arguments)
{
    struct decision decision = { "ask/withdraw", TEXT_CLI_WITHDRAWN, .id = arguments->words[0] };
    struct client_identity identity;
    char *directory;
    enum exit_code code;

    if (arguments->word_count == 0)
        return say_needs(arguments, "ID");
    directory = call_directory();
    identity = call_asker(arguments, directory);
    code = decide(arguments, &identity, decision);
    free(directory);
    return code;
}

static const struct verb_option note[] = { { "note", 'n', "TEXT", TEXT_OPT_NOTE, false } };
static const struct verb_option as[] = { { "as", 0, "NAME", TEXT_OPT_AS, false } };

VERB_ROW(cancel, TEXT_CLI_CANCEL,
         VERB_LINES("cancel [ID] [--note TEXT]", "cancel k3f7 --note 'not before the release'"),
         VERB_OPTIONS_OF(note), .max_words = 1, .works_remotely = true);
VERB_ROW(decline, TEXT_CLI_DECLINE, VERB_LINES("decline [ID] [--note TEXT]", "decline k3f7"),
         VERB_OPTIONS_OF(note), .max_words = 1, .works_remotely = true);
VERB_ROW(extend, TEXT_CLI_EXTEND, VERB_LINES("extend ID SECONDS", "extend k3f7 600"),
         .max_words = 2, .works_remotely = true);
VERB_ROW(reply, TEXT_CLI_REPLY,
         VERB_LINES("reply [ID] TEXT", "reply k3f7 'What happens to the old files?'"),
         .max_words = 2, .works_remotely = true);
VERB_ROW(withdraw, TEXT_CLI_WITHDRAW, VERB_LINES("withdraw ID [--as NAME]", "withdraw k3f7"),
         VERB_OPTIONS_OF(as), .max_words = 1, .works_remotely = true);
