/* operations.c - every route, with what the document says of it and the function that serves it. */
#include "base/mem.h"
#include "core/limits.h"
#include "http/rest/call.h"

#define PARAMETER(id, name, place, type, least, most, about)                                       \
    const struct parameter parameter_##id = { name, place, type, least, most, about }
#define TEXT(id, name, place, about) PARAMETER(id, name, place, MEMBER_TEXT, 0, 0, about)
#define NUMBER(id, name, least, most, about)                                                       \
    PARAMETER(id, name, "query", MEMBER_INTEGER, least, most, about)
PARAMETER(id, "id", "path", MEMBER_ID, 0, 0, "The ask's session_id, whole.");
NUMBER(wait, "wait", 0, LIMIT_WAIT_S,
       "Seconds to wait for a change: of the version in If-None-Match, else of an open ask.");
TEXT(status, "status", "query", "all (default), active, completed, or one state.");
TEXT(agent, "agent", "query", "Only asks of the agent that calls itself so.");
NUMBER(limit, "limit", 1, 1000, "Asks a page; by default the setting list_count.");
TEXT(before, "before", "query", "`next` of the page before: goes on behind it.");
TEXT(if_match, "If-Match", "header",
     "The ETag of the ask as it was looked at; 412 if it has changed since.");
TEXT(if_none_match, "If-None-Match", "header", "An ETag; 304 while the ask is still that.");
TEXT(key, "Idempotency-Key", "header",
     "Made once for an attempt and sent again with each retry: it is stored once, and every retry "
     "gets the same receipt. 1 to 128 visible characters.");
NUMBER(page, "limit", 1, 200, "Conversations a page; 50 by default.");
NUMBER(after, "after", 0, INT64_MAX, "As Last-Event-ID, for clients that cannot send it.");
TEXT(last_event, "Last-Event-ID", "header",
     "The id of the last event that was heard: what follows it is sent. Without it everything that "
     "is kept.");

static const struct parameter *const of_nothing[] = { NULL };
static const struct parameter *const of_list[] = { &parameter_status, &parameter_agent,
                                                   &parameter_limit, &parameter_before, NULL };
static const struct parameter *const of_look[] = { &parameter_id, &parameter_wait,
                                                   &parameter_if_none_match, NULL };
static const struct parameter *const of_decision[] = { &parameter_id, &parameter_if_match,
                                                       &parameter_key, NULL };
static const struct parameter *const of_change[] = { &parameter_id, &parameter_if_match, NULL };
static const struct parameter *const of_ask[] = { &parameter_id, NULL };
static const struct parameter *const of_new[] = { &parameter_key, NULL };
static const struct parameter *const of_page[] = { &parameter_page, &parameter_before, NULL };
static const struct parameter *const of_events[] = { &parameter_id, &parameter_after,
                                                     &parameter_last_event, NULL };

#define JSON     "application/json"
#define ACCESS   "401 403 "
#define TROUBLES " 503"
#define DECIDES  "400 " ACCESS "404 409 410 412 413 415 422" TROUBLES
#define CHANGES  "400 " ACCESS "404 409 410 413 415 422" TROUBLES
#define SAYS     "400 " ACCESS "404 409 413 415 422" TROUBLES
#define ASKS     "400 " ACCESS "404 409 413 415 422 429" TROUBLES
#define SETTLES  "400 " ACCESS "404 409 412 413 415 422" TROUBLES

