/*
 * session.c - a legacy session as a value, for hubs that did not see its handshake; and a row for
 * each thing that happens to it later and that they must know, written by session_note. See mcp.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"

void mcp_read_session(const struct json *params, struct mcp_session *ret_session)
{
    const struct json *client = json_member(params, "clientInfo");
    enum mcp_revision revision = revision_negotiate(json_member_text(params, "protocolVersion"));

    *ret_session = (struct mcp_session){
        .revision = revision,
        .abilities = ability_read(json_member(params, "capabilities"), revision),
        .client_name = json_member_text(client, "name"),
        .client_version = json_member_text(client, "version"),
    };
}

void mcp_set_session(struct mcp *mcp, const struct mcp_session *session)
{
    mcp->negotiated = session->revision;
    mcp->abilities = session->abilities;
    free(mcp->client_name);
    free(mcp->client_version);
    mcp->client_name = mem_text(session->client_name);
    mcp->client_version = mem_text(session->client_version);
}

static void write_name(struct json_writer *writer, const char *key, const char *name)
{
    char *shortened = name ? visit_short_name(name) : NULL;

    json_write_text_if(writer, key, shortened);
    free(shortened);
}

void mcp_write_session(const struct mcp_session *session, struct json_writer *writer)
{
    json_write_text(writer, "revision", revision_name(session->revision));
    json_write_integer(writer, "abilities", session->abilities);
    write_name(writer, "name", session->client_name);
    write_name(writer, "version", session->client_version);
}

void mcp_parse_session(const struct json *written, struct mcp_session *ret_session)
{
    *ret_session = (struct mcp_session){
        .revision = revision_negotiate(json_member_text(written, "revision")),
        .abilities = (unsigned)json_member_integer(written, "abilities", 0),
        .client_name = json_member_text(written, "name"),
        .client_version = json_member_text(written, "version"),
    };
}

/* Notes -----------------------------------------------------------------------------------------
 */

struct note_kind {
    const char *word; /* what follows it says about which */
    void (*take)(struct mcp *mcp, const char *rest, const char *value);
    bool is_passing;
};
static const struct note_kind kinds[] = {
    { NOTE_LEVEL, logging_take_note, false },
    { NOTE_SUBSCRIBED, subscribe_take_note, false },
    { NOTE_CANCELLED, call_take_note, true },
};

static const struct note_kind *find_kind(const char *what)
{
    size_t length = strcspn(what, " ");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strlen(kinds[i].word) == length && memcmp(kinds[i].word, what, length) == 0)
            return &kinds[i];
    }
    return NULL;
}

bool mcp_note_is_passing(const char *what)
{
    const struct note_kind *kind = find_kind(what);

    return kind && kind->is_passing;
}

void session_note(struct mcp *mcp, const char *word, const char *rest, const char *value)
{
    char *what;

    if (!mcp->parts.note)
        return;
    what = *rest ? mem_format("%s %s", word, rest) : mem_text(word);
    mcp->parts.note(mcp->parts.context, what, value);
    free(what);
}

void mcp_take_note(struct mcp *mcp, const char *what, const char *value)
{
    const struct note_kind *kind = find_kind(what);
    const char *rest = strchr(what, ' ');

    if (kind)
        kind->take(mcp, rest ? rest + 1 : "", value);
}
