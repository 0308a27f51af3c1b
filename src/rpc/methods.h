/* methods.h - the table of methods: their names, who may call them, and what is true of each. */
#ifndef RPC_METHODS_H
#define RPC_METHODS_H

enum method {
#define METHOD(id, name, roles, flags)     METHOD_##id,
#define HUB_METHOD(id, name, roles, flags) METHOD_##id,
#include "rpc/methods.def"
    METHOD_COUNT
};

enum method_flags {
    METHOD_REPEATABLE = 1, /* a client may say it again to the next hub */
    METHOD_READS = 2,      /* answered out of the store: its session's news wait for the reply */
    METHOD_WAITS = 4,      /* parked until there is something to say: wait_seconds and tag count */
    METHOD_OF_HUB = 8,     /* HUB_METHOD */
};

struct method_row {
    const char *name;      /* NULL: not on the wire */
    unsigned roles, flags; /* of enum desk_role; enum method_flags */
};
extern const struct method_row methods[METHOD_COUNT];

enum method method_find(const char *name); /* METHOD_COUNT: there is none */

#endif
