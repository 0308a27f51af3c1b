// Every tool that asks, through every front: each result is delivered once, confirmed once, and the same call again is a new ask.
// Tools come from tools/list, words from the published schemas: a new one without a case here fails.
// Proves: R5.5 R2.4 R14.2 P8
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, test } from "node:test";
import { inHome, until } from "./lib/home.mjs";
import { FRONTS, HOOK, listTools, WORDS } from "./lib/fronts.mjs";
import { opened } from "./lib/raw.mjs";
import { deliveries } from "./lib/database.mjs";
import { Walker, WHY } from "./lib/walker.mjs";
import { web } from "./lib/web.mjs";

const NOT_ASKING = ["get_answer", "check_decision", "poll_selection"];
const LABELS = [{ label: "Left" }, { label: "Right" }];
const IDS = [{ id: "a", label: "Alpha", recommended: true }, { id: "b", label: "Beta" }];
const dialog = (mark, more = {}) => ({ title: mark, prompt: "Which one?", ...more });
// Arguments by tool; the mark is in a text that the person reads. Several ways to call one tool: "tool: way".
const CASES = {
    "provide_choice": (mark) => ({ title: mark, prompt: "Both are built. Which one goes out today?", selection_mode: "single", options: IDS }),
    "provide_choice: text": (mark) => ({ title: mark, prompt: "What shall the release be called?", selection_mode: "text_input" }),
    "ask_user_question": (mark) => ({ questions: [{ question: mark, header: "Way", options: LABELS }] }),
    "elicit_choice": (mark) => ({ message: mark, options: [{ value: "a", label: "A" }, { value: "b", label: "B" }] }),
    "elicit_input": (mark) => ({ message: mark }),
    "elicit_confirm": (mark) => ({ message: mark }),
    "elicit_number": (mark) => ({ message: mark, minimum: 1, maximum: 5 }),
    "elicit_form": (mark) => ({ message: mark, requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } }),
};
// Of the tools of other servers; provide_choice is called as they call it.
const COMPAT_CASES = {
    "provide_choice: theirs": (mark) => ({ title: mark, prompt: "Both are built. Which one goes out today?", selection_mode: "single",
        options: [{ id: "A", description: "first", recommended: true }, { id: "B", description: "" }] }),
    "interactive_feedback": (mark) => ({ message: mark }),
    "interactive_feedback: options": (mark) => ({ message: mark, predefined_options: ["Keep", "Drop"] }),
    "request_user_input": (mark) => ({ projectName: "shop", message: mark }),
    "get_user_input": (mark) => dialog(mark),
    "get_multiline_input": (mark) => dialog(mark),
    "get_user_choice": (mark) => dialog(mark, { choices: ["Red", "Green"] }),
    "show_confirmation_dialog": (mark) => ({ title: "Drop", message: mark }),
};
const GATE = (mark) => ({ command: `rm -rf '/tmp/${mark}'` });
const toolOf = (name) => name.split(":")[0];
const toolsIn = (cases) => [...new Set(Object.keys(cases).map(toolOf))];
const QUICK = { SAYSO_DELIVER_AFTER: "0", SAYSO_COMPAT: "on", SAYSO_MAX_PENDING: "1000", SAYSO_ASKS_PER_MINUTE: "1000" };

// A call is answered by an ask of its own; the ask's id.
async function askedAnew(walker, mark, count, call) {
    const given = call.said.then((said) => assert.fail(`${mark}: call ${count} was given ${JSON.stringify(said)}, and no one was asked`));
    const [ids] = await Promise.race([Promise.all([walker.asked(mark, count), call.shown]), given]);
    given.catch(() => {});
    return ids[count - 1];
}

// The answer may come before the call waits again; then it is marked as replayed.
async function answeredOnce(walker, front, call, id) {
    await walker.act("answered", id, front);
    const { ending } = await call.said;
    if (ending)
        assert.equal(ending, front.words?.answered ?? "answered");
}

