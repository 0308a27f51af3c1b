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
                    .instructions = "No one has answered yet: " },
    [STATE_PENDING_TERMINAL_LAUNCH] = {
        .ending = ENDING_PENDING,
        .is_told = true,
        .status = "pending_terminal_launch",
        .summary = "Waiting for a terminal",
        .instructions = "No terminal has shown this ask yet: ",
        .afterwards = " With interface \"terminal\" beside session_id provide_choice gives a "
                      "fresh terminal_command.",
    },
    [STATE_PENDING] = { .ending = ENDING_PENDING,
                        .summary = "Waiting for an answer",
                        .instructions = "No one has answered yet: " },
    [STATE_SUBMITTED] = { .ending = ENDING_ANSWERED, .has_values = true },
    [STATE_AUTO_SUBMITTED] = {
        .ending = ENDING_TIMEOUT,
        .summary = "Nobody answered in time, defaults submitted: ",
        .instructions = "Nobody answered in time. The person's own setting submitted the "
                        "defaults given here; nobody looked at this ask. To have it decided, "
                        "ask again with a longer timeout_seconds.",
        .has_values = true,
        .is_auto = true,
    },
    [STATE_CANCELLED] = {
        .ending = ENDING_CANCELLED,
        .summary = "Cancelled",
        .reply_summary = "User cancelled the question",
        .instructions = "The person cancelled. Stop this subtask and assume nothing; what they "
                        "wrote, if anything, is global_annotation.",
    },
    [STATE_DECLINED] = {
        .ending = ENDING_DECLINED,
        .summary = "Declined",
        .instructions = "The person said no. Do not do what you asked about, nor by another way; "
                        "stop this subtask and assume nothing.",
    },
    [STATE_TIMEOUT] = {
        .ending = ENDING_TIMEOUT,
        .summary = "Nobody answered in time",
        .reply_summary = "User did not answer in time",
        .instructions = "Nobody answered in time and nothing was chosen: assume nothing. Ask "
                        "again with the same arguments or with a longer timeout_seconds.",
    },
    [STATE_WITHDRAWN] = {
        .ending = ENDING_WITHDRAWN,
        .summary = "Withdrawn by the agent",
        .instructions = "The ask was withdrawn before anybody decided. Nothing was chosen: assume "
                        "nothing.",
    },
    [OUTCOME_TEXT_ALONE] = { ENDING_ANSWERED, "custom_input", .has_values = true },
    [OUTCOME_SAID_NO] = {
        .ending = ENDING_DECLINED,
        .instructions = "The person said no. Do not do what you asked about, nor by another way.",
        .has_values = true,
    },
    [OUTCOME_BY_RULE] = { .ending = ENDING_ANSWERED,
                          .summary = "Standing answer: ",
                          .has_values = true,
                          .is_auto = true },
    [OUTCOME_HAND_OFF] = {
        .ending = ENDING_PENDING,
        .is_told = true,
        .status = "pending_terminal_launch",
        .instructions = "Run terminal_command where the person sees it; it works once. Then ",
        .afterwards = " Do not parse url or summary.",
    },
    [OUTCOME_ASKED_BACK] = {
        .ending = ENDING_PENDING,
        .is_told = true,
        .summary = "The person asks back",
        .instructions = "The person asks something before deciding: read asked_back and say what they "
                        "want to know as explanation, an argument of get_answer; it is shown beside "
                        "the question. The ask stays open: ",
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
