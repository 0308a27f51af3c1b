/*
 * shapes.c - the JSON of this front, member by member: printed into the OpenAPI document
 * (openapi.c), and for bodies also what is refused. Replies may gain members; bodies have no others
 * than these.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "http/rest/call.h"

const struct member members[] = {
    { "Answer", SHAPE_ANSWER, SHAPE | CLOSED, "What a person decides." },
    { "selected_ids", MEMBER_TEXT, ONE_OF | EACH, "Ids of the options chosen." },
    { "custom_input", MEMBER_TEXT, ONE_OF, "Own words." },
    { "fields", MEMBER_ANY_OBJECT, ONE_OF, "Values of a form, by the name of the field." },
    { "option_annotations", MEMBER_TEXT_BY_NAME, 0, "Notes, by the id of the option." },
    { "field_annotations", MEMBER_TEXT_BY_NAME, 0, "Notes, by the name of the field." },
    { "global_annotation", MEMBER_TEXT, 0, "General note." },

    { "Note", SHAPE_NOTE, SHAPE | CLOSED, "A word with it, or nothing." },
    { "global_annotation", MEMBER_TEXT, 0, "Why; the agent reads it." },

    { "Seconds", SHAPE_SECONDS, SHAPE | CLOSED, "How much time is left from now on." },
    { "seconds", MEMBER_INTEGER, NEEDED, "From now, 1 to 2592000." },

    { "Question", SHAPE_QUESTION, SHAPE | CLOSED, "A question back to the agent." },
    { "text", MEMBER_TEXT, NEEDED, "Follow-up question for the agent." },

    { "Said", SHAPE_SAID, SHAPE, "A question back, or what the agent explained." },
    { "by", MEMBER_TEXT, NEEDED, "person or agent." },
    { "text", MEMBER_TEXT, NEEDED, "Made harmless to show." },
    { "at", MEMBER_TIME, NEEDED, "When." },

    { "Nothing", SHAPE_NOTHING, SHAPE | CLOSED, "An empty object, or no body." },

    { "Actor", SHAPE_ACTOR, SHAPE, "Who decided, and how." },
    { "person", MEMBER_TEXT, NEEDED, "Who." },
    { "via", MEMBER_TEXT, NEEDED, "terminal, web, client, cli or api." },
    { "token", MEMBER_TEXT, 0, "Label of the token it came with." },
    { "uid", MEMBER_INTEGER, NEEDED | OR_NULL, "User id, where it is known." },
    { "pid", MEMBER_INTEGER, OR_NULL, "Process, where it is known." },
    { "tty", MEMBER_TEXT, NEEDED | OR_NULL, "Its terminal." },
    { "same_process_tree", MEMBER_BOOL, 0, "It ran below the agent that asked." },

    { "Ask", SHAPE_ASK, SHAPE, "One line of a list." },
    { "session_id", MEMBER_ID, NEEDED, "Its id." },
    { "title", MEMBER_TEXT, NEEDED, "The agent's words, as received." },
    { "status", MEMBER_TEXT, NEEDED,
      "pending_terminal_launch, pending, submitted, auto_submitted, cancelled, declined, timeout "
      "or withdrawn." },
    { "interface", MEMBER_TEXT, NEEDED, "Where it is announced." },
    { "agent", MEMBER_TEXT, NEEDED | OR_NULL, "What the agent calls itself." },
    { "created_at", MEMBER_TIME, NEEDED, "When it was asked." },
    { "remaining_seconds", MEMBER_INTEGER, NEEDED | OR_NULL, "Until its deadline; null: over." },
    { "version", MEMBER_INTEGER, NEEDED, "Rises with state, deadline and form; the ETag." },
    { "detached", MEMBER_BOOL, NEEDED, "No agent waits for it right now." },
    { "detached_at", MEMBER_TIME, 0, "When the agent stopped waiting." },
    { "destructive", MEMBER_BOOL, NEEDED,
      "Some answers need a confirmation code: in a terminal or the portal only." },
    { "asked_back", MEMBER_BOOL, 0, "The user waits for the agent's reply." },
    { "decided_at", MEMBER_TIME, NEEDED | OR_NULL, "When it ended." },
    { "held_seconds", MEMBER_INTEGER, 0, "Extra time while the user is typing." },
    { "quiet_seconds", MEMBER_INTEGER, 0,
      "No notification before: the agent's own client is showing it." },
    { "later_until", MEMBER_TIME, 0, "Snoozed until." },
    { "undo_ms", MEMBER_INTEGER, 0, "Time left to undo the decision." },
    { "shown", MEMBER_ANY_OBJECT, 0,
      "title, agent, directory and token made harmless, where they are not shown as sent." },
    { "origin", MEMBER_ANY_OBJECT, NEEDED | OR_NULL, "Who asked: claims and what is known." },
    { "answered_by", SHAPE_ACTOR, NEEDED | OR_NULL, "Who decided; null if no one." },

    { "AskList", SHAPE_LIST, SHAPE, "A page." },
    { "seq", MEMBER_INTEGER, NEEDED, "Number of the newest event when this was read." },
    { "asks", SHAPE_ASK, NEEDED | EACH, "Newest first." },
    { "next", MEMBER_TEXT, 0, "There is more: `before` of the next page." },

    { "AskWhole", SHAPE_WHOLE, SHAPE, "One ask with its form." },
    { "seq", MEMBER_INTEGER, NEEDED, "Number of its newest event." },
    { "ask", SHAPE_ASK, NEEDED, "As in a list." },
    { "form", MEMBER_ANY_OBJECT, NEEDED,
      "What is asked: title, prompt, fields with options; what is `destructive` needs a code." },
    { "answer", MEMBER_ANY_OBJECT, NEEDED | OR_NULL, "What was decided." },
    { "draft", MEMBER_ANY_OBJECT, 0, "What this person typed so far." },
    { "talk", SHAPE_SAID, EACH, "What was asked back and explained, oldest first." },
    { "result", MEMBER_ANY_OBJECT, NEEDED, "What the agent gets for it now." },

    { "Receipt", SHAPE_RECEIPT, SHAPE, "It is on disk." },
    { "session_id", MEMBER_ID, NEEDED, "The ask." },
    { "status", MEMBER_TEXT, NEEDED, "Its state from now on." },
    { "version", MEMBER_INTEGER, NEEDED, "Its version from now on; the ETag." },
    { "remaining_ms", MEMBER_INTEGER, 0, "Until its deadline." },
    { "undo_ms", MEMBER_INTEGER, 0, "Time left to undo it." },

    { "Standing", SHAPE_WINNER, SHAPE, "How the ask stands instead." },
    { "session_id", MEMBER_ID, NEEDED, "The ask." },
    { "status", MEMBER_TEXT, NEEDED, "Its state." },
    { "version", MEMBER_INTEGER, NEEDED, "Its version." },
    { "answered_at", MEMBER_TIME, NEEDED | OR_NULL, "When it was decided." },
    { "answered_by", SHAPE_ACTOR, NEEDED | OR_NULL, "By whom." },

    { "Error", SHAPE_ERROR, SHAPE, "Every refusal." },
    { "error", SHAPE_PROBLEM, NEEDED, "What went wrong." },

    { "Problem", SHAPE_PROBLEM, SHAPE, "One problem." },
    { "code", MEMBER_TEXT, NEEDED, "For programs." },
    { "message", MEMBER_TEXT, NEEDED, "What is wrong and how to mend it." },
    { "path", MEMBER_TEXT, 0, "JSON pointer into the body." },
    { "parameter", MEMBER_TEXT, 0, "The parameter or header it is about." },
    { "retry_after_seconds", MEMBER_INTEGER, 0, "As Retry-After." },
    { "errors", SHAPE_MISTAKE, EACH, "All mistakes, if there are several." },
    { "detail", SHAPE_WINNER, 0, "With 409, 410 and 412." },

    { "Mistake", SHAPE_MISTAKE, SHAPE, "One of several mistakes." },
    { "code", MEMBER_TEXT, NEEDED, "For programs." },
    { "path", MEMBER_TEXT, NEEDED, "JSON pointer into the body." },
    { "message", MEMBER_TEXT, NEEDED, "What is wrong and how to fix it." },

    { "Health", SHAPE_HEALTH, SHAPE, "How the hub is." },
    { "status", MEMBER_TEXT, NEEDED, "ok, or why not." },

    { "Index", SHAPE_INDEX, SHAPE, "Where to go from here." },
    { "version", MEMBER_TEXT, NEEDED, "Of the program." },
    { "asks", MEMBER_TEXT, NEEDED, "Path of the list." },
    { "conversations", MEMBER_TEXT, NEEDED, "Path of the conversations." },
    { "openapi", MEMBER_TEXT, NEEDED, "Path of the description." },

    { "NewConversation", SHAPE_NEW_CONVERSATION, SHAPE | CLOSED, "What it is for." },
    { "sub_agent", MEMBER_BOOL, 0, "Its agent is a sub-agent: it may not ask people." },

    { "ToolCall", SHAPE_TOOL_CALL, SHAPE | CLOSED, "One call of a tool." },
    { "id", MEMBER_TEXT, NEEDED, "The call's tool_use_id, 1 to 128 bytes." },
    { "name", MEMBER_TEXT, NEEDED, "The tool, 1 to 128 bytes." },
    { "input", MEMBER_ANY_OBJECT, NEEDED, "What it is called with." },

    { "Turn", SHAPE_TURN, SHAPE | CLOSED, "What the model wants to be run." },
    { "tool_calls", SHAPE_TOOL_CALL, NEEDED | EACH, "1 to 64, in order; each id once." },

    { "ToolResult", SHAPE_TOOL_RESULT, SHAPE | CLOSED, "What a tool returned." },
    { "tool_use_id", MEMBER_TEXT, NEEDED, "The call it is the result of." },
    { "content", MEMBER_TEXT, NEEDED, "The result, up to 512 KiB." },
    { "is_error", MEMBER_BOOL, 0, "The tool failed." },

    { "Attempt", SHAPE_ATTEMPT, SHAPE | CLOSED, "Which attempt it is." },
    { "attempt", MEMBER_INTEGER, 0,
      "The number of the attempt that begins, so that a retry is not counted twice." },

    { "Response", SHAPE_RESPONSE, SHAPE | CLOSED, "What a person answers." },
    { "answers", MEMBER_ANY_OBJECT, NEEDED,
      "By question: a label, a list of labels, or own words." },
    { "annotations", MEMBER_TEXT_BY_NAME, 0, "Notes, by question." },

    { "Effect", SHAPE_EFFECT, SHAPE, "What is to be done, or was." },
    { "id", MEMBER_INTEGER, NEEDED, "Its number; the id of the event." },
    { "event", MEMBER_TEXT, NEEDED,
      "persist_tool_results, persist_state, state_change, execute_tool, request_llm or "
      "agent_done." },
    { "data", MEMBER_ANY_OBJECT, NEEDED, "As in the event." },

    { "Conversation", SHAPE_CONVERSATION, SHAPE, "How it stands; it is on disk." },
    { "conversation", MEMBER_ID, NEEDED, "Its id." },
    { "host", MEMBER_TEXT, NEEDED, "Label of the token that made it." },
    { "sub_agent", MEMBER_BOOL, NEEDED, "Its agent may not ask people." },
    { "version", MEMBER_INTEGER, NEEDED, "Rises with every step; the ETag." },
    { "last_event", MEMBER_INTEGER, NEEDED, "Number of its newest event." },
    { "created_at", MEMBER_TIME, NEEDED, "When it was made." },
    { "changed_at", MEMBER_TIME, NEEDED, "When it went on last." },
    { "state", MEMBER_ANY_OBJECT, NEEDED,
      "type idle, llm_requesting {attempt}, tool_executing {current} or awaiting_user_response "
      "{tool_use_id, questions}." },
    { "session_id", MEMBER_ID, 0, "The ask it waits for." },
    { "url", MEMBER_TEXT, 0, "Where a person answers it." },
    { "remaining", MEMBER_TEXT, NEEDED | EACH, "Calls that are still to come." },
    { "persisted", MEMBER_TEXT, NEEDED | EACH, "Calls of this turn that have their result." },
    { "effects", SHAPE_EFFECT, EACH, "What this request brought about." },
    { "already", MEMBER_BOOL, 0, "It was said before: nothing happened now." },

    { "ConversationList", SHAPE_CONVERSATION_LIST, SHAPE, "A page." },
    { "conversations", SHAPE_CONVERSATION, NEEDED | EACH, "Newest first." },
    { "next", MEMBER_TEXT, 0, "There is more: `before` of the next page." },

    { NULL, MEMBER_NONE, SHAPE, NULL },
};

const struct member *shape_find(enum member_type shape)
{
    const struct member *row = members;

    while (!(row->flags & SHAPE) || row->type != shape)
        row++;
    return row;
}

const struct member *shape_next(const struct member *row)
{
    return row[1].flags & SHAPE ? NULL : row + 1;
}

bool shape_has(enum member_type shape, unsigned flag)
{
    for (const struct member *row = shape_find(shape); (row = shape_next(row));) {
        if (row->flags & flag)
            return true;
    }
    return false;
}

static bool has_member(enum member_type shape, const char *name)
{
    for (const struct member *row = shape_find(shape); (row = shape_next(row));) {
        if (strcmp(row->name, name) == 0)
            return true;
    }
    return false;
}

/* "a, b or c": members that are needed, all of them or one. */
static void list_names(enum member_type shape, unsigned flags, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (const struct member *row = shape_find(shape); used < size && (row = shape_next(row));) {
        if (!flags || (row->flags & flags))
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", row->name);
    }
}

