// pages.test.mjs - signing in, list and filters, history, every setting, statistics, devices, languages, phones.
// Proves: R7.3 R7.4 R7.5 R7.8 R8.1 R8.2 R9.2 R12.2
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, answerable, choice, option, sendNow, until } from "./lib/stage.mjs";

let stage;
let agent;
let context;
before(async () => {
    stage = await Stage.open();
    agent = stage.agent();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const setting = async (name) => {
    const rows = JSON.parse(await stage.home.must("settings", "list", "--json"));
    return (rows.settings ?? rows).find((row) => row.name === name).value;
};

test("R12.2 a browser without a link is told how; a deep link survives signing in; the code leaves the address", async () => {
    const asked = await agent.ask(choice({ title: "Deep" }));
    const fresh = await stage.context();
    const page = await fresh.newPage();
    await page.goto(`${stage.origin}/choice/${asked.id}`);
    await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    assert.match(await page.locator(".cmds code").textContent(), new RegExp(`^sayso open ${asked.id.slice(0, 8)}`));
    const link = await stage.link(asked.id);
    await page.goto(link);
    await page.getByRole("heading", { name: "Deep" }).waitFor();
    assert.equal(page.url(), `${stage.origin}/choice/${asked.id}`);
    await page.reload();
    await page.getByRole("heading", { name: "Deep" }).waitFor();
    assert.deepEqual(await fresh.cookies(), []);
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    const second = await fresh.newPage(); // a link works once, and a tab has its own token
    await second.goto(link);
    await second.getByText("already used or has expired").waitFor();
    await fresh.close();
    await stage.home.must("cancel", asked.id);
});

test("R7.7 the page weighs at most 60 KB compressed, all that its first load takes", async () => {
    const sizeOf = async (address) => {
        const reply = await fetch(stage.origin + address, { headers: { "accept-encoding": "gzip" } });
        return { text: await reply.text(), bytes: Number(reply.headers.get("content-length")), packed: reply.headers.get("content-encoding") };
    };
    const document = await sizeOf("/");
    const parts = [...document.text.matchAll(/(?:href|src)="(\/static\/[^"]+)"/g)].map((found) => found[1]);
    assert.ok(parts.length >= 3);
    let all = document.bytes;
    for (const part of parts)
        all += (await sizeOf(part)).bytes;
    assert.ok(all > 10000 && all <= 60 * 1024, `${all} bytes`);
    console.log(`# counted: ${all} bytes compressed`);
});

test("R7.3 list, filter without reload, back button", async () => {
    const asked = await agent.ask(choice({ title: "In the list" }));
    const page = await stage.page("", context);
    await page.getByRole("heading", { name: "1 agent is waiting for you" }).waitFor();
    const row = page.locator(".row", { hasText: "In the list" });
    assert.match(await row.textContent(), /“claude-code”.*shop-api.*waiting/);
    await page.evaluate(() => { window.same = true; });
    await page.locator(".side-seg label", { hasText: "Completed" }).click();
    await page.locator(".row", { hasText: "Deep" }).waitFor();
    assert.equal(await row.count() && await row.isVisible(), false);
    await page.locator(".side-seg label", { hasText: "Active" }).click();
    await row.click();
    await page.locator(".ask").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: /waiting for you/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".ask").waitFor();
    assert.equal(await page.evaluate(() => window.same), true, "nothing was loaded again");
    await stage.home.must("answer", asked.id, "--select", "redis", "--note", "the last word");
    await page.locator(".row.fin", { hasText: "In the list" }).getByText("command line").waitFor();
    await page.close();
});

test("R7.3 R5.5 agents that wait are counted, not those that stopped waiting", async () => {
    const leaving = [stage.agent("leaving"), stage.agent("leaving", "/elsewhere")];
    const asked = [await leaving[0].ask(choice({ title: "Stays open" })), await leaving[1].ask(choice({ title: "Stays, too" }))];
    const page = await stage.page("", context);
    await page.getByRole("heading", { name: "2 agents are waiting for you" }).waitFor();
    leaving[0].leave();
    await page.getByRole("heading", { name: "1 agent is waiting for you" }).waitFor();
    leaving[1].leave();
    await page.getByRole("heading", { name: "2 asks are pending" }).waitFor();
    for (const { id } of asked)
        await stage.home.must("answer", id, "redis");
    await page.getByRole("heading", { name: "No agents are waiting for you" }).waitFor();
    await page.close();
});

test("R9.2 history: search in question, answer and note, filters, deep link", async () => {
    await agent.ask(choice({ title: "Another one" })).then((asked) => stage.home.must("cancel", asked.id, "--note", "no need"));
    const page = await stage.page("/history", context);
    await page.locator(".hist tbody tr").first().waitFor();
    const titles = () => page.locator(".hist tbody .h-main a").allTextContents();
    assert.ok((await titles()).length >= 3);
    await page.getByRole("searchbox").fill("LAST WORD");
    await until(async () => (await titles()).join() === "In the list", "found by its note");
    assert.match(await page.locator(".hist tbody tr").textContent(), /Redis, write-through.*answered.*command line/s);
    assert.match(page.url(), /search=LAST/);
    await page.getByRole("searchbox").fill("");
    await page.getByLabel("Status").selectOption("cancelled");
    await until(async () => (await titles()).length === 2, "two were cancelled");
    await page.getByLabel("Status").selectOption("all");
    await page.getByLabel("Channel").selectOption("terminal");
    await page.getByText("No matches.").waitFor();
    await page.goto(`${stage.origin}/history?search=no%20need`);
    await until(async () => (await titles()).join() === "Another one", "the address says what to look for");
    await page.locator(".hist tbody a").click();
    await page.getByRole("heading", { name: "Cancelled" }).waitFor();
    await page.close();
});

test("R8.2 R7.3 times: today the time alone, then yesterday, then the day; also where an ask says how it ended", async () => {
    const asked = await agent.ask(choice({ title: "Of another day" }));
    await stage.home.must("cancel", asked.id);
    const own = await stage.context(); // its clock is changed
    const page = await stage.page("/history", own);
    const row = page.locator(".hist tbody tr", { hasText: "Of another day" });
    const later = async (days, wanted, ended) => {
        const at = new Date();
        at.setDate(at.getDate() + days);
        await page.clock.setFixedTime(at);
        await page.goto(`${stage.origin}/history`);
        await until(async () => wanted.test(await row.locator(".h-when").textContent()), `after ${days} days: ${wanted}`);
        await row.locator("a").click();
        await page.getByRole("heading", { name: "Cancelled" }).waitFor();
        assert.match(await page.locator("#main").textContent(), ended);
    };
    await later(0, /^\d\d:\d\d$/, /\b\d\d:\d\d:\d\d\b/);
    await later(1, /^yesterday \d\d:\d\d$/, /[A-Z][a-z]{2} \d+, \d\d:\d\d\b/);
    await later(3, /^[A-Z][a-z]{2} \d+, \d\d:\d\d$/, /[A-Z][a-z]{2} \d+, \d\d:\d\d\b/);
    await own.close();
});

test("R7.4 R8.1 every setting of the person's is changed in the page and saved for all channels", async () => {
    const page = await stage.page("/settings", context);
    const changes = {
        interface: ["select", "web"], timeout_seconds: ["fill", "600"], single_submit: ["select", "batch"],
        notes: ["switch", false], note_focus: ["switch", true], placeholder: ["switch", false], show_hidden: ["switch", true],
        settings_first: ["switch", true], typing_hold: ["switch", false], deliver_after: ["fill", "9"],
        timeout_action: ["select", "submit_defaults"], cli_answers: ["select", "tty"], notifications: ["switch", false],
        sound: ["switch", true], do_not_disturb: ["switch", true], quiet_hours: ["fill", "22:00-07:00"],
        navigation_hints: ["switch", false], single_keys: ["switch", false],
    };
    for (const [name, [how, value]] of Object.entries(changes)) {
        const control = page.locator(`#set-${name}`);
        if (how === "select")
            await control.selectOption(value);
        else if (how === "switch")
            await control.setChecked(value);
        else
            await control.fill(value).then(() => control.blur());
        const wanted = how === "switch" ? value : how === "fill" && /^\d+$/.test(value) ? Number(value) : value;
        await until(async () => {
            const now = await setting(name);
            return now === wanted || now === (wanted === true ? "on" : wanted === false ? "off" : String(wanted));
        }, `${name} is ${value}`);
    }
    await page.getByText("Saved and applied everywhere").waitFor();
    await page.locator("#set-timeout_seconds").fill("0");
    await page.locator("#set-timeout_seconds").blur();
    await page.locator(".saved.wrong").waitFor();
    await page.locator(".seg label", { hasText: "Dark" }).click();
    await until(() => page.evaluate(() => document.documentElement.dataset.theme === "dark"), "dark");
    await page.locator("#set-language").selectOption("zh");
    await page.getByRole("heading", { name: "设置" }).waitFor();
    await page.getByRole("button", { name: "恢复默认值" }).click();
    await until(async () => await setting("language") === "en" || await setting("language") === "auto", "back to the defaults");
    await until(async () => String(await setting("timeout_seconds")) === "300", "all of them");
    await page.close();
});

test("R8.2 R7.4 language switches in the middle of a question and keeps what was typed; the panel is docked", async () => {
    const asked = await agent.ask(choice({ title: "Sprache", single_submit_mode: false }));
    const page = await stage.open(asked, context);
    await page.getByLabel("Note for the agent").fill("stays here");
    await page.locator(".strip button", { hasText: "Language" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "set-language");
    await page.locator("#set-language").selectOption("zh");
    await page.getByLabel("给智能体的备注").waitFor();
    assert.equal(await page.getByLabel("给智能体的备注").inputValue(), "stays here");
    assert.equal(await page.locator("html").getAttribute("lang"), "zh-CN");
    assert.match(await page.locator(".side").textContent(), /收件箱.*历史/s);
    await page.locator("#set-language").selectOption("en");
    await page.getByLabel("Note for the agent").waitFor();
    await page.locator("#set-left").selectOption("1800");
    await until(async () => /^3\d:|^4\d:/.test(await page.locator(".left").textContent()), "half an hour more");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await stage.home.must("settings", "set", "notes", "off");
    await page.getByLabel("Note for the agent").waitFor({ state: "detached" });
    await stage.home.must("settings", "set", "settings_first", "on");
    await page.getByRole("button", { name: "Continue to the question" }).click();
    await page.locator(".ask").waitFor();
    await stage.home.must("settings", "set", "settings_first", "off");
    await stage.home.must("settings", "set", "notes", "on");
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R6.4 R7.4 the panel switches this ask to terminal or web; the strip shows what is in force for it", async () => {
    const asked = await agent.ask(choice({ title: "Elsewhere", timeout_seconds: 600 }));
    const page = await stage.open(asked, context);
    const strip = (name) => page.locator(`[data-key=strip-${name}] b`).textContent();
    assert.deepEqual([await strip("interface"), await strip("timeout_seconds")], ["auto", "10 min"]);
    await stage.home.must("extend", asked.id, "1800");
    await until(async () => await strip("timeout_seconds") === "30 min", "its own time, as it was set");
    await page.locator(".strip-go").click();
    await page.getByLabel("Interface of this ask").selectOption("terminal");
    await page.locator("aside.panel").getByText(`sayso attach ${asked.id.slice(0, 8)}`).waitFor();
    await until(async () => await strip("interface") === "terminal", "the strip has it");
    await page.locator(`.row[href$="${asked.id}"] .badge`, { hasText: "terminal" }).waitFor();
    await page.getByLabel("Interface of this ask").selectOption("web");
    await until(async () => await strip("interface") === "web", "and back");
    await page.locator("[data-key=close-settings]").click();
    await stage.home.must("extend", asked.id, "1");
    assert.equal((await asked.result).action_status, "timeout");
    await page.locator(".side-seg label", { hasText: "Completed" }).click();
    await until(async () => /web/.test(await page.locator(`.row[href$="${asked.id}"] .badge`).textContent()), "timed out: where it was announced");
    await page.close();
});

test("R7.3 the empty page: commands are copied by a button and broken between words only", async () => {
    const page = await stage.page("/", context);
    await page.getByRole("heading", { name: "No agents are waiting for you" }).waitFor();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy sayso inbox" }).click();
    await page.getByText("Copied").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "sayso inbox");
    for (const width of [1280, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const [words, broken, isWide] = await page.evaluate(() => {
            const all = [...document.querySelectorAll(".cmd .word")];
            return [all.length, all.filter((word) => word.getClientRects().length !== 1).length,
                document.documentElement.scrollWidth > innerWidth];
        });
        assert.ok(words > 10);
        assert.deepEqual([broken, isWide], [0, false], `at ${width}`);
    }
    await page.close();
});

test("R7.8 statistics as SVG, with the figures as a table", async () => {
    const page = await stage.page("/statistics", context);
    await page.locator(".plot").waitFor();
    assert.match(await page.locator(".plot").getAttribute("aria-label"), /^Time to answer\. < 5 s: \d/);
    assert.match(await page.locator(".kpis").textContent(), /Asks\s*\d+.*Followed recommendation.*Pending now/s);
    await page.getByText("View as a table").click();
    assert.match(await page.locator(".data table").textContent(), /“claude-code”/);
    await page.locator(".seg label", { hasText: "7 days" }).click();
    await page.close();
});

test("R12.1 R8.1 a setting of the hub's machine is shown, can't be changed here, and the command is beside it", async () => {
    const page = await stage.page("/settings", context);
    for (const name of ["retention_days", "max_sessions", "list_count"]) {
        const control = page.locator(`#set-${name}`);
        await control.waitFor();
        assert.equal(await control.isDisabled(), true, name);
        await page.locator("label", { hasText: `Change on the hub’s machine: sayso settings set ${name}` }).waitFor();
    }
    await page.locator("#set-language").selectOption("zh");
    await page.getByText("在后台服务所在的机器上设置： sayso settings set retention_days").waitFor();
    await page.locator("#set-language").selectOption("en");
    await page.close();
});

test("R12.2 R12.1 devices: this tab, other tabs, agents' tokens with the command that revokes each; signing out", async () => {
    const own = await stage.context();
    const page = await stage.page("/devices", own);
    await page.getByText("this tab").waitFor();
    await page.getByText("Create a token on the hub’s machine: sayso token new").waitFor();
    await stage.home.must("token", "new", "--label", "deploy-bot");
    await page.reload();
    const [program, ...revoke] = (await page.locator("li", { hasText: "deploy-bot" }).locator("code").textContent()).split(" ");
    assert.equal(program, "sayso");
    await stage.home.must(...revoke);
    await page.reload();
    await page.getByText("this tab").waitFor();
    await page.locator("li", { hasText: "deploy-bot" }).waitFor({ state: "detached" });
    assert.equal(await page.locator("main li button").count(), 1, "no other is signed out from here");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "This tab was signed out" }).waitFor();
    await own.close();
});

test("R7.5 a phone of 320 px: no sideways scroll, 44 px targets, list and question are pages", async () => {
    const phone = await stage.context({ viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true });
    const asked = await agent.ask(choice({ title: "On the phone, with a title that is rather long" }));
    const page = await stage.page("/", phone);
    await page.locator(".row").first().waitFor();
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(await wide(), 320);
    await page.locator(".row", { hasText: "On the phone" }).tap();
    await page.locator(".ask").waitFor();
    assert.equal(await wide(), 320);
    const box = await page.locator(".act .primary").boundingBox();
    assert.ok(box.height >= 44 && box.y + box.height <= 640, "Send is at the thumb");
    await answerable(page);
    await option(page, "Redis").tap();
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["redis"]);
    for (const path of ["/history", "/statistics", "/devices", "/settings", "/help"]) {
        await page.goto(stage.origin + path);
        await page.locator("h1").waitFor();
        await page.waitForTimeout(100);
        assert.equal(await wide(), 320, path);
    }
    await phone.close();
});
