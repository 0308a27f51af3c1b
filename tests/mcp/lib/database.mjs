// database.mjs - a database of its own on the server that SAYSO_TEST_POSTGRES names; tools/run_tests starts it. Only the
// test that needs psql waits for it: other tests of the same process go on.
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const SERVER = process.env.SAYSO_TEST_POSTGRES ?? "";
export const ON_POSTGRES = process.env.SAYSO_TEST_STORE === "postgres";
let last = 0;

const start = promisify(execFile);
const run = (text, url = SERVER) => start("psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", text]);
const nameIn = (url) => new URL(url.replace("@/", "@localhost/")).pathname.slice(1);

// The URL of an empty one.
export async function newDatabase() {
    const name = `n${process.pid}_${++last}`;
    await run(`CREATE DATABASE ${name} TEMPLATE template0 STRATEGY file_copy`);
    return SERVER.replace(`/${nameIn(SERVER)}?`, `/${name}?`);
}

// The server's own vacuum can't be thrown out of it: it is waited for.
export async function dropDatabase(url) {
    for (let tries = 0; ; tries++) {
        try {
            return await run(`DROP DATABASE IF EXISTS ${nameIn(url)} WITH (FORCE)`);
        } catch (problem) {
            if (tries === 20)
                throw problem;
            await sleep(500);
        }
    }
}

const IN_FILE = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as database:\n    database.execute(sys.argv[2])\n";

// One statement in the store of a home whose hub does not run; the tables have the same names in both.
export async function inStore(home, statement) {
    if (home.database)
        await run(statement, home.database);
    else
        await start("python3", ["-c", IN_FILE, `${home.data}/sayso.db`, statement]);
}

const QUERY_FILE = "import json, sqlite3, sys\nprint(json.dumps([row[0] for row in sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True).execute(sys.argv[2])]))\n";
const CONFIRMED = "SELECT body FROM events WHERE kind = 14"; // EVENT_DELIVERED

// The id of an ask for each confirmation that an agent has its result.
export async function deliveries(home) {
    const { stdout } = home.database
        ? await start("psql", ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", home.database, "-c", CONFIRMED], { maxBuffer: 1e8 })
        : await start("python3", ["-c", QUERY_FILE, `${home.data}/sayso.db`, CONFIRMED], { maxBuffer: 1e8 });
    const bodies = home.database ? stdout.split("\n").filter(Boolean) : JSON.parse(stdout);
    return bodies.flatMap((body) => JSON.parse(body).asks);
}
