/* Which process above a front is the agent's client (core/ownership.h). Proves: R12.1 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/ownership.h"

static const struct {
    struct client_facts process;
    enum client_rank rank;
} cases[] = {
    /* the front, and what stands between it and its client */
    { { "sayso", "sayso", "mcp", false }, CLIENT_ABOVE },
    { { "node", "node", "sayso.js", false }, CLIENT_ABOVE },
    { { "sh", "sh", "", false }, CLIENT_ABOVE },
    { { "dash", "sh", "", false }, CLIENT_ABOVE },
    { { "bash", "-bash", "", false }, CLIENT_ABOVE },
    { { "busybox", "sh", "", false }, CLIENT_ABOVE },
    { { "ksh93", "ksh", "", false }, CLIENT_ABOVE },
    { { "bsd-csh", "csh", "", false }, CLIENT_ABOVE },
    { { "yash", "yash", "", false }, CLIENT_ABOVE },
    { { "rbash", "rbash", "", false }, CLIENT_ABOVE },
    { { "bash-static", "sh", "", false }, CLIENT_ABOVE },
    { { "python3.11", "xonsh", "xonsh", false }, CLIENT_ABOVE },
    { { "uvx", "uvx", "sayso", false }, CLIENT_ABOVE },
    { { "bun", "bunx", "sayso", false }, CLIENT_ABOVE },
    { { "bun", "bun", "x", false }, CLIENT_ABOVE },
    { { "deno", "deno", "x", false }, CLIENT_ABOVE },
    { { "node", "node", "pnpm.cjs", false }, CLIENT_ABOVE },
    { { "node", "node", "corepack.js", false }, CLIENT_ABOVE },
    { { "node", "node", "npx", false }, CLIENT_ABOVE },
    { { "node", "node", "npx-cli.js", false }, CLIENT_ABOVE },
    { { "node", "npm", "", false }, CLIENT_ABOVE }, /* "npm exec sayso" is what it calls itself */
    { { "python3.11", "python3", "pipx", false }, CLIENT_ABOVE },
    { { "timeout", "timeout", "60", false }, CLIENT_ABOVE },
    { { "sudo", "sudo", "sayso", false }, CLIENT_ABOVE },
    { { "script", "script", "log", false }, CLIENT_ABOVE },
    { { "unshare", "unshare", "sayso", false }, CLIENT_ABOVE },
    { { "tini", "tini", "sayso", false }, CLIENT_ABOVE },
    { { "dumb-init", "dumb-init", "sayso", false }, CLIENT_ABOVE },
    { { "docker-init", "docker-init", "sayso", false }, CLIENT_ABOVE },
    { { "catatonit", "catatonit", "sayso", false }, CLIENT_ABOVE },
    /* many programs in one file: what they were called as, else what runs others */
    { { "coreutils", "timeout", "60", false }, CLIENT_ABOVE },
    { { "coreutils", "coreutils", "timeout", false }, CLIENT_ABOVE },
    { { "busybox", "chpst", "sayso", false }, CLIENT_ABOVE },
    { { "busybox", "sh", "", true }, CLIENT_NONE },
    { { "busybox", "init", "", false }, CLIENT_NONE },
    { { "busybox", "crond", "", false }, CLIENT_NONE },
    { { "coreutils", "sleep", "infinity", false }, CLIENT_NONE },
    /* clients */
    { { "claude", "claude", "", false }, CLIENT_FOUND },
    { { "node", "claude", "", false }, CLIENT_FOUND },
    { { "node", "node", "cli.js", false }, CLIENT_FOUND },
    { { "bun", "bun", "agent.ts", false }, CLIENT_FOUND },
    { { "deno", "deno", "run", false }, CLIENT_FOUND },
    { { "python3", "python3", "agent.py", false }, CLIENT_FOUND },
    { { "codex", "codex", "npx", false }, CLIENT_FOUND }, /* what it does, not what it is */
    { { "", "", "", false }, CLIENT_FOUND },
    { { "shell", "shell", "", false }, CLIENT_FOUND }, /* a name that only begins like another */
    { { "s", "s", "", false }, CLIENT_FOUND },
    /* a client that leads its session is still the client */
    { { "claude", "claude", "", true }, CLIENT_FOUND },
    { { "node", "node", "cli.js", true }, CLIENT_FOUND },
    /* the first process of a person's terminal: what shows the terminal is not a client */
    { { "bash", "-bash", "", true }, CLIENT_NONE },
    { { "sayso", "sayso", "ask", true }, CLIENT_NONE },
    { { "npx", "npx", "sayso", true }, CLIENT_NONE },
    /* they hold people's terminals and services */
    { { "tmux", "tmux:", "", false }, CLIENT_NONE },
    { { "sshd", "sshd:", "", false }, CLIENT_NONE },
    { { "systemd", "systemd", "", false }, CLIENT_NONE },
    { { "init", "init", "", false }, CLIENT_NONE },
    { { "openrc-init", "init", "", false }, CLIENT_NONE },
    { { "dinit", "dinit", "", false }, CLIENT_NONE },
    { { "s6-svscan", "s6-svscan", "", false }, CLIENT_NONE },
    { { "sleep", "sleep", "infinity", false }, CLIENT_NONE },
    { { "tail", "tail", "/dev/null", false }, CLIENT_NONE },
    { { "cron", "cron", "", false }, CLIENT_NONE },
    { { "gnome-shell", "gnome-shell", "", false }, CLIENT_NONE },
    { { "i3", "i3", "", false }, CLIENT_NONE },
    { { "python3.11", "supervisord", "supervisord", false }, CLIENT_NONE },
    { { "python3.11", "python3", "supervisord", false }, CLIENT_NONE },
    { { "codex", "supervisord", "supervisord", false }, CLIENT_FOUND },
};

static void test_each_program_has_its_rank(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct client_facts *process = &cases[i].process;

        if (client_rank(process) != cases[i].rank)
            fail_msg("%s (%s %s, %s) is %d", process->program, process->title, process->script,
                     process->leads_terminal ? "leads" : "does not lead", client_rank(process));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_program_has_its_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
