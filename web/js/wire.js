/*
 * wire.js - the line to the hub: JSON-RPC over one WebSocket, which comes back by itself. The token
 * belongs to this tab; it is never in an address, and a code is taken out of it immediately. The
 * other end first proves that it is the hub; until then it is told nothing (C5).
 */
import { forgetDevice, keepDevice, makeDevice, readDevice, signChallenge } from "./device.js";
import { askForProof, portHere, proverOf } from "./proof.js";
import { tell } from "./signals.js";

/** @typedef {{code: number, message: string, data?: any}} WireError */

const WIRE_NUMBER = 1;
const TOKEN_KEY = "sayso-token";
const RELOADED_KEY = "sayso-reloaded";
const NOT_SIGNED_IN = -32003;
const OTHER_WIRE = -32001;
const BACKOFF_MS = [250, 500, 1000, 2000, 3000, 5000];
const HELLO_ID = 0;
const PROVE_ID = -1;

/** What the line is: "connecting", "open", "lost" or "signed_out"; why: a code of the hub's, or
 * "stranger" where what answers is not the hub. */
export const line = {
    state: "connecting",
    retry_at: 0,
    tab: "",
    version: "",
    why: "",
    was_in: false, /* this tab was signed in before */
};
/** @type {WebSocket|null} */
let socket = null;
let failures = 0;
/** What we wait for before anything else is heard: the hub's proof, then its reply to hello. */
let awaited = 0;
let wantedProof = "";
let lastId = HELLO_ID;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let retryTimer;
/** @type {Map<number, {resolve: (value: any) => void, reject: (error: WireError) => void}>} */
const calls = new Map();
/** @type {Map<string, (params: any) => void>} */
const events = new Map();
let signInCode = "";
/** This browser, where it stays signed in: all its tabs are one.
 * @type {import("./device.js").Device|null} */
let device = null;
/** A key on its way to become that. @type {CryptoKeyPair|null} */
let offeredKeys = null;
const channel = new BroadcastChannel("sayso");

/** Takes the one-time code out of the address before anything else can see it. */
function takeCode() {
    const found = /^#code=([\w-]+)$/.exec(location.hash);
    if (!found)
        return;
    signInCode = found[1];
    history.replaceState(history.state, "", location.pathname + location.search);
}

/** @returns {string} */
function deviceName() {
    const agent = navigator.userAgent;
    const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox"
        : /Chrome\//.test(agent) ? "Chromium" : /Safari\//.test(agent) ? "Safari" : "Browser";
    const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS"
        : /Windows/.test(agent) ? "Windows" : /Mac OS/.test(agent) ? "macOS" : "Linux";
    return `${browser}, ${system}`;
}

/** @param {string} state */
function setState(state) {
    line.state = state;
    tell("line", state);
}

/** @param {WireError} error */
function failCalls(error) {
    for (const call of calls.values())
        call.reject(error);
    calls.clear();
}

/**
 * @param {number} id
 * @param {string} method
 * @param {Record<string, any>} params
 */
function post(id, method, params) {
    socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
}

/** @param {Record<string, string>} secret */
function sayHello(secret) {
    awaited = HELLO_ID;
    post(HELLO_ID, "hello", { wire: WIRE_NUMBER, role: "person", name: deviceName(), ...secret });
}

/** With a key, so that the hub can let this browser stay.
 * @param {WebSocket} opened
 */
async function showCode(opened) {
    const made = location.protocol === "http:" ? await makeDevice() : null;
    if (socket !== opened)
        return;
    offeredKeys = made?.keys ?? null;
    sayHello({ code: signInCode, ...made && { key: made.key } });
}

/** A browser that stays signed in needs no link. A fresh link is of the hub that is there; a token
 * may be older than what answers now, and so may a device.
 * @param {WebSocket} opened
 */
async function greet(opened) {
    if (signInCode && !device) {
        showCode(opened);
        return;
    }
    const { params, proof } = await askForProof(
        device ?? await proverOf(sessionStorage.getItem(TOKEN_KEY) ?? ""));
    if (socket !== opened)
        return;
    wantedProof = proof;
    awaited = PROVE_ID;
    post(PROVE_ID, "hub/prove", params);
}

/** As if it had no key: the link that was opened, or the tab's own token, may still do. */
function goOnWithoutDevice() {
    device = null;
    socket?.close();
    socket = null;
    connect();
}

/** @param {{result?: any, error?: WireError}} message */
async function heardProof(message) {
    const asked = socket;
    awaited = Infinity;
    if (message.result?.proof === wantedProof) {
        const signature = device &&
            await signChallenge(device, String(message.result.challenge), portHere());
        if (socket === asked)
            sayHello(device && signature ? { device: device.id, signature }
                : { token: sessionStorage.getItem(TOKEN_KEY) ?? "" });
    } else if (device && (signInCode || sessionStorage.getItem(TOKEN_KEY))) {
        goOnWithoutDevice(); /* the key stays: the other end has not proved that it is the hub */
    } else if (message.error?.data?.code === "unauthorized") {
        line.why = "unauthorized"; /* so does the token */
        line.was_in = true;
        setState("signed_out");
    } else {
        line.why = "stranger";
        socket?.close();
    }
}

