// report.mjs - keeps what was measured in docs/clients.json, and writes the table into docs/clients.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../mcp/lib/home.mjs";
import { CLIENTS } from "./clients.mjs";
import { ROWS } from "./rows.mjs";

const FACTS = path.join(ROOT, "docs/clients.json");
const PAGE = path.join(ROOT, "docs/clients.md");
const BEGIN = "<!-- begin: written by make clients -->";
const END = "<!-- end: written by make clients -->";

export class Report {
    constructor() {
        this.measured = [];
    }

    // `holds`: true, false, or null where the row is not for this client.
    add(client, row, holds, words) {
        this.measured.push({ client, row, fact: { holds, words, date: new Date().toISOString().slice(0, 10) } });
    }

    // What was not measured now stays as it was, but a new version of a client begins a new line of the table.
    write() {
        this.facts = existsSync(FACTS) ? JSON.parse(readFileSync(FACTS)) : {};
        for (const { client: { name, version }, row, fact } of this.measured) {
            if (this.facts[name]?.version !== version)
                this.facts[name] = { version, rows: {} };
            this.facts[name].rows[row.name] = fact;
        }
        writeFileSync(FACTS, `${JSON.stringify(this.facts, null, 2)}\n`);
        const page = readFileSync(PAGE, "utf8");
        const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
        if (begin < 0 || end < begin)
            throw new Error(`${PAGE}: the lines around the table are gone`);
        writeFileSync(PAGE, `${page.slice(0, begin + BEGIN.length)}\n${this.section()}${page.slice(end)}`);
    }

    section() {
        const line = (cells) => `| ${cells.join(" | ")} |\n`;
        const notes = [];
        const table = CLIENTS.map((client) => {
            const { version, rows = {} } = this.facts[client.name] ?? {};
            const dates = Object.values(rows).map(({ date }) => date).sort();
            const cells = ROWS.map((row) => cell(client, row, rows[row.name], notes));
            return line([client.title, version ?? client.version, dates.at(-1) ?? "not run", ...cells]);
        });
        const head = ["client", "version", "measured", ...ROWS.map(({ title }) => title)];
        return [
            line(head), `|${"---|".repeat(head.length)}\n`, ...table,
            "\n", ...ROWS.map(({ title, tells }) => `- **${title}**: ${tells}\n`),
            ...notes.length ? ["\nWhat does not hold yet (**no**):\n\n", ...notes] : [],
        ].join("");
    }
}

function cell(client, row, fact, notes) {
    if (!fact)
        return "not run";
    if (fact.holds === null)
        return `– (${fact.words})`;
    if (fact.holds)
        return fact.words;
    notes.push(`- ${client.title}, ${row.title}: ${client.known?.[row.name] ?? fact.words}\n`);
    return row.onlyWaits ? `**no**: ${fact.words}` : "**no**";
}
