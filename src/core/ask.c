/* ask.c - the shape of an id. */
#include "core/ask.h"

#include <string.h>

#include "core/limits.h"

bool ask_id_is_valid(const char *id)
{
    return strlen(id) == LIMIT_ID_CHARS &&
           strspn(id, "abcdefghijklmnopqrstuvwxyz234567") == LIMIT_ID_CHARS;
}
