// terminal.test.mjs - one ask, two places: from the terminal to the browser with what was written,
// and back again.
// Proves: R6.1 R6.3 R5.9
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN } from "../mcp/lib/home.mjs";
import { READY_MS, Tmux } from "../terminal/tmux.mjs";
import { Stage, answerable, choice, option, sendNow, until } from "./lib/stage.mjs";

let stage;
let agent;
let tmux;
let opened; // where what stands for the person's browser writes the address it was given
before(async () => {
    stage = await Stage.open();
    agent = stage.agent();
    opened = `${stage.home.path}/opened`;
    writeFileSync(`${stage.home.path}/browser`, `#!/bin/sh\nprintf %s "$1" > ${opened}.new; mv ${opened}.new ${opened}\n`);
    chmodSync(`${stage.home.path}/browser`, 0o755);
    tmux = new Tmux(stage.home, { BROWSER: `${stage.home.path}/browser` });
});
after(() => stage.close());

const note = (page) => page.getByLabel("Note for the agent");
const checked = (page) => page.locator(".opt input:checked").evaluateAll((boxes) => boxes.map((box) => box.value));

// The page that the person's browser was told to open.
async function followed() {
    const link = await until(() => existsSync(opened) && readFileSync(opened, "utf8"), "a browser was started");
    rmSync(opened);
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/choice\/[a-z2-7]{26}#code=\S+$/);
    const page = await (await stage.context()).newPage();
    await page.goto(link);
    await page.locator("h1").waitFor();
    await answerable(page);
    return page;
}

test("R6.1 R5.9 w takes ticks and a note to the browser; what is changed there is in the terminal again", async () => {
    const asked = await agent.ask(choice({ title: "There and back", selection_mode: "multi", min_selections: 1 }));
    tmux.line(`${BIN} attach ${asked.id}`);
    await tmux.wait(/There and back/);
    await sleep(READY_MS);
    tmux.keys("Space", "n");
    tmux.run("send-keys", "-l", "half a tho");
    await tmux.wait(/half a tho/);
    await sleep(READY_MS);
    tmux.keys("Enter", "w"); // right after typing: the next draft is not waited for
    await tmux.end(5);
    const left = tmux.text();
    assert.match(left, /browser: http:\/\/127\.0\.0\.1:\d+\/choice\//);
    assert.doesNotMatch(left, /code=|Left without|There and back/);

    const page = await followed();
    assert.deepEqual(await checked(page), ["redis"]);
    assert.equal(await note(page).inputValue(), "half a tho");
    await option(page, "Leave it").click();
    await note(page).fill("half a thought, now whole");

    await until(async () => /now whole/.test(await stage.home.must("show", asked.id, "--json")), "it is kept");
    tmux.line(`${BIN} attach ${asked.id}`);
    await tmux.wait(/now whole/);
    assert.match(tmux.text(), /\[✓\] 1[\s\S]*\[ \] 2[\s\S]*\[✓\] 3/);
    await note(page).fill("and changed while both look"); // the terminal follows while it gets no input of its own
    await tmux.wait(/while both look/);
    await sleep(READY_MS);
    tmux.keys("C-d");
    await tmux.wait(/Saved/);
    tmux.keys("Enter");
    await tmux.end(0);
    const { selection } = await asked.result;
    assert.deepEqual(selection.selected_ids, ["redis", "none"]);
    assert.equal(selection.global_annotation, "and changed while both look");
    await page.context().close();
});

test("R6.3 sayso ask goes on in the browser and waits: its output is the answer given there", async () => {
    const out = `${stage.home.path}/answer`;
    tmux.line(`${BIN} ask 'Which region?' -p 'Two are ready and one has to be the first.' -o eu=Europe -o us=America -r eu > ${out}`);
    await tmux.wait(/Europe {2}recommended/);
    await sleep(READY_MS);
    tmux.keys("w");
    const page = await followed();
    assert.doesNotMatch(tmux.text(), /end=\d/, "it waits for the answer");
    await option(page, "America").click();
    await sendNow(page);
    await tmux.end(0);
    assert.equal(readFileSync(out, "utf8"), "us\n");
    await page.context().close();
});

test("R6.3 w in an inbox leaves the inbox open", async () => {
    const asked = await agent.ask(choice({ title: "From the inbox" }));
    tmux.line(`${BIN} inbox`);
    await tmux.wait(/From the inbox/);
    tmux.keys("Enter");
    await tmux.wait(/1-3 pick/);
    await sleep(READY_MS);
    tmux.keys("w");
    await tmux.wait(/1 pending[\s\S]*browser:\s+http/);
    const page = await followed();
    await option(page, "Redis").click();
    await sendNow(page);
    await tmux.wait(/0 pending/);
    assert.deepEqual((await asked.result).selection.selected_ids, ["redis"]);
    tmux.keys("q");
    await tmux.end(0);
    await page.context().close();
});
