/*
 * print_access.c - every wire method, setting and route of the program, one a line, from its own
 * tables; tests/integration/test_access_table.py compares them with tests/access.txt and walks
 * them.
 */
#include <stdio.h>

#include "base/loop.h"
#include "hub/routes.h"
#include "net/guard.h"
#include "rpc/service.h"
#include "settings/settings.h"

int main(void)
{
    const struct guard_options options = { 0 };
    struct routes_parts parts = { .loop = loop_new() };
    struct guard *guard = guard_new(&options);
    struct routes *routes = routes_open(&parts, guard);
    const struct guard_route *route;

    for (int i = 0; i < METHOD_COUNT; i++) {
        if (methods[i].name)
            printf("method %s\n", methods[i].name);
    }
    for (int id = 0; id < SETTING_COUNT; id++)
        printf("setting %s\n", setting_row((enum setting_id)id)->name);
    for (size_t i = 0; (route = guard_route_at(guard, i)); i++)
        printf("route %s %s\n", route->method, route->path);
    routes_close(routes);
    guard_free(guard);
    loop_free(parts.loop);
    return 0;
}
