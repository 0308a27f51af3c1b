#include "cli/gate/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/random.h"
#include "cli/hub_call.h"
#include "core/gate.h"
#include "core/limits.h"
#include "core/outcome.h"
#include "core/prompt.h"
#include "core/tools/arguments.h"

#define TAG "gate"

enum {
    TRIES = 3, /* a hub that dies is started again, the ask taken up by its key */
    USE_ID_BYTES = 100,
};

/* For agents, who get them as the hook's reason. */
static const char said_yes[] = "The user allowed this call once (matched: %s).";
static const char said_no[] =
    "The user denied this call (matched: %s). Don't work around it; ask what to do instead.";
static const char said_nothing[] =
    "Denied: no one answered in time (matched: %s). Don't work around it; ask the user.";
static const char wrote[] = " They wrote: %s";
static const char unreachable[] = "Denied: can't reach the user (%s)";
static const char hub_was_stopped[] = "the connection to the hub was lost";
static const char hub_is_gone[] = "the hub keeps stopping; run 'sayso doctor'";
static const char too_long[] =
    "Denied: the call is too long to review (matched: %s). Split it into smaller steps.";
static const char own_name[] = "sayso gate (%s)";

static void add_prompt(struct text *out, const struct gate_question *question, const char *tool)
{
    static const enum text_id kinds[] = {
        [GATE_TOOL] = TEXT_GATE_RULE_TOOL,
        [GATE_COMMAND] = TEXT_GATE_RULE_COMMAND,
        [GATE_WORD] = TEXT_GATE_RULE_WORD,
        [GATE_PATH] = TEXT_GATE_RULE_PATH,
    };

    i18n_format(out, TEXT_GATE_PROMPT, "client", question->client, "tool", tool, NULL);
    text_add_text(out, " ");
    i18n_format(out, kinds[question->match->kind], "rule", question->match->pattern, NULL);
    text_add_text(out, "\n");
    prompt_add_input(out, question->input, NULL, 0);
}

static void write_options(struct json_writer *writer)
{
    json_write_list(writer, "options");
    json_write_object(writer, NULL);
    json_write_text(writer, "id", "deny");
    json_write_text(writer, "label", i18n_text(TEXT_GATE_DENY));
    json_write_bool(writer, "recommended", true);
    json_write_end_object(writer);
    json_write_object(writer, NULL);
    json_write_text(writer, "id", "allow");
    json_write_text(writer, "label", i18n_text(TEXT_GATE_ALLOW));
    json_write_end_object(writer);
    json_write_end_list(writer);
}

/* False: it is too long to be shown whole. */
static bool write_params(const struct gate_question *question, struct text *out)
{
    struct json_writer writer = json_object_to(out);
    struct text title = { 0 }, prompt = { 0 };
    char tool[ARGUMENT_QUOTE_BYTES], key[USE_ID_BYTES + 32];
    const char *use_id = question->use_id;
    bool fits;

    /* a call of its own each time, so that an old yes is never given to a new one */
    random_id(key);
    if (use_id && *use_id && strlen(use_id) <= USE_ID_BYTES &&
        text_is_ascii(use_id, strlen(use_id)))
        snprintf(key, sizeof key, "gate:%s", use_id);
    arguments_quote(question->tool, strlen(question->tool), tool);
    i18n_format(&title, TEXT_GATE_TITLE, "tool", tool, NULL);
    add_prompt(&prompt, question, tool);
    fits = prompt.used <= LIMIT_PROMPT_BYTES;
    json_write_text(&writer, "tool", tool_provide_choice.name);
    json_write_object(&writer, "arguments");
    json_write_text(&writer, "title", text_string(&title));
    json_write_text(&writer, "prompt", text_string(&prompt));
    json_write_text(&writer, "selection_mode", "single");
    write_options(&writer);
    json_write_bool(&writer, "destructive", true);
    json_write_integer(&writer, "timeout_seconds", question->wait_s);
    json_write_text(&writer, "idempotency_key", key);
    json_write_end_object(&writer);
    json_write_text(&writer, "tag", TAG);
    json_write_integer(&writer, "wait_seconds", -1);
    json_write_end_object(&writer);
    text_release(&title);
    text_release(&prompt);
    return fits;
}

