/*
 * Whatever a client's hook sends: its prompt becomes a call that can be read, or nothing; and
 * whatever the hub replies, only what someone decided becomes a decision. Behind a zero byte
 * stands a result.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "core/outcome.h"
#include "core/prompt.h"
#include "core/tools/arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

/* The hub may refuse it; a permission that it takes is whole. */
static void ask(const struct prompt *prompt)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    struct json *call = NULL;
    const char *tool = prompt_write_arguments(prompt, &writer);
    struct ask_call read;
    struct error err;

    if (tool) {
        json_write_end_object(&writer);
        require(json_parse(text_string(&out), out.used, &call, NULL));
        if (arguments_check(ask_tool_find(tool), call, &read, &err)) {
            require(form_may_destroy(&read.form) == prompt->is_destructive ||
                    prompt->kind != PROMPT_PERMISSION);
            ask_call_release(&read);
        }
    }
    json_free(call);
    text_release(&out);
}

static void decide(const struct prompt *prompt, const struct json *result)
{
    bool may = json_is_true(json_member(result, "explicit")) || json_member_text(result, "rule");
    enum ending ending = outcome_read(result);
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    struct json *decision = NULL;

    if (prompt_write_decision(prompt, result, &writer)) {
        require(may && (ending == ENDING_ANSWERED || ending == ENDING_DECLINED));
        json_write_end_object(&writer);
        require(json_parse(text_string(&out), out.used, &decision, NULL));
    } else {
        require(strcmp(text_string(&out), "{") == 0);
    }
    json_free(decision);
    text_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *end = memchr(bytes, '\0', size);
    size_t length = end ? (size_t)(end - bytes) : size;
    struct prompt prompt = {
        .client = "Claude Code", .digest = "0123456789abcdef", .key = "k", .wait_s = 60
    };
    struct json *hook = NULL, *result = NULL;

    if (size > 0 && json_parse(bytes, length, &hook, NULL) && json_kind(hook) == KIND_OBJECT &&
        !prompt_read(hook, &prompt)) {
        for (unsigned i = 0; i < 4; i++) {
            prompt.is_destructive = i & 1;
            prompt.dialog = i & 2 ? DIALOG_OPEN : DIALOG_LATER;
            ask(&prompt);
            if (end && (result || json_parse(end + 1, size - length - 1, &result, NULL)))
                decide(&prompt, result);
        }
    }
    json_free(result);
    json_free(hook);
    return 0;
}
