/*
 * offered_tools.h - which of our tools a client is told of: the setting `tools` and --tools. Every
 * tool of the list is text in each conversation of the agent; one that is not there can still be
 * called.
 */
#ifndef CORE_OFFERED_TOOLS_H
#define CORE_OFFERED_TOOLS_H
#include <stdbool.h>

/* Words with commas or spaces between them: "ask", "all", or the name of a tool. */
bool offered_tools_are_valid(const char *list);
/* An empty list is "ask". A list also has what collects the answers of a tool that it has. */
bool offered_tools_have(const char *list, const char *tool);

#endif
