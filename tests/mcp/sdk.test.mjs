// The official clients against the real program: every way an ask can go.
// Proves: R2.1 R2.2 R2.4 R2.5 R5.5 R10.1 R11.1
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inHome, until } from "./lib/home.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { GOOD, named, TOOLS, written } from "./lib/asks.mjs";

// A call, and a person who does `act` (command line) to its ask. Returns the call's result.
async function askAnd(home, sdk, args, ...act) {
    const asked = sdk.ask(args);
    const [{ session_id }] = await home.opened();
    await home.must(act[0], session_id, ...act.slice(1));
    const result = await asked;
    assert.equal(result.session_id, session_id);
    return result;
}

// A client that gives up on its call while a person thinks; the ask must stay.
async function abandoned(home, sdk, args) {
    const stop = new AbortController();
    const asked = sdk.ask(args, { signal: stop.signal });
    const [{ session_id }] = await home.opened();
    stop.abort("the user pressed Esc");
    await assert.rejects(asked);
    await until(async () => (await home.list("--active"))[0]?.detached, "the ask says that nobody waits");
    return session_id;
}

for (const kind of Object.keys(KINDS)) {
    describe(kind, { concurrency: 3 }, () => {
        test(`${kind}: connects at its revision, lists tools and prompts, gets instructions`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const { tools } = await sdk.client.listTools();
            assert.deepEqual(tools.map(({ name }) => name), TOOLS);
            assert.match(sdk.client.getInstructions(), /Silence is never consent/);
            assert.equal(sdk.client.getServerVersion().name, "sayso");
            assert.equal((await sdk.client.listPrompts()).prompts[0].name, "decision_policy");
            assert.equal((await sdk.client.getPrompt({ name: "decision_policy" })).messages.length, 1);
            const version = sdk.client.getNegotiatedProtocolVersion?.() ?? sdk.judge.negotiated;
            assert.equal(version, KINDS[kind].revision);
            await sdk.close();
            if (!KINDS[kind].isHttp)
                assert.deepEqual(home.touched(), [], "nobody was asked, so nothing was touched");
        }));

        test(`${kind}: a choice is asked, answered from the command line and returned`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools(); // from here on the client checks results against outputSchema
            const result = await askAnd(home, sdk, GOOD, "answer", "--select", "b", "--note", "not on Fridays");
            assert.equal(result.action_status, "selected");
            assert.deepEqual(result.selection.selected_ids, ["b"]);
            assert.equal(result.selection.global_annotation, "not on Fridays");
            assert.equal(result.explicit, true);
            assert.equal(result.answered_by.via, "cli");
            assert.ok(!("replayed" in result));
        }));

        test(`${kind}: text, several choices and their notes come back whole`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const text = await askAnd(home, sdk, written("Name"), "answer", "--text", "Grüße 😀\n\"x\"");
            assert.equal(text.action_status, "custom_input");
            assert.equal(text.selection.custom_input, "Grüße 😀\n\"x\"");
            const many = await askAnd(home, sdk, { ...GOOD, selection_mode: "multi" }, "answer", "--select", "b,a", "--option-note", "a=first");
            assert.deepEqual(many.selection.selected_ids, ["a", "b"]);
            assert.deepEqual(many.selection.option_annotations, { a: "first" });
        }));

        test(`${kind}: null means absent, so a call with nulls is the same as the one without`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const id = await abandoned(home, sdk, GOOD);
            await home.must("answer", id, "--select", "a");
            const nulls = { timeout_seconds: null, min_selections: null, placeholder: null, default_selection_ids: null, session_id: null };
            const options = GOOD.options.map((option) => ({ ...option, description: null, preview: null, annotation: null }));
            const again = await sdk.ask({ ...GOOD, ...nulls, options });
            assert.deepEqual([again.session_id, again.replayed, again.selection.selected_ids], [id, true, ["a"]]);
            const idle = { session_id: "", placeholder: "", min_selections: 0, max_selections: 1, default_selection_ids: [], interface: "auto" };
            const result = await askAnd(home, sdk, named("Idle", idle), "answer", "--select", "b");
            assert.deepEqual(result.selection.selected_ids, ["b"]);
        }));

        test(`${kind}: several mistakes are reported together, the first one as ever`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const { error } = await sdk.ask({ title: "T", prompt: 5, options: [{ id: "a" }], destructive: null });
            assert.deepEqual([error.code, error.path], ["bad_type", "/prompt"]);
            assert.deepEqual(error.errors.map(({ code, path }) => `${code} ${path}`), ["bad_type /prompt", "missing_property /selection_mode",
                "missing_property /options/0/label", "bad_type /destructive"]);
            assert.ok(error.message.startsWith(error.errors[0].message) && error.message.endsWith("also wrong: /selection_mode, /options/0/label, /destructive"));
            const one = await sdk.ask({ ...GOOD, destructive: null });
            assert.deepEqual([one.error.code, one.error.path, one.error.errors], ["bad_type", "/destructive", undefined]);
        }));

        test(`${kind}: cancelled, declined and withdrawn are told apart, and none is an error`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const cancelled = await askAnd(home, sdk, named("One"), "cancel", "--note", "later");
            assert.deepEqual([cancelled.action_status, cancelled.explicit, cancelled.declined], ["cancelled", true, undefined]);
            assert.match(cancelled.instructions, /stop/i);
            const declined = await askAnd(home, sdk, named("Two"), "decline");
            assert.deepEqual([declined.action_status, declined.declined], ["cancelled", true]);
            assert.deepEqual(declined.selection.selected_ids ?? [], []);
            const asked = sdk.ask(named("Three"));
            const [{ session_id }] = await home.opened();
            assert.equal((await home.sayso("withdraw", session_id)).code, 1, "another agent's ask is not theirs to withdraw");
            await home.must("answer", session_id, "--select", "a");
            assert.equal((await asked).action_status, "selected");
        }));

        test(`${kind}: no answer in time: timeout, nothing chosen, with and without defaults`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const began = Date.now();
            const result = await sdk.ask({ ...GOOD, timeout_seconds: 1, default_selection_ids: ["a"] });
            assert.ok(Date.now() - began >= 1000, "too early");
            assert.equal(result.action_status, "timeout");
            assert.equal(result.explicit, false);
            assert.deepEqual(result.selection.selected_ids ?? [], []);
            assert.match(result.instructions, /./);
            assert.deepEqual(await sdk.collect(result.session_id, 0), result);
        }));

        test(`${kind}: bad calls are results the model can read, with code and path`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const bad = [
                ["provide_choice", {}, "missing_property", "/title"],
                ["provide_choice", { ...GOOD, options: [] }, "too_few_options", "/options"],
                ["provide_choice", { ...GOOD, prompt: "too short" }, "too_short", "/prompt"],
                ["provide_choice", { ...GOOD, surprise: 1 }, "unknown_property", "/surprise"],
                ["provide_choice", { ...GOOD, session_id: "a".repeat(26) }, "conflicting_arguments", "/session_id"],
                ["provide_choice", { session_id: "short" }, "bad_format", "/session_id"],
                ["get_answer", {}, "missing_property", "/session_id"],
                ["get_answer", { session_id: "a".repeat(26), wait_seconds: 61 }, "out_of_range", "/wait_seconds"],
                ["check_decision", { paths: "many" }, "bad_type", "/paths"],
            ];
            for (const [tool, args, code, path] of bad) {
                const { isError, structuredContent, content } = await sdk.call(tool, args);
                assert.equal(isError, true, `${tool} ${JSON.stringify(args)}`);
                assert.deepEqual([structuredContent.error.code, structuredContent.error.path], [code, path]);
                assert.ok(structuredContent.error.message.length > 10);
                assert.deepEqual(JSON.parse(content[0].text), structuredContent);
            }
            await assert.rejects(sdk.call("no_such_tool", {}), /no_such_tool|not found/i);
            if (!KINDS[kind].isHttp)
                assert.deepEqual(home.touched(), [], "a bad call disturbs nobody");
            assert.equal((await sdk.collect("a".repeat(26), 0)).error.code, "not_found");
        }));

        test(`${kind}: a client cancels mid-wait: the ask stays, get_answer collects it`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const session_id = await abandoned(home, sdk, GOOD);
            assert.equal((await sdk.collect(session_id, 0)).action_status, "pending");
            await home.must("answer", session_id, "--select", "b");
            const late = await sdk.collect(session_id);
            assert.deepEqual(late.selection.selected_ids, ["b"]);
        }));

        test(`${kind}: … and provide_choice with its session_id collects it`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const session_id = await abandoned(home, sdk, GOOD);
            const collecting = sdk.ask({ session_id, wait_seconds: 50 });
            await until(async () => !(await home.list("--active"))[0]?.detached, "somebody waits again");
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await collecting).selection.selected_ids, ["b"]);
        }));

        test(`${kind}: … and the identical call gets it, marked as replayed; once, not twice`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const session_id = await abandoned(home, sdk, GOOD);
            await home.must("answer", session_id, "--select", "b");
            const again = await sdk.ask(GOOD);
            assert.equal(again.session_id, session_id);
            assert.equal(again.replayed, true);
            assert.deepEqual(again.selection.selected_ids, ["b"]);
            assert.equal((await home.list()).length, 1, "the person saw one question");
            const fresh = sdk.ask(GOOD); // delivered now, so this is a new question
            const [row] = await home.opened();
            assert.notEqual(row.session_id, session_id);
            await home.must("cancel", row.session_id);
            assert.equal((await fresh).action_status, "cancelled");
        }));

        test(`${kind}: … and the identical call before the answer joins the same ask`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const session_id = await abandoned(home, sdk, GOOD);
            const again = sdk.ask(GOOD);
            await until(async () => !(await home.list("--active"))[0]?.detached, "somebody waits again");
            await home.must("answer", session_id, "--select", "a");
            const result = await again;
            assert.deepEqual([result.session_id, result.replayed], [session_id, undefined]);
            assert.equal((await home.list()).length, 1);
        }));

        test(`${kind}: one of two identical calls is cancelled: the other goes on waiting`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const stop = new AbortController();
            const first = sdk.ask(GOOD, { signal: stop.signal });
            const [{ session_id }] = await home.opened();
            const second = sdk.ask(GOOD);
            await sleep(200);
            stop.abort("never mind");
            await assert.rejects(first);
            await sleep(300);
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await second).selection.selected_ids, ["b"]);
            assert.equal((await home.list()).length, 1);
        }));

        test(`${kind}: the hold limit comes before the answer: pending, then the answer`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const began = Date.now();
            const pending = await sdk.ask(GOOD);
            const held_ms = Date.now() - began;
            assert.ok(held_ms >= 2000 && held_ms < 45000, `held for ${held_ms} ms`); // 50 s without the setting
            assert.equal(pending.action_status, "pending");
            assert.match(pending.session_id, /^[a-z2-7]{26}$/);
            assert.match(pending.instructions, /get_answer|session_id/);
            assert.equal((await sdk.collect(pending.session_id, 60)).action_status, "pending", "waits are held no longer either");
            await home.must("answer", pending.session_id, "--select", "a");
            assert.equal((await sdk.collect(pending.session_id)).action_status, "selected");
        }, { SAYSO_HOLD_LIMITS: "{\"*\":2}", SAYSO_COME_BACK: "off" }));

        test(`${kind}: Gemini's wait_for_previous is dropped, other strangers are refused`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const result = await askAnd(home, sdk, { ...GOOD, wait_for_previous: true }, "answer", "--select", "a");
            assert.equal(result.action_status, "selected");
            const collected = await sdk.call("get_answer", { session_id: result.session_id, wait_for_previous: false });
            assert.equal(collected.isError, false);
            assert.equal((await sdk.call("check_decision", { paths: 3, wait_for_previous: true })).structuredContent.must_ask, true);
            assert.equal((await sdk.ask({ ...GOOD, wait_for_next: true })).error.code, "unknown_property");
        }));
    });
}

