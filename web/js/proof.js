/*
 * proof.js - whether what answers is the hub this tab signed in to. Another program may hold the
 * port by now; only the hub knows the token's hash, and can key a word of ours with it.
 */

/** @param {ArrayBuffer} bytes */
function toHex(bytes) {
    return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** As the hub keeps it: of its length, 8 bytes, and its text.
 * @param {string} token
 */
function hashToken(token) {
    const text = new TextEncoder().encode(token);
    const bytes = new Uint8Array(8 + text.length);
    new DataView(bytes.buffer).setUint32(0, text.length, true);
    bytes.set(text, 8);
    return crypto.subtle.digest("SHA-256", bytes);
}

/** The port as the hub knows it: no proof of another one counts here. */
export function portHere() {
    return location.port || (location.protocol === "https:" ? "443" : "80");
}

/**
 * What the hub of this token must prove itself by.
 * @param {string} token
 * @returns {Promise<{id: string, proof: CryptoKey}>}
 */
export async function proverOf(token) {
    const hash = await hashToken(token);
    return { id: toHex(hash).slice(0, 16), proof: await crypto.subtle.importKey("raw", hash,
        { name: "HMAC", hash: "SHA-256" }, false, ["sign"]) };
}

/**
 * A question that only the hub can answer.
 * @param {{id: string, proof: CryptoKey}} prover
 */
export async function askForProof(prover) {
    const nonce = toHex(crypto.getRandomValues(new Uint8Array(16)).buffer);
    const wanted = await crypto.subtle.sign("HMAC", prover.proof,
        new TextEncoder().encode(`sayso hub ${portHere()} ${nonce}`));
    return { params: { tab: prover.id, nonce }, proof: toHex(wanted) };
}
