// far.mjs - a hub that other machines reach over TLS, and a machine that reaches it: no hub and no data of its own.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import https from "node:https";
import path from "node:path";
import { Readable } from "node:stream";
import { Home, until } from "./home.mjs";
import { newToken } from "./web.mjs";

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch"];

// An authority of the test's own, and a certificate for localhost by it.
function makePapers(home) {
    const at = (name) => path.join(home.path, name);
    const openssl = (...words) => execFileSync("openssl", words, { stdio: "pipe" });
    openssl("req", ...NEW_KEY, "-x509", "-days", "2", "-subj", "/CN=ca", "-keyout", at("ca.key"), "-out", at("ca.pem"));
    openssl("req", ...NEW_KEY, "-subj", "/CN=own", "-keyout", at("own.key"), "-out", at("csr"));
    writeFileSync(at("ext"), "subjectAltName=DNS:localhost\n");
    openssl("x509", "-req", "-in", at("csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("ext"),
        "-days", "2", "-out", at("own.pem"));
}

async function freePort() {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address();
    await new Promise((resolve) => { probe.close(resolve); });
    return port;
}

// fetch that trusts this authority alone.
function trusting(ca) {
    return (url, { method = "GET", headers, body, signal } = {}) => new Promise((resolve, reject) => {
        const sent = https.request(url, { method, headers: Object.fromEntries(new Headers(headers)), ca, signal, agent: false }, (reply) => {
            const hasBody = ![202, 204, 304].includes(reply.statusCode);
            const given = new Headers();
            for (const [name, value] of Object.entries(reply.headers))
                given.set(name, String(value));
            if (!hasBody)
                reply.resume();
            resolve(new Response(hasBody ? Readable.toWeb(reply) : null, { status: reply.statusCode, headers: given }));
        });
        sent.on("error", reject);
        sent.end(body);
    });
}

export async function startFarHub(home) {
    home.far ??= { port: await freePort() };
    const { port } = home.far;
    const at = (name) => path.join(home.path, name);
    home.far.url = `https://localhost:${port}`;
    home.spawn(["serve", "--listen", `127.0.0.1:${port}`, "--public-url", home.far.url, "--tls-cert", at("own.pem"), "--tls-key", at("own.key")],
        { stdio: "ignore" });
    await until(() => home.hubPid(), "a hub");
    await until(async () => (await home.sayso("status", "--json")).out.includes(home.far.url), "a hub for others");
}

// Runs `body(hub, machine)`; clients of `machine` use the hub, over HTTPS or through `sayso mcp --hub`.
export async function withFar(body) {
    const hub = await Home.made({ SAYSO_DELIVER_AFTER: "0" }), machine = new Home();
    try {
        makePapers(hub);
        await startFarHub(hub);
        const token = await newToken(hub, "far away"), file = path.join(machine.path, "token");
        writeFileSync(file, `${token}\n`, { mode: 0o600 });
        machine.way = ["--hub", hub.far.url, "--token-file", file, "--ca-file", path.join(hub.path, "ca.pem")];
        machine.web = { url: `${hub.far.url}/mcp`, token, fetch: trusting(readFileSync(path.join(hub.path, "ca.pem"))) };
        machine.webStart = Promise.resolve(machine.web);
        return await body(hub, machine);
    } finally {
        await machine.stop();
        await hub.stop();
    }
}