describe("several clients", { concurrency: 3 }, () => {
    test("two clients with colliding ids each get their own answer", inHome(async (home) => {
        const kinds = ["SDK 1.x", "SDK 2.x, auto"];
        const [one, two] = await Promise.all(kinds.map((kind) => Sdk.open(home, kind)));
        const asked = { One: one.ask(written("One")), Two: two.ask(written("Two")) };
        for (const { session_id, title } of await home.opened(2))
            await home.must("answer", session_id, "--text", `for ${title}`);
        assert.equal((await asked.One).selection.custom_input, "for One");
        assert.equal((await asked.Two).selection.custom_input, "for Two");
    }));

    test("two live clients with the same words are two questions", inHome(async (home) => {
        const [one, two] = await Promise.all([Sdk.open(home, "SDK 1.x"), Sdk.open(home, "SDK 1.x")]);
        const first = one.ask(GOOD);
        const [{ session_id }] = await home.opened(1);
        const second = two.ask(GOOD);
        const rows = await home.opened(2);
        const other = rows.find((row) => row.session_id !== session_id).session_id;
        await home.must("answer", other, "--select", "b");
        await home.must("answer", session_id, "--select", "a");
        assert.deepEqual((await first).selection.selected_ids, ["a"]);
        assert.deepEqual((await second).selection.selected_ids, ["b"]);
    }));

    test("a client that declares roots and sampling is served the same", inHome(async (home) => {
        const capabilities = { roots: { listChanged: true }, sampling: {} };
        for (const kind of Object.keys(KINDS)) {
            const sdk = await Sdk.open(home, kind, { name: `able ${kind}`, capabilities });
            const asked = sdk.ask(GOOD);
            const [{ session_id, agent }] = await home.opened();
            assert.ok(JSON.stringify(agent).includes(`able ${kind}`));
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await asked).selection.selected_ids, ["b"]);
        }
    }));
});
