/* offered_tools.c - see offered_tools.h. */
#include "core/offered_tools.h"

#include <stdio.h>
#include <string.h>

#include "core/arguments.h"

enum { WORD_BYTES = 64 }; /* longer than any name; what is cut is none */
static const char between[] = ", ";
static const char asking[] = "provide_choice,ask_user_question,get_answer"; /* "ask" */
static const char collecting[] = "get_answer";                    /* what any of them asked */
static const char others[] = "ask,all,get_answer,check_decision"; /* beside ask tools */

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

    return has_word(list, tool) || has_word(list, "all") || (is_ask && has_word(asking, tool));
}

bool offered_tools_have(const char *list, const char *tool)
{
    bool is_there = has(list, tool);

    for (size_t i = 0; !is_there && strcmp(tool, collecting) == 0 && ask_tool_at(i); i++)
        is_there = has(list, ask_tool_at(i)->name);
    return is_there;
}
