// database.mjs - a database of its own on the server that SAYSO_TEST_POSTGRES names; tools/run_tests starts it.
import { execFileSync } from "node:child_process";

const SERVER = process.env.SAYSO_TEST_POSTGRES ?? "";
export const ON_POSTGRES = process.env.SAYSO_TEST_STORE === "postgres";
let last = 0;

const run = (text, url = SERVER) => execFileSync("psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", text], { stdio: "pipe" });
const nameIn = (url) => new URL(url.replace("@/", "@localhost/")).pathname.slice(1);

// The URL of an empty one.
export function newDatabase() {
    const name = `n${process.pid}_${++last}`;
    run(`CREATE DATABASE ${name} TEMPLATE template0 STRATEGY file_copy`);
    return SERVER.replace(`/${nameIn(SERVER)}?`, `/${name}?`);
}

// The server's own vacuum can't be thrown out of it: it is waited for.
export function dropDatabase(url) {
    for (let tries = 0; ; tries++) {
        try {
            return run(`DROP DATABASE IF EXISTS ${nameIn(url)} WITH (FORCE)`);
        } catch (problem) {
            if (tries === 20)
                throw problem;
            execFileSync("sleep", ["0.5"]);
        }
    }
}

const IN_FILE = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as database:\n    database.execute(sys.argv[2])\n";

// One statement in the store of a home whose hub does not run; the tables have the same names in both.
export function inStore(home, statement) {
    if (home.database)
        run(statement, home.database);
    else
        execFileSync("python3", ["-c", IN_FILE, `${home.data}/sayso.db`, statement], { stdio: "pipe" });
}
