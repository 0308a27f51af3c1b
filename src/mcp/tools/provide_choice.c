/* provide_choice.c - asks a person to choose, to write, or both; or collects an earlier ask. */
#include "mcp/tools/tool.h"

const struct tool tool_row_provide_choice = {
    .name = "provide_choice",
    .title = "Ask a person to decide",
    .description =
        "Asks the person you work for to decide, and waits for the answer. Use it when there are "
        "more than two viable paths, before anything destructive, and when configuration is "
        "missing. Put the task's context and why a choice is needed into prompt; recommend at "
        "least one option. The person may also cancel (then stop this subtask and assume nothing) "
        "or not answer in time (then nothing was chosen). A result with action_status pending is "
        "not an answer: collect it with get_answer and its session_id, don't ask again. A "
        "terminal_command may be run once only.",
    .ask = &tool_provide_choice,
    .results = ask_results,
    .result_count = ASK_RESULT_COUNT,
};
