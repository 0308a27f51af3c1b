/*
 * ask_back.c - a person asks back before deciding, and the agent explains (R2.2, R5.1). Both are
 * events of the ask, which stays open and gets its whole time again with each. A call that
 * waits for it is told the question immediately, one that comes later as soon as it comes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"
#include "engine/conversation/conversation.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

static bool check_text(const struct json *given, const char *path, int max, struct error *err)
{
    const char *text = json_text(given);
    char *any;

    if (!given)
        return error_say(err, ERROR_missing_property, path, TEXT_REASON_SAY_WHAT, NULL);
    if (!text || strlen(text) != json_length(given))
        return error_say(err, ERROR_bad_type, path, TEXT_REASON_BACK_TEXT, NULL);
    if (text_count(text, strlen(text)) > (size_t)max)
        return error_say(err, ERROR_too_long, path, TEXT_REASON_MOST_CHARACTERS, "limit",
                         TEXT_NUMBER(max), NULL);
    any = arguments_copy_if_any(text);
    if (!any)
        return error_say(err, ERROR_empty_text, path, TEXT_REASON_NOTHING_TO_READ, NULL);
    free(any);
    return true;
}

struct asking {
    struct operation operation; /* first; its text is the question */
    int64_t version;            /* the caller's If-Match; 0: any */
};

static void ask_back_found(struct operation *operation)
{
    const struct asking *asking = (const struct asking *)operation;

    if (question_is(operation->engine, operation->id)) {
        operation_say(operation, ERROR_wrong_state, "/session_id", TEXT_REASON_NOT_EXPLAINED, NULL);
        return;
    }
    change_say(EVENT_ASKED_BACK, operation_call(operation), operation->id, operation->text,
               asking->version);
    operation_end(operation);
}

void ask_back_method(struct method_call call)
{
    struct asking *asking = operation_new(sizeof *asking, call);
    const struct json *text = json_member(call.params, "text");
    struct error err;

    if (!operation_may(&asking->operation, check_text(text, "/text", LIMIT_SAID_CHARS, &err), &err))
        return;
    asking->operation.text = mem_text(json_text(text));
    asking->version = json_member_integer(call.params, "version", 0);
    operation_find_ask(&asking->operation, call.params, ask_back_found);
}

bool ask_back_is_news(const struct active_ask *active)
{
    return active->flags & ASK_ASKED_BACK && !active->is_back_told && state_is_open(active->state);
}

void ask_back_send_waiters(struct engine *engine, struct active_ask *active, const char *question)
{
    const struct store_row row = active_row(active);
    struct text result = { 0 };
    const struct reply reply = describe_open(engine, &row, NULL, question, &result);

    active->is_back_told = wait_tell_open(engine, active, &reply);
    text_release(&result);
}

static void on_asked_at_other_hub(void *context, const struct store_said *said,
                                  const struct error *err)
{
    struct asking *asking = context;
    struct active_ask *active;

    if (said) {
        free(asking->operation.text);
        asking->operation.text = said->event == EVENT_ASKED_BACK ? mem_text(said->text) : NULL;
        return;
    }
    active = active_find(asking->operation.engine, asking->operation.id);
    if (!err && active && asking->operation.text && ask_back_is_news(active))
        ask_back_send_waiters(asking->operation.engine, active, asking->operation.text);
    operation_end(&asking->operation);
}

void ask_back_send(struct engine *engine, const struct active_ask *active)
{
    struct store *store = engine->parts.store;
    struct asking *asking = operation_of_ours(sizeof *asking, engine, active->id);

    store->ops->list_said(store, active->id, on_asked_at_other_hub, asking);
}

/* What is asked back, read again for one who comes later. */
struct telling {
    struct operation operation; /* first */
    struct store_row row;       /* without its texts, but for the tool's name */
    struct text question;
};

static void telling_drop(struct operation *operation)
{
    text_release(&((struct telling *)operation)->question);
}

static void on_question(void *context, const struct store_said *said, const struct error *err)
{
    struct telling *telling = context;
    struct operation *operation = &telling->operation;
    struct reply reply;
    struct text result = { 0 };

    if (said) {
        text_clear(&telling->question);
        if (said->event == EVENT_ASKED_BACK)
            text_add_text(&telling->question, said->text);
        return;
    }
    if (err) {
        operation_fail(operation, err, NULL);
        return;
    }
    reply = describe_open(operation->engine, &telling->row, NULL,
                          telling->question.used ? text_string(&telling->question) : NULL, &result);
    notices_reply(operation_call(operation), &reply);
    text_release(&result);
    operation_end(operation);
}

