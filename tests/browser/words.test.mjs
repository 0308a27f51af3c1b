// words.test.mjs - no word of the page stands outside its catalogue, and in Chinese nothing is clipped on a phone.
// Proves: R8.2 R7.5
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../mcp/lib/home.mjs";
import { Stage, answerable, choice, until } from "./lib/stage.mjs";

const JS = path.join(ROOT, "web/js");
const SAID = ["title", "aria-label", "placeholder", "alt", "aria-description", "label"]; // attributes people read
const SHOWS = { make: 2, button: 1, draw: 2, setText: 1 }; // from which argument on a call shows its texts
const ASSIGNED = [".textContent", ".title", ".innerText"];
// What is the same in every language: keys, commands, what the agent is told, marks, single letters.
const SAME = /^(\W|\d|Esc|Enter|Space|Tab|Home|End|PgUp|PgDn|Ctrl|Alt|Shift|sayso( [a-z]+)*|pid|tty|ID|timeout|\b[a-z]\b)*$/;
const TOKEN = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\.?[A-Za-z_$][\w$]*|\d[\w.]*|===|!==|==|=>|\?\?|&&|\|\||\?\.|`|\s+|[\s\S]/g;

// The source as tokens; a template is its pieces as texts, and what stands in ${} between them in brackets.
function tokens(source) {
    const found = [];
    const read = (at, end) => {
        TOKEN.lastIndex = at;
        for (let match; (match = TOKEN.exec(source)) && match.index < source.length;) {
            const [text] = match;
            if (text === "`") {
                TOKEN.lastIndex = template(TOKEN.lastIndex);
            } else if (end && text === "}" && found.at(-1)?.depth === undefined && --open[open.length - 1] === 0) {
                return TOKEN.lastIndex;
            } else if (!/^(\s|\/[*/])/.test(text)) {
                if (text === "{" && open.length)
                    open[open.length - 1]++;
                const last = found.at(-1)?.text ?? "(";
                if (text === "/" && /^([(,=:[!&|?{};]|=>|&&|\|\||return)$/.test(last)) { // a regular expression
                    const rest = /\/(?:\[(?:[^\]\\\n]|\\.)*\]|[^/\\\n[]|\\.)+\/[a-z]*/y;
                    rest.lastIndex = match.index;
                    TOKEN.lastIndex = rest.exec(source) ? rest.lastIndex : TOKEN.lastIndex;
                    continue;
                }
                found.push({ text, at: match.index });
            }
        }
        return source.length;
    };
    const open = [];
    const template = (at) => {
        const piece = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
        for (;;) {
            piece.lastIndex = at;
            const [text] = piece.exec(source);
            found.push({ text: JSON.stringify(text), at });
            at += text.length;
            if (source[at] !== "$")
                return at + 1;
            found.push({ text: "(", at });
            open.push(1);
            at = read(at + 2, true);
            open.pop();
            found.push({ text: ")", at });
        }
    };
    read(0, false);
    return found;
}

