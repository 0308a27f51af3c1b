/* plan.c - see plan.h. */
#include "plan.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

enum { MAX_ROWS = 96 };

static struct row {
    char *key, *value;
} rows[MAX_ROWS];
static size_t row_count;

const char *plan_find_next(const char *key, size_t *at)
{
    while (*at < row_count) {
        const struct row *row = &rows[(*at)++];

        if (strcmp(row->key, key) == 0)
            return row->value;
    }
    return NULL;
}

const char *plan_find(const char *key)
{
    size_t at = 0;

    return plan_find_next(key, &at);
}

long plan_number(const char *key, long fallback)
{
    const char *value = plan_find(key);

    return value ? strtol(value, NULL, 10) : fallback;
}

void plan_load(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (!file)
        load_fail("the plan cannot be read");
    while ((length = getline(&line, &room, file)) > 0 && row_count < MAX_ROWS) {
        char *blank;

        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        blank = strchr(line, ' ');
        if (!blank)
            continue;
        *blank = '\0';
        rows[row_count++] = (struct row){ strdup(line), strdup(blank + 1) };
    }
    free(line);
    fclose(file);
}

static const char *expand(struct bytes *out, const char *mark, const struct plan_values *values)
{
    if (strncmp(mark, "%ID%", 4) == 0) {
        bytes_add_format(out, "%ld", values->id);
        return mark + 4;
    }
    if (strncmp(mark, "%N%", 3) == 0) {
        bytes_add_format(out, "%ld", values->number);
        return mark + 3;
    }
    if (strncmp(mark, "%RID%", 5) == 0 || strncmp(mark, "%ASK%", 5) == 0) {
        bytes_add(out, values->server_id, values->server_id_length);
        return mark + 5;
    }
    bytes_add(out, mark, 1);
    return mark + 1;
}

void plan_write(struct bytes *out, const char *key, const struct plan_values *values)
{
    const char *template = plan_find(key), *mark;

    if (!template)
        load_fail("the plan lacks a message");
    while ((mark = strchr(template, '%'))) {
        bytes_add(out, template, (size_t)(mark - template));
        template = expand(out, mark, values);
    }
    bytes_add_text(out, template);
}

static void run_server(int in_fd, int out_fd, int is_loud)
{
    char *arguments[MAX_ROWS + 1];
    size_t count = 0;
    int nothing = open("/dev/null", O_RDWR);

    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(rows[i].key, "argv") == 0)
            arguments[count++] = rows[i].value;
        else if (strcmp(rows[i].key, "env") == 0)
            putenv(rows[i].value);
    }
    arguments[count] = NULL;
    setpgid(0, 0);
    dup2(in_fd < 0 ? nothing : in_fd, STDIN_FILENO);
    dup2(out_fd < 0 ? nothing : out_fd, STDOUT_FILENO);
    if (!is_loud)
        dup2(nothing, STDERR_FILENO);
    if (count > 0)
        execvp(arguments[0], arguments);
    _exit(127);
}

pid_t plan_start_server(int in_fd, int out_fd, int is_loud)
{
    pid_t pid = fork();

    if (pid < 0)
        load_fail("no process for the server");
    if (pid == 0)
        run_server(in_fd, out_fd, is_loud);
    setpgid(pid, pid);
    return pid;
}

void plan_stop_server(pid_t pid)
{
    kill(-pid, SIGTERM);
    for (int i = 0; i < 40 && waitpid(pid, NULL, WNOHANG) != pid; i++)
        usleep(5000);
    kill(-pid, SIGKILL);
}
