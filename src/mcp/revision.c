/* revision.c - see revision.h. */
#include "mcp/revision.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const char *const names[REVISION_COUNT] = {
    [REVISION_2024_11_05] = "2024-11-05", [REVISION_2025_03_26] = "2025-03-26",
    [REVISION_2025_06_18] = "2025-06-18", [REVISION_2025_11_25] = "2025-11-25",
    [REVISION_2026_07_28] = "2026-07-28",
};

const char *revision_name(enum mcp_revision revision)
{
    return names[revision];
}

bool revision_is_claimed(const struct json *params)
{
    return json_member(json_member(params, "_meta"), META_PREFIX "protocolVersion") != NULL;
}

/* Days are written so that texts compare like them. */
bool revision_is_modern_header(const char *header)
{
    static const char shape[] = "dddd-dd-dd";
    size_t at = 0;

    while (header && header[at] && at < sizeof shape - 1 &&
           (shape[at] == 'd' ? header[at] >= '0' && header[at] <= '9' : header[at] == '-'))
        at++;
    return header && at == sizeof shape - 1 && !header[at] &&
           strcmp(header, names[REVISION_2026_07_28]) >= 0;
}

bool revision_is_legacy_name(const char *name)
{
    return text_is_among(name, names, REVISION_2026_07_28);
}

enum mcp_revision revision_negotiate(const char *asked)
{
    size_t revision = text_index(asked, names, REVISION_2026_07_28);

    return revision < REVISION_2026_07_28 ? (enum mcp_revision)revision : REVISION_2025_11_25;
}

bool revision_has_structured(enum mcp_revision revision)
{
    return revision >= REVISION_2025_06_18;
}

bool revision_has_annotations(enum mcp_revision revision)
{
    return revision >= REVISION_2025_03_26;
}

bool revision_omits_unknown_id(enum mcp_revision revision)
{
    return revision >= REVISION_2025_11_25;
}
