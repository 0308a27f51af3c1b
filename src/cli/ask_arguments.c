/* ask_arguments.c - from the options of `sayso ask` to the arguments of provide_choice. */
#include "cli/ask_arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/say.h"
#include "core/limits.h"
#include "i18n/i18n.h"

static bool is_recommended(const struct arguments *arguments, const char *id, size_t length)
{
    const char *wanted;
    size_t at = 0;

    while ((wanted = arguments_next(arguments, "recommend", &at))) {
        if (strncmp(wanted, id, length) == 0 && !wanted[length])
            return true;
    }
    return false;
}

/* Each --describe is of an option: a misspelt one would be dropped. */
static bool check_descriptions(const struct arguments *arguments)
{
    size_t at = 0;
    const char *pair;

    while ((pair = arguments_next(arguments, "describe", &at))) {
        size_t length = strcspn(pair, "=");

        if (!pair[length] || !arguments_of_pair(arguments, "option", pair, length)) {
            say_problem(TEXT_CLI_BAD_DESCRIBE, "pair", pair);
            return false;
        }
    }
    return true;
}

static void write_options(const struct arguments *arguments, struct json_writer *writer)
{
    const char *pair;
    size_t at = 0;

    if (!arguments_value(arguments, "option"))
        return;
    json_write_list(writer, "options");
    while ((pair = arguments_next(arguments, "option", &at))) {
        size_t length = strcspn(pair, "=");

        json_write_object(writer, NULL);
        json_write_text_n(writer, "id", pair, length);
        json_write_text(writer, "label", pair + length + 1);
        json_write_text_if(writer, "description",
                           arguments_of_pair(arguments, "describe", pair, length));
        json_write_bool_if(writer, "recommended", is_recommended(arguments, pair, length));
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
}

static void write_defaults(const struct arguments *arguments, struct json_writer *writer)
{
    const char *id;
    size_t at = 0;

    if (!arguments_value(arguments, "default"))
        return;
    json_write_list(writer, "default_selection_ids");
    while ((id = arguments_next(arguments, "default", &at)))
        json_write_text(writer, NULL, id);
    json_write_end_list(writer);
}

static const char *selection_mode(const struct arguments *arguments)
{
    if (arguments_value(arguments, "text"))
        return "text_input";
    if (arguments_value(arguments, "hybrid"))
        return "hybrid";
    return arguments_value(arguments, "multi") ? "multi" : "single";
}

bool ask_arguments_from_options(const struct arguments *arguments, struct text *out)
{
    struct json_writer writer = json_writer_to(out);
    const char *prompt = arguments_value(arguments, "prompt");
    const char *key = arguments_value(arguments, "key");
    int64_t timeout_s = 0, least = -1, most = -1;

    if (!arguments_integer(arguments, "timeout", 1, LIMIT_TIMEOUT_S, &timeout_s) ||
        !arguments_integer(arguments, "min", 0, LIMIT_OPTIONS, &least) ||
        !arguments_integer(arguments, "max", 1, LIMIT_OPTIONS, &most) ||
        !check_descriptions(arguments) || !arguments_are_pairs(arguments, "option"))
        return false;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "title", arguments->words[0]);
    if (prompt)
        json_write_text(&writer, "prompt", prompt);
    json_write_text(&writer, "selection_mode", selection_mode(arguments));
    write_options(arguments, &writer);
    write_defaults(arguments, &writer);
    if (timeout_s > 0)
        json_write_integer(&writer, "timeout_seconds", timeout_s);
    if (arguments_value(arguments, "destructive"))
        json_write_bool(&writer, "destructive", true);
    if (least >= 0)
        json_write_integer(&writer, "min_selections", least);
    if (most >= 0)
        json_write_integer(&writer, "max_selections", most);
    json_write_text_if(&writer, "placeholder", arguments_value(arguments, "placeholder"));
    json_write_text_if(&writer, "interface", arguments_value(arguments, "interface"));
    if (key)
        json_write_text(&writer, "idempotency_key", key);
    json_write_end_object(&writer);
    return true;
}

static bool read_all(int fd, const char *name, struct text *out, struct error *err)
{
    char bytes[65536];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        text_add(out, bytes, (size_t)got);
        if (out->used > LIMIT_WIRE_LINE_BYTES)
            return error_say(err, ERROR_too_long, "", TEXT_REASON_INPUT_TOO_LONG, "limit",
                             TEXT_NUMBER(LIMIT_WIRE_LINE_BYTES), NULL);
    }
    return got == 0 || error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_READ, "path", name,
                                 "reason", strerror(errno), NULL);
}

bool ask_arguments_from_file(const char *path, struct text *out, struct error *err)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return error_say(err, errno == ENOENT ? ERROR_not_found : ERROR_unavailable, "",
                         TEXT_REASON_CANT_OPEN, "path", path, "reason", strerror(errno), NULL);
    ok = read_all(fd, fd == STDIN_FILENO ? "standard input" : path, out, err);
    if (fd != STDIN_FILENO)
        close(fd);
    return ok;
}
