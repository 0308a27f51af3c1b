// prompts.mjs - a client's own prompts, with the hooks of `sayso install CLIENT --prompts`: a row each, as in rows.mjs.
import assert from "node:assert/strict";
import process from "node:process";
import { until } from "../mcp/lib/home.mjs";
import { Stage } from "./stage.mjs";

const SOON_MS = 30000;
const LATE_S = 150;
const RACES = 100;

const second = (value) => `${value.toFixed(1)} s`;
const since = (moment) => (Date.now() - moment) / 1000;

// `calls`: what the model calls of the client's own tools, one after the other.
async function prompted(client, calls, body) {
    const stage = await Stage.open(client, {}, false, calls);
    try {
        await stage.home.must("install", client.name, "--prompts", "--yes");
        await stage.openTerminal(client.prompts.args);
        const row = await stage.asked();
        if (client.prompts.dialog)
            await stage.tmux.wait(client.prompts.dialog);
        return await body(stage, row);
    } finally {
        await stage.stop();
    }
}

const permission = (client, number = 0) => client.prompts.call(`touch file-${number}; echo did-${number}`);
const needsHook = ({ prompts }) => prompts ? null : "no hook";
const needsDialog = (client) => needsHook(client) ?? (client.prompts.dialog ? null : "its dialog waits");

async function statusOf(stage, { session_id }) {
    return (await stage.home.list()).find((row) => row.session_id === session_id).status;
}

// Decided by the person, elsewhere; what the model heard, and after how long.
async function decided(stage, row, words) {
    await stage.home.must("answer", row.session_id, ...words);
    const moment = Date.now();
    const { text, at } = await stage.heard(SOON_MS);
    if (stage.client.prompts.dialog)
        await until(() => !stage.client.prompts.dialog.test(stage.tmux.text()), "the dialog is gone");
    return { text, seconds: Math.max(0, (at - moment) / 1000) };
}

// Decided in the client's dialog: the ask is withdrawn; after how long.
async function withdrawn(stage, row, keys) {
    const moment = Date.now();
    stage.tmux.keys(...keys);
    await until(async () => await statusOf(stage, row) === "withdrawn", "the ask is withdrawn", SOON_MS);
    return second(since(moment));
}

// The open ask of this call, beside its dialog; null where the call is over before that.
async function nextRace(stage, number) {
    const isShown = (text) => text.includes(`touch file-${number};`);
    const find = async () => {
        if (stage.model.results[number])
            return "over";
        const screen = stage.tmux.text();
        const [row] = stage.client.prompts.dialog.test(screen) && isShown(screen)
            ? await stage.home.list("--active") : [];
        return row && isShown(await stage.home.must("show", row.session_id)) && row;
    };
    const found = await until(find, "a dialog", SOON_MS).catch((problem) => {
        problem.message += ` of race ${number}\n${stage.tmux.text()}`;
        throw problem;
    });
    return found === "over" ? null : found;
}

async function race(client, isFull) {
    const count = isFull ? RACES : 10;
    const calls = Array.from({ length: count }, (_, number) => permission(client, number));
    return prompted(client, calls, async (stage) => {
        const won = { here: 0, there: 0, early: 0 };
        for (let number = 0; number < count; number++) {
            const row = await nextRace(stage, number);
            if (!row) { // the key of the last one, which sayso had won
                won.early++;
                continue;
            }
            const answer = stage.home.sayso("answer", row.session_id, "--select", "Deny", "--note", `note-${number}`);
            stage.tmux.keys(...client.prompts.allow);
            await answer;
            const heard = await until(() => stage.model.results[number], "the model hears of it", SOON_MS);
            const [did, was] = [heard.includes(`did-${number}`), heard.includes(`note-${number}`)];
            assert.ok(did !== was, `of race ${number} the model heard: ${heard}`);
            won[did ? "there" : "here"]++;
            await until(async () => (await statusOf(stage, row)) !== "pending", "the ask is over", SOON_MS);
        }
        assert.ok((await stage.home.list()).length <= count, "none asked twice");
        return `${count - won.early} races: ${won.here} won in sayso, ${won.there} in the client`;
    });
}

