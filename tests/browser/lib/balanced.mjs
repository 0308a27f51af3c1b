// balanced.mjs - the portal in Chromium behind a load balancer; tests/integration/test_three_hubs.py runs it with SAYSO_URL
// and a person's SAYSO_TOKEN. It answers the asks of these titles while page, files and socket may each be another hub's.
// Prints what it has answered and what its pages complained about, as JSON. SAYSO_SHOTS=DIR keeps a picture of a failure.
import { chromium } from "playwright-core";
import { CHROMIUM, answerable, option, sendNow, watchContext } from "./stage.mjs";

const titles = process.argv.slice(2), url = process.env.SAYSO_URL;
const complaints = [], answered = [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US", ignoreHTTPSErrors: true });
context.setDefaultTimeout(60000);
await watchContext(context);
const page = await context.newPage();
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.stack));

async function answer(title) {
    await page.getByText(title, { exact: true }).first().click();
    await page.locator("h1", { hasText: title }).waitFor();
    await answerable(page);
    await option(page, "Right").click(); // one of two: picking it sends it
    await sendNow(page);
    answered.push(title);
}

try {
    await page.goto(url);
    await page.getByLabel("Token", { exact: true }).fill(process.env.SAYSO_TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    for (const title of titles) {
        await page.locator(".conn[data-conn=on]").waitFor();
        await answer(title);
        await page.goto(url); // the tab stays signed in, whichever hub it finds now
    }
    await page.locator(".conn[data-conn=on]").waitFor();
} catch (problem) {
    complaints.push(problem.stack);
    if (process.env.SAYSO_SHOTS)
        await page.screenshot({ path: `${process.env.SAYSO_SHOTS}/balanced.png` });
} finally {
    await browser.close();
}
console.log(JSON.stringify({ answered, complaints }));
