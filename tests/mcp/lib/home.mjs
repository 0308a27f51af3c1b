// home.mjs - a user of their own as far as the program can tell, with a hub of their own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, statfsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dropDatabase, newDatabase, ON_POSTGRES } from "./database.mjs";
import { Person } from "./wire.mjs";

// Agents and people are below us, as below a service manager: neither is the other's client.
process.title = "supervisord";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const BIN = path.resolve(ROOT, process.env.SAYSO_BIN ?? "build/sayso");
export const CRASH_BIN = path.resolve(ROOT, process.env.SAYSO_CRASH_BIN ?? "build-asan/sayso"); // with what is only for tests
export const SCALE = Number(process.env.SAYSO_SCALE ?? "1");
export const SLACK = Number(process.env.SAYSO_SLACK ?? "1"); // for bounds of time, where a store or a sanitizer is slow
const KEPT = ["PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"]; // no language, no terminal

const MEMORY = "/dev/shm", MEMORY_BYTES = 2 ** 30; // tests/integration/harness.py: why, and when not

function newDirectory() {
    const mount = SCALE <= 1 && readFileSync("/proc/mounts", "utf8").split("\n").find((line) => line.split(" ")[1] === MEMORY);
    const place = mount && !/\bnoexec\b/.test(mount) && statfsSync(MEMORY);
    return mkdtempSync(`${place && place.bavail * place.bsize > MEMORY_BYTES ? MEMORY : "/tmp"}/sy`);
}

export const scaled = (count) => Math.max(1, Math.floor(count * SCALE));

// Polls, because most of what is waited for happens in another process. Returns the value. Checks at most half of the time:
// checks that start processes, in many tests at the same time, would slow down a busy machine for all of them.
export async function until(isSo, what, usual_ms = 60000) {
    const limit_ms = usual_ms * SLACK;
    const deadline = Date.now() + limit_ms;
    for (;;) {
        const began = Date.now();
        const value = await isSo();
        if (value)
            return value;
        assert.ok(Date.now() < deadline, `waited ${limit_ms} ms in vain: ${what}`);
        await sleep(Math.max(10, Date.now() - began));
    }
}

// Many things, however long they take together: each must come within the limit after the one before.
export async function untilAll(count, all, what, usual_ms = 60000) {
    for (let came = count(); came < all; came = count())
        await until(() => count() > came, `${what} (${came} of ${all})`, usual_ms);
}

// With the pid this names one process for ever; null once it is dead.
export function startOf(pid) {
    try {
        const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(")").at(-1).trim().split(" ");
        return "ZX".includes(fields[0]) ? null : Number(fields[19]);
    } catch {
        return null;
    }
}

// A process that looks dead holds its files, and with them the hub's lock, until its last thread has ended.
function hasThreads(pid) {
    try {
        return readdirSync(`/proc/${pid}/task`).length > 1;
    } catch {
        return false;
    }
}

// What still runs with this home may write into it: a hub, or a shell that keeps its history when its terminal goes.
function processesOf(home) {
    return readdirSync("/proc").filter((name) => {
        try {
            return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(`HOME=${home}`);
        } catch {
            return false; // gone, or another user's
        }
    }).map(Number);
}

function kill(pid, signal = "SIGKILL") {
    try {
        process.kill(pid, signal);
    } catch (problem) {
        assert.equal(problem.code, "ESRCH"); // it has just ended
    }
}

const openHomes = new Set();

export class Home {
    // With a database of its own, where that is the store.
    static async made(env = {}) {
        if (!ON_POSTGRES || "SAYSO_STORE" in env)
            return new Home(env);
        const database = await newDatabase();
        return Object.assign(new Home({ ...env, SAYSO_STORE: database }), { database });
    }

    // The path is short: sockets live in it.
    constructor(env = {}) {
        this.path = newDirectory();
        this.data = path.join(this.path, ".local/share/sayso");
        mkdirSync(path.join(this.path, "run"), { mode: 0o700 });
        this.env = {
            ...Object.fromEntries(KEPT.filter((name) => name in process.env).map((name) => [name, process.env[name]])),
            HOME: this.path,
            XDG_DATA_HOME: path.join(this.path, ".local/share"),
            XDG_CONFIG_HOME: path.join(this.path, ".config"),
            XDG_RUNTIME_DIR: path.join(this.path, "run"),
            SAYSO_TOOLS: "all", // results are held against what is listed; the default has tests of its own (tools.test.mjs)
            SAYSO_PORT: "0", // any that is free: many hubs run at the same time
            ...env,
        };
        this.endings = []; // what stop() must close first
        openHomes.add(this);
    }

    spawn(args, options = {}, program = BIN) {
        const child = spawn(program, args, { cwd: this.path, env: this.env, stdio: ["pipe", "pipe", "pipe"], ...options });
        this.endings.push(() => child.kill("SIGKILL")); // where a test failed in the middle
        return child;
    }

