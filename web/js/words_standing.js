/* words_standing.js - what the page of standing answers says; as words.js, and loaded with it. */

export const STANDING_WORDS = /** @type {const} */ ({
    standing_lead: [
        "Asks of one kind are answered at once, as you answered one of them, until a time. Each result tells the agent so. Destructive asks are never among them: they are decided each time anew.",
        "同类提问会立即按你之前的答复回答，直到指定时间；每个结果都会告知智能体。破坏性操作除外：每次都须重新决定。",
    ],
    standing_now: ["In force", "生效中"],
    standing_none: ["No answer stands for asks to come.", "没有长期有效的答复。"],
    standing_proposed: ["Proposed from your history", "根据历史提出的建议"],
    standing_no_proposals: [
        "Nothing was answered three times and always the same.",
        "没有回答过三次且每次都一样的提问。",
    ],
    standing_times: ["Answered {count} times, always the same", "回答了 {count} 次，每次都一样"],
    standing_look: ["Look at it…", "查看…"],
    standing_look_named: ["Look at it: {title}", "查看：{title}"],
    standing_made: ["made {time} by {person}", "由 {person} 于 {time} 设立"],
    standing_from: ["from this ask", "来自此请求"],
    standing_any: ["whatever the prompt says", "不论提示怎么写"],
    standing_same: ["with the same prompt", "提示须相同"],
    standing_history: ["What was answered so", "由此作出的答复"],
    standing_case: ["Let this answer stand?", "让此答复长期有效？"],
    standing_project: ["Project", "项目"],
    standing_prompt: ["Prompt", "提示"],
    standing_for: ["For how long", "有效期"],
    standing_day: ["1 day", "1 天"],
    standing_days: ["{count} days", "{count} 天"],
    standing_year: ["1 year", "1 年"],
    standing_any_box: [
        "Whatever its prompt says: title and options alone decide what is of this kind",
        "不论提示怎么写：只由标题和选项决定是否同类",
    ],
    standing_would: ["What it would have answered", "它本会答复的请求"],
    standing_so_far: [
        "So far {same} answered so, {other} otherwise.",
        "到目前为止：{same} 次如此答复，{other} 次不同。",
    ],
    standing_alike: ["the same", "相同"],
    standing_unlike: ["otherwise", "不同"],
    standing_added: [
        "From now on such asks are answered at once, and each result says so.",
        "从现在起，这类提问会立即得到答复，并在每个结果中注明。",
    ],
    standing_not_answered: [
        "Only what a person answered can stand for asks to come.",
        "只有人亲自答复过的请求才能长期有效。",
    ],
});