/** The hub closes the line afterwards; what is not final is tried again.
 * @param {WireError} error
 */
function refused(error) {
    line.why = error.data?.code ?? "";
    if (error.code === OTHER_WIRE &&
        !sessionStorage.getItem(RELOADED_KEY)) { /* the page is of an older hub */
        sessionStorage.setItem(RELOADED_KEY, "yes");
        location.reload();
        return;
    }
    if (error.code !== NOT_SIGNED_IN || line.why === "rate_limited")
        return;
    if (device) { /* revoked, or browsers don't stay: the hub has shown that it is the hub */
        forgetThisBrowser();
        if (signInCode || sessionStorage.getItem(TOKEN_KEY)) {
            goOnWithoutDevice();
            return;
        }
    }
    if (signInCode && sessionStorage.getItem(TOKEN_KEY)) { /* a spent link, but signed in before */
        signInCode = "";
        return;
    }
    line.was_in = !signInCode;
    signInCode = "";
    sessionStorage.removeItem(TOKEN_KEY);
    setState("signed_out");
}

/** What the code of a link became: a device, or a tab with a token. @param {any} welcome */
function enrol(welcome) {
    const keys = offeredKeys;
    offeredKeys = null;
    if (welcome.proof_key && keys) {
        sessionStorage.removeItem(TOKEN_KEY);
        keepDevice(keys, welcome.tab, welcome.proof_key).then((kept) => {
            device = kept;
            channel.postMessage("signed in");
            if (line.state === "signed_out")
                connect();
        });
    } else if (keys) {
        forgetDevice();
    }
}

/** This browser was signed out by its person. */
export function forgetThisBrowser() {
    line.was_in ||= !!device;
    device = null;
    return forgetDevice();
}

/** @param {{result?: any, error?: WireError}} message */
function heardHello(message) {
    if (message.error) {
        refused(message.error);
        return;
    }
    enrol(message.result);
    signInCode = "";
    failures = 0;
    line.why = "";
    sessionStorage.removeItem(RELOADED_KEY);
    if (message.result.token)
        sessionStorage.setItem(TOKEN_KEY, message.result.token);
    line.tab = message.result.tab ?? "";
    line.version = message.result.version;
    setState("open");
}

/** @param {MessageEvent} event */
function heard(event) {
    const message = JSON.parse(event.data);

    if (line.state !== "open") {
        if (message.id === awaited)
            (awaited === PROVE_ID ? heardProof : heardHello)(message);
    } else if (message.method) {
        events.get(message.method)?.(message.params ?? {});
    } else {
        const call = calls.get(message.id);
        calls.delete(message.id);
        if (message.error)
            call?.reject(message.error);
        else
            call?.resolve(message.result);
    }
}

function lost() {
    socket = null;
    failCalls({ code: 0, message: "the line is cut" });
    if (line.state === "signed_out")
        return;
    const wait =
        BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] * (0.8 + Math.random() * 0.4);
    failures++;
    line.retry_at = Date.now() + wait;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(connect, wait);
    if (line.state !== "connecting" || failures > 2)
        setState("lost");
}

/** A person's token, where no link can bring one: from another machine than the hub's.
 * @param {string} token
 */
export function signInWith(token) {
    sessionStorage.setItem(TOKEN_KEY, token.trim());
    socket?.close(); /* the hub that refused the last one may not have closed it yet */
    socket = null;
    connect();
}

export function connect() {
    clearTimeout(retryTimer);
    if (socket)
        return;
    if (!device && !signInCode && !sessionStorage.getItem(TOKEN_KEY)) {
        setState("signed_out");
        return;
    }
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
    const opened = new WebSocket(address);
    let hasOpened = false;
    socket = opened;
    awaited = Infinity;
    opened.addEventListener("open", () => {
        hasOpened = true;
        greet(opened);
    });
    opened.addEventListener("message", heard);
    opened.addEventListener("close", () => {
        if (!hasOpened)
            line.why = ""; /* nothing listens there now: the old reason is void */
        if (socket === opened)
            lost();
    });
}

/**
 * @param {string} method
 * @param {Record<string, any>} [params]
 * @returns {Promise<any>} rejected with a WireError; code 0: the line is cut
 */
export function call(method, params = {}) {
    return new Promise((resolve, reject) => {
        if (!socket || line.state !== "open") {
            reject({ code: 0, message: "the line is cut" });
            return;
        }
        const id = ++lastId;
        calls.set(id, { resolve, reject });
        post(id, method, params);
    });
}

/**
 * @param {string} method
 * @param {(params: any) => void} told
 */
export function hear(method, told) {
    events.set(method, told);
}

/** Another tab of this browser signed in. */
async function followOther() {
    if (line.state === "open")
        return;
    device = await readDevice();
    socket?.close(); /* the hub that refused may not have closed it yet */
    socket = null;
    connect();
}

export async function startLine() {
    takeCode();
    addEventListener("hashchange", () => { /* a fresh link opened in this very tab */
        takeCode();
        if (signInCode && line.state === "signed_out")
            connect();
    });
    addEventListener("online", connect);
    document.addEventListener("visibilitychange", () => {
        if (!document.hidden && line.state === "lost")
            connect();
    });
    channel.addEventListener("message", followOther);
    device = await readDevice();
    connect();
}
