/*
 * host.c - a host of an agent in plain C and plain sockets: it runs three tools (list_files, count,
 * save), and its agent asks a person in between. The "model" is a script: where yours calls a
 * model, this one has a case for each turn.
 *
 *   cc -O2 -o host docs/examples/host.c
 *   SAYSO_PORT=7297 SAYSO_TOKEN_FILE=FILE ./host DIRECTORY FILE
 *
 * The token is one of `sayso token new --kind host`. Everything it says may be said twice, so
 * whatever it is not sure of it says again; events have numbers, so a broken stream goes on behind
 * the last. Killed and started again it goes on where it was: FILE.host remembers the conversation,
 * its key, and the last event that was dealt with.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 65536 };

struct host {
    const char *directory, *file;
    char memory[4096]; /* path of what is remembered */
    char token[128], key[33], id[27];
    long last; /* event that was dealt with */
    int port;
    bool has_answer, has_count, is_done; /* of the scripted model */
    char answer[256], count[32];
};

/* What is remembered -----------------------------------------------------------------------------
 */

static void remember(const struct host *host)
{
    char path[4200];
    FILE *out;

    snprintf(path, sizeof path, "%s.new", host->memory);
    out = fopen(path, "w");
    if (!out ||
        fprintf(out, "%s %s %ld %d %d %s\n%s\n", host->key, host->id[0] ? host->id : "-",
                host->last, host->has_answer, host->has_count, host->count[0] ? host->count : "-",
                host->answer) < 0 ||
        fclose(out) != 0 || rename(path, host->memory) != 0) {
        perror(host->memory);
        exit(1);
    }
}

static void recall(struct host *host)
{
    FILE *in = fopen(host->memory, "r");
    int has_answer = 0, has_count = 0;
    unsigned char random[16];

    if (in && fscanf(in, "%32s %26s %ld %d %d %31s\n", host->key, host->id, &host->last,
                     &has_answer, &has_count, host->count) == 6) {
        host->has_answer = has_answer;
        host->has_count = has_count;
        if (fgets(host->answer, sizeof host->answer, in))
            host->answer[strcspn(host->answer, "\n")] = '\0';
    } else {
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
            exit(1);
        for (size_t i = 0; i < sizeof random; i++)
            snprintf(host->key + 2 * i, 3, "%02x", random[i]);
        remember(host);
    }
    if (strcmp(host->id, "-") == 0)
        host->id[0] = '\0';
    if (in)
        fclose(in);
}

/* JSON, as much of it as is needed here ----------------------------------------------------------
 */

static char *escape(const char *text, char *out, size_t size)
{
    size_t used = 0;

    for (; *text && used + 7 < size; text++) {
        unsigned char c = (unsigned char)*text;

        used += (size_t)(c == '"' || c == '\\' ? snprintf(out + used, size - used, "\\%c", c)
                         : c < ' '             ? snprintf(out + used, size - used, "\\u%04x", c)
                                               : snprintf(out + used, size - used, "%c", c));
    }
    out[used] = '\0';
    return out;
}

/* The text behind "name": and how deep it is nested in other texts says how often it is escaped. */
static bool find_text(const char *json, const char *name, char *out, size_t size)
{
    const char *at = strstr(json, name);
    size_t used = 0;

    if (!at)
        return false;
    for (at += strlen(name); *at && *at != '"' && used + 1 < size; at++) {
        if (*at == '\\' && at[1])
            at++;
        out[used++] = *at == 'n' && at[-1] == '\\' ? '\n' : *at;
    }
    out[used] = '\0';
    return true;
}

/* HTTP -------------------------------------------------------------------------------------------
 */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* HTTP/1.0: a reply ends with its connection, and there are no chunks. NULL: the hub is not
 * running right now. */
static FILE *request(const struct host *host, const char *method, const char *path,
                     const char *headers, const char *body)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((unsigned short)host->port) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    FILE *stream;

    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        !(stream = fdopen(fd, "r+"))) {
        close(fd);
        return NULL;
    }
    fprintf(stream, "%s %s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n%s",
            method, path, host->port, host->token, headers);
    if (body)
        fprintf(stream, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                strlen(body), body);
    else
        fputs("\r\n", stream);
    fflush(stream);
    return stream;
}

