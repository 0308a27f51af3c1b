// The tool of --permission-prompt-tool: one text that holds JSON, listed only where it is named, and a no without a person's yes.
// Proves: R15.1 R15.2
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inHome } from "./lib/home.mjs";
import { Judge } from "./lib/judge.mjs";
import { opened } from "./lib/raw.mjs";

const TOOL = "permission_prompt";
const BASH = { tool_name: "Bash", input: { command: "npm test", description: "Run the tests" }, tool_use_id: "toolu_1" };
const QUESTION = "Which database should we use?";
const QUESTIONS = {
    tool_name: "AskUserQuestion", tool_use_id: "toolu_2",
    input: { questions: [{ question: QUESTION, header: "Database", options: [{ label: "Postgres" }, { label: "SQLite" }], multiSelect: false }] },
};

class OneText extends Judge {
    tools(revision, tools) {
        super.tools(revision, tools.filter(({ name }) => name !== TOOL));
    }

    toolResult(revision, tool, result) {
        if (result.isError || tool !== TOOL)
            super.toolResult(revision, tool, result);
    }
}
const named = (home) => opened(home, "2025-11-25", { args: ["--tools", `ask,${TOOL}`], judge: new OneText() });

// What the tool returns once the person has done this; `words` begin with a command, its ask comes behind it.
async function decided(home, call, [command, ...words]) {
    const client = await named(home);
    const reply = client.answer(client.startTool(TOOL, call));
    const [{ session_id }] = await home.opened();
    await home.apart(command, session_id, ...words);
    const { result } = await reply;
    assert.deepEqual(Object.keys(result).filter((key) => !["content", "isError"].includes(key)), [], "nothing beside the text");
    assert.equal(result.content.length, 1);
    return JSON.parse(result.content[0].text);
}

describe("permission_prompt", { concurrency: 2 }, () => {
    test("it is listed where it is named, and not by all", inHome(async (home) => {
        const has = async (args) => (await (await opened(home, "2025-11-25", { args, judge: new OneText() })).request("tools/list")).result.tools
            .some(({ name }) => name === TOOL);
        assert.ok(await has(["--tools", TOOL]));
        assert.ok(!await has(["--tools", "all"]) && !await has([]));
    }));

    const CASES = {
        "allow says what runs": [BASH, ["answer", "--select", "Allow once"], { behavior: "allow", updatedInput: BASH.input }],
        "deny has the note": [BASH, ["answer", "--select", "Deny", "--note", "use make"],
                              { behavior: "deny", message: "The user denied this. They wrote: use make" }],
        "questions are answered": [QUESTIONS, ["answer", "--select", "SQLite", "--field-note", "q1=one file"], {
            behavior: "allow",
            updatedInput: { ...QUESTIONS.input, answers: { [QUESTION]: "SQLite" }, annotations: { [QUESTION]: { notes: "one file" } } },
        }],
    };
    for (const [name, [call, words, expected]] of Object.entries(CASES))
        test(name, inHome(async (home) => assert.deepEqual(await decided(home, call, words), expected)));

    test("cancelled and declined are a no", inHome(async (home) => {
        for (const command of ["cancel", "decline"]) {
            const { behavior, message } = await decided(home, BASH, [command]);
            assert.equal(behavior, "deny");
            assert.match(message, /did not decide/);
        }
    }));

    test("what the gate speaks of is destructive", inHome(async (home) => {
        const client = await named(home);
        client.startTool(TOOL, { ...BASH, input: { command: "rm -rf build" } });
        const [{ session_id }] = await home.opened();
        assert.match(await home.must("show", session_id), /estructive/);
        assert.notEqual((await home.sayso("answer", session_id, "--select", "Allow once")).code, 0);
    }));

    test("a call that is none of a permission is refused with the field", inHome(async (home) => {
        const client = await named(home);
        for (const call of [{}, { tool_name: "", input: {} }, { tool_name: "Bash" }, { tool_name: "Bash", input: "x" }])
            assert.equal((await client.tool(TOOL, call)).error.path, "/tool_name");
        assert.equal((await client.tool(TOOL, { tool_name: "Bash", input: { command: "x".repeat(70000) } })).error.path, "/input");
        assert.deepEqual(home.touched(), []);
    }));
});