// Asks, has it end so, and gets that result once; returns when the agent has it.
const WAYS = {
    // An agent that was asked back gets the answer of the same ask: with the same call again, where the first one told the question.
    async "asked back"(walker, front, call, id, again) {
        await walker.act("asked back", id);
        if (front.waitsOn)
            return answeredOnce(walker, front, call, id);
        const { ending, back, text } = await call.said;
        if (ending)
            assert.deepEqual([ending, back], ["pending", WHY]);
        else
            assert.ok(text.includes(WHY) && text.includes("get_answer"), text);
        return answeredOnce(walker, front, again(), id);
    },
    // Answered when no one waited: the next identical call gets it, marked as replayed.
    async left(walker, front, call, id, again) {
        call.leave();
        await walker.left(id);
        await walker.act("answered", id);
        const { ending, isReplayed = true } = await again().said;
        if (ending)
            assert.deepEqual([ending, isReplayed], ["answered", true]);
    },
};
for (const ending of ["answered", "cancelled", "declined", "timeout", "withdrawn"])
    WAYS[ending] = async (walker, front, call, id) => {
        await walker.act(ending, id, front);
        const { ending: told, back, isReplayed = false } = await call.said;
        if (told)
            assert.deepEqual([told, back, isReplayed], [front.words?.[ending] ?? ending, undefined, false]);
    };

// The same call again is a new ask: in the same process or session, then in another.
async function walk(walker, front, another, name, args, ending) {
    const mark = `#${name}, ${ending}#`, tool = toolOf(name), given = args(mark);
    const again = () => front.call(tool, given);
    const first = again();
    await WAYS[ending](walker, front, first, await askedAnew(walker, mark, 1, first), again);
    for (const [number, next] of [front, another].entries()) {
        const call = next.call(tool, given);
        await walker.act("cancelled", await askedAnew(walker, mark, number + 2, call), next);
        await call.said;
    }
}

// Each ask of which an agent got a result has exactly one confirmation.
async function confirmedOnce(home, walker) {
    let wrong;
    const count = async (isWrong) => {
        const confirmed = await deliveries(home);
        const times = (id) => confirmed.filter((one) => one === id).length;
        wrong = [...walker.asks].filter(([, ids]) => ids.some((id) => isWrong(times(id)))).map(([mark, ids]) => [mark, ids.map(times)]);
        return wrong.length === 0;
    };
    await until(() => count((times) => times === 0), "every result is confirmed", 60000)
        .catch(() => assert.fail(`not confirmed: ${JSON.stringify(wrong)}`));
    assert.ok(await count((times) => times !== 1), `confirmed more than once: ${JSON.stringify(wrong)}`);
}

describe("delivered once", { concurrency: 2 }, () => {
    for (const [name, open] of Object.entries(FRONTS)) {
        test(`R5.5 ${name}: every tool, every ending: the same call again is a new ask`, inHome(async (home) => {
            await web(home); // a hub with a port
            const front = await open(home), another = await front.another();
            const walker = await Walker.at(home);
            const cases = Object.entries({ ...CASES, ...(front.hasCompat && COMPAT_CASES), gate: GATE })
                .filter(([tool]) => (front.only ? front.only.includes(tool) : tool !== "gate"));
            const endings = Object.keys(WAYS).filter((ending) => !front.without?.includes(ending));
            const walks = cases.flatMap(([tool, args]) => endings.map((ending) =>
                walk(walker, front, another, tool, args, ending).catch((problem) => {
                    problem.message = `${tool}, ${ending}: ${problem.message}`;
                    throw problem;
                })));
            assert.ok(walks.length >= 4);
            await Promise.all(walks);
            await confirmedOnce(home, walker);
        }, QUICK));
    }

    test("R5.5 every tool of tools/list that asks has a case, every published word an ending", inHome(async (home) => {
        const ours = await listTools(home, { SAYSO_COMPAT: "off" }), all = await listTools(home);
        const asking = (tools) => tools.map(({ name }) => name).filter((name) => !NOT_ASKING.includes(name));
        assert.deepEqual(toolsIn(CASES), asking(ours));
        assert.deepEqual(toolsIn({ ...CASES, ...COMPAT_CASES }), asking(all));
        for (const { name, outputSchema: { properties } } of ours.filter((tool) => !NOT_ASKING.includes(tool.name))) {
            const members = Object.keys(WORDS).filter((member) => member in properties);
            assert.equal(members.length, 1, name);
            assert.deepEqual(properties[members[0]].enum.filter((word) => !(word in WORDS[members[0]])), ["pending_terminal_launch"]
                .filter((word) => properties[members[0]].enum.includes(word)), name);
        }
    }, QUICK));
});

