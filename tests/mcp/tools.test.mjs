// Which tools are listed, by the setting `tools` and by --tools; and that the others can be called all the same.
// Proves: R2.5 R3.3 R8.1 R10.2 R14.2
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withFar } from "./lib/far.mjs";
import { inHome } from "./lib/home.mjs";
import { opened } from "./lib/raw.mjs";
import { REVISIONS } from "./lib/schema.mjs";
import { openedHttp, web } from "./lib/web.mjs";
import { GOOD, TOOLS } from "./lib/asks.mjs";

const ASK = ["provide_choice", "ask_user_question", "get_answer"];
const UNSET = { SAYSO_TOOLS: undefined };

const listed = async (client) => (await client.request("tools/list")).result.tools.map(({ name }) => name);

describe("tools", { concurrency: 3 }, () => {
    for (const revision of REVISIONS) {
        test(`${revision}: by default only what most agents need is listed, everything can be called`, inHome(async (home) => {
            const client = await opened(home, revision);
            assert.deepEqual(await listed(client), ASK);
            const { instructions } = await client.open(revision);
            for (const name of TOOLS)
                assert.ok(ASK.includes(name) || !instructions.includes(name), `${name} is not listed`);
            assert.equal((await client.tool("check_decision", { paths: 3 })).must_ask, true);
            assert.equal((await client.tool("check_decision", { paths: null, destructive: null })).error.path, "/destructive");
            assert.deepEqual(home.touched(), []);
            const asked = client.tool("elicit_confirm", { message: "Go?" });
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--field", "confirmed=yes");
            assert.equal((await asked).confirmed, true);
        }, UNSET));
    }

    for (const revision of REVISIONS) {
        test(`${revision}: what every model needs is marked to be loaded from the start, the rest is not`, inHome(async (home) => {
            const { tools } = (await (await opened(home, revision)).request("tools/list")).result;
            const marked = tools.filter(({ _meta }) => _meta?.["anthropic/alwaysLoad"] === true).map(({ name }) => name);
            assert.deepEqual(marked, revision >= "2025-06-18" ? ASK : []); // before, tools have no _meta
            assert.equal(tools.length, TOOLS.length);
        }));
    }

    test("what models read stays short: the default tools below 6,000 bytes, all of them below 10,000", inHome(async (home) => {
        for (const [tools, most] of [["ask", 6000], ["all", 10000]]) {
            const client = await opened(home, "2025-11-25", { args: ["--tools", tools] });
            const bytes = Buffer.byteLength(JSON.stringify(await client.request("tools/list")));
            assert.ok(bytes > most / 2 && bytes < most, `${tools}: ${bytes} bytes, at most ${most}`);
        }
    }, UNSET));

    test("over HTTP the hub's setting counts, from the next list on", inHome(async (home) => {
        const client = await openedHttp(home, "2025-11-25");
        assert.deepEqual(await listed(client), ASK);
        for (const [value, expected] of [["all", TOOLS], ["elicit_form", ["elicit_form", "get_answer"]], ["ask, check_decision", [...ASK, "check_decision"]]]) {
            await home.must("settings", "set", "tools", value);
            assert.deepEqual(await listed(client), expected, value);
        }
        await home.must("settings", "reset", "tools");
        assert.deepEqual(await listed(client), ASK);
    }, UNSET));

    test("a pending result speaks as the instructions do, and says the address once", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const { tools } = (await client.request("tools/list")).result;
        assert.ok(!JSON.stringify(tools.map(({ inputSchema }) => inputSchema)).includes("allow_cancel"), "what does nothing isn't offered");
        const [{ description }] = tools;
        assert.match(description, /collect it with get_answer/);
        const asked = client.startTool("provide_choice", { ...GOOD, allow_cancel: true });
        const [{ session_id }] = await home.opened();
        const collect = () => client.answer(client.startTool("get_answer", { session_id, wait_seconds: 0 }));
        const { structuredContent: pending } = (await collect()).result;
        assert.match(pending.instructions, /call get_answer with this session_id/);
        assert.ok(pending.url.endsWith(session_id) && JSON.stringify(pending).split(pending.url).length === 2, JSON.stringify(pending));
        await home.must("answer", session_id, "--select", "a");
        assert.deepEqual((await client.answer(asked)).result.structuredContent.warnings, ["cancel_always_available"]);
    }, UNSET));

    test("--tools counts for its own client, whatever is saved", inHome(async (home) => {
        await home.must("settings", "set", "tools", "provide_choice");
        assert.deepEqual(await listed(await opened(home, "2025-11-25")), ["provide_choice", "get_answer"]);
        assert.deepEqual(await listed(await opened(home, "2025-11-25", { args: ["--tools", "all"] })), TOOLS);
        assert.deepEqual(await listed(await opened(home, "2025-11-25", { args: ["--tools", "elicit_choice,check_decision"] })),
            ["elicit_choice", "get_answer", "check_decision"], "what it asks can be collected");
    }, UNSET));

    test("sub-agents never see ask_user_question, however it is named", inHome(async (home) => {
        for (const tools of ["ask", "all", "ask_user_question,provide_choice"]) {
            const names = await listed(await opened(home, "2025-11-25", { args: ["--sub-agent", "--tools", tools] }));
            assert.ok(!names.includes("ask_user_question") && names.includes("provide_choice"), names);
        }
        await web(home);
        const { token } = JSON.parse(await home.must("token", "new", "--label", "sub", "--sub-agent", "--json"));
        assert.deepEqual(await listed(await openedHttp(home, "2025-11-25", { token })), ["provide_choice", "get_answer"]);
    }, UNSET));

    test("tools of other servers are listed beside them while compat is on", inHome(async (home) => {
        const names = await listed(await opened(home, "2024-11-05")); // which has no output schemas: theirs have none
        assert.deepEqual(names.slice(0, 3), ASK);
        assert.ok(names.includes("interactive_feedback") && !names.includes("elicit_form"), names);
    }, { ...UNSET, SAYSO_COMPAT: "on" }));

    test("through --hub the client's own machine says what is listed", () => withFar(async (hub, machine) => {
        await hub.must("settings", "set", "tools", "all");
        machine.env.SAYSO_TOOLS = "provide_choice";
        assert.deepEqual(await listed(await opened(machine, "2025-11-25")), ["provide_choice", "get_answer"]);
    }));
});
