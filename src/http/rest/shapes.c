/*
 * shapes.c - the JSON of this front, member by member: printed into the OpenAPI document
 * (schema.c), and for bodies also what is refused. Replies may gain members; bodies have no others
 * than these.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "http/rest/call.h"

static const struct member answer_members[] = {
    { "selected_ids", MEMBER_TEXTS, ONE_OF, "Ids of the options chosen.", NULL },
    { "custom_input", MEMBER_TEXT, ONE_OF, "Own words.", NULL },
    { "fields", MEMBER_ANY_OBJECT, ONE_OF, "Values of a form, by the name of the field.", NULL },
    { "option_annotations", MEMBER_TEXT_BY_NAME, 0, "Notes, by the id of the option.", NULL },
    { "field_annotations", MEMBER_TEXT_BY_NAME, 0, "Notes, by the name of the field.", NULL },
    { "global_annotation", MEMBER_TEXT, 0, "A note on the whole.", NULL },
};
SHAPE(answer, "Answer", "What a person decides.", answer_members, true);

static const struct member note_members[] = {
    { "global_annotation", MEMBER_TEXT, 0, "Why; the agent reads it.", NULL },
};
SHAPE(note, "Note", "A word with it, or nothing.", note_members, true);

static const struct member seconds_members[] = {
    { "seconds", MEMBER_INTEGER, NEEDED, "From now, 1 to 2592000.", NULL },
};
SHAPE(seconds, "Seconds", "How much time is left from now on.", seconds_members, true);

static const struct member question_members[] = {
    { "text", MEMBER_TEXT, NEEDED, "What the person wants to know first; the agent reads it.",
      NULL },
};
SHAPE(question, "Question", "A question back to the agent.", question_members, true);

static const struct member said_members[] = {
    { "by", MEMBER_TEXT, NEEDED, "person or agent.", NULL },
    { "text", MEMBER_TEXT, NEEDED, "Made harmless to show.", NULL },
    { "at", MEMBER_TIME, NEEDED, "When.", NULL },
};
static SHAPE(said, "Said", "A question back, or what the agent explained.", said_members, false);

const struct shape shape_nothing = { .name = "Nothing",
                                     .about = "An empty object, or no body.",
                                     .is_body = true };

static const struct member actor_members[] = {
    { "person", MEMBER_TEXT, NEEDED, "Who.", NULL },
    { "via", MEMBER_TEXT, NEEDED, "terminal, web, client, cli or api.", NULL },
    { "token", MEMBER_TEXT, 0, "Label of the token it came with.", NULL },
    { "uid", MEMBER_INTEGER, NEEDED | OR_NULL, "User id, where it is known.", NULL },
    { "pid", MEMBER_INTEGER, OR_NULL, "Process, where it is known.", NULL },
    { "tty", MEMBER_TEXT, NEEDED | OR_NULL, "Its terminal.", NULL },
    { "same_process_tree", MEMBER_BOOL, 0, "It ran below the agent that asked.", NULL },
};
static SHAPE(actor, "Actor", "Who decided, and how.", actor_members, false);

static const struct member ask_members[] = {
    { "session_id", MEMBER_ID, NEEDED, "Its id.", NULL },
    { "title", MEMBER_TEXT, NEEDED, "The agent's words, as received.", NULL },
    { "status", MEMBER_TEXT, NEEDED,
      "pending_terminal_launch, pending, submitted, auto_submitted, cancelled, declined, timeout "
      "or withdrawn.",
      NULL },
    { "interface", MEMBER_TEXT, NEEDED, "Where it is announced.", NULL },
    { "agent", MEMBER_TEXT, NEEDED | OR_NULL, "What the agent calls itself.", NULL },
    { "created_at", MEMBER_TIME, NEEDED, "When it was asked.", NULL },
    { "remaining_seconds", MEMBER_INTEGER, NEEDED | OR_NULL, "Until its deadline; null: over.",
      NULL },
    { "version", MEMBER_INTEGER, NEEDED, "Rises with state, deadline and form; the ETag.", NULL },
    { "detached", MEMBER_BOOL, NEEDED, "No agent waits for it right now.", NULL },
    { "detached_at", MEMBER_TIME, 0, "Since when nobody waits.", NULL },
    { "destructive", MEMBER_BOOL, NEEDED,
      "Some answers need a confirmation code: in a terminal or the portal only.", NULL },
    { "asked_back", MEMBER_BOOL, 0, "The person waits for an explanation.", NULL },
    { "decided_at", MEMBER_TIME, NEEDED | OR_NULL, "When it ended.", NULL },
    { "held_seconds", MEMBER_INTEGER, 0, "Added because somebody types.", NULL },
    { "quiet_seconds", MEMBER_INTEGER, 0,
      "No notification before: the agent's own client is showing it.", NULL },
    { "later_until", MEMBER_TIME, 0, "Put off by the person: nobody is reminded before.", NULL },
    { "undo_ms", MEMBER_INTEGER, 0, "For so long its decision can be taken back.", NULL },
    { "shown", MEMBER_ANY_OBJECT, 0,
      "title, agent, directory and token made harmless, where they are not shown as sent.", NULL },
    { "origin", MEMBER_ANY_OBJECT, NEEDED | OR_NULL, "Who asked: claims and what is known.", NULL },
    { "answered_by", MEMBER_SHAPE, NEEDED | OR_NULL, "Who decided; null: nobody.", &shape_actor },
};
static SHAPE(ask, "Ask", "One line of a list.", ask_members, false);

static const struct member list_members[] = {
    { "seq", MEMBER_INTEGER, NEEDED, "Number of the newest event when this was read.", NULL },
    { "asks", MEMBER_SHAPES, NEEDED, "Newest first.", &shape_ask },
    { "next", MEMBER_TEXT, 0, "There is more: `before` of the next page.", NULL },
};
SHAPE(list, "AskList", "A page.", list_members, false);

static const struct member whole_members[] = {
    { "seq", MEMBER_INTEGER, NEEDED, "Number of its newest event.", NULL },
    { "ask", MEMBER_SHAPE, NEEDED, "As in a list.", &shape_ask },
    { "form", MEMBER_ANY_OBJECT, NEEDED,
      "What is asked: title, prompt, fields with options; what is `destructive` needs a code.",
      NULL },
    { "answer", MEMBER_ANY_OBJECT, NEEDED | OR_NULL, "What was decided.", NULL },
    { "draft", MEMBER_ANY_OBJECT, 0, "What this person typed so far.", NULL },
    { "talk", MEMBER_SHAPES, 0, "What was asked back and explained, oldest first.", &shape_said },
    { "result", MEMBER_ANY_OBJECT, NEEDED, "What the agent gets for it now.", NULL },
};
SHAPE(whole, "AskWhole", "One ask with its form.", whole_members, false);

static const struct member receipt_members[] = {
    { "session_id", MEMBER_ID, NEEDED, "The ask.", NULL },
    { "status", MEMBER_TEXT, NEEDED, "Its state from now on.", NULL },
    { "version", MEMBER_INTEGER, NEEDED, "Its version from now on; the ETag.", NULL },
    { "remaining_ms", MEMBER_INTEGER, 0, "Until its deadline.", NULL },
    { "undo_ms", MEMBER_INTEGER, 0, "For so long it can be taken back.", NULL },
};
SHAPE(receipt, "Receipt", "It is on disk.", receipt_members, false);

static const struct member winner_members[] = {
    { "session_id", MEMBER_ID, NEEDED, "The ask.", NULL },
    { "status", MEMBER_TEXT, NEEDED, "Its state.", NULL },
    { "version", MEMBER_INTEGER, NEEDED, "Its version.", NULL },
    { "answered_at", MEMBER_TIME, NEEDED | OR_NULL, "When it was decided.", NULL },
    { "answered_by", MEMBER_SHAPE, NEEDED | OR_NULL, "By whom.", &shape_actor },
};
static SHAPE(winner, "Standing", "How the ask stands instead.", winner_members, false);

static const struct member mistake_members[] = {
    { "code", MEMBER_TEXT, NEEDED, "For programs.", NULL },
    { "path", MEMBER_TEXT, NEEDED, "JSON pointer into the body.", NULL },
    { "message", MEMBER_TEXT, NEEDED, "What is wrong and how to fix it.", NULL },
};
static SHAPE(mistake, "Mistake", "One of several mistakes.", mistake_members, false);

static const struct member problem_members[] = {
    { "code", MEMBER_TEXT, NEEDED, "For programs.", NULL },
    { "message", MEMBER_TEXT, NEEDED, "What is wrong and how to mend it.", NULL },
    { "path", MEMBER_TEXT, 0, "JSON pointer into the body.", NULL },
    { "parameter", MEMBER_TEXT, 0, "The parameter or header it is about.", NULL },
    { "retry_after_seconds", MEMBER_INTEGER, 0, "As Retry-After.", NULL },
    { "errors", MEMBER_SHAPES, 0, "All mistakes, if there are several.", &shape_mistake },
    { "detail", MEMBER_SHAPE, 0, "With 409, 410 and 412.", &shape_winner },
};
static SHAPE(problem, "Problem", "One problem.", problem_members, false);
static const struct member error_members[] = {
    { "error", MEMBER_SHAPE, NEEDED, "What went wrong.", &shape_problem },
};
SHAPE(error, "Error", "Every refusal.", error_members, false);

static const struct member health_members[] = {
    { "status", MEMBER_TEXT, NEEDED, "ok, or why not.", NULL },
};
SHAPE(health, "Health", "How the hub is.", health_members, false);

static const struct member index_members[] = {
    { "version", MEMBER_TEXT, NEEDED, "Of the program.", NULL },
    { "asks", MEMBER_TEXT, NEEDED, "Path of the list.", NULL },
    { "conversations", MEMBER_TEXT, NEEDED, "Path of the conversations.", NULL },
    { "openapi", MEMBER_TEXT, NEEDED, "Path of the description.", NULL },
};
SHAPE(index, "Index", "Where to go from here.", index_members, false);

const struct shape *const shapes[] = {
    &shape_answer,       &shape_note,
    &shape_seconds,      &shape_question,
    &shape_said,         &shape_nothing,
    &shape_actor,        &shape_ask,
    &shape_list,         &shape_whole,
    &shape_receipt,      &shape_winner,
    &shape_error,        &shape_problem,
    &shape_mistake,      &shape_health,
    &shape_index,        &shape_new_conversation,
    &shape_tool_call,    &shape_turn,
    &shape_tool_result,  &shape_attempt,
    &shape_response,     &shape_effect,
    &shape_conversation, &shape_conversation_list,
};
const size_t shape_count = ARRAY_LEN(shapes);

bool shape_has(const struct shape *shape, unsigned flag)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (shape->members[i].flags & flag)
            return true;
    }
    return false;
}

static const struct member *find_member(const struct shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (strcmp(shape->members[i].name, name) == 0)
            return &shape->members[i];
    }
    return NULL;
}

/* "a, b or c": members that are needed, all of them or one. */
static void list_names(const struct shape *shape, unsigned flags, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < shape->count && used < size; i++) {
        if (!flags || (shape->members[i].flags & flags))
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
                                     shape->members[i].name);
    }
}

