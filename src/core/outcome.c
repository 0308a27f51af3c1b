/* outcome.c - how an ask can end, one row each (R2.2, R4.1). */
#include "core/outcome.h"

#include <stddef.h>

#include "core/response.h"

static const struct outcome outcomes[STATE_COUNT] = {
    [STATE_NEW] = {
        .status = "pending",
        .action = "pending",
        .reply = "pending",
        .summary = "Waiting for an answer",
        .instructions = "Nobody has answered yet: ",
        .is_open = true,
    },
    [STATE_PENDING_TERMINAL_LAUNCH] = {
        .status = "pending_terminal_launch",
        .action = "pending",
        .reply = "pending",
        .summary = "Waiting for a terminal",
        .instructions = "No terminal has shown this ask yet: ",
        .afterwards = " With interface \"terminal\" beside session_id provide_choice gives a "
                      "fresh terminal_command.",
        .is_open = true,
    },
    [STATE_PENDING] = {
        .status = "pending",
        .action = "pending",
        .reply = "pending",
        .summary = "Waiting for an answer",
        .instructions = "Nobody has answered yet: ",
        .is_open = true,
    },
    [STATE_SUBMITTED] = {
        .status = "selected",
        .action = "accept",
        .reply = "answered",
        .summary = "",
        .has_values = true,
        .has_decider = true,
        .is_explicit = true,
    },
    [STATE_AUTO_SUBMITTED] = {
        .status = "timeout",
        .action = "timeout",
        .reply = "timeout",
        .summary = "Nobody answered in time, defaults submitted: ",
        .instructions = "Nobody answered in time. The person's own setting submitted the "
                        "defaults given here; nobody looked at this ask. To have it decided, "
                        "ask again with a longer timeout_seconds.",
        .has_values = true,
        .is_auto = true,
    },
    [STATE_CANCELLED] = {
        .status = "cancelled",
        .action = "cancel",
        .reply = "cancelled",
        .summary = "Cancelled",
        .reply_summary = "User cancelled the question",
        .instructions = "The person cancelled. Stop this subtask and assume nothing; what they "
                        "wrote, if anything, is global_annotation.",
        .has_decider = true,
        .is_explicit = true,
    },
    [STATE_DECLINED] = {
        .status = "cancelled",
        .action = "decline",
        .reply = "cancelled",
        .summary = "Declined",
        .instructions = "The person said no. Do not do what you asked about, nor by another way; "
                        "stop this subtask and assume nothing.",
        .has_decider = true,
        .is_explicit = true,
        .is_declined = true,
    },
    [STATE_TIMEOUT] = {
        .status = "timeout",
        .action = "timeout",
        .reply = "timeout",
        .summary = "Nobody answered in time",
        .reply_summary = "User did not answer in time",
        .instructions = "Nobody answered in time and nothing was chosen: assume nothing. Ask "
                        "again with the same arguments or with a longer timeout_seconds.",
    },
    [STATE_WITHDRAWN] = {
        .status = "cancelled",
        .action = "cancel",
        .reply = "cancelled",
        .summary = "Withdrawn by the agent",
        .instructions = "The ask was withdrawn before anybody decided. Nothing was chosen: assume "
                        "nothing.",
        .is_withdrawn = true,
    },
};
static const struct outcome text_alone = {
    .status = "custom_input",
    .action = "accept",
    .reply = "answered",
    .summary = "",
    .has_values = true,
    .has_decider = true,
    .is_explicit = true,
};
static const struct outcome said_no = {
    .status = "cancelled",
    .action = "decline",
    .reply = "cancelled",
    .summary = "",
    .instructions = "The person said no. Do not do what you asked about, nor by another way.",
    .has_values = true,
    .has_decider = true,
    .is_explicit = true,
    .is_declined = true,
};
static const struct outcome by_rule = {
    .has_rule = true,
    .status = "selected",
    .action = "accept",
    .reply = "answered",
    .summary = "Standing answer: ",
    .has_values = true,
    .has_decider = true,
    .is_auto = true,
};
static const struct outcome hand_off = {
    .is_hand_off = true,
    .status = "pending_terminal_launch",
    .action = "pending",
    .reply = "pending",
    .instructions = "Run terminal_command where the person sees it; it works once. Then ",
    .afterwards = " Do not parse url or summary.",
    .is_open = true,
};
static const struct outcome asked_back = {
    .status = "pending",
    .action = "pending",
    .reply = "pending",
    .summary = "The person asks back",
    .instructions = "The person asks something before deciding: read asked_back and say what they "
                    "want to know as explanation, an argument of get_answer; it is shown beside "
                    "the question. The ask stays open: ",
    .is_open = true,
};

const struct outcome *outcome_find(const struct response_facts *facts)
{
    if (facts->state == STATE_SUBMITTED && facts->answer && facts->shape &&
        facts->shape->no_is_decline && !facts->answer->values[0].confirmed)
        return &said_no;
    if (facts->state == STATE_SUBMITTED && facts->answer && answer_is_text_only(facts->answer))
        return &text_alone;
    if (facts->state == STATE_AUTO_SUBMITTED && facts->rule)
        return &by_rule;
    if (facts->asked_back && outcomes[facts->state].is_open)
        return &asked_back;
    if (facts->state == STATE_PENDING_TERMINAL_LAUNCH && facts->terminal_command)
        return &hand_off;
    return &outcomes[facts->state];
}
