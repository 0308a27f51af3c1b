/* operations.c - every route, with what the document says of it and the function that serves it. */
#include "base/mem.h"
#include "core/limits.h"
#include "http/rest/call.h"

/* In the order of enum parameter_id. */
const struct parameter parameters[PARAMETER_COUNT] = {
    { "id", "path", MEMBER_ID, 0, 0, "The ask's full session_id." },
    { "wait", "query", MEMBER_INTEGER, 0, LIMIT_WAIT_S,
      "Seconds to wait for a change: of the version in If-None-Match, else of an open ask." },
    { "status", "query", MEMBER_TEXT, 0, 0, "all (default), active, completed, or one state." },
    { "agent", "query", MEMBER_TEXT, 0, 0, "Only asks of the agent that calls itself so." },
    { "limit", "query", MEMBER_INTEGER, 1, 1000,
      "Asks a page; by default the setting list_count." },
    { "limit", "query", MEMBER_INTEGER, 1, 200, "Conversations a page; 50 by default." },
    { "before", "query", MEMBER_TEXT, 0, 0, "Pagination cursor: `next` from the previous page." },
    { "If-Match", "header", MEMBER_TEXT, 0, 0,
      "The ETag of the ask as it was looked at; 412 if it has changed since." },
    { "If-None-Match", "header", MEMBER_TEXT, 0, 0, "An ETag; 304 while the ask is still that." },
    { "Idempotency-Key", "header", MEMBER_TEXT, 0, 0,
      "Made once for an attempt and sent again with each retry: it is stored once, and every "
      "retry gets the same receipt. 1 to 128 visible characters." },
    { "after", "query", MEMBER_INTEGER, 0, INT64_MAX,
      "As Last-Event-ID, for clients that cannot send it." },
    { "Last-Event-ID", "header", MEMBER_TEXT, 0, 0,
      "The id of the last event that was heard: what follows it is sent. Without it everything "
      "that is kept." },
};

enum {
    OF_NOTHING = 0,
    OF_ASK = 1 << PARAMETER_ID,
    OF_LIST =
        1 << PARAMETER_STATUS | 1 << PARAMETER_AGENT | 1 << PARAMETER_LIMIT | 1 << PARAMETER_BEFORE,
    OF_LOOK = OF_ASK | 1 << PARAMETER_WAIT | 1 << PARAMETER_IF_NONE_MATCH,
    OF_CHANGE = OF_ASK | 1 << PARAMETER_IF_MATCH,
    OF_DECISION = OF_CHANGE | 1 << PARAMETER_KEY,
    OF_NEW = 1 << PARAMETER_KEY,
    OF_PAGE = 1 << PARAMETER_PAGE | 1 << PARAMETER_BEFORE,
    OF_EVENTS = OF_ASK | 1 << PARAMETER_AFTER | 1 << PARAMETER_LAST_EVENT,
};

#define JSON     "application/json"
#define ACCESS   "401 403 "
#define TROUBLES " 503"
#define DECIDES  "400 " ACCESS "404 409 410 412 413 415 422" TROUBLES
#define CHANGES  "400 " ACCESS "404 409 410 413 415 422" TROUBLES
#define SAYS     "400 " ACCESS "404 409 413 415 422" TROUBLES
#define ASKS     "400 " ACCESS "404 409 413 415 422 429" TROUBLES
#define SETTLES  "400 " ACCESS "404 409 412 413 415 422" TROUBLES

