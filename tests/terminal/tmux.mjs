// tmux.mjs - a shell in a tmux of its own, as a person has one: types, and waits for what it shows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { until } from "../mcp/lib/home.mjs";

export const READY_MS = 510; // no key answers in the first half second of a question, which began before it was seen

export class Tmux {
    constructor(home, env = {}, name = "tmux") {
        this.socket = `${home.path}/${name}`;
        this.env = { ...home.env, LANG: "C.UTF-8", TERM: "xterm-256color", ...env };
        this.run("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24",
                 "exec env PS1='ready$ ' bash --norc --noprofile -i");
        this.isOpen = true;
        home.endings.push(() => this.close());
    }
    run(...words) {
        return execFileSync("tmux", ["-u", "-S", this.socket, ...words], { env: this.env, encoding: "utf8", stdio: "pipe" });
    }
    // Like closing the window: the program gets no chance to say goodbye.
    close() {
        if (this.isOpen)
            this.run("kill-server");
        this.isOpen = false;
    }
    text() { return this.run("capture-pane", "-p"); }
    keys(...names) { this.run("send-keys", ...names); }
    line(text) {
        this.run("send-keys", "-R");
        this.run("clear-history");
        this.run("send-keys", "-l", "--", `${text}; echo "end=$?"`);
        this.keys("C-m");
    }
    wait(pattern) { return until(() => pattern.exec(this.text()), `${pattern} on the screen`, 60000); }
    async end(code) { assert.equal(Number((await this.wait(/^end=(\d+)$/m))[1]), code, this.text()); }
}
