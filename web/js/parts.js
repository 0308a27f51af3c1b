/*
 * parts.js - pages that few open come when they are opened. What is loaded then is what this page
 * was made with: the browser compares its hash, since another program may hold the port by now.
 */
import { button, make } from "./dom.js";
import { say } from "./language.js";
import { line } from "./wire.js";
import { on } from "./signals.js";

/** @typedef {{close?: () => void}} View */

const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("sayso-part", {
    createScriptURL: (/** @type {string} */ address) =>
        /^\/static\/[\w.]+$/.test(address) ? address : "",
});

/**
 * Stands in the page for import() of a module of a part: tools/bundle_web puts it there.
 * @param {string} address
 * @param {string} hash
 * @param {Record<string, any>} given what the part takes of the page
 * @returns {Promise<any>}
 */
export function loadPart(address, hash, given) {
    return new Promise((resolve, reject) => {
        const script = make("script", {
            type: "module", integrity: hash, error: reject,
            load: () => import(address).then(({ part }) => resolve(part(given)), reject),
        });
        script.src = policy?.createScriptURL(address) ?? address;
        document.head.append(script);
    });
}

/**
 * A page whose code comes when it is opened, from a hub that has shown who it is.
 * @param {"history"|"statistics"|"standing"|"devices"} title
 * @param {() => Promise<(main: HTMLElement) => View>} load
 * @returns {(main: HTMLElement) => View}
 */
export function laterPage(title, load) {
    /** @type {ReturnType<typeof load>|null} */
    let loaded = null;
    return (main) => {
        /** @type {View|null} */
        let view = null;
        let isClosed = false;
        const place = make("div", { class: "page" }, make("header", { class: "page-h" },
            make("h1", { tabindex: -1 }, say(title))));
        const start = async () => {
            if (line.state !== "open" || view)
                return;
            try {
                const show = await (loaded ??= load());
                const hadFocus = place.contains(document.activeElement);
                if (isClosed || view)
                    return;
                view = show(main);
                if (hadFocus)
                    main.querySelector("h1")?.focus({ preventScroll: true });
            } catch {
                loaded = null;
                place.append(make("p", { class: "hint wrong", role: "alert" }, say("part_missing")),
                    button({ click: () => location.reload() }, say("load_anew")));
                view = {};
            }
        };
        main.replaceChildren(place);
        start();
        const end = on("line", start);
        return { close: () => {
            isClosed = true;
            end();
            view?.close?.();
        } };
    };
}

export function buildStandingLink() {
    return make("a", { class: "btn small", href: "/standing", "data-key": "to-standing" },
        say("standing"));
}
