// The official conformance suite, both releases, against the hub's /mcp: with the fixture every
// scenario that a revision requires, without it those that need none. There is no baseline but for
// the four checks of one scenario that ask for tools of the fixture.
// Proves: R10.1 R10.6 P18
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { BIN, Home, inHome, ROOT, until } from "../mcp/lib/home.mjs";

const HERE = import.meta.dirname;
const FIXTURE_BIN = path.resolve(ROOT, process.env.SAYSO_FIXTURE_BIN ?? "build-asan/sayso");
const OLD = path.join(HERE, "node_modules/conformance-0.1");
const NEW = path.join(HERE, "node_modules/conformance-0.2");
const OLD_COUNT = 30; // scenarios of 0.1.16's own choice

// Not offered: an extension, and headers for arguments, for which we have no use (mcp 5.3).
const ABSENT = /^tasks-(?!status-notifications)|^http-custom-header-server-validation$/;

// What is required without a fixture, by revision.
const NORMAL = {
    "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping", "tools-list",
        "server-sse-multiple-streams", "dns-rebinding-protection", "prompts-list", "resources-list",
        "logging-set-level"],
    "2026-07-28": ["tools-list", "dns-rebinding-protection", "http-header-validation",
        "sep-2164-resource-not-found", "input-required-result-unsupported-methods",
        "server-sse-multiple-streams", "server-stateless", "caching", "prompts-list", "resources-list"],
};
const NEEDS_FIXTURE = ["sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel"];

// A hub of its own while `body` runs; it must end without a complaint.
async function withHub(program, flags, body) {
    const home = new Home();
    try {
        const child = home.spawn(["serve", "--json", "--mcp-auth", "none", ...flags], {}, program);
        let said = "", problems = "";
        child.stdout.on("data", (bytes) => { said += bytes; });
        child.stderr.on("data", (bytes) => { problems += bytes; });
        const port = await until(() => said.includes("\n") && JSON.parse(said).port, "a hub with a port");
        const result = await body(`http://127.0.0.1:${port}/mcp`, home);
        child.kill("SIGTERM");
        const code = await new Promise((resolve) => child.on("close", resolve));
        assert.equal(code, 0, problems);
        assert.doesNotMatch(problems, /Sanitizer|runtime error/);
        return result;
    } finally {
        await home.stop();
    }
}

// Runs the suite to its end: its exit code, what it said, and passed and failed by scenario.
function run(suite, url, ...more) {
    return new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [path.join(suite, "dist/index.js"), "server", "--url", url, ...more]);
        let said = "";
        child.stdout.on("data", (bytes) => { said += bytes; });
        child.stderr.on("data", (bytes) => { said += bytes; });
        child.on("error", reject);
        child.on("close", (code) => {
            const rows = said.slice(said.indexOf("=== SUMMARY ===")).matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
            const scenarios = new Map([...rows].map((row) => [row[1], { passed: Number(row[2]), failed: Number(row[3]) }]));
            resolve({ code, said, scenarios });
        });
    });
}

// The scenarios of a server that a revision requires, as the suite's own list has them.
function requiredBy(revision) {
    const list = readFileSync(path.join(NEW, "requirements", `${revision}.yaml`), "utf8");
    return list.match(/^server:\n((?: {2}- .*\n)+)/m)[1].match(/[\w-]+$/gm);
}

function judge(name, ran, required) {
    describe(name, () => {
        test(`${name}: exits 0 with an empty baseline`, () => assert.equal(ran.code, 0, ran.said));
        for (const scenario of new Set([...required, ...ran.scenarios.keys()])) {
            const isAbsent = ABSENT.test(scenario) && !required.includes(scenario);
            test(`${name}: ${scenario}`, { skip: isAbsent && "not offered, not required" }, () => {
                const result = ran.scenarios.get(scenario);
                assert.ok(result, `it did not run: ${ran.said}`);
                assert.equal(result.failed, 0, ran.said);
            });
        }
    });
}

// Each has a hub of its own, so that they can run side by side.
const withFixture = (...words) => withHub(FIXTURE_BIN, ["--conformance-fixture"], (url) => run(words[0], url, ...words.slice(1)));

// One scenario against the program as people have it.
async function runNormal(url, home, revision, scenario) {
    const baseline = path.join(home.path, `${revision}-${scenario}.yml`);
    const known = scenario === "server-stateless" ? NEEDS_FIXTURE : [];
    writeFileSync(baseline, `server: [${known.map((check) => `"${scenario}:${check}"`)}]\n`);
    return run(NEW, url, "--scenario", scenario, "--spec-version", revision, "--expected-failures", baseline);
}

const runNormals = () => withHub(BIN, [], async (url, home) => {
    const done = [];
    for (const [revision, scenarios] of Object.entries(NORMAL)) {
        for (const scenario of scenarios)
            done.push({ name: `${revision}: ${scenario}`, ran: await runNormal(url, home, revision, scenario) });
    }
    return done;
});

const [normal, modern, legacy, old, pending] = await Promise.all([
    runNormals(),
    withFixture(NEW, "--requirements", "2026-07-28"),
    withFixture(NEW, "--requirements", "2025-11-25"),
    withFixture(OLD),
    withFixture(OLD, "--suite", "pending"),
]);
judge("0.1.16", old, []);
judge("0.1.16 pending", pending, ["json-schema-2020-12", "server-sse-polling"]);
judge("0.2.0 2025-11-25", legacy, requiredBy("2025-11-25"));
judge("0.2.0 2026-07-28", modern, requiredBy("2026-07-28"));
test("0.1.16 ran every scenario of its own choice", () => assert.equal(old.scenarios.size, OLD_COUNT));

for (const { name, ran } of normal) {
    test(`as it is, ${name}`, () => {
        assert.equal(ran.code, 0, ran.said);
        assert.match(ran.said, /Passed: [1-9]/, "it was skipped");
    });
}

test("an installed program has no fixture", inHome(async (home) => {
    const tried = await home.sayso("serve", "--conformance-fixture", "--mcp-auth", "none");
    assert.equal(tried.code, 2, tried.out + tried.err);
    assert.deepEqual(home.touched(), [], "nothing was started");
    assert.ok(!readFileSync(BIN).includes("test_simple_text"), "its tools are in the program");
    assert.ok(readFileSync(FIXTURE_BIN).includes("test_simple_text"), "this look finds nothing anywhere");
}));