/* Behind the head; the status, 0 where the peer was gone before it. */
static int read_head(FILE *stream)
{
    char line[4096];
    int status = 0;

    if (!fgets(line, sizeof line, stream) || sscanf(line, "HTTP/1.%*c %d", &status) != 1)
        return 0;
    while (fgets(line, sizeof line, stream) && strcmp(line, "\r\n") != 0)
        continue;
    return status;
}

/* Says it until it was heard. */
static void say(const struct host *host, const char *path, const char *headers, const char *body,
                char reply[BYTES])
{
    for (;;) {
        FILE *stream = request(host, "POST", path, headers, body);
        int status = stream ? read_head(stream) : 0;
        size_t length = status ? fread(reply, 1, BYTES - 1, stream) : 0;

        reply[length] = '\0';
        if (stream)
            fclose(stream);
        if (status == 200 && length > 0)
            return;
        if (status != 0 && status != 200 && status != 429 && status != 503) {
            fprintf(stderr, "%s: %d %s\n", path, status, reply);
            exit(1);
        }
        pause_ms(200);
    }
}

static void say_to_conversation(const struct host *host, const char *act, const char *body)
{
    static char reply[BYTES];
    char path[96];

    snprintf(path, sizeof path, "/conversations/%s/%s", host->id, act);
    say(host, path, "", body, reply);
}

/* The three tools --------------------------------------------------------------------------------
 */

static bool list_files(struct host *host, const char *input, char *out, size_t size)
{
    DIR *directory = opendir(host->directory);
    size_t used = 0;

    (void)input;
    if (!directory)
        return false;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] != '.' && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s\n", entry->d_name);
    }
    closedir(directory);
    return true;
}

static long count_file(const char *path, bool counts_lines)
{
    FILE *in = fopen(path, "r");
    bool is_in_word = false;
    long count = 0;

    for (int c; in && (c = fgetc(in)) != EOF;) {
        count += counts_lines ? c == '\n' : !isspace(c) && !is_in_word;
        is_in_word = !isspace(c);
    }
    if (in)
        fclose(in);
    return count;
}

static bool count(struct host *host, const char *input, char *out, size_t size)
{
    DIR *directory = opendir(host->directory);
    char what[32] = "", path[4400];
    long total = 0;

    find_text(input, "\"what\":\"", what, sizeof what);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", host->directory, entry->d_name);
        total += count_file(path, strcmp(what, "Lines") == 0);
    }
    if (directory)
        closedir(directory);
    snprintf(out, size, "%ld", total);
    snprintf(host->count, sizeof host->count, "%ld", total);
    return directory != NULL;
}

static bool save(struct host *host, const char *input, char *out, size_t size)
{
    FILE *file = fopen(host->file, "w");

    (void)input;
    if (!file || fprintf(file, "%s\n", host->count) < 0 || fclose(file) != 0)
        return false;
    snprintf(out, size, "saved");
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct host *host, const char *input, char *out, size_t size);
} tools[] = { { "list_files", list_files }, { "count", count }, { "save", save } };

static void run_tool(struct host *host, const char *data)
{
    char name[64] = "", id[64] = "", output[4096] = "no such tool", escaped[BYTES / 2], body[BYTES];
    bool ok = false;

    find_text(data, "\"id\":\"", id, sizeof id);
    find_text(data, "\"name\":\"", name, sizeof name);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (strcmp(tools[i].name, name) == 0)
            ok = tools[i].run(host, data, output, sizeof output);
    }
    snprintf(body, sizeof body, "{\"tool_use_id\":\"%s\",\"content\":\"%s\",\"is_error\":%s}", id,
             escape(output, escaped, sizeof escaped), ok ? "false" : "true");
    say_to_conversation(host, "tool-results", body);
}

/* The model --------------------------------------------------------------------------------------
 */

