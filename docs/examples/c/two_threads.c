/*
 * two_threads.c - a handle belongs to one thread, so two threads have one each.
 *
 *     cc two_threads.c $(pkg-config --cflags --libs sayso) -pthread -o two_threads
 */
#include <pthread.h>
#include <sayso.h>
#include <stdio.h>

struct job {
    const char *message;
    char *text;
    int code;
};

static void *ask(void *context)
{
    struct job *job = context;
    struct sayso *sayso = sayso_new();

    job->code = sayso ? sayso_text_input(sayso, job->message, &job->text) : SAYSO_NO_MEMORY;
    sayso_free(sayso);
    return NULL;
}

int main(void)
{
    struct job jobs[2] = { { .message = "What shall the first track be called?" },
                           { .message = "What shall the second track be called?" } };
    pthread_t threads[2];
    int failures = 0;

    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, ask, &jobs[i]) != 0)
            return 1;
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        printf("%s\n", jobs[i].code == SAYSO_OK ? jobs[i].text : sayso_code_name(jobs[i].code));
        failures += jobs[i].code != SAYSO_OK;
        sayso_release(jobs[i].text);
    }
    return failures ? 1 : 0;
}
