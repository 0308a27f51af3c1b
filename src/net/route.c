/* route.c - see route.h. */
#include "net/route.h"

#include <stddef.h>
#include <string.h>

static bool keep_value(struct route_values *values, size_t *at, const char *part, size_t length)
{
    if (*at == ROUTE_VALUES || length >= ROUTE_VALUE_BYTES)
        return false;
    memcpy(values->of[*at], part, length);
    values->of[(*at)++][length] = '\0';
    return true;
}

bool route_matches(const char *pattern, const char *path, struct route_values *ret_values)
{
    size_t at = 0;

    *ret_values = (struct route_values){ 0 };
    while (*pattern) {
        if (*pattern == '*' && !pattern[1])
            return keep_value(ret_values, &at, path, strlen(path));
        if (*pattern == '{') {
            size_t length = strcspn(path, "/");

            if (length == 0 || !keep_value(ret_values, &at, path, length))
                return false;
            path += length;
            pattern += strcspn(pattern, "}") + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return !*path;
}
