/* come_back.js - one click on a page that isn't signed in: the hub opens a fresh link in the
 * person's browser. The page is told that it did, and never the link. */

/** Whether the hub can: it runs on this machine, has a screen, and we are no agent's process. */
export async function canOpen() {
    try {
        const reply = await fetch("/portal/open");
        return reply.ok && (await reply.json()).can_open === true;
    } catch {
        return false;
    }
}

/**
 * @param {string} id of an ask; "": the inbox
 * @returns {Promise<import("./language.js").Word>} what came of it
 */
export async function openLink(id) {
    try {
        const reply = await fetch("/portal/open", { method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(id ? { session_id: id } : {}) });
        return reply.ok || reply.status === 429 ? "link_opened" : "link_not_opened";
    } catch {
        return "link_not_opened";
    }
}
