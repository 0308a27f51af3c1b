/*
 * os_linux_desktop.c - an address of ours in the person's browser. No shell is used: a fixed
 * program gets the address as one argument, and little else from us.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"

enum { PATH_BYTES = 4096, BROWSER_WORDS = 4 };

/* What finds a screen, a session and a browser. Nothing of ours, no key of another tool. */
static const char *const passed_on[] = {
    "HOME",    "PATH",  "USER",   "LOGNAME",         "LANG",       "LC_*",
    "DISPLAY", "XDG_*", "TMPDIR", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
    "BROWSER", "WSL*",  "TZ",     "VSCODE_*",        NULL,
};

/* The address goes behind the words. */
static const struct opener {
    const char *words[BROWSER_WORDS];
} openers[] = { { { "xdg-open" } }, { { "gio", "open" } }, { { "x-www-browser" } } };
static const struct opener wsl_openers[] = {
    { { "wslview" } },
    { { "rundll32.exe", "url.dll,FileProtocolHandler" } },
    { { "/mnt/c/Windows/System32/rundll32.exe", "url.dll,FileProtocolHandler" } },
};

static bool has(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

/* Along PATH; only absolute folders of it, so that where we stand decides nothing. */
static bool find_program(const char *name, char out[PATH_BYTES])
{
    const char *folders = getenv("PATH");

    if (name[0] == '/')
        return snprintf(out, PATH_BYTES, "%s", name) < PATH_BYTES && access(out, X_OK) == 0;
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");

        if (folders[0] == '/' &&
            snprintf(out, PATH_BYTES, "%.*s/%s", (int)length, folders, name) < PATH_BYTES &&
            access(out, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool start(const struct opener *opener, const char *url)
{
    const char *arguments[BROWSER_WORDS + 2] = { NULL };
    char program[PATH_BYTES];
    size_t count = 0;

    if (!find_program(opener->words[0], program))
        return false;
    for (; count < BROWSER_WORDS && opener->words[count]; count++)
        arguments[count] = opener->words[count];
    arguments[count] = url;
    return !url || os_start_detached(program, arguments, passed_on);
}

static bool start_one_of(const struct opener *rows, size_t count, const char *url)
{
    for (size_t i = 0; i < count; i++)
        if (start(&rows[i], url))
            return true;
    return false;
}

/* The first of the list in BROWSER, where it is the name of a program and nothing more. */
static bool start_chosen(const char *url)
{
    const char *chosen = getenv("BROWSER");
    struct opener opener = { { NULL } };
    char name[PATH_BYTES];
    size_t length = chosen ? strcspn(chosen, ":") : 0;

    if (length == 0 || length >= sizeof name || strcspn(chosen, " %\t\"'") < length)
        return false;
    memcpy(name, chosen, length);
    name[length] = '\0';
    opener.words[0] = name;
    return start(&opener, url);
}

static bool is_wsl(void)
{
    struct text release = { 0 };
    bool found = os_read_file("/proc/sys/kernel/osrelease", 256, &release, NULL) &&
                 strstr(text_string(&release), "icrosoft");

    text_release(&release);
    return found;
}

static bool is_container(void)
{
    return has("container") || access("/.dockerenv", F_OK) == 0 ||
           access("/run/.containerenv", F_OK) == 0;
}

enum os_browser os_open_browser(const char *url)
{
    bool has_screen = has("DISPLAY") || has("WAYLAND_DISPLAY");

    if (start_chosen(url))
        return OS_BROWSER_OPENED;
    if (is_wsl() && start_one_of(wsl_openers, ARRAY_LEN(wsl_openers), url))
        return OS_BROWSER_OPENED;
    if (has_screen && start_one_of(openers, ARRAY_LEN(openers), url))
        return OS_BROWSER_OPENED;
    if (has("SSH_CONNECTION") || has("SSH_TTY"))
        return OS_BROWSER_REMOTE;
    return is_container() ? OS_BROWSER_CONTAINED : OS_BROWSER_NONE;
}

struct sd_bus;

/* A notification by the session's D-Bus. libsystemd is needed for nothing else: it loads late. */

struct bus_calls {
    int (*open_user)(struct sd_bus **bus);
    int (*call_method)(struct sd_bus *bus, const char *destination, const char *path,
                       const char *interface, const char *member, void *error, void **reply,
                       const char *types, ...);
    struct sd_bus *(*close_unref)(struct sd_bus *bus);
    int (*set_timeout)(struct sd_bus *bus, uint64_t usec);
};

/* Debian has no archive of it: a static program has no such notifications. */
static const struct os_function bus_functions[] = {
    { "sd_bus_open_user", offsetof(struct bus_calls, open_user), NULL },
    { "sd_bus_call_method", offsetof(struct bus_calls, call_method), NULL },
    { "sd_bus_flush_close_unref", offsetof(struct bus_calls, close_unref), NULL },
    { "sd_bus_set_method_call_timeout", offsetof(struct bus_calls, set_timeout), NULL },
};

enum os_notify os_notify_desktop(const char *title, const char *body, bool is_urgent)
{
    static const uint64_t limit_us = 5000000;
    const uint8_t urgency = is_urgent ? 2 : 1;
    struct bus_calls calls = { 0 };
    struct sd_bus *bus = NULL;
    const char *missing;
    int result;

    if (!os_load("libsystemd.so.0", bus_functions, ARRAY_LEN(bus_functions), &calls, &missing))
        return OS_NOTIFY_NO_LIBRARY;
    if (calls.open_user(&bus) < 0)
        return OS_NOTIFY_NO_BUS;
    calls.set_timeout(bus, limit_us);
    result =
        calls.call_method(bus, "org.freedesktop.Notifications", "/org/freedesktop/Notifications",
                          "org.freedesktop.Notifications", "Notify", NULL, NULL, "susssasa{sv}i",
                          "sayso", (uint32_t)0, "", title, body, (uint32_t)0, (uint32_t)1,
                          "urgency", "y", urgency, (int32_t)-1);
    calls.close_unref(bus);
    return result < 0 ? OS_NOTIFY_REFUSED : OS_NOTIFY_SHOWN;
}
