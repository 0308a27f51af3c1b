// Every call of provide_choice, ask_user_question and the elicit tools and every JSON-RPC message of the corpus on stdio
// and over HTTP, byte for byte, at each revision; and what always holds, whatever was sent.
// Proves: R2.1 R2.2 R3.1 R4.1 R10.1 R10.2 P13
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import path from "node:path";
import { Home, ROOT, SLACK } from "./lib/home.mjs";
import { opened, outcome } from "./lib/raw.mjs";
import { newToken, openedHttp } from "./lib/web.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { Person } from "./lib/wire.mjs";
import { named } from "./lib/asks.mjs";

const CORPUS = JSON.parse(readFileSync(path.join(ROOT, "tests/corpus/ask_inputs.json"), "utf8"));
// What needs a host of its own (context) is in elicit.test.mjs and questions.test.mjs.
const CASES = CORPUS.cases.filter(({ tool, context }) => /^(provide_choice|ask_user_question|jsonrpc|elicit_.*)$/.test(tool) && !context);
const OTHERS = "{OTHER_PRINCIPALS_SESSION}";
const SOON_MS = 100 * SLACK, TRY_MS = 60000; // the fastest try counts: the machine has other things to do
const ECHO_MOST = 120;
// Controls, direction, invisible and unassigned ones: never in what we say.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufdd0-\ufdef]/u;
const NO_LIMITS = { SAYSO_MAX_PENDING: "100000", SAYSO_ASKS_PER_MINUTE: "10000000" };

const optionsOf = (count, more = {}) =>
    Array.from({ length: count }, (_, i) => ({ id: `o${i}`, label: `Option ${i}`, recommended: i === 0, ...more }));

// Long inputs as about.gen describes them.
function generated(recipe) {
    if (recipe.bytes_hex)
        return Buffer.from(recipe.bytes_hex, "hex");
    if (recipe.nest)
        return Buffer.from(recipe.nest.repeat(recipe.times));
    const value = structuredClone(recipe.base);
    if (recipe.options_count)
        value.options = optionsOf(recipe.options_count);
    for (let i = 0; i < (recipe.extra_keys ?? 0); i++)
        value[`k${i}`] = i;
    if (recipe.set) {
        const parents = recipe.set.slice(1).split("/"), last = parents.pop();
        parents.reduce((place, key) => place[key], value)[last] = recipe.repeat.repeat(recipe.times);
    }
    return Buffer.from(JSON.stringify(value));
}

function argumentsOf(corpusCase) {
    if (corpusCase.gen)
        return generated(corpusCase.gen);
    return Buffer.from(corpusCase.raw ?? JSON.stringify(corpusCase.arguments));
}

