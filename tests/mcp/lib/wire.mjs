// wire.mjs - a person at the hub's own socket (docs/wire.md): quick enough for thousands of answers.
import net from "node:net";
import { once } from "node:events";
import { until } from "./home.mjs";

export class Person {
    // Who says nothing for 5 s is closed, and here others may take all the time there is: once more, then. `who` may be an agent.
    static async at(home, who = { role: "person" }, tries = 5) {
        await until(() => home.hubPid(), "a hub");
        try {
            const person = await Person.open(home, who);
            home.endings.push(() => person.close());
            return person;
        } catch (problem) {
            if (tries === 0)
                throw problem;
            return Person.at(home, who, tries - 1);
        }
    }

    // At the hub that is there.
    static async open(home, who = { role: "person" }) {
        const person = new Person(net.connect(home.hub().socket));
        await once(person.socket, "connect");
        await person.call("hello", { wire: 1, version: "test", features: [], ...who });
        return person;
    }

    constructor(socket) {
        this.socket = socket;
        this.calls = new Map();
        this.lastId = 0;
        this.rest = "";
        this.onEvent = () => {};
        socket.setEncoding("utf8");
        socket.on("data", (text) => this.take(text));
        socket.on("error", () => {});
        socket.on("close", () => this.calls.forEach(({ reject }) => reject(new Error("the hub is gone"))));
    }

    take(text) {
        const lines = (this.rest + text).split("\n");
        this.rest = lines.pop();
        for (const line of lines) {
            const message = JSON.parse(line);
            if (message.method)
                this.onEvent(message);
            else
                this.settle(message);
        }
    }

    settle(message) {
        const call = this.calls.get(message.id);
        this.calls.delete(message.id);
        if (message.error)
            call.reject(new Error(JSON.stringify(message.error)));
        else
            call.resolve(message.result);
    }

    call(method, params = {}) {
        const id = ++this.lastId;
        this.socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
        return new Promise((resolve, reject) => this.calls.set(id, { resolve, reject }));
    }

    // Calls `see` with the row of every ask there is and of every one to come, once each.
    async watch(see) {
        const known = new Set();
        const meet = (row) => {
            if (!known.has(row.session_id)) {
                known.add(row.session_id);
                see(row);
            }
        };
        this.onEvent = async (message) => {
            if (message.method === "ask/changed")
                meet(message.params.ask);
            else if (message.method === "resync") // we fell behind: the list is the truth
                (await this.call("ask/list", { limit: 10000 })).asks.forEach(meet);
        };
        (await this.call("ask/watch", { limit: 10000 })).asks.forEach(meet);
        return known;
    }

    close() {
        this.calls.clear(); // a call that still waits does so forever, in a test that is over
        this.socket.destroy();
    }
}
