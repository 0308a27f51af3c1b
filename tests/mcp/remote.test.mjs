// The official clients on another machine than the hub: over HTTPS, and through `sayso mcp --hub https://…`.
// Proves: R13.2 R2.1 R2.2 R5.2 R10.2 R12.1
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { existsSync } from "node:fs";
import { startFarHub, withFar } from "./lib/far.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { GOOD, named, TOOLS } from "./lib/asks.mjs";

for (const kind of Object.keys(KINDS)) {
    describe(`far: ${kind}`, { concurrency: 2 }, () => {
        test(`far: ${kind}: asks, is answered at the hub, and leaves nothing where it runs`, () => withFar(async (hub, machine) => {
            const sdk = await Sdk.open(machine, kind);
            assert.deepEqual((await sdk.client.listTools()).tools.map(({ name }) => name), TOOLS);
            for (const [i, pick] of ["a", "b"].entries()) {
                const asked = sdk.ask(named(`Question ${i}`));
                const [{ session_id }] = await hub.opened();
                await hub.must("answer", session_id, "--select", pick);
                const result = await asked;
                assert.equal(result.session_id, session_id);
                assert.deepEqual(result.selection.selected_ids, [pick]);
            }
            await sdk.close();
            assert.ok(!existsSync(machine.data), "no hub was started there");
            assert.equal((await hub.list()).length, 2);
        }));

        if (KINDS[kind].isHttp)
            return;
        test(`far: ${kind}: the hub dies and comes back while an ask waits: once asked, once answered`, () => withFar(async (hub, machine) => {
            const sdk = await Sdk.open(machine, kind);
            const asked = sdk.ask(GOOD);
            const [{ session_id }] = await hub.opened();
            for (const signal of ["SIGKILL", "SIGTERM"]) {
                await hub.killHub(signal);
                await startFarHub(hub);
            }
            assert.deepEqual((await hub.opened()).map((row) => row.session_id), [session_id]);
            await hub.must("answer", session_id, "--select", "b");
            const result = await asked;
            assert.equal(result.session_id, session_id);
            assert.deepEqual(result.selection.selected_ids, ["b"]);
            assert.equal((await hub.list()).length, 1);
            await sdk.close();
        }));

        test(`far: ${kind}: a token that is revoked is an error with its reason, not silence`, () => withFar(async (hub, machine) => {
            const sdk = await Sdk.open(machine, kind);
            const asked = sdk.call("provide_choice", GOOD);
            asked.catch(() => {});
            await hub.opened();
            const tokens = JSON.parse(await hub.must("token", "list", "--json"));
            const { id } = (tokens.tokens ?? tokens).find(({ label }) => label === "far away");
            await hub.must("token", "revoke", id);
            const said = JSON.stringify(await asked.catch((error) => error.message));
            assert.match(said, /revoked or has expired/);
            await sdk.close();
        }));
    });
}
