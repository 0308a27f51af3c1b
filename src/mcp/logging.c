/*
 * logging.c - log messages to clients that want them: from the level a legacy client set, or the
 * one a modern request names; without that a modern client gets none.
 */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "mcp/inside.h"
#include "mcp/offer.h"

static const char *const names[LEVEL_NONE] = {
    [LEVEL_DEBUG] = "debug",     [LEVEL_INFO] = "info",           [LEVEL_NOTICE] = "notice",
    [LEVEL_WARNING] = "warning", [LEVEL_ERROR] = "error",         [LEVEL_CRITICAL] = "critical",
    [LEVEL_ALERT] = "alert",     [LEVEL_EMERGENCY] = "emergency",
};

bool logging_read_level(const char *name, enum mcp_level *ret_level)
{
    size_t level = text_index(name, names, ARRAY_LEN(names));

    if (level < ARRAY_LEN(names))
        *ret_level = (enum mcp_level)level;
    return level < ARRAY_LEN(names);
}

void logging_set_level(struct mcp_request *request)
{
    const char *name = json_member_text(request->params, "level");

    if (!logging_read_level(name, &request->to.mcp->level)) {
        mcp_reply_error(&request->to, JSONRPC_INVALID_PARAMS,
                        "level must be one of debug to emergency", NULL);
        return;
    }
    session_note(request->to.mcp, NOTE_LEVEL, "", name);
    mcp_reply(&request->to, "{}");
}

void logging_take_note(struct mcp *mcp, const char *rest, const char *value)
{
    (void)rest;
    if (!logging_read_level(value, &mcp->level))
        mcp->level = mcp->parts.offer->level;
}

bool call_logs(const struct mcp_call *call, enum mcp_level level)
{
    enum mcp_level least =
        call->revision == REVISION_2026_07_28 ? call->level : call->to.mcp->level;

    return level >= least && !call->to.batch && call->to.stream;
}

void call_log(struct mcp_call *call, enum mcp_level level, const char *data_json)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    if (!call_logs(call, level))
        return;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "level", names[level]);
    json_write_text(&writer, "logger", "sayso");
    json_write_raw(&writer, "data", data_json);
    json_write_end_object(&writer);
    mcp_notify(&call->to, "notifications/message", &params);
}
