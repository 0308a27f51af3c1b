// The agent's own client as a channel: official clients with real handlers, over both transports.
// Proves: R2.6 R4.2 R4.3 R4.4 R5.2 R5.3 P1
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inHome, until } from "./lib/home.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { startHub } from "./lib/web.mjs";
import { Person } from "./lib/wire.mjs";
import { GOOD, named, written } from "./lib/asks.mjs";

const READ_MS = 2000; // after which a refusal counts
const SEEN_MS = READ_MS + 300;
const accept = (content) => ({ action: "accept", content });
const isModern = (kind) => KINDS[kind].revision === "2026-07-28";

// tool, arguments, what the client's form returns, what stands in the result
const FIELDS = [
    ["provide_choice", GOOD, { choice: "b" }, { action_status: "selected" }],
    ["provide_choice", { ...GOOD, title: "Many", selection_mode: "multi" }, { choice: ["b", "a"] }, { action_status: "selected" }],
    ["provide_choice", written("Words"), { choice: "Grüße 😀" }, { action_status: "custom_input" }],
    ["provide_choice", { ...GOOD, title: "Both", selection_mode: "hybrid" }, { choice: ["a"], choice_own_words: "and b" }, { action_status: "selected" }],
    ["provide_choice", { ...GOOD, title: "Other", selection_mode: "hybrid" }, { choice_own_words: "neither" }, { action_status: "custom_input" }],
    ["elicit_choice", { message: "Which?", enum: ["x", "y"], enumNames: ["Ex", "Why"] }, { choice: "y" }, { action: "accept", choice: "y" }],
    ["elicit_input", { message: "Name?", field_name: "name", minLength: 2 }, { name: "Heron" }, { action: "accept", name: "Heron" }],
    ["elicit_input", { message: "Mail?", format: "email" }, { input: "a@example.org" }, { action: "accept", input: "a@example.org" }],
    ["elicit_confirm", { message: "Go?" }, { confirmed: true }, { action: "accept", confirmed: true }],
    ["elicit_confirm", { message: "Stop?" }, { confirmed: false }, { confirmed: false }],
    ["elicit_number", { message: "Tempo?", minimum: 40.5, maximum: 200, unit: "BPM" }, { value: 92.5 }, { action: "accept", value: 92.5 }],
    ["elicit_number", { message: "Stars?", style: "rating" }, { value: 4 }, { action: "accept", value: 4 }],
    ["elicit_form", {
        message: "Details",
        requestedSchema: {
            type: "object",
            properties: {
                name: { type: "string", maxLength: 9, default: "x" },
                tags: { type: "array", items: { type: "string", enum: ["p", "q"] }, maxItems: 2 },
                count: { type: "integer", minimum: 1 },
                loud: { type: "boolean", default: true },
            },
            required: ["name"],
        },
    }, { name: "Ada", tags: ["q"], count: 3, loud: false }, { action: "accept" }],
];

// The first ask is put to the client; `show` says what it does.
const opened = (home, kind, show, more = {}) => Sdk.open(home, kind, { show, ...more });

// The ask is open in all other places, and is answered there. `isShown`: after the client's form has been
// shown and the hub knows what came of it (others need not keep silent for it any more).
async function answeredElsewhere(home, asked, isShown = null) {
    const [{ session_id }] = await home.opened();
    await until(async () => !isShown || (isShown() && !(await home.list("--active"))[0].quiet_seconds),
        "the hub knows what came of the form");
    await home.must("answer", session_id, "--select", "b");
    const result = await asked;
    assert.equal(result.session_id, session_id);
    assert.deepEqual([result.selection.selected_ids, result.answered_by.via], [["b"], "cli"]);
}

