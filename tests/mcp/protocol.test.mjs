// What every revision says on stdio, byte for byte: handshake, lists, errors, ids, batches.
// Proves: R2.1 R2.2 R2.5 R10.1 R10.2 R11.1 R11.2
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inHome } from "./lib/home.mjs";
import { opened, outcome, Raw } from "./lib/raw.mjs";
import { LEGACY, MODERN, REVISIONS, toolValidator } from "./lib/schema.mjs";
import { VERSION_KEY } from "./lib/judge.mjs";
import { asking, GOOD, opening, request, TOOLS, written } from "./lib/asks.mjs";

const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

describe("protocol", { concurrency: 4 }, () => {
    for (const revision of REVISIONS) {
        test(`${revision}: the opening tells tools, prompts and when to ask`, inHome(async (home) => {
            const client = new Raw(home);
            const result = await client.open(revision);
            const since = revision >= "2025-03-26" ? ["completions"] : [];
            assert.deepEqual(Object.keys(result.capabilities).sort(), [...since, "logging", "prompts", "resources", "tools"]);
            assert.deepEqual(result.capabilities.resources, { subscribe: true });
            assert.deepEqual(result.capabilities.tools, {}, "a fixed list must not promise changes");
            for (const word of ["more than two", "destructive", "configuration is missing", "provide_choice", "get_answer"])
                assert.ok(result.instructions.includes(word), word);
            assert.equal((result.serverInfo ?? result._meta["io.modelcontextprotocol/serverInfo"]).name, "sayso");
            await client.stop();
            assert.deepEqual(home.touched(), []);
        }));

        test(`${revision}: tools are listed in a fixed order, each with a schema that judges calls`, inHome(async (home) => {
            const client = await opened(home, revision);
            const { tools } = (await client.request("tools/list")).result;
            assert.deepEqual(tools.map(({ name }) => name), TOOLS);
            const again = (await client.request("tools/list")).result;
            assert.deepEqual(again.tools, tools);
            const input = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, toolValidator(inputSchema)]));
            input.provide_choice(GOOD, "a good call");
            input.provide_choice({ session_id: "a".repeat(26) }, "a collecting call");
            input.get_answer({ session_id: "a".repeat(26), wait_seconds: 0 }, "a good call");
            input.check_decision({ paths: 3 }, "a good call");
            for (const { inputSchema, outputSchema } of tools) {
                for (const schema of [inputSchema, outputSchema ?? { type: "object" }]) {
                    assert.equal(schema.type, "object");
                    assert.ok(!("anyOf" in schema) && !("oneOf" in schema) && !("allOf" in schema), "clients flatten these");
                }
            }
            const schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
            const required = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required]));
            assert.deepEqual(required, {
                provide_choice: undefined, // session_id alone is a call too
                ask_user_question: ["questions"],
                elicit_choice: ["message"], // and options or enum
                elicit_input: ["message"], elicit_confirm: ["message"], elicit_number: ["message"],
                elicit_form: ["message", "requestedSchema"],
                get_answer: ["session_id"],
                check_decision: undefined,
            });
            const defaultsOf = (name) => Object.fromEntries(Object.entries(schemas[name].properties)
                .filter(([, schema]) => "default" in schema).map(([key, schema]) => [key, schema.default]));
            assert.deepEqual(defaultsOf("provide_choice"), {}, "a client that filled them in could not collect");
            assert.deepEqual(defaultsOf("elicit_input"), { field_name: "input", type: "string" });
            assert.deepEqual(defaultsOf("elicit_confirm"), { destructive: false });
            assert.deepEqual(defaultsOf("get_answer"), {}, "it waits as long as its client does");
            const { questions } = schemas.ask_user_question.properties;
            assert.deepEqual([questions.minItems, questions.items.properties.options.minItems], [1, 2]);
            assert.equal(questions.items.properties.multiSelect.default, false);
            assert.equal(schemas.elicit_choice.properties.options.minItems, 1);
            for (const tool of tools.filter(({ annotations }) => annotations)) {
                assert.equal(tool.annotations.readOnlyHint, true);
                assert.ok(!("destructiveHint" in tool.annotations), "it means nothing beside readOnlyHint");
            }
        }));

        test(`${revision}: decision_policy is a prompt`, inHome(async (home) => {
            const client = await opened(home, revision);
            const { prompts } = (await client.request("prompts/list")).result;
            assert.deepEqual(prompts.map(({ name }) => name), ["decision_policy", "collect_answer"]);
            const { messages } = (await client.request("prompts/get", { name: "decision_policy" })).result;
            assert.match(messages[0].content.text, /more than two viable paths/);
            assert.equal((await client.request("prompts/get", { name: "nothing" })).error.code, -32602);
            assert.equal((await client.request("prompts/get", {})).error.code, -32602);
        }));

        test(`${revision}: check_decision tells when a person must decide`, inHome(async (home) => {
            const client = await opened(home, revision);
            await client.request("tools/list");
            assert.deepEqual(await client.tool("check_decision", { paths: 2 }), { must_ask: false, reasons: [] });
            const must = await client.tool("check_decision", { paths: 3, destructive: true, missing_configuration: ["region"] });
            assert.equal(must.must_ask, true);
            assert.equal(must.reasons.length, 3);
            const bad = await client.tool("check_decision", { paths: -1 });
            assert.deepEqual([bad.error.code, bad.error.path], ["out_of_range", "/paths"]);
            await client.stop();
            assert.deepEqual(home.touched(), [], "it asks nobody and needs nothing");
        }));

        test(`${revision}: what is wrong is refused with the code of its kind`, inHome(async (home) => {
            const client = await opened(home, revision);
            const code = async (method, params) => (await client.request(method, params)).error.code;
            assert.equal(await code("no/such"), -32601);
            assert.equal(await code("sampling/createMessage"), -32601);
            for (const uri of [7, null, "", "sayso://asks/x", "sayso://asks\u0000"])
                assert.ok([-32602, -32002].includes(await code("resources/read", { uri })));
            assert.equal(await code("tools/call", { name: "no_such", arguments: {} }), -32602);
            for (const name of [7, null, ["provide_choice", 1, 2], { a: 1 }, ""])
                assert.equal(await code("tools/call", { name, arguments: {} }), -32602);
            assert.equal(await code("tools/call", { name: "provide_choice", arguments: [] }), -32602);
            assert.equal(await code("tools/call", {}), -32602);
            assert.equal(await code("elicitation/create"), -32601);
            assert.equal(await code("ping\u0000x"), -32600);
            assert.equal(await code("tools/call", { name: "check_decision\u0000x", arguments: {} }), -32602);
            const first = await client.tool("provide_choice", {});
            assert.deepEqual([first.error.code, first.error.path], ["missing_property", "/title"]);
            await client.stop();
            assert.deepEqual(home.touched(), []);
        }));

        test(`${revision}: ids come back as they were, whatever their kind`, inHome(async (home) => {
            const client = await opened(home, revision);
            for (const id of [0, -1, "0", "", "a\u0000b", "\u202e\ud83d\ude00", Number.MAX_SAFE_INTEGER, "x".repeat(5000)]) {
                client.start("tools/list", undefined, id);
                assert.ok((await client.answer(id)).result.tools, JSON.stringify(id));
            }
            for (const id of [7, "7"])
                client.startTool("check_decision", { paths: id === 7 ? 3 : 1 }, undefined, id);
            for (const id of ["7", 7])
                assert.equal(outcome(await client.answer(id)).must_ask, id === 7);
        }));

        test(`${revision}: an invalid request whose id can be read is refused by its id`, inHome(async (home) => {
            const client = await opened(home, revision);
            const refused = async (message, id) => {
                client.judge.open.set(`${typeof id}:${id}`, [{ method: "ping", revision: client.judge.negotiated }]);
                client.line(JSON.stringify(message));
                return (await client.answer(id)).error.code;
            };
            assert.equal(await refused({ jsonrpc: "2.0", id: 91, method: "ping", params: [] }, 91), -32600);
            assert.equal(await refused({ jsonrpc: "1.0", id: "92", method: "ping" }, "92"), -32600);
            assert.equal(await refused({ jsonrpc: "2.0", id: 93 }, 93), -32600);
            assert.equal(await refused({ jsonrpc: "2.0", id: 94, method: 5 }, 94), -32600);
        }));

        test(`${revision}: unreadable lines are refused and the next one is served`, inHome(async (home) => {
            const client = await opened(home, revision);
            const ids = [null, 1.5].map((id) => JSON.stringify(request(id, "ping")));
            const wrong = ["{", "nonsense", "\u0000", "5", "null", "\"text\"", "{}", "[]", "[1]", ...ids,
                Buffer.from([0xff, 0xfe]), `{"a":${"[".repeat(70)}`];
            const before = client.messages.length;
            for (const line of wrong)
                client.line(line);
            assert.ok((await client.request("tools/list")).result);
            const answers = client.messages.slice(before, -1).flat();
            assert.equal(answers.length, wrong.length);
            for (const { error } of answers)
                assert.ok([-32700, -32600].includes(error.code));
        }));

        test(`${revision}: blank lines, a carriage return and stray responses are ignored`, inHome(async (home) => {
            const client = await opened(home, revision);
            const before = client.messages.length;
            const error = { code: 1, message: "x" };
            const nobodys = [{ id: 1, result: {} }, { id: 1, error }, { id: null, error }, { error },
                { method: "no/such" }, { method: "tools/call", params: {} }];
            for (const line of ["", "\r", ...nobodys.map((part) => JSON.stringify({ jsonrpc: "2.0", ...part }))])
                client.line(line);
            client.line(`${JSON.stringify({ jsonrpc: "2.0", id: "cr", method: "tools/list", params: client.envelope({}) })}\r`);
            assert.ok((await client.answer("cr")).result);
            assert.equal(client.messages.length, before + 1);
        }));
    }

    for (const revision of LEGACY) {
        test(`${revision}: ping is answered with an empty object, also before the handshake`, inHome(async (home) => {
            const client = new Raw(home);
            client.revision = revision;
            assert.deepEqual((await client.request("ping")).result, {});
            await client.open(revision);
            assert.deepEqual((await client.request("ping")).result, {});
        }));
    }

    test("batches belong to 2025-03-26: an array of answers, notifications left out", inHome(async (home) => {
        const client = await opened(home, "2025-03-26");
        const batch = async (parts) => {
            const before = client.messages.length;
            client.line(JSON.stringify(parts));
            await client.request("ping");
            return client.messages.slice(before).filter(Array.isArray);
        };
        const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
        const [both] = await batch([request("a", "ping"), notification, request("b", "tools/list")]);
        assert.deepEqual(both.map(({ id }) => id).sort(), ["a", "b"]);
        assert.deepEqual(await batch([notification]), []);
        const [mixed] = await batch([1, request("c", "ping"), {}]);
        assert.deepEqual(mixed.map(({ id, error }) => [id, error?.code]), [[null, -32600], ["c", undefined], [null, -32600]]);
        const [old] = await batch([request("d", "initialize", opening("2025-06-18")), request("e", "ping")]);
        assert.equal(old.find(({ id }) => id === "d").error.code, -32600, "initialize is never part of a batch");
        const modern = { _meta: { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} } };
        client.judge.open.set("string:f", [{ method: "tools/list", revision: "2025-03-26" }]);
        const [[refused]] = await batch([request("f", "tools/list", modern)]);
        assert.equal(refused.error.code, -32600, "2026-07-28 has no batches");
        client.judge.open.clear();
    }));

    test("a batch has a greatest size, and the line after it is served", inHome(async (home) => {
        const client = await opened(home, "2025-03-26");
        const before = client.messages.length;
        client.child.stdin.write(`[${"1,".repeat(400000)}1]\n`);
        client.judge.unreadable++;
        await client.request("ping");
        const [refused] = client.messages.slice(before);
        assert.equal(refused.error.code, -32600);
    }));

    test("a batch with an ask waits for it and is answered once, whole", inHome(async (home) => {
        const client = await opened(home, "2025-03-26");
        client.send([request("p", "ping"), asking("q", GOOD)]);
        const [{ session_id }] = await home.opened();
        await home.must("answer", session_id, "--select", "b");
        const answers = await client.next(Array.isArray);
        assert.deepEqual(answers.map(({ id }) => id).sort(), ["p", "q"]);
        assert.deepEqual(outcome(answers.find(({ id }) => id === "q")).selection.selected_ids, ["b"]);
    }));

    test("a batch that is left waiting when the client goes is no leak", inHome(async (home) => {
        const client = await opened(home, "2025-03-26");
        client.send([asking("q", GOOD)]);
        await home.opened();
        await client.stop();
    }));

    test("unknown versions are answered with the newest legacy one, in initialize", inHome(async (home) => {
        for (const asked of ["2099-01-01", MODERN, "", 7, undefined]) {
            const client = new Raw(home);
            client.revision = "2025-11-25";
            const { result } = await client.request("initialize", opening(asked));
            assert.equal(result.protocolVersion, "2025-11-25");
            await client.stop();
        }
    }));

    test("initialize without clientInfo, without params, twice: all served", inHome(async (home) => {
        const client = new Raw(home);
        client.revision = "2025-11-25";
        client.send({ jsonrpc: "2.0", id: "first", method: "initialize" });
        assert.ok((await client.answer("first")).result);
        for (const revision of ["2024-11-05", "2025-06-18"]) {
            const { result } = await client.request("initialize", { protocolVersion: revision });
            assert.equal(result.protocolVersion, revision);
        }
    }));

    test("the era is decided per message: modern and legacy on one pipe", inHome(async (home) => {
        const client = await opened(home, MODERN);
        await client.open("2024-11-05");
        assert.ok(!("outputSchema" in (await client.request("tools/list")).result.tools[0]));
        client.revision = MODERN;
        const modern = (await client.request("tools/list")).result;
        assert.ok("outputSchema" in modern.tools[0]);
        assert.equal(modern.resultType, "complete");
        client.revision = "2024-11-05";
        assert.deepEqual((await client.request("ping")).result, {});
    }));

    test("a modern claim is checked, never taken for legacy", inHome(async (home) => {
        const client = new Raw(home);
        const refused = async (method, meta) => {
            client.revision = "2025-11-25"; // so that nothing is added
            return (await client.request(method, { _meta: meta })).error;
        };
        const old = await refused("server/discover", { [VERSION_KEY]: "2025-11-25", [CAPABILITIES_KEY]: {} });
        assert.deepEqual([old.code, old.data], [-32022, { supported: [MODERN], requested: "2025-11-25" }]);
        const unknown = await refused("tools/list", { [VERSION_KEY]: "1\u0000", [CAPABILITIES_KEY]: {} });
        assert.equal(unknown.code, -32022);
        const good = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };
        const broken = [
            { [VERSION_KEY]: MODERN },
            { ...good, [VERSION_KEY]: 5 },
            { ...good, [VERSION_KEY]: null },
            { ...good, [CAPABILITIES_KEY]: [] },
            { ...good, "io.modelcontextprotocol/logLevel": "loud" },
            { ...good, "io.modelcontextprotocol/logLevel": null },
        ];
        for (const meta of broken)
            assert.equal((await refused("tools/list", meta)).code, -32602, JSON.stringify(meta));
        for (const removed of ["initialize", "ping", "logging/setLevel", "resources/subscribe"])
            assert.equal((await refused(removed, good)).code, -32601, removed);
        assert.equal((await refused("server/discover", undefined)).code, -32601, "without a claim it is legacy");
    }));

    test("subscriptions/listen has nothing to honour: acknowledged and complete, marked with its id", inHome(async (home) => {
        const client = await opened(home, MODERN);
        for (const id of [7, "seven", 0]) {
            client.start("subscriptions/listen", { notifications: { toolsListChanged: true } }, id);
            const { result } = await client.answer(id);
            const [acknowledged] = client.messages.slice(-2);
            assert.equal(acknowledged.method, "notifications/subscriptions/acknowledged");
            assert.deepEqual(acknowledged.params.notifications, {});
            for (const { _meta } of [acknowledged.params, result])
                assert.strictEqual(_meta["io.modelcontextprotocol/subscriptionId"], id);
        }
    }));

    test("lists may be cached by modern clients, results of tools not", inHome(async (home) => {
        const client = await opened(home, MODERN);
        for (const method of ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]) {
            const { result } = await client.request(method);
            assert.ok(Number.isInteger(result.ttlMs) && result.ttlMs >= 0, method);
            assert.equal(result.cacheScope, "public");
        }
        const { result } = await client.answer(client.startTool("check_decision", { paths: 1 }));
        assert.ok(!("ttlMs" in result) && !("cacheScope" in result));
    }));

    test("get_answer collects what provide_choice asked, in its shape", inHome(async (home) => {
        const client = await opened(home, "2025-06-18");
        await client.request("tools/list"); // from here on results are held against outputSchema
        const call = client.startTool("provide_choice", written("Name"));
        const [{ session_id }] = await home.opened();
        const pending = await client.tool("get_answer", { session_id, wait_seconds: 0 });
        assert.equal(pending.action_status, "pending");
        assert.match(pending.instructions, /session_id/);
        await home.must("answer", session_id, "--text", "Ada");
        const first = await client.collect(call);
        assert.equal(first.selection.custom_input, "Ada");
        assert.deepEqual(await client.tool("get_answer", { session_id }), first);
        assert.deepEqual(await client.tool("provide_choice", { session_id }), first);
        for (const id of ["a".repeat(26), session_id.replace(/./, (c) => (c === "b" ? "c" : "b"))])
            assert.equal((await client.tool("get_answer", { session_id: id })).error.code, "not_found");
        assert.equal((await client.tool("get_answer", {})).error.path, "/session_id");
    }));
});
