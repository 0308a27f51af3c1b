/* main.js - the frame around every page: side list, places, routes; and where it all begins. */
import { draw, icon, make, setText } from "./dom.js";
import { say } from "./language.js";
import { asks, model, saveSetting, setting, startModel } from "./model.js";
import { line, startLine } from "./wire.js";
import { on, tell } from "./signals.js";
import { startGuard } from "./guard.js";
import { startNotify } from "./notify.js";
import { startMissed } from "./missed.js";
import { startMute } from "./mute.js";
import { startKeys } from "./keys.js";
import { keepFocus } from "./announce.js";
import { buildList } from "./list.js";
import { buildPanel, buildSettings } from "./settings_form.js";
import { showAsk } from "./ask_view.js";
import { showInbox, showSignedOut } from "./inbox_page.js";
import { showHelp } from "./help.js";
import { buildStandingLink, laterPage } from "./parts.js";

/** @typedef {{close?: () => void, keys?: () => any}} View */

const app = make("div", { class: "app" });
const main = make("main", { id: "main", tabindex: -1 });
/** @type {View} */
let view = {};
let current = "";
let hasPanel = false;
/** @type {ReturnType<typeof buildList>} */
let list;
/** @type {HTMLElement} */
let connection;

const PLACES = /** @type {[string, string, string, import("./language.js").Word][]} */ ([
    ["/", "inbox", "inbox", "inbox"],
    ["/history", "history", "clock", "history"],
    ["/statistics", "stats", "chart", "statistics"],
    ["/devices", "devices", "phone", "devices"],
    ["/settings", "settings", "set", "settings"],
    ["/help", "help", "help", "shortcuts"],
]);

/** @type {Record<string, (main: HTMLElement) => View>} */
const PAGES = {
    "/help": showHelp, "/settings": showSettings,
    "/history": laterPage("history",
        () => import("./history_page.js").then((part) => part.showHistory)),
    "/devices": laterPage("devices",
        () => import("./devices_page.js").then((part) => part.showDevices)),
    "/statistics": laterPage("statistics",
        () => import("./statistics_page.js").then((part) => part.showStatistics)),
    "/standing": laterPage("standing",
        () => import("./standing_page.js").then((part) => part.showStanding)),
};

/**
 * @param {HTMLElement} root
 * @returns {View}
 */
function showSettings(root) {
    const build = () => make("div", { class: "page narrow" },
        make("header", { class: "page-h" }, make("h1", { tabindex: -1 }, say("settings")),
            buildStandingLink()),
        buildSettings());
    const show = () => keepFocus(root, () => root.replaceChildren(build()));
    show();
    const ends = [on("settings", show), on("language", show)];
    return { close: () => ends.forEach((end) => end()) };
}

const askShell = {
    hasPanel: () => hasPanel,
    panel: () => hasPanel ? buildPanel(asks.get(current) ?? null, toggleSettings) : null,
    openSettings: (/** @type {string} */ name) => {
        hasPanel = true;
        tell("page");
        document.getElementById(name ? `set-${name}` : "set-interface")?.focus();
    },
    moved: (/** @type {string} */ id) => {
        if (id === "") {
            go("/");
            return;
        }
        current = id;
        list.sync();
    },
};

function toggleSettings() {
    if (!view.keys) {
        go("/settings");
        return;
    }
    if (hasPanel) {
        hasPanel = false;
        tell("page");
        /** @type {HTMLElement|null} */ (document.querySelector("[data-key=strip-go]"))?.focus();
    } else {
        askShell.openSettings("");
    }
}

/** Shows what the address says.
 * @returns {string} the ask that was open before
 */
function route() {
    const path = location.pathname;
    const before = current;
    const found = /^\/choice\/([a-z2-7]{4,26})\/?$/.exec(path);
    view.close?.();
    view = {};
    current = found ? found[1] : "";
    hasPanel = false;
    main.replaceChildren();
    if (line.state === "signed_out")
        view = showSignedOut(main);
    else if (found)
        view = showAsk(main, found[1], askShell);
    else
        view = (PAGES[path] ?? showInbox)(main);
    app.dataset.view = line.state === "signed_out" ? "out"
        : found ? "ask" : PAGES[path] ? "page" : "inbox";
    for (const [address, name] of PLACES) {
        const link = app.querySelector(`[data-place=${name}]`);
        if (address === path || (address === "/" && found))
            link?.setAttribute("aria-current", "true");
        else
            link?.removeAttribute("aria-current");
    }
    list.sync();
    main.scrollTop = 0;
    return before;
}

