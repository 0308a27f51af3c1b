/*
 * ask_back.c - a person asks back before deciding, and the agent explains (R2.2, R5.1). Both are
 * events of the ask, which stays open and gets its whole time anew with each. Who waits for it is
 * told what is asked at once; who comes later, as soon as it comes.
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

static bool check_text(const struct json *given, const char *path, int most, struct error *err)
{
    const char *text = json_text(given);
    char *any;

    if (!given)
        return error_say(err, ERROR_missing_property, path, TEXT_REASON_SAY_WHAT, NULL);
    if (!text || strlen(text) != json_length(given))
        return error_say(err, ERROR_bad_type, path, TEXT_REASON_BACK_TEXT, NULL);
    if (text_count(text, strlen(text)) > (size_t)most)
        return error_say(err, ERROR_too_long, path, TEXT_REASON_MOST_CHARACTERS, "limit",
                         TEXT_NUMBER(most), NULL);
    any = arguments_copy_if_any(text);
    if (!any)
        return error_say(err, ERROR_empty_text, path, TEXT_REASON_NOTHING_TO_READ, NULL);
    free(any);
    return true;
}

struct asking {
    struct errand errand; /* first; its text is the question */
    int64_t version;      /* the caller's If-Match; 0: any */
};

static void ask_back_found(struct errand *errand)
{
    const struct asking *asking = (const struct asking *)errand;

    if (question_is(errand->engine, errand->id)) {
        errand_say(errand, ERROR_wrong_state, "/session_id", TEXT_REASON_NOT_EXPLAINED, NULL);
        return;
    }
    retime_say(EVENT_ASKED_BACK, errand_call(errand), errand->id, errand->text, asking->version);
    errand_end(errand);
}

void ask_back_method(struct method_call call)
{
    struct asking *asking = errand_new(sizeof *asking, call);
    const struct json *text = json_member(call.params, "text");
    struct error err;

    if (!errand_may(&asking->errand, check_text(text, "/text", LIMIT_SAID_CHARS, &err), &err))
        return;
    asking->errand.text = mem_text(json_text(text));
    asking->version = json_member_integer(call.params, "version", 0);
    errand_find_ask(&asking->errand, call.params, ask_back_found);
}

bool back_is_news(const struct live *live)
{
    return live->flags & ASK_ASKED_BACK && !live->is_back_told && state_is_open(live->state);
}

void back_tell_waiters(struct engine *engine, struct live *live, const char *question)
{
    const struct store_row row = live_row(live);
    struct text result = { 0 };
    const struct reply reply = describe_open(engine, &row, NULL, question, &result);

    live->is_back_told = wait_tell_open(engine, live, &reply);
    text_release(&result);
}

static void on_asked_elsewhere(void *context, const struct store_said *said,
                               const struct error *err)
{
    struct asking *asking = context;
    struct live *live;

    if (said) {
        free(asking->errand.text);
        asking->errand.text = said->event == EVENT_ASKED_BACK ? mem_text(said->text) : NULL;
        return;
    }
    live = live_find(asking->errand.engine, asking->errand.id);
    if (!err && live && asking->errand.text && back_is_news(live))
        back_tell_waiters(asking->errand.engine, live, asking->errand.text);
    errand_end(&asking->errand);
}

void back_tell_of(struct engine *engine, const struct live *live)
{
    struct store *store = engine->parts.store;
    struct asking *asking = errand_of_ours(sizeof *asking, engine, live->id);

    store->ops->list_said(store, live->id, on_asked_elsewhere, asking);
}

/* What is asked back, read again for one who comes later. */
struct telling {
    struct errand errand; /* first */
    struct store_row row; /* without its texts, but for the tool's name */
    struct text question;
};

static void telling_drop(struct errand *errand)
{
    text_release(&((struct telling *)errand)->question);
}

static void on_question(void *context, const struct store_said *said, const struct error *err)
{
    struct telling *telling = context;
    struct errand *errand = &telling->errand;
    struct reply reply;
    struct text result = { 0 };

    if (said) {
        text_clear(&telling->question);
        if (said->event == EVENT_ASKED_BACK)
            text_add_text(&telling->question, said->text);
        return;
    }
    if (err) {
        errand_fail(errand, err, NULL);
        return;
    }
    reply = describe_open(errand->engine, &telling->row, NULL,
                          telling->question.used ? text_string(&telling->question) : NULL, &result);
    notices_reply(errand_call(errand), &reply);
    text_release(&result);
    errand_end(errand);
}

