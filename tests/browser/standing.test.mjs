// standing.test.mjs - rules on their page: proposed, looked at, given; the commands that make and revoke them;
// from an ended ask; never of something destructive; what other tabs and the command line do shows immediately, also after the hub was
// killed; what agents write stays text; its code comes late, and only the code this page was made with.
// Proves: R2.2 R7.5 R7.7 R12.1
import assert from "node:assert/strict";
import http from "node:http";
import { after, afterEach, before, test } from "node:test";
import { LOOKS, go, judgeLooks, look } from "./lib/looks.mjs";
import { Stage, answerable, choice, option, sendButton, until } from "./lib/stage.mjs";

let stage;
let agent;
let context;
before(async () => {
    stage = await Stage.open({ SAYSO_DELIVER_AFTER: "0", SAYSO_ASKS_PER_MINUTE: "1000" });
    agent = stage.agent();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const answered = async (more, picked = "redis", who = agent) => {
    const asked = await who.ask(choice(more));
    await stage.home.must("answer", asked.id, "--select", picked);
    await asked.result;
    return asked;
};
const askAgain = async (more, who = agent) => {
    await who.ready;
    const { result } = await who.call("ask/create", { tool: "provide_choice", arguments: choice(more), wait_seconds: 20 });
    await who.call("ask/delivered", { session_ids: [result.session_id] });
    return result;
};
const rules = async () => JSON.parse(await stage.home.must("rule", "list", "--json"));
afterEach(async () => {
    for (const rule of await rules())
        await stage.home.must("rule", "remove", rule.id);
});
// A page that shows what this answer would have meant, and the command that lets it stand.
const lookAt = async (asked) => {
    const page = await stage.page(`/choice/${asked.id}`, context);
    await page.locator("[data-key=let-stand]").click();
    await page.getByText("1 with this answer").waitFor();
    return page;
};
const runs = async (code) => {
    const [program, ...words] = (await code.textContent()).split(" ");
    assert.equal(program, "sayso");
    return stage.home.apart(...words);
};
const letStand = (page) => runs(page.locator("[data-key=standing-do]"));
const inForce = (page, title) => page.locator("#standing-now + .rows li", { hasText: title });
const proposed = (page, title) => page.locator("h2:has-text('Suggested') + .rows li", { hasText: title });

test("R7.7 its code is not part of the first load, comes when it is opened, and once", async () => {
    const own = await stage.context();
    const page = await stage.page("", own);
    const loads = () => own.requests.filter((url) => /\/static\/standing\./.test(url)).length;
    assert.equal(loads(), 0);
    assert.ok(!own.requests.some((url) => /\/static\/statistics\./.test(url)));
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "Active" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/standing");
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "H1", "the keyboard is at the top of it");
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.locator("[data-key=to-standing]").click();
    await page.getByText("No rules.").waitFor();
    assert.equal(loads(), 1);
    await page.goto(`${stage.origin}/statistics`);
    await page.locator(".kpis").waitFor();
    await page.goto(`${stage.origin}/standing?inline`); // the document that carries everything
    await page.getByRole("heading", { name: "Active" }).waitFor();
    assert.equal(loads(), 1);
    assert.deepEqual(own.complaints, []);
    await own.close();
});

test("R2.2 R12.1 proposed from history, looked at, made by the command it shows, given, and revoked by another", async () => {
    for (const detail of ["one", "two", "three"])
        await answered({ title: "Cache for the shop", prompt: `The page of shop ${detail} is slow, and I need your call on it.` });
    await answered({ title: "Something else", prompt: "This was asked once alone, and nobody proposes it." });
    const page = await stage.page("/standing", context);
    const row = proposed(page, "Cache for the shop");
    await row.waitFor();
    assert.match(await row.textContent(), /Redis, write-through.*“claude-code” · \/home\/me\/src\/shop-api · any prompt.*Same answer 3 times/s);
    assert.equal(await proposed(page, "Something else").count(), 0);
    await row.getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Create a rule from this answer?" }).waitFor();
    await page.getByText("3 with this answer, 0 with a different one.").waitFor();
    assert.equal(await page.locator(".standing-case .rows li").count(), 3);
    await page.getByRole("checkbox", { name: /Match on title and options only/ }).uncheck();
    await page.getByText("1 with this answer, 0 with a different one.").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.dataset.key), "standing-any", "the keyboard stays");
    await page.keyboard.press("Space");
    await page.getByText("3 with this answer, 0 with a different one.").waitFor();
    assert.deepEqual(await rules(), [], "looking makes nothing");
    await page.getByLabel("Duration").selectOption("7");
    assert.match(await page.locator("[data-key=standing-do]").textContent(), /^sayso rule add [a-z2-7]{8} --for 7 --any-prompt$/);
    await letStand(page);
    await page.getByText("Matching asks are now answered automatically").first().waitFor();
    await inForce(page, "Cache for the shop").waitFor();
    assert.equal(await proposed(page, "Cache for the shop").count(), 0);
    assert.equal(new URL(page.url()).search, "");
    const [rule] = await rules();
    const days = (Date.parse(rule.expires_at) - Date.parse(rule.created_at)) / 86400000;
    assert.ok(Math.abs(days - 7) < 0.01, `${days}`);
    assert.equal(rule.rule.any_prompt, true);
    assert.match(await inForce(page, "Cache").textContent(), /expires .*created .* by \S+, from this ask/);
    const given = await askAgain({ title: "Cache for the shop", prompt: "Shop four is slow as well, and I need your call on that." });
    assert.equal(given.rule, rule.id);
    assert.equal(given.auto_submitted, true);
    await inForce(page, "Cache").getByRole("link", { name: "from this ask" }).click();
    await page.getByRole("heading", { name: /^Answered/ }).waitFor();
    await page.goBack();
    assert.equal(await page.locator("main button").count(), 0, "a page changes none of them");
    await runs(inForce(page, "Cache").locator("code"));
    await page.getByText("No rules.").waitFor();
    const asked = await agent.ask(choice({ title: "Cache for the shop", prompt: "Shop five is slow, and now a person is asked again." }));
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R2.2 what was answered so says so: in the list, in the history, in the ask itself", async () => {
    const page = await stage.page("/history?via=rule", context);
    const row = page.locator(".hist tbody tr");
    await row.waitFor();
    assert.match(await row.textContent(), /Cache for the shop.*auto-answered.*rule/s);
    await page.locator(".row.fin", { hasText: "auto-answered" }).getByText("rule").waitFor();
    await page.getByLabel("Channel").selectOption("web");
    await page.getByText("No matches.").waitFor();
    await page.getByLabel("Channel").selectOption("rule");
    await row.locator("a").click();
    await page.getByRole("heading", { name: "Answered automatically by a rule" }).waitFor();
    await page.getByText("The agent was told that a rule answered.").waitFor();
    await page.locator("[data-key=standing]").click();
    await page.getByRole("heading", { name: "Rules" }).waitFor();
    await page.close();
});

