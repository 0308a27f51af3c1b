/* words_tell.js - what is said where an agent is told something after the deadline; as words.js. */

export const TELL_WORDS = /** @type {const} */ ({
    got_it: ["Got it", "知道了"],
    longer_next_time: ["Give me longer next time ({time})", "下次给我更多时间（{time}）"],
    tell_anyway: ["Tell the agent anyway", "仍然告知智能体"],
    tell_anyway_more: [
        "The agent receives this with its next result, marked as sent after the deadline. It doesn’t count as the answer.",
        "智能体会随下一个结果收到，并注明是在超时之后。这不算答复。",
    ],
    tell_send: ["Tell the agent", "告知智能体"],
    told_later: ["You told the agent after the deadline", "你在超时后告知了智能体"],
    told_more: ["The agent receives this with its next result.", "智能体会随下一个结果收到。"],
    told_heard: ["The agent has received it.", "智能体已收到。"],
});
