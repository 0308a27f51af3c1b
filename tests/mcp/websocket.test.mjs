// websocket.test.mjs - npm's `ws` as a peer of the portal's socket: its own checks of our frames, fragments,
// pings, sizes and closing, and many of its sockets at the same time.
// Proves: R7.2 R12.1
import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import WebSocket from "ws";
import { inHome, scaled } from "./lib/home.mjs";
import { Tab } from "./lib/tab.mjs";
import { Person } from "./lib/wire.mjs";

const CHOICE = {
    title: "Which one?", prompt: "Two ways are open and both would work.", selection_mode: "single",
    options: [{ id: "a", label: "First", recommended: true }, { id: "b", label: "Second" }],
};

async function start(home) {
    home.spawn(["serve"]);
    const person = await Person.at(home);
    const { link } = await person.call("portal/link");
    return { person, code: link.split("#code=")[1] };
}

test("a tab signs in, answers, and is told of every change", inHome(async (home) => {
    const { person, code } = await start(home);
    for (const [host, secret] of [["127.0.0.1", { code }], ["localhost", null], ["[::1]", null]]) {
        const { link } = secret ? {} : await person.call("portal/link");
        const tab = await Tab.at(home, secret ?? { code: link.split("#code=")[1] }, host);
        await tab.call("ask/watch", { remaining: true });
        const asking = home.sayso("ask", CHOICE.title, "-p", CHOICE.prompt, "-o", "a=First", "-o", "b=Second", "-r", "a", "--json");
        const { ask } = (await tab.event("ask/changed")).params;
        await tab.call("ask/answer", { session_id: ask.session_id, selected_ids: ["b"] }, 7);
        await tab.call("ask/send", { session_id: ask.session_id });
        const result = JSON.parse((await asking).out);
        assert.deepEqual(result.selection.selected_ids, ["b"]);
        assert.equal(result.answered_by.via, "web");
    }
}));

test("pings are answered, large messages come whole, closing is in order", inHome(async (home) => {
    const { code } = await start(home);
    const tab = await Tab.at(home, { code });
    tab.socket.ping("are you there");
    assert.equal(String((await once(tab.socket, "pong"))[0]), "are you there");
    const long = "x".repeat(60000);
    await assert.rejects(tab.call("ask/get", { session_id: long }), { code: -32000 });
    assert.equal((await tab.call("settings/list")).settings.length > 20, true);
    tab.socket.close(1000, "done");
    const [closed] = await once(tab.socket, "close");
    assert.equal(closed, 1000);
    const rude = await Tab.at(home, { token: tab.signed.token });
    rude.socket.send("y".repeat(1048577));
    assert.equal((await once(rude.socket, "close"))[0], 1009);
    const binary = await Tab.at(home, { token: tab.signed.token });
    binary.socket.send(Buffer.from([1, 2, 3]));
    assert.equal((await once(binary.socket, "close"))[0], 1003);
}));

test("compression is offered and not taken; a foreign origin is refused", inHome(async (home) => {
    await start(home);
    const port = home.hub().port;
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { origin: `http://127.0.0.1:${port}`, perMessageDeflate: true });
    await once(socket, "open");
    assert.equal(socket.extensions, "");
    socket.terminate();
    for (const origin of ["http://evil.example", `http://127.0.0.1:${port + 1}`, undefined]) {
        const refused = new WebSocket(`ws://127.0.0.1:${port}/ws`, { origin });
        const [problem] = await once(refused, "error");
        assert.match(problem.message, /403/);
    }
}));

test("many tabs see the same event; the hub ends and all hear it", inHome(async (home) => {
    const { person, code } = await start(home);
    const first = await Tab.at(home, { code });
    const { token } = first.signed;
    const tabs = [first, ...await Promise.all(Array.from({ length: scaled(200) }, () => Tab.at(home, { token })))];
    await Promise.all(tabs.map((tab) => tab.call("ask/watch")));
    const asking = home.sayso("ask", CHOICE.title, "-p", CHOICE.prompt, "-o", "a=First", "-o", "b=Second", "-r", "a", "--wait", "0", "--json");
    const { session_id } = JSON.parse((await asking).out);
    for (const tab of tabs)
        assert.equal((await tab.event("ask/changed")).params.ask.session_id, session_id);
    const closings = tabs.map((tab) => once(tab.socket, "close"));
    await person.call("hub/stop");
    for (const [code] of await Promise.all(closings))
        assert.equal(code, 1001);
    assert.ok(tabs.every((tab) => tab.events.some((message) => message.method === "hub/closing")));
}));
