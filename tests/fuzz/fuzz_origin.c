/*
 * fuzz_origin.c - values of Host, Origin, Authorization and Content-Type, and paths against
 * patterns: what passes is exactly one of the few things that may.
 * Proves: P14, A1
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/guard.h"
#include "net/origin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PORT = 7297 };

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_host(const char *value)
{
    static const char *const ours[] = { "127.0.0.1:7297", "[::1]:7297", "localhost:7297" };
    bool is_ours = false, is_origin = false;
    char origin[64];

    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        snprintf(origin, sizeof origin, "http://%s", ours[i]);
        is_ours = is_ours || strcmp(value, ours[i]) == 0;
        is_origin = is_origin || strcmp(value, origin) == 0;
    }
    demand(origin_is_our_host(value, PORT) == is_ours);
    demand(origin_is_ours(value, PORT) == is_origin);
    demand(origin_is_from_our_page(value) ==
           (strcmp(value, "none") == 0 || strcmp(value, "same-origin") == 0));
}

static void check_bearer(const char *value)
{
    const char *token = origin_bearer(value);

    if (!token)
        return;
    demand(token >= value + strlen("Bearer ") && *token);
    demand(strlen(token) < ORIGIN_TOKEN_BYTES);
    for (const char *at = token; *at; at++)
        demand(*at > ' ' && *at < 127 && *at != '"' && *at != '\\');
}

static void check_route(const char *value)
{
    static const char *const patterns[] = { "/api/asks/{id}/answer", "/a/{x}/{y}", "/static/*" };
    struct route_values values;

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        if (!route_matches(patterns[i], value, &values))
            continue;
        for (size_t k = 0; k < ROUTE_VALUES; k++) {
            demand(memchr(values.of[k], 0, ROUTE_VALUE_BYTES) != NULL);
            demand(i == 2 || !strchr(values.of[k], '/'));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *value = mem_text_n((const char *)data, size);

    check_host(value);
    check_bearer(value);
    check_route(value);
    if (origin_is_type(value, "application/json"))
        demand(strlen(value) == 16 || strchr(" \t;", value[16]));
    free(value);
    return 0;
}
