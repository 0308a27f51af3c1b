/* address.c - addresses: of databases, whose password is not shown, and to listen on. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "settings/settings.h"

static const char stars[] = "****";

/* A parameter that names a password, or whose name is written so that one can't tell. */
static bool is_secret(const char *name, size_t length)
{
    static const char secret[] = "password";
    size_t end = strlen(secret);

    return memchr(name, '%', length) ||
           (length >= end && strncasecmp(name + length - end, secret, end) == 0);
}

bool setting_hide_password(const char *address, struct text *out)
{
    const char *user = strstr(address, "://"), *at, *colon, *query;
    bool is_hidden = false;

    user = user ? user + 3 : address;
    at = strrchr(user, '@'); /* a password may hold anything, so the last one ends it */
    colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon) {
        text_add(out, address, (size_t)(colon + 1 - address));
        text_add_text(out, stars);
        address = at;
        is_hidden = true;
    }
    query = strchr(address, '?');
    text_add(out, address, query ? (size_t)(query - address) : strlen(address));
    while (query && *query) {
        size_t whole = 1 + strcspn(query + 1, "&"), name = strcspn(query + 1, "=&");
        bool hides = is_secret(query + 1, name);

        text_add(out, query, hides ? name + 1 : whole);
        if (hides)
            text_add_format(out, "=%s", stars);
        is_hidden = is_hidden || hides;
        query += whole;
    }
    return is_hidden;
}

bool setting_has_stars(const char *address)
{
    struct text shown = { 0 };
    bool has_stars =
        setting_hide_password(address, &shown) && strcmp(text_string(&shown), address) == 0;

    text_release(&shown);
    return has_stars;
}

bool setting_read_listen(const char *text, char *address, size_t size, int *ret_port)
{
    bool is_long = text[0] == '[';
    const char *begin = text + is_long, *end = is_long ? strchr(text, ']') : strrchr(text, ':');
    uint8_t bytes[16];
    int64_t port;

    if (!end || (size_t)(end - begin) >= size || (is_long && end[1] != ':') ||
        !text_parse_integer(end + 1 + is_long, &port) || port < 0 || port > 65535)
        return false;
    snprintf(address, size, "%.*s", (int)(end - begin), begin);
    *ret_port = (int)port;
    return inet_pton(is_long ? AF_INET6 : AF_INET, address, bytes) == 1;
}
