/* location.c - see location.h. */
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

enum { PLACE_NOTE_MAX_BYTES = 4096 };

static bool join(char *out, const char *directory, const char *name, struct error *err)
{
    if (snprintf(out, PLACE_PATH_BYTES, "%s/%s", directory, name) < PLACE_PATH_BYTES)
        return true;
    return error_say_base(err, ERROR_unavailable, "", BASE_REASON_PATH_TOO_LONG, "name", name,
                          NULL);
}

/* $variable/sayso where it is absolute, as the base directory rules want, else ~/fallback/sayso. */
static bool find_base(const char *variable, const char *fallback, char *out, struct error *err)
{
    const char *given = getenv(variable);
    char home[PLACE_PATH_BYTES];
    char base[2 * PLACE_PATH_BYTES];

    if (given && given[0] == '/')
        return join(out, given, "sayso", err);
    if (!os_home(home, sizeof home))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_NO_HOME, NULL);
    snprintf(base, sizeof base, "%s/%s", home, fallback);
    return join(out, base, "sayso", err);
}

bool place_find(struct place *ret_place, struct error *err)
{
    char config[PLACE_PATH_BYTES];

    return find_base("XDG_DATA_HOME", ".local/share", ret_place->data, err) &&
           find_base("XDG_CONFIG_HOME", ".config", config, err) &&
           join(ret_place->settings, config, "settings.json", err) &&
           join(ret_place->database, ret_place->data, "sayso.db", err) &&
           join(ret_place->lock, ret_place->data, "hub.lock", err) &&
           join(ret_place->note, ret_place->data, "hub.json", err) &&
           join(ret_place->log, ret_place->data, "hub.log", err);
}

bool place_prepare(const struct place *place, struct error *err)
{
    if (!os_private_directory(place->data, err))
        return false;
    if (os_is_network_file_system(place->data))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_NETWORK_DISK, "path",
                              place->data, NULL);
    return true;
}

uint32_t place_hash(const char *text)
{
    uint32_t hash = 2166136261U;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619U;
    return hash;
}

static bool is_own_private(const char *path)
{
    struct stat found;

    return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
           (found.st_mode & 077) == 0;
}

static bool runtime_directory(const struct place *place, char *out, struct error *err)
{
    const char *given = getenv("XDG_RUNTIME_DIR");
    char usual[64];

    snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
    if (given && given[0] == '/' && is_own_private(given))
        return join(out, given, "sayso", err);
    if (is_own_private(usual))
        return join(out, usual, "sayso", err);
    return join(out, place->data, "run", err);
}

bool place_socket_name(const struct place *place, char directory[PLACE_PATH_BYTES],
                       char path[PLACE_PATH_BYTES + 32], struct error *err)
{
    if (!runtime_directory(place, directory, err))
        return false;
    /* two data directories may share one runtime directory: the name says which it is for */
    snprintf(path, PLACE_PATH_BYTES + 32, "%s/hub-%08x.sock", directory, place_hash(place->data));
    return true;
}

bool place_socket(const struct place *place, char *out, struct error *err)
{
    char directory[PLACE_PATH_BYTES], path[PLACE_PATH_BYTES + 32];

    if (!place_socket_name(place, directory, path, err) || !os_private_directory(directory, err))
        return false;
    if (strlen(path) > PLACE_SOCKET_BYTES)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_SOCKET_TOO_LONG, "path", path,
                              "limit", TEXT_NUMBER(PLACE_SOCKET_BYTES), NULL);
    snprintf(out, PLACE_SOCKET_BYTES + 1, "%.*s", PLACE_SOCKET_BYTES, path);
    return true;
}

int place_connect(const char *path)
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

bool place_write_note(const struct place *place, const struct place_note *note, struct error *err)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    bool ok;

    json_write_integer(&writer, "pid", note->pid);
    json_write_integer(&writer, "start", (int64_t)note->start);
    json_write_text(&writer, "socket", note->socket);
    json_write_known(&writer, "port", note->port, note->port > 0);
    json_write_integer(&writer, "wire", note->wire);
    json_write_text(&writer, "version", note->version);
    json_write_end_object(&writer);
    text_add_char(&out, '\n');
    ok = os_write_file(place->note, out.bytes, out.used, err);
    text_release(&out);
    return ok;
}

static bool fill_note(const struct json *json, struct place_note *note)
{
    const char *socket = json_member_text(json, "socket");
    const char *version = json_member_text(json, "version");

    note->pid = json_member_integer(json, "pid", 0);
    note->start = (uint64_t)json_member_integer(json, "start", 0);
    note->wire = (int)json_member_integer(json, "wire", 0);
    note->port = (int)json_member_integer(json, "port", 0);
    if (note->pid <= 0 || !socket || !version || strlen(socket) > PLACE_SOCKET_BYTES)
        return false;
    snprintf(note->socket, sizeof note->socket, "%s", socket);
    snprintf(note->version, sizeof note->version, "%s", version);
    return true;
}

bool place_read_note(const struct place *place, struct place_note *ret_note, struct error *err)
{
    struct text bytes = { 0 };
    struct json *json = NULL;
    bool ok = os_read_file(place->note, PLACE_NOTE_MAX_BYTES, &bytes, err) &&
              json_parse(text_string(&bytes), bytes.used, &json, err) &&
              (fill_note(json, ret_note) ||
               error_set(err, ERROR_not_found, "", "%s says nothing of a hub", place->note));

    json_free(json);
    text_release(&bytes);
    return ok;
}
