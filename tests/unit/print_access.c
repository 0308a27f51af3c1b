/*
 * print_access.c - every wire method, setting and route of the program, one a line, from its own
 * tables; tests/integration/test_access_table.py compares them with tests/access.txt and walks
 * them.
 */
#include <stdio.h>

#include "base/loop.h"
#include "hub/listener.h"
#include "net/guard.h"
#include "rpc/service.h"
#include "settings/settings.h"

int main(void)
{
    struct listener_parts parts = { .loop = loop_new() };
    struct listener *listener = listener_new(&parts);
    const struct guard_route *route;

    for (int i = 0; i < METHOD_COUNT; i++) {
        if (methods[i].name)
            printf("method %s\n", methods[i].name);
    }
    for (int id = 0; id < SETTING_COUNT; id++)
        printf("setting %s\n", setting_row((enum setting_id)id)->name);
    for (size_t i = 0; (route = guard_route_at(listener_guard(listener), i)); i++)
        printf("route %s %s\n", route->method, route->path);
    listener_free(listener);
    loop_free(parts.loop);
    return 0;
}