test("R2.2 made from an ended ask; never from a destructive or unanswered one, and the page says why", async () => {
    const asked = await answered({ title: "From the history" }, "view");
    const wiped = await agent.ask(choice({ title: "Drop the table", destructive: true }));
    const page = await lookAt(asked);
    assert.match(await page.locator(".standing-case dl").textContent(), /From the history.*Materialized view.*same prompt/s);
    await page.locator("[data-key=standing-not]").click();
    await page.locator(".standing-case").waitFor({ state: "detached" });
    assert.deepEqual(await rules(), []);
    await page.goBack();
    await letStand(page);
    await inForce(page, "From the history").waitFor();
    assert.equal((await rules())[0].rule.from, asked.id);
    await page.goto(`${stage.origin}/choice/${wiped.id}`);
    await page.locator(".ask").waitFor();
    await answerable(page);
    await option(page, "Materialized view").click(); // not the safe one
    await sendButton(page).click();
    await page.locator(".code-in").fill(await page.locator(".second .code").textContent());
    await answerable(page);
    await page.locator(".second .danger").click();
    await page.getByText("Destructive asks can’t be answered by a rule").waitFor();
    assert.equal(await page.locator("[data-key=let-stand]").count(), 0);
    await wiped.result;
    await page.goto(`${stage.origin}/standing?from=${wiped.id}`);
    await page.locator(".standing-why", { hasText: "Destructive asks can’t be answered by a rule" }).waitFor();
    assert.equal(await page.locator("[data-key=standing-do]").count(), 0);
    const cancelled = await agent.ask(choice({ title: "Cancelled one" }));
    await stage.home.must("cancel", cancelled.id);
    await page.goto(`${stage.origin}/choice/${cancelled.id}`);
    await page.getByRole("heading", { name: "Cancelled" }).waitFor();
    assert.equal(await page.locator("[data-key=let-stand]").count(), 0);
    await page.goto(`${stage.origin}/standing?from=${cancelled.id}`);
    await page.getByText("A rule can only be created from").waitFor();
    await page.goto(`${stage.origin}/standing?from=zzzzzzzz`);
    await page.getByText("Ask not found.").waitFor();
    await page.close();
});

