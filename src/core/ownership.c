#include "core/ownership.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* Programs that are never the client, with spaces between them. Any other program is one. */
static const struct {
    enum client_rank rank;
    const char *names;
} rows[] = {
    /* the front itself */
    { CLIENT_ABOVE, "sayso sayso.js" },
    /* shells: clients start every command in a new one */
    { CLIENT_ABOVE, "sh ash bash bash-static bsd-csh csh dash elvish fish ksh ksh93 lksh mksh nu "
                    "oksh osh posh pwsh rbash tcsh xonsh yash zsh zsh-static" },
    /* package runners: they fetch a program and start it; x as in "bun x" */
    { CLIENT_ABOVE, "bunx corepack corepack.js dx npm npm-cli.js npx npx-cli.js pipx pnpm pnpm.cjs "
                    "pnpm.mjs pnpx uv uvx x yarn yarn.cjs yarn.js yarnpkg" },
    /* wrappers: they change something for one program and wait for it */
    { CLIENT_ABOVE, "busybox bwrap catatonit coreutils direnv doas docker-init dumb-init env "
                    "firejail flock mise nice nohup op podman-init runuser script setsid stdbuf "
                    "strace su sudo time timeout tini toybox unbuffer unshare xargs" },
    /* they hold terminals of people, start services, or only keep a container running */
    { CLIENT_NONE, "atd cron crond dinit init login mosh-server openrc-init pause runit runsv "
                   "s6-supervise s6-svscan screen sleep sshd sshd-session supervisord systemd tail "
                   "tmux zellij" },
    /* they show a desktop: people start their terminals there */
    { CLIENT_NONE,
      "awesome bspwm cinnamon dwm gnome-session-binary gnome-shell Hyprland i3 krunner "
      "kwin_wayland kwin_x11 lxpanel mate-panel openbox plasmashell sway xfce4-panel "
      "xfce4-session xfwm4" },
};
/* They are what their script is, or which one of their many programs was called. */
static const char interpreters[] =
    "bun busybox coreutils deno node nodejs perl python python3 ruby toybox";

static bool has_word(const char *words, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = words; length && at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    }
    return false;
}

static enum client_rank rank_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (has_word(rows[i].names, name))
            return rows[i].rank;
    }
    return CLIENT_FOUND;
}

/* Above the first process of a terminal is what shows the terminal: an emulator, an editor, a
 * multiplexer. It may hold other terminals, which are the person's. */
enum client_rank client_rank(const struct client_facts *process)
{
    bool is_script =
        has_word(interpreters, process->program) || strncmp(process->program, "python3.", 8) == 0;
    enum client_rank rank = is_script ? rank_of(process->title) : CLIENT_FOUND;

    if (is_script && rank == CLIENT_FOUND)
        rank = rank_of(process->script);
    if (rank == CLIENT_FOUND)
        rank = rank_of(process->program);
    return rank == CLIENT_ABOVE && process->leads_terminal ? CLIENT_NONE : rank;
}

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
    int64_t min = 1000, max = 60000, found;
    const char *passwd = files->passwd, *shell;
    char line[LINE_BYTES];
    bool is_there = false;

    if (!read_limit(files->login_defs, "UID_MIN", &min) ||
        !read_limit(files->login_defs, "UID_MAX", &max) || !has_no_directory(files->nsswitch))
        return false;
    while (next_line(&passwd, line)) {
        if (!read_account(line, &found, &shell))
            return false;
        if (found < min || found > max || !is_login_shell(shell))
            continue;
        if (found != uid || is_there)
            return false;
        is_there = true;
    }
    return is_there;
}
