// balanced.mjs - the portal in Chromium behind a load balancer; tests/integration/test_three_hubs.py runs it with the link
// that signs in. It answers every ask that comes while its page, its socket and its files may each be another hub's.
// Arguments: link, titles. Prints what it has answered and what its pages complained about, as JSON.
import { chromium } from "playwright-core";
import { CHROMIUM, DEAD_MS, option, sendNow } from "./stage.mjs";

const [link, ...titles] = process.argv.slice(2);
const complaints = [], answered = [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
    context.on("page", (page) => {
        page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
        page.on("pageerror", (error) => complaints.push(error.stack));
    });
    const page = await context.newPage();
    await page.goto(link);
    await page.locator(".conn[data-conn=on]").waitFor();
    console.log(JSON.stringify({ ready: true }));
    for (const title of titles) {
        await page.getByText(title, { exact: true }).first().click();
        await page.locator("h1", { hasText: title }).waitFor();
        await page.waitForTimeout(DEAD_MS);
        await option(page, "Right").click(); // one of two: picking it sends it
        await sendNow(page);
        answered.push(title);
        await page.goto(new URL("/", link).href); // the tab stays signed in, whichever hub it finds now
    }
    await page.locator(".conn[data-conn=on]").waitFor();
} catch (problem) {
    complaints.push(problem.stack);
    if (process.env.SAYSO_SHOTS) {
        await browser.contexts()[0].pages()[0].screenshot({ path: `${process.env.SAYSO_SHOTS}/balanced.png` });
    }
} finally {
    await browser.close();
}
console.log(JSON.stringify({ answered, complaints }));
