#include "mcp/revision.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/calls.h"

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

/* Capabilities of clients as bits, in and out. A new one has its bit in call.h. */

static const struct {
    enum ability ability;
    const char *name, *part;  /* part NULL: the name alone will do */
    bool is_meant_by_nothing; /* the name with nothing in it means this part */
    enum mcp_revision since;
} rows[] = {
    { ABILITY_FORM, "elicitation", "form", true, REVISION_2025_06_18 },
    { ABILITY_URL, "elicitation", "url", false, REVISION_2025_11_25 },
    { ABILITY_SAMPLING, "sampling", NULL, false, REVISION_2024_11_05 },
    { ABILITY_ROOTS, "roots", NULL, false, REVISION_2024_11_05 },
};

/* Before there were parts, anything inside says nothing about them. */
static bool is_declared(size_t row, const struct json *capability, enum mcp_revision revision)
{
    if (json_kind(capability) != KIND_OBJECT || revision < rows[row].since)
        return false;
    if (!rows[row].part || json_kind(json_member(capability, rows[row].part)) == KIND_OBJECT)
        return true;
    return rows[row].is_meant_by_nothing &&
           (revision < REVISION_2025_11_25 || json_length(capability) == 0);
}

unsigned ability_read(const struct json *capabilities, enum mcp_revision revision)
{
    unsigned found = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (is_declared(i, json_member(capabilities, rows[i].name), revision))
            found |= rows[i].ability;
    }
    return found;
}

/* Rows of one name stand together. */
void ability_write(struct json_writer *writer, const char *key, unsigned abilities)
{
    json_write_object(writer, key);
    for (size_t i = 0, next; i < ARRAY_LEN(rows); i = next) {
        unsigned meant = 0;

        for (next = i; next < ARRAY_LEN(rows) && rows[next].name == rows[i].name; next++)
            meant |= abilities & rows[next].ability;
        if (!meant)
            continue;
        json_write_object(writer, rows[i].name);
        for (size_t part = i; part < next; part++) {
            if (rows[part].part && (abilities & rows[part].ability))
                json_write_raw(writer, rows[part].part, "{}");
        }
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}
