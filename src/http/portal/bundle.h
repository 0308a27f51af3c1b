/* bundle.h - the page and what it loads, as tools/bundle_web made them from web/ when this was
 * built. */
#ifndef HTTP_PORTAL_BUNDLE_H
#define HTTP_PORTAL_BUNDLE_H
#include <stddef.h>

struct web_file {
    const char *name; /* behind /static/; "" for a document */
    const char *type;
    const char *etag;
    const char *policy; /* of a document: its Content-Security-Policy; else NULL */
    const unsigned char *bytes;
    size_t length;
    const unsigned char *gzip;
    size_t gzip_length;
};
extern const struct web_file web_files[];
extern const size_t web_file_count;
extern const size_t web_hashed_count; /* the bundle and its parts come first: their names change */
extern const struct web_file web_document;        /* names the bundle */
extern const struct web_file web_document_inline; /* carries it */

#endif