/* Only what a person said themselves, about this, is a yes. */
static void read_result(const struct gate_question *question, const struct json *result,
                        struct gate_answer *answer)
{
    enum ending ending = outcome_read(result);
    const struct json *selection = json_member(result, "selection");
    const char *picked = json_text(json_item(json_member(selection, "selected_ids"), 0));
    const char *note = json_member_text(selection, "global_annotation");
    const char *id = json_member_text(result, "session_id");

    if (id)
        snprintf(answer->session_id, sizeof answer->session_id, "%s", id);
    answer->is_allowed = ending == ENDING_ANSWERED && picked && strcmp(picked, "allow") == 0 &&
                         json_is_true(json_member(result, "explicit"));
    if (answer->is_allowed)
        text_add_format(&answer->reason, said_yes, question->match->pattern);
    else if (ending == ENDING_TIMEOUT)
        text_add_format(&answer->reason, said_nothing, question->match->pattern);
    else
        text_add_format(&answer->reason, said_no, question->match->pattern);
    if (note)
        text_add_format(&answer->reason, wrote, note);
}

/* Until it is over: a hook explains nothing to a person who asks back, and opens no terminal. */
static bool ask_and_wait(struct client *client, const struct text *params,
                         struct rpc_message *reply, struct error *err)
{
    const struct request request = {
        .method = METHOD_ask_create, .text = params, .wait_ms = -1, .tag = TAG
    };
    enum reply_kind kind;
    bool ok = client_request_and_wait(client, &request, reply, err);

    while (ok && (ok = rpc_read_kind(reply->root, &kind, err)) && kind != REPLY_FINAL) {
        const char *id = json_member_text(reply->result, "session_id");
        char *again = mem_format("{\"session_id\":\"%s\",\"wait_seconds\":-1}", id ? id : "");

        rpc_release(reply);
        ok = client_call_and_wait(client, "ask/wait", again, reply, err);
        free(again);
    }
    return ok;
}

void gate_ask(const struct gate_question *question, struct gate_answer *ret_answer)
{
    struct text params = { 0 };
    struct rpc_message reply = { 0 };
    struct error err;

    snprintf(ret_answer->name, sizeof ret_answer->name, own_name, question->client);
    ret_answer->directory = call_directory();
    ret_answer->identity = (struct client_identity){ .role = "agent",
                                                     .name = ret_answer->name,
                                                     .directory = ret_answer->directory };
    ret_answer->policy = client_for_ask;
    ret_answer->policy.max_losses = TRIES - 1;
    ret_answer->client =
        client_new(&ret_answer->identity, &ret_answer->policy, NULL, NULL, loop_boot_ms);
    if (!write_params(question, &params))
        text_add_format(&ret_answer->reason, too_long, question->match->pattern);
    else if (ask_and_wait(ret_answer->client, &params, &reply, &err))
        read_result(question, reply.result, ret_answer);
    else if (client_failure(ret_answer->client)->failure == FAILURE_AGAIN)
        text_add_format(&ret_answer->reason, unreachable, hub_is_gone);
    else if (client_failure(ret_answer->client)->failure == FAILURE_STOPPED)
        text_add_format(&ret_answer->reason, unreachable, hub_was_stopped);
    else
        text_add_format(&ret_answer->reason, unreachable, err.message);
    rpc_release(&reply);
    text_release(&params);
}

void gate_confirm(struct gate_answer *take_answer)
{
    if (take_answer->session_id[0])
        call_confirm(take_answer->client, take_answer->session_id, NULL);
    client_free(take_answer->client);
    free(take_answer->directory);
    text_release(&take_answer->reason);
}
