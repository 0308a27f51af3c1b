/* sole_user.c - see sole_user.h. */
#include "core/sole_user.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { LINE_BYTES = 1024, FIELDS = 7, FIELD_UID = 2, FIELD_SHELL = 6 };
static const char blanks[] = " \t";

/* False: there are no more. A line that is too long becomes a lone "+", which nothing accepts. */
static bool next_line(const char **at, char line[LINE_BYTES])
{
    size_t length = strcspn(*at, "\n");

    if (**at == '\0')
        return false;
    if (length < LINE_BYTES)
        snprintf(line, LINE_BYTES, "%.*s", (int)length, *at);
    else
        snprintf(line, LINE_BYTES, "+");
    *at += length + ((*at)[length] == '\n');
    return true;
}

/* False: it is there and no number. */
static bool read_limit(const char *login_defs, const char *name, int64_t *limit)
{
    char line[LINE_BYTES], *rest;

    while (next_line(&login_defs, line)) {
        const char *word = strtok_r(line, blanks, &rest);

        if (word && strcmp(word, name) == 0 &&
            (!(word = strtok_r(NULL, blanks, &rest)) || !text_parse_integer(word, limit)))
            return false;
    }
    return true;
}

static bool has_no_directory(const char *nsswitch)
{
    static const char *const local_sources[] = { "files", "systemd", "compat" };
    char line[LINE_BYTES], *rest;
    bool is_named = false;

    while (next_line(&nsswitch, line)) {
        const char *word;

        line[strcspn(line, "#")] = '\0';
        word = strtok_r(line, " \t:", &rest);
        if (!word || strcmp(word, "passwd") != 0)
            continue;
        while ((word = strtok_r(NULL, " \t:", &rest))) {
            is_named = true;
            if (!text_is_among(word, local_sources, ARRAY_LEN(local_sources)))
                return false;
        }
    }
    return is_named;
}

static bool is_login_shell(const char *shell)
{
    const char *name = strrchr(shell, '/');

    name = name ? name + 1 : shell;
    return strcmp(name, "nologin") != 0 && strcmp(name, "false") != 0;
}

/* False: it is no account of passwd(5), as a line that includes those of a directory. */
static bool read_account(char *line, int64_t *ret_uid, const char **ret_shell)
{
    const char *fields[FIELDS];
    size_t count = 0;

    while (line && count < FIELDS)
        fields[count++] = strsep(&line, ":");
    if (line || count < FIELDS || strchr("+-", fields[0][0]))
        return false;
    *ret_shell = fields[FIELD_SHELL];
    return text_parse_integer(fields[FIELD_UID], ret_uid);
}

bool sole_user_is(const struct account_files *files, int64_t uid)
{
    int64_t least = 1000, most = 60000, found;
    const char *passwd = files->passwd, *shell;
    char line[LINE_BYTES];
    bool is_there = false;

    if (!read_limit(files->login_defs, "UID_MIN", &least) ||
        !read_limit(files->login_defs, "UID_MAX", &most) || !has_no_directory(files->nsswitch))
        return false;
    while (next_line(&passwd, line)) {
        if (!read_account(line, &found, &shell))
            return false;
        if (found < least || found > most || !is_login_shell(shell))
            continue;
        if (found != uid || is_there)
            return false;
        is_there = true;
    }
    return is_there;
}
