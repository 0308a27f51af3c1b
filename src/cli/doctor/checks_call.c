/* checks_call.c - calls the server of a client's entry as that client does: the same program,
 * arguments, and environment. It lists its tools, which starts no hub and writes nothing. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/doctor/doctor.h"
#include "cli/install/clients.h"

enum { MOST_WORDS = 128 };

extern char **environ;

static const char calls[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"sayso-doctor\",\"version\":"
    "\"1\"}}}\n"
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

struct words {
    char *all[MOST_WORDS + 1]; /* owned, ended by NULL */
    size_t count;
};

static void add_word(struct words *words, const char *name, const char *value)
{
    if (value && words->count < MOST_WORDS)
        words->all[words->count++] = mem_format("%s%s%s", name, *name ? "=" : "", value);
}

/* env sets the variables. A server that doesn't answer is killed; no client waits that long. */
static void add_command(struct words *words, const struct client *client, const struct json *entry)
{
    static const char *const before[] = { "timeout", "-s", "KILL", "30", "env" };
    const struct json *list = json_member(entry, client->is_one_list ? "command" : "args");
    const struct json *variables = json_member(entry, client->env_key);

    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        add_word(words, "", before[i]);
    if (client->strips) {
        add_word(words, "", "-i");
        add_word(words, "HOME", getenv("HOME"));
        add_word(words, "PATH", getenv("PATH"));
    }
    for (void *it = json_first(variables); it; it = json_next(variables, it))
        add_word(words, json_key(it), json_text(json_value(it)));
    if (!client->is_one_list)
        add_word(words, "", json_member_text(entry, "command"));
    for (size_t i = 0; json_kind(list) == KIND_LIST && i < json_length(list); i++)
        add_word(words, "", json_text(json_item(list, i)));
}

static bool has_tools(FILE *server)
{
    char *line = NULL;
    size_t size = 0;
    bool is_so = false;

    while (server && getline(&line, &size, server) > 0) {
        struct json *reply = NULL;

        if (json_parse(line, strlen(line), &reply, NULL) &&
            json_member_integer(reply, "id", 0) == 2)
            is_so = json_length(json_member(json_member(reply, "result"), "tools")) > 0;
        json_free(reply);
    }
    free(line);
    return is_so;
}

/* Of what the server answers until it ends. `ends` are closed. */
static bool call(const struct words *words, const int ends[2])
{
    posix_spawn_file_actions_t actions;
    FILE *server = fdopen(ends[0], "r+");
    bool has_started, is_so;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1 /* to write */, 0);
    has_started = posix_spawnp(&pid, words->all[0], &actions, NULL, words->all, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    is_so = has_started && send(ends[0], calls, sizeof calls - 1, MSG_NOSIGNAL) > 0 &&
            shutdown(ends[0], SHUT_WR) == 0 && has_tools(server);
    if (server)
        fclose(server);
    while (has_started && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return is_so;
}

bool doctor_server_answers(const struct client *client, const struct json *entry)
{
    struct words words = { .count = 0 };
    int ends[2];
    bool is_so;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return true; /* not its fault */
    add_command(&words, client, entry);
    is_so = call(&words, ends);
    for (size_t i = 0; i < words.count; i++)
        free(words.all[i]);
    return is_so;
}
