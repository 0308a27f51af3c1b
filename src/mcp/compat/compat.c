/* compat.c - what the rows share: see compat.h. */
#include "mcp/compat/compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"

bool compat_is_refused(enum ending ending)
{
    return ending != ENDING_ANSWERED && ending != ENDING_TIMEOUT && ending != ENDING_PENDING;
}

const char *compat_text(const struct json *given, const char *const *names)
{
    for (; *names; names++) {
        const char *text = json_member_text(given, *names);

        if (text && *text)
            return text;
    }
    return NULL;
}

/* As many code points as may be; the rest is left out. */
static void write_cut(struct json_writer *writer, const char *key, const char *text, size_t most)
{
    const char *at = text, *end = text + strlen(text);

    for (size_t count = 0; at < end && count < most; count++) {
        if (text_decode(&at, end) < 0)
            break;
    }
    json_write_text_n(writer, key, text, (size_t)(at - text));
}

void compat_write_title(struct json_writer *writer, const char *title, const char *otherwise)
{
    write_cut(writer, "title", title && *title ? title : otherwise, LIMIT_TITLE_CHARS);
}

void compat_write_prompt(struct json_writer *writer, const char *prompt, const char *tool)
{
    struct text whole = { 0 };

    text_add_text(&whole, prompt);
    if (text_count(prompt, strlen(prompt)) < LIMIT_PROMPT_CHARS_MIN)
        text_add_format(&whole, "\n\n(asked with %s)", tool);
    json_write_text(writer, "prompt", text_string(&whole));
    text_release(&whole);
}

void compat_write_timeout(struct json_writer *writer, const struct json *given)
{
    int64_t seconds = json_member_integer(given, "timeout", 0);

    if (seconds >= 1 && seconds <= LIMIT_TIMEOUT_S)
        json_write_integer(writer, "timeout_seconds", seconds);
}

/* An option is a text, or an object with a label. */
static const char *words_of(const struct json *option)
{
    static const char *const names[] = { "label", "title", "value", NULL };

    return json_kind(option) == KIND_OBJECT ? compat_text(option, names) : json_text(option);
}

bool compat_write_options(struct json_writer *writer, const char *key, const struct json *options,
                          const char *value_key, const char *label_key)
{
    char value[TEXT_INTEGER_BYTES];
    size_t written = 0;

    json_write_list(writer, key);
    for (size_t i = 0; json_kind(options) == KIND_LIST && i < json_length(options); i++) {
        const char *words = words_of(json_item(options, i));

        if (!words)
            continue;
        json_write_object(writer, NULL);
        json_write_text(writer, value_key, text_of_integer((int64_t)i + 1, value));
        json_write_text(writer, label_key, words);
        json_write_end_object(writer);
        written++;
    }
    json_write_end_list(writer);
    return written > 0;
}

const char *compat_option(const struct json *options, const char *value)
{
    int64_t number;

    if (!value || json_kind(options) != KIND_LIST || !text_parse_integer(value, &number) ||
        number < 1 || (size_t)number > json_length(options))
        return NULL;
    return words_of(json_item(options, (size_t)number - 1));
}

char *compat_written(const struct json *result)
{
    const struct json *selection = json_member(result, "selection");
    const char *text = json_member_text(selection, "custom_input");
    const char *note = json_member_text(selection, "global_annotation");
    struct text whole = { 0 };

    text_add_text(&whole, text ? text : "");
    if (note && *note)
        text_add_format(&whole, "%s%s", whole.used ? "\n\n" : "", note);
    return text_take(&whole);
}

void compat_write_back(struct json_writer *writer, const struct json *result, const char *how)
{
    const char *back = json_member_text(result, "asked_back");

    json_write_text_if(writer, "asked_back", back);
    json_write_text_if(writer, "instructions",
                       back ? json_member_text(result, "instructions") : how);
}

void compat_write_ending(struct json_writer *writer, const struct compat_outcome *outcome,
                         const char *tool)
{
    const char *id = json_member_text(outcome->result, "session_id");
    char *how;

    if (outcome->ending == ENDING_TIMEOUT)
        json_write_bool(writer, "timeout", true);
    if (outcome->ending != ENDING_PENDING)
        return;
    how = mem_format("Nobody has answered yet. Call %s again with the same arguments to go on "
                     "waiting, or get_answer with this session_id.",
                     tool);
    json_write_bool(writer, "pending", true);
    json_write_text_if(writer, "session_id", id);
    compat_write_back(writer, outcome->result, how);
    free(how);
}
