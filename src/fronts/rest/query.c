/* query.c - parameters and headers: known ones only, each once, each what its row says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/limits.h"
#include "fronts/rest/inside.h"
#include "net/http.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

static const struct parameter *find_parameter(const struct operation *operation, const char *name,
                                              size_t length)
{
    for (const struct parameter *const *at = operation->parameters; *at; at++) {
        if (strcmp((*at)->place, "query") == 0 && strlen((*at)->name) == length &&
            strncmp((*at)->name, name, length) == 0)
            return *at;
    }
    return NULL;
}

static bool refuse_name(struct call *call, const char *name, size_t length, const char *why)
{
    char shown[48] = "", message[256];
    size_t used = 0;

    if (length < sizeof shown && strspn(name, plain) >= length)
        snprintf(shown, sizeof shown, "%.*s", (int)length, name);
    used = (size_t)snprintf(message, sizeof message, "%s; this path takes:", why);
    for (const struct parameter *const *at = call->operation->parameters; *at; at++) {
        if (strcmp((*at)->place, "query") == 0 && used < sizeof message)
            used += (size_t)snprintf(message + used, sizeof message - used, " %s", (*at)->name);
    }
    reply_bad_parameter(call, ERROR_unknown_property, shown[0] ? shown : NULL, message);
    return false;
}

bool query_check(struct call *call)
{
    const char *at = http_query(call->exchange);
    bool seen[8] = { false };

    while (*at) {
        size_t length = strcspn(at, "&"), name_length = strcspn(at, "&=");
        const struct parameter *found = find_parameter(call->operation, at, name_length);
        size_t place = 0;

        if (!found)
            return refuse_name(call, at, name_length, "a parameter is not known here");
        while (call->operation->parameters[place] != found)
            place++;
        if (seen[place])
            return refuse_name(call, at, name_length, "a parameter stands twice");
        seen[place] = true;
        at += length;
        at += *at == '&';
    }
    return true;
}

bool query_integer(struct call *call, const struct parameter *parameter, int64_t otherwise,
                   int64_t *ret_number)
{
    const char *given = http_parameter(call->exchange, parameter->name);
    char message[96];

    *ret_number = otherwise;
    if (!given || (text_parse_integer(given, ret_number) && *ret_number >= parameter->least &&
                   *ret_number <= parameter->most))
        return true;
    snprintf(message, sizeof message, "%s is a whole number, %" PRId64 " to %" PRId64,
             parameter->name, parameter->least, parameter->most);
    reply_bad_parameter(call, ERROR_out_of_range, parameter->name, message);
    return false;
}

/* "7" as in an ETag, weak or not; moves behind it. */
static bool read_etag(const char **at, bool may_be_weak, int64_t *ret_version)
{
    const char *text = *at, *end;
    char number[24];

    if (may_be_weak && strncmp(text, "W/", 2) == 0)
        text += 2;
    end = *text == '"' ? strchr(text + 1, '"') : NULL;
    if (!end || end - text - 1 >= (ptrdiff_t)sizeof number)
        return false;
    memcpy(number, text + 1, (size_t)(end - text - 1));
    number[end - text - 1] = '\0';
    *at = end + 1;
    return text_parse_integer(number, ret_version);
}

bool query_if_match(struct call *call, int64_t *ret_version)
{
    const char *given = http_header(call->exchange, "if-match"), *at = given;

    *ret_version = 0;
    if (!given || strcmp(given, "*") == 0)
        return true;
    if (!read_etag(&at, false, ret_version) || *at) {
        reply_bad_parameter(call, ERROR_bad_format, parameter_if_match.name,
                            "If-Match is one ETag of the ask, as \"7\", or *");
        return false;
    }
    if (*ret_version < 1)
        *ret_version = -1; /* no ask was ever that; 0 would mean any */
    return true;
}

bool query_knows(struct call *call, int64_t version)
{
    const char *at = http_header(call->exchange, "if-none-match");
    int64_t known;

    while (at && *at) {
        at += strspn(at, ", \t");
        if (*at == '*' || (read_etag(&at, true, &known) && known == version))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

bool query_key(struct call *call, const char **ret_key)
{
    const char *key = http_header(call->exchange, "idempotency-key");
    size_t length = 0;

    *ret_key = key;
    if (!key)
        return true;
    while (key[length] > ' ' && key[length] < 0x7f)
        length++;
    if (key[length] == '\0' && length >= 1 && length <= LIMIT_IDEMPOTENCY_KEY_BYTES)
        return true;
    reply_bad_parameter(call, ERROR_bad_format, parameter_key.name,
                        "Idempotency-Key is 1 to 128 visible ASCII characters without blanks");
    return false;
}

static void add_encoded(struct text *out, const char *value)
{
    for (; *value; value++) {
        if (strchr(plain, *value))
            text_add_char(out, *value);
        else
            text_add_format(out, "%%%02X", (unsigned char)*value);
    }
}

void query_write_next(struct call *call, const char *cursor)
{
    struct text link = { 0 };

    text_add_format(&link, "<%s?before=", call->operation->path);
    add_encoded(&link, cursor);
    for (const struct parameter *const *at = call->operation->parameters; *at; at++) {
        const char *given = http_parameter(call->exchange, (*at)->name);

        if (!given || *at == &parameter_before)
            continue;
        text_add_format(&link, "&%s=", (*at)->name);
        add_encoded(&link, given);
    }
    text_add_text(&link, ">; rel=\"next\"");
    http_set_header(call->exchange, "Link", text_string(&link));
    text_release(&link);
}
