#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os.h"
#include "cli/gate/prompts.h"

enum { TAIL_BYTES = 1 << 20, MAX_LINE_BYTES = 8 << 20 };

static char *find_open(struct transcript *transcript, const char *id)
{
    for (size_t i = 0; i < TRANSCRIPT_CALLS; i++) {
        if (strcmp(transcript->open[i], id) == 0)
            return transcript->open[i];
    }
    return NULL;
}

static bool has_open(const struct transcript *transcript)
{
    for (size_t i = 0; i < TRANSCRIPT_CALLS; i++) {
        if (transcript->open[i][0])
            return true;
    }
    return false;
}

/* Of what a model called a tool with the client's hooks are given all, and the defaults. */
static bool is_within(const struct json *noted, const struct json *given)
{
    bool is_list = json_kind(noted) == KIND_LIST;

    if (json_kind(noted) != json_kind(given) || (!is_list && json_kind(noted) != KIND_OBJECT))
        return json_same(noted, given);
    if (is_list && json_length(noted) != json_length(given))
        return false;
    for (size_t i = 0; is_list && i < json_length(noted); i++) {
        if (!is_within(json_item(noted, i), json_item(given, i)))
            return false;
    }
    for (void *it = is_list ? NULL : json_first(noted); it; it = json_next(noted, it)) {
        const struct json *same = json_member_n(given, json_key(it), json_key_length(it));

        if (!same || !is_within(json_value(it), same))
            return false;
    }
    return true;
}

static void take_call(struct transcript *transcript, const struct json *part)
{
    const char *name = json_member_text(part, "name"), *id = json_member_text(part, "id");
    char *room = find_open(transcript, "");

    if (!name || strcmp(name, transcript->tool) != 0 || !id || !*id ||
        strlen(id) >= TRANSCRIPT_ID_BYTES || !room || find_open(transcript, id) ||
        !is_within(json_member(part, "input"), transcript->input))
        return;
    transcript->was_called = true;
    snprintf(room, TRANSCRIPT_ID_BYTES, "%s", id);
}

static void take_result(struct transcript *transcript, const struct json *part)
{
    const char *id = json_member_text(part, "tool_use_id");
    char *call = id && *id ? find_open(transcript, id) : NULL;

    if (call)
        *call = '\0';
}

static void take_line(struct transcript *transcript, const char *line, size_t length)
{
    struct json *noted = NULL;
    const struct json *parts;
    const char *version;

    if (!json_parse(line, length, &noted, NULL))
        return;
    parts = json_member(json_member(noted, "message"), "content");
    version = json_member_text(noted, "version");
    if (version)
        text_put(transcript->version, sizeof transcript->version, version);
    for (size_t i = 0; json_kind(parts) == KIND_LIST && i < json_length(parts); i++) {
        const struct json *part = json_item(parts, i);
        const char *type = json_member_text(part, "type");

        if (type && strcmp(type, "tool_use") == 0)
            take_call(transcript, part);
        else if (type && strcmp(type, "tool_result") == 0)
            take_result(transcript, part);
    }
    json_free(noted);
}

static void take_bytes(struct transcript *transcript, const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length, *line_end;

    while ((line_end = memchr(at, '\n', (size_t)(end - at)))) {
        text_add(&transcript->part, at, (size_t)(line_end - at));
        if (transcript->has_begun && !transcript->part.has_overflowed)
            take_line(transcript, text_string(&transcript->part), transcript->part.used);
        text_clear(&transcript->part);
        transcript->part.has_overflowed = false;
        transcript->has_begun = true;
        at = line_end + 1;
    }
    text_add(&transcript->part, at, (size_t)(end - at));
}

void transcript_read(struct transcript *transcript)
{
    char bytes[65536];
    ssize_t got;

    if (transcript->watch >= 0)
        os_take_changes(transcript->watch);
    while (transcript->file >= 0 && (got = read(transcript->file, bytes, sizeof bytes)) > 0)
        take_bytes(transcript, bytes, (size_t)got);
}

void transcript_open(struct transcript *transcript, const char *path, const char *tool,
                     const struct json *input)
{
    struct stat found;

    *transcript = (struct transcript){ .tool = tool,
                                       .input = input,
                                       .file = -1,
                                       .watch = -1,
                                       .has_begun = true,
                                       .part.max_bytes = MAX_LINE_BYTES };
    if (!path || !tool)
        return;
    transcript->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (transcript->file < 0 || fstat(transcript->file, &found) != 0 || !S_ISREG(found.st_mode)) {
        transcript_close(transcript);
        return;
    }
    transcript->watch = os_watch_file(path);
    if (found.st_size > TAIL_BYTES && lseek(transcript->file, -TAIL_BYTES, SEEK_END) >= 0)
        transcript->has_begun = false;
    transcript_read(transcript);
    /* this call has no result yet: what was decided were earlier ones like it */
    transcript->was_called = has_open(transcript);
}

void transcript_close(struct transcript *transcript)
{
    if (transcript->file >= 0)
        close(transcript->file);
    if (transcript->watch >= 0)
        close(transcript->watch);
    transcript->file = transcript->watch = -1;
    text_release(&transcript->part);
}

/* Of several calls that are the same any may be the one: all of them must have been decided. */
bool transcript_is_decided(const struct transcript *transcript)
{
    return transcript->was_called && !has_open(transcript);
}