/* A name of the peer's own is echoed as far as it is plain. */
static bool refuse_member(enum member_type shape, const char *name, struct error *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    char known[256], path[80];
    size_t length = strspn(name, plain);
    bool is_plain = name[length] == '\0' && length > 0 && length < 64;

    list_names(shape, 0, known, sizeof known);
    snprintf(path, sizeof path, "/%s", is_plain ? name : "");
    return error_set(err, ERROR_unknown_property, is_plain ? path : "",
                     "the body has a member that is not known here; it may have: %s",
                     known[0] ? known : "nothing");
}

static bool check_presence(enum member_type shape, const struct json *body, struct error *err)
{
    bool has_one = !shape_has(shape, ONE_OF);
    char names[256], path[80];

    for (const struct member *row = shape_find(shape); (row = shape_next(row));) {
        bool is_there = json_member(body, row->name) != NULL;

        if ((row->flags & NEEDED) && !is_there) {
            snprintf(path, sizeof path, "/%s", row->name);
            return error_set(err, ERROR_missing_property, path, "%s is needed: %s", row->name,
                             row->about);
        }
        has_one = has_one || (is_there && (row->flags & ONE_OF));
    }
    list_names(shape, ONE_OF, names, sizeof names);
    return has_one ||
           error_set(err, ERROR_missing_property, "", "one of these is needed: %s", names);
}

bool shape_check(enum member_type shape, const struct json *body, struct error *err)
{
    if (json_kind(body) != KIND_OBJECT)
        return error_set(err, ERROR_bad_type, "", "the body must be a JSON object");
    for (void *at = json_first(body); at; at = json_next(body, at)) {
        const char *name = json_key(at);

        if (strlen(name) != json_key_length(at) || !has_member(shape, name))
            return refuse_member(shape, name, err);
    }
    return check_presence(shape, body, err);
}