test("R7.3 tabs and the command line at the same time: every tab shows what is done in any of them", async () => {
    const first = await answered({ title: "Raced one" });
    const second = await answered({ title: "Raced two" });
    const [left, right, third] = [await lookAt(first), await lookAt(first), await lookAt(second)];
    await letStand(left);
    assert.equal((await rules()).length, 1);
    for (const page of [left, right]) {
        await inForce(page, "Raced one").waitFor();
        assert.equal(await page.locator(".standing-case").count(), 0, "it is done, wherever it was looked at");
    }
    await Promise.all([runs(inForce(left, "Raced one").locator("code")), letStand(third)]); // one goes while another comes
    for (const page of [left, right, third]) {
        await inForce(page, "Raced two").waitFor();
        await inForce(page, "Raced one").waitFor({ state: "detached" });
    }
    await stage.home.must("rule", "remove", (await rules())[0].id);
    for (const page of [left, right, third])
        await page.getByText("No rules.").waitFor();
    for (const page of [left, right, third])
        await page.close();
});

test("R5.2 the hub is killed: the page says so, comes back by itself, and shows what stands", async () => {
    const asked = await answered({ title: "Outlives a restart" });
    const page = await lookAt(asked);
    await letStand(page);
    await inForce(page, "Outlives").waitFor();
    await stage.home.killHub();
    await page.locator(".conn[data-conn=off]").waitFor();
    await stage.serve();
    await page.locator(".conn[data-conn=on]").waitFor();
    await inForce(page, "Outlives").waitFor();
    agent = stage.agent();
    const given = await askAgain({ title: "Outlives a restart" });
    assert.equal(given.auto_submitted, true);
    await stage.home.must("rule", "remove", (await rules())[0].id);
    await page.getByText("No rules.").waitFor();
    await page.close();
});

