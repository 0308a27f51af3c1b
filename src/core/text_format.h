/* text_format.h - texts that must be an e-mail address, a URI, a date or a date with time. */
#ifndef CORE_TEXT_FORMAT_H
#define CORE_TEXT_FORMAT_H
#include <stdbool.h>

struct error;

extern const char *const text_format_names[]; /* NULL-ended */

/* False with bad_format at `path`. A format we do not know accepts anything. */
bool text_format_check(const char *format, const char *text, const char *path, struct error *err);

#endif
