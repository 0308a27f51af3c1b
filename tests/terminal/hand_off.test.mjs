// The hand-off as an agent does it: a call over the official client gives a command, the command
// runs in tmux, a person answers with keys, and the agent collects by session_id.
// Proves: R6.2 R2.4 R2.5 R10.1
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN, inHome as inAnyHome, until } from "../mcp/lib/home.mjs";
import { KINDS, Sdk } from "../mcp/lib/sdk.mjs";
import { GOOD, named } from "../mcp/lib/asks.mjs";
import { realpathSync } from "node:fs";
import { READY_MS, Tmux } from "./tmux.mjs";

const inHome = (body) => inAnyHome(body, {
    SAYSO_DELIVER_AFTER: "0", // answers go out immediately
    SAYSO_HOLD_LIMITS: "{\"*\":300}",
});

async function handed(sdk, title = "Deploy") {
    const result = await sdk.ask(named(title, { interface: "terminal" }));
    assert.equal(result.action_status, "pending_terminal_launch");
    return result;
}
const COMMAND = /^\S+ attach [a-z2-7]{26} --hub unix:\/\S+ --launch [a-z2-7]{26}$/;
const codeOf = ({ terminal_command }) => terminal_command.split(" ").at(-1);
const kinds = ["SDK 1.x", "SDK 2.x", "SDK 2.x, auto", "SDK 2.x, auto, HTTP"];

