// run_files.mjs - runs test files in the order given, COUNT at the same time, and prints TAP; `node --test` would sort them.
//   node run_files.mjs COUNT FILE...
import process from "node:process";
import { run } from "node:test";
import { SLACK } from "./home.mjs";
import tap from "./tap_reporter.mjs";

const HANG_MS = 900000;
const [count, ...files] = process.argv.slice(2);

run({ files, concurrency: Number(count), timeout: HANG_MS * SLACK })
    .on("test:fail", () => { process.exitCode = 1; })
    .compose(tap)
    .pipe(process.stdout);
