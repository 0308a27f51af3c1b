/* outcome.c - how an ask can end, one row each (R2.2, R4.1), and the same words read back. */
#include "core/outcome.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

const struct outcome_words outcome_words[ENDING_COUNT] = {
    [ENDING_PENDING] = { "pending", "pending", "pending" },
    [ENDING_ANSWERED] = { "selected", "accept", "answered" },
    [ENDING_DECLINED] = { "cancelled", "decline", "cancelled" },
    [ENDING_CANCELLED] = { "cancelled", "cancel", "cancelled" },
    [ENDING_TIMEOUT] = { "timeout", "timeout", "timeout" },
    [ENDING_WITHDRAWN] = { "cancelled", "cancel", "cancelled" },
};

const struct outcome outcome_rows[OUTCOME_COUNT] = {
    [STATE_NEW] = { .ending = ENDING_PENDING,
                    .summary = "Waiting for an answer",
                    .instructions = "Not answered yet: " },
    [STATE_PENDING_TERMINAL_LAUNCH] = {
        .ending = ENDING_PENDING,
        .is_told = true,
        .status = "pending_terminal_launch",
        .summary = "Waiting for a terminal",
        .instructions = "No terminal has opened this ask yet: ",
        .afterwards = " For a new terminal_command, call provide_choice with session_id and interface \"terminal\".",
    },
    [STATE_PENDING] = { .ending = ENDING_PENDING,
                        .summary = "Waiting for an answer",
                        .instructions = "Not answered yet: " },
    [STATE_SUBMITTED] = { .ending = ENDING_ANSWERED, .has_values = true },
    [STATE_AUTO_SUBMITTED] = {
        .ending = ENDING_TIMEOUT,
        .summary = "Timed out; defaults submitted: ",
        .instructions = "No one answered in time. The user's settings submitted these defaults; the user did not decide. To get a decision, ask again with a longer timeout_seconds.",
        .has_values = true,
        .is_auto = true,
    },
    [STATE_CANCELLED] = {
        .ending = ENDING_CANCELLED,
        .summary = "Cancelled",
        .reply_summary = "User cancelled the question",
        .instructions = "The user cancelled. Stop this subtask and assume nothing. Their note, if any, is in global_annotation.",
    },
    [STATE_DECLINED] = {
        .ending = ENDING_DECLINED,
        .summary = "Declined",
        .instructions = "The user said no. Do not do this, by this or any other means. Stop this subtask and assume nothing.",
    },
    [STATE_TIMEOUT] = {
        .ending = ENDING_TIMEOUT,
        .summary = "Timed out",
        .reply_summary = "User did not answer in time",
        .instructions = "No one answered in time. Nothing was chosen; assume nothing. Ask again, with a longer timeout_seconds if needed.",
    },
    [STATE_WITHDRAWN] = {
        .ending = ENDING_WITHDRAWN,
        .summary = "Withdrawn by the agent",
        .instructions = "The ask was withdrawn before it was answered. Nothing was chosen; assume nothing.",
    },
    [OUTCOME_TEXT_ALONE] = { ENDING_ANSWERED, "custom_input", .has_values = true },
    [OUTCOME_SAID_NO] = {
        .ending = ENDING_DECLINED,
        .instructions = "The user said no. Do not do this, by this or any other means.",
        .has_values = true,
    },
    [OUTCOME_BY_RULE] = { .ending = ENDING_ANSWERED,
                          .summary = "Answered by a rule: ",
                          .has_values = true,
                          .is_auto = true },
    [OUTCOME_HAND_OFF] = {
        .ending = ENDING_PENDING,
        .is_told = true,
        .status = "pending_terminal_launch",
        .instructions = "Run terminal_command once, where the user can see it. Then ",
        .afterwards = " Do not parse url or summary.",
    },
    [OUTCOME_ASKED_BACK] = {
        .ending = ENDING_PENDING,
        .is_told = true,
        .summary = "Follow-up question",
        .instructions = "The user has a follow-up question: see asked_back. Reply with get_answer {session_id, explanation}; the user sees your reply next to the ask. The ask is still pending: ",
    },
};

const char *outcome_status(const struct outcome *outcome)
{
    return outcome->status ? outcome->status : outcome_words[outcome->ending].status;
}

/* An action has a word of its own for a no; the others say `declined` beside theirs. */
static bool is_row_of(const struct outcome *row, const struct json *result)
{
    const struct outcome_words *words = &outcome_words[row->ending];
    const char *action = json_member_text(result, "action");
    const char *status = json_member_text(result, "action_status");
    const char *said = action ? action : status ? status : json_member_text(result, "status");
    const char *word = action ? words->action : status ? outcome_status(row) : words->reply;

    return said && strcmp(said, word) == 0 &&
           json_is_true(json_member(result, "withdrawn")) == (row->ending == ENDING_WITHDRAWN) &&
           (action ||
            json_is_true(json_member(result, "declined")) == (row->ending == ENDING_DECLINED));
}

enum ending outcome_read(const struct json *result)
{
    for (size_t i = 0; i < OUTCOME_COUNT; i++) {
        if (is_row_of(&outcome_rows[i], result))
            return outcome_rows[i].ending;
    }
    return ENDING_UNKNOWN;
}
