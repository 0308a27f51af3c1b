/*
 * question.c - a question of a conversation is an ask like any other (R3.5). The
 * conversation is kept first, with the id its ask will have; the hub that starts next makes the
 * ask if it is not there. A session of our own waits for it as an agent does. The ask decides; when
 * it is over its end is said to the conversation, which counts it as delivered in the same
 * transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/ask/submit.h"
#include "engine/conversation/conversation.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"

static const int64_t QUESTION_RETRY_MS = 5000; /* what could not be kept */
static const int64_t QUESTION_LOOK_MS = 200;
enum { QUESTION_OTHERS_LOOKS = 10 };

/* One for each conversation that waits for a person. */
struct question {
    struct table_link link;
    char ask_id[ASK_ID_BYTES];
    char id[ASK_ID_BYTES]; /* of the conversation */
    struct engine *engine;
    struct session *session; /* ours; it waits for the ask */
    int others_looks;        /* so often it is left to another hub to make the ask */
    struct alarm alarm;
    struct conversation_operation *deciders; /* told once the conversation has gone on */
};

static struct question *question_find(const struct engine *engine, const char *ask_id)
{
    struct table_link *link = table_find(&engine->questions, ask_id);

    return link ? TABLE_THING(question, link, link) : NULL;
}

bool question_is(const struct engine *engine, const char *ask_id)
{
    return question_find(engine, ask_id);
}

static void question_free(struct question *question)
{
    struct engine *engine = question->engine;

    alarm_clear(&engine->alarms, &question->alarm);
    table_remove(&engine->questions, &question->link);
    session_close(&engine->service, question->session);
    free(question);
}

static void retry_later(struct question *question, const struct error *err)
{
    struct engine *engine = question->engine;

    log_error("conversation.question_failed", "conversation=%s reason=%s", question->id,
              error_name(err->code));
    alarm_in(engine, &question->alarm, QUESTION_RETRY_MS);
}

/* Its end */

static void on_settled(struct conversation_operation *update)
{
    struct question *question = question_find(update->operation.engine, update->asked);

    if (question && update->failure.code != ERROR_NONE) {
        retry_later(question, &update->failure);
    } else if (question) {
        for (struct conversation_operation *decider = question->deciders, *next; decider;
             decider = next) {
            next = decider->next;
            conversation_operation_load(decider, conversation_operation_reply_loaded);
        }
        question_free(question);
    }
    operation_end(&update->operation);
}

static bool read_end(struct conversation_operation *update, const struct store_row *row,
                     struct error *err)
{
    const char *form = row->ask.form_json, *given = row->answer_json;
    struct json *answer = NULL;
    bool ok = true;

    switch (row->ask.state) {
    case STATE_SUBMITTED:
        update->kind = SAID_RESPONSE;
        ok = form_parse(form, strlen(form), &update->form, err) &&
             json_parse(given ? given : "", given ? strlen(given) : 0, &answer, err) &&
             answer_check(&update->form, answer, &update->answer, err);
        json_free(answer);
        return ok;
    case STATE_TIMEOUT:
    case STATE_AUTO_SUBMITTED:
        update->kind = SAID_EXPIRED;
        return true;
    default: /* a no, no matter who said it */
        update->kind = SAID_CANCEL;
        return true;
    }
}

static void on_ended_row(void *context, const struct store_reply *reply)
{
    struct question *question = context;
    struct conversation_operation *update;
    struct error err = reply->err;

    if (reply->outcome != STORE_DONE) {
        if (reply->outcome != STORE_FAILED)
            error_set(&err, ERROR_not_found, "", "its ask is gone");
        retry_later(question, &err);
        return;
    }
    update = conversation_operation_new((struct method_call){ .engine = question->engine });
    memcpy(update->operation.id, question->id, sizeof update->operation.id);
    memcpy(update->asked, question->ask_id, sizeof update->asked);
    update->after = on_settled;
    if (!read_end(update, reply->row, &err)) {
        retry_later(question, &err);
        operation_end(&update->operation);
        return;
    }
    CRASH_POINT(engine_question_over);
    conversation_operation_load(update, conversation_operation_step);
}

