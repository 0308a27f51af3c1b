/*
 * release.c - a small form, built piece by piece: one question, three answers.
 *
 *     cc release.c $(pkg-config --cflags --libs sayso) -o release
 */
#include <sayso.h>
#include <stdio.h>

static const char *const regions[] = { "eu", "Europe", "us", "America", "as", "Asia", NULL };

static struct sayso_request *ask(struct sayso *sayso)
{
    struct sayso_question *question = sayso_question_new("elicit_form");
    struct sayso_request *request;

    sayso_question_text(question, "title", "Release 3.0");
    sayso_question_text(question, "message", "The build is done. Where does it go, and how fast?");
    sayso_question_number(question, "timeout_seconds", 600);
    sayso_question_choice_field(question, "region", "Where first", 1, regions);
    sayso_question_number_field(question, "share", "Share of the traffic in percent", 1, 0.5, 100);
    sayso_question_text_field(question, "nickname", "What it is called", 0);
    request = sayso_submit(sayso, question);
    sayso_question_free(question);
    return request;
}

int main(void)
{
    struct sayso *sayso = sayso_new();
    struct sayso_request *request = sayso ? ask(sayso) : NULL;
    double share = 0;
    int code;

    if (!request) {
        fprintf(stderr, "can't ask: %s\n", sayso_error(sayso));
        sayso_free(sayso);
        return 1;
    }
    code = sayso_wait(request, -1);
    if (code == SAYSO_OK && sayso_answer_number(request, "share", &share) == SAYSO_OK) {
        const char *nickname = sayso_answer_text(request, "nickname");
        const char *note = sayso_answer_note(request);

        printf("%s %g %s%s%s\n", sayso_answer_text(request, "region"), share,
               nickname ? nickname : "-", note ? " # " : "", note ? note : "");
    } else {
        fprintf(stderr, "%s %s\n", sayso_code_name(code), sayso_request_error(request));
    }
    sayso_request_free(request); /* read, so it counts as delivered */
    sayso_free(sayso);
    return code == SAYSO_OK ? 0 : 1;
}