static void think(const struct host *host)
{
    char answer[512], body[2048];

    if (host->has_count) {
        say_to_conversation(host, "turn-ended", "{}");
    } else if (host->has_answer) {
        snprintf(body, sizeof body,
                 "{\"tool_calls\":[{\"id\":\"t3\",\"name\":\"count\",\"input\":{\"what\":\"%s\"}},"
                 "{\"id\":\"t4\",\"name\":\"save\",\"input\":{}}]}",
                 escape(host->answer, answer, sizeof answer));
        say_to_conversation(host, "tool-calls", body);
    } else {
        say_to_conversation(
            host, "tool-calls",
            "{\"tool_calls\":[{\"id\":\"t1\",\"name\":\"list_files\",\"input\":{}},"
            "{\"id\":\"t2\",\"name\":\"ask_user_question\",\"input\":{\"questions\":[{"
            "\"question\":\"What shall be counted?\",\"header\":\"Figure\","
            "\"options\":[{\"label\":\"Lines\"},{\"label\":\"Words\"}]}]}}]}");
    }
}

static void deal_with(struct host *host, const char *event, const char *data)
{
    /* the result of the question is JSON inside JSON */
    static const char answered[] = "\\\"answers\\\":{\\\"What shall be counted?\\\":\\\"";
    const char *begin = strstr(data, answered), *end;

    if (strcmp(event, "persist_tool_results") == 0) {
        if (begin) { /* to the next escaped quote */
            begin += sizeof answered - 1;
            end = strstr(begin, "\\\"");
            snprintf(host->answer, sizeof host->answer, "%.*s", end ? (int)(end - begin) : 0,
                     begin);
            host->has_answer = true;
        }
        host->has_count |= strstr(data, "\"tool_use_id\":\"t4\"") != NULL;
    } else if (strcmp(event, "execute_tool") == 0) {
        run_tool(host, data);
    } else if (strcmp(event, "request_llm") == 0) {
        think(host);
    } else if (strcmp(event, "agent_done") == 0) {
        host->is_done = true;
    }
}

/* Listening --------------------------------------------------------------------------------------
 */

static void listen_once(struct host *host)
{
    static char line[BYTES];
    char path[96], headers[64], event[64] = "";
    FILE *stream;
    long id = 0;

    snprintf(path, sizeof path, "/conversations/%s/events", host->id);
    snprintf(headers, sizeof headers, "Last-Event-ID: %ld\r\n", host->last);
    stream = request(host, "GET", path, headers, NULL);
    if (stream && read_head(stream) == 200) {
        while (!host->is_done && fgets(line, sizeof line, stream)) {
            line[strcspn(line, "\n")] = '\0';
            if (sscanf(line, "id: %ld", &id) == 1 || sscanf(line, "event: %63s", event) == 1)
                continue;
            if (strncmp(line, "data: ", 6) == 0) {
                deal_with(host, event, line + 6);
                host->last = id;
                remember(host);
            }
        }
    }
    if (stream)
        fclose(stream);
}

static void make_conversation(struct host *host)
{
    char headers[96], reply[BYTES];

    snprintf(headers, sizeof headers, "Idempotency-Key: %s\r\n", host->key);
    say(host, "/conversations", headers, "{}", reply);
    if (!find_text(reply, "\"conversation\":\"", host->id, sizeof host->id))
        exit(1);
    remember(host);
}

int main(int argc, char **argv)
{
    struct host host = { 0 };
    const char *port = getenv("SAYSO_PORT"), *token = getenv("SAYSO_TOKEN_FILE");
    FILE *secret = token ? fopen(token, "r") : NULL;

    if (argc != 3 || !secret || !fgets(host.token, sizeof host.token, secret)) {
        fprintf(stderr, "usage: SAYSO_PORT=7297 SAYSO_TOKEN_FILE=FILE %s DIRECTORY FILE\n",
                argv[0]);
        return 2;
    }
    fclose(secret);
    host.token[strcspn(host.token, "\n")] = '\0';
    host.port = port ? (int)strtol(port, NULL, 10) : 7297;
    host.directory = argv[1];
    host.file = argv[2];
    snprintf(host.memory, sizeof host.memory, "%s.host", argv[2]);
    recall(&host);
    if (!host.id[0])
        make_conversation(&host);
    if (host.last == 0)
        think(&host);
    while (!host.is_done) {
        listen_once(&host);
        if (!host.is_done)
            pause_ms(200);
    }
    if (!host.has_count || access(host.file, F_OK) != 0) {
        fprintf(stderr, "nothing was saved\n");
        return 3;
    }
    printf("%s\n", host.count);
    return 0;
}
