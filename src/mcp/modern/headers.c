/* headers.c - see headers.h. */
#include "mcp/modern/headers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/mcp.h"

static const char sentinel_begin[] = "=?base64?", sentinel_end[] = "?=";

/* Which member of params Mcp-Name repeats. */
static const struct {
    const char *method, *member;
} named[] = {
    { "tools/call", "name" },  { "prompts/get", "name" },    { "resources/read", "uri" },
    { "tasks/get", "taskId" }, { "tasks/update", "taskId" }, { "tasks/cancel", "taskId" },
};

static int digit_of(char byte)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = byte ? strchr(digits, byte) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* Four digits to three bytes; `=` only at the end, and no bits left over. */
static bool decode_base64(const char *bytes, size_t length, struct text *out)
{
    size_t padding = length > 0 && bytes[length - 1] == '=' ? 1 : 0;

    if (length % 4 != 0)
        return false;
    if (padding && bytes[length - 2] == '=')
        padding = 2;
    for (size_t at = 0; at < length; at += 4) {
        size_t wanted = at + 4 == length ? 4 - padding : 4;
        uint32_t bits = 0;

        for (size_t i = 0; i < 4; i++) {
            int digit = i < wanted ? digit_of(bytes[at + i]) : 0;

            if (digit < 0)
                return false;
            bits = bits << 6 | (uint32_t)digit;
        }
        for (size_t i = 0; i + 1 < wanted; i++)
            text_add_char(out, (char)(bits >> (16 - 8 * i) & 0xff));
        if ((wanted == 3 && (bits & 0xff)) || (wanted == 2 && (bits & 0xffff)))
            return false;
    }
    return true;
}

/* What a value stands for: itself, or what is inside the sentinel. */
static bool decode_value(const char *value, struct text *out)
{
    size_t length = strlen(value), begin = sizeof sentinel_begin - 1, end = sizeof sentinel_end - 1;

    if (length < begin + end || strncmp(value, sentinel_begin, begin) != 0 ||
        strcmp(value + length - end, sentinel_end) != 0) {
        text_add(out, value, length);
        return true;
    }
    return decode_base64(value + begin, length - begin - end, out);
}

static bool is_same(const char *header, const char *body, size_t length)
{
    struct text decoded = { 0 };
    bool is = decode_value(header, &decoded) && decoded.used == length &&
              memcmp(text_string(&decoded), body, length) == 0;

    text_release(&decoded);
    return is;
}

static bool check(const char *header, const char *name, const char *body, size_t length,
                  char message[HEADERS_MESSAGE_BYTES])
{
    if (header && is_same(header, body, length))
        return true;
    snprintf(message, HEADERS_MESSAGE_BYTES,
             header ? "the header %s differs from the body"
                    : "the header %s is missing; it must repeat what the body says",
             name);
    return false;
}

static const struct json *find_named(const char *method, const struct json *params)
{
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (strcmp(named[i].method, method) == 0)
            return json_member(params, named[i].member);
    }
    return NULL;
}

bool headers_match(const struct mcp_headers *headers, const char *method, const struct json *params,
                   char message[HEADERS_MESSAGE_BYTES])
{
    const char *version =
        json_member_text(json_member(params, "_meta"), META_PREFIX "protocolVersion");
    const struct json *name = find_named(method, params);

    return check(headers->protocol_version, "MCP-Protocol-Version", version, strlen(version),
                 message) &&
           check(headers->method, "Mcp-Method", method, strlen(method), message) &&
           (!json_text(name) ||
            check(headers->name, "Mcp-Name", json_text(name), json_length(name), message));
}
