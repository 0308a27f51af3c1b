/* clients.c - what stands in the configurations of agents' clients for us, and whether it works. */
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/hub_call.h"
#include "cli/install/config_file.h"
#include "cli/install/entry.h"
#include "core/known_clients.h"
#include "settings/settings.h"

enum { MAX_WORDS = 128, MAX_BYTES = 1 << 20, MAX_S = 32 };

static const char calls[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"sayso-doctor\",\"version\":"
    "\"1\"}}}\n"
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";

struct words {
    char *all[MAX_WORDS + 1]; /* owned, ended by NULL */
    size_t count;
};

static void add_word(struct words *words, const char *name, const char *value)
{
    if (value && words->count < MAX_WORDS)
        words->all[words->count++] = mem_format("%s%s%s", name, *name ? "=" : "", value);
}

/* env sets the variables, and reads no word behind them as one of its own. A server that doesn't
 * answer is killed; no client waits that long. */
static void add_command(struct words *words, const struct client *client, const struct json *entry)
{
    const struct json *list = json_member(entry, client->is_one_list ? "command" : "args");
    const struct json *variables = json_member(entry, client->env_key);
    char timeout[DOCTOR_PATH_BYTES];
    const char *const limit[] = { timeout, "-s", "KILL", "30" };

    add_word(words, "", "env");
    if (client->strips) {
        add_word(words, "", "-i");
        add_word(words, "HOME", getenv("HOME"));
        add_word(words, "PATH", getenv("PATH"));
    }
    for (void *it = json_first(variables); it; it = json_next(variables, it))
        if (json_key(it)[0] && json_key(it)[0] != '-')
            add_word(words, json_key(it), json_text(json_value(it)));
    doctor_find_program("timeout", timeout); /* by our PATH, not the entry's */
    for (size_t i = 0; i < ARRAY_LEN(limit); i++)
        add_word(words, "", limit[i]);
    if (!client->is_one_list)
        add_word(words, "", json_member_text(entry, "command"));
    for (size_t i = 0; json_kind(list) == KIND_LIST && i < json_length(list); i++)
        add_word(words, "", json_text(json_item(list, i)));
}

/* Of what is said in time: what the server starts itself may keep its output open. */
static bool has_tools(int server)
{
    struct pollfd ready = { .fd = server, .events = POLLIN };
    time_t end = time(NULL) + MAX_S;
    struct text said = { 0 };
    char bytes[16384], *line, *rest = NULL;
    bool is_so = false;
    ssize_t got = 1;

    while (got > 0 && said.used < MAX_BYTES && time(NULL) < end &&
           poll(&ready, 1, (int)(end - time(NULL)) * 1000) > 0) {
        got = read(server, bytes, sizeof bytes);
        text_add(&said, bytes, got > 0 ? (size_t)got : 0);
    }
    line = said.used ? strtok_r(said.bytes, "\n", &rest) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &rest)) {
        struct json *reply = NULL;

        if (json_parse(line, strlen(line), &reply, NULL) &&
            json_member_integer(reply, "id", 0) == 2)
            is_so = json_length(json_member(json_member(reply, "result"), "tools")) > 0;
        json_free(reply);
    }
    text_release(&said);
    return is_so;
}

