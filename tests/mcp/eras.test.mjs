// Which revisions a client is offered: those whose dialog of a 2026-07-28 round can't be withdrawn get the older ones, where an
// answer given elsewhere and the deadline close it. On stdio and over HTTP alike.
// Proves: R4.2 R10.1 R8.1
import assert from "node:assert/strict";
import { test } from "node:test";
import { inHome, until } from "./lib/home.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { opened } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { openedHttp } from "./lib/web.mjs";
import { GOOD, named } from "./lib/asks.mjs";

const KEEPS_DIALOG = ["claude-code", "copilot-cli"];
const OTHERS = ["unknown", "codex-mcp-client", "claude-code-like", ""];
const WAYS = { stdio: opened, HTTP: openedHttp };
const OLDER = REVISIONS.filter((revision) => revision !== MODERN).toReversed();

const versionOf = (sdk) => sdk.client.getNegotiatedProtocolVersion?.() ?? sdk.judge.negotiated;

for (const kind of Object.keys(KINDS).filter((name) => KINDS[name].revision === MODERN)) {
    for (const name of KEEPS_DIALOG) {
        // The form as it is shown: `open` once it is, `closed` once its client was told to withdraw it.
        const shown = async (home) => {
            const form = {};
            form.open = new Promise((resolve) => { form.opened = resolve; });
            form.sdk = await Sdk.open(home, kind, { name, show: async (params, extra) => {
                const signal = extra.signal ?? extra.mcpReq?.signal;
                form.closed = new Promise((resolve) => signal.addEventListener("abort", resolve));
                form.opened();
                await form.closed;
                throw new Error("withdrawn");
            } });
            assert.equal(versionOf(form.sdk), "2025-11-25");
            return form;
        };

        test(`${kind}: ${name} falls back, and an answer given elsewhere closes its form`, inHome(async (home) => {
            const form = await shown(home);
            const asked = form.sdk.ask(GOOD);
            await form.open;
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--select", "b");
            const result = await asked;
            assert.deepEqual([result.selection.selected_ids, result.answered_by.via, "replayed" in result], [["b"], "cli", false]);
            await form.closed;
        }));

        test(`${kind}: ${name}: the deadline closes its form`, inHome(async (home) => {
            const form = await shown(home);
            const asked = form.sdk.ask({ ...GOOD, timeout_seconds: 3 });
            await form.open;
            assert.equal((await asked).action_status, "timeout");
            await form.closed;
        }));
    }
}

for (const [way, open] of Object.entries(WAYS)) {
    test(`${way}: who is not offered 2026-07-28 can't discover it, and hears what else there is`, inHome(async (home) => {
        const client = await open(home, MODERN, { name: "unknown" });
        for (const name of KEEPS_DIALOG) {
            client.name = name;
            assert.equal((await client.request("server/discover")).error.code, -32601);
            for (const method of ["tools/list", "tools/call", "subscriptions/listen", "no/such/method"]) {
                const { error } = await client.request(method, { name: "provide_choice", arguments: GOOD });
                assert.equal(error.code, -32022, method);
                assert.deepEqual(error.data, { supported: OLDER, requested: MODERN });
            }
        }
        for (const name of OTHERS) {
            client.name = name;
            assert.deepEqual((await client.request("server/discover")).result.supportedVersions, [MODERN], name);
            assert.ok((await client.request("tools/list")).result.tools.length > 0);
        }
        assert.deepEqual(await home.list(), []);
    }));

    test(`${way}: mcp_modern offers it to all, or to none; a client that speaks it already goes on`, inHome(async (home) => {
        const client = await open(home, MODERN, { name: "unknown" });
        await home.must("settings", "set", "mcp_modern", "on");
        client.name = "claude-code";
        await until(async () => (await client.request("server/discover")).result, "it is offered");
        const asked = client.startTool("provide_choice", named("All"));
        await home.must("answer", (await home.opened())[0].session_id, "--select", "b");
        assert.deepEqual((await client.collect(asked)).selection.selected_ids, ["b"]);
        await home.must("settings", "set", "mcp_modern", "off");
        client.name = "another";
        await until(async () => (await client.request("server/discover")).error?.code === -32601, "it is not offered");
        assert.equal((await client.request("tools/list")).error.code, -32022);
        client.name = "claude-code";
        assert.ok((await client.request("tools/list")).result.tools.length > 0);
    }));

    test(`${way}: an old handshake is everybody's`, inHome(async (home) => {
        for (const revision of OLDER) {
            const client = await open(home, revision, { name: "claude-code" });
            assert.ok((await client.request("tools/list")).result.tools.length > 0);
            await client.stop();
        }
    }, { SAYSO_MCP_MODERN: "off" }));
}
