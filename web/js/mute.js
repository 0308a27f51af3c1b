/*
 * mute.js - an agent that is refused again and again: the page offers to be silent about it. Its
 * new asks are then put off in every channel, as "later" does; they stay in the list (B4).
 */
import { button, foreign, icon, make } from "./dom.js";
import { say } from "./language.js";
import { isOpen } from "./model.js";
import { call } from "./wire.js";
import { on } from "./signals.js";
import { sayAgent } from "./ask_bar.js";

/** @typedef {import("./model.js").Ask} Ask */

const REFUSALS = 5;
const WITHIN_MS = 300000;
const MUTE_S = 1200;
const REFUSED_KEY = "sayso-refused";

/** When each was refused and until when it is muted; outlives a reload, as the tab does.
 * @type {{refusals: Record<string, number[]>, mutes: Record<string, number>}}
 */
const refusedAgents =
    JSON.parse(sessionStorage.getItem(REFUSED_KEY) ?? '{"refusals":{},"mutes":{}}');

function saveRefused() {
    sessionStorage.setItem(REFUSED_KEY, JSON.stringify(refusedAgents));
}

/** A name is a claim, so what sayso knows itself is part of it.
 * @param {Ask} ask
 */
function agentName(ask) {
    return JSON.stringify([ask.agent, ask.origin?.token ?? ask.origin?.directory]);
}

/** @param {Ask} ask */
function secondsMuted(ask) {
    return Math.ceil(((refusedAgents.mutes[agentName(ask)] ?? 0) - Date.now()) / 1000);
}

/** @param {Ask} ask */
export function isMuted(ask) {
    return secondsMuted(ask) > 0;
}

/** @param {Ask} ask */
function putOff(ask) {
    call("ask/later", { session_id: ask.session_id, seconds: secondsMuted(ask) })
        .catch(() => {}); /* the line is cut or it is over: it stays as loud as any other */
}

/** @param {Ask} ask that has ended
 * @returns {HTMLElement|null} */
export function buildMuteOffer(ask) {
    const recent = (refusedAgents.refusals[agentName(ask)] ?? [])
        .filter((at) => at > Date.now() - WITHIN_MS);
    if (recent.length < REFUSALS || isMuted(ask))
        return null;
    const words = make("p", {}, make("b", {},
        foreign(say("refused_often", { count: recent.length, agent: sayAgent(ask) }))));
    const node = make("div", { class: "banner info", role: "status" }, icon("bell"), words,
        button({ class: "small", "data-key": "mute", click: () => {
            refusedAgents.mutes[agentName(ask)] = Date.now() + MUTE_S * 1000;
            saveRefused();
            node.replaceChildren(icon("bell"), make("p", {}, say("muted_now")));
        } }, say("mute_it")));
    return node;
}

export function startMute() {
    on("asks", (change) => {
        if (!change)
            return;
        const { ask, before } = change;
        if (!before && isOpen(ask) && isMuted(ask))
            putOff(ask);
        if (before && isOpen(before) && ["cancelled", "declined"].includes(ask.status)) {
            const name = agentName(ask);
            refusedAgents.refusals[name] = [...refusedAgents.refusals[name] ?? [], Date.now()]
                .slice(-REFUSALS);
            saveRefused();
        }
    });
}
