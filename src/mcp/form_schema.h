/*
 * form_schema.h - a form as the client of an agent can show it: the params of elicitation/create,
 * written for what its revision allows and what that client was seen to show. What comes back is
 * core/client_form's to read. Sources: MCP 2025-06-18, 2025-11-25 and 2026-07-28,
 * client/elicitation; the measurements of real clients in docs/clients.md.
 */
#ifndef MCP_FORM_SCHEMA_H
#define MCP_FORM_SCHEMA_H
#include "i18n/i18n.h"
#include "mcp/revision.h"

struct form;

/* The longest message: a client's dialog is no page. */
enum { FORM_MESSAGE_CHARS = 4000, FORM_LABEL_CHARS = 200 };

/* `told`: {lacks?, lacks_at?}, why it is shown once more. `place`: where a person finds what the
 * client cuts, an address or a command. */
void form_schema_write(const struct form *form, enum mcp_revision revision, const char *client_name,
                       enum language language, const struct json *told, const char *place,
                       struct text *out);
/* The other mode: the client opens an address. With elicitationId at every revision, because one
 * client fails without it where the revision has none. */
void form_schema_write_url(const struct form *form, const char *id, const char *url,
                           struct text *out);

#endif