// A hub that gives this answer to each ask; the methods that it was called with. `reply` says whether an ask is over, which an earlier
// version does not; `onDelivered` gets the connection on which a result is confirmed, and returns true where it replies.
async function playHub(home, { reply, onDelivered = () => true } = {}) {
    const methods = [], socket = path.join(home.path, "run/played.sock");
    const over = { session_id: "a".repeat(26), explicit: true, summary: "yes" };
    const results = {
        "hello": () => ({ wire: 1, role: "agent", features: [] }),
        "ask/create": ({ tool }) => (tool === "elicit_confirm" ? { action: "accept", confirmed: true, ...over }
            : { action_status: "selected", selection: { selected_ids: ["allow"] }, ...over }),
        "ask/delivered": () => ({}),
    };
    const hub = net.createServer((peer) => {
        let rest = "";
        peer.on("error", () => {});
        peer.on("data", (bytes) => {
            const lines = (rest + bytes).split("\n");
            rest = lines.pop();
            for (const { id, method, params } of lines.map((line) => JSON.parse(line))) {
                methods.push(method);
                if (method !== "ask/delivered" || onDelivered(peer, hub))
                    peer.write(`${JSON.stringify({ jsonrpc: "2.0", id, reply, result: results[method](params) })}\n`);
            }
        });
    });
    home.endings.push(() => hub.close());
    await new Promise((resolve) => { hub.listen(socket, resolve); });
    mkdirSync(home.data, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(home.data, "hub.json"), JSON.stringify({ pid: process.pid, start: 1, socket, port: null, wire: 1, version: "0" }));
    return methods;
}

// One process to its end: the exit code, and what it said.
async function ran(home, args, input) {
    const child = home.spawn(args);
    let said = "";
    child.stdout.on("data", (bytes) => { said += bytes; });
    child.stderr.on("data", (bytes) => { said += bytes; });
    child.stdin.end(JSON.stringify(input));
    const code = await new Promise((resolve) => { child.on("close", resolve); });
    return { code, said };
}

const ASK = ["ask", "--tool", "elicit_confirm", "--from", "-"];
const DROP = { message: "Drop the table?" };

test("R5.5 a hub that does not say whether an ask is over: an error that names the remedy, no answer, no confirmation", inHome(async (home) => {
    const methods = await playHub(home);
    const client = await opened(home, "2025-11-25");
    const { error } = await client.tool("elicit_confirm", DROP);
    assert.equal(error.code, "unavailable");
    assert.match(error.message, /older version.*sayso stop/);
    const { code, said } = await ran(home, ASK, DROP);
    assert.equal(code, 1);
    assert.match(said, /older version.*sayso stop/);
    assert.doesNotMatch(said, /true/);
    await client.stop();
    assert.deepEqual([...new Set(methods)].sort(), ["ask/create", "hello"]);
}));

test("R5.5 sayso ask: the hub goes away before the confirmation and can't be started again: the answer and its exit code stay", inHome(async (home) => {
    await playHub(home, { reply: "final", onDelivered: (peer, hub) => {
        hub.close();
        rmSync(home.data, { recursive: true });
        writeFileSync(home.data, ""); // no directory: no hub starts
        peer.destroy();
    } });
    assert.deepEqual(await ran(home, ASK, DROP), { code: 0, said: "true\n" });
}));

for (const [name, args, input, told] of [
    ["sayso ask", ASK, DROP, /^true\n$/],
    ["gate", ["gate"], { ...HOOK, tool_input: GATE("lost") }, /"allow"/],
])
    test(`R5.5 ${name}: a confirmation that the connection lost is repeated`, inHome(async (home) => {
        let count = 0;
        const methods = await playHub(home, { reply: "final", onDelivered: (peer) => ++count > 1 || !peer.destroy() });
        const { code, said } = await ran(home, args, input);
        assert.equal(code, 0, said);
        assert.match(said, told);
        assert.deepEqual(methods, ["hello", "ask/create", "ask/delivered", "hello", "ask/delivered"]);
    }));
