/*
 * test_prompt.c - a client's own prompts as asks, and what came of them in the client's words: only
 * what a person or their rule decided, exactly what was offered, and nothing else.
 * Proves: R15.1 R15.2 R15.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/prompt.h"
#include "core/tools/arguments.h"

#define DIGEST "0123456789abcdef"
#define RULES(place)                                                                               \
    "{\"type\":\"addRules\",\"rules\":[{\"toolName\":\"Bash\",\"ruleContent\":\"npm test:*\"}],"   \
    "\"behavior\":\"allow\",\"destination\":\"" place "\"}"
#define BASH(more)                                                                                 \
    "{\"hook_event_name\":\"PermissionRequest\",\"session_id\":\"s-1\",\"tool_name\":\"Bash\","    \
    "\"tool_input\":{\"command\":\"npm test\",\"description\":\"Run the tests\"}" more "}"
#define SUGGESTED(list) BASH(",\"permission_suggestions\":[" list "]")
#define QUESTION        "Which database?"
#define QUESTIONS                                                                                  \
    "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"AskUserQuestion\",\"tool_input\":" \
    "{\"questions\":[{\"question\":\"" QUESTION "\",\"header\":\"A header that is long\","         \
    "\"options\":[{\"label\":\"Postgres\",\"description\":\"server\"},{\"label\":\"SQLite\"}],"    \
    "\"multiSelect\":false}],\"metadata\":{\"source\":\"x\"}}}"
#define FORM                                                                                       \
    "{\"hook_event_name\":\"Elicitation\",\"mcp_server_name\":\"probe\",\"message\":\"Which?\","   \
    "\"mode\":\"form\",\"requested_schema\":{\"type\":\"object\",\"properties\":{\"color\":"       \
    "{\"type\":\"string\",\"enum\":[\"red\",\"green\"]}},\"required\":[\"color\"]}}"
#define STOP                                                                                       \
    "{\"hook_event_name\":\"Stop\",\"session_id\":\"s-1\",\"last_assistant_message\":\"All "       \
    "done\"}"

struct read {
    struct json *hook;
    struct prompt prompt;
    const char *problem;
};

static struct read read_hook(const char *hook)
{
    struct read read = { .hook = json_of(hook) };

    assert_non_null(read.hook);
    read.prompt = (struct prompt){
        .client = "Claude Code", .digest = DIGEST, .key = "k", .wait_s = 60, .dialog = DIALOG_OPEN
    };
    read.problem = prompt_read(read.hook, &read.prompt);
    return read;
}

/* The call of ask/create, which the hub must accept. NULL: it can't be shown whole. */
static struct json *ask_of(const struct prompt *prompt)
{
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    const char *tool;
    struct json *call = NULL;

    json_write_object(&writer, "arguments");
    tool = prompt_write_arguments(prompt, &writer);
    json_write_end_object(&writer);
    json_write_text(&writer, "tool", tool);
    json_write_end_object(&writer);
    if (tool)
        assert_true(json_parse(text_string(&out), out.used, &call, NULL));
    text_release(&out);
    return call;
}

static void assert_accepted(const struct json *call)
{
    const struct ask_tool *tool = ask_tool_find(json_member_text(call, "tool"));
    struct ask_call read;
    struct error err = { 0 };

    if (!arguments_check(tool, json_member(call, "arguments"), &read, &err))
        fail_msg("refused: %s at %s", err.message, err.path);
    ask_call_release(&read);
}

/* The decision as text; "": none. The caller frees. */
static char *decide(const struct prompt *prompt, const char *result)
{
    struct json *read = json_of(result);
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    bool ok;

    assert_non_null(read);
    ok = prompt_write_decision(prompt, read, &writer);
    json_write_end_object(&writer);
    if (!ok)
        assert_string_equal(text_string(&out), "{}");
    json_free(read);
    if (ok)
        return text_take(&out);
    text_release(&out);
    return mem_text("");
}

static void assert_decision(const char *hook, const char *result, const char *wanted)
{
    struct read read = read_hook(hook);
    char *decision = decide(&read.prompt, result);

    assert_null(read.problem);
    assert_string_equal(decision, wanted);
    free(decision);
    json_free(read.hook);
}