/* `ends` are closed. */
static bool call(const struct words *words, const int ends[2])
{
    posix_spawn_file_actions_t actions;
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
            shutdown(ends[0], SHUT_WR) == 0 && has_tools(ends[0]);
    close(ends[0]);
    while (has_started && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return is_so;
}

/* Whether the program of an entry, started as its client does, lists tools; that starts no hub. */
static bool server_answers(const struct client *client, const struct json *entry)
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

/* Of a client's own file; NULL: there is none, or it can't be read (`ret_line` is not empty). */
static struct json *read_servers(const struct client *client, struct config_file *ret_file,
                                 char ret_line[24])
{
    struct config_path path = { .keys = { client->container }, .count = 1 };
    char name[CLIENT_PATH_BYTES];
    struct json *servers = NULL;
    struct error err;

    ret_line[0] = '\0';
    *ret_file = (struct config_file){ 0 };
    if (!client_file(client, false, name, NULL) || access(name, F_OK) != 0)
        return NULL;
    if (!config_file_read(name, false, ret_file, &err))
        snprintf(ret_line, 24, "?");
    else if (!client->format->check(&ret_file->bytes, &err))
        snprintf(ret_line, 24, "%.20s", err.path);
    else
        servers = client->format->find(&ret_file->bytes, &path);
    return servers;
}

static bool is_this_program(const char *path)
{
    char own[CLIENT_PATH_BYTES];
    struct stat theirs, ours;

    return os_own_program(own, sizeof own) && stat(own, &ours) == 0 && stat(path, &theirs) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static void judge_program(struct doctor *doctor, const struct client *client,
                          const struct json *entry)
{
    const char *program = entry_program(client, entry);
    bool is_path = program[0] == '/';
    enum doctor_state state = DOCTOR_FAULT;
    enum text_id found;
    char path[DOCTOR_PATH_BYTES];

    if (!is_path && !doctor_find_program(program, path))
        return; /* the client's own search path may have it */
    if (is_path && access(program, X_OK) != 0) {
        found = TEXT_FOUND_CLIENT_GONE;
    } else if (!server_answers(client, entry)) {
        found = TEXT_FOUND_CLIENT_SILENT;
    } else if (is_path && !is_this_program(program)) {
        found = TEXT_FOUND_CLIENT_OTHER;
        state = DOCTOR_WARNING;
    } else {
        return;
    }
    doctor_report(doctor, state, found, TEXT_MEND_CLIENT, "client", client->title, "program",
                  program, "name", client->name);
}

/* A client that gives up before sayso hands the call back loses it every time. */
static void judge_patience(struct doctor *doctor, const struct client *client,
                           const struct json *entry)
{
    const struct known_client *known = known_client_of_program(client->name);
    struct settings *settings = call_settings();
    int64_t given = entry_timeout_s(client, entry);
    int64_t patience = given >= 0 ? given : known->limit_s, hold;

    hold = settings_hold_limit_s(settings, known->name, false, given);
    settings_free(settings);
    if (!client->timeout.key || patience > hold)
        return;
    doctor_warning(doctor, TEXT_FOUND_CLIENT_IMPATIENT, TEXT_MEND_CLIENT, "client", client->title,
                   "seconds", TEXT_NUMBER(patience), "name", client->name);
}

/* A client that wants permission asks before the user sees the question; headless it refuses. */
static void judge_permission(struct doctor *doctor, const struct client *client, const char *name,
                             const struct json *entry)
{
    bool is_given = !client->trust_key || json_is_true(json_member(entry, client->trust_key));
    char path[CLIENT_PATH_BYTES] = "";
    char *rule = permission_rule(client, name);
    struct config_file file = { 0 };

    if (rule)
        is_given = hook_file(client, false, path, NULL) &&
                   config_file_read(path, false, &file, NULL) &&
                   config_json.check(&file.bytes, NULL) && permission_is_given(&file.bytes, rule);
    free(rule);
    config_file_release(&file);
    if (is_given)
        return;
    doctor_warning(doctor, TEXT_FOUND_CLIENT_ASKS,
                   path[0] ? TEXT_MEND_CLIENT_RULES : TEXT_MEND_CLIENT, "client", client->title,
                   "name", client->name, "file", path);
}

static void judge_entry(struct doctor *doctor, const struct client *client, const char *name,
                        const struct json *entry, const char *file)
{
    int port = entry_port(client, entry);
    unsigned before = doctor_troubles(doctor);

    if (entry_program(client, entry))
        judge_program(doctor, client, entry);
    if (port && !doctor->hub_port) /* a client that calls an address starts no hub there */
        doctor_warning(doctor, TEXT_FOUND_CLIENT_ALONE, TEXT_MEND_CLIENT_ALONE, "client",
                       client->title, "port", TEXT_NUMBER(port), "name", client->name);
    else if (port && port != doctor->hub_port)
        doctor_warning(doctor, TEXT_FOUND_CLIENT_PORT, TEXT_MEND_CLIENT_PORT, "client",
                       client->title, "port", TEXT_NUMBER(port), "ours",
                       TEXT_NUMBER(doctor->hub_port), "name", client->name);
    judge_patience(doctor, client, entry);
    judge_permission(doctor, client, name, entry);
    if (doctor_troubles(doctor) == before)
        doctor_ok(doctor, TEXT_FOUND_CLIENT, "client", client->title, "file", file);
}

static void check_client(struct doctor *doctor, const struct client *client, size_t *ret_found)
{
    struct config_file file;
    char line[24];
    struct json *servers = read_servers(client, &file, line);
    bool is_there = file.path != NULL, is_connected = false;

    if (line[0]) {
        char name[CLIENT_PATH_BYTES] = "";

        client_file(client, false, name, NULL);
        doctor_warning(doctor, TEXT_FOUND_CLIENT_UNREADABLE, TEXT_MEND_CLIENT_UNREADABLE, "client",
                       client->title, "file", name, "line", line);
        is_connected = true;
    }
    for (void *it = json_first(servers); it; it = json_next(servers, it)) {
        if (!entry_is_ours(client, json_value(it)))
            continue;
        judge_entry(doctor, client, json_key(it), json_value(it), file.path);
        is_connected = true;
    }
    if (is_there && !is_connected)
        doctor_ok(doctor, TEXT_FOUND_CLIENT_ABSENT, "client", client->title, "name", client->name);
    *ret_found += is_there || is_connected;
    json_free(servers);
    config_file_release(&file);
}

void check_clients(struct doctor *doctor)
{
    size_t found = 0;

    for (size_t i = 0; i < client_count(); i++)
        check_client(doctor, client_at(i), &found);
    if (!found)
        doctor_ok(doctor, TEXT_FOUND_CLIENTS_NONE);
}

const char *doctor_http_client(void)
{
    const char *title = NULL;

    for (size_t i = 0; !title && i < client_count(); i++) {
        const struct client *client = client_at(i);
        struct config_file file;
        char line[24];
        struct json *servers = read_servers(client, &file, line);

        for (void *it = json_first(servers); it; it = json_next(servers, it)) {
            const struct json *entry = json_value(it);

            if (entry_port(client, entry) > 0 &&
                (json_member(entry, "headers") || json_member(entry, "bearer_token_env_var")))
                title = client->title;
        }
        json_free(servers);
        config_file_release(&file);
    }
    return title;
}