void ask_back_reply(const struct operation *operation, const struct store_row *row)
{
    struct engine *engine = operation->engine;
    struct telling *telling = operation_new(sizeof *telling, operation_call(operation));
    const struct ask_tool *tool = row->ask.tool ? ask_tool_find(row->ask.tool) : NULL;
    struct active_ask *active = active_find(engine, row->ask.id);

    telling->operation.drop = telling_drop;
    telling->row.ask = (struct ask){ .tool = tool ? tool->name : NULL,
                                     .state = row->ask.state,
                                     .interface = row->ask.interface,
                                     .flags = row->ask.flags };
    memcpy(telling->row.ask.id, row->ask.id, sizeof row->ask.id);
    if (active)
        active->is_back_told = true;
    engine->parts.store->ops->list_said(engine->parts.store, row->ask.id, on_question, telling);
}

/* An agent's explanation on its way; afterwards it waits on. */
struct explaining {
    struct operation operation; /* first; its text is the explanation */
    struct wait_terms terms;
    bool is_said; /* the last that was said is this, and by the agent */
    int tries;    /* others may change the ask at the same moment */
};
enum { EXPLAIN_TRIES = 3 };

static void explain(struct explaining *own);

static void wait_on(struct explaining *own)
{
    struct operation *operation = &own->operation;

    if (!operation->session->is_gone)
        wait_begin(operation_call(operation), operation->id, &own->terms);
    operation_end(operation);
}

static void on_explained(void *context, const struct reply *reply)
{
    struct explaining *own = context;

    /* an ask that ended in the meantime is collected as usual */
    if (reply->err.code == ERROR_NONE || reply->err.code == ERROR_already_answered)
        wait_on(own);
    else if (reply->err.code == ERROR_wrong_state && own->tries < EXPLAIN_TRIES)
        explain(own);
    else
        operation_fail(&own->operation, &reply->err, reply->json);
}

/* Said before, by a call whose reply was lost: nothing to do but to wait. */
static void on_said_before(void *context, const struct store_said *said,
                           const struct error *failure)
{
    struct explaining *own = context;

    if (said) {
        own->is_said =
            said->event == EVENT_FORM_CHANGED && strcmp(said->text, own->operation.text) == 0;
    } else if (failure) {
        operation_fail(&own->operation, failure, NULL);
    } else if (own->is_said) {
        wait_on(own);
    } else {
        operation_say(&own->operation, ERROR_wrong_state, "/explanation", TEXT_REASON_NOBODY_ASKED,
                      NULL);
    }
}

static void explain(struct explaining *own)
{
    struct engine *engine = own->operation.engine;
    const struct active_ask *active = active_find(engine, own->operation.id);
    const struct method_call call = {
        engine, own->operation.session, NULL, on_explained, own, true
    };

    own->tries++;
    if (!active || strcmp(active->principal->id, own->operation.session->principal) != 0) {
        wait_on(own);
    } else if (active->flags & ASK_ASKED_BACK) {
        change_say(EVENT_FORM_CHANGED, call, own->operation.id, own->operation.text,
                   active->version);
    } else {
        engine->parts.store->ops->list_said(engine->parts.store, own->operation.id, on_said_before,
                                            own);
    }
}

void ask_back_explain(struct method_call call, const struct wait_terms *terms)
{
    struct explaining *own = operation_new(sizeof *own, call);
    const struct json *given = json_member(call.params, "explanation");
    const char *id = json_member_text(call.params, "session_id");
    struct error err;

    own->terms = *terms;
    memcpy(own->operation.id, id, sizeof own->operation.id);
    if (!operation_may(&own->operation,
                       check_text(given, "/explanation", LIMIT_EXPLANATION_CHARS, &err), &err))
        return;
    own->operation.text = mem_text(json_text(given));
    explain(own);
}

/* A choice, a note, or both; the summary is the note where there is nothing else. */
static void add_told(const struct json *told, struct text *out)
{
    const char *summary = json_member_text(told, "summary");
    const char *note = json_member_text(json_member(told, "answer"), "global_annotation");

    if (summary)
        visible_text(summary, strlen(summary), VISIBLE_LINES, out);
    if (!note || (summary && strcmp(summary, note) == 0))
        return;
    text_add_text(out, summary ? "; " : "");
    visible_text(note, strlen(note), VISIBLE_LINES, out);
}

void ask_back_write(const struct store_said *said, struct json_writer *writer)
{
    bool is_told = said->event == EVENT_TOLD;
    struct text shown = { 0 };
    struct json *told = is_told ? json_of(said->text) : NULL;

    if (is_told)
        add_told(told, &shown);
    else
        visible_text(said->text, strlen(said->text), VISIBLE_LINES, &shown);
    json_write_object(writer, NULL);
    json_write_text(writer, "by", said->event == EVENT_FORM_CHANGED ? "agent" : "person");
    json_write_bool_if(writer, "after_deadline", is_told);
    if (json_member(told, "confirmed"))
        json_write_bool(writer, "confirmed", json_is_true(json_member(told, "confirmed")));
    json_write_text_n(writer, "text", text_string(&shown), shown.used);
    describe_time(writer, "at", said->at_ms);
    json_write_end_object(writer);
    text_release(&shown);
    json_free(told);
}
