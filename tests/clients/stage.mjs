// stage.mjs - one client in a home of its own, beside the scripted model it talks to and the program it asks with.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN, Home, until } from "../mcp/lib/home.mjs";
import { GOOD } from "../mcp/lib/asks.mjs";
import { web } from "../mcp/lib/web.mjs";
import { Tmux } from "../terminal/tmux.mjs";
import { PLACE } from "./clients.mjs";
import { Model, resultIn } from "./model.mjs";

const NODE = path.join(PLACE, "node/node_modules/.bin");
const PROMPT = "Use sayso to ask me which target to release to.";
const HANG_MS = 180000; // only catches hangs: clients take their time to start on a busy machine
export const ANSWER = "b";

// Clients wait beside each other, but start one after the other: starting is what they need the machine for.
let lastStart = Promise.resolve();
export function startTurn() {
    const before = lastStart;
    let done;
    lastStart = new Promise((resolve) => { done = resolve; });
    return before.then(() => done);
}

const programOf = ({ name, bin }) => path.join(PLACE, name, "node_modules/.bin", bin);

export class Stage {
    // `ask`: what differs from the usual ask. `isHttp`: the client talks to the hub's address instead of starting `sayso mcp`.
    // `own`: calls of the client's own tools, which the model makes instead of asking.
    static async open(client, ask = {}, isHttp = false, own = null) {
        const stage = new Stage();
        stage.client = client;
        stage.output = ""; // of the client's last run
        stage.hasEnded = false;
        stage.home = await Home.made();
        stage.model = await new Model({ ...GOOD, ...ask }, own).open();
        stage.work = path.join(stage.home.path, "work");
        mkdirSync(stage.work);
        stage.env = {
            ...stage.home.env,
            TERM: "xterm-256color",
            LANG: "C.UTF-8",
            PATH: `${NODE}:${process.env.PATH}`,
            ...client.env(stage.model.url),
        };
        try {
            await stage.connect(isHttp);
        } catch (problem) {
            await stage.stop();
            throw problem;
        }
        return stage;
    }

    put(files) {
        for (const [name, text] of Object.entries(files)) {
            const file = path.join(this.home.path, name);
            mkdirSync(path.dirname(file), { recursive: true });
            writeFileSync(file, text);
        }
    }

    // The client after its first use; then sayso is installed into it, by hand where `sayso install` can't.
    async connect(isHttp) {
        const { files, first, entry, httpEntry = entry, name } = this.client;
        const byHand = isHttp ? httpEntry : entry;
        const { url } = this.model;
        this.put(files?.(url, this.home.path) ?? {});
        if (first) {
            await this.start(first(url));
            await this.ended;
        }
        this.server = { program: BIN };
        if (isHttp) {
            this.server = await web(this.home);
            this.home.env.SAYSO_PORT = `${this.server.port}`;
            this.env.MCP_SAYSO_TOKEN = this.server.token;
        }
        if (byHand)
            this.put(byHand(this.server, url));
        else
            await this.home.must("install", name, "--yes", ...isHttp ? ["--http"] : []);
    }

    start(args) {
        const child = this.home.spawn(args, { cwd: this.work, env: this.env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
                                      programOf(this.client));
        this.child = child;
        this.output = "";
        child.stdout.on("data", (bytes) => { this.output += bytes; });
        child.stderr.on("data", (bytes) => { this.output += bytes; });
        this.hasEnded = false;
        this.ended = new Promise((resolve) => child.on("close", resolve)).then(() => { this.hasEnded = true; });
        this.home.endings.push(() => this.kill());
    }

    // With everything it has started.
    kill() {
        try {
            process.kill(-this.child.pid, "SIGKILL");
        } catch {
            // it has ended
        }
    }

    // Without a window. `isAllowed`: with the flags that let it use our tools.
    startHeadless(isAllowed) {
        const { headless, direct, allow } = this.client;
        if (direct)
            this.callDirectly(direct);
        else
            this.start([...headless(PROMPT, this.home.path), ...isAllowed ? allow : []]);
    }

    // A client without a model: the calls that a model would make are made here, each in a run of its own.
    callDirectly(direct) {
        const { model } = this;
        model.said = null;
        const calls = async () => {
            for (let tool = ["provide_choice", model.ask], result; ;) {
                model.calls++;
                this.start(direct(this.server, ...tool));
                await this.ended;
                result = resultIn(this.output);
                if (result?.status !== "pending")
                    return model.say(this.output, result);
                tool = ["get_answer", { session_id: result.id }];
            }
        };
        calls();
    }

    async openTerminal(args, more = []) {
        const { PATH, ...env } = this.env;
        this.tmux = new Tmux(this.home, env);
        this.tmux.run("resize-window", "-x", "110", "-y", "40");
        await this.tmux.wait(/ready\$/);
        const words = [programOf(this.client), ...args(PROMPT), ...more].map((word) => `'${word}'`);
        this.tmux.line(`cd ${this.work}; PATH=${PATH} ${words.join(" ")}`);
    }

    // In a terminal, until its form is open; fails as soon as the client asks for a permission instead.
    async openForm(isAllowed = true) {
        const { form, allow } = this.client;
        await this.openTerminal(form.args, isAllowed ? allow : []);
        let text;
        await until(() => {
            text = this.tmux.text();
            assert.ok(!form.mayI?.test(text), `the client asks for a permission first\n${text}`);
            return form.shows.test(text);
        }, `${form.shows} on the screen`, HANG_MS).catch((problem) => {
            problem.message += `\n${text}`;
            throw problem;
        });
        return this.asked();
    }

    // The row of the one ask; fails as soon as it can't come any more.
    asked() {
        return until(async () => {
            const rows = this.home.hubPid() ? await this.home.list("--active") : [];
            if (rows.length === 0) {
                assert.ok(!this.model.said, `not asked: ${this.model.said?.text}`);
                this.mustGoOn();
            }
            return rows[0];
        }, "an ask", HANG_MS);
    }

    // No answer comes for this long; fails if the client stops waiting earlier.
    async leave(wait_s) {
        const over = sleep(wait_s * 1000, undefined, { ref: false });
        await (this.client.direct || this.tmux ? over : Promise.race([over, this.ended]));
        this.mustGoOn();
    }

    mustGoOn() {
        assert.ok(!this.hasEnded || this.client.direct, `the client ended before the answer\n${this.output.slice(-1000)}`);
    }

    async answer({ session_id }) {
        await this.home.must("answer", session_id, "--select", ANSWER);
        this.answeredAt = Date.now();
    }

    // What the model heard in the end.
    async heard(limit_ms = HANG_MS) {
        const { model } = this;
        await until(() => {
            if (!model.said)
                this.mustGoOn();
            return model.said;
        }, "the model hears of it", limit_ms);
        return this.model.said;
    }

    // The answer reached the model: that one, and asked for once.
    async heardAnswer(limit_ms) {
        const { text, result, at } = await this.heard(limit_ms);
        assert.equal(result?.selected, ANSWER, `the model heard: ${text.slice(0, 300)}`);
        assert.equal((await this.home.list()).length, 1, "asked once");
        return { seconds: Math.max(0, at - this.answeredAt) / 1000, calls: this.model.calls };
    }

    async stop() {
        await this.home.stop();
        await this.model.close();
    }
}
