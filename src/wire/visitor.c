/* visitor.c - see visitor.h. */
#include "wire/visitor.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "ports/desk.h"
#include "wire/wire.h"

enum {
    VISITOR_NAME_BYTES = 200,
    VISITOR_PATH_BYTES = 4096,
    VISITOR_TRANSPORT_BYTES = 16,
};

bool wire_is_ours(const struct json *params)
{
    int64_t wire = json_member_integer(params, "wire", 0);

    return wire >= 1 && (wire == wire_number() || wire == wire_number() - 1);
}

/* A name that ends in the middle is not the name that was given. */
static bool has_nul(const struct json *params)
{
    for (void *at = json_first(params); at; at = json_next(params, at)) {
        const char *text = json_text(json_value(at));

        if (text && strlen(text) != json_length(json_value(at)))
            return true;
    }
    return false;
}

static bool is_transport(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length <= VISITOR_TRANSPORT_BYTES &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz") == length;
}

bool wire_read_visitor(const struct json *params, struct desk_visitor *visitor)
{
    /* web, api and client are spoken for by the hub's own fronts, never by a local claim */
    static const char *const channels[] = { "cli", "terminal" };
    const char *role = json_member_text(params, "role");
    const char *channel = json_member_text(params, "channel");
    const char *name = json_member_text(params, "name");
    const char *as_name = json_member_text(params, "as");
    const char *directory = json_member_text(params, "directory");
    const char *transport = json_member_text(params, "transport");
    const char *version = json_member_text(params, "client_version");

    if (!version)
        version = json_member_text(params, "version");
    visitor->via = NULL;
    for (size_t i = 0; i < ARRAY_LEN(channels); i++) {
        if (!channel || strcmp(channel, channels[i]) == 0)
            visitor->via = visitor->via ? visitor->via : channels[i];
    }
    if (has_nul(params) || !role || !visitor->via ||
        (strcmp(role, "agent") != 0 && strcmp(role, "person") != 0) ||
        (name && strlen(name) > VISITOR_NAME_BYTES) ||
        (as_name && strlen(as_name) > VISITOR_NAME_BYTES) ||
        (version && strlen(version) > VISITOR_NAME_BYTES) ||
        (transport && !is_transport(transport)) ||
        (directory && strlen(directory) > VISITOR_PATH_BYTES))
        return false;
    visitor->role = strcmp(role, "agent") == 0 ? ROLE_AGENT : ROLE_PERSON;
    visitor->name = name ? name : "unnamed";
    visitor->version = version;
    visitor->as_name = as_name;
    visitor->directory = directory;
    visitor->language = json_member_text(params, "language");
    visitor->transport = transport;
    visitor->is_sub_agent = json_is_yes(json_member(params, "sub_agent"));
    return true;
}

void wire_write_welcome(struct json_writer *writer, const char *role)
{
    json_write_object(writer, NULL);
    json_write_integer(writer, "wire", wire_number());
    json_write_text(writer, "version", SAYSO_VERSION);
    json_write_text(writer, "role", role);
    json_write_list(writer, "features");
    json_write_end_list(writer);
}
