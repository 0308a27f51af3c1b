// install.mjs - puts the clients and the Node they need into build/clients, one after the other, each in a folder of its own.
//   node install.mjs [NAME...]    by default all; one that can't be had is named and does not stop the others
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { CLIENTS, NODE, PLACE, isInstalled } from "./clients.mjs";

const HANG_MS = 900000;

function install(row) {
    const { name, package: wanted, version } = row;
    const folder = path.join(PLACE, name);
    if (isInstalled(row))
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
