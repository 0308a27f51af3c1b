/* ask_user_question.c - several questions at once; its description has the seed's facts (R3.1). */
#include "base/mem.h"
#include "mcp/tools/tool.h"

/* published: ask_user_question */
static const struct schema_property results[] = {
    { "status", "\"enum\":[\"answered\",\"cancelled\",\"timeout\",\"pending\"]",
      "Only answered has answers." },
    { "answers", "\"type\":\"object\"", "{question: text}, several labels joined with \", \"." },
    { "answer_list", "\"type\":\"array\",\"items\":{\"type\":\"object\"}",
      "{question, header, selected: [labels], other, notes}, one each." },
    { "session_id", "\"type\":\"string\"", "For get_answer." },
    { "instructions", "\"type\":\"string\"", "What to do now." },
};

const struct tool tool_row_ask_user_question = {
    .name = "ask_user_question",
    .title = "Ask a person some questions",
    .description = "Asks the person clarifying questions when you need input to proceed: several "
                   "valid approaches, and their preference matters. 1-4 questions with 2-4 options "
                   "each; they can also type an answer of their own. NOT available to sub-agents.",
    .ask = &tool_ask_user_question,
    .results = results,
    .result_count = ARRAY_LEN(results),
};
