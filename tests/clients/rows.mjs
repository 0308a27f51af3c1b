// rows.mjs - what is tried with each client: a row each, which returns what its cell of the table says, or throws.
import assert from "node:assert/strict";
import { PROMPT_ROWS } from "./prompts.mjs";
import { Stage, startTurn } from "./stage.mjs";

const SOON_MS = 30000; // for what must come without anybody's help; the program itself takes milliseconds
const LONG_ASK = { timeout_seconds: 1800 };
const SHORT_ASK = { timeout_seconds: 15 };

const lateAfter = (isFull) => isFull ? 320 : 75;

const second = (value) => `${value.toFixed(1)} s`;
const counted = (calls) => `${calls} ${calls === 1 ? "call" : "calls"}`;

async function staged(client, ask, body, isHttp = false) {
    const stage = await Stage.open(client, ask, isHttp);
    try {
        return await body(stage);
    } finally {
        await stage.stop();
    }
}

// Headless or with a form, answered so many seconds after the ask; returns how long the model waited for that, and how many
// calls it cost.
async function answeredAfter(client, wait_s, { isAllowed = true, isHttp = false, hasForm = false } = {}) {
    const started = await startTurn();
    try {
        return await staged(client, LONG_ASK, async (stage) => {
            if (!hasForm)
                stage.startHeadless(isAllowed);
            const row = await (hasForm ? stage.openForm() : stage.asked());
            started();
            await stage.leave(wait_s);
            await stage.answer(row);
            return stage.heardAnswer();
        }, isHttp);
    } finally {
        started();
    }
}

export const ROWS = [
    {
        name: "quick",
        tells: "the client runs without a window and may use sayso's tools; time from `sayso answer` until the model has the answer",
        title: "quick answer",
        async run(client) {
            const { seconds } = await answeredAfter(client, 0);
            return second(seconds);
        },
    },
    {
        name: "http",
        tells: "the same with the hub's address: `sayso install CLIENT --http --yes` and a token",
        title: "quick answer over HTTP",
        async run(client) {
            const { seconds } = await answeredAfter(client, 0, { isHttp: true });
            return second(seconds);
        },
    },
    {
        name: "installed",
        tells: "a quick answer after `sayso install CLIENT --yes` alone, without a flag that allows tools",
        title: "as installed",
        applies: ({ entry }) => entry ? "by hand only" : null,
        async run(client) {
            const { seconds } = await answeredAfter(client, 0, { isAllowed: false });
            return second(seconds);
        },
    },
    {
        name: "terminal",
        tells: "after the same, in a terminal: the client's form opens and no permission is asked for first",
        title: "as installed, in a terminal",
        applies: ({ form }) => form ? null : "no form",
        run: (client) => staged(client, LONG_ASK, async (stage) => {
            await stage.openForm(false);
            return "form";
        }),
    },
    {
        name: "elsewhere",
        tells: "the client's form is open in a terminal, and no key is pressed; time from `sayso answer` until the model has the answer",
        title: "answered elsewhere",
        applies: ({ form }) => form ? null : "no form",
        run: (client) => staged(client, LONG_ASK, async (stage) => {
            await stage.answer(await stage.openForm());
            const { seconds } = await stage.heardAnswer(SOON_MS);
            return second(seconds);
        }),
    },
    {
        name: "deadline",
        tells: "the same without an answer; time from the timeout until the model has the result",
        title: "deadline",
        applies: ({ form }) => form ? null : "no form",
        run: (client) => staged(client, SHORT_ASK, async (stage) => {
            const { created_at } = await stage.openForm();
            const { result, at, text } = await stage.heard(SHORT_ASK.timeout_seconds * 1000 + SOON_MS);
            assert.equal(result?.status, "timeout", `the model heard: ${text}`);
            return second((at - Date.parse(created_at)) / 1000 - SHORT_ASK.timeout_seconds);
        }),
    },
    {
        name: "killed",
        tells: "the client is killed while the ask is pending, you answer, and the client starts again and asks the same question",
        title: "killed and restarted",
        run: (client) => staged(client, LONG_ASK, async (stage) => {
            stage.startHeadless(true);
            const row = await stage.asked();
            stage.kill();
            await stage.ended;
            await stage.answer(row);
            stage.startHeadless(true);
            await stage.heardAnswer();
            return "same answer";
        }),
    },
    {
        name: "late",
        tells: "answered after the time in parentheses; how many calls of sayso's tools, and so turns of the model, it took",
        title: "late answer",
        onlyWaits: true,
        async run(client, isFull) {
            const wait_s = lateAfter(isFull);
            const { calls } = await answeredAfter(client, wait_s);
            return `${counted(calls)} (${wait_s} s)`;
        },
    },
    {
        name: "latehttp",
        tells: "the same with the hub's address",
        title: "late answer over HTTP",
        onlyWaits: true,
        async run(client, isFull) {
            const wait_s = lateAfter(isFull);
            const { calls } = await answeredAfter(client, wait_s, { isHttp: true });
            return `${counted(calls)} (${wait_s} s)`;
        },
    },
    {
        name: "lateform",
        tells: "the client's form is open in a terminal for so long, and the answer is given elsewhere; how many calls it took",
        title: "late answer, form open",
        onlyWaits: true,
        applies: ({ form }) => form ? null : "no form",
        async run(client, isFull) {
            const wait_s = lateAfter(isFull);
            const { calls } = await answeredAfter(client, wait_s, { hasForm: true });
            return `${counted(calls)} (${wait_s} s)`;
        },
    },
    {
        name: "ten",
        tells: "calls that an answer after 600 s takes; it holds if there are no more calls than the client's own time limit requires",
        title: "answer after ten minutes",
        onlyWaits: true,
        isLong: true,
        async run(client) {
            const { calls } = await answeredAfter(client, 600);
            assert.ok(calls <= client.mostCalls, `${counted(calls)}, ${client.mostCalls} at most`);
            return counted(calls);
        },
    },
    ...PROMPT_ROWS,
];
