/* route.h - patterns of paths: "/api/asks/{id}/answer", "/static/" and a star for the rest. Pure.
 */
#ifndef NET_ROUTE_H
#define NET_ROUTE_H
#include <stdbool.h>

enum { ROUTE_VALUES = 2, ROUTE_VALUE_BYTES = 256 };

/* What stood for {…}, and for the star; "" where nothing did. A part that is too long to be
 * anything of ours does not match. */
struct route_values {
    char of[ROUTE_VALUES][ROUTE_VALUE_BYTES];
};
bool route_matches(const char *pattern, const char *path, struct route_values *ret_values);

#endif
