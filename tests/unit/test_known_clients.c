/*
 * test_known_clients.c - the table of measured clients: which row a name has, and what it says.
 * Proves: R4.2 R5.7
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "core/known_clients.h"

static void test_which_row_a_name_has(void **state)
{
    static const struct {
        const char *name, *row;
    } cases[] = {
        { "claude-code", "claude-code" },
        { "claude-code-like", "*" },
        { "claude", "*" },
        { "copilot-cli", "copilot-cli" },
        { "github-copilot-developer", "github-copilot-developer" },
        { "gemini-cli-mcp-client", "gemini-cli-mcp-client*" },
        { "gemini-cli-mcp-client-sayso", "gemini-cli-mcp-client*" },
        { "gemini-cli", "*" },
        { "qwen-cli-mcp-client-sayso", "qwen-cli-mcp-client*" },
        { "", "*" },
        { "*", "*" },
        { "\xff", "*" },
        { NULL, "*" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(known_client(cases[i].name)->name, cases[i].row);
}

static const char *const measured[] = { "claude-code",           "codex-mcp-client",
                                        "copilot-cli",           "github-copilot-developer",
                                        "gemini-cli-mcp-client", "qwen-code-mcp-client",
                                        "qwen-cli-mcp-client",   "opencode",
                                        "continue-cli-client",   "@cline/core",
                                        "inspector-cli" };

static void test_what_is_known_has_a_date(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(measured); i++)
        assert_non_null(strstr(known_client(measured[i])->measured, "2026-"));
    assert_null(known_client("unknown")->measured);
}

static void test_what_is_installed_has_its_row(void **state)
{
    (void)state;
    assert_string_equal(known_client_of_program("copilot")->name, "copilot-cli");
    assert_string_equal(known_client_of_program("claude")->name, "claude-code");
    assert_string_equal(known_client_of_program("cursor")->name, "*");
}

/* Install raises what a client's configuration lets it wait; some put calls aside all the same. */
static void test_a_raised_timeout_lets_calls_be_held_longer(void **state)
{
    static const struct {
        const char *name;
        int64_t timeout_s, hold_s;
    } cases[] = {
        { "@cline/core", 3600, 630 },   { "@cline/core", 300, 270 },
        { "@cline/core", 60, 56 },      { "codex-mcp-client", 3600, 630 },
        { "codex-mcp-client", 1, 280 }, { "claude-code", 3600, 110 },
        { "unknown", INT64_MAX, 630 },  { "continue-cli-client", 0, 56 },
        { "unknown", INT64_MIN, 50 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(known_client_hold_s(cases[i].name, false, cases[i].timeout_s),
                         cases[i].hold_s);
    assert_int_equal(known_client_hold_s("opencode", true, 100), 630);
}

/* What is held answers before its client gives up, and ten minutes cost no more turns than that
 * client's limit is worth, and one. Progress or its configuration make it fewer. */
static void test_calls_are_held_nearly_as_long_as_clients_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(measured); i++) {
        const struct known_client *row = known_client(measured[i]);
        int64_t limit_s = row->backgrounds_calls ? 120 : row->limit_s;
        int64_t calls = (600 + row->hold_s - 1) / row->hold_s;

        assert_true(row->hold_s < limit_s);
        if (!row->progress_extends && calls > (600 + limit_s - 1) / limit_s + 1)
            fail_msg("%s: %d calls", measured[i], (int)calls);
    }
}

static void test_what_the_rows_say(void **state)
{
    static const struct {
        const char *name;
        bool stops_clock, backgrounds_calls, shows_notes, lacks_lists;
    } cases[] = {
        { "claude-code", true, true, true, false },
        { "codex-mcp-client", true, false, false, true },
        { "copilot-cli", false, false, true, false },
        { "github-copilot-developer", false, false, true, false },
        { "unknown", false, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct known_client *row = known_client(cases[i].name);

        assert_int_equal(row->stops_clock, cases[i].stops_clock);
        assert_int_equal(row->backgrounds_calls, cases[i].backgrounds_calls);
        assert_int_equal(row->shows_notes, cases[i].shows_notes);
        assert_int_equal(row->lacks_lists, cases[i].lacks_lists);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_row_a_name_has),
        cmocka_unit_test(test_what_is_known_has_a_date),
        cmocka_unit_test(test_what_is_installed_has_its_row),
        cmocka_unit_test(test_a_raised_timeout_lets_calls_be_held_longer),
        cmocka_unit_test(test_calls_are_held_nearly_as_long_as_clients_wait),
        cmocka_unit_test(test_what_the_rows_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
