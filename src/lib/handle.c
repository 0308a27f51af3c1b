/* handle.c - a handle's life, its options, and the words for what went wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/inside.h"
#include "wire/wire.h"

enum { NAME_BYTES = 200, PATH_BYTES = 4096, PATIENCE_MOST_MS = 3600000 };

static const char *const code_names[] = {
    [SAYSO_OK] = "ok",
    [SAYSO_PENDING] = "pending",
    [SAYSO_DECLINED] = "declined",
    [SAYSO_CANCELLED] = "cancelled",
    [SAYSO_TIMEOUT] = "timeout",
    [SAYSO_NOT_SUPPORTED] = "not_supported",
    [SAYSO_CHANNEL_CLOSED] = "channel_closed",
    [SAYSO_VALIDATION_FAILED] = "validation_failed",
    [SAYSO_NOT_FOUND] = "not_found",
    [SAYSO_RATE_LIMITED] = "rate_limited",
    [SAYSO_NO_MEMORY] = "no_memory",
    [SAYSO_MISUSE] = "misuse",
    [SAYSO_REFUSED] = "refused",
};

const char *sayso_code_name(int code)
{
    return code >= 0 && code < (int)ARRAY_LEN(code_names) ? code_names[code] : "unknown";
}

const char *sayso_version(void)
{
    return SAYSO_VERSION;
}

struct sayso *sayso_new(void)
{
    struct sayso *sayso = mem_new(sizeof *sayso);

    if (!sayso)
        return NULL;
    sayso->fd = -1;
    sayso->wake_ms = -1;
    return sayso;
}

void sayso_free(struct sayso *sayso)
{
    if (!sayso)
        return;
    if (sayso->phase == PHASE_UP)
        connection_advance(sayso); /* what was decided may still have to be told */
    connection_drop(sayso);
    for (struct sayso_request *request = sayso->first, *next; request; request = next) {
        next = request->next;
        request_destroy(request);
    }
    for (size_t i = 0; i < LIB_OPTIONS; i++)
        free(sayso->options[i]);
    text_release(&sayso->in);
    text_release(&sayso->out);
    text_release(&sayso->delivered);
    text_release(&sayso->delivering);
    free(sayso);
}

int handle_fail(struct sayso *sayso, enum sayso_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sayso->error, sizeof sayso->error, format, arguments);
    va_end(arguments);
    sayso->last_code = (int)code;
    return (int)code;
}

const char *sayso_error(const struct sayso *sayso)
{
    return sayso ? sayso->error : "";
}

int64_t handle_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_short(const char *value, size_t most)
{
    size_t length = strlen(value);

    return length > 0 && length <= most && text_is_utf8(value, length);
}

static bool is_path(const char *value)
{
    return value[0] == '/' && strlen(value) <= PATH_BYTES;
}

static bool is_socket(const char *value)
{
    return strlen(value) > 0 && strlen(value) <= PLACE_SOCKET_BYTES;
}

static bool is_name(const char *value)
{
    return is_short(value, NAME_BYTES);
}

static bool is_yes_or_no(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static bool is_patience(const char *value)
{
    int64_t number;

    return text_parse_integer(value, &number) && number >= 0 && number <= PATIENCE_MOST_MS;
}

static const struct {
    bool (*is_good)(const char *value);
    const char *wanted;
} options[] = {
    [SAYSO_NAME] = { is_name, "SAYSO_NAME must be UTF-8 of 1 to 200 bytes" },
    [SAYSO_AS] = { is_name, "SAYSO_AS must be UTF-8 of 1 to 200 bytes" },
    [SAYSO_DIRECTORY] = { is_path, "SAYSO_DIRECTORY must be an absolute path" },
    [SAYSO_SOCKET] = { is_socket, "SAYSO_SOCKET must be a path of 1 to 100 bytes" },
    [SAYSO_PROGRAM] = { is_path, "SAYSO_PROGRAM must be an absolute path" },
    [SAYSO_START] = { is_yes_or_no, "SAYSO_START must be yes or no" },
    [SAYSO_PATIENCE_MS] = { is_patience, "SAYSO_PATIENCE_MS must be a number of 0 to 3600000" },
    [SAYSO_SUB_AGENT] = { is_yes_or_no, "SAYSO_SUB_AGENT must be yes or no" },
};

int sayso_set(struct sayso *sayso, int option, const char *value)
{
    char *copy = NULL;

    if (!sayso)
        return SAYSO_MISUSE;
    sayso->error[0] = '\0';
    if (option < 0 || option >= LIB_OPTIONS)
        return handle_fail(sayso, SAYSO_MISUSE, "there is no option %d", option);
    if (value && !options[option].is_good(value))
        return handle_fail(sayso, SAYSO_MISUSE, "%s", options[option].wanted);
    if (sayso->phase != PHASE_AWAY || sayso->first)
        return handle_fail(sayso, SAYSO_MISUSE, "options are set before the handle is used");
    if (value) {
        copy = mem_text(value);
        if (!copy)
            return handle_fail(sayso, SAYSO_NO_MEMORY, "out of memory");
    }
    free(sayso->options[option]);
    sayso->options[option] = copy;
    return SAYSO_OK;
}

/* Who we are to the hub, and which program a hub is. */

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
