/* hello.c - who we are to the hub, and which program a hub is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/inside.h"
#include "wire/wire.h"

enum { HELLO_PATH_BYTES = 4096 };

/* A path is bytes; what is no text in it is not shown. */
static void write_path(struct json_writer *writer, const char *path)
{
    const char *at = path, *end = path + strlen(path);
    struct text shown = { 0 };

    while (at < end) {
        const char *from = at;

        if (text_decode(&at, end) < 0) {
            text_add_char(&shown, '?');
            at++;
        } else {
            text_add(&shown, from, (size_t)(at - from));
        }
    }
    json_write_text(writer, "directory", text_string(&shown));
    text_release(&shown);
}

static void write_who(struct json_writer *writer, const struct sayso *sayso)
{
    char path[HELLO_PATH_BYTES];
    const char *name = sayso->options[SAYSO_NAME];

    if (!name && os_own_program(path, sizeof path) && strrchr(path, '/'))
        name = strrchr(path, '/') + 1;
    if (!name || !*name || strlen(name) > 200 || !text_is_utf8(name, strlen(name)))
        name = "libsayso";
    json_write_text(writer, "name", name);
    json_write_text_if(writer, "as", sayso->options[SAYSO_AS]);
    if (sayso->options[SAYSO_DIRECTORY])
        write_path(writer, sayso->options[SAYSO_DIRECTORY]);
    else if (os_working_directory(path, sizeof path))
        write_path(writer, path);
}

bool hello_say(struct sayso *sayso)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    const char *is_sub_agent = sayso->options[SAYSO_SUB_AGENT];
    bool ok;

    json_write_object(&writer, NULL);
    json_write_integer(&writer, "wire", wire_number());
    json_write_text(&writer, "version", SAYSO_VERSION);
    json_write_text(&writer, "role", "agent");
    write_who(&writer, sayso);
    json_write_text_if(&writer, "language", wire_language());
    json_write_bool_if(&writer, "sub_agent", is_sub_agent && strcmp(is_sub_agent, "yes") == 0);
    json_write_list(&writer, "features");
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    ok = stream_call(sayso, "hello", &params, &sayso->hello_id);
    text_release(&params);
    return ok;
}

static bool is_program(const char *directory, size_t length, char *out, size_t size)
{
    return length > 0 && directory[0] == '/' &&
           snprintf(out, size, "%.*s/sayso", (int)length, directory) < (int)size &&
           access(out, X_OK) == 0;
}

bool hello_find_program(const struct sayso *sayso, char *out, size_t size)
{
    static const char *const usual[] = { "/usr/local/bin", "/usr/bin" };
    const char *at = secure_getenv("PATH"); /* not of whoever started a program with more rights */

    if (sayso->options[SAYSO_PROGRAM])
        return snprintf(out, size, "%s", sayso->options[SAYSO_PROGRAM]) < (int)size;
    while (at) {
        size_t length = strcspn(at, ":");

        if (is_program(at, length, out, size))
            return true;
        at = at[length] ? at + length + 1 : NULL;
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (is_program(usual[i], strlen(usual[i]), out, size))
            return true;
    }
    return false;
}
