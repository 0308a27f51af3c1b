/*
 * os_linux_notify.c - a notification on the person's desktop, by the session's D-Bus. libsystemd
 * speaks it and is not needed otherwise: it is looked for when it is wanted.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/os.h"

struct sd_bus;

struct bus_calls {
    int (*open_user)(struct sd_bus **bus);
    int (*call_method)(struct sd_bus *bus, const char *destination, const char *path,
                       const char *interface, const char *member, void *error, void **reply,
                       const char *types, ...);
    struct sd_bus *(*close_unref)(struct sd_bus *bus);
    int (*set_timeout)(struct sd_bus *bus, uint64_t usec);
};

static bool find_calls(struct bus_calls *calls)
{
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return false;
    *(void **)&calls->open_user = dlsym(library, "sd_bus_open_user");
    *(void **)&calls->call_method = dlsym(library, "sd_bus_call_method");
    *(void **)&calls->close_unref = dlsym(library, "sd_bus_flush_close_unref");
    *(void **)&calls->set_timeout = dlsym(library, "sd_bus_set_method_call_timeout");
    return calls->open_user && calls->call_method && calls->close_unref && calls->set_timeout;
}

enum os_notify os_notify_desktop(const char *title, const char *body, bool is_urgent)
{
    static const uint64_t limit_us = 5000000;
    const uint8_t urgency = is_urgent ? 2 : 1;
    struct bus_calls calls = { 0 };
    struct sd_bus *bus = NULL;
    int result;

    if (!find_calls(&calls))
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
