/* preview_argument.h - what choosing an option would give, as calls say it: a text or an object. */
#ifndef CORE_PREVIEW_ARGUMENT_H
#define CORE_PREVIEW_ARGUMENT_H
#include "core/arguments.h"

struct json;

/* Of the object form. */
enum { PREVIEW_PROPERTIES = 3 };
extern const struct argument preview_properties[PREVIEW_PROPERTIES];

/* `given` has the right types, or is NULL. Nothing to see is no preview. */
void preview_build(const struct json *given, struct preview *preview);

#endif
