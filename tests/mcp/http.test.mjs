// /mcp of the hub: sessions, streams, statuses, and clients that go and come back.
// Proves: R5.5 R5.7 R10.1 R12.1 P8 B8
import assert from "node:assert/strict";
import net from "node:net";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exchange, JSON_TYPE, listen } from "./lib/exchange.mjs";
import { inHome, scaled, until } from "./lib/home.mjs";
import { outcome } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { headersFor, newToken, openedHttp, RawHttp, startHub, web } from "./lib/web.mjs";
import { Person } from "./lib/wire.mjs";
import { asking, GOOD, named, opening, request, written } from "./lib/asks.mjs";

const LEGACY = REVISIONS.filter((revision) => revision !== MODERN);
const NO_LIMITS = { SAYSO_MAX_PENDING: "100000", SAYSO_ASKS_PER_MINUTE: "10000000", SAYSO_HOLD_LIMITS: "{\"*\":300}" };
const CLAIM = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
};
const modern = (id, method, params = {}) => request(id, method, { ...params, _meta: { ...CLAIM, ...params._meta } });

const MODERN_HEADERS = { ...JSON_TYPE, "MCP-Protocol-Version": MODERN };

describe("statuses", { concurrency: 3 }, () => {
    test("modern requests are answered with the status and code of their kind", inHome(async (home) => {
        await web(home);
        const call = { ...MODERN_HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": "check_decision" };
        const listing = { ...MODERN_HEADERS, "Mcp-Method": "tools/list" };
        const checking = modern(3, "tools/call", { name: "check_decision", arguments: {} });
        const cases = [
            ["discover", { ...MODERN_HEADERS, "Mcp-Method": "server/discover" }, modern("d", "server/discover"), 200, null],
            ["no Accept", { ...listing, Accept: null }, modern(1, "tools/list"), 200, null],
            ["unknown method", { ...MODERN_HEADERS, "Mcp-Method": "ping" }, modern(1, "ping"), 404, -32601],
            ["initialize with a claim", { ...MODERN_HEADERS, "Mcp-Method": "initialize" }, modern(1, "initialize"), 404, -32601],
            ["unknown tool", { ...call, "Mcp-Name": "nobody" }, modern(1, "tools/call", { name: "nobody" }), 200, -32602],
            ["no version header", { ...listing, "MCP-Protocol-Version": null }, modern(1, "tools/list"), 400, -32020],
            ["another version header", { ...listing, "MCP-Protocol-Version": "2025-11-25" }, modern(1, "tools/list"), 400, -32020],
            ["no Mcp-Method", MODERN_HEADERS, modern(1, "tools/list"), 400, -32020],
            ["no Mcp-Name", { ...MODERN_HEADERS, "Mcp-Method": "tools/call" }, checking, 400, -32020],
            ["Mcp-Name in base64", { ...call, "Mcp-Name": `=?base64?${btoa("check_decision")}?=` }, checking, 200, null],
            ["blanks around it", { ...call, "Mcp-Name": "  check_decision  " }, checking, 200, null],
            ["no envelope", listing, request(7, "tools/list", {}), 400, -32602],
            ["half an envelope", listing, request(7, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": MODERN } }), 400, -32602],
            ["initialize without a claim", listing, request(7, "initialize", opening(MODERN)), 400, -32020],
            ["unsupported version", { ...listing, "MCP-Protocol-Version": "2099-01-01" },
                request(1, "tools/list", { _meta: { ...CLAIM, "io.modelcontextprotocol/protocolVersion": "2099-01-01" } }), 400, -32022],
            ["a notification", MODERN_HEADERS, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, 202, null],
            ["a response", MODERN_HEADERS, { jsonrpc: "2.0", id: "x", result: {} }, 400, -32600],
            ["a session id is ignored", { ...listing, "Mcp-Session-Id": "nonsense" }, modern(1, "tools/list"), 200, null],
            ["a batch", MODERN_HEADERS, [modern(1, "tools/list")], 400, -32600],
        ];
        for (const [what, headers, message, status, code] of cases) {
            const came = await exchange(home, "POST", headers, JSON.stringify(message));
            const body = came.body ? JSON.parse(came.body) : {};
            assert.deepEqual([came.status, body.error?.code ?? null], [status, code], `${what}: ${came.body}`);
            if (message.id !== undefined && !Array.isArray(message) && message.method)
                assert.equal(body.id, message.id, what);
            assert.equal(came.headers["mcp-session-id"], undefined, what);
        }
    }));

    test("what is no message is refused with its code", inHome(async (home) => {
        await web(home);
        const cases = [
            ["{bad", JSON_TYPE, 400, -32700],
            ["", JSON_TYPE, 400, -32700],
            ["[]", JSON_TYPE, 400, -32600],
            ["7", JSON_TYPE, 400, -32600],
            ["{\"id\":1}", JSON_TYPE, 400, -32600],
            [JSON.stringify([request(1, "ping"), modern(2, "tools/list")]), JSON_TYPE, 400, -32600],
            ["{}", { ...JSON_TYPE, "Content-Type": "text/plain" }, 415, null],
            ["{}", { ...JSON_TYPE, "Content-Type": null }, 415, null],
            [`"${"x".repeat(1048576)}"`, JSON_TYPE, 413, null],
            ["{}", { ...JSON_TYPE, Authorization: null }, 401, null],
            ["{}", { ...JSON_TYPE, Authorization: "Bearer sayso_a_nobody" }, 401, null],
            ["{}", { ...JSON_TYPE, Origin: "http://evil.example" }, 403, null],
        ];
        for (const [body, headers, status, code] of cases) {
            const came = await exchange(home, "POST", headers, body);
            const error = came.body.startsWith("{\"jsonrpc") ? JSON.parse(came.body).error.code : null;
            assert.deepEqual([came.status, error], [status, code], `${body.slice(0, 40)}: ${came.body}`);
        }
        for (const method of ["PUT", "PATCH", "OPTIONS"])
            assert.ok([405, 403].includes((await exchange(home, method, {})).status), method);
    }));

    for (const revision of LEGACY) {
        test(`${revision}: a session is opened, named, and ended`, inHome(async (home) => {
            const client = await openedHttp(home, revision);
            const post = (message, more = {}) =>
                exchange(home, "POST", { ...headersFor(revision, home.web.token, client.sessionId), ...more }, JSON.stringify(message));
            const codeOf = ({ status, body }) => [status, body ? JSON.parse(body).error?.code ?? null : null];
            assert.match(client.sessionId, /^[\x21-\x7e]{20,}$/);
            assert.deepEqual(codeOf(await post(request(1, "ping"))), [200, null]);
            assert.deepEqual(codeOf(await post(request(1, "nothing"))), [200, -32601]);
            assert.deepEqual(codeOf(await post({ jsonrpc: "2.0", method: "notifications/initialized" })), [202, null]);
            assert.deepEqual(codeOf(await post({ jsonrpc: "2.0", id: "srv-1", result: {} })), [202, null]);
            assert.deepEqual(codeOf(await post(request(1, "ping"), { "Mcp-Session-Id": null })), [400, -32000]);
            assert.deepEqual(codeOf(await post(request(1, "ping"), { "Mcp-Session-Id": "x" })), [404, -32001]);
            assert.deepEqual(codeOf(await post(request(1, "ping"), { "MCP-Protocol-Version": "1999-01-01" })), [400, -32000]);
            assert.deepEqual(codeOf(await post(request(1, "ping"), { Accept: "application/json" })), [406, -32000]);
            assert.deepEqual(codeOf(await post(request(1, "ping"), { Accept: null })), [406, -32000]);
            const batch = await post([request(1, "ping"), request(2, "ping")]);
            if (revision === "2025-03-26")
                assert.deepEqual(JSON.parse(batch.body).map(({ id }) => id).sort(), [1, 2]);
            else
                assert.deepEqual(codeOf(batch), [400, -32600]);
            const session = { ...headersFor(revision, home.web.token, client.sessionId), "Content-Type": null };
            assert.equal((await exchange(home, "GET", { ...session, Accept: "application/json" })).status, 406);
            assert.equal((await exchange(home, "GET", { ...session, "Mcp-Session-Id": null })).status, 400);
            assert.equal((await exchange(home, "DELETE", session)).status, 200);
            assert.equal((await exchange(home, "DELETE", session)).status, 404);
            assert.deepEqual(codeOf(await post(request(1, "ping"))), [404, -32001]);
        }));
    }

    test("2026-07-28 has neither GET nor DELETE", inHome(async (home) => {
        await web(home);
        for (const method of ["GET", "DELETE"]) {
            const came = await exchange(home, method, { "MCP-Protocol-Version": MODERN, "Accept": "text/event-stream" });
            assert.deepEqual([came.status, came.headers.allow], [405, "POST"]);
        }
    }));

    test("a session belongs to its token; a token's asks are its own", inHome(async (home) => {
        const client = await openedHttp(home, "2025-11-25");
        const stranger = await newToken(home, "somebody else");
        const theirs = headersFor("2025-11-25", stranger, client.sessionId);
        assert.equal((await exchange(home, "POST", theirs, JSON.stringify(request(1, "ping")))).status, 404);
        assert.equal((await exchange(home, "DELETE", { ...theirs, "Content-Type": null })).status, 404);
        const call = client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const other = await openedHttp(home, MODERN, { token: stranger });
        assert.equal((await other.tool("get_answer", { session_id, wait_seconds: 0 })).error.code, "not_found");
        await home.must("answer", session_id, "--select", "a");
        assert.equal((await client.collect(call)).action_status, "selected");
        const mate = await openedHttp(home, MODERN, { name: "another program, the same token" });
        assert.deepEqual((await mate.tool("get_answer", { session_id })).selection.selected_ids, ["a"]);
    }));

    test("a token that is revoked is cut off immediately, also in the middle of a call", inHome(async (home) => {
        await web(home);
        const token = await newToken(home, "short");
        const client = await openedHttp(home, "2025-11-25", { token });
        client.startTool("provide_choice", GOOD);
        await home.opened();
        const [{ id }] = JSON.parse(await home.must("token", "list", "--json")).filter(({ label }) => label === "short");
        await home.must("token", "revoke", id);
        await until(() => client.replies.at(-1).isWhole !== undefined, "its stream has ended");
        assert.equal((await exchange(home, "POST", headersFor("2025-11-25", token, client.sessionId), "{}")).status, 401);
        await until(async () => (await home.list("--active"))[0].detached, "the ask says that nobody waits");
    }));

    test("sessions in memory are bounded: the ones used least make room, and go on when their clients come", inHome(async (home) => {
        const first = await openedHttp(home, "2025-11-25");
        const busy = await openedHttp(home, "2025-11-25");
        const call = busy.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        for (let n = 0; n < 300; n++) {
            const came = await exchange(home, "POST", JSON_TYPE, JSON.stringify(request(1, "initialize", opening("2025-11-25"))));
            assert.equal(came.status, 200);
        }
        const back = await exchange(home, "POST", headersFor("2025-11-25", home.web.token, first.sessionId), JSON.stringify(request(1, "ping")));
        assert.equal(back.status, 200);
        await home.must("answer", session_id, "--select", "b");
        assert.deepEqual((await busy.collect(call)).selection.selected_ids, ["b"], "one in use stays");
    }));
});

describe("streams", { concurrency: 3 }, () => {
    for (const revision of REVISIONS) {
        test(`${revision}: what waits is a stream from the first moment, the rest one JSON`, inHome(async (home) => {
            const client = await openedHttp(home, revision);
            await client.request("tools/list");
            assert.match(client.replies.at(-1).type, /^application\/json/);
            const call = client.startTool("provide_choice", GOOD);
            const [{ session_id }] = await home.opened();
            const reply = client.replies.at(-1);
            await until(() => reply.type, "headers come before the answer");
            assert.deepEqual([reply.status, reply.type], [200, "text/event-stream"]);
            const { headers } = reply.response;
            assert.match(headers["cache-control"], /no-cache/);
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await client.collect(call)).selection.selected_ids, ["b"]);
            await until(() => reply.isWhole, "the stream ends with the response");
            const [first, second] = reply.events.filter((event) => "data" in event);
            if (revision === "2025-11-25")
                assert.deepEqual([first.data, Boolean(first.id), Boolean(second.id)], ["", true, true]);
            else
                assert.deepEqual([Boolean(first.data), Boolean(first.id), second], [true, revision !== MODERN, undefined]);
            assert.equal((first.data ? first : second).event, "message");
        }));

        test(`${revision}: two POSTs with the same id at the same time get their own answers`, inHome(async (home) => {
            const client = await openedHttp(home, revision);
            const sends = ["One", "Two"].map((title) => {
                const message = asking("same", written(title));
                message.params = client.envelope(message.params);
                return client.send(message);
            });
            for (const { session_id, title } of await home.opened(2))
                await home.must("answer", session_id, "--text", `for ${title}`);
            for (const [n, title] of ["One", "Two"].entries()) {
                const reply = await sends[n];
                const answer = JSON.parse(reply.events.find(({ data }) => data).data);
                assert.equal(outcome(answer).selection.custom_input, `for ${title}`);
            }
        }));
    }

    test("the GET stream of a session: one at a time, with an id to come back by", inHome(async (home) => {
        const client = await openedHttp(home, "2025-11-25");
        const headers = { ...headersFor("2025-11-25", home.web.token, client.sessionId) };
        delete headers["Content-Type"];
        const first = listen(home, "GET", headers);
        await until(() => first.events.some(({ id }) => id), "it is primed");
        assert.equal((await exchange(home, "GET", headers)).status, 409);
        first.reset();
        await sleep(100);
        const id = first.events.findLast((event) => event.id).id;
        const again = listen(home, "GET", { ...headers, "Last-Event-ID": id });
        await until(() => again.status, "it is served again");
        assert.equal(again.status, 200);
        assert.equal((await exchange(home, "GET", { ...headers, "Last-Event-ID": "99-1" })).status, 405);
        assert.equal((await exchange(home, "GET", { ...headers, "Last-Event-ID": "nonsense" })).status, 405);
        assert.equal((await exchange(home, "DELETE", headers)).status, 200);
        await until(() => again.isOver, "it ends with its session");
    }));

    test("a modern client that closes its stream has cancelled: the ask stays, and no call waits for it", inHome(async (home) => {
        const client = await openedHttp(home, MODERN);
        client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        await client.kill();
        await until(async () => (await home.list("--active"))[0].detached, "the ask says that nobody waits");
        await home.must("answer", session_id, "--select", "b");
        const again = await openedHttp(home, MODERN);
        const result = await again.tool("provide_choice", GOOD);
        assert.deepEqual([result.session_id, result.replayed, result.selection.selected_ids], [session_id, true, ["b"]]);
    }));

    test("a legacy call is cancelled by its notification, and its stream ends without a response", inHome(async (home) => {
        const client = await openedHttp(home, "2025-06-18");
        const call = client.startTool("provide_choice", GOOD);
        await home.opened();
        const reply = client.replies.at(-1);
        client.notify("notifications/cancelled", { requestId: call });
        await until(() => reply.isWhole, "the stream has ended");
        assert.deepEqual(reply.events.filter(({ data }) => data), []);
        await until(async () => (await home.list("--active"))[0].detached, "the ask says that nobody waits");
    }));

    for (const revision of ["2025-03-26", "2025-11-25"]) {
        test(`${revision}: a stream that broke is taken up again, and nothing is missed`, inHome(async (home) => {
            const client = await openedHttp(home, revision);
            const headers = headersFor(revision, home.web.token, client.sessionId);
            const call = asking(5, GOOD);
            call.params._meta = { progressToken: "t" };
            const first = listen(home, "POST", headers, JSON.stringify(call));
            const [{ session_id }] = await home.opened();
            await until(() => first.events.some(({ id }) => id), "there is an id to come back by", 60000);
            first.reset();
            const { id } = first.events.findLast((event) => event.id);
            await until(async () => (await home.list("--active"))[0].detached, "nobody waits meanwhile");
            const again = listen(home, "GET", { ...headers, "Last-Event-ID": id });
            await until(async () => !(await home.list("--active"))[0].detached, "and then somebody does");
            await home.must("answer", session_id, "--select", "b");
            await until(() => again.isOver, "it ends with the response");
            const answer = again.messages().find((message) => message.id === 5);
            assert.deepEqual(outcome(answer).selection.selected_ids, ["b"]);
            await sleep(300); // the hub sees that the connection was closed in order
            const fresh = client.startTool("provide_choice", GOOD); // that one was delivered
            const [row] = await home.opened();
            assert.notEqual(row.session_id, session_id);
            await home.must("cancel", row.session_id);
            assert.equal((await client.collect(fresh)).action_status, "cancelled");
        }));
    }

    test("an answer given while the client was away is there when it comes back, or by the same call", inHome(async (home) => {
        for (const isResumed of [true, false]) {
            const title = `Away ${isResumed}`;
            const client = await openedHttp(home, "2025-11-25");
            const headers = headersFor("2025-11-25", home.web.token, client.sessionId);
            const first = listen(home, "POST", headers, JSON.stringify(asking(5, named(title))));
            const [{ session_id }] = await home.opened();
            await until(() => first.events.some(({ id }) => id), "there is an id");
            first.reset();
            await until(async () => (await home.list("--active"))[0].detached, "nobody waits");
            await home.must("answer", session_id, "--select", "b");
            if (isResumed) {
                const again = listen(home, "GET", { ...headers, "Last-Event-ID": first.events.findLast(({ id }) => id).id });
                await until(() => again.isOver, "it has the answer");
                assert.deepEqual(outcome(again.messages().find(({ id }) => id === 5)).selection.selected_ids, ["b"]);
            } else {
                const elsewhere = await openedHttp(home, "2025-11-25"); // another session
                const result = await elsewhere.tool("provide_choice", named(title));
                assert.deepEqual([result.session_id, result.selection.selected_ids], [session_id, ["b"]]);
            }
            assert.equal((await home.list()).filter((row) => row.title === title).length, 1, "one question");
        }
    }));

    test("a client that died comes back as another session and joins its ask", inHome(async (home) => {
        const first = await openedHttp(home, "2025-11-25");
        first.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        await first.kill();
        await until(async () => (await home.list("--active"))[0].detached, "nobody waits");
        const second = await openedHttp(home, "2025-11-25");
        const call = second.startTool("provide_choice", GOOD);
        await until(async () => !(await home.list("--active"))[0].detached, "somebody waits again");
        await home.must("answer", session_id, "--select", "a");
        assert.equal((await second.collect(call)).session_id, session_id);
        assert.equal((await home.list()).length, 1);
    }));

    test("a hub that is stopped answers every open call with how to go on", inHome(async (home) => {
        const clients = await Promise.all(["2025-11-25", MODERN].map((revision) => openedHttp(home, revision, { name: revision })));
        const calls = clients.map((client, n) => client.startTool("provide_choice", named(`Ask ${n}`)));
        const rows = await home.opened(2);
        await home.must("stop");
        for (const [n, client] of clients.entries()) {
            const result = await client.collect(calls[n]);
            assert.equal(result.action_status, "pending");
            assert.match(result.instructions, /session_id/);
        }
        await until(() => !home.hubPid(), "it is gone");
        await startHub(home);
        for (const { session_id } of rows)
            await home.must("answer", session_id, "--select", "a");
        const again = await openedHttp(home, MODERN);
        assert.equal((await again.tool("get_answer", { session_id: rows[0].session_id })).action_status, "selected");
    }));
});

// Sends `bytes` of a request, then resets; or sends all and resets after `heard` bytes of the reply.
function cut(home, whole, sends, hears) {
    return new Promise((resolve) => {
        const socket = net.connect(home.web.port, "127.0.0.1");
        let heard = 0, text = "";
        const end = () => {
            socket.resetAndDestroy();
            resolve(text);
        };
        socket.on("error", () => resolve(text));
        socket.on("close", () => resolve(text));
        socket.on("connect", () => {
            socket.write(whole.subarray(0, sends), () => {
                if (hears === 0)
                    setImmediate(end);
            });
        });
        socket.on("data", (bytes) => {
            heard += bytes.length;
            text += bytes;
            if (hears > 0 && heard >= hears)
                end();
        });
    });
}

function wholeRequest(home, headers, message) {
    const body = JSON.stringify(message);
    const lines = Object.entries({ Host: `127.0.0.1:${home.web.port}`, ...headers, "Content-Length": Buffer.byteLength(body) });
    return Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
}

describe("cuts", { concurrency: 2 }, () => {
    for (const revision of ["2025-11-25", MODERN]) {
        // What was cut is asked again; the person saw one question, and the answer came.
        const settle = async (home, client, title) => {
            const call = client.startTool("provide_choice", written(title));
            const row = await until(async () => (await home.person.call("ask/list", { limit: 10000 })).asks.find((each) => each.title === title), "it is asked");
            if (row.status === "pending")
                await home.person.call("ask/answer", { session_id: row.session_id, custom_input: `for ${title}` }).catch(() => {});
            const result = await client.collect(call);
            assert.equal(result.selection?.custom_input, `for ${title}`, JSON.stringify(result));
            const rows = (await home.person.call("ask/list", { limit: 10000 })).asks.filter((each) => each.title === title);
            assert.equal(rows.length, 1, `${title} was asked ${rows.length} times`);
        };

        test(`${revision}: a POST cut at every byte is asked once`, inHome(async (home) => {
            const client = await openedHttp(home, revision);
            home.person = await Person.at(home);
            const make = (title) => {
                const message = asking(1, written(title));
                message.params = client.envelope(message.params);
                return wholeRequest(home, client.headers(message), message);
            };
            const length = make("Cut 1000").length;
            for (let at = 0; at <= length; at += Math.max(1, Math.floor(3 / scaled(1)))) {
                const title = `Cut ${String(at).padStart(4, "0")}`;
                await cut(home, make(title), at, 0);
                await settle(home, client, title);
            }
        }, NO_LIMITS));

        test(`${revision}: a reply cut at every byte loses nothing`, inHome(async (home) => {
            const client = await openedHttp(home, revision);
            home.person = await Person.at(home);
            const seen = await home.person.watch(({ session_id, title }) => {
                if (title.startsWith("Heard"))
                    home.person.call("ask/answer", { session_id, custom_input: `for ${title}` });
            });
            assert.ok(seen);
            let at = 1;
            for (let isWhole = false; !isWhole; at += 7) {
                const title = `Heard ${at}`;
                const message = asking(1, written(title));
                message.params = client.envelope(message.params);
                const bytes = wholeRequest(home, { ...client.headers(message), Connection: "close" }, message);
                const text = await cut(home, bytes, bytes.length, at);
                isWhole = text.endsWith("0\r\n\r\n") && text.length < at;
                if (!isWhole)
                    await settle(home, client, title);
            }
            assert.ok(at > 500, `${at} bytes`);
        }, NO_LIMITS));
    }

    for (const revision of ["2025-06-18", MODERN]) {
        test(`${revision}: kill -9 of the hub with calls waiting: the same call goes on, and each is asked once`, inHome(async (home) => {
            const titles = Array.from({ length: 8 }, (_, n) => `Ask ${n}`);
            let client = await openedHttp(home, revision);
            for (const title of titles)
                client.startTool("provide_choice", written(title));
            const ids = new Map((await home.opened(titles.length)).map(({ title, session_id }) => [title, session_id]));
            for (let round = 0; round < scaled(5); round++) {
                await home.killHub();
                await until(() => client.replies.every(({ isWhole, problem }) => problem || isWhole !== undefined), "its streams broke");
                await client.kill();
                await startHub(home);
                client = await openedHttp(home, revision);
                client.calls = titles.map((title) => client.startTool("provide_choice", written(title)));
                await until(async () => (await home.list("--active")).every(({ detached }) => !detached), "somebody waits for each");
            }
            for (const [title, session_id] of ids)
                await home.must("answer", session_id, "--text", `for ${title}`);
            for (const [n, title] of titles.entries()) {
                const result = await client.collect(client.calls[n]);
                assert.deepEqual([result.session_id, result.selection.custom_input], [ids.get(title), `for ${title}`]);
            }
            assert.equal((await home.list()).length, titles.length, "nobody was asked twice");
        }, NO_LIMITS));
    }
});

test("a client without a name, a program of another kind: RawHttp itself is judged", inHome(async (home) => {
    await web(home);
    const client = new RawHttp(home);
    client.judge.received("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    assert.throws(() => client.judge.verdict(), /a response to nobody/);
    client.judge.objections = [];
}));