    // Runs the program to its end; reads from /dev/null, as under a script.
    sayso(...args) {
        return new Promise((resolve, reject) => {
            const child = this.spawn(args, { stdio: ["ignore", "pipe", "pipe"] });
            const said = { out: "", err: "" };
            child.stdout.on("data", (bytes) => { said.out += bytes; });
            child.stderr.on("data", (bytes) => { said.err += bytes; });
            child.on("error", reject);
            child.on("close", (code) => resolve({ code, ...said }));
        });
    }

    // The same, and it must work.
    async must(...args) {
        const done = await this.sayso(...args);
        assert.equal(done.code, 0, `sayso ${args.join(" ")}: ${done.out}${done.err}`);
        return done.out;
    }

    // The same from outside, as from a terminal of the person's own: what is below this process is an agent's.
    async apart(...args) {
        const out = path.join(this.path, `apart${this.apartCount = (this.apartCount ?? 0) + 1}`);
        const script = '"$@" >"$0" 2>&1; echo $? >"$0.new"; mv "$0.new" "$0.code"';
        this.spawn(["-f", "sh", "-c", script, out, BIN, ...args], { stdio: "ignore" }, "setsid");
        await until(() => existsSync(`${out}.code`), `sayso ${args.join(" ")} has ended`);
        assert.equal(Number(readFileSync(`${out}.code`)), 0, `sayso ${args.join(" ")}: ${readFileSync(out)}`);
        return readFileSync(out, "utf8");
    }

    // What `sayso list --json` prints, as the hub says it: a program that is started for every look costs more than what is tested.
    async list(which = "--all") {
        if (!existsSync(this.data))
            return [];
        try {
            const person = await Person.open(this);
            const { asks } = await person.call("ask/list", which === "--all" ? {} : { which: which.slice(2) }).finally(() => person.close());
            return asks;
        } catch { // there is no hub, or it has just gone: who comes starts one
            return JSON.parse(await this.must("list", "--json", ...(which === "--all" ? [] : [which])));
        }
    }

    // Waits until so many asks are open; returns their rows.
    opened(count = 1) {
        return until(async () => {
            const rows = this.hubPid() ? await this.list("--active") : [];
            return rows.length >= count && rows;
        }, `${count} open asks`);
    }

    hub() {
        try {
            return JSON.parse(readFileSync(path.join(this.data, "hub.json")));
        } catch {
            return {};
        }
    }

    // Of the hub that is running now, if there is one.
    hubPid() {
        const hub = this.hub();
        return hub.pid && startOf(hub.pid) === hub.start ? hub.pid : null;
    }

    // As a power cut would, and waits until it is gone.
    async killHub(signal = "SIGKILL") {
        const pid = this.hubPid();
        assert.ok(pid, "there is no hub to end");
        kill(pid, signal);
        await until(() => this.hubPid() !== pid && !hasThreads(pid), `hub ${pid} is gone after ${signal}`);
    }

    // Everything under HOME but the runtime directory we made ourselves.
    touched() {
        return readdirSync(this.path, { recursive: true }).filter((name) => name !== "run");
    }

    // A hub holds the lock before it says who it is, so one that is being started is seen too.
    isLocked() {
        const lock = path.join(this.data, "hub.lock");
        if (!existsSync(lock))
            return false;
        const inode = statSync(lock).ino;
        return readFileSync("/proc/locks", "latin1").split("\n").some((line) => line.includes(`:${inode} `));
    }

    // Each process is told to end once, so that a hub can still check its memory on the way out.
    async endAll() {
        const told = new Map(); // pid: its start
        let looked = 0;
        try {
            await until(() => {
                if (Date.now() - looked < 100 && [...told].some(([pid, start]) => start && (startOf(pid) === start || hasThreads(pid))))
                    return false; // a look at all processes of this machine takes longer
                looked = Date.now();
                const left = processesOf(this.path);
                for (const pid of left.filter((one) => !told.has(one))) {
                    told.set(pid, startOf(pid));
                    kill(pid, "SIGTERM");
                }
                return left.length === 0 && !this.isLocked();
            }, "no process uses this home");
        } finally {
            processesOf(this.path).forEach((pid) => kill(pid));
        }
    }

    async stop() {
        if (!openHomes.delete(this))
            return;
        const problems = [];
        for (const end of this.endings.reverse())
            await Promise.resolve().then(end).catch((problem) => problems.push(problem));
        await this.endAll().catch((problem) => problems.push(problem));
        const log = path.join(this.data, "hub.log");
        const said = existsSync(log) ? readFileSync(log, "utf8") : "";
        rmSync(this.path, { recursive: true, force: true });
        if (this.database)
            await dropDatabase(this.database);
        assert.doesNotMatch(said, /Sanitizer|runtime error/);
        if (problems.length)
            throw problems[0];
    }
}

// Runs `body` with a fresh home that is gone afterwards, whatever happens.
export async function withHome(env, body) {
    const home = await Home.made(env);
    try {
        return await body(home);
    } finally {
        await home.stop();
    }
}

// The same as a test's function: test("what holds", inHome(async (home) => {...}, {NAME: "value"})).
export function inHome(body, env = {}) {
    return () => withHome(env, body);
}
