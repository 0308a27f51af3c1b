// tab.mjs - a page of the portal on npm's `ws` (docs/portal.md), signed in by a link's code or a token.
import assert from "node:assert/strict";
import { once } from "node:events";
import WebSocket from "ws";
import { until } from "./home.mjs";

export class Tab {
    static async at(home, secret, host = "127.0.0.1") {
        const tab = new Tab(home, host);
        await once(tab.socket, "open");
        tab.signed = await tab.call("hello", { wire: 1, role: "person", name: "ws", ...secret });
        return tab;
    }

    constructor(home, host) {
        const port = home.hub().port;
        this.socket = new WebSocket(`ws://${host}:${port}/ws`, { origin: `http://${host}:${port}` });
        this.calls = new Map();
        this.lastId = 0;
        this.events = [];
        home.endings.push(() => this.socket.terminate());
        this.socket.on("message", (data, isBinary) => {
            assert.equal(isBinary, false);
            const message = JSON.parse(data);
            if (message.method)
                this.events.push(message);
            else
                this.calls.get(message.id)?.(message);
        });
    }

    async call(method, params = {}, fragments = 1) {
        const id = ++this.lastId;
        const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
        const step = Math.ceil(text.length / fragments);
        for (let at = 0; at < text.length; at += step)
            this.socket.send(text.slice(at, at + step), { fin: at + step >= text.length });
        const reply = await new Promise((resolve) => this.calls.set(id, resolve));
        if (reply.error)
            throw Object.assign(new Error(reply.error.message), reply.error);
        return reply.result;
    }

    event(method) {
        return until(() => this.events.find((message) => message.method === method), method);
    }
}
