/*
 * fuzz_http_target.c - any text as the target of a request: what is taken is a clean path and a
 * query whose parameters can all be found, decoded.
 * Proves: P14
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_path(const char *path)
{
    size_t length = strlen(path);

    demand(path[0] == '/' && text_is_utf8(path, length));
    for (const char *at = path; *at; at++)
        demand((unsigned char)*at >= 0x20 && *at != 0x7f && *at != '\\');
    for (const char *part = path; *part; part += 1 + strcspn(part + 1, "/")) {
        size_t part_length = strcspn(part + 1, "/");

        demand(part_length > 0 || part[1] == '\0');
        demand(!(part_length == 1 && part[1] == '.'));
        demand(!(part_length == 2 && part[1] == '.' && part[2] == '.'));
    }
}

/* Every name that stands there before any decoding is needed is found, and its value is UTF-8. */
static void check_query(const char *query)
{
    struct text out = { 0 };

    for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&') {
        size_t length = strcspn(at, "&=%+");
        char *name = mem_text_n(at, length);

        if (at[length] == '=' || at[length] == '&' || at[length] == '\0') {
            demand(http_query_find(query, name, &out));
            demand(text_is_utf8(text_string(&out), out.used));
            demand(strlen(text_string(&out)) == out.used);
        }
        free(name);
    }
    http_query_find(query, "a", &out);
    text_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *target = mem_text_n((const char *)data, size);
    struct http_fault fault = { 0 };
    const char *query = NULL;

    if (http_target_parse(target, &query, &fault)) {
        check_path(target);
        demand(query != NULL);
        check_query(query);
    } else {
        demand(fault.status == 400 && fault.why);
    }
    free(target);
    return 0;
}
