/* guard.c - see ask.h. What handlers call is on signal-safety(7). */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/gate/ask.h"

enum { WORDS_BYTES = 512, STACK_BYTES = 65536 };

/* In both shapes: JSON for who reads it, and words for who only looks at the exit code. */
struct last_words {
    char json[WORDS_BYTES], plain[WORDS_BYTES];
    size_t json_bytes, plain_bytes;
    int code;
};
static struct last_words crashed, hung;
static volatile sig_atomic_t said_code =
    -1; /* the exit code of what was decided; -1: nothing yet */

/* Without a format there is nothing to print that all would understand, only a way to end. */
void guard_write_deny(const struct hook_format *format, const char *reason, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    if (!format) {
        text_add_text(out, "sayso gate: "); /* not for people */
        text_add_text(out, reason);
    } else {
        json_write_object(&writer, NULL);
        hook_format_write(format, "deny", reason, &writer);
        json_write_end_object(&writer);
    }
    text_add_char(out, '\n');
}

/* In place: there may be no memory, so what does not fit would be a fault of ours. */
static void prepare(struct last_words *words, const struct hook_format *format, const char *reason)
{
    struct text json = { .bytes = words->json, .capacity = sizeof words->json };
    struct text plain = { .bytes = words->plain, .capacity = sizeof words->plain };

    if (format)
        guard_write_deny(format, reason, &json);
    guard_write_deny(NULL, reason, &plain);
    words->json_bytes = json.used;
    words->plain_bytes = plain.used;
    words->code = format && !(format->shape & HOOK_BY_CODE) ? 0 : GATE_BLOCKS;
}

static void end_with(const struct last_words *words)
{
    if (said_code >= 0)
        _exit(said_code);
    if (words->code != 0 && write(STDERR_FILENO, words->plain, words->plain_bytes) < 0)
        _exit(GATE_BLOCKS);
    if (write(STDOUT_FILENO, words->json, words->json_bytes) != (ssize_t)words->json_bytes)
        _exit(GATE_BLOCKS);
    _exit(words->code);
}

static void on_signal(int number)
{
    end_with(number == SIGALRM ? &hung : &crashed);
}

/* On a stack of its own, since the other one may be what is full. One signal at a time: a second
 * one would add its reply to that of the first. */
void guard_begin(int count, char **texts)
{
    static const int not_deadly[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, /* ignored, or stop it */
                                      SIGTSTP, SIGTTIN, SIGTTOU };
    static char stack[STACK_BYTES];
    const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
    const struct hook_format *format = NULL;

    if (count < 2 || strcmp(texts[1], "gate") != 0)
        return;
    for (int i = 2; i < count; i++) {
        bool is_joined = strncmp(texts[i], "--client=", 9) == 0;

        if (is_joined || (strcmp(texts[i], "--client") == 0 && i + 1 < count))
            format = hook_format_find(is_joined ? texts[i] + 9 : texts[i + 1]);
    }
    prepare(&crashed, format, "the gate failed, so this is denied; ask the person");
    sigaltstack(&own, NULL);
    sigfillset(&action.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        sigaction(number, &action, NULL);
    for (size_t i = 0; i < ARRAY_LEN(not_deadly); i++)
        signal(not_deadly[i], SIG_DFL);
}

void guard_watch(const struct hook_format *format, int64_t limit_s)
{
    alarm(0); /* the prepared denial is incomplete until it is written again */
    prepare(&hung, format, "the gate got no decision in time, so this is denied; ask the person");
    prepare(&crashed, format, "the gate failed, so this is denied; ask the person");
    hung.code = format ? 0 : GATE_BLOCKS;
    alarm((unsigned)limit_s);
}

void guard_is_said(int code)
{
    said_code = code;
}

int guard_end(int code)
{
    if (crashed.plain_bytes > 0 && said_code < 0 && code != 0)
        end_with(&crashed);
    return code;
}