/* A name of the peer's own is echoed as far as it is plain. */
static bool refuse_member(const struct shape *shape, const char *name, struct error *err)
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

static bool check_presence(const struct shape *shape, const struct json *body, struct error *err)
{
    char names[256];
    bool has_one = !shape_has(shape, ONE_OF);
    char path[80];

    for (size_t i = 0; i < shape->count; i++) {
        const struct member *member = &shape->members[i];
        bool is_there = json_member(body, member->name) != NULL;

        if ((member->flags & NEEDED) && !is_there) {
            snprintf(path, sizeof path, "/%s", member->name);
            return error_set(err, ERROR_missing_property, path, "%s is needed: %s", member->name,
                             member->about);
        }
        has_one = has_one || (is_there && (member->flags & ONE_OF));
    }
    list_names(shape, ONE_OF, names, sizeof names);
    return has_one ||
           error_set(err, ERROR_missing_property, "", "one of these is needed: %s", names);
}

bool shape_check(const struct shape *shape, const struct json *body, struct error *err)
{
    if (json_kind(body) != KIND_OBJECT)
        return error_set(err, ERROR_bad_type, "", "the body must be a JSON object");
    for (void *at = json_first(body); at; at = json_next(body, at)) {
        const char *name = json_key(at);

        if (strlen(name) != json_key_length(at) || !find_member(shape, name))
            return refuse_member(shape, name, err);
    }
    return check_presence(shape, body, err);
}

/* The JSON of conversations, for what is refused and for the OpenAPI document. */

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

static const struct member conversation_list_members[] = {
    { "conversations", MEMBER_SHAPES, NEEDED, "Newest first.", &shape_conversation },
    { "next", MEMBER_TEXT, 0, "There is more: `before` of the next page.", NULL },
};
SHAPE(conversation_list, "ConversationList", "A page.", conversation_list_members, false);