export const PROMPT_ROWS = [
    {
        name: "allowed",
        tells: "a permission is allowed in sayso; time until the model has the output, and the dialog is gone",
        title: "allowed in sayso",
        run: (client) => prompted(client, [permission(client)], async (stage, row) => {
            const { text, seconds } = await decided(stage, row, ["--select", "Allow once"]);
            assert.match(text, /did-0/);
            return second(seconds);
        }),
    },
    {
        name: "headless",
        tells: "the same without a window, by the tool of `--permission-prompt-tool`; time until the model has the output",
        title: "allowed, headless",
        applies: ({ prompts }) => prompts?.headless ? null : "no such option",
        async run(client) {
            const stage = await Stage.open(client, {}, false, [permission(client)]);
            try {
                await stage.home.must("install", client.name, "--yes", "--tools", "ask,permission_prompt");
                stage.start(client.prompts.headless("do it"));
                const { session_id } = await stage.asked();
                await stage.home.must("answer", session_id, "--select", "Allow once");
                const moment = Date.now();
                const { text, at } = await stage.heard(SOON_MS);
                assert.match(text, /did-0/);
                return second(Math.max(0, (at - moment) / 1000));
            } finally {
                await stage.stop();
            }
        },
    },
    {
        name: "refused",
        tells: "the same, denied with a note, which the model reads",
        title: "denied in sayso",
        run: (client) => prompted(client, [permission(client)], async (stage, row) => {
            const { text, seconds } = await decided(stage, row, ["--select", "Deny", "--note", "use make"]);
            assert.match(text, /They wrote: use make/);
            return second(seconds);
        }),
    },
    {
        name: "question",
        tells: "a question of the client's own is answered in sayso, with a note",
        title: "question answered in sayso",
        applies: (client) => needsHook(client) ?? (client.prompts.question ? null : "no question by a hook"),
        run: (client) => prompted({ ...client, prompts: { ...client.prompts, dialog: client.prompts.asks } }, [client.prompts.question],
                                  async (stage, row) => {
            const { text, seconds } = await decided(stage, row, ["--select", "SQLite", "--field-note", "q1=one file"]);
            assert.match(text, /SQLite.*one file/s);
            return second(seconds);
        }),
    },
    {
        name: "there",
        tells: "allowed in the client's dialog; time until the ask is withdrawn",
        title: "allowed in the client",
        applies: needsDialog,
        run: (client) => prompted(client, [permission(client)], (stage, row) => withdrawn(stage, row, client.prompts.allow)),
    },
    {
        name: "refusedthere",
        tells: "denied in the client's dialog; time until the ask is withdrawn",
        title: "denied in the client",
        applies: needsDialog,
        run: (client) => prompted(client, [permission(client)], (stage, row) => withdrawn(stage, row, client.prompts.deny)),
    },
    {
        name: "cancelled",
        tells: "the ask is cancelled: the client's dialog stays, or opens, and works",
        title: "cancelled in sayso",
        run: (client) => prompted(client, [permission(client)], async (stage, { session_id }) => {
            await stage.home.must("cancel", session_id);
            await stage.tmux.wait(client.prompts.dialog ?? client.prompts.later);
            stage.tmux.keys(...client.prompts.allow);
            assert.match((await stage.heard(SOON_MS)).text, /did-0/);
            return "dialog works";
        }),
    },
    {
        name: "hubgone",
        tells: "the hub is killed while the dialog is open, which works",
        title: "hub killed",
        applies: needsDialog,
        run: (client) => prompted(client, [permission(client)], async (stage) => {
            process.kill(stage.home.hubPid(), "SIGKILL");
            stage.tmux.keys(...client.prompts.allow);
            assert.match((await stage.heard(SOON_MS)).text, /did-0/);
            return "dialog works";
        }),
    },
    {
        name: "race",
        tells: "allowed in the dialog and denied in sayso at the same time, many times in one session: each call has one outcome, and its own",
        title: "races",
        applies: needsDialog,
        run: race,
    },
    {
        name: "latepermission",
        tells: "a permission is allowed in sayso after 150 s",
        title: "allowed late",
        onlyWaits: true,
        run: (client) => prompted(client, [permission(client)], async (stage, row) => {
            await stage.leave(LATE_S);
            const { text, seconds } = await decided(stage, row, ["--select", "Allow once"]);
            assert.match(text, /did-0/);
            return second(seconds);
        }),
    },
].map((row) => ({ applies: needsHook, ...row, page: "docs/prompts.md" }));
