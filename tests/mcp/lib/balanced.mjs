// balanced.mjs - official clients of every kind that ask over HTTP behind a load balancer; tests/integration/test_three_hubs.py
// runs it with SAYSO_URL, SAYSO_TOKEN and a count, and answers whatever is asked with a note that names the question.
// Prints one line of JSON a kind: how many were asked, and what was wrong.
import { named } from "./asks.mjs";
import { KINDS, Sdk } from "./sdk.mjs";

const CLIENTS = 3;
const count = Number(process.argv[2] ?? "3");
const place = () => ({
    web: { url: process.env.SAYSO_URL, token: process.env.SAYSO_TOKEN },
    webStart: Promise.resolve(),
    endings: [],
});

// One client asks so many questions, one after the other; each result must be that of its own question.
async function work(kind, name, wrong) {
    const sdk = await Sdk.open(place(), kind);
    const tools = (await sdk.client.listTools()).tools.map((tool) => tool.name);
    if (!tools.includes("provide_choice"))
        wrong.push(`tools are ${tools}`);
    for (let number = 0; number < count; number++) {
        const title = `${kind} ${name} ${number}`;
        let result = await sdk.ask(named(title), { timeout: 60000 });
        while (result.action_status === "pending")
            result = await sdk.collect(result.session_id);
        const again = await sdk.collect(result.session_id, 0);
        for (const got of [result, again]) {
            if (got.action_status !== "selected" || got.selection.global_annotation !== `for ${title}`)
                wrong.push(`${title}: ${JSON.stringify(got)}`);
        }
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
