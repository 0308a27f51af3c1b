// exchange.mjs - single exchanges with /mcp, sent as they are: whole replies, and streams that can be cut.
import http from "node:http";
import { eventReader } from "./web.mjs";

export const JSON_TYPE = { "Content-Type": "application/json", "Accept": "application/json, text/event-stream" };

// One exchange with nothing added: {status, headers, body}; a header that is null is left out.
export function exchange(home, method, headers, body = "", path = "/mcp") {
    return new Promise((resolve, reject) => {
        const given = { "Authorization": `Bearer ${home.web.token}`, ...headers };
        for (const name of Object.keys(given).filter((key) => given[key] === null))
            delete given[name];
        const sent = http.request(home.web.url.replace("/mcp", path), { method, headers: given, agent: false }, (came) => {
            let text = "";
            came.setEncoding("utf8");
            came.on("data", (part) => {
                text += part;
                if (came.headers["content-type"] === "text/event-stream") // it would go on
                    sent.destroy();
            });
            came.on("error", () => {});
            came.on("close", () => resolve({ status: came.statusCode, headers: came.headers, body: text }));
        });
        sent.on("error", reject);
        sent.end(body);
    });
}

// A stream of events that is read as it comes; `reset` is what a broken network does.
export function listen(home, method, headers, body = "") {
    const stream = { events: [], status: null, isOver: false };
    const given = { "Authorization": `Bearer ${home.web.token}`, ...headers };
    stream.sent = http.request(home.web.url, { method, headers: given, agent: false }, (came) => {
        stream.status = came.statusCode;
        came.setEncoding("utf8");
        came.on("data", eventReader((event) => stream.events.push(event)));
        came.on("error", () => {});
        came.on("close", () => { stream.isOver = true; });
    });
    stream.sent.on("error", () => { stream.isOver = true; });
    stream.sent.end(body);
    stream.reset = () => stream.sent.socket.resetAndDestroy();
    stream.messages = () => stream.events.filter(({ data }) => data).map(({ data }) => JSON.parse(data));
    home.endings.push(() => stream.sent.destroy());
    return stream;
}
