/* handle.c - a handle's life, its options, and the words for what went wrong. */
#include "lib/handle.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "rpc/protocol.h"

enum {
    PATIENCE_MAX_MS = 3600000,
    MAX_LOSSES = 10,
    /* four times what the wire allows: a result holds what was asked and what was answered */
    MAX_LINE_BYTES = 4 * LIMIT_RPC_LINE_BYTES,
};

static const char *const code_names[] = {
    [SAYSO_OK] = "ok",
    [SAYSO_PENDING] = "pending",
    [SAYSO_DECLINED] = "declined",
    [SAYSO_CANCELLED] = "cancelled",
    [SAYSO_TIMEOUT] = "timeout",
    [SAYSO_NOT_SUPPORTED] = "not_supported",
    [SAYSO_CHANNEL_CLOSED] = "channel_closed",
    [SAYSO_VALIDATION_FAILED] = "validation_failed",
    [SAYSO_NOT_FOUND] = "not_found",
    [SAYSO_RATE_LIMITED] = "rate_limited",
    [SAYSO_NO_MEMORY] = "no_memory",
    [SAYSO_MISUSE] = "misuse",
    [SAYSO_REFUSED] = "refused",
};

const char *sayso_code_name(int code)
{
    return code >= 0 && code < (int)ARRAY_LEN(code_names) ? code_names[code] : "unknown";
}

const char *sayso_version(void)
{
    return SAYSO_VERSION;
}

static void take_event(void *context, const struct rpc_message *message, const char *line,
                       size_t length)
{
    (void)line;
    (void)length;
    request_take_event(context, message);
}

/* What it means to the host program that the hub did not reply, where it is more than that it
 * can't be reached; `why` NULL: the client's own words. */
static const struct {
    enum sayso_code code;
    const char *why;
} failures[] = {
    [FAILURE_VERSION] = { SAYSO_NOT_SUPPORTED,
                          "a hub of another version is running and does not speak with this "
                          "library: end it with sayso stop, or update" },
    [FAILURE_REFUSED] = { SAYSO_REFUSED, "the hub does not take us in" },
    [FAILURE_NO_MEMORY] = { SAYSO_NO_MEMORY, NULL },
    [FAILURE_STOPPED] = { SAYSO_CHANNEL_CLOSED,
                          "the hub was stopped; the ask stays open and is collected later" },
    [FAILURE_AGAIN] = { SAYSO_CHANNEL_CLOSED, "the hub keeps stopping" },
    [FAILURE_TOO_LONG] = { SAYSO_VALIDATION_FAILED, NULL },
};

static void take_lost(void *context, int64_t retry_ms, const struct error *err)
{
    struct sayso *sayso = context;
    enum finder_failure failure = client_failure(sayso->client)->failure;
    enum sayso_code known = failures[failure].code, code = known ? known : SAYSO_CHANNEL_CLOSED;
    const char *why = failures[failure].why ? failures[failure].why : err->message;

    (void)retry_ms;
    handle_fail(sayso, code, "%s", why);
    if (sayso->is_connecting)
        sayso->give_up_code = (int)code;
    sayso->is_connecting = false;
    request_end_all(sayso, code, why);
}

/* Also when the connection is lost right afterwards. */
static void take_opened(void *context)
{
    ((struct sayso *)context)->is_connecting = false;
}

static const struct client_ops client_calls = { .opened = take_opened,
                                                .lost = take_lost,
                                                .event = take_event };

void handle_advance(struct sayso *sayso)
{
    if (client_is_up(sayso->client))
        request_send_late(sayso, handle_now_ms());
    client_advance(sayso->client);
}

int handle_fail(struct sayso *sayso, enum sayso_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sayso->error, sizeof sayso->error, format, arguments);
    va_end(arguments);
    sayso->last_code = (int)code;
    return (int)code;
}

const char *sayso_error(const struct sayso *sayso)
{
    return sayso ? sayso->error : "";
}

int64_t handle_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_name(const char *value)
{
    size_t length = strlen(value);

    return length > 0 && length <= LIB_NAME_BYTES && text_is_utf8(value, length);
}

static bool is_path(const char *value)
{
    return value[0] == '/' && strlen(value) <= LIB_PATH_BYTES;
}

static bool is_socket(const char *value)
{
    return strlen(value) > 0 && strlen(value) <= LOCATION_SOCKET_BYTES;
}

