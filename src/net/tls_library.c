/* tls_library.c - see tls_library.h. */
#include "net/tls_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static struct tls_library library;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    size_t place;
    bool is_crypto;
} functions[] = {
#define TLS_SSL(name)    { #name, offsetof(struct tls_library, name), false },
#define TLS_CRYPTO(name) { #name, offsetof(struct tls_library, name), true },
#include "net/tls_library.def"
#undef TLS_SSL
#undef TLS_CRYPTO
};

static void load(void)
{
    void *crypto = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    void *ssl = crypto ? dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL) : NULL;

    for (size_t i = 0; ssl && i < ARRAY_LEN(functions); i++) {
        void *symbol = dlsym(functions[i].is_crypto ? crypto : ssl, functions[i].name);

        if (!symbol)
            return;
        /* ISO C has no cast from data to functions */
        memcpy((char *)&library + functions[i].place, &symbol, sizeof symbol);
    }
    is_loaded = ssl != NULL;
}

const struct tls_library *tls_library_get(struct error *err)
{
    pthread_once(&once, load);
    if (is_loaded)
        return &library;
    error_set(err, ERROR_unavailable, "",
              "TLS needs OpenSSL 3, which is not installed: apt install libssl3");
    return NULL;
}