for (const kind of Object.keys(KINDS)) {
    describe(`client: ${kind}`, { concurrency: 3 }, () => {
        test(`${kind}: every kind of field is shown and comes back`, inHome(async (home) => {
            let content;
            const sdk = await opened(home, kind, () => accept(content));
            await sdk.client.listTools();
            for (const [tool, args, returned, wanted] of FIELDS) {
                content = returned;
                const { structuredContent: result, isError } = await sdk.call(tool, args);
                assert.ok(!isError, JSON.stringify(result));
                for (const [key, value] of Object.entries(wanted))
                    assert.deepEqual(result[key], value, `${key} of ${JSON.stringify(result)}`);
                assert.equal(result.answered_by.via, "client");
                assert.equal(result.explicit, true);
            }
        }));

        test(`${kind}: a person who declines or dismisses it after reading is heard`, inHome(async (home) => {
            const actions = ["decline", "cancel", "decline"];
            const sdk = await opened(home, kind, async () => {
                const action = actions.shift();
                await sleep(SEEN_MS);
                return { action };
            });
            const declined = await sdk.ask(named("One"));
            assert.deepEqual([declined.action_status, declined.declined, declined.answered_by.via], ["cancelled", true, "client"]);
            const cancelled = await sdk.ask(named("Two"));
            assert.deepEqual([cancelled.action_status, cancelled.declined, cancelled.explicit], ["cancelled", undefined, true]);
            const { structuredContent: no } = await sdk.call("elicit_confirm", { message: "Go on?" });
            assert.deepEqual([no.action, no.confirmed], ["decline", false]);
        }));

        test(`${kind}: an unfinished form comes back once and says what is missing; then it is the draft, and the next ask is shown again`, inHome(async (home) => {
            const messages = [], contents = [];
            const sdk = await opened(home, kind, ({ message }) => {
                messages.push(message);
                return accept(contents.shift());
            });
            const form = (message) => sdk.call("elicit_form", { message, requestedSchema: { type: "object", required: ["who", "size"], properties: {
                who: { type: "string", title: "Your name" }, size: { type: "string", enum: ["s", "m"] } } } });
            contents.push({ size: "m" }, { size: "m", who: "Ada" });
            const { structuredContent: whole } = await form("Details?");
            assert.deepEqual([whole.action, whole.content], ["accept", { who: "Ada", size: "m" }]);
            assert.equal(messages.length, 2);
            assert.match(messages[1], /^Your name: [^\n]+\n\nDetails\?$/);
            contents.push({ size: "m" }, { size: "s" });
            const asked = form("Once more?");
            const [{ session_id }] = await home.opened();
            const draft = async () => JSON.parse(await home.must("show", session_id, "--json")).draft;
            await until(async () => (await draft())?.fields?.size === "s", "what was typed is kept");
            assert.equal(messages.length, 4);
            await home.must("answer", session_id, "--field", "who=Bob", "--field", "size=s");
            assert.equal((await asked).structuredContent.answered_by.via, "cli");
            contents.push({ size: "s", who: "Eve" });
            assert.equal((await form("And now?")).structuredContent.content.who, "Eve");
        }));

        test(`${kind}: answered elsewhere while the form is open: that answer, and the form is withdrawn`, inHome(async (home) => {
            let withdrawn = null;
            const answered = {};
            answered.promise = new Promise((resolve) => { answered.resolve = resolve; });
            const sdk = await opened(home, kind, async (params, extra) => {
                if (isModern(kind)) {
                    await answered.promise;
                    return accept({ choice: "a" }); // too late, whatever it is
                }
                const signal = extra.signal ?? extra.mcpReq?.signal;
                withdrawn = new Promise((resolve) => signal.addEventListener("abort", resolve));
                await withdrawn;
                throw new Error("withdrawn");
            });
            const asked = sdk.ask(GOOD);
            const [{ session_id }] = await home.opened();
            if (!isModern(kind))
                await until(() => withdrawn !== null, "the form is open");
            await home.must("answer", session_id, "--select", "b");
            answered.resolve();
            const result = await asked;
            assert.deepEqual([result.selection.selected_ids, result.answered_by.via], [["b"], "cli"]);
            assert.ok(!("replayed" in result));
            await withdrawn;
        }));

        test(`${kind}: asked back while the form is open: the agent is told, and the form is withdrawn`, inHome(async (home) => {
            let withdrawn = null, isShown, release;
            const sdk = await opened(home, kind, async (params, extra) => {
                isShown = true;
                if (isModern(kind)) {
                    await release.promise;
                    return { action: "cancel" }; // closed immediately, so it is not a person's no
                }
                const signal = extra.signal ?? extra.mcpReq?.signal;
                withdrawn = new Promise((resolve) => signal.addEventListener("abort", resolve));
                await withdrawn;
                throw new Error("withdrawn");
            });
            const askBack = async (title) => {
                isShown = false;
                release = {};
                release.promise = new Promise((resolve) => { release.resolve = resolve; });
                const began = Date.now();
                const asked = sdk.ask(named(title));
                await until(() => home.hubPid(), "a hub");
                const person = await Person.at(home);
                await until(() => isShown, "the form is open");
                const { session_id } = (await person.call("ask/watch", { limit: 100 })).asks.find((row) => row.title === title);
                await person.call("ask/back", { session_id, text: "Why now?" });
                person.close();
                release.resolve();
                const result = await asked;
                const tookMs = Date.now() - began, isOpen = (await home.list("--active")).some((row) => row.session_id === session_id);
                return { session_id, result, isTooSlow: !isOpen && tookMs >= READ_MS };
            };
            let told = await askBack("Try 0");
            for (let n = 1; isModern(kind) && told.isTooSlow; n++) { // on a busy machine it was open long enough to be read
                assert.ok(n < 10, "it is cancelled again and again");
                told = await askBack(`Try ${n}`);
            }
            const { session_id, result } = told;
            assert.deepEqual([result.action_status, result.asked_back], ["pending", "Why now?"]);
            await withdrawn;
            assert.equal((await home.list("--active"))[0].session_id, session_id, "it is open");
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await sdk.collect(session_id)).selection.selected_ids, ["b"]);
        }, { SAYSO_HOLD_LIMITS: "{\"*\":300}" })); // so it is told because it was asked, not because it was time

        // A legacy client over HTTP has lost its call with the hub: elicit_rounds.test.mjs
        if (isModern(kind) || !KINDS[kind].isHttp) {
            test(`${kind}: the hub dies while a person reads the form: the answer given then is stored and told`, inHome(async (home) => {
                const sdk = await opened(home, kind, async () => {
                    await home.killHub();
                    if (KINDS[kind].isHttp)
                        await startHub(home);
                    return accept({ choice: "b" });
                });
                const result = await sdk.ask(GOOD);
                assert.deepEqual([result.selection.selected_ids, result.answered_by.via], [["b"], "client"]);
                const [row, ...others] = await home.list();
                assert.deepEqual([row.status, others.length], ["submitted", 0]);
            }));
        }

        test(`${kind}: a refusal too quick for a person leaves the ask open, and the client's form is not used again`, inHome(async (home) => {
            let shown = 0;
            const refuse = () => {
                shown++;
                return { action: shown % 2 ? "decline" : "cancel" };
            };
            const sdk = await opened(home, kind, refuse);
            await answeredElsewhere(home, sdk.ask(named("One")), () => shown > 0);
            assert.equal(shown, 1);
            await answeredElsewhere(home, sdk.ask(named("Two")));
            assert.equal(shown, 1, "it is known that its form does not work");
            await sdk.close();
            const newer = await opened(home, kind, refuse, { version: "1.0.1" });
            await answeredElsewhere(home, newer.ask(named("Three")), () => shown > 1);
            assert.equal(shown, 2, "a new version is asked again");
        }));

        for (const [what, content] of [
            ["nothing in it", {}], ["a value outside the options", { choice: "purple" }],
            ["what was not asked", { colour: "red" }],
        ]) {
            test(`${kind}: accepted with ${what}: never stored, and the ask goes on elsewhere`, inHome(async (home) => {
                let shown = 0;
                const sdk = await opened(home, kind, () => {
                    shown++;
                    return accept(content);
                });
                await answeredElsewhere(home, sdk.ask(GOOD), () => shown === (isModern(kind) ? 2 : 1));
                assert.equal(shown, isModern(kind) ? 2 : 1, "asked again once where that is the way");
            }));
        }

        test(`${kind}: a client that says it can and fails: the ask is open all the same`, inHome(async (home) => {
            const sdk = await opened(home, kind, () => { throw new Error("no window"); });
            const asked = sdk.ask(GOOD);
            if (isModern(kind)) { // this client then fails the whole call by itself
                await assert.rejects(asked);
                const [{ session_id }] = await home.opened();
                await home.must("answer", session_id, "--select", "b");
                assert.deepEqual((await sdk.collect(session_id)).selection.selected_ids, ["b"]);
            } else {
                await answeredElsewhere(home, asked);
            }
        }));

        test(`${kind}: without another channel the client's reply stands, and never a guess`, inHome(async (home) => {
            const replies = [{ action: "decline" }, accept({ choice: "purple" }), accept({ choice: "purple" })];
            const sdk = await opened(home, kind, () => replies.shift());
            const refused = await sdk.ask(named("One"));
            assert.deepEqual([refused.action_status, refused.declined], ["cancelled", true]);
            await sdk.close();
            const other = await opened(home, kind, () => replies.shift(), { version: "2" });
            const { structuredContent, isError } = await other.call("provide_choice", named("Two"));
            assert.deepEqual([isError, structuredContent.error.code], [true, "validation_failed"]);
            const again = await other.call("provide_choice", named("Three"));
            assert.equal(again.structuredContent.error.code, "no_human_channel");
            const plain = await Sdk.open(home, kind);
            assert.equal((await plain.call("provide_choice", named("Four"))).structuredContent.error.code, "no_human_channel");
        }, { SAYSO_PORTAL: "off", SAYSO_TERMINAL: "off" }));

        test(`${kind}: destructive asks, and asks announced elsewhere, are not put to it`, inHome(async (home) => {
            let shown = 0;
            const sdk = await opened(home, kind, () => {
                shown++;
                return accept({ choice: "a" });
            });
            const destructive = sdk.ask(named("One", { destructive: true }));
            const [{ session_id }] = await home.opened();
            await home.must("decline", session_id);
            assert.equal((await destructive).declined, true);
            assert.equal(shown, 0);
            const wanted = await sdk.ask(named("Two", { interface: "client" }));
            assert.equal(wanted.selection.interface, "client");
            assert.ok(!("warnings" in wanted), JSON.stringify(wanted.warnings));
            assert.equal(shown, 1);
        }));

        test(`${kind}: two clients at the same time get their own answers`, inHome(async (home) => {
            const clients = await Promise.all(["a", "b"].map((choice) => opened(home, kind, async () => {
                await sleep(50);
                return accept({ choice });
            }, { name: `client ${choice}` })));
            const results = await Promise.all(clients.flatMap((sdk, i) => [1, 2, 3].map((n) => sdk.ask(named(`${i} ${n}`)))));
            assert.deepEqual(results.map(({ selection }) => selection.selected_ids[0]), ["a", "a", "a", "b", "b", "b"]);
        }));
    });
}