/* Results as response.c writes them. */
#define BY(more) "\"explicit\":true,\"answered_by\":{\"person\":\"ada\",\"via\":\"cli\"" more "}"
#define HERE     BY(",\"uid\":1000,\"pid\":7")
#define PICK(id, by)                                                                               \
    "{\"action_status\":\"selected\",\"selection\":{\"selected_ids\":[\"" id "\"]}," by "}"
#define DECISION(inner)                                                                            \
    "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{" inner "}}}"
#define ALLOWED_IN(place)                                                                          \
    DECISION("\"behavior\":\"allow\",\"updatedPermissions\":[{\"type\":\"addRules\",\"rules\":"    \
             "[{\"toolName\":\"Bash\",\"ruleContent\":\"npm test:*\"}],\"behavior\":\"allow\","    \
             "\"destination\":\"" place "\"}]")

static void permissions_are_decided(void **state)
{
    (void)state;
    assert_decision(BASH(), PICK("allow:" DIGEST, HERE), DECISION("\"behavior\":\"allow\""));
    assert_decision(BASH(), PICK("deny:" DIGEST, HERE),
                    DECISION("\"behavior\":\"deny\",\"message\":\"The user denied this.\""));
    assert_decision(
        BASH(),
        "{\"action_status\":\"selected\",\"selection\":{\"selected_ids\":[\"deny:" DIGEST
        "\"],\"global_annotation\":\"use make\"}," HERE "}",
        DECISION("\"behavior\":\"deny\",\"message\":\"The user denied this. They "
                 "wrote: use make\""));
    assert_decision(BASH(), PICK("allow:" DIGEST, "\"explicit\":false,\"rule\":\"3f0c\""),
                    DECISION("\"behavior\":\"allow\""));
}

