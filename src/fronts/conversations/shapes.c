/* shapes.c - the JSON of conversations, for what is refused and for the OpenAPI document. */
#include "base/mem.h"
#include "fronts/rest/inside.h"

static const struct member new_members[] = {
    { "sub_agent", MEMBER_BOOL, 0, "Its agent is a sub-agent: it may not ask people.", NULL },
};
SHAPE(new_conversation, "NewConversation", "What it is for.", new_members, true);

static const struct member call_members[] = {
    { "id", MEMBER_TEXT, NEEDED, "The call's tool_use_id, 1 to 128 bytes.", NULL },
    { "name", MEMBER_TEXT, NEEDED, "The tool, 1 to 128 bytes.", NULL },
    { "input", MEMBER_ANY_OBJECT, NEEDED, "What it is called with.", NULL },
};
SHAPE(tool_call, "ToolCall", "One call of a tool.", call_members, true);

static const struct member turn_members[] = {
    { "tool_calls", MEMBER_SHAPES, NEEDED, "1 to 64, in order; each id once.", &shape_tool_call },
};
SHAPE(turn, "Turn", "What the model wants to be run.", turn_members, true);

static const struct member result_members[] = {
    { "tool_use_id", MEMBER_TEXT, NEEDED, "The call it is the result of.", NULL },
    { "content", MEMBER_TEXT, NEEDED, "The result, up to 512 KiB.", NULL },
    { "is_error", MEMBER_BOOL, 0, "The tool failed.", NULL },
};
SHAPE(tool_result, "ToolResult", "What a tool returned.", result_members, true);

static const struct member attempt_members[] = {
    { "attempt", MEMBER_INTEGER, 0,
      "The number of the attempt that begins, so that a retry is not counted twice.", NULL },
};
SHAPE(attempt, "Attempt", "Which attempt it is.", attempt_members, true);

static const struct member response_members[] = {
    { "answers", MEMBER_ANY_OBJECT, NEEDED, "By question: a label, a list of labels, or own words.",
      NULL },
    { "annotations", MEMBER_TEXT_BY_NAME, 0, "Notes, by question.", NULL },
};
SHAPE(response, "Response", "What a person answers.", response_members, true);

static const struct member effect_members[] = {
    { "id", MEMBER_INTEGER, NEEDED, "Its number; the id of the event.", NULL },
    { "event", MEMBER_TEXT, NEEDED,
      "persist_tool_results, persist_state, state_change, execute_tool, request_llm or agent_done.",
      NULL },
    { "data", MEMBER_ANY_OBJECT, NEEDED, "As in the event.", NULL },
};
SHAPE(effect, "Effect", "What is to be done, or was.", effect_members, false);

static const struct member conversation_members[] = {
    { "conversation", MEMBER_ID, NEEDED, "Its id.", NULL },
    { "host", MEMBER_TEXT, NEEDED, "Label of the token that made it.", NULL },
    { "sub_agent", MEMBER_BOOL, NEEDED, "Its agent may not ask people.", NULL },
    { "version", MEMBER_INTEGER, NEEDED, "Rises with every step; the ETag.", NULL },
    { "last_event", MEMBER_INTEGER, NEEDED, "Number of its newest event.", NULL },
    { "created_at", MEMBER_TIME, NEEDED, "When it was made.", NULL },
    { "changed_at", MEMBER_TIME, NEEDED, "When it went on last.", NULL },
    { "state", MEMBER_ANY_OBJECT, NEEDED,
      "type idle, llm_requesting {attempt}, tool_executing {current} or awaiting_user_response "
      "{tool_use_id, questions}.",
      NULL },
    { "session_id", MEMBER_ID, 0, "The ask it waits for.", NULL },
    { "url", MEMBER_TEXT, 0, "Where a person answers it.", NULL },
    { "remaining", MEMBER_TEXTS, NEEDED, "Calls that are still to come.", NULL },
    { "persisted", MEMBER_TEXTS, NEEDED, "Calls of this turn that have their result.", NULL },
    { "effects", MEMBER_SHAPES, 0, "What this request brought about.", &shape_effect },
    { "already", MEMBER_BOOL, 0, "It was said before: nothing happened now.", NULL },
};
SHAPE(conversation, "Conversation", "How it stands; it is on disk.", conversation_members, false);

static const struct member list_members[] = {
    { "conversations", MEMBER_SHAPES, NEEDED, "Newest first.", &shape_conversation },
    { "next", MEMBER_TEXT, 0, "There is more: `before` of the next page.", NULL },
};
SHAPE(conversation_list, "ConversationList", "A page.", list_members, false);