test("R12.1 hostile text of an agent stays text: tags, directions, long words, in every place", async () => {
    const title = "<img src=x onerror=alert(1)> \u202eevil\u202c " + "W".repeat(60);
    const nasty = stage.agent("</b><script>alert(2)</script>\u200b", `/home/me/${"d".repeat(120)}/<b>x</b>`);
    const options = [{ id: "redis", label: "<svg onload=alert(3)>\u202egnp", description: "d", recommended: true }, { id: "b", label: "Other" }];
    let last;
    for (const detail of ["first", "second", "third"])
        last = await answered({ title, options, prompt: `Prompt that is the ${detail} of them, long enough for a call.` }, "redis", nasty);
    const page = await stage.page("/standing", context);
    const row = proposed(page, "<img src=x onerror=alert(1)>");
    await row.waitFor();
    await row.getByRole("link").click();
    await page.getByText("3 with this answer").waitFor();
    await letStand(page);
    await inForce(page, "<img src=x").waitFor();
    const text = await page.locator("main").textContent();
    assert.ok(text.includes("\\u202e"), "what turns text round is shown, not done");
    assert.doesNotMatch(text, /[\u202e\u200b]/);
    assert.equal(await page.locator("main img, main script, main svg[onload]").count(), 0);
    for (const width of [1440, 320]) {
        await page.setViewportSize({ width, height: 800 });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} px wide`);
    }
    await page.goto(`${stage.origin}/standing?from=${encodeURIComponent("<b>x")}`);
    await inForce(page, "<img src=x").waitFor();
    assert.equal(await page.locator(".standing-case").count(), 0);
    assert.equal((await rules())[0].rule.from, last.id);
    await page.close();
});

test("R7.5 R8.2 WCAG 2.2 AA in every look: in force, proposed, looked at, refused", async () => {
    const long = "Which of the two caches shall the product page of the shop use from now on, and for how long?";
    for (const detail of ["first", "second", "third"])
        await answered({ title: "Run the linter?", prompt: `The ${detail} package is ready, and I need your call on it.` }, "none");
    const stood = await answered({ title: long });
    const page = await lookAt(stood);
    await letStand(page);
    await inForce(page, long).waitFor();
    await page.close();
    const declined = await agent.ask(choice({ title: "Declined" }));
    await stage.home.must("decline", declined.id);
    for (const { name, language = "en", ...options } of LOOKS) {
        const own = await stage.context(options);
        const looked = await stage.page("/standing", own);
        await stage.home.must("settings", "set", "language", language);
        await looked.getByRole("heading", { name: /^(Active|有效)$/ }).waitFor();
        await looked.locator(".rows [data-key^=look-]").first().waitFor();
        await look(looked, "standing", name);
        await looked.locator(".rows [data-key^=look-]").first().click();
        await looked.locator("[data-key=standing-do]").waitFor();
        await look(looked, "standing-case", name);
        await go(looked, `/standing?from=${declined.id}`);
        await looked.locator(".standing-why").waitFor();
        await look(looked, "standing-refused", name);
        await own.close();
    }
    await stage.home.must("settings", "set", "language", "en");
    judgeLooks();
});

test("R12.1 code that is not the page's own is not run, even if it comes from the page's port", async () => {
    const own = await stage.context();
    await own.route(/\/static\/standing\./, (route) => route.fulfill({ contentType: "text/javascript",
        headers: { "cache-control": "no-store" }, body: "globalThis.stolen = sessionStorage.getItem('sayso-token'); export const part = () => ({ showStanding() {} });" }));
    const page = await stage.page("/standing", own);
    await page.getByText("Can’t load this page.").waitFor();
    assert.equal(await page.evaluate(() => globalThis.stolen), undefined);
    await own.unroute(/\/static\/standing\./);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Active" }).waitFor();
    assert.ok(own.complaints.every((line) => /integrity|404/i.test(line)), own.complaints.join("\n"));
    await own.close();
});

test("R12.1 while another program holds the port nothing is loaded from it", async () => {
    const own = await stage.context();
    const page = await stage.page("", own);
    const port = stage.home.hub().port;
    await stage.home.killHub();
    await page.locator(".conn[data-conn=off]").waitFor();
    const wanted = [];
    const stranger = http.createServer((request, reply) => {
        wanted.push(request.url);
        reply.writeHead(200, { "content-type": "text/javascript" }).end("globalThis.stolen = true;");
    });
    await new Promise((resolve) => stranger.listen(port, "127.0.0.1", resolve));
    await page.evaluate(() => {
        history.pushState(null, "", "/standing");
        dispatchEvent(new PopStateEvent("popstate"));
    });
    await page.getByRole("heading", { name: "Rules" }).waitFor();
    await until(() => wanted.filter((url) => url === "/ws").length >= 2, "it tries to come back");
    await new Promise((resolve) => {
        stranger.close(resolve);
        stranger.closeAllConnections();
    });
    assert.ok(!wanted.some((url) => url.endsWith(".js")), wanted.join());
    await stage.serve();
    await page.getByRole("heading", { name: "Active" }).waitFor();
    assert.equal(await page.evaluate(() => globalThis.stolen), undefined);
    await own.close();
});
