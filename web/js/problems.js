/* problems.js - what went wrong, in the person's words. */
import { hasWord, languageTag, say } from "./language.js";

/** @param {any} error of a call */
export function sayProblem(error) {
    const code = error?.data?.code ?? "";
    if (error?.code === 0)
        return say("problem_line");
    if (hasWord(`problem_${code}`))
        return say(/** @type {any} */ (`problem_${code}`));
    /* The hub's own words are more exact. */
    const said = error?.data?.said?.[languageTag().slice(0, 2)];
    return say("problem_other", { text: said ?? error?.message ?? String(error) });
}
