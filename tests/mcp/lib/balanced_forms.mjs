// balanced_forms.mjs - official clients of every kind that show our forms, behind a load balancer: what a person does in
// a form goes to whichever hub. tests/integration/test_hub_sessions.py runs it with SAYSO_URL, SAYSO_TOKEN and a count.
// Prints one line of JSON a kind: how many were asked, and what was wrong.
import { setTimeout as sleep } from "node:timers/promises";
import { named } from "./asks.mjs";
import { KINDS, Sdk } from "./sdk.mjs";

const CLIENTS = 3;
const count = Number(process.argv[2] ?? "3");
const place = () => ({
    web: { url: process.env.SAYSO_URL, token: process.env.SAYSO_TOKEN },
    webStart: Promise.resolve(),
    endings: [],
});

async function work(kind, name, wrong) {
    let shown = 0;
    const show = async () => {
        shown++;
        await sleep(30 + 50 * name);
        return { action: "accept", content: { choice: shown % 2 ? "b" : "a" } };
    };
    const sdk = await Sdk.open(place(), kind, { name: `forms ${name}`, show });
    for (let number = 0; number < count; number++) {
        const title = `form ${kind} ${name} ${number}`;
        const result = await sdk.ask(named(title), { timeout: 60000 });
        const wanted = number % 2 ? "a" : "b";
        if (result.action_status !== "selected" || result.selection.selected_ids[0] !== wanted || result.answered_by.via !== "client")
            wrong.push(`${title}: ${JSON.stringify(result)}`);
        if (shown !== number + 1)
            wrong.push(`${title}: shown ${shown} times`);
    }
    await sdk.close();
}

for (const kind of Object.keys(KINDS).filter((one) => KINDS[one].isHttp)) {
    const wrong = [];
    const works = Array.from({ length: CLIENTS }, (_, name) => work(kind, name, wrong).catch((problem) =>
        wrong.push(`${kind} ${name}: ${problem.stack}`)));
    await Promise.all(works);
    console.log(JSON.stringify({ kind, asks: CLIENTS * count, wrong }));
}
