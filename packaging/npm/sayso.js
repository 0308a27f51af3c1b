#!/usr/bin/env node
// Runs the program of this machine's package as if it had been started itself: its streams, signals and exit code.
// Nothing is downloaded, and nothing runs when this is installed.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const PLATFORM = `${process.platform}-${process.arch}`;
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT"];
const BY_TERMINAL = ["SIGINT", "SIGQUIT"]; // a terminal sends them to the program, too

function fail(text) {
    process.stderr.write(`sayso: ${text}\n`);
    process.exit(1);
}

function packaged() {
    try {
        return require.resolve(`sayso-${PLATFORM}/bin/sayso`);
    } catch {
        return fail(`the package sayso-${PLATFORM} is missing. sayso runs on Linux (x64, arm64) and in WSL2; install it there ` +
                    "without --omit=optional");
    }
}

/** A client keeps the path that `sayso install` writes. npx may remove its copy at any time, so that path is a copy of our own. */
function lasting(program) {
    const data = process.env.XDG_DATA_HOME && path.isAbsolute(process.env.XDG_DATA_HOME) ? process.env.XDG_DATA_HOME
        : path.join(os.homedir(), ".local", "share");
    const folder = path.join(data, "sayso", "bin");
    const copy = path.join(folder, "sayso");
    const unfinished = `${copy}.${process.pid}`;
    if (fs.existsSync(copy) && fs.readFileSync(copy).equals(fs.readFileSync(program)))
        return copy;
    fs.mkdirSync(path.join(data, "sayso"), { recursive: true, mode: 0o700 });
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.copyFileSync(program, unfinished);
    fs.chmodSync(unfinished, 0o755);
    fs.renameSync(unfinished, copy); // a program that runs keeps its old file
    return copy;
}

function run(program) {
    const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
    const hasTerminal = [0, 1, 2].some((fd) => require("node:tty").isatty(fd));
    for (const name of [...FORWARDED, ...BY_TERMINAL])
        process.on(name, () => {
            if (!(hasTerminal && BY_TERMINAL.includes(name)))
                child.kill(name);
        });
    child.on("error", (problem) => fail(`${program} can't be started: ${problem.message}`));
    child.on("exit", (code, signal) => {
        if (!signal)
            process.exit(code);
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    });
}

const program = packaged();
if (process.argv[2] === "install") {
    try {
        run(lasting(program));
    } catch (problem) {
        fail(`the program can't be copied to where it stays: ${problem.message}`);
    }
} else {
    run(program);
}