/* No path turns silence, another's answer or the agent's own into an allow. */
static void nothing_else_decides(void **state)
{
    static const char *const results[] = {
        "{}",
        "{\"action_status\":\"timeout\",\"selection\":{\"selected_ids\":[]}}",
        "{\"action_status\":\"cancelled\",\"selection\":{\"selected_ids\":[]}," HERE "}",
        "{\"action_status\":\"cancelled\",\"declined\":true,\"selection\":{}," HERE "}",
        "{\"action_status\":\"cancelled\",\"withdrawn\":true,\"selection\":{}}",
        "{\"action_status\":\"pending\",\"selection\":{\"selected_ids\":[\"allow:" DIGEST "\"]}}",
        "{\"action_status\":\"timeout\",\"auto_submitted\":true,\"selection\":{\"selected_ids\":"
        "[\"allow:" DIGEST "\"]},\"explicit\":false}",
        PICK("allow:" DIGEST, "\"explicit\":false"),
        PICK("allow", HERE),
        PICK("allow:0000000000000000", HERE),
        PICK("always0:" DIGEST, HERE),
        PICK("always7:" DIGEST, HERE),
        PICK(":" DIGEST, HERE),
        PICK("allow:" DIGEST, BY(",\"pid\":7,\"same_process_tree\":true")),
        "{\"action_status\":\"selected\",\"selection\":{\"selected_ids\":[\"allow:" DIGEST
        "\",\"deny:" DIGEST "\"]}," HERE "}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(results); i++)
        assert_decision(BASH(), results[i], "");
    assert_decision(QUESTIONS, "{\"status\":\"cancelled\"," HERE "}", "");
    assert_decision(FORM, "{\"action\":\"cancel\"," HERE "}", "");
    assert_decision(FORM, "{\"action\":\"timeout\"}", "");
    assert_decision(
        STOP,
        "{\"action_status\":\"custom_input\",\"selection\":{\"custom_input\":\" \"}," HERE "}", "");
}

static void always_is_what_was_shown(void **state)
{
    static const char *const not_offered[] = {
        "{\"type\":\"setMode\",\"mode\":\"acceptEdits\",\"destination\":\"session\"}",
        "{\"type\":\"addDirectories\",\"directories\":[\"/\"],\"destination\":\"session\"}",
        RULES("cliArg"),
        "{\"type\":\"addRules\",\"rules\":[{\"toolName\":\"Bash\"}],\"behavior\":\"deny\","
        "\"destination\":\"session\"}",
        "{\"type\":\"addRules\",\"rules\":[],\"behavior\":\"allow\",\"destination\":\"session\"}",
        "{\"type\":\"addRules\",\"rules\":[{\"toolName\":\"Bash\",\"more\":1}],\"behavior\":"
        "\"allow\",\"destination\":\"session\"}",
        "{\"type\":\"addRules\",\"rules\":[{\"toolName\":\"Ba\\u0000sh\"}],\"behavior\":"
        "\"allow\",\"destination\":\"session\"}",
    };

    (void)state;
    assert_decision(SUGGESTED(RULES("localSettings")), PICK("always0:" DIGEST, HERE),
                    ALLOWED_IN("localSettings"));
    assert_decision(SUGGESTED(RULES("localSettings")),
                    PICK("always0:" DIGEST, BY(",\"uid\":1000,\"pid\":7,\"token\":\"laptop\"")),
                    ALLOWED_IN("session"));
    assert_decision(SUGGESTED(RULES("userSettings")), PICK("always0:" DIGEST, BY("")),
                    ALLOWED_IN("session"));
    assert_decision(SUGGESTED(RULES("userSettings")),
                    PICK("always0:" DIGEST, "\"explicit\":false,\"rule\":\"3f0c\""),
                    ALLOWED_IN("session"));
    for (size_t i = 0; i < ARRAY_LEN(not_offered); i++) {
        char *hook = mem_format(SUGGESTED("%s"), not_offered[i]);
        struct read read = read_hook(hook);
        struct json *call = ask_of(&read.prompt);

        assert_int_equal(json_length(json_member(json_member(call, "arguments"), "options")), 2);
        assert_decision(hook, PICK("always0:" DIGEST, HERE), "");
        json_free(call);
        json_free(read.hook);
        free(hook);
    }
}

/* What the gate speaks of is never allowed for more than once, and saying so takes a code. */
static void destructive_calls_are_allowed_once(void **state)
{
    struct read read = read_hook(SUGGESTED(RULES("session")));
    struct json *call;
    char *decision;

    (void)state;
    read.prompt.is_destructive = true;
    call = ask_of(&read.prompt);
    assert_accepted(call);
    assert_true(json_is_true(json_member(json_member(call, "arguments"), "destructive")));
    assert_int_equal(json_length(json_member(json_member(call, "arguments"), "options")), 2);
    decision = decide(&read.prompt, PICK("always0:" DIGEST, HERE));
    assert_string_equal(decision, "");
    free(decision);
    json_free(call);
    json_free(read.hook);
}

static void questions_and_forms_come_back(void **state)
{
    (void)state;
    assert_decision(
        QUESTIONS,
        "{\"status\":\"answered\",\"answers\":{\"" QUESTION "\":\"SQLite\"},\"answer_list\":[{"
        "\"question\":\"" QUESTION "\",\"notes\":\"one file\"}]," HERE "}",
        DECISION("\"behavior\":\"allow\",\"updatedInput\":{\"questions\":[{\"question\":\"" QUESTION
                 "\",\"header\":\"A header that is long\",\"options\":[{\"label\":\"Postgres\","
                 "\"description\":\"server\"},{\"label\":\"SQLite\"}],\"multiSelect\":false}],"
                 "\"metadata\":{\"source\":\"x\"},\"answers\":{\"" QUESTION "\":\"SQLite\"},"
                 "\"annotations\":{\"" QUESTION "\":{\"notes\":\"one file\"}}}"));
    assert_decision(FORM, "{\"action\":\"accept\",\"content\":{\"color\":\"red\"}," HERE "}",
                    "{\"hookSpecificOutput\":{\"hookEventName\":\"Elicitation\",\"action\":"
                    "\"accept\",\"content\":{\"color\":\"red\"}}}");
    assert_decision(FORM, "{\"action\":\"decline\"," HERE "}",
                    "{\"hookSpecificOutput\":{\"hookEventName\":\"Elicitation\",\"action\":"
                    "\"decline\"}}");
    assert_decision(STOP,
                    "{\"action_status\":\"custom_input\",\"selection\":{\"custom_input\":\"Now "
                    "the docs\"}," HERE "}",
                    "{\"decision\":\"block\",\"reason\":\"Now the docs\"}");
}

static void asks_are_whole_and_accepted(void **state)
{
    static const struct {
        const char *hook, *shown; /* somewhere in the call; NULL: it can't be shown whole */
    } cases[] = {
        { BASH(), "\"preview\":{\"type\":\"code\",\"text\":\"npm test\",\"language\":\"sh\"}" },
        { BASH(), "Run the tests" },
        { BASH(), "Claude Code: allow Bash?" },
        { BASH(), "Session: s-1" },
        { BASH(), "may already be answered there" },
        { SUGGESTED(RULES("projectSettings")), "Stored in .claude/settings.json" },
        { SUGGESTED(RULES("session") "," RULES("localSettings")), "always1:" DIGEST },
        { "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"Edit\",\"tool_input\":{"
          "\"file_path\":\"/a\",\"old_string\":\"one\\ntwo\",\"new_string\":\"one\\nthree\\n\"}}",
          "\"type\":\"diff\",\"text\":\"-one\\n-two\\n+one\\n+three\\n\"" },
        { "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"ExitPlanMode\","
          "\"tool_input\":{\"plan\":\"# First\"}}",
          "\"type\":\"markdown\",\"text\":\"# First\"" },
        { "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"mcp__x__y\",\"tool_input\":{"
          "\"n\":[1,{\"a\":\"```\"}]}}",
          "[1,{\\\"a\\\":\\\"```\\\"}]" },
        { QUESTIONS, "\"question\":\"" QUESTION "\"" },
        { FORM, "probe asks, in Claude Code" },
        { STOP, "All done" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct read read = read_hook(cases[i].hook);
        struct json *call = ask_of(&read.prompt);
        char *encoded = json_encode(call);

        assert_null(read.problem);
        assert_accepted(call);
        if (!strstr(encoded, cases[i].shown))
            fail_msg("%s is not in %s", cases[i].shown, encoded);
        free(encoded);
        json_free(call);
        json_free(read.hook);
    }
}

static void what_is_too_long_is_not_asked(void **state)
{
    char *command = mem_new(70000);
    char *hook;
    struct read read;

    (void)state;
    memset(command, 'x', 69999);
    hook = mem_format("{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"Bash\","
                      "\"tool_input\":{\"command\":\"%s\"}}",
                      command);
    read = read_hook(hook);
    assert_null(ask_of(&read.prompt));
    json_free(read.hook);
    free(hook);
    free(command);
}

static void unknown_hooks_are_named(void **state)
{
    static const char *const hooks[] = {
        "{}",
        "{\"hook_event_name\":7}",
        "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{}}",
        "{\"hook_event_name\":\"PermissionRequest\"}",
        "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"\",\"tool_input\":{}}",
        "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":\"Bash\",\"tool_input\":\"x\"}",
        "{\"hook_event_name\":\"Elicitation\",\"mcp_server_name\":\"a\",\"message\":\"b\"}",
        "{\"hook_event_name\":\"Elicitation\",\"mcp_server_name\":\"a\",\"message\":\"b\","
        "\"mode\":\"url\",\"requested_schema\":{}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++) {
        struct read read = read_hook(hooks[i]);

        assert_non_null(read.problem);
        json_free(read.hook);
    }
}

/* A permission tool has to answer: what is no decision in a hook is a no there. */
static void a_permission_tool_says_no(void **state)
{
    static const struct {
        const char *result, *wanted;
    } cases[] = {
        { PICK("allow:" DIGEST, HERE),
          "{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"npm test\",\"description\":"
          "\"Run the tests\"}}" },
        { PICK("deny:" DIGEST, HERE),
          "{\"behavior\":\"deny\",\"message\":\"The user denied this.\"}" },
        { "{\"action_status\":\"timeout\"}",
          "{\"behavior\":\"deny\",\"message\":\"The user did not decide, so this is denied. Do not "
          "try another way; ask the user.\"}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct read read = read_hook(BASH());
        struct json *result = json_of(cases[i].result);
        struct text out = { 0 };
        struct json_writer writer = json_object_to(&out);

        prompt_write_permission(&read.prompt, result, &writer);
        json_write_end_object(&writer);
        assert_string_equal(text_string(&out), cases[i].wanted);
        text_release(&out);
        json_free(result);
        json_free(read.hook);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permissions_are_decided),
        cmocka_unit_test(nothing_else_decides),
        cmocka_unit_test(always_is_what_was_shown),
        cmocka_unit_test(destructive_calls_are_allowed_once),
        cmocka_unit_test(questions_and_forms_come_back),
        cmocka_unit_test(asks_are_whole_and_accepted),
        cmocka_unit_test(what_is_too_long_is_not_asked),
        cmocka_unit_test(unknown_hooks_are_named),
        cmocka_unit_test(a_permission_tool_says_no),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
