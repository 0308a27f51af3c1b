/* client.c - the end of a cable that an agent or a person has; see world.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net.h"
#include "world.h"

bool client_connect(struct client *client, int64_t pid, const char *who, const char *hello)
{
    int hub = (int)draw_below(&world.seed, HUBS);

    if (!net_accepts(hub))
        return false;
    client->cable = net_connect(hub, pid);
    if (!client->cable)
        return false;
    client->next_id = 1;
    world_tell("%s connects", who);
    client_send(client, who, "hello", "{\"wire\":1,%s}", hello);
    return true;
}

void client_drop(struct client *client, const char *who)
{
    world_tell("%s hangs up", who);
    net_hang_up(client->cable);
    client->cable = NULL;
}

int client_send(struct client *client, const char *who, const char *method, const char *format, ...)
{
    struct text line = { 0 };
    char params[2000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(params, sizeof params, format, arguments);
    va_end(arguments);
    text_add_format(&line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}\n",
                    client->next_id, method, params);
    world_tell("%s > %s #%d %s", who, method, client->next_id, params);
    net_send(client->cable, line.bytes, line.used);
    text_release(&line);
    return client->next_id++;
}