// The literals of a module that people would read, with their lines.
function literals(name, source) {
    const all = tokens(source);
    const found = [];
    const stack = [{ from: Infinity, argument: 0 }];
    all.forEach(({ text, at }, i) => {
        const before = all[i - 1]?.text ?? "";
        const here = stack.at(-1);
        if (text === "(") {
            const from = Object.hasOwn(SHOWS, before) ? SHOWS[before] : -1;
            const isCall = /^[.\w$]/.test(before) && !["return", "if", "in", "of"].includes(before);
            stack.push(from >= 0 ? { from, argument: 0 } : isCall ? { from: Infinity, argument: 0 } : { ...here, isGroup: true });
        } else if (text === "[" || text === "{") {
            stack.push(text === "[" && !/^[\w$.)\]]/.test(before) ? { ...here, isGroup: true, isList: true } : { from: Infinity, argument: 0 });
        } else if (text === ")" || text === "]" || text === "}") {
            stack.pop();
        } else if (text === "," && !here.isGroup) {
            here.argument++;
        } else if (/^["']/.test(text)) {
            const words = text.slice(1, -1);
            const compares = /^([!=]==?|case|import|from)$/;
            const key = all[i - 2]?.text.replace(/^["']|["']$/g, "");
            const isSaid = here.argument >= here.from || (before === ":" && SAID.includes(key)) ||
                (["=", "||", "??"].includes(before) && all.slice(Math.max(0, i - 4), i).some((token) => ASSIGNED.includes(token.text)));
            if (isSaid && !(here.isList && /^[a-z_]+$/.test(words)) /* names of words */ && !SAME.test(words) && !compares.test(before) && !compares.test(all[i + 1]?.text ?? ""))
                found.push(`${name}:${source.slice(0, at).split("\n").length}: ${words}`);
        }
    });
    return found;
}

test("R8.2 a planted literal is found, whatever shows it", () => {
    for (const planted of ['make("p", {}, "Nothing here")', "make('p', {}, `${count} left`)", 'button({}, ready ? "Send" : say("x"))',
        'make("input", { "aria-label": "Search" })', 'node.textContent = "Saved"', 'setText(node, "Saved " + name)',
        'document.title = name || "Inbox"', 'make("p", {}, [name, "Two words"])'])
        assert.equal(literals("a.js", planted).length, 1, planted);
    for (const fine of ['make("p", { class: "some words" }, say("nothing"))', 'make("kbd", {}, "Esc")', 'call("ask/get", { title: say("x") })'])
        assert.deepEqual(literals("a.js", fine), [], fine);
});

test("R8.2 no module of the page has words outside the catalogue", () => {
    const found = readdirSync(JS).filter((name) => !name.startsWith("words"))
        .flatMap((name) => literals(name, readFileSync(path.join(JS, name), "utf8")));
    assert.deepEqual(found, []);
});

let stage;
let context;
before(async () => {
    stage = await Stage.open({ CHOICE_LANG: "zh" });
    context = await stage.context({ viewport: { width: 360, height: 780 }, locale: "zh-CN" });
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

// Elements whose own text is wider or higher than what is shown of it, and no scroll bar or ellipsis says so.
const clipped = (page) => page.evaluate(() => {
    const found = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
        const style = getComputedStyle(node);
        const box = node.getBoundingClientRect();
        if (!own || node.closest(".vh, .sprite, noscript, .skip") || style.visibility === "hidden" || box.width === 0)
            continue;
        const hides = (name) => ["hidden", "clip"].includes(style[name]);
        const isCut = (hides("overflowX") && style.textOverflow !== "ellipsis" && node.scrollWidth > node.clientWidth + 1) ||
            (hides("overflowY") && style.webkitLineClamp === "none" && node.scrollHeight > node.clientHeight + 1);
        let isOutside = box.right > innerWidth + 1 || box.left < -1;
        for (let above = node.parentElement; above && isOutside; above = above.parentElement)
            isOutside = !["auto", "scroll"].includes(getComputedStyle(above).overflowX);
        if (isCut || isOutside)
            found.push(`${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 30)}`);
    }
    if (document.documentElement.scrollWidth > innerWidth)
        found.push(`sideways scroll: ${document.documentElement.scrollWidth}`);
    return found;
});

test("R8.2 R7.5 the check itself finds a text that is cut or hangs over the edge", async () => {
    const page = await context.newPage();
    await page.goto(await stage.link());
    await page.locator("main h1").first().waitFor();
    await page.goto(`${stage.origin}/help`);
    await page.locator("main h1").waitFor();
    assert.deepEqual(await clipped(page), []);
    for (const css of ["overflow:hidden;width:20px;white-space:nowrap", "position:relative;left:340px;width:200px"]) {
        await page.evaluate((style) => {
            const sheet = new CSSStyleSheet(); // the page's policy forbids inline styles
            sheet.replaceSync(`main h1 { ${style} }`);
            document.adoptedStyleSheets = [sheet];
        }, css);
        assert.notDeepEqual(await clipped(page), [], css);
    }
    await page.close();
});

test("R8.2 R7.5 Chinese on a phone: every page and every kind of question, nothing clipped", async () => {
    const agent = stage.agent();
    const asks = [
        await agent.ask(choice({ title: "商品页应使用哪种缓存？" })),
        await agent.ask(choice({ title: "多选", selection_mode: "multi", min_selections: 1, max_selections: 2 })),
        await agent.ask(choice({ title: "混合", selection_mode: "hybrid", placeholder: "或自行填写" })),
        await agent.ask(choice({ title: "删除", destructive: true })),
        await agent.ask(choice({ title: "文本", selection_mode: "text_input", options: undefined })),
        await agent.ask({ message: "速度？", minimum: 40, maximum: 200, unit: "BPM" }, "elicit_number"),
        await agent.ask({ message: "评分？", style: "rating" }, "elicit_number"),
        await agent.ask({ message: "确认删除？", destructive: true }, "elicit_confirm"),
        await agent.ask({ questions: [{ question: "用哪个库？", header: "库", options: [{ label: "甲" }, { label: "乙" }] },
            { question: "何时发布？", header: "时间", options: [{ label: "今天" }, { label: "明天" }], multiSelect: true }] }, "ask_user_question"),
    ];
    const found = {};
    const look = async (name, page) => {
        const now = await clipped(page);
        if (now.length > 0)
            found[name] = now;
    };
    const open = async (id) => { // what says that the line is there is hidden on a phone
        const page = await context.newPage();
        await page.goto(await stage.link(id));
        await page.locator(id ? ".ask h1" : "main h1").first().waitFor();
        await answerable(page);
        return page;
    };
    const page = await open();
    for (const place of ["", "history", "statistics", "devices", "settings", "help"]) {
        await page.goto(`${stage.origin}/${place}`);
        await until(() => page.evaluate(() => document.documentElement.lang === "zh-CN" && !!document.querySelector("main")), place);
        await page.waitForLoadState("networkidle");
        await look(place || "inbox", page);
    }
    await page.close();
    for (const asked of asks) {
        const shown = await open(asked.id);
        await look(asked.id, shown);
        await shown.keyboard.press("Escape");
        await look(`${asked.id}, cancelling`, shown);
        await shown.close();
        await stage.home.must("cancel", asked.id);
    }
    assert.deepEqual(found, {});
});

test("R8.2 an ask speaks the language of its agent's client while it is shown; a saved one is stronger", async () => {
    const asked = await stage.agent("claude-code", "/home/me", { language: "en" }).ask(choice({ title: "Spoken" }));
    const own = await stage.context({ locale: "zh-CN" });
    const page = await stage.open(asked, own);
    await page.getByRole("button", { name: "Cancel…" }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
    const tongue = (tag) => page.locator(`html[lang="${tag}"]`).waitFor();
    await page.locator("[data-place=history]").click();
    await tongue("zh-CN");
    await page.goBack();
    await tongue("en");
    await stage.home.must("settings", "set", "language", "zh");
    await tongue("zh-CN");
    await stage.home.must("settings", "reset", "language");
    await tongue("en");
    assert.deepEqual(own.complaints, []);
    await own.close();
    await stage.home.must("cancel", asked.id);
});

test("R8.2 what the hub refuses is said in the language of the page", async () => {
    const page = await context.newPage();
    await page.goto(await stage.link());
    await page.locator("main h1").first().waitFor();
    await page.goto(`${stage.origin}/settings`);
    await page.locator("#set-timeout_seconds").fill("0");
    await page.locator("#set-timeout_seconds").blur();
    const said = await page.locator(".saved.wrong").first().textContent();
    assert.match(said, /出错了：timeout_seconds 可设为 1 至 2592000 秒/);
    await page.close();
});
