/* words_standing.js - what the page of standing answers says; as words.js, and loaded with it. */

export const STANDING_WORDS = /** @type {const} */ ({
    standing_lead: [
        "A rule answers matching asks automatically with an answer you gave before, until it expires. The agent is told. Destructive asks are never answered by a rule.",
        "规则会用你之前的答复自动答复匹配的请求，直到过期；并会告知智能体。破坏性请求从不由规则答复。",
    ],
    standing_now: ["Active", "有效"],
    standing_none: ["No rules.", "没有规则。"],
    standing_proposed: ["Suggested from your history", "根据历史给出的建议"],
    standing_no_proposals: [
        "No suggestions yet. They appear when you’ve given the same answer three times.",
        "还没有建议。你三次给出相同的答复后，会显示在这里。",
    ],
    standing_times: ["Same answer {count} times", "相同答复 {count} 次"],
    standing_look: ["View…", "查看…"],
    standing_look_named: ["View: {title}", "查看：{title}"],
    standing_made: ["created {time} by {person}", "由 {person} 于 {time} 创建"],
    standing_from: ["from this ask", "来自此请求"],
    standing_any: ["any prompt", "任意提示"],
    standing_same: ["same prompt", "相同提示"],
    standing_history: ["Asks answered by this rule", "由此规则答复的请求"],
    standing_case: ["Create a rule from this answer?", "根据此答复创建规则？"],
    standing_project: ["Project", "项目"],
    standing_prompt: ["Prompt", "提示"],
    standing_for: ["Duration", "有效期"],
    standing_day: ["1 day", "1 天"],
    standing_days: ["{count} days", "{count} 天"],
    standing_year: ["1 year", "1 年"],
    standing_any_box: [
        "Match on title and options only; ignore the prompt",
        "只按标题和选项匹配；忽略提示",
    ],
    standing_would: ["Past asks it would have answered", "此规则本可自动答复的请求"],
    standing_so_far: [
        "{same} with this answer, {other} with a different one.",
        "{same} 个与此答复相同，{other} 个不同。",
    ],
    standing_alike: ["same answer", "相同答复"],
    standing_unlike: ["different answer", "不同答复"],
    standing_added: [
        "Rule created. Matching asks are now answered automatically.",
        "规则已创建。匹配的请求现在会自动答复。",
    ],
    standing_not_answered: [
        "A rule can only be created from a person’s answer.",
        "只能根据人的答复创建规则。",
    ],
});
