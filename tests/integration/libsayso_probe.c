/*
 * libsayso_probe.c - every way to ask, for test_libsayso.py: probe WAY [NAME=VALUE …] prints what
 * came back. The names are options of the handle by their numbers.
 */
#include <math.h>
#include <poll.h>
#include <sayso.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const choices[] = { "eu", "Europe", "us", "America", NULL };

static int choose(struct sayso *sayso, char **ret_text)
{
    return sayso_choose(sayso, "Where does it go first?", choices, ret_text);
}

static int text_input(struct sayso *sayso, char **ret_text)
{
    return sayso_text_input(sayso, "What shall it be called?", ret_text);
}

static int number(struct sayso *sayso, char **ret_text)
{
    double value = 0;
    int code = sayso_number(sayso, "How fast?", 40, 200, &value);

    *ret_text = malloc(32);
    snprintf(*ret_text, 32, "%.17g", value);
    return code;
}

static int any_number(struct sayso *sayso, char **ret_text)
{
    double value = 0;
    int code = sayso_number(sayso, "How fast?", NAN, NAN, &value);

    *ret_text = malloc(32);
    snprintf(*ret_text, 32, "%.17g", value);
    return code;
}

static int elicit(struct sayso *sayso, char **ret_text)
{
    return sayso_elicit(
        sayso, "Two things, please.",
        "{\"type\": \"object\", \"properties\": {\n\"name\": {\"type\": \"string\"},"
        "\"many\": {\"type\": \"integer\"}}, \"required\": [\"name\"]}",
        ret_text);
}

static int questions(struct sayso *sayso, char **ret_text)
{
    return sayso_ask_user_question(sayso,
                                   "[{\"question\": \"Which way?\", \"options\": [{\"label\": "
                                   "\"Left\"}, {\"label\": \"Right\"}]}]",
                                   ret_text);
}

static int ask(struct sayso *sayso, char **ret_text)
{
    return sayso_ask(sayso, "provide_choice",
                     "{\"title\": \"Anything\", \"prompt\": \"Say whatever you want to say here.\","
                     " \"selection_mode\": \"text_input\", \"timeout_seconds\": 2}",
                     ret_text);
}

static int bad(struct sayso *sayso, char **ret_text)
{
    return sayso_ask(sayso, "provide_choice", "{\"title\": \"Anything\"}", ret_text);
}

static int connect_only(struct sayso *sayso, char **ret_text)
{
    *ret_text = NULL;
    return sayso_connect(sayso, -1);
}

/* The command is there before the answer is. */
static int terminal(struct sayso *sayso, char **ret_text)
{
    struct sayso_request *request = sayso_submit_json(
        sayso, "provide_choice",
        "{\"title\": \"Here\", \"prompt\": \"This one is for a terminal of yours.\","
        " \"selection_mode\": \"text_input\", \"interface\": \"terminal\"}");
    const char *result;
    int code;

    while (!sayso_request_result(request) && sayso_wait(request, 50) == SAYSO_PENDING)
        continue;
    result = sayso_request_result(request);
    printf("%s\n", result && strstr(result, "terminal_command") ? "command" : "none");
    fflush(stdout);
    code = sayso_wait(request, -1);
    *ret_text = strdup(code == SAYSO_OK ? sayso_answer_text(request, NULL) : "");
    sayso_request_free(request);
    return code;
}

/* Two handles in one poll(), as two parts of a program that know nothing of each other. */
static int handles(struct sayso *sayso, char **ret_text)
{
    struct sayso *both[2] = { sayso, sayso_new() };
    struct sayso_request *requests[2];
    struct pollfd ready[2];
    int code;

    for (int i = 0; i < 2; i++)
        requests[i] = sayso_submit_json(both[i], "elicit_input",
                                        i ? "{\"message\": \"And the second?\"}"
                                          : "{\"message\": \"What is the first?\"}");
    while (sayso_dispatch(both[0]) + sayso_dispatch(both[1]) < 2) {
        int first_ms = sayso_timeout_ms(both[0]), second_ms = sayso_timeout_ms(both[1]);

        for (int i = 0; i < 2; i++)
            ready[i] =
                (struct pollfd){ .fd = sayso_fd(both[i]), .events = (short)sayso_events(both[i]) };
        poll(ready, 2,
             first_ms < 0 || (second_ms >= 0 && second_ms < first_ms) ? second_ms : first_ms);
    }
    code = sayso_request_code(requests[0]);
    *ret_text = malloc(256);
    snprintf(*ret_text, 256, "%s %s", sayso_answer_text(requests[0], NULL),
             sayso_answer_text(requests[1], NULL));
    sayso_request_free(requests[0]);
    sayso_request_free(requests[1]);
    sayso_free(both[1]);
    return code;
}

static const struct {
    const char *name;
    int (*ask)(struct sayso *sayso, char **ret_text);
} ways[] = {
    { "choose", choose },
    { "text_input", text_input },
    { "number", number },
    { "elicit", elicit },
    { "any_number", any_number },
    { "questions", questions },
    { "ask", ask },
    { "bad", bad },
    { "connect", connect_only },
    { "terminal", terminal },
    { "handles", handles },
};

int main(int count, char **arguments)
{
    struct sayso *sayso = sayso_new();
    char *text = NULL;
    int code = SAYSO_MISUSE;

    for (int i = 2; i < count; i++) {
        char *value = strchr(arguments[i], '=');

        if (!value || sayso_set(sayso, (int)strtol(arguments[i], NULL, 10), value + 1) != SAYSO_OK)
            return 2;
    }
    for (size_t i = 0; count > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, arguments[1]) == 0)
            code = ways[i].ask(sayso, &text);
    }
    printf("%s|%s|%s\n", sayso_code_name(code), text ? text : "", sayso_error(sayso));
    sayso_release(text);
    sayso_free(sayso);
    return 0;
}