static void on_over(void *context, const struct reply *reply)
{
    struct question *question = context;
    struct store *store = question->engine->parts.store;
    struct error err = reply->err;

    if (err.code == ERROR_NONE && reply->kind == REPLY_FINAL) {
        store->ops->get(store, question->ask_id, 0, on_ended_row, question);
        return;
    }
    if (err.code == ERROR_NONE)
        error_set(&err, ERROR_unavailable, "", "its ask is still open");
    retry_later(question, &err);
}

/* Its beginning */

static struct method_call question_call(struct question *question)
{
    struct engine *engine = question->engine;

    return (struct method_call){ engine, question->session, NULL, on_over, question, false };
}

static void on_conversation(void *context, const struct store_conversation *stored,
                            const struct error *err)
{
    struct question *question = context;
    struct conversation_record record = { 0 };
    struct error failure = { 0 };

    if (!stored && err) {
        retry_later(question, err);
        return;
    }
    CRASH_POINT(engine_question_begins);
    if (!stored || !conversation_record_read(&record, stored, &failure) ||
        record.machine.state != CONVERSATION_AWAITING ||
        strcmp(record.ask_id, question->ask_id) != 0)
        question_free(question); /* nothing of it is to be asked any more */
    else
        submit_question(question_call(question), question->ask_id, &record.machine);
    conversation_record_release(&record);
}

static void on_ask(void *context, const struct store_reply *reply)
{
    struct question *question = context;
    struct engine *engine = question->engine;
    struct store *store = engine->parts.store;
    const struct wait_terms terms = { .wait_ms = -1 };

    if (reply->outcome == STORE_DONE) {
        wait_begin(question_call(question), question->ask_id, &terms);
    } else if (reply->outcome == STORE_MISSING && question->others_looks > 0) {
        question->others_looks--; /* who has the question makes the ask; if it can't, we do */
        alarm_in(engine, &question->alarm, QUESTION_LOOK_MS);
    } else if (reply->outcome == STORE_MISSING) {
        store->ops->get_conversation(store, question->id, on_conversation, question);
    } else {
        retry_later(question, &reply->err);
    }
}

void question_on_alarm(struct engine *engine, struct alarm *alarm)
{
    struct store *store = engine->parts.store;
    struct question *question =
        (struct question *)(void *)((char *)alarm - offsetof(struct question, alarm));

    store->ops->get(store, question->ask_id, 0, on_ask, question);
}

static void begin(struct engine *engine, const char *id, const char *ask_id, const char *token_id,
                  const char *label, bool is_others)
{
    const struct identity identity = {
        .role = ROLE_AGENT,
        .via = "",
        .uid = -1,
        .tty = "",
        .name = label,
        .token = label,
        .token_id = token_id,
    };
    struct question *question;

    if (!ask_id_is_valid(ask_id) || question_find(engine, ask_id))
        return;
    question = mem_new(sizeof *question);
    question->engine = engine;
    question->alarm.kind = ALARM_QUESTION;
    memcpy(question->id, id, sizeof question->id);
    memcpy(question->ask_id, ask_id, sizeof question->ask_id);
    question->session = session_open(&engine->service, &identity);
    table_insert(&engine->questions, &question->link);
    question->others_looks = is_others ? QUESTION_OTHERS_LOOKS : 0;
    question_on_alarm(engine, &question->alarm);
}

void question_begin(struct engine *engine, const struct conversation_record *record)
{
    begin(engine, record->id, record->ask_id, record->token_id, record->label, false);
}

