/* client_process.c - see client_process.h. */
#include "core/client_process.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

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

static bool is_interpreter(const char *program)
{
    return has_word(interpreters, program) || strncmp(program, "python3.", 8) == 0;
}

/* Above the first process of a terminal is what shows the terminal: an emulator, an editor, a
 * multiplexer. It may hold other terminals, which are the person's. */
enum client_rank client_rank(const struct client_facts *process)
{
    bool is_script = is_interpreter(process->program);
    enum client_rank rank = is_script ? rank_of(process->title) : CLIENT_FOUND;

    if (is_script && rank == CLIENT_FOUND)
        rank = rank_of(process->script);
    if (rank == CLIENT_FOUND)
        rank = rank_of(process->program);
    return rank == CLIENT_ABOVE && process->leads_terminal ? CLIENT_NONE : rank;
}
