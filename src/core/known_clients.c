/* known_clients.c - To add a client: a row, measured by `make clients`. */
#include "core/known_clients.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/tools/arguments.h"

enum {
    LONGEST_S = 630, /* an answer after ten minutes still reaches the call that asked */
    MARGIN_S = 30,   /* the result must be there before the client gives up */
};

/* Name, what was measured, the program; then its facts. */
static const struct known_client clients[] = {
    { "*", .hold_s = 50 }, /* most clients and both SDKs give up after 60 s */
    { "claude-code", "2.1.325, 2026-11-16", "claude", .keeps_rounds_open = true, .limit_s = 300,
      .hold_s = 110, .backgrounds_calls = true, .stops_clock = true, .only_cancels = true,
      .shows_notes = true, .message_lines = 3, .title_columns = 48 },
    { "codex-mcp-client", "0.166.0, 2026-11-16", "codex", .limit_s = 300, .hold_s = 280,
      .stops_clock = true, .lacks_lists = true, .lacks_numbers = true, .needs_every_text = true,
      .wants_one_of = true, .picks_yes = true },
    /* with a form open for 580 s, too */
    { "copilot-cli", "1.0.102, 2026-11-19", "copilot", .keeps_rounds_open = true, .limit_s = 180,
      .hold_s = 170, .progress_extends = true, .shows_notes = true },
    /* another surface of the same */
    { "github-copilot-developer", "2026-11-15", .limit_s = 180, .hold_s = 170,
      .shows_notes = true },
    /* some add the server's name to theirs */
    { "gemini-cli-mcp-client*", "0.61.0, 2026-11-16", "gemini", .limit_s = 600, .hold_s = 580,
      .cancels_silently = true },
    { "qwen-code-mcp-client*", "0.24.4, 2026-11-16", "qwen", .limit_s = 300, .hold_s = 280,
      .progress_extends = true },
    { "qwen-cli-mcp-client*", "0.24.4, 2026-11-16", .limit_s = 300, .hold_s = 280,
      .progress_extends = true },
    { "opencode", "1.18.33, 2026-11-16", "opencode", .limit_s = 60, .hold_s = 50,
      .progress_extends = true },
    { "continue-cli-client", "1.5.47, 2026-11-16", .limit_s = 60, .hold_s = 56 },
    { "@cline/core", "3.0.65, 2026-11-19", "cline", .limit_s = 60, .hold_s = 56 },
    { "inspector-cli", "2.12.0, 2026-11-16", .limit_s = 60, .hold_s = 56 },
};

const struct known_client *known_client(const char *name)
{
    const struct known_client *found = clients;
    size_t longest = 0;

    for (size_t i = 1; name && i < ARRAY_LEN(clients); i++) {
        size_t length = strlen(clients[i].name) - 1;

        if (strcmp(clients[i].name, name) == 0)
            return &clients[i];
        if (clients[i].name[length] == '*' && length > longest &&
            strncmp(clients[i].name, name, length) == 0) {
            longest = length;
            found = &clients[i];
        }
    }
    return found;
}

int64_t known_client_hold_s(const char *name, bool has_progress, int64_t timeout_s)
{
    const struct known_client *client = known_client(name);
    int64_t limit_s = timeout_s > MARGIN_S ? timeout_s - MARGIN_S : 0;

    if (client->backgrounds_calls || limit_s < client->hold_s)
        limit_s = client->hold_s;
    if (limit_s > LONGEST_S || (has_progress && client->progress_extends))
        limit_s = LONGEST_S;
    return limit_s;
}

const struct known_client *known_client_of_program(const char *program)
{
    for (size_t i = 1; i < ARRAY_LEN(clients); i++) {
        if (clients[i].program && strcmp(clients[i].program, program) == 0)
            return &clients[i];
    }
    return clients;
}

enum { WORD_BYTES = 64 }; /* longer than any name; what is cut is none */
static const char between[] = ", ";
static const char asking[] = "provide_choice,ask_user_question,get_answer"; /* "ask" */
static const char collecting[] = "get_answer";   /* what any of them asked */
static const char alone[] = "permission_prompt"; /* not for models, so not in "all" */
static const char others[] =
    "ask,all,get_answer,check_decision,permission_prompt"; /* beside ask tools */

static bool take_word(const char **list, char word[WORD_BYTES])
{
    size_t length;

    *list += strspn(*list, between);
    length = strcspn(*list, between);
    snprintf(word, WORD_BYTES, "%.*s", (int)length, *list);
    *list += length;
    return length > 0;
}

static bool has_word(const char *list, const char *name)
{
    char word[WORD_BYTES];

    while (take_word(&list, word)) {
        if (strcmp(word, name) == 0)
            return true;
    }
    return false;
}

bool offered_tools_are_valid(const char *list)
{
    char word[WORD_BYTES];

    while (take_word(&list, word)) {
        if (!ask_tool_find(word) && !has_word(others, word))
            return false;
    }
    return true;
}

static bool has(const char *list, const char *tool)
{
    bool is_ask = has_word(list, "ask") || !list[strspn(list, between)];

    return has_word(list, tool) || (has_word(list, "all") && strcmp(tool, alone) != 0) ||
           (is_ask && has_word(asking, tool));
}

bool offered_tools_have(const char *list, const char *tool)
{
    bool is_there = has(list, tool);

    for (size_t i = 0; !is_there && strcmp(tool, collecting) == 0 && ask_tool_at(i); i++)
        is_there = has(list, ask_tool_at(i)->name);
    return is_there;
}