// The line as a client of that revision would send it; what the case gives stays byte for byte.
function lineOf(corpusCase, client, id, others) {
    const meta = client.revision === MODERN ? `"_meta":${JSON.stringify(client.envelope()._meta)}` : "";
    if (corpusCase.raw_message)
        return Buffer.from(meta ? corpusCase.raw_message.replace("\"params\":{", `"params":{${meta},`) : corpusCase.raw_message);
    const given = argumentsOf(corpusCase).toString("latin1").replace(OTHERS, others ?? OTHERS);
    const params = `${meta}${meta && ","}"name":"${corpusCase.tool ?? "provide_choice"}","arguments":${given}`;
    return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${params}}}`, "latin1");
}

// What came back as a row of the corpus would say it.
function outcomeOf(message) {
    if (Array.isArray(message))
        return { layer: "batch", results: message.filter(({ result }) => result).length };
    if (message.refused)
        return { layer: "http", status: message.refused };
    if (message.error)
        return { layer: "jsonrpc", code: message.error.code };
    const result = outcome(message);
    return message.result.isError ? { layer: "tool", code: result.error.code, path: result.error.path } : { layer: "ok" };
}

const wantedOf = ({ expect }) => expect.any_of ?? [expect];

function isAllowed(corpusCase, revision, seen) {
    if (corpusCase.except?.[revision])
        return seen.layer === "batch" && seen.results === 2;
    return wantedOf(corpusCase).some(({ layer, code, status, path: place }) =>
        layer === seen.layer && code === seen.code && status === seen.status && (layer !== "tool" || place === seen.path));
}

function longestEcho(said, given) {
    let length = 0;
    for (let start = 0; start < said.length; start++) {
        while (length <= ECHO_MOST && start + length < said.length && given.includes(said.slice(start, start + length + 1)))
            length++;
    }
    return length;
}

// Words that neither act nor repeat too much.
function demandCleanWords(message, line) {
    const error = message.error ?? (message.result?.isError ? outcome(message).error : null);
    if (!error)
        return;
    const words = `${error.path ?? ""} ${error.message}`;
    assert.ok(error.message.length > 0 && !HIDDEN.test(words), JSON.stringify(words));
    let given = line.toString("utf8");
    try {
        given += JSON.stringify(JSON.parse(given)); // also as it reads when unescaped
    } catch {
        // not readable: as it was sent
    }
    assert.ok(longestEcho(words, given) <= ECHO_MOST, words);
}

let lastId = 1000;

async function answerTo(client, line) {
    const count = client.messages.length;
    client.line(line);
    await client.next((message) => client.messages.indexOf(message) >= count);
    assert.equal(client.messages.length, count + 1, "one answer to one message");
    return client.messages.at(-1);
}

async function isSoon(client, corpusCase) {
    for (const end = performance.now() + TRY_MS; performance.now() < end;) {
        const line = lineOf(corpusCase, client, ++lastId);
        const began = performance.now();
        await answerTo(client, line);
        if (performance.now() - began < SOON_MS)
            return true;
    }
    return false;
}

const TRANSPORTS = { stdio: opened, HTTP: openedHttp };
const PAIRS = REVISIONS.flatMap((revision) => Object.keys(TRANSPORTS).map((transport) => [revision, transport]));

for (const [revision, transport] of PAIRS) {
    const open = TRANSPORTS[transport], isHttp = transport === "HTTP";
    describe(`corpus at ${revision}, ${transport}`, () => {
        let cold, coldClient; // no person was ever asked there
        let warm, warmClient, person, others; // a hub runs, and a person answers whatever is asked
        let asked = 0;

        before(async () => {
            cold = await Home.made();
            coldClient = await open(cold, revision);
            warm = await Home.made(NO_LIMITS);
            warmClient = await open(warm, revision);
            coldClient.nextId = warmClient.nextId = 500; // messages of the corpus have ids of their own
            const settings = { name: "somebody else" };
            if (isHttp)
                settings.token = await newToken(warm, "somebody else");
            const stranger = await open(warm, revision, settings);
            stranger.startTool("provide_choice", named("Theirs"));
            [{ session_id: others }] = await warm.opened();
            asked++;
            person = await Person.at(warm);
            await person.watch(({ session_id, title }) => {
                if (title !== "Theirs")
                    person.call("ask/answer", { session_id, selected_ids: ["a"] });
            });
        });
        after(async () => {
            const ends = await Promise.allSettled([cold?.stop(), warm?.stop()]);
            for (const { reason } of ends.filter(({ status }) => status === "rejected"))
                throw reason;
        });

        for (const corpusCase of CASES) {
            const wanted = wantedOf(corpusCase).map(({ layer, code }) => `${layer} ${code ?? ""}`.trim()).join(" or ");
            test(`${revision} ${transport} ${corpusCase.id}: ${corpusCase.except?.[revision] ?? wanted}`, async () => {
                const isGood = corpusCase.expect.layer === "ok";
                if (!isGood && corpusCase.expect.code !== "not_found") {
                    const line = lineOf(corpusCase, coldClient, ++lastId);
                    const message = await answerTo(coldClient, line);
                    assert.ok(isAllowed(corpusCase, revision, outcomeOf(message)), JSON.stringify(message).slice(0, 600));
                    demandCleanWords(message, line);
                    assert.ok(await isSoon(coldClient, corpusCase), `over ${SOON_MS} ms`);
                    assert.deepEqual(isHttp ? await cold.list() : cold.touched(), [], "a bad call disturbs nobody");
                }
                const line = lineOf(corpusCase, warmClient, ++lastId, others);
                const message = await answerTo(warmClient, line);
                const seen = outcomeOf(message);
                assert.ok(isAllowed(corpusCase, revision, seen), JSON.stringify(message).slice(0, 600));
                demandCleanWords(message, line);
                if (isGood)
                    assert.deepEqual(outcome(message).warnings, [corpusCase.expect.warning]);
                asked += isGood ? 1 : 0;
                const good = await warmClient.tool("provide_choice", named(`after ${corpusCase.id}`));
                assert.equal(good.action_status, "selected", "the next good call works");
                asked++;
                assert.equal((await person.call("ask/list", { limit: 10000 })).asks.length, asked, "no row but those of good calls");
            });
        }

        test(`${revision} ${transport}: an id that is another's and one that never was are refused in the same words`, async () => {
            const look = (session_id) => warmClient.tool("get_answer", { session_id, wait_seconds: 0 });
            const theirs = await look(others), nobodys = await look("a".repeat(26));
            assert.equal(theirs.error.code, "not_found");
            assert.deepEqual(theirs, nobodys);
        });

        test(`${revision} ${transport}: a line of 1 MiB is read, one byte more is refused, and the next one is served`, async () => {
            const padded = (size) => {
                const line = lineOf({ arguments: { ...named("Long"), surprise: "" } }, coldClient, 77);
                const at = line.indexOf("\"surprise\":\"") + 12;
                return Buffer.concat([line.subarray(0, at), Buffer.alloc(size - line.length, 120), line.subarray(at)]);
            };
            assert.equal(outcomeOf(await answerTo(coldClient, padded(1048576))).code, "unknown_property");
            for (const size of [1048577, 3000000]) {
                if (isHttp)
                    assert.equal((await coldClient.post(padded(size), null)).status ?? 413, 413); // or cut off
                else
                    assert.equal(outcomeOf(await answerTo(coldClient, padded(size))).code, -32600);
            }
            assert.deepEqual(await coldClient.tool("check_decision", { paths: 1 }), { must_ask: false, reasons: [] });
        });

        test(`${revision} ${transport}: an ask as long as a line may be is asked or refused, never left hanging`, async () => {
            const filled = (size) => {
                const options = optionsOf(20, { preview: "" });
                options[0].id = "a"; // what our person takes
                const line = lineOf({ arguments: { ...named("Huge"), options } }, warmClient, ++lastId).toString();
                const share = Math.floor((size - line.length) / 20);
                let left = size - line.length;
                return Buffer.from(line.replaceAll("\"preview\":\"\"", () => {
                    const some = Math.min(left, share + 19);
                    left -= some;
                    return `"preview":"${"x".repeat(some)}"`;
                }));
            };
            for (const size of [1000000, 1048500, 1048575, 1048576]) {
                const line = filled(size);
                assert.equal(line.length, size);
                const seen = outcomeOf(await answerTo(warmClient, line));
                assert.ok(seen.layer === "ok" || seen.code === "too_long", JSON.stringify(seen));
            }
        });
    });
}

test("the corpus holds what these tests know how to run", () => {
    assert.ok(CASES.length > 45 && new Set(CASES.map(({ id }) => id)).size === CASES.length);
    const known = new Set(["id", "tool", "arguments", "raw", "raw_message", "gen", "expect", "except", "why"]);
    const recipes = new Set(["base", "set", "repeat", "times", "options_count", "nest", "extra_keys", "bytes_hex"]);
    for (const corpusCase of CASES) {
        assert.ok(Object.keys(corpusCase).every((key) => known.has(key)), corpusCase.id);
        assert.ok(Object.keys(corpusCase.gen ?? {}).every((key) => recipes.has(key)), corpusCase.id);
    }
});