static bool is_yes_or_no(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static bool is_patience(const char *value)
{
    int64_t number;

    return text_parse_integer(value, &number) && number >= 0 && number <= PATIENCE_MAX_MS;
}

static const struct {
    bool (*is_good)(const char *value);
    const char *wanted;
} options[] = {
    [SAYSO_NAME] = { is_name, "SAYSO_NAME must be UTF-8 of 1 to 200 bytes" },
    [SAYSO_AS] = { is_name, "SAYSO_AS must be UTF-8 of 1 to 200 bytes" },
    [SAYSO_DIRECTORY] = { is_path, "SAYSO_DIRECTORY must be an absolute path" },
    [SAYSO_SOCKET] = { is_socket, "SAYSO_SOCKET must be a path of 1 to 100 bytes" },
    [SAYSO_PROGRAM] = { is_path, "SAYSO_PROGRAM must be an absolute path" },
    [SAYSO_START] = { is_yes_or_no, "SAYSO_START must be yes or no" },
    [SAYSO_PATIENCE_MS] = { is_patience, "SAYSO_PATIENCE_MS must be a number of 0 to 3600000" },
    [SAYSO_SUB_AGENT] = { is_yes_or_no, "SAYSO_SUB_AGENT must be yes or no" },
};

int sayso_set(struct sayso *sayso, int option, const char *value)
{
    char *copy;

    if (!sayso)
        return SAYSO_MISUSE;
    sayso->error[0] = '\0';
    if (option < 0 || option >= LIB_OPTIONS)
        return handle_fail(sayso, SAYSO_MISUSE, "there is no option %d", option);
    if (value && !options[option].is_good(value))
        return handle_fail(sayso, SAYSO_MISUSE, "%s", options[option].wanted);
    if (!client_is_idle(sayso->client) || client_is_up(sayso->client) || sayso->first)
        return handle_fail(sayso, SAYSO_MISUSE, "options are set before the handle is used");
    copy = mem_text(value);
    if (value && !copy)
        return handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
    free(sayso->options[option]);
    sayso->options[option] = copy;
    return SAYSO_OK;
}

/* Who we are to the hub, and which program a hub is. */

/* A path is bytes; what is no text in it is not shown. */
static void make_text(char *path)
{
    const char *at = path, *end = path + strlen(path);

    while (at < end) {
        const char *from = at;

        if (text_decode(&at, end) < 0) {
            path[from - path] = '?';
            at = from + 1;
        }
    }
}

void handle_identify(struct sayso *sayso)
{
    const char *name = sayso->options[SAYSO_NAME], *directory = sayso->options[SAYSO_DIRECTORY];
    const char *start = sayso->options[SAYSO_START], *patience = sayso->options[SAYSO_PATIENCE_MS];
    const char *is_sub_agent = sayso->options[SAYSO_SUB_AGENT];
    char path[LIB_PATH_BYTES];

    if (!client_is_idle(sayso->client))
        return;
    if (!name && os_own_program(path, sizeof path) && strrchr(path, '/'))
        name = strrchr(path, '/') + 1;
    if (!name || !is_name(name))
        name = "libsayso";
    snprintf(sayso->name, sizeof sayso->name, "%.*s", LIB_NAME_BYTES, name);
    if (directory)
        snprintf(sayso->directory, sizeof sayso->directory, "%s", directory);
    else if (!os_working_directory(sayso->directory, sizeof sayso->directory))
        sayso->directory[0] = '\0';
    make_text(sayso->directory);
    sayso->who = (struct client_identity){
        .role = "agent",
        .name = sayso->name,
        .as_name = sayso->options[SAYSO_AS],
        .directory = sayso->directory[0] ? sayso->directory : NULL,
        .is_sub_agent = is_sub_agent && strcmp(is_sub_agent, "yes") == 0,
        .socket_path = sayso->options[SAYSO_SOCKET],
    };
    sayso->policy.finder.may_start = !start || strcmp(start, "no") != 0;
    sayso->policy.finder.patience_ms = LIB_PATIENCE_MS;
    if (patience)
        text_parse_integer(patience, &sayso->policy.finder.patience_ms);
}

static bool is_program(const char *directory, size_t length, char *out, size_t size)
{
    return length > 0 && directory[0] == '/' &&
           snprintf(out, size, "%.*s/sayso", (int)length, directory) < (int)size &&
           access(out, X_OK) == 0;
}

static bool find_program(const void *context, char *out, size_t size)
{
    static const char *const usual[] = { "/usr/local/bin", "/usr/bin" };
    const struct sayso *sayso = context;
    const char *at = secure_getenv("PATH"); /* NULL in a program with more rights than its user */

    if (sayso->options[SAYSO_PROGRAM])
        return snprintf(out, size, "%s", sayso->options[SAYSO_PROGRAM]) < (int)size;
    while (at) {
        size_t length = strcspn(at, ":");

        if (is_program(at, length, out, size))
            return true;
        at = at[length] ? at + length + 1 : NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        if (is_program(usual[i], strlen(usual[i]), out, size))
            return true;
    }
    return false;
}

struct sayso *sayso_new(void)
{
    struct sayso *sayso = mem_new(sizeof *sayso);

    if (!sayso)
        return NULL;
    sayso->policy = (struct client_policy){
        .finder = { .may_start = true,
                    .patience_ms = LIB_PATIENCE_MS,
                    .max_line_bytes = MAX_LINE_BYTES,
                    .find_program = find_program,
                    .context = sayso },
        .resend = RESEND_ALL,
        .max_losses = MAX_LOSSES,
    };
    sayso->client = client_new(&sayso->who, &sayso->policy, &client_calls, sayso, handle_now_ms);
    if (!sayso->client) {
        free(sayso);
        return NULL;
    }
    return sayso;
}

void sayso_free(struct sayso *sayso)
{
    if (!sayso)
        return;
    if (client_is_up(sayso->client))
        handle_advance(sayso); /* what was decided may still have to be told */
    client_free(sayso->client);
    for (struct sayso_request *request = sayso->first, *next; request; request = next) {
        next = request->next;
        request_destroy(request);
    }
    for (size_t i = 0; i < LIB_OPTIONS; i++)
        free(sayso->options[i]);
    free(sayso);
}

/* The host program's poll() or ours, and on top of it questions asked in one call. */

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
    return sayso->is_connecting ? SAYSO_PENDING : sayso->give_up_code;
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
    while (!(over = request_find(sayso, true)) && request_find(sayso, false) && !is_past(until_ms))
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

static int take_text(struct sayso_request *request, void *ret_text)
{
    return copy_text(request->sayso, sayso_answer_text(request, NULL), ret_text);
}

static int take_yes(struct sayso_request *request, void *unused)
{
    int is_yes;

    (void)unused;
    return sayso_answer_yes(request, NULL, &is_yes) == SAYSO_OK && is_yes ? SAYSO_OK
                                                                          : SAYSO_DECLINED;
}

static int take_number(struct sayso_request *request, void *ret_number)
{
    return sayso_answer_number(request, NULL, ret_number);
}

static int take_content(struct sayso_request *request, void *ret_json)
{
    return copy_member(request, "content", ret_json);
}

static int take_answers(struct sayso_request *request, void *ret_json)
{
    return copy_member(request, "answers", ret_json);
}

/* Asks and waits; what was answered is taken to where `ret_value` says. */
static int ask_for(struct sayso *sayso, struct sayso_question *take_question,
                   int (*take)(struct sayso_request *request, void *ret_value), void *ret_value)
{
    struct sayso_request *request;
    int code;

    if (!take_question)
        return handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
    request = sayso_submit(sayso, take_question);
    sayso_question_free(take_question);
    if (!request)
        return sayso->last_code;
    code = sayso_wait(request, -1);
    if (code == SAYSO_OK)
        code = take(request, ret_value);
    finish(request);
    return code;
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

    if (!sayso || !choices || !ret_value)
        return SAYSO_MISUSE;
    *ret_value = NULL;
    question = new_question("elicit_choice", message);
    for (; choices[0]; choices += choices[1] ? 2 : 1)
        sayso_question_option(question, choices[0], choices[1], NULL, 0);
    return ask_for(sayso, question, take_text, ret_value);
}

int sayso_text_input(struct sayso *sayso, const char *message, char **ret_text)
{
    if (!sayso || !ret_text)
        return SAYSO_MISUSE;
    *ret_text = NULL;
    return ask_for(sayso, new_question("elicit_input", message), take_text, ret_text);
}

int sayso_confirm(struct sayso *sayso, const char *message)
{
    if (!sayso)
        return SAYSO_MISUSE;
    return ask_for(sayso, new_question("elicit_confirm", message), take_yes, NULL);
}

int sayso_number(struct sayso *sayso, const char *message, double minimum, double maximum,
                 double *ret_number)
{
    struct sayso_question *question;

    if (!sayso || !ret_number)
        return SAYSO_MISUSE;
    question = new_question("elicit_number", message);
    if (!isnan(minimum))
        sayso_question_number(question, "minimum", minimum);
    if (!isnan(maximum))
        sayso_question_number(question, "maximum", maximum);
    return ask_for(sayso, question, take_number, ret_number);
}

int sayso_elicit(struct sayso *sayso, const char *message, const char *schema_json,
                 char **ret_content_json)
{
    struct sayso_question *question;

    if (!sayso || !ret_content_json)
        return SAYSO_MISUSE;
    *ret_content_json = NULL;
    question = new_question("elicit_form", message);
    sayso_question_json(question, "requestedSchema", schema_json);
    return ask_for(sayso, question, take_content, ret_content_json);
}

int sayso_ask_user_question(struct sayso *sayso, const char *questions_json,
                            char **ret_answers_json)
{
    struct sayso_question *question;

    if (!sayso || !ret_answers_json)
        return SAYSO_MISUSE;
    *ret_answers_json = NULL;
    question = sayso_question_new("ask_user_question");
    sayso_question_json(question, "questions", questions_json);
    return ask_for(sayso, question, take_answers, ret_answers_json);
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