void back_reply(const struct errand *errand, const struct store_row *row)
{
    struct engine *engine = errand->engine;
    struct telling *telling = errand_new(sizeof *telling, errand_call(errand));
    const struct ask_tool *tool = row->ask.tool ? ask_tool_find(row->ask.tool) : NULL;
    struct live *live = live_find(engine, row->ask.id);

    telling->errand.drop = telling_drop;
    telling->row.ask = (struct ask){ .tool = tool ? tool->name : NULL,
                                     .state = row->ask.state,
                                     .interface = row->ask.interface,
                                     .flags = row->ask.flags };
    memcpy(telling->row.ask.id, row->ask.id, sizeof row->ask.id);
    if (live)
        live->is_back_told = true;
    engine->parts.store->ops->list_said(engine->parts.store, row->ask.id, on_question, telling);
}

/* An agent's explanation on its way; afterwards it waits on. */
struct explaining {
    struct errand errand; /* first; its text is the explanation */
    struct wait_terms terms;
    bool is_said; /* the last that was said is this, and by the agent */
    int tries;    /* others may change the ask at the same moment */
};
enum { EXPLAIN_TRIES = 3 };

static void explain(struct explaining *own);

static void wait_on(struct explaining *own)
{
    struct errand *errand = &own->errand;

    if (!errand->session->is_gone)
        wait_begin(errand_call(errand), errand->id, &own->terms);
    errand_end(errand);
}

static void on_explained(void *context, const struct reply *reply)
{
    struct explaining *own = context;

    /* what is over meanwhile is collected as ever */
    if (reply->err.code == ERROR_NONE || reply->err.code == ERROR_already_answered)
        wait_on(own);
    else if (reply->err.code == ERROR_wrong_state && own->tries < EXPLAIN_TRIES)
        explain(own);
    else
        errand_fail(&own->errand, &reply->err, reply->json);
}

/* Said before, by a call whose reply was lost: nothing to do but to wait. */
static void on_said_before(void *context, const struct store_said *said,
                           const struct error *failure)
{
    struct explaining *own = context;

    if (said) {
        own->is_said =
            said->event == EVENT_FORM_CHANGED && strcmp(said->text, own->errand.text) == 0;
    } else if (failure) {
        errand_fail(&own->errand, failure, NULL);
    } else if (own->is_said) {
        wait_on(own);
    } else {
        errand_say(&own->errand, ERROR_wrong_state, "/explanation", TEXT_REASON_NOBODY_ASKED, NULL);
    }
}

static void explain(struct explaining *own)
{
    struct engine *engine = own->errand.engine;
    const struct live *live = live_find(engine, own->errand.id);
    const struct method_call call = { engine, own->errand.session, NULL, on_explained, own, true };

    own->tries++;
    if (!live || strcmp(live->principal->id, own->errand.session->principal) != 0) {
        wait_on(own);
    } else if (live->flags & ASK_ASKED_BACK) {
        retime_say(EVENT_FORM_CHANGED, call, own->errand.id, own->errand.text, live->version);
    } else {
        engine->parts.store->ops->list_said(engine->parts.store, own->errand.id, on_said_before,
                                            own);
    }
}

void back_explain(struct method_call call, const struct wait_terms *terms)
{
    struct explaining *own = errand_new(sizeof *own, call);
    const struct json *given = json_member(call.params, "explanation");
    const char *id = json_member_text(call.params, "session_id");
    struct error err;

    own->terms = *terms;
    memcpy(own->errand.id, id, sizeof own->errand.id);
    if (!errand_may(&own->errand, check_text(given, "/explanation", LIMIT_EXPLANATION_CHARS, &err),
                    &err))
        return;
    own->errand.text = mem_text(json_text(given));
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

void back_write(const struct store_said *said, struct json_writer *writer)
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
        json_write_bool(writer, "confirmed", json_is_yes(json_member(told, "confirmed")));
    json_write_text_n(writer, "text", text_string(&shown), shown.used);
    describe_time(writer, "at", said->at_ms);
    json_write_end_object(writer);
    text_release(&shown);
    json_free(told);
}
