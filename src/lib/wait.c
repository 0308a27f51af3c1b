/* wait.c - the host program's poll() or ours, and on top of it questions asked in one call. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "lib/inside.h"

enum { CONFIRM_LIMIT_MS = 5000 };

/* Milliseconds until sayso_dispatch is due, and on what it is before. */
static int wait_for(const struct sayso *sayso, struct pollfd *ret_poll)
{
    int wait_ms = client_wait_for(sayso->client, ret_poll);
    int64_t wake_ms = request_wake_ms(sayso), left_ms = wake_ms - handle_now_ms();

    if (wake_ms < 0)
        return wait_ms;
    left_ms = left_ms < 0 ? 0 : left_ms > 3600000 ? 3600000 : left_ms;
    return wait_ms < 0 || left_ms < wait_ms ? (int)left_ms : wait_ms;
}

int sayso_fd(const struct sayso *sayso)
{
    struct pollfd ready = { .fd = -1 };

    if (sayso)
        wait_for(sayso, &ready);
    return ready.fd;
}

int sayso_events(const struct sayso *sayso)
{
    struct pollfd ready = { 0 };

    if (sayso)
        wait_for(sayso, &ready);
    return ready.events;
}

int sayso_timeout_ms(const struct sayso *sayso)
{
    struct pollfd ready;

    return sayso ? wait_for(sayso, &ready) : -1;
}

int sayso_dispatch(struct sayso *sayso)
{
    if (!sayso)
        return 0;
    sayso->error[0] = '\0';
    handle_advance(sayso);
    return (int)request_count_over(sayso);
}

/* One round of our own poll(), until then at the latest (-1: no limit). */
static void pass_time(struct sayso *sayso, int64_t until_ms)
{
    struct pollfd ready;
    int wait_ms = wait_for(sayso, &ready);
    int64_t left_ms = until_ms < 0 ? -1 : until_ms - handle_now_ms();

    if (until_ms >= 0 && left_ms < 0)
        left_ms = 0;
    if (left_ms >= 0 && (wait_ms < 0 || wait_ms > left_ms))
        wait_ms = (int)left_ms;
    poll(&ready, 1, wait_ms);
    handle_advance(sayso);
}

static int64_t limit_of(int timeout_ms)
{
    return timeout_ms < 0 ? -1 : handle_now_ms() + timeout_ms;
}

static bool is_past(int64_t until_ms)
{
    return until_ms >= 0 && handle_now_ms() >= until_ms;
}

int sayso_connect(struct sayso *sayso, int timeout_ms)
{
    int64_t until_ms = limit_of(timeout_ms);

    if (!sayso)
        return SAYSO_MISUSE;
    sayso->error[0] = '\0';
    sayso->give_up_code = SAYSO_OK;
    handle_identify(sayso);
    client_open(sayso->client);
    sayso->is_connecting = true;
    handle_advance(sayso);
    while (sayso->is_connecting && !is_past(until_ms))
        pass_time(sayso, until_ms);
    if (sayso->is_connecting)
        return SAYSO_PENDING;
    return sayso->give_up_code;
}

int sayso_wait(struct sayso_request *request, int timeout_ms)
{
    int64_t until_ms = limit_of(timeout_ms);

    if (!request)
        return SAYSO_MISUSE;
    handle_advance(request->sayso);
    while (request->code == SAYSO_PENDING && !is_past(until_ms))
        pass_time(request->sayso, until_ms);
    return (int)request->code;
}

struct sayso_request *sayso_wait_any(struct sayso *sayso, int timeout_ms)
{
    int64_t until_ms = limit_of(timeout_ms);
    struct sayso_request *over;

    if (!sayso)
        return NULL;
    handle_advance(sayso);
    while (!(over = request_find_over(sayso)) && request_is_waiting(sayso) && !is_past(until_ms))
        pass_time(sayso, until_ms);
    return over;
}

void sayso_release(char *text)
{
    free(text);
}

/* Takes the request to its end. The answer counts as delivered once the hub knows, or after a
 * while: it would be given once more, which is the safe side. */
static void finish(struct sayso_request *take_request)
{
    struct sayso *sayso = take_request->sayso;
    int64_t until_ms = limit_of(CONFIRM_LIMIT_MS);
    char error[LIB_ERROR_BYTES];

    memcpy(error, sayso->error, sizeof error);
    sayso_request_free(take_request);
    while (sayso->unconfirmed > 0 && !is_past(until_ms))
        pass_time(sayso, until_ms);
    memcpy(sayso->error, error, sizeof error);
}

static int copy_text(struct sayso *sayso, const char *text, char **ret_text)
{
    *ret_text = text ? mem_text(text) : NULL;
    if (!text)
        return handle_fail(sayso, SAYSO_NOT_FOUND, "the answer has no such value");
    if (!*ret_text)
        return handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
    return SAYSO_OK;
}

static int copy_member(struct sayso_request *request, const char *member, char **ret_json)
{
    struct text out = { 0 };
    const struct json *value = json_member(request->result, member);
    int code;

    if (value)
        json_add(&out, value);
    code = out.has_overflowed
               ? handle_fail(request->sayso, SAYSO_NO_MEMORY, "out of memory")
               : copy_text(request->sayso, value ? text_string(&out) : NULL, ret_json);
    text_release(&out);
    return code;
}