static void on_waiting(void *context, const struct store_conversation *stored,
                       const struct error *err)
{
    struct engine *engine = context;

    if (err)
        log_error("conversation.not_taken_up", "reason=%s", error_name(err->code));
    if (stored && ask_id_is_valid(stored->id))
        begin(engine, stored->id, stored->ask_id, stored->token_id, stored->label,
              follow_is_shared(engine));
}

void questions_init(struct engine *engine)
{
    engine->questions = TABLE_OF(question, link, ask_id);
}

void questions_load(struct engine *engine)
{
    const struct store_conversation_query waiting = {
        .state = conversation_state_names[CONVERSATION_AWAITING],
        .limit = INT32_MAX,
    };
    struct store *store = engine->parts.store;

    store->ops->list_conversations(store, &waiting, on_waiting, engine);
}

static void on_followed(void *context, const struct store_conversation *stored,
                        const struct error *err)
{
    struct operation *operation = context;
    struct conversation_record record = { 0 };

    if (stored && conversation_record_read(&record, stored, NULL)) {
        conversation_publish(operation->engine, &record);
        if (record.machine.state == CONVERSATION_AWAITING)
            begin(operation->engine, record.id, record.ask_id, record.token_id, record.label, true);
    } else if (err) {
        log_warning("conversation.not_followed", "reason=%s", error_name(err->code));
    }
    conversation_record_release(&record);
    operation_end(operation);
}

void question_follow(struct engine *engine, const char *conversation_id)
{
    struct store *store = engine->parts.store;

    store->ops->get_conversation(store, conversation_id, on_followed,
                                 operation_of_ours(sizeof(struct operation), engine, NULL));
}

/* The store is closed by now. */
void questions_release(struct engine *engine)
{
    struct table_link *next;

    for (struct table_link *link = table_each(&engine->questions, NULL); link; link = next) {
        struct question *question = TABLE_THING(question, link, link);

        next = table_each(&engine->questions, link);
        while (question->deciders) {
            struct conversation_operation *decider = question->deciders;

            question->deciders = decider->next;
            operation_end(&decider->operation);
        }
        wait_forget_session(engine, question->session);
        question_free(question);
    }
    table_release(&engine->questions);
}

/* Told when the conversation has gone on behind this ask; false: it has no question of that id. */
static bool question_add_decider(struct engine *engine, struct conversation_operation *update)
{
    struct question *question;

    /* asked at another hub, the news of it still to come */
    question_begin(engine, &update->record);
    question = question_find(engine, update->record.ask_id);
    if (!question)
        return false;
    update->next = question->deciders;
    question->deciders = update;
    return true;
}

/* A person, or a host that may, answers or cancels the question of a conversation. It is the ask
 * that is decided (engine/ask/decide.c); who decided is told once the conversation has gone on.
 * What was decided before is told again, whatever happened since (R5.3). */

static void reply_already(struct operation *operation)
{
    conversation_operation_reply((struct conversation_operation *)operation, true);
}

static void on_decided(void *context, const struct reply *reply)
{
    struct conversation_operation *update = context;
    struct json *ack;
    bool is_already;

    if (reply->err.code != ERROR_NONE) {
        struct error err = reply->err;

        err.path[0] = '\0'; /* of the ask, which is not what was spoken of */
        operation_fail(&update->operation, &err, reply->json);
        return;
    }
    ack = json_of(reply->json);
    is_already = json_is_true(json_member(ack, "already"));
    json_free(ack);
    if (is_already || !question_add_decider(update->operation.engine, update))
        conversation_operation_load(update, is_already ? reply_already
                                                       : conversation_operation_reply_loaded);
}

/* Who sends again what was decided is told so, whatever happened since (R5.3). */
static bool is_said_before(const struct conversation_operation *update, const struct store_row *row,
                           const char *answer_json)
{
    if (update->kind == SAID_CANCEL)
        return row->ask.state == STATE_CANCELLED;
    return row->ask.state == STATE_SUBMITTED && answer_json && row->answer_json &&
           strcmp(row->answer_json, answer_json) == 0;
}

