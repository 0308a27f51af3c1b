/* mcp.c - `sayso mcp`: an MCP server on standard input and output. */
#include "cli/say.h"
#include "core/limits.h"
#include "core/offered_tools.h"
#include "fronts/stdio.h"

static enum exit_code run_mcp(const struct arguments *arguments)
{
    struct stdio_options options = {
        .as_name = arguments_value(arguments, "as"),
        .tools = arguments_value(arguments, "tools"),
        .is_sub_agent = arguments_value(arguments, "sub-agent") != NULL,
    };

    if (!arguments_integer(arguments, "client-timeout", 1, LIMIT_TIMEOUT_S,
                           &options.client_timeout_s))
        return EXIT_USAGE;
    if (options.tools && !offered_tools_are_valid(options.tools)) {
        say_problem(TEXT_SETTING_TAKES_TOOLS, "name", "--tools");
        return EXIT_USAGE;
    }
    stdio_run(&options);
    return EXIT_DONE;
}

static const struct verb_option options[] = {
    { "as", 0, "NAME", TEXT_OPT_AS, false },
    { "tools", 0, "LIST", TEXT_OPT_TOOLS, false },
    { "client-timeout", 0, "SECONDS", TEXT_OPT_CLIENT_TIMEOUT, false },
    { "sub-agent", 0, NULL, TEXT_OPT_SUB_AGENT, false },
    { "hub", 0, "URL", TEXT_OPT_HUB, false },
    { "token-file", 0, "FILE", TEXT_OPT_TOKEN_FILE, false },
    { "ca-file", 0, "FILE", TEXT_OPT_CA_FILE, false },
};
static const char *const usage[] = {
    "mcp [--as NAME] [--tools LIST] [--client-timeout SECONDS] [--sub-agent] [--hub unix:PATH]",
    "mcp --hub https://NAME[:PORT] --token-file FILE [--ca-file FILE]", NULL
};
static const char *const examples[] = {
    "mcp", "mcp --as 'deploy bot'",
    "mcp --hub https://sayso.example.org --token-file ~/.config/sayso/agent.token", NULL
};
VERB_ROW(mcp, TEXT_CLI_MCP, VERB_TABLES, .may_go_far = true, .runs_without_settings = true);