const struct operation operations[] = {
    { "GET", "/api", "index", "What is here.", GUARD_ANYONE, of_nothing, NULL, &shape_index, JSON,
      "400 401", serve_index, METHOD_COUNT, NULL },
    { "GET", "/api/asks", "list_asks", "Asks, newest first, a page at a time.", GUARD_PERSON,
      of_list, NULL, &shape_list, JSON, "400 " ACCESS TROUBLES, serve_list, METHOD_ask_list, NULL },
    { "GET", "/api/asks/{id}", "get_ask", "One ask whole; may wait until it changes.", GUARD_PERSON,
      of_look, NULL, &shape_whole, JSON, "304 400 " ACCESS "404" TROUBLES, serve_look,
      METHOD_ask_get, NULL },
    { "POST", "/api/asks/{id}/answer", "answer_ask",
      "Answers it. 409: somebody was faster, 410: it is over, 412: it changed, 422: not a valid "
      "answer; looked at in this order.",
      GUARD_PERSON, of_decision, &shape_answer, &shape_receipt, JSON, DECIDES, serve_act,
      METHOD_ask_answer, NULL },
    { "POST", "/api/asks/{id}/cancel", "cancel_ask", "Dismisses it: the agent is to stop.",
      GUARD_PERSON, of_decision, &shape_note, &shape_receipt, JSON, DECIDES, serve_act,
      METHOD_ask_cancel, NULL },
    { "POST", "/api/asks/{id}/decline", "decline_ask", "Says no to being asked this.", GUARD_PERSON,
      of_decision, &shape_note, &shape_receipt, JSON, DECIDES, serve_act, METHOD_ask_decline,
      NULL },
    { "POST", "/api/asks/{id}/extend", "extend_ask", "Sets the time that is left.", GUARD_PERSON,
      of_change, &shape_seconds, &shape_receipt, JSON, DECIDES, serve_act, METHOD_ask_extend,
      NULL },
    { "POST", "/api/asks/{id}/back", "ask_back",
      "Asks the agent something before deciding; the ask stays open and gets its time anew.",
      GUARD_PERSON, of_change, &shape_question, &shape_receipt, JSON, DECIDES, serve_act,
      METHOD_ask_back, NULL },
    { "POST", "/api/asks/{id}/undo", "undo_answer", "Takes an answer back within its undo window.",
      GUARD_PERSON, of_ask, &shape_nothing, &shape_receipt, JSON, CHANGES, serve_act,
      METHOD_ask_undo, NULL },
    { "POST", "/api/asks/{id}/send", "send_answer", "Ends the undo window: the agent is told now.",
      GUARD_PERSON, of_ask, &shape_nothing, &shape_receipt, JSON, CHANGES, serve_act,
      METHOD_ask_send, NULL },
    { "POST", "/conversations", "new_conversation", "Makes a conversation, idle.", GUARD_HOST,
      of_new, &shape_new_conversation, &shape_conversation, JSON,
      "400 " ACCESS "413 415 422 429" TROUBLES, serve_conversation_new, METHOD_conversation_new,
      NULL },
    { "GET", "/conversations", "list_conversations",
      "Newest first: a host's own, for a person all.", GUARD_HOST_OR_PERSON, of_page, NULL,
      &shape_conversation_list, JSON, "400 " ACCESS TROUBLES, serve_conversation_list,
      METHOD_conversation_list, NULL },
    { "GET", "/conversations/{id}", "get_conversation", "How it stands.", GUARD_HOST_OR_PERSON,
      of_ask, NULL, &shape_conversation, JSON, "400 " ACCESS "404" TROUBLES, serve_conversation_get,
      METHOD_conversation_get, NULL },
    { "POST", "/conversations/{id}/tool-calls", "tool_calls",
      "The calls of a turn, in order. Ordinary ones come back as execute_tool, one after the "
      "other; "
      "ask_user_question is put to a person.",
      GUARD_HOST, of_ask, &shape_turn, &shape_conversation, JSON, ASKS, serve_conversation_say,
      METHOD_conversation_say, "tool_calls" },
    { "POST", "/conversations/{id}/tool-results", "tool_result",
      "The result of the call that runs.", GUARD_HOST, of_ask, &shape_tool_result,
      &shape_conversation, JSON, ASKS, serve_conversation_say, METHOD_conversation_say,
      "tool_complete" },
    { "POST", "/conversations/{id}/llm-retry", "llm_retry", "The model is asked once more.",
      GUARD_HOST, of_ask, &shape_attempt, &shape_conversation, JSON, SAYS, serve_conversation_say,
      METHOD_conversation_say, "llm_retry" },
    { "POST", "/conversations/{id}/turn-ended", "turn_ended",
      "The model is done and called nothing.", GUARD_HOST, of_ask, &shape_nothing,
      &shape_conversation, JSON, SAYS, serve_conversation_say, METHOD_conversation_say,
      "turn_ended" },
    { "POST", "/conversations/{id}/respond", "respond",
      "Answers the question it waits with. Text that is no label is own words.", GUARD_ANSWERER,
      of_change, &shape_response, &shape_conversation, JSON, SETTLES, serve_conversation_say,
      METHOD_conversation_say, "user_question_response" },
    { "POST", "/conversations/{id}/cancel", "cancel_question",
      "Cancels the question; the calls that are left are not run.", GUARD_ANSWERER, of_change,
      &shape_note, &shape_conversation, JSON, SETTLES, serve_conversation_say,
      METHOD_conversation_say, "user_cancel" },
    { "GET", "/conversations/{id}/events", "conversation_events",
      "Everything that happens, as server-sent events with numbers; goes on where it was left.",
      GUARD_HOST_OR_PERSON, of_events, NULL, NULL, "text/event-stream",
      "400 " ACCESS "404 410" TROUBLES, serve_conversation_events, METHOD_conversation_events,
      NULL },
    { "GET", "/api/openapi.json", "openapi", "This document.", GUARD_ANYONE, of_nothing, NULL, NULL,
      JSON, "400 401", serve_document, METHOD_COUNT, NULL },
    { "GET", "/healthz", "health", "The process is alive.", GUARD_OPEN, of_nothing, NULL,
      &shape_health, JSON, "400", serve_health, METHOD_COUNT, NULL },
    { "GET", "/readyz", "readiness", "It takes work; 503 says why not.", GUARD_OPEN, of_nothing,
      NULL, &shape_health, JSON, "400 503", serve_readiness, METHOD_COUNT, NULL },
    { "GET", "/metrics", "metrics", "Figures for Prometheus.", GUARD_ANYONE, of_nothing, NULL, NULL,
      "text/plain; version=0.0.4; charset=utf-8", "400 401", serve_metrics, METHOD_COUNT, NULL },
};
const size_t operation_count = ARRAY_LEN(operations);
