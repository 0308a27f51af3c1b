/* start.c - see start.h. */
#include "wire/start.h"

#include <stddef.h>

const char *const start_environment[] = {
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_*",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "TZ",
    "TMPDIR",
    "CHOICE_LANG",
    /* with which it finds the person's browser, or that there is none */
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "BROWSER",
    "WSL_*",
    "SSH_CONNECTION",
    "SAYSO_*",
#ifdef SAYSO_CRASH_POINTS
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
    "LD_PRELOAD",
    "FAKETIME*",
    "DONT_FAKE_MONOTONIC",
#endif
    NULL,
};
