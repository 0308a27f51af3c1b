#include "rpc/location.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/os.h"
#include "base/text.h"

enum { HUB_RECORD_MAX_BYTES = 4096 };

static bool join(char *out, const char *directory, const char *name, struct error *err)
{
    size_t length = strlen(directory), more = strlen(name);

    if (length + 1 + more < LOCATION_PATH_BYTES) {
        memcpy(out, directory, length);
        out[length] = '/';
        memcpy(out + length + 1, name, more + 1);
        return true;
    }
    return error_say_base(err, ERROR_unavailable, "", BASE_REASON_PATH_TOO_LONG, "name", name,
                          NULL);
}

/* $variable/sayso where it is absolute, as the base directory rules want, else ~/fallback. */
static bool find_base(const char *variable, const char *fallback, char *out, struct error *err)
{
    const char *given = getenv(variable);
    char home[LOCATION_PATH_BYTES];

    if (given && given[0] == '/')
        return join(out, given, "sayso", err);
    if (!os_home(home, sizeof home))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_NO_HOME, NULL);
    return join(out, home, fallback, err);
}

bool location_settings(char path[LOCATION_PATH_BYTES], struct error *err)
{
    char config[LOCATION_PATH_BYTES];

    return find_base("XDG_CONFIG_HOME", ".config/sayso", config, err) &&
           join(path, config, "settings.json", err);
}

bool location_find(struct location *ret_location, struct error *err)
{
    return find_base("XDG_DATA_HOME", ".local/share/sayso", ret_location->data, err) &&
           location_settings(ret_location->settings, err) &&
           join(ret_location->database, ret_location->data, "sayso.db", err) &&
           join(ret_location->lock, ret_location->data, "hub.lock", err) &&
           join(ret_location->record, ret_location->data, "hub.json", err) &&
           join(ret_location->log, ret_location->data, "hub.log", err);
}

bool location_prepare(const struct location *location, struct error *err)
{
    if (!os_private_directory(location->data, err))
        return false;
    if (os_is_network_file_system(location->data))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_NETWORK_DISK, "path",
                              location->data, NULL);
    return true;
}

static bool is_own_private(const char *path)
{
    struct stat found;

    return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
           (found.st_mode & 077) == 0;
}

static bool runtime_directory(const struct location *location, char *out, struct error *err)
{
    const char *given = getenv("XDG_RUNTIME_DIR");
    char usual[64];

    snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
    if (given && given[0] == '/' && is_own_private(given))
        return join(out, given, "sayso", err);
    if (is_own_private(usual))
        return join(out, usual, "sayso", err);
    return join(out, location->data, "run", err);
}

bool location_socket_name(const struct location *location, char directory[LOCATION_PATH_BYTES],
                          char path[LOCATION_PATH_BYTES + 32], struct error *err)
{
    if (!runtime_directory(location, directory, err))
        return false;
    /* two data directories may share one runtime directory: the name says which it is for */
    snprintf(path, LOCATION_PATH_BYTES + 32, "%s/hub-%08x.sock", directory,
             text_hash(location->data));
    return true;
}

bool location_is_own_socket(const char *path)
{
    char directory[LOCATION_PATH_BYTES], own[LOCATION_PATH_BYTES + 32];
    struct location location;

    return location_find(&location, NULL) &&
           location_socket_name(&location, directory, own, NULL) && strcmp(own, path) == 0;
}

bool location_socket(const struct location *location, char *out, struct error *err)
{
    char directory[LOCATION_PATH_BYTES], path[LOCATION_PATH_BYTES + 32];

    if (!location_socket_name(location, directory, path, err) ||
        !os_private_directory(directory, err))
        return false;
    if (strlen(path) > LOCATION_SOCKET_BYTES)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_SOCKET_TOO_LONG, "path", path,
                              "limit", TEXT_NUMBER(LOCATION_SOCKET_BYTES), NULL);
    snprintf(out, LOCATION_SOCKET_BYTES + 1, "%.*s", LOCATION_SOCKET_BYTES, path);
    return true;
}

int location_connect(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

bool hub_record_write(const struct location *location, const struct hub_record *record,
                      struct error *err)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    bool ok;

    json_write_integer(&writer, "pid", record->pid);
    json_write_integer(&writer, "start", (int64_t)record->start);
    json_write_text(&writer, "socket", record->socket);
    json_write_known(&writer, "port", record->port, record->port > 0);
    json_write_integer(&writer, "wire", record->wire);
    json_write_text(&writer, "version", record->version);
    json_write_end_object(&writer);
    text_add_char(&out, '\n');
    ok = os_write_file(location->record, out.bytes, out.used, err);
    text_release(&out);
    return ok;
}

static bool fill_record(const struct json *json, struct hub_record *record)
{
    const char *socket = json_member_text(json, "socket");
    const char *version = json_member_text(json, "version");

    record->pid = json_member_integer(json, "pid", 0);
    record->start = (uint64_t)json_member_integer(json, "start", 0);
    record->wire = (int)json_member_integer(json, "wire", 0);
    record->port = (int)json_member_integer(json, "port", 0);
    if (record->pid <= 0 || !socket || !version || strlen(socket) > LOCATION_SOCKET_BYTES)
        return false;
    snprintf(record->socket, sizeof record->socket, "%s", socket);
    snprintf(record->version, sizeof record->version, "%s", version);
    return true;
}

bool hub_record_read(const struct location *location, struct hub_record *ret_record,
                     struct error *err)
{
    struct text bytes = { 0 };
    struct json *json = NULL;
    bool ok = os_read_file(location->record, HUB_RECORD_MAX_BYTES, &bytes, err) &&
              json_parse(text_string(&bytes), bytes.used, &json, err) &&
              (fill_record(json, ret_record) ||
               error_set(err, ERROR_not_found, "", "%s says nothing of a hub", location->record));

    json_free(json);
    text_release(&bytes);
    return ok;
}
