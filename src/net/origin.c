/* origin.c - see origin.h. */
#include "net/origin.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { HTTP_PORT = 80 };
static const char token_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

/* Names that can only mean this machine; whoever may set one has the machine. */
static const char *const our_names[] = { "127.0.0.1", "[::1]", "localhost" };

bool origin_is_our_host(const char *host, int port)
{
    char behind[16];

    if (!host)
        return false;
    snprintf(behind, sizeof behind, ":%d", port);
    for (size_t i = 0; i < ARRAY_LEN(our_names); i++) {
        size_t length = strlen(our_names[i]);

        if (strncmp(host, our_names[i], length) == 0 &&
            (strcmp(host + length, behind) == 0 || (port == HTTP_PORT && !host[length])))
            return true;
    }
    return false;
}

bool origin_is_ours(const char *origin, int port)
{
    static const char scheme[] = "http://";

    return !origin || (strncmp(origin, scheme, strlen(scheme)) == 0 &&
                       origin_is_our_host(origin + strlen(scheme), port));
}

bool origin_is_from_our_page(const char *sec_fetch_site)
{
    return !sec_fetch_site || strcmp(sec_fetch_site, "same-origin") == 0 ||
           strcmp(sec_fetch_site, "none") == 0;
}

const char *origin_bearer(const char *authorization)
{
    static const char scheme[] = "bearer ";
    size_t length;

    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
        return NULL;
    authorization += strlen(scheme);
    authorization += strspn(authorization, " ");
    length = strlen(authorization);
    if (length == 0 || length >= ORIGIN_TOKEN_BYTES ||
        strspn(authorization, token_characters) != length)
        return NULL;
    return authorization;
}

bool origin_is_type(const char *content_type, const char *type)
{
    size_t length = strlen(type);

    if (!content_type || strncasecmp(content_type, type, length) != 0)
        return false;
    content_type += length;
    content_type += strspn(content_type, " \t");
    return *content_type == '\0' || *content_type == ';';
}
