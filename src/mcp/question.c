/*
 * question.c - our requests to the client, which legacy revisions have: on the stream of the call
 * they are about, with ids of our own, answered by a response that names one exactly, withdrawn
 * where the answer came from elsewhere. What an id carries is for who does not know it.
 * Source: MCP 2025-11-25, client/elicitation.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/calls.h"

/* A text, so that no number of the client's is mistaken for it. */
static const char ID_BEGIN[] = "sayso-";

struct call_question {
    struct call_question *next;
    struct mcp_call *call;
    call_answered *done;
    void *context;
    char id[]; /* a number, and behind a dot what it carries */
};

static struct call_question *question_new(int64_t number, const char *carried)
{
    char *id = mem_format("%s%lld%s%s", ID_BEGIN, (long long)number, carried ? "." : "",
                          carried ? carried : "");
    struct call_question *question = mem_new(sizeof *question + strlen(id) + 1);

    memcpy(question->id, id, strlen(id) + 1);
    free(id);
    return question;
}

struct call_question *question_ask(struct mcp_call *call, const char *carried, const char *method,
                                   const char *params_json, call_answered *done, void *context)
{
    struct mcp *mcp = call->to.mcp;
    struct call_question *question;

    if (!call->to.stream || call->revision == REVISION_2026_07_28)
        return NULL;
    question = question_new(++mcp->next_question, carried);
    question->call = call;
    question->done = done;
    question->context = context;
    question->next = mcp->questions;
    mcp->questions = question;
    mcp_ask_client(&call->to, question->id, method, params_json);
    return question;
}

struct call_question *call_ask(struct mcp_call *call, const char *method, const char *params_json,
                               call_answered *done, void *context)
{
    return question_ask(call, NULL, method, params_json, done, context);
}

static struct call_question *unlink_at(struct call_question **at)
{
    struct call_question *question = *at;

    if (question)
        *at = question->next;
    return question;
}

/* The client need not go on with it. */
static void tell_withdrawn(const struct call_question *question)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!question->call->to.stream)
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "requestId", question->id);
    mcp_notify(&question->call->to, "notifications/cancelled", &writer);
}

void call_withdraw(struct call_question *question)
{
    struct call_question **at = &question->call->to.mcp->questions;

    while (*at && *at != question)
        at = &(*at)->next;
    unlink_at(at);
    tell_withdrawn(question);
    free(question);
}

/* It is no longer in the list, and forgotten before anybody is told: who is told may end the
 * call. */
static void end_question(struct call_question *question, enum call_answer answer,
                         const struct json *json)
{
    call_answered *done = question->done;
    void *context = question->context;

    if (answer == CALL_GONE)
        tell_withdrawn(question);
    free(question);
    done(context, answer, json);
}

void question_take_response(struct mcp *mcp, const struct jsonrpc_message *message)
{
    const char *id = json_text(message->id), *carried;
    struct call_question **at = &mcp->questions;

    if (!id || strlen(id) != json_length(message->id) ||
        strncmp(id, ID_BEGIN, sizeof ID_BEGIN - 1) != 0)
        return;
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    carried = strchr(id, '.');
    if (*at)
        end_question(unlink_at(at), message->error ? CALL_REFUSED : CALL_ANSWERED,
                     message->error ? message->error : message->result);
    else if (carried)
        takeover_take_response(mcp, carried + 1, message);
}

void question_drop_of(struct mcp_call *call)
{
    struct call_question **at = &call->to.mcp->questions;

    while (*at) {
        if ((*at)->call != call) {
            at = &(*at)->next;
            continue;
        }
        end_question(unlink_at(at), CALL_GONE, NULL);
        at = &call->to.mcp->questions; /* who was told may have asked or ended others */
    }
}
