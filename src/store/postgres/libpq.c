/* libpq.c - see libpq.h. */
#include "store/postgres/libpq.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct libpq libpq;

static const struct {
    const char *name;
    size_t member;
} functions[] = {
#define LIBPQ_ROW(name) { "PQ" #name, offsetof(struct libpq, name) },
    LIBPQ_FUNCTIONS(LIBPQ_ROW)
};

static bool find_all(void *library, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        void *symbol = dlsym(library, functions[i].name);

        if (!symbol)
            return error_set(err, ERROR_unavailable, "",
                             "PostgreSQL's client library libpq.so.5 is too old (%s is missing): "
                             "install the one of PostgreSQL 14 or newer",
                             functions[i].name);
        /* ISO C has no cast from data to functions */
        memcpy((char *)&libpq + functions[i].member, &symbol, sizeof symbol);
    }
    return true;
}

bool libpq_load(struct error *err)
{
    static void *library; /* never unloaded: OpenSSL behind it would not survive that */

    if (!library)
        library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_set(err, ERROR_unavailable, "",
                         "the store is PostgreSQL, but its client library libpq.so.5 is not here: "
                         "install it (Debian, Ubuntu: apt-get install libpq5)");
    return find_all(library, err);
}
