/* health.c - for those who look after the hub: alive, ready, figures; and the front page of /api.
 */
#include "base/json_writer.h"
#include "base/metrics.h"
#include "fronts/rest/inside.h"
#include "loop/loop.h"
#include "net/http.h"

static void reply_status(struct call *call, int status, const char *what)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_text(&writer, "status", what);
    json_write_end_object(&writer);
    reply_json(call, status, out.bytes, out.used);
    text_release(&out);
}

void serve_health(struct call *call)
{
    reply_status(call, 200, "ok");
}

void serve_readiness(struct call *call)
{
    const struct rest_parts *parts = &call->rest->parts;
    const char *why_not = parts->not_ready(parts->context);

    if (why_not)
        http_set_header(call->exchange, "Retry-After", "1");
    reply_status(call, why_not ? 503 : 200, why_not ? why_not : "ok");
}

void serve_metrics(struct call *call)
{
    const struct rest_parts *parts = &call->rest->parts;
    struct text out = { 0 };

    metrics_write_head(&out, "sayso_build_info", "gauge", "Which program this is.");
    metrics_write_value(&out, "sayso_build_info", "version", SAYSO_VERSION, 1);
    metrics_write_one(&out, "sayso_uptime_seconds", "gauge", "Since this hub began.",
                      (loop_boot_ms() - call->rest->began_ms) / 1000);
    http_write_metrics(call->exchange, &out);
    parts->write_metrics(parts->context, &out);
    rest_call_reply(call, 200, call->operation->reply_type, out.bytes, out.used);
    text_release(&out);
}

void serve_index(struct call *call)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_text(&writer, "asks", "/api/asks");
    json_write_text(&writer, "conversations", "/conversations");
    json_write_text(&writer, "openapi", "/api/openapi.json");
    json_write_end_object(&writer);
    reply_json(call, 200, out.bytes, out.used);
    text_release(&out);
}
