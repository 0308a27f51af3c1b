/*
 * permission.c - the tool of --permission-prompt-tool: a client without a window (`claude -p`)
 * calls it, not its model, where it would ask its user (R15). It wants one text that holds JSON,
 * and hides the tool from the model (measured: Claude Code 2.1.325). Listed only where it is named.
 */
#include "base/crypto.h"
#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "core/prompt.h"
#include "mcp/compat/compat.h"
#include "mcp/tools/tool.h"

/* Longer than a model's call, since no turn of it waits; the ask ends before that. */
enum { DIGEST_BYTES = 8, HOLD_S = 580, WAIT_S = 570 };

/* NULL, or why no one can be asked. */
static const char *read_call(const struct json *given, char digest[2 * DIGEST_BYTES + 1],
                             struct prompt *prompt)
{
    struct text identity = { 0 };
    uint8_t hash[HASH_BYTES];
    const char *problem;

    *prompt = (struct prompt){ .client = "Claude Code", .digest = digest, .wait_s = WAIT_S };
    problem = prompt_read_call(given, prompt);
    if (problem)
        return problem;
    prompt_write_identity(prompt, &identity);
    hash_bytes(identity.bytes, identity.used, hash);
    hash_hex(hash, DIGEST_BYTES, digest);
    text_release(&identity);
    return NULL;
}

/* Looked at first: the gate reads each byte many times, and none of what is refused. */
static bool is_short_enough(const struct prompt *prompt)
{
    struct text written = { 0 };
    struct json_writer writer = json_object_to(&written);
    bool is_written = prompt_write_arguments(prompt, &writer) != NULL;

    text_release(&written);
    return is_written;
}

static bool refuse_long(struct compat_ask *ask)
{
    return error_set(ask->err, ERROR_too_long, "/input",
                     "this is too long to be shown to a person in full");
}

static bool translate(struct compat_ask *ask)
{
    struct prompt prompt;
    char digest[2 * DIGEST_BYTES + 1], key[32];

    if (read_call(ask->given, digest, &prompt))
        return error_set(ask->err, ERROR_missing_property, "/tool_name",
                         "tool_name must be a text and input an object");
    random_id(key);
    prompt.key = key;
    if (!is_short_enough(&prompt))
        return refuse_long(ask);
    prompt.is_destructive =
        prompt.kind == PROMPT_PERMISSION &&
        (!ask->is_gated || ask->is_gated(ask->context, prompt.tool, prompt.input));
    ask->tool = prompt_write_arguments(&prompt, &ask->writer);
    return ask->tool || refuse_long(ask); /* what the gate speaks of takes a few words more */
}

static void present(struct compat_reply *reply)
{
    struct prompt prompt;
    char digest[2 * DIGEST_BYTES + 1];
    struct json_writer writer = json_object_to(&reply->text);

    read_call(reply->given, digest, &prompt); /* as it was */
    prompt_write_permission(&prompt, reply->result, &writer);
    json_write_end_object(&writer);
}

const struct tool tool_row_permission_prompt = {
    .name = "permission_prompt",
    .title = "Ask for a permission",
    .description = "For --permission-prompt-tool: asks the person whether a tool may run. Not for "
                   "models.",
    .input_json = "{\"type\":\"object\",\"properties\":{\"tool_name\":{\"type\":\"string\"},"
                  "\"input\":{\"type\":\"object\"},\"tool_use_id\":{\"type\":\"string\"}},"
                  "\"required\":[\"tool_name\",\"input\"]}",
    .compat = &(const struct compat){ translate, present },
    .hold_s = HOLD_S,
};
