#include "net/origin.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http.h"

enum { HTTP_PORT = 80, HTTPS_PORT = 443 };
static const char token_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

/* Names that can only mean this machine; a program that can redirect them controls the machine
 * anyway. */
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

bool origin_is_host_of(const struct http_virtual_host *virtual_host, const char *address,
                       const char *host)
{
    char longer[sizeof virtual_host->origin + 8];

    if (!host)
        return false;
    /* who names the usual port of the scheme means the same */
    snprintf(longer, sizeof longer, "%s:%d", virtual_host->host, virtual_host->public_port);
    return (virtual_host->host[0] &&
            (strcasecmp(host, virtual_host->host) == 0 || strcasecmp(host, longer) == 0)) ||
           (address && strcmp(host, address) == 0);
}

bool origin_is_of(const struct http_virtual_host *virtual_host, const char *address,
                  const char *origin)
{
    const char *scheme = virtual_host->has_tls ? "https://" : "http://";

    if (!origin || (virtual_host->origin[0] && strcasecmp(origin, virtual_host->origin) == 0))
        return true;
    return address && strncmp(origin, scheme, strlen(scheme)) == 0 &&
           strcmp(origin + strlen(scheme), address) == 0;
}

/* A name of letters, digits, dots and dashes, or an address of version 6 in brackets. */
static size_t name_length(const char *text)
{
    size_t length;

    if (text[0] == '[') {
        length = strspn(text + 1, "0123456789abcdefABCDEF:.");
        return length > 0 && text[1 + length] == ']' ? length + 2 : 0;
    }
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.");
}

bool origin_read_url(const char *url, struct http_virtual_host *virtual_host)
{
    bool is_https = strncasecmp(url, "https://", 8) == 0;
    size_t scheme = is_https ? 8 : 7, name, length;
    int64_t port = is_https ? HTTPS_PORT : HTTP_PORT;
    char digits[8];

    if (!is_https && strncasecmp(url, "http://", 7) != 0)
        return false;
    name = name_length(url + scheme);
    length = scheme + name;
    if (name == 0)
        return false;
    if (url[length] == ':') {
        size_t count = strspn(url + length + 1, "0123456789");

        snprintf(digits, sizeof digits, "%.*s", (int)count, url + length + 1);
        if (count == 0 || count > 5 || !text_parse_integer(digits, &port) || port < 1 ||
            port > 65535)
            return false;
        length += count + 1;
    }
    if (length >= sizeof virtual_host->origin || (url[length] && strcmp(url + length, "/") != 0))
        return false;
    snprintf(virtual_host->origin, sizeof virtual_host->origin, "%.*s", (int)length, url);
    if (port == (is_https ? HTTPS_PORT : HTTP_PORT)) /* browsers leave it out */
        virtual_host->origin[scheme + name] = '\0';
    virtual_host->host = virtual_host->origin + scheme;
    virtual_host->public_port = (int)port;
    return true;
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