const struct rest_operation operations[] = {
    { "GET", "/api", "index", "What is here.", GUARD_ANYONE, OF_NOTHING, 0, SHAPE_INDEX, JSON,
      "400 401", serve_index, METHOD_COUNT, NULL },
    { "GET", "/api/asks", "list_asks", "Asks, newest first, a page at a time.", GUARD_PERSON,
      OF_LIST, 0, SHAPE_LIST, JSON, "400 " ACCESS TROUBLES, serve_list, METHOD_ask_list, NULL },
    { "GET", "/api/asks/{id}", "get_ask", "Get an ask; optionally wait for a change.", GUARD_PERSON,
      OF_LOOK, 0, SHAPE_WHOLE, JSON, "304 400 " ACCESS "404" TROUBLES, serve_look, METHOD_ask_get,
      NULL },
    { "POST", "/api/asks/{id}/answer", "answer_ask",
      "Answers it. 409: somebody was faster, 410: it is over, 412: it changed, 422: not a valid "
      "answer; looked at in this order.",
      GUARD_PERSON, OF_DECISION, SHAPE_ANSWER, SHAPE_RECEIPT, JSON, DECIDES, serve_act,
      METHOD_ask_answer, NULL },
    { "POST", "/api/asks/{id}/cancel", "cancel_ask", "Dismisses it: the agent is to stop.",
      GUARD_PERSON, OF_DECISION, SHAPE_NOTE, SHAPE_RECEIPT, JSON, DECIDES, serve_act,
      METHOD_ask_cancel, NULL },
    { "POST", "/api/asks/{id}/decline", "decline_ask", "Says no to being asked this.", GUARD_PERSON,
      OF_DECISION, SHAPE_NOTE, SHAPE_RECEIPT, JSON, DECIDES, serve_act, METHOD_ask_decline, NULL },
    { "POST", "/api/asks/{id}/extend", "extend_ask", "Sets the time that is left.", GUARD_PERSON,
      OF_CHANGE, SHAPE_SECONDS, SHAPE_RECEIPT, JSON, DECIDES, serve_act, METHOD_ask_extend, NULL },
    { "POST", "/api/asks/{id}/back", "ask_back",
      "Ask the agent a follow-up question; the ask stays open and its timer restarts.",
      GUARD_PERSON, OF_CHANGE, SHAPE_QUESTION, SHAPE_RECEIPT, JSON, DECIDES, serve_act,
      METHOD_ask_back, NULL },
    { "POST", "/api/asks/{id}/undo", "undo_answer", "Takes an answer back within its undo window.",
      GUARD_PERSON, OF_ASK, SHAPE_NOTHING, SHAPE_RECEIPT, JSON, CHANGES, serve_act, METHOD_ask_undo,
      NULL },
    { "POST", "/api/asks/{id}/send", "send_answer", "Ends the undo window: the agent is told now.",
      GUARD_PERSON, OF_ASK, SHAPE_NOTHING, SHAPE_RECEIPT, JSON, CHANGES, serve_act, METHOD_ask_send,
      NULL },
    { "POST", "/conversations", "new_conversation", "Makes a conversation, idle.", GUARD_HOST,
      OF_NEW, SHAPE_NEW_CONVERSATION, SHAPE_CONVERSATION, JSON,
      "400 " ACCESS "413 415 422 429" TROUBLES, serve_conversation_new, METHOD_conversation_new,
      NULL },
    { "GET", "/conversations", "list_conversations",
      "Newest first: a host's own, for a person all.", GUARD_HOST_OR_PERSON, OF_PAGE, 0,
      SHAPE_CONVERSATION_LIST, JSON, "400 " ACCESS TROUBLES, serve_conversation_list,
      METHOD_conversation_list, NULL },
    { "GET", "/conversations/{id}", "get_conversation", "How it stands.", GUARD_HOST_OR_PERSON,
      OF_ASK, 0, SHAPE_CONVERSATION, JSON, "400 " ACCESS "404" TROUBLES, serve_conversation_get,
      METHOD_conversation_get, NULL },
    { "POST", "/conversations/{id}/tool-calls", "tool_calls",
      "The calls of a turn, in order. Ordinary ones come back as execute_tool, one after the "
      "other; ask_user_question is put to a person.",
      GUARD_HOST, OF_ASK, SHAPE_TURN, SHAPE_CONVERSATION, JSON, ASKS, serve_conversation_say,
      METHOD_conversation_say, "tool_calls" },
    { "POST", "/conversations/{id}/tool-results", "tool_result",
      "The result of the call that runs.", GUARD_HOST, OF_ASK, SHAPE_TOOL_RESULT,
      SHAPE_CONVERSATION, JSON, ASKS, serve_conversation_say, METHOD_conversation_say,
      "tool_complete" },
    { "POST", "/conversations/{id}/llm-retry", "llm_retry", "The model is asked once more.",
      GUARD_HOST, OF_ASK, SHAPE_ATTEMPT, SHAPE_CONVERSATION, JSON, SAYS, serve_conversation_say,
      METHOD_conversation_say, "llm_retry" },
    { "POST", "/conversations/{id}/turn-ended", "turn_ended",
      "The model is done and called nothing.", GUARD_HOST, OF_ASK, SHAPE_NOTHING,
      SHAPE_CONVERSATION, JSON, SAYS, serve_conversation_say, METHOD_conversation_say,
      "turn_ended" },
    { "POST", "/conversations/{id}/respond", "respond",
      "Answers the question it waits with. Text that is no label is own words.", GUARD_ANSWERER,
      OF_CHANGE, SHAPE_RESPONSE, SHAPE_CONVERSATION, JSON, SETTLES, serve_conversation_say,
      METHOD_conversation_say, "user_question_response" },
    { "POST", "/conversations/{id}/cancel", "cancel_question",
      "Cancels the question; the calls that are left are not run.", GUARD_ANSWERER, OF_CHANGE,
      SHAPE_NOTE, SHAPE_CONVERSATION, JSON, SETTLES, serve_conversation_say,
      METHOD_conversation_say, "user_cancel" },
    { "GET", "/conversations/{id}/events", "conversation_events",
      "Stream all events as numbered server-sent events; resumes after Last-Event-ID.",
      GUARD_HOST_OR_PERSON, OF_EVENTS, 0, 0, "text/event-stream", "400 " ACCESS "404 410" TROUBLES,
      serve_conversation_events, METHOD_conversation_events, NULL },
    { "GET", "/api/openapi.json", "openapi", "This document.", GUARD_ANYONE, OF_NOTHING, 0, 0, JSON,
      "400 401", serve_document, METHOD_COUNT, NULL },
    { "GET", "/healthz", "health", "The process is alive.", GUARD_OPEN, OF_NOTHING, 0, SHAPE_HEALTH,
      JSON, "400", serve_health, METHOD_COUNT, NULL },
    { "GET", "/readyz", "readiness", "It takes work; 503 says why not.", GUARD_OPEN, OF_NOTHING, 0,
      SHAPE_HEALTH, JSON, "400 503", serve_readiness, METHOD_COUNT, NULL },
    { "GET", "/metrics", "metrics", "Figures for Prometheus.", GUARD_ANYONE, OF_NOTHING, 0, 0,
      "text/plain; version=0.0.4; charset=utf-8", "400 401", serve_metrics, METHOD_COUNT, NULL },
};
const size_t operation_count = ARRAY_LEN(operations);
