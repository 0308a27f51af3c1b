/*
 * two_at_once.c - two questions open at the same time, in a program that has a poll() of its own:
 * it also reads lines, and a line "never mind" takes both questions back.
 *
 *     cc two_at_once.c $(pkg-config --cflags --libs sayso) -o two_at_once
 */
#include <poll.h>
#include <sayso.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const keys[] = { "c", "C major", "am", "A minor", NULL };

/* What the loop watches beside its own. */
static void watch(const struct sayso *sayso, struct pollfd *ready)
{
    ready->fd = sayso_fd(sayso);
    ready->events = (short)sayso_events(sayso);
}

static void read_line(struct pollfd *input, struct sayso_request **requests)
{
    char line[256];
    ssize_t got = read(input->fd, line, sizeof line - 1);

    if (got <= 0) {
        input->fd = -1; /* no one types here */
        return;
    }
    line[got] = '\0';
    if (strncmp(line, "never mind", 10) == 0) {
        sayso_cancel(requests[0]);
        sayso_cancel(requests[1]);
    }
}

static struct sayso_request *ask_key(struct sayso *sayso)
{
    struct sayso_question *question = sayso_question_new("elicit_choice");
    struct sayso_request *request;

    sayso_question_text(question, "message", "Which key shall the second part be in?");
    for (size_t i = 0; keys[i]; i += 2)
        sayso_question_option(question, keys[i], keys[i + 1], NULL, 0);
    request = sayso_submit(sayso, question);
    sayso_question_free(question);
    return request;
}

int main(void)
{
    struct sayso *sayso = sayso_new();
    struct pollfd ready[2] = { { .fd = STDIN_FILENO, .events = POLLIN }, { 0 } };
    struct sayso_request *requests[2];
    double tempo;
    int code = 1;

    requests[0] = ask_key(sayso);
    requests[1] = sayso_submit_json(sayso, "elicit_number",
                                    "{\"message\": \"What tempo shall the click track have?\","
                                    " \"minimum\": 40, \"maximum\": 200}");
    while (requests[0] && requests[1] && sayso_dispatch(sayso) < 2) {
        watch(sayso, &ready[1]);
        if (poll(ready, 2, sayso_timeout_ms(sayso)) > 0 && ready[0].revents)
            read_line(&ready[0], requests);
    }
    if (sayso_request_code(requests[0]) == SAYSO_OK &&
        sayso_answer_number(requests[1], NULL, &tempo) == SAYSO_OK) {
        printf("%s at %g\n", sayso_answer_text(requests[0], NULL), tempo);
        code = 0;
    } else {
        fprintf(stderr, "%s, %s %s\n", sayso_code_name(sayso_request_code(requests[0])),
                sayso_code_name(sayso_request_code(requests[1])), sayso_error(sayso));
    }
    sayso_request_free(requests[0]);
    sayso_request_free(requests[1]);
    sayso_free(sayso);
    return code;
}
