/*
 * fuzz_config.c - any text as a client's configuration: what passes the check can be changed, is
 * still readable then, holds what was put in, and keeps every byte it had.
 * The first byte chooses the format.
 * Proves: R10.5
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/install/config_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char entry_json[] =
    "{\"command\":\"/a \\\"b\\\\\",\"args\":[\"mcp\"],\"env\":{\"A\":\"b\"},\"timeout\":3600}";

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* Nothing but blanks may go. */
static void demand_kept(const struct text *before, const struct text *after)
{
    size_t at = 0;

    for (size_t i = 0; i < before->used; i++) {
        if (strchr(" \t\r\n", before->bytes[i]))
            continue;
        while (at < after->used && after->bytes[at] != before->bytes[i])
            at++;
        demand(at++ < after->used);
    }
}

static void change(const struct config_format *format, struct text *text)
{
    struct config_path path = { .keys = { "servers", "sayso", "timeout" }, .count = 2 };
    struct text before = { 0 }, shown = { 0 };
    struct json *entry = NULL, *found = format->find(text, &path), *number = NULL;
    bool was_there = found != NULL;

    json_free(found);
    text_add(&before, text_string(text), text->used);
    demand(json_parse(entry_json, sizeof entry_json - 1, &entry, NULL));
    if (!was_there && format->set(text, &path, entry, NULL)) {
        demand(format->check(text, NULL));
        found = format->find(text, &path);
        demand(found && json_same(found, entry));
        json_free(found);
        demand_kept(&before, text);
        diff_add(&shown, "x", &before, text);
        demand(shown.used > 0);
        path.count = 3;
        demand(json_parse("1", 1, &number, NULL) && format->set(text, &path, number, NULL));
        found = format->find(text, &path);
        demand(found && json_same(found, number) && format->check(text, NULL));
        json_free(found);
        json_free(number);
        path.count = 2;
        demand(format->drop(text, &path, NULL) && format->check(text, NULL));
        demand(!format->find(text, &path));
    } else if (was_there && format->drop(text, &path, NULL)) {
        demand(format->check(text, NULL));
    }
    json_free(entry);
    text_release(&before);
    text_release(&shown);
}

/* The same for an item behind the last of a list. */
static void change_list(const struct config_format *format, struct text *text)
{
    struct config_path path = { .keys = { "hooks", "Before" }, .count = 2 };
    struct text before = { 0 };
    struct json *item = NULL, *found = format->find(text, &path);

    path.is_item = true;
    path.item = json_kind(found) == KIND_LIST ? json_length(found) : 0;
    json_free(found);
    text_add(&before, text_string(text), text->used);
    demand(json_parse(entry_json, sizeof entry_json - 1, &item, NULL));
    found = format->find(text, &path); /* what our reader takes for null may have items */
    if (!found && format->set(text, &path, item, NULL)) {
        struct json *there = format->find(text, &path);

        demand(format->check(text, NULL));
        demand(there && json_same(there, item));
        json_free(there);
        demand_kept(&before, text);
        demand(format->drop(text, &path, NULL) && format->check(text, NULL));
        demand(!format->find(text, &path));
    }
    json_free(found);
    json_free(item);
    text_release(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct config_format *const formats[] = { &config_json, &config_jsonc,
                                                           &config_toml };
    struct text text = { 0 };
    struct error err = { 0 };

    if (size < 1)
        return 0;
    text_add(&text, (const char *)data + 1, size - 1);
    if (formats[data[0] % 3]->check(&text, &err)) {
        if (data[0] % 3 != 2 && data[0] & 8)
            change_list(formats[data[0] % 3], &text);
        change(formats[data[0] % 3], &text);
    } else
        demand(err.code == ERROR_bad_json && err.path[0]);
    text_release(&text);
    return 0;
}
