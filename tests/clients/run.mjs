// run.mjs - runs every client through every row, prints TAP, and keeps what was measured. Without any network but loopback:
// `run` sees to that.
//   SCALE=full    longer waits, and the rows that take ten minutes
//   ONLY=PATTERN  of "CLIENT ROW", as in ONLY='^claude ' or ONLY=' quick$'
import assert from "node:assert/strict";
import process from "node:process";
import { CLIENTS, isInstalled } from "./clients.mjs";
import { Report } from "./report.mjs";
import { ROWS } from "./rows.mjs";

const isFull = process.env.SCALE === "full";
const only = new RegExp(process.env.ONLY ?? "");
const report = new Report();
const count = { passed: 0, failed: 0, known: 0, all: 0 };

// `isExpected`: of a row that fails, that it is not the tests themselves that went wrong.
function tell(client, row, holds, words, isExpected = true) {
    const reason = isExpected && client.known?.[row.name];
    count[holds ? "passed" : reason ? "known" : "failed"]++;
    const ending = reason ? ` # TODO ${reason}` : "";
    console.log(`${holds ? "ok" : "not ok"} ${++count.all} - ${client.name} ${row.name}${ending}`);
    console.log(words.split("\n").filter((line) => line.trim()).map((line) => `#   ${line}`).join("\n"));
    if (holds && reason)
        console.log("#   this holds: if it does with SCALE=full too, take it out of `known` in tests/clients/clients.mjs");
}

async function tryOut(client, row) {
    const reason = row.applies?.(client);
    if (reason) {
        report.add(client, row, null, reason);
        return;
    }
    try {
        const words = await row.run(client, isFull);
        report.add(client, row, true, words);
        tell(client, row, true, words);
    } catch (problem) {
        const isExpected = problem instanceof assert.AssertionError;
        if (isExpected)
            report.add(client, row, false, problem.message.split("\n")[0].slice(0, 200));
        tell(client, row, false, isExpected ? problem.message : problem.stack, isExpected);
    }
}

const present = CLIENTS.filter(isInstalled);
for (const { title, package: name, version } of CLIENTS.filter((client) => !present.includes(client)))
    console.log(`# not run: ${title} (${name} ${version} is not in build/clients)`);
const wanted = (row, { name }) => only.test(`${name} ${row.name}`) && (isFull || !row.isLong);
const pairs = ROWS.flatMap((row) => present.filter((client) => wanted(row, client)).map((client) => [client, row]));

for (const [client, row] of pairs.filter(([, { onlyWaits }]) => !onlyWaits))
    await tryOut(client, row);
await Promise.all(pairs.filter(([, { onlyWaits }]) => onlyWaits).map(([client, row]) => tryOut(client, row)));

report.write();
console.log(`1..${count.all}`);
console.log(`${count.passed} passed, ${count.failed} failed, ${count.known} known not to hold yet`);
process.exitCode = count.failed || !count.all ? 1 : 0; // an empty run is no good one
