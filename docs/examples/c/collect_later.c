/*
 * collect_later.c - asks in one run and collects in another. The ask belongs to the hub: neither
 * our end nor the hub's loses it. SAYSO_AS says whose it is, wherever this is started.
 *
 *     cc collect_later.c $(pkg-config --cflags --libs sayso) -o collect_later
 *     id=$(./collect_later ask deploy-17)     asks, or takes up what was asked under this key
 *     ./collect_later get $id 60              waits up to a minute; ends with 5 while it is open
 *     ./collect_later withdraw $id
 */
#include <sayso.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sayso_request *submit(struct sayso *sayso, const char *key)
{
    struct sayso_question *question = sayso_question_new("provide_choice");
    struct sayso_request *request;

    sayso_question_text(question, "title", "Which cluster gets the release?");
    sayso_question_text(question, "prompt", "The build is done and both clusters are healthy.");
    sayso_question_text(question, "selection_mode", "single");
    sayso_question_option(question, "eu", "Europe first", "less traffic now", 1);
    sayso_question_option(question, "us", "America first", NULL, 0);
    sayso_question_number(question, "timeout_seconds", 86400);
    sayso_question_text(question, "idempotency_key", key);
    request = sayso_submit(sayso, question);
    sayso_question_free(question);
    return request;
}

/* Open, and its id known. */
static int ask(struct sayso *sayso, const char *key)
{
    struct sayso_request *request = submit(sayso, key);

    while (request && sayso_wait(request, 50) == SAYSO_PENDING && !*sayso_request_id(request))
        continue;
    if (request && *sayso_request_id(request)) {
        printf("%s\n", sayso_request_id(request));
        return 0;
    }
    fprintf(stderr, "can't ask: %s\n", sayso_error(sayso));
    return 1;
}

static int get(struct sayso *sayso, const char *id, int wait_s, int is_withdrawn)
{
    struct sayso_request *request = sayso_collect(sayso, id);
    int code = sayso_request_code(request);

    if (request && is_withdrawn)
        sayso_cancel(request);
    if (request)
        code = sayso_wait(request, wait_s * 1000);
    if (code == SAYSO_OK)
        printf("%s\n", sayso_answer_text(request, NULL));
    else
        fprintf(stderr, "%s %s\n", sayso_code_name(code), sayso_error(sayso));
    sayso_request_free(request);
    return code == SAYSO_OK ? 0 : code == SAYSO_PENDING ? 5 : 1;
}

int main(int count, char **arguments)
{
    struct sayso *sayso = sayso_new();
    int code = 2;

    if (!sayso || sayso_set(sayso, SAYSO_AS, "collect_later") != SAYSO_OK)
        return 1;
    if (count == 3 && strcmp(arguments[1], "ask") == 0)
        code = ask(sayso, arguments[2]);
    else if (count == 4 && strcmp(arguments[1], "get") == 0)
        code = get(sayso, arguments[2], (int)strtol(arguments[3], NULL, 10), 0);
    else if (count == 3 && strcmp(arguments[1], "withdraw") == 0)
        code = get(sayso, arguments[2], 30, 1);
    else
        fprintf(stderr, "usage: collect_later ask KEY | get ID SECONDS | withdraw ID\n");
    sayso_free(sayso);
    return code;
}
