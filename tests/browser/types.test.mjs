// types.test.mjs - the page's modules are typed, and the types hold; every word is there and used.
// Proves: R7.7 R8.2
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { ROOT } from "../mcp/lib/home.mjs";

const WEB = path.join(ROOT, "web");
const modules = readdirSync(path.join(WEB, "js"));
const source = (name) => readFileSync(path.join(WEB, "js", name), "utf8");

test("R7.7 tsc --checkJs finds nothing", () => {
    const bin = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
    try {
        execFileSync(process.execPath, [bin, "-p", path.join(WEB, "jsconfig.json")], { encoding: "utf8" });
    } catch (error) {
        assert.fail(error.stdout);
    }
});

test("R7.7 the manifest names every module and style sheet", () => {
    const named = readFileSync(path.join(WEB, "manifest"), "utf8").split("\n");
    for (const folder of ["js", "css"]) {
        for (const name of readdirSync(path.join(WEB, folder)))
            assert.ok(named.includes(`${folder}/${name}`), `${folder}/${name}`);
    }
});

test("R8.2 every word is used, and both languages have the same places for values", () => {
    const code = modules.filter((name) => !name.startsWith("words")).map(source).join("\n");
    const beginnings = [...code.matchAll(/`([a-z]+_)\$\{/g)].map((found) => found[1]);
    for (const name of modules.filter((each) => each.startsWith("words") && each !== "words_settings.js")) {
        for (const [, key, english, chinese] of source(name).matchAll(/^    (\w+): \[\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)",?\s*\]/gm)) {
            const isUsed = code.includes(`"${key}"`) || beginnings.some((start) => key.startsWith(start)) ||
                /^(interface|single_submit|timeout_action|cli_answers|language|theme)_/.test(key);
            assert.ok(isUsed, `nobody says ${key}`);
            const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join();
            assert.equal(places(english), places(chinese), key);
        }
    }
});

test("A6 no HTML strings, no inline styles or handlers in the page's code", () => {
    for (const name of modules)
        assert.doesNotMatch(source(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.style\.|\.style\s*=[^=]|cssText|eval\(|new Function/, name);
    assert.doesNotMatch(readFileSync(path.join(WEB, "index.html"), "utf8"), /style=|onclick=|<style|<script(?! )/);
});