/* Asks and waits. NULL, and *ret_code: it could not be asked. */
static struct sayso_request *ask_and_wait(struct sayso *sayso, struct sayso_question *take_question,
                                          int *ret_code)
{
    struct sayso_request *request = NULL;

    if (!take_question) {
        *ret_code = handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
        return NULL;
    }
    request = sayso_submit(sayso, take_question);
    sayso_question_free(take_question);
    *ret_code = request ? sayso_wait(request, -1) : sayso->last_code;
    return request;
}

static struct sayso_question *new_question(const char *tool, const char *message)
{
    struct sayso_question *question = sayso_question_new(tool);

    sayso_question_text(question, "message", message);
    return question;
}

int sayso_choose(struct sayso *sayso, const char *message, const char *const *choices,
                 char **ret_value)
{
    struct sayso_question *question;
    struct sayso_request *request;
    int code;

    if (!sayso || !choices || !ret_value)
        return SAYSO_MISUSE;
    *ret_value = NULL;
    question = new_question("elicit_choice", message);
    for (; choices[0]; choices += choices[1] ? 2 : 1)
        sayso_question_option(question, choices[0], choices[1], NULL, 0);
    request = ask_and_wait(sayso, question, &code);
    if (!request)
        return code;
    if (code == SAYSO_OK)
        code = copy_text(sayso, sayso_answer_text(request, NULL), ret_value);
    finish(request);
    return code;
}

int sayso_text_input(struct sayso *sayso, const char *message, char **ret_text)
{
    struct sayso_request *request;
    int code;

    if (!sayso || !ret_text)
        return SAYSO_MISUSE;
    *ret_text = NULL;
    request = ask_and_wait(sayso, new_question("elicit_input", message), &code);
    if (!request)
        return code;
    if (code == SAYSO_OK)
        code = copy_text(sayso, sayso_answer_text(request, NULL), ret_text);
    finish(request);
    return code;
}

int sayso_confirm(struct sayso *sayso, const char *message)
{
    struct sayso_request *request;
    int code, is_yes = 0;

    if (!sayso)
        return SAYSO_MISUSE;
    request = ask_and_wait(sayso, new_question("elicit_confirm", message), &code);
    if (!request)
        return code;
    if (code == SAYSO_OK && (sayso_answer_yes(request, NULL, &is_yes) != SAYSO_OK || !is_yes))
        code = SAYSO_DECLINED;
    finish(request);
    return code;
}

int sayso_number(struct sayso *sayso, const char *message, double minimum, double maximum,
                 double *ret_number)
{
    struct sayso_question *question;
    struct sayso_request *request;
    int code;

    if (!sayso || !ret_number)
        return SAYSO_MISUSE;
    question = new_question("elicit_number", message);
    if (!isnan(minimum))
        sayso_question_number(question, "minimum", minimum);
    if (!isnan(maximum))
        sayso_question_number(question, "maximum", maximum);
    request = ask_and_wait(sayso, question, &code);
    if (!request)
        return code;
    if (code == SAYSO_OK)
        code = sayso_answer_number(request, NULL, ret_number);
    finish(request);
    return code;
}

/* Where JSON goes in and a member of the result comes back. */
static int ask_for(struct sayso *sayso, struct sayso_question *take_question, const char *member,
                   char **ret_json)
{
    struct sayso_request *request;
    int code;

    *ret_json = NULL;
    request = ask_and_wait(sayso, take_question, &code);
    if (!request)
        return code;
    if (code == SAYSO_OK)
        code = copy_member(request, member, ret_json);
    finish(request);
    return code;
}

int sayso_elicit(struct sayso *sayso, const char *message, const char *schema_json,
                 char **ret_content_json)
{
    struct sayso_question *question;

    if (!sayso || !ret_content_json)
        return SAYSO_MISUSE;
    question = new_question("elicit_form", message);
    sayso_question_json(question, "requestedSchema", schema_json);
    return ask_for(sayso, question, "content", ret_content_json);
}

int sayso_ask_user_question(struct sayso *sayso, const char *questions_json,
                            char **ret_answers_json)
{
    struct sayso_question *question;

    if (!sayso || !ret_answers_json)
        return SAYSO_MISUSE;
    question = sayso_question_new("ask_user_question");
    sayso_question_json(question, "questions", questions_json);
    return ask_for(sayso, question, "answers", ret_answers_json);
}

int sayso_ask(struct sayso *sayso, const char *tool, const char *arguments_json,
              char **ret_result_json)
{
    struct sayso_request *request;
    int code;

    if (!sayso || !ret_result_json)
        return SAYSO_MISUSE;
    *ret_result_json = NULL;
    request = sayso_submit_json(sayso, tool, arguments_json);
    if (!request)
        return sayso->last_code;
    code = sayso_wait(request, -1);
    if (request->result_json && copy_text(sayso, request->result_json, ret_result_json) != SAYSO_OK)
        code = SAYSO_NO_MEMORY;
    finish(request);
    return code;
}