/** Leaving a question puts the focus back on its row. @param {string} id */
function focusRow(id) {
    const row = id && app.dataset.view === "inbox"
        ? app.querySelector(`[data-key="row-${id}"]`) : null;
    /** @type {HTMLElement|null} */ (row)?.focus();
    return !!row;
}

/** @param {string} path */
function go(path) {
    if (path !== location.pathname + location.search)
        history.pushState(null, "", path);
    if (!focusRow(route()))
        /** @type {HTMLElement|null} */ (main.querySelector("h1"))?.focus({ preventScroll: true });
}

function switchTheme() {
    const isDark = setting("theme") === "dark" ||
        (setting("theme") !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    saveSetting("theme", isDark ? "light" : "dark").catch(() => {});
}

function syncConnection() {
    const isOpen = line.state === "open";
    connection.dataset.conn = isOpen ? "on" : "off";
    setText(connection.lastElementChild,
        isOpen ? say("live") : line.state === "signed_out" ? say("signed_out")
        : line.state === "lost" ? say("offline") : "");
}

/** The frame; rebuilt when the language changes. */
function buildFrame() {
    list = buildList({ current: () => current });
    connection = make("span", { class: "conn" }, make("i"), make("span"));
    const side = make("div", { class: "side" },
        make("header", { class: "side-head" },
            make("a", { class: "brand", href: "/" },
                draw("svg", { class: "logo", viewBox: "0 0 16 16", "aria-hidden": "true" },
                    draw("use", { href: "#i-logo" })), "sayso"),
            connection,
            make("button", { type: "button", class: "icon-btn", "aria-label": say("switch_theme"),
                title: say("switch_theme"),
                "data-key": "theme", click: switchTheme }, icon("theme"))),
        list.node,
        make("nav", { class: "places", "aria-label": say("pages") },
            PLACES.map(([address, name, symbol, word]) =>
            make("a", { href: address, "data-place": name, "data-key": `place-${name}` },
                icon(symbol), make("span", {}, say(word))))));
    app.replaceChildren(side, main);
    setText(document.querySelector(".skip"), say("skip"));
    syncConnection();
}

/** Links of ours change the address without loading anything. @param {MouseEvent} event */
function follow(event) {
    const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href^='/']");
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey ||
        event.shiftKey)
        return;
    event.preventDefault();
    go(/** @type {string} */ (link.getAttribute("href")));
}

function start() {
    document.querySelector(".skip")?.after(app); /* the link that skips comes first */
    buildFrame();
    route();
    document.addEventListener("click", follow);
    addEventListener("popstate", () => focusRow(route()));
    on("asks", () => list.syncSoon());
    on("missed", () => list.syncSoon());
    on("tick", () => list.syncSoon());
    on("time", () => list.syncSoon());
    on("language", () => {
        const places = app.querySelector("[data-place][aria-current]")?.getAttribute("data-place");
        keepFocus(document, buildFrame);
        app.querySelector(`[data-place="${places}"]`)?.setAttribute("aria-current", "true");
    });
    let wasSignedOut = line.state === "signed_out";
    on("line", (state) => {
        syncConnection();
        list.sync();
        if (wasSignedOut !== (state === "signed_out")) {
            wasSignedOut = state === "signed_out";
            model.is_ready = model.is_ready && !wasSignedOut;
            asks.clear();
            route();
        }
    });
    startGuard();
    startModel();
    startMissed(() => current);
    startMute();
    startNotify();
    startKeys({ ask: () => view.keys?.() ?? null, current: () => current, go, toggleSettings,
        hasPanel: () => hasPanel });
    startLine();
}

/* Without its styles it is about to be replaced (tools/bundle_web), with its address as it is. */
const styles = /** @type {HTMLLinkElement|null} */ (
    document.querySelector("link[rel=stylesheet]"));
if (!styles || styles.sheet?.cssRules.length) /* one that failed may be there, and empty */
    start();
else
    styles.addEventListener("load", start);