describe("the hand-off", { concurrency: 4 }, () => {
    for (const kind of kinds) {
        test(`${kind}: command, keys in tmux, answer by session_id`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const tmux = new Tmux(home);
            await sdk.client.listTools(); // from here on the client checks results against outputSchema
            const result = await handed(sdk); // returns immediately: a call held for 300 s would fail by the client's own limit
            assert.match(result.terminal_command, COMMAND);
            assert.equal(result.terminal_command.split(" ")[0], realpathSync(BIN));
            assert.equal(result.selection.summary, result.terminal_command);
            assert.match(result.instructions, /terminal_command once[\s\S]*session_id[\s\S]*Do not parse/);
            tmux.line(`env -i HOME=/nowhere TERM=$TERM ${result.terminal_command}`); // it carries its hub
            await tmux.wait(/Alpha {2}recommended/);
            const pending = await sdk.ask({ session_id: result.session_id, wait_seconds: 0 });
            assert.equal(pending.action_status, "pending", "a terminal shows it now");
            await sleep(READY_MS);
            const collecting = sdk.ask({ session_id: result.session_id, wait_seconds: 30 });
            tmux.keys("2");
            const answer = await collecting;
            assert.deepEqual([answer.action_status, answer.selection.selected_ids], ["selected", ["b"]]);
            assert.equal(answer.answered_by.via, "terminal");
            await tmux.end(0);
            await sdk.close();
        }));
    }

    test("a command works once; a fresh one ends the old; by its id a person may open it as often as they like",
         inHome(async (home) => {
        const sdk = await Sdk.open(home, "SDK 1.x");
        const tmux = new Tmux(home);
        const result = await handed(sdk);
        tmux.line(result.terminal_command);
        await tmux.wait(/Alpha/);
        tmux.keys("C-c"); // the terminal is lost: the ask is pending again
        await tmux.end(5);
        assert.equal((await sdk.ask({ session_id: result.session_id, wait_seconds: 0 })).action_status, "pending");
        tmux.line(result.terminal_command);
        await tmux.end(1);
        assert.match(tmux.text().replace(/\s+/g, " "), /one-time command was already used/);
        const fresh = await sdk.ask({ session_id: result.session_id, interface: "terminal" });
        assert.equal(fresh.action_status, "pending_terminal_launch");
        assert.notEqual(codeOf(fresh), codeOf(result));
        const fresher = await sdk.ask({ session_id: result.session_id, interface: "terminal" });
        tmux.line(fresh.terminal_command);
        await tmux.end(1);
        for (let i = 0; i < 2; i++) {
            tmux.line(`${BIN} attach ${result.session_id.slice(0, 8)}`);
            await tmux.wait(/Alpha/);
            tmux.keys("C-c");
            await tmux.end(5);
        }
        tmux.line(fresher.terminal_command);
        await tmux.wait(/Alpha/);
        await sleep(READY_MS);
        tmux.keys("1");
        const answer = await sdk.ask({ session_id: result.session_id, wait_seconds: 30 });
        assert.deepEqual(answer.selection.selected_ids, ["a"]);
        const late = await sdk.ask({ session_id: result.session_id, interface: "terminal" });
        assert.equal(late.action_status, "selected", "what is decided needs no terminal");
        await sdk.close();
    }));

    test("a terminal that is closed in the middle: the ask is pending again, its command spent, a fresh one opens it",
         inHome(async (home) => {
        const sdk = await Sdk.open(home, "SDK 2.x");
        const [first, second] = [new Tmux(home, {}, "first"), new Tmux(home, {}, "second")];
        const result = await handed(sdk);
        first.line(result.terminal_command);
        await first.wait(/Alpha/);
        first.close();
        const status = async () => (await sdk.ask({ session_id: result.session_id, wait_seconds: 0 })).action_status;
        await until(async () => await status() === "pending", "it is pending");
        second.line(result.terminal_command);
        await second.end(1);
        const fresh = await sdk.ask({ session_id: result.session_id, interface: "terminal" });
        assert.equal(fresh.action_status, "pending_terminal_launch");
        second.line(fresh.terminal_command);
        await second.wait(/Alpha/);
        await sleep(READY_MS);
        second.keys("1");
        const answer = await sdk.ask({ session_id: result.session_id, wait_seconds: 30 });
        assert.deepEqual(answer.selection.selected_ids, ["a"]);
        await sdk.close();
    }));

    test("never opened: it times out by the same rules, and its command says so", inHome(async (home) => {
        const sdk = await Sdk.open(home, "SDK 2.x, auto");
        const tmux = new Tmux(home);
        const result = await sdk.ask(named("Nobody", { interface: "terminal", timeout_seconds: 1 }));
        const ended = await sdk.ask({ session_id: result.session_id, wait_seconds: 20 });
        assert.equal(ended.action_status, "timeout");
        assert.deepEqual(ended.selection.selected_ids, []);
        tmux.line(result.terminal_command);
        await tmux.end(1);
        await sdk.close();
    }));

    test("the hub dies between the command and its use: it still opens the ask", inHome(async (home) => {
        const sdk = await Sdk.open(home, "SDK 1.x");
        const tmux = new Tmux(home);
        const result = await handed(sdk);
        await home.killHub();
        tmux.line(result.terminal_command);
        await tmux.wait(/Alpha/);
        await sleep(READY_MS);
        tmux.keys("2");
        const answer = await sdk.ask({ session_id: result.session_id, wait_seconds: 30 });
        assert.deepEqual(answer.selection.selected_ids, ["b"]);
        await sdk.close();
    }));

    test("nothing of the agent's is in the command, whatever it writes", inHome(async (home) => {
        const sdk = await Sdk.open(home, "SDK 1.x");
        const evil = "$(touch /tmp/owned); `id`; \u001b]0;x\u0007";
        const result = await sdk.ask({ ...GOOD, title: evil, interface: "terminal" });
        assert.match(result.terminal_command, COMMAND);
        await sdk.close();
    }));

    test("an agent that runs its own command without a terminal gets nowhere: nothing is answered or used up", inHome(async (home) => {
            const sdk = await Sdk.open(home, "SDK 1.x");
            const result = await handed(sdk);
            const child = home.spawn(["attach", "--launch", codeOf(result)], { detached: true });
            child.stdin.on("error", (problem) => assert.equal(problem.code, "EPIPE")); // it may be gone before it reads
            child.stdin.end("1\n2\n\r\n");
            const code = await new Promise((done) => child.on("exit", done));
            assert.equal(code, 5);
            assert.equal((await sdk.ask({ session_id: result.session_id, wait_seconds: 0 })).action_status,
                         "pending_terminal_launch");
            await sdk.close();
        }));
});
