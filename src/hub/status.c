/* status.c - what a hub says of itself, to people and to those who start it. */
#include <stdio.h>

#include "base/json_writer.h"
#include "engine/engine.h"
#include "hub/door.h"
#include "hub/hub.h"
#include "hub/inside.h"
#include "ports/store.h"
#include "settings/settings.h"
#include "wire/wire.h"

/* The portal is where HTTP is, unless it is switched off. */
static void write_address(const struct hub *hub, struct json_writer *writer)
{
    const struct settings *settings = hub->options->settings;
    char url[48];

    json_write_bool(writer, "portal",
                    hub->note.port != 0 && settings_is_on(settings, SETTING_PORTAL));
    if (hub->note.port == 0) {
        json_write_null(writer, "port");
        json_write_null(writer, "url");
        return;
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", hub->note.port);
    json_write_integer(writer, "port", hub->note.port);
    json_write_text(writer, "url", url);
    if (door_public_url(hub->door)[0])
        json_write_text(writer, "public_url", door_public_url(hub->door));
}

void hub_write_status(void *context, struct text *out)
{
    struct hub *hub = context;
    struct json_writer writer = json_writer_to(out);
    const char *aside = hub->store->ops->meta(hub->store, "recovered_from");

    json_write_object(&writer, NULL);
    json_write_bool(&writer, "running", true);
    json_write_integer(&writer, "pid", hub->note.pid);
    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_integer(&writer, "wire", wire_number());
    json_write_text(&writer, "socket", hub->note.socket);
    write_address(hub, &writer);
    json_write_text(&writer, "store", text_string(&hub->store_name));
    json_write_text(&writer, "log", hub->options->leaves_when_idle ? hub->place.log : NULL);
    json_write_integer(&writer, "pending", (int64_t)engine_open_count(hub->engine));
    json_write_text_if(&writer, "recovered_from", aside);
    json_write_end_object(&writer);
}
