/*
 * http_target.h - the target of a request: a decoded path without tricks, a checked query. Pure.
 */
#ifndef NET_HTTP_TARGET_H
#define NET_HTTP_TARGET_H
#include <stdbool.h>

struct http_fault;
struct text;

/* "/a%20b?c" in place: `target` becomes the path, decoded; the query stays as sent, "" without. */
bool http_target_parse(char *target, const char **ret_query, struct http_fault *ret_fault);
/* One parameter of a checked query, decoded, first of its name. False: absent. */
bool http_query_find(const char *query, const char *name, struct text *out);

#endif
