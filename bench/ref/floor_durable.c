/*
 * floor_durable.c - the limit of a durable ask: a front process on stdio, a hub process behind a
 * socket pair, SQLite with group commit, no JSON parser.
 *
 *   floor_durable DIRECTORY
 *
 * A question is committed without a sync, an answer with one, each before it is passed on. Front
 * and hub exchange kind ('Q' or 'A') and number; the hub sends back what it has committed.
 * Everything that arrived while the last commit ran is one transaction.
 */
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "floor.h"

enum { MESSAGES_BYTES = 1 << 16, MESSAGES_AT_ONCE = 8192, BODY_BYTES = 400 };

struct message {
    char kind[8];
    uint64_t number;
};

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(1);
    }
}

static sqlite3_stmt *ask_statement, *answer_statement;

static sqlite3 *open_store(const char *directory)
{
    char path[4096];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/floor_durable.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    run(db,
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 8000;"
        "DROP TABLE IF EXISTS asks;"
        "CREATE TABLE asks (id INTEGER PRIMARY KEY, state TEXT, body TEXT, answer TEXT) STRICT;");
    sqlite3_prepare_v2(db, "INSERT INTO asks VALUES (?1, 'pending', ?2, NULL)", -1, &ask_statement,
                       NULL);
    sqlite3_prepare_v2(db,
                       "UPDATE asks SET state = 'submitted', answer = 'yes'"
                       " WHERE id = ?1 AND state = 'pending'",
                       -1, &answer_statement, NULL);
    return db;
}

static void commit(sqlite3 *db, const struct message *messages, size_t count)
{
    static char body[BODY_BYTES];
    bool has_answer = false;

    memset(body, 'x', sizeof body - 1);
    for (size_t i = 0; i < count; i++)
        has_answer = has_answer || messages[i].kind[0] == 'A';
    run(db, has_answer ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    run(db, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *statement = messages[i].kind[0] == 'A' ? answer_statement : ask_statement;

        sqlite3_bind_int64(statement, 1, (int64_t)messages[i].number);
        if (statement == ask_statement)
            sqlite3_bind_text(statement, 2, body, -1, SQLITE_STATIC);
        sqlite3_step(statement);
        sqlite3_reset(statement);
    }
    run(db, "COMMIT");
}

static int hub(int fd, const char *directory)
{
    static char bytes[MESSAGES_BYTES] __attribute__((aligned(16)));
    sqlite3 *db = open_store(directory);
    size_t used = 0;
    ssize_t got;

    while ((got = read(fd, bytes + used, sizeof bytes - used)) > 0) {
        size_t whole;

        used += (size_t)got;
        whole = used / sizeof(struct message);
        commit(db, (const struct message *)(const void *)bytes, whole);
        if (write(fd, bytes, whole * sizeof(struct message)) < 0)
            return 1;
        used -= whole * sizeof(struct message);
        memmove(bytes, bytes + whole * sizeof(struct message), used);
    }
    return 0;
}

static struct message to_send[MESSAGES_AT_ONCE];
static size_t send_count;
static uint32_t *calls; /* ask number -> request id */
static size_t call_count, call_room;

static void send_all(int fd)
{
    if (send_count > 0 && write(fd, to_send, send_count * sizeof *to_send) < 0)
        exit(1);
    send_count = 0;
}

/* What the hub has committed is passed on. */
static void take_committed(int fd)
{
    static char bytes[MESSAGES_BYTES] __attribute__((aligned(16)));
    static size_t used;
    const struct message *messages = (const struct message *)(const void *)bytes;
    ssize_t got = read(fd, bytes + used, sizeof bytes - used);
    size_t whole;
    char text[512];

    if (got <= 0)
        exit(1);
    used += (size_t)got;
    whole = used / sizeof *messages;
    for (size_t i = 0; i < whole; i++) {
        unsigned long number = messages[i].number;
        bool is_question = messages[i].kind[0] == 'Q';
        int length =
            snprintf(text, sizeof text,
                     is_question ? "{\"jsonrpc\":\"2.0\",\"id\":%lu,"
                                 : "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"result\":" FLOOR_DONE "}\n",
                     is_question ? number : calls[number]);

        floor_put(text, (size_t)length);
        if (is_question)
            floor_put(FLOOR_QUESTION, sizeof FLOOR_QUESTION - 1);
    }
    used -= whole * sizeof *messages;
    memmove(bytes, bytes + whole * sizeof *messages, used);
}

static void take_line(int fd, const char *line, size_t length)
{
    const char *result = floor_result(line, length);
    long id = floor_number(line, length, "\"id\":");
    char text[512];

    if (result && *result) {
        floor_put(text, (size_t)snprintf(text, sizeof text,
                                         "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":", id));
        floor_put(result, strlen(result));
        floor_put("}\n", 2);
    } else if (result) {
        if (call_count == call_room) {
            call_room = call_room ? call_room * 2 : 1024;
            calls = realloc(calls, call_room * sizeof *calls);
        }
        calls[call_count] = (uint32_t)id;
        to_send[send_count++] = (struct message){ "Q", call_count++ };
    } else if (memmem(line, length, "\"result\"", 8)) {
        to_send[send_count++] = (struct message){ "A", (uint64_t)id };
    }
    if (send_count == MESSAGES_AT_ONCE)
        send_all(fd);
}

static bool take_lines(int fd)
{
    static char in[FLOOR_BYTES];
    static size_t used;
    ssize_t got = read(STDIN_FILENO, in + used, sizeof in - used);
    char *line = in, *end;

    if (got <= 0)
        return false;
    used += (size_t)got;
    while ((end = memchr(line, '\n', (size_t)(in + used - line)))) {
        take_line(fd, line, (size_t)(end - line));
        line = end + 1;
    }
    used -= (size_t)(line - in);
    memmove(in, line, used);
    send_all(fd);
    return true;
}

static int front(int fd)
{
    struct pollfd ready[] = { { STDIN_FILENO, POLLIN, 0 }, { fd, POLLIN, 0 } };

    while (poll(ready, 2, -1) >= 0) {
        if (ready[1].revents)
            take_committed(fd);
        if (ready[0].revents && !take_lines(fd))
            return 0;
        floor_flush();
    }
    return 1;
}

int main(int count, char **arguments)
{
    int pair[2];

    signal(SIGPIPE, SIG_IGN);
    if (count < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 2;
    if (fork() == 0) {
        close(pair[0]);
        return hub(pair[1], arguments[1]);
    }
    close(pair[1]);
    return front(pair[0]);
}
