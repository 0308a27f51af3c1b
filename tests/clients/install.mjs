// install.mjs - puts the clients and the Node they need into build/clients, one after the other, each in a folder of its own.
//   node install.mjs [NAME...]    by default all; one that can't be had is named and does not stop the others
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { CLIENTS, NODE } from "./clients.mjs";

const PLACE = fileURLToPath(new URL("../../build/clients", import.meta.url));
const HANG_MS = 900000;

function installed(folder, name) {
    try {
        return JSON.parse(readFileSync(path.join(folder, "node_modules", name, "package.json"))).version;
    } catch {
        return null;
    }
}

// Its exit says whether there is something to run.
function install({ name, package: wanted, version }) {
    const folder = path.join(PLACE, name);
    if (installed(folder, wanted) === version)
        return true;
    console.log(`# installing ${wanted} ${version}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "package.json"), '{ "private": true }\n');
    try {
        execFileSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--silent", "--save-exact", `${wanted}@${version}`],
                     { stdio: ["ignore", "ignore", "inherit"], timeout: HANG_MS });
        return true;
    } catch {
        console.log(`# ${wanted} ${version} can't be had here`);
        return false;
    }
}

const chosen = process.argv.slice(2);
if (!install(NODE))
    process.exitCode = 1;
for (const client of CLIENTS.filter(({ name }) => chosen.length === 0 || chosen.includes(name)))
    install(client);
