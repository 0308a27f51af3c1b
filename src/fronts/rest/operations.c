/* operations.c - every route, with what the document says of it and the function that serves it. */
#include "base/mem.h"
#include "core/limits.h"
#include "fronts/rest/inside.h"

const struct parameter parameter_id = {
    "id", "path", MEMBER_ID, 0, 0, "The ask's session_id, whole.",
};
const struct parameter parameter_wait = {
    "wait",
    "query",
    MEMBER_INTEGER,
    0,
    LIMIT_WAIT_S,
    "Seconds to wait for a change: of the version in If-None-Match, else of an open ask.",
};
const struct parameter parameter_status = {
    "status", "query", MEMBER_TEXT, 0, 0, "all (default), active, completed, or one state.",
};
const struct parameter parameter_agent = {
    "agent", "query", MEMBER_TEXT, 0, 0, "Only asks of the agent that calls itself so.",
};
const struct parameter parameter_limit = {
    "limit", "query", MEMBER_INTEGER, 1, 1000, "Asks a page; by default the setting list_count.",
};
const struct parameter parameter_before = {
    "before", "query", MEMBER_TEXT, 0, 0, "`next` of the page before: goes on behind it.",
};
const struct parameter parameter_if_match = {
    "If-Match", "header", MEMBER_TEXT,
    0,          0,        "The ETag of the ask as it was looked at; 412 if it has changed since.",
};
const struct parameter parameter_if_none_match = {
    "If-None-Match", "header", MEMBER_TEXT, 0, 0, "An ETag; 304 while the ask is still that.",
};
const struct parameter parameter_key = {
    "Idempotency-Key",
    "header",
    MEMBER_TEXT,
    0,
    0,
    "Made once for an attempt and sent again with each retry: it is stored once, and every retry "
    "gets the same receipt. 1 to 128 visible characters.",
};

static const struct parameter *const of_nothing[] = { NULL };
static const struct parameter *const of_list[] = { &parameter_status, &parameter_agent,
                                                   &parameter_limit, &parameter_before, NULL };
static const struct parameter *const of_look[] = { &parameter_id, &parameter_wait,
                                                   &parameter_if_none_match, NULL };
static const struct parameter *const of_decision[] = { &parameter_id, &parameter_if_match,
                                                       &parameter_key, NULL };
static const struct parameter *const of_change[] = { &parameter_id, &parameter_if_match, NULL };
static const struct parameter *const of_ask[] = { &parameter_id, NULL };

#define JSON     "application/json"
#define ACCESS   "401 403 "
#define TROUBLES " 503"
#define DECIDES  "400 " ACCESS "404 409 410 412 413 415 422" TROUBLES
#define CHANGES  "400 " ACCESS "404 409 410 413 415 422" TROUBLES

const struct operation operations[] = {
    { "GET", "/api", "index", "What is here.", GUARD_ANYONE, of_nothing, NULL, &shape_index, JSON,
      "400 401", serve_index, 0 },
    { "GET", "/api/asks", "list_asks", "Asks, newest first, a page at a time.", GUARD_PERSON,
      of_list, NULL, &shape_list, JSON, "400 " ACCESS TROUBLES, serve_list, DESK_ACT(list) },
    { "GET", "/api/asks/{id}", "get_ask", "One ask whole; may wait until it changes.", GUARD_PERSON,
      of_look, NULL, &shape_whole, JSON, "304 400 " ACCESS "404" TROUBLES, serve_look,
      DESK_ACT(get) },
    { "POST", "/api/asks/{id}/answer", "answer_ask",
      "Answers it. 409: somebody was faster, 410: it is over, 412: it changed, 422: not a valid "
      "answer; looked at in this order.",
      GUARD_PERSON, of_decision, &shape_answer, &shape_receipt, JSON, DECIDES, serve_act,
      DESK_ACT(answer) },
    { "POST", "/api/asks/{id}/cancel", "cancel_ask", "Dismisses it: the agent is to stop.",
      GUARD_PERSON, of_decision, &shape_note, &shape_receipt, JSON, DECIDES, serve_act,
      DESK_ACT(cancel) },
    { "POST", "/api/asks/{id}/decline", "decline_ask", "Says no to being asked this.", GUARD_PERSON,
      of_decision, &shape_note, &shape_receipt, JSON, DECIDES, serve_act, DESK_ACT(decline) },
    { "POST", "/api/asks/{id}/extend", "extend_ask", "Sets the time that is left.", GUARD_PERSON,
      of_change, &shape_seconds, &shape_receipt, JSON, DECIDES, serve_act, DESK_ACT(extend) },
    { "POST", "/api/asks/{id}/back", "ask_back",
      "Asks the agent something before deciding; the ask stays open and gets its time anew.",
      GUARD_PERSON, of_change, &shape_question, &shape_receipt, JSON, DECIDES, serve_act,
      DESK_ACT(ask_back) },
    { "POST", "/api/asks/{id}/undo", "undo_answer", "Takes an answer back within its undo window.",
      GUARD_PERSON, of_ask, &shape_nothing, &shape_receipt, JSON, CHANGES, serve_act,
      DESK_ACT(undo) },
    { "POST", "/api/asks/{id}/send", "send_answer", "Ends the undo window: the agent is told now.",
      GUARD_PERSON, of_ask, &shape_nothing, &shape_receipt, JSON, CHANGES, serve_act,
      DESK_ACT(send_now) },
    { "GET", "/api/openapi.json", "openapi", "This document.", GUARD_ANYONE, of_nothing, NULL, NULL,
      JSON, "400 401", serve_document, 0 },
    { "GET", "/healthz", "health", "The process is alive.", GUARD_OPEN, of_nothing, NULL,
      &shape_health, JSON, "400", serve_health, 0 },
    { "GET", "/readyz", "readiness", "It takes work; 503 says why not.", GUARD_OPEN, of_nothing,
      NULL, &shape_health, JSON, "400 503", serve_readiness, 0 },
    { "GET", "/metrics", "metrics", "Figures for Prometheus.", GUARD_ANYONE, of_nothing, NULL, NULL,
      "text/plain; version=0.0.4; charset=utf-8", "400 401", serve_metrics, 0 },
};
const size_t operation_count = ARRAY_LEN(operations);
