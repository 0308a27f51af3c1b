/* start.h - how a hub is started by whoever needs one: the program (wire/link) or libsayso. */
#ifndef WIRE_START_H
#define WIRE_START_H

enum { START_LIMIT_MS = 5000 }; /* until it says that it serves */

#define START_ARGUMENTS(program)                                                                   \
    {                                                                                              \
        (program), "serve", "--auto-started", NULL                                                 \
    }
/* What it may inherit: never a key of another tool. Ours are settings. */
extern const char *const start_environment[];

#endif