static void refuse(struct conversation_operation *update, enum error_code code, enum text_id text)
{
    struct error err;

    error_say(&err, code, "", text, NULL);
    if (code == ERROR_unavailable)
        err.retry_after_s = 1;
    operation_fail(&update->operation, &err, NULL);
}

static void decide(struct conversation_operation *update, const char *params_json)
{
    struct json *params = json_of(params_json);
    enum ask_event event = update->kind == SAID_CANCEL ? EVENT_CANCELLED : EVENT_ANSWERED;

    decide_question(event,
                    (struct method_call){ update->operation.engine, update->operation.session,
                                          params, on_decided, update, true },
                    update->record.ask_id);
    json_free(params);
}

/* What the service takes for an ask: by field, and canonical. */
static bool write_params(struct conversation_operation *update, const struct store_row *row,
                         struct text *out, struct error *err)
{
    const char *form = row->ask.form_json;

    answer_release(&update->answer);
    form_release(&update->form);
    if (update->kind == SAID_CANCEL) {
        json_add(out, update->body);
        return true;
    }
    if (!form_parse(form, strlen(form), &update->form, err) ||
        !conversation_read_response(&update->form, update->body, &update->answer, err))
        return false;
    answer_encode(&update->form, &update->answer, out);
    return true;
}

/* It fits another question: the one before, whose reply was lost on the way? */
static void on_earlier_row(void *context, const struct store_reply *reply)
{
    struct conversation_operation *update = context;
    struct text params = { 0 };

    if (reply->outcome == STORE_DONE && write_params(update, reply->row, &params, NULL) &&
        is_said_before(update, reply->row, text_string(&params)))
        conversation_operation_load(update, reply_already);
    else
        operation_fail(&update->operation, &update->failure, NULL);
    text_release(&params);
}

static void refuse_or_read_again(struct conversation_operation *update, const struct error *err)
{
    struct store *store = update->operation.engine->parts.store;

    update->failure = *err;
    if (update->kind == SAID_RESPONSE && update->record.earlier_ask_id[0])
        store->ops->get(store, update->record.earlier_ask_id, 0, on_earlier_row, update);
    else
        operation_fail(&update->operation, err, NULL);
}

static void on_asked_row(void *context, const struct store_reply *reply)
{
    struct conversation_operation *update = context;
    const struct conversation_record *record = &update->record;
    bool is_waiting = record->machine.state == CONVERSATION_AWAITING;
    struct text params = { 0 };
    struct error err;
    bool is_good;

    if (operation_fails(&update->operation, reply))
        return;
    if (reply->outcome != STORE_DONE) {
        if (is_waiting)
            refuse(update, ERROR_unavailable, TEXT_REASON_BEING_ASKED);
        else
            conversation_operation_refuse(update);
        return;
    }
    is_good = write_params(update, reply->row, &params, &err);
    if (!state_is_open(reply->row->ask.state) &&
        is_said_before(update, reply->row, is_good ? text_string(&params) : NULL)) {
        conversation_operation_load(update, reply_already);
    } else if (!is_waiting) {
        conversation_operation_refuse(update);
    } else if (update->if_version != 0 && update->if_version != record->version) {
        error_set(&err, ERROR_wrong_state, "/version",
                  "the conversation has changed: review it, then answer");
        refuse_or_read_again(update, &err);
    } else if (is_good) {
        decide(update, text_string(&params));
    } else if (state_is_open(reply->row->ask.state)) {
        refuse_or_read_again(update, &err);
    } else {
        refuse(update, ERROR_already_answered, TEXT_REASON_FASTER);
    }
    text_release(&params);
}

void question_decide(struct operation *operation)
{
    struct conversation_operation *update = (struct conversation_operation *)operation;
    struct store *store = operation->engine->parts.store;

    if (update->record.ask_id[0])
        store->ops->get(store, update->record.ask_id, 0, on_asked_row, update);
    else
        conversation_operation_refuse(update);
}
