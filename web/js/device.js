/*
 * device.js - this browser as one that stays signed in: a key that no page can read, kept where
 * pages of this origin alone find it. It signs the hub's challenges. By a second key the hub shows
 * that it is the hub.
 */

/** @typedef {{id: string, keys: CryptoKeyPair, proof: CryptoKey}} Device */

const DATABASE = "sayso";
const STORE = "device";
const PLACE = "this";
const ECDSA = { name: "ECDSA", namedCurve: "P-256" };

/**
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} act
 * @returns {Promise<any>}
 */
function inStore(mode, act) {
    return new Promise((resolve, reject) => {
        const opening = indexedDB.open(DATABASE, 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
            const database = opening.result;
            const work = database.transaction(STORE, mode);
            const request = act(work.objectStore(STORE));
            work.oncomplete = () => {
                database.close();
                resolve(request.result);
            };
            work.onabort = () => {
                database.close();
                reject(work.error);
            };
        };
    });
}

/** @returns {Promise<Device|null>} */
export async function readDevice() {
    try {
        const found = await inStore("readonly", (store) => store.get(PLACE));
        return found?.proof ? found : null;
    } catch {
        return null; /* a browser without a database */
    }
}

export async function forgetDevice() {
    try {
        await inStore("readwrite", (store) => store.delete(PLACE));
    } catch { /* there is none */ }
}

/** @param {ArrayBuffer} bytes as base64url */
function encode(bytes) {
    return btoa(String.fromCharCode(...new Uint8Array(bytes)))
        .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** A key to be enrolled with the code of a link; null: this browser can't keep one.
 * @returns {Promise<{keys: CryptoKeyPair, key: string}|null>}
 */
export async function makeDevice() {
    try {
        const keys = await crypto.subtle.generateKey(ECDSA, false, ["sign"]);
        await inStore("readwrite", (store) => store.put({ keys }, PLACE)); /* it must be kept */
        return { keys, key: encode(await crypto.subtle.exportKey("raw", keys.publicKey)) };
    } catch {
        return null;
    }
}

/**
 * @param {CryptoKeyPair} keys
 * @param {string} id
 * @param {string} proofKey in hex
 * @returns {Promise<Device>}
 */
export async function keepDevice(keys, id, proofKey) {
    const bytes = new Uint8Array(
        (proofKey.match(/../g) ?? []).map((digits) => parseInt(digits, 16)));
    const proof = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" },
        false, ["sign"]);
    const device = { id, keys, proof };
    await inStore("readwrite", (store) => store.put(device, PLACE)).catch(() => {});
    return device;
}

/**
 * @param {Device} device
 * @param {string} challenge
 * @param {string} port
 */
export async function signChallenge(device, challenge, port) {
    return encode(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" },
        device.keys.privateKey, new TextEncoder().encode(`sayso browser ${port} ${challenge}`)));
}
