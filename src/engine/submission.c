/* submission.c - see submission.h. */
#include "engine/submission.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/arguments.h"
#include "crypto/hash.h"
#include "engine/describe.h"

static void submission_drop(struct errand *errand)
{
    struct submission *submission = (struct submission *)errand;

    if (submission->call)
        ask_call_release(submission->call);
    free(submission->call);
    json_free(submission->response);
    text_release(&submission->form_json);
    free(submission->tag);
    free(submission->state);
    free(submission->earlier_json);
}

struct submission *submission_new(struct engine *engine, struct desk_visit *visit, desk_done *done,
                                  void *context)
{
    struct submission *submission = errand_new(sizeof *submission, engine, visit, done, context);

    submission->errand.drop = submission_drop;
    submission->call = mem_new(sizeof *submission->call);
    return submission;
}

void submission_match(struct submission *submission)
{
    const struct hash_part parts[] = {
        { submission->tool->name, strlen(submission->tool->name) },
        { submission->call->arguments_json, strlen(submission->call->arguments_json) },
    };

    hash_parts(parts, ARRAY_LEN(parts), submission->ask.digest);
    submission->match = live_match(&submission->ask);
}

/* For the next time, so that the front has it when this one's patience ends. */
static void write_state(const struct submission *submission, const char *id,
                        struct json_writer *writer)
{
    const struct errand *errand = &submission->errand;
    const struct round next = { .number = submission->terms.round.number + 1 };
    struct text state = { 0 };

    if (submission->terms.comes_back &&
        come_back_seal(errand->engine, submission->match.call, id, &next, &state))
        json_write_text(writer, "state", text_string(&state));
    text_release(&state);
}

/* The front learns the id as soon as it is safe, long before there is an answer. */
void submission_tell_created(const struct submission *submission, const char *id)
{
    struct engine *engine = submission->errand.engine;
    const struct live *live;
    struct text line, url = { 0 };
    struct json_writer writer = json_writer_to(&line);

    if (!submission->tag)
        return;
    live = live_find(engine, id);
    line = line_take(engine);
    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", "ask/created");
    json_write_object(&writer, "params");
    json_write_text(&writer, "tag", submission->tag);
    json_write_text(&writer, "session_id", id);
    if (live && live->deadline.place && state_is_open(live->state))
        json_write_integer(&writer, "remaining_ms",
                           live->deadline.boot_ms - engine_boot_ms(engine));
    if (live && state_is_open(live->state) && portal_write_url(engine, id, &url))
        json_write_text(&writer, "url", text_string(&url));
    text_release(&url);
    write_state(submission, id, &writer);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    visit_tell(submission->errand.visit, line.bytes, line.used);
    line_give(engine, &line);
}

void submission_park(struct submission *submission, struct live *live)
{
    struct errand *errand = &submission->errand;

    if (errand->visit->is_gone || live->state == STATE_PENDING_TERMINAL_LAUNCH)
        return; /* the latter waits for nobody: it is told a command, and collects later */
    wait_add(errand->engine, live, errand->visit, &submission->terms, errand->done,
             errand->context);
}

void submission_reply_launch(const struct submission *submission, struct live *live,
                             const struct error *failure)
{
    const struct errand *errand = &submission->errand;
    struct desk_reply reply = { 0 };

    if (live->state != STATE_PENDING_TERMINAL_LAUNCH || errand->visit->is_gone)
        return;
    if (failure) {
        reply.err = *failure;
        errand_reply(errand, &reply);
    } else if (submission->launch.text[0]) {
        launch_reply(errand->engine, errand->visit, live, &submission->launch, errand->done,
                     errand->context);
    } else {
        launch_renew(errand->engine, errand->visit, live, errand->done, errand->context);
    }
}

void submission_end_late(struct live *live, const struct error *failure)
{
    struct submission *late = live->late;

    live->late = NULL;
    while (late) {
        struct submission *next = late->next_late;

        if (!failure)
            submission_tell_created(late, live->id);
        submission_reply_launch(late, live, failure);
        errand_end(&late->errand);
        late = next;
    }
}

bool submission_refuse_key(struct error *err)
{
    return error_set(err, ERROR_conflicting_arguments, "/idempotency_key",
                     "this idempotency_key was used with other arguments: repeat them, or take "
                     "another key");
}
