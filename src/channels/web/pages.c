/*
 * pages.c - the one document of the portal, under the address of each of its pages, and the files
 * it loads. None of it holds data, so none needs a token; what a page shows comes over its socket.
 */
#include <string.h>

#include "base/mem.h"
#include "channels/web/bundle.h"
#include "channels/web/inside.h"
#include "net/http.h"

static const struct {
    const char *name, *value;
} document_headers[] = {
    { "X-Frame-Options", "DENY" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()" },
};

/* Accept-Encoding names gzip, and not only to refuse it. */
static bool takes_gzip(struct http_exchange *exchange)
{
    const char *accepted = http_header(exchange, "accept-encoding");

    while (accepted && *accepted) {
        size_t part;

        accepted += strspn(accepted, " \t,");
        part = strcspn(accepted, ",");
        if (strncmp(accepted, "gzip", 4) == 0 && (part == 4 || strchr(" \t;", accepted[4])))
            return !memmem(accepted, part, "q=0", 3) || memmem(accepted, part, "q=0.", 4);
        accepted += part;
    }
    return false;
}

static void send_file(struct http_exchange *exchange, const struct web_file *file)
{
    bool is_gzip = file->gzip_length < file->length && takes_gzip(exchange);
    const unsigned char *bytes = is_gzip ? file->gzip : file->bytes;

    http_set_header(exchange, "Vary", "Accept-Encoding");
    if (is_gzip)
        http_set_header(exchange, "Content-Encoding", "gzip");
    http_reply(exchange, 200, file->type, (const char *)bytes,
               is_gzip ? file->gzip_length : file->length);
}

/* A page that was restored by its browser may name a bundle of an earlier version: it is told so
 * and loads anew. */
static void serve_file(void *context, struct http_exchange *exchange,
                       const struct guard_match *match)
{
    const char *seen = http_header(exchange, "if-none-match");

    (void)context;
    for (size_t i = 0; i < web_file_count; i++) {
        const struct web_file *file = &web_files[i];

        if (strcmp(file->name, match->values[0]) != 0)
            continue;
        http_set_header(exchange, "ETag", file->etag);
        http_set_header(exchange, "Cache-Control",
                        i < web_hashed_count ? "public, max-age=31536000, immutable" : "no-cache");
        http_set_header(exchange, "Cross-Origin-Resource-Policy", "same-origin");
        if (seen && strstr(seen, file->etag))
            http_reply(exchange, 304, NULL, "", 0);
        else
            send_file(exchange, file);
        return;
    }
    guard_refuse(exchange, 404, "not_found", "no such file in this version: load the page anew");
}

static void serve_document(void *context, struct http_exchange *exchange,
                           const struct guard_match *match)
{
    struct web *web = context;
    const struct web_file *document =
        http_parameter(exchange, "inline") ? &web_document_inline : &web_document;

    (void)match;
    if (!web->parts.is_portal_on(web->parts.context)) {
        guard_refuse(exchange, 404, "not_found",
                     "the portal is switched off on this machine (sayso settings set portal on)");
        return;
    }
    http_set_header(exchange, "Content-Security-Policy", document->policy);
    for (size_t i = 0; i < ARRAY_LEN(document_headers); i++)
        http_set_header(exchange, document_headers[i].name, document_headers[i].value);
    send_file(exchange, document);
}

const struct guard_route page_routes[] = {
    { "GET", "/", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/choice/{id}", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/history", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/standing", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/settings", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/statistics", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/devices", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/help", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/static/*", GUARD_OPEN, 0, NULL, serve_file },
};
const size_t page_route_count = ARRAY_LEN(page_routes);
