/*
 * conversation_decide.c - a person, or a host that may, answers or cancels the question of a
 * conversation. It is the ask that is decided (decide.c); who decided is told once the conversation
 * has gone on. What was decided before is told again, whatever happened since (R5.3).
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "engine/acts.h"
#include "engine/inside.h"
#include "engine/talk.h"

static void reply_loaded(struct errand *errand)
{
    saying_reply((struct saying *)errand, false);
}

static void reply_already(struct errand *errand)
{
    saying_reply((struct saying *)errand, true);
}

static void on_decided(void *context, const struct desk_reply *reply)
{
    struct saying *saying = context;
    struct json *ack = NULL;
    bool is_already;

    if (reply->err.code != ERROR_NONE) {
        struct error err = reply->err;

        err.path[0] = '\0'; /* of the ask, which is not what was spoken of */
        errand_fail(&saying->errand, &err, reply->json);
        return;
    }
    is_already = reply->json && json_parse(reply->json, strlen(reply->json), &ack, NULL) &&
                 json_is_yes(json_member(ack, "already"));
    json_free(ack);
    if (is_already || !question_add_decider(saying->errand.engine, saying))
        saying_load(saying, is_already ? reply_already : reply_loaded);
}

/* Who sends again what was decided is told so, whatever happened since (R5.3). */
static bool is_said_before(const struct saying *saying, const struct store_row *row,
                           const char *answer_json)
{
    if (saying->kind == SAID_CANCEL)
        return row->ask.state == STATE_CANCELLED;
    return row->ask.state == STATE_SUBMITTED && answer_json && row->answer_json &&
           strcmp(row->answer_json, answer_json) == 0;
}

static bool is_current(const struct saying *saying, struct error *err)
{
    return saying->if_version == 0 || saying->if_version == saying->talk.version ||
           error_set(err, ERROR_wrong_state, "/version",
                     "the conversation went on meanwhile: look at it again, then answer");
}

static void refuse(struct saying *saying, enum error_code code, const char *message)
{
    struct error err;

    error_set(&err, code, "", "%s", message);
    if (code == ERROR_unavailable)
        err.retry_after_s = 1;
    errand_fail(&saying->errand, &err, NULL);
}

static void decide(struct saying *saying, const char *params_json)
{
    struct json *params = NULL;
    enum ask_event event = saying->kind == SAID_CANCEL ? EVENT_CANCELLED : EVENT_ANSWERED;

    json_parse(params_json, strlen(params_json), &params, NULL);
    decide_question(event, saying->errand.engine, saying->errand.visit, saying->talk.ask_id, params,
                    on_decided, saying);
    json_free(params);
}

/* What the desk takes for an ask: by field, and canonical. */
static bool write_params(struct saying *saying, const struct store_row *row, struct text *out,
                         struct error *err)
{
    const char *form = row->ask.form_json;
    char *body;

    answer_release(&saying->answer);
    form_release(&saying->form);
    if (saying->kind == SAID_CANCEL) {
        body = json_encode(saying->body);
        text_add_text(out, body);
        free(body);
        return true;
    }
    if (!form_parse(form, strlen(form), &saying->form, err) ||
        !conversation_read_response(&saying->form, saying->body, &saying->answer, err))
        return false;
    answer_encode(&saying->form, &saying->answer, out);
    return true;
}

/* It fits another question: the one before, whose reply was lost on the way? */
static void on_earlier_row(void *context, const struct store_reply *reply)
{
    struct saying *saying = context;
    struct text params = { 0 };

    if (reply->outcome == STORE_DONE && write_params(saying, reply->row, &params, NULL) &&
        is_said_before(saying, reply->row, text_string(&params)))
        saying_load(saying, reply_already);
    else
        errand_fail(&saying->errand, &saying->failure, NULL);
    text_release(&params);
}

static void refuse_or_look_back(struct saying *saying, const struct error *err)
{
    struct store *store = saying->errand.engine->parts.store;

    saying->failure = *err;
    if (saying->kind == SAID_RESPONSE && saying->talk.earlier_ask_id[0])
        store->ops->get(store, saying->talk.earlier_ask_id, on_earlier_row, saying);
    else
        errand_fail(&saying->errand, err, NULL);
}

static void on_asked_row(void *context, const struct store_reply *reply)
{
    struct saying *saying = context;
    const struct talk *talk = &saying->talk;
    bool is_waiting = talk->machine.state == CONVERSATION_AWAITING;
    struct text params = { 0 };
    struct error err = reply->err, changed;
    bool is_good;

    if (reply->outcome == STORE_FAILED) {
        errand_fail(&saying->errand, &err, NULL);
        return;
    }
    if (reply->outcome != STORE_DONE) {
        if (is_waiting)
            refuse(saying, ERROR_unavailable, "the question is being asked: try again");
        else
            saying_refuse(saying);
        return;
    }
    is_good = write_params(saying, reply->row, &params, &err);
    if (!state_is_open(reply->row->ask.state) &&
        is_said_before(saying, reply->row, is_good ? text_string(&params) : NULL))
        saying_load(saying, reply_already);
    else if (!is_waiting)
        saying_refuse(saying);
    else if (!is_current(saying, &changed))
        refuse_or_look_back(saying, &changed);
    else if (is_good)
        decide(saying, text_string(&params));
    else if (state_is_open(reply->row->ask.state))
        refuse_or_look_back(saying, &err);
    else
        refuse(saying, ERROR_already_answered, "somebody was faster");
    text_release(&params);
}

void question_decide(struct errand *errand)
{
    struct saying *saying = (struct saying *)errand;
    struct store *store = errand->engine->parts.store;

    if (saying->talk.ask_id[0])
        store->ops->get(store, saying->talk.ask_id, on_asked_row, saying);
    else
        saying_refuse(saying);
}
