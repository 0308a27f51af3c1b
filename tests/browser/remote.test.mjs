// remote.test.mjs - the portal from another machine: over TLS, signed in by a person's token and by nothing else.
// Proves: R7.2 R12.2 R13.2
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, Stage, answerable, choice, option, until } from "./lib/stage.mjs";
import { withFar } from "../mcp/lib/far.mjs";

let stage; // for its browser
before(async () => {
    stage = await Stage.open();
});
after(() => stage.close());

test("R12.2 a browser of another machine is asked for a token, signs in with a person's, answers, and is cut off with it", () =>
    withFar(async (hub) => {
        const context = await stage.context({ ignoreHTTPSErrors: true });
        const page = await context.newPage();
        const agent = new Agent(hub);
        const asked = await agent.ask(choice({ title: "From afar", single_submit_mode: false }));
        await page.goto(`${hub.far.url}/choice/${asked.id}`);
        const field = page.getByLabel("Token", { exact: true });
        await field.waitFor();
        assert.equal(await page.locator(".cmds code").textContent(), "sayso token new --kind person");
        assert.equal(await field.getAttribute("type"), "password");

        for (const wrong of ["sayso_p_mistyped", hub.agentToken ?? "nothing of ours"]) {
            await field.fill(wrong);
            await page.getByRole("button", { name: "Sign in" }).click();
            await page.getByText("The hub rejected this token").waitFor();
        }
        const made = JSON.parse(await hub.must("token", "new", "--kind", "person", "--label", "far browser", "--json"));
        await field.fill(` ${made.token}\n`);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.locator(".conn[data-conn=on]").waitFor();
        await answerable(page);
        await option(page, "Materialized view").click();
        await page.getByRole("button", { name: /^Send/ }).first().click();
        assert.deepEqual((await asked.result).selection.selected_ids, ["view"]);
        assert.ok(!context.requests.some((url) => url.includes(made.token)), "a token in an address");

        await page.reload(); // the tab knows it, and the hub proves itself by it
        await page.locator(".conn[data-conn=on]").waitFor();
        const tokens = JSON.parse(await hub.must("token", "list", "--json"));
        await hub.must("token", "revoke", (tokens.tokens ?? tokens).find(({ label }) => label === "far browser").id);
        await page.getByLabel("Token", { exact: true }).waitFor();
        await until(() => context.complaints.length === 0, "no complaints");
        agent.leave();
        await context.close();
    }));
