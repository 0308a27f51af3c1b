// report.mjs - keeps what was measured in docs/clients.json, and writes the tables into docs/clients.md and docs/prompts.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../mcp/lib/home.mjs";
import { CLIENTS } from "./clients.mjs";
import { ROWS } from "./rows.mjs";

const FACTS = path.join(ROOT, "docs/clients.json");
const PAGE = "docs/clients.md"; // unless a row has its own
const BEGIN = "<!-- begin: written by make clients -->";
const END = "<!-- end: written by make clients -->";

const pageOf = ({ page = PAGE }) => page;

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
        for (const page of new Set(ROWS.map(pageOf)))
            this.writePage(page);
    }

    writePage(page) {
        const file = path.join(ROOT, page);
        const text = readFileSync(file, "utf8");
        const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
        if (begin < 0 || end < begin)
            throw new Error(`${page}: the lines around the table are gone`);
        const rows = ROWS.filter((row) => pageOf(row) === page);
        writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n${this.section(rows)}${text.slice(end)}`);
    }

    section(all) {
        const line = (cells) => `| ${cells.join(" | ")} |\n`;
        const notes = [];
        const table = CLIENTS.filter((client) => all.some((row) => !row.applies?.(client))).map((client) => {
            const { version, rows = {} } = this.facts[client.name] ?? {};
            const dates = all.map(({ name }) => rows[name]?.date).filter(Boolean).sort();
            const cells = all.map((row) => cell(client, row, rows[row.name], notes));
            return line([client.title, version ?? client.version, dates.at(-1) ?? "not run", ...cells]);
        });
        const head = ["client", "version", "measured", ...all.map(({ title }) => title)];
        return [
            line(head), `|${"---|".repeat(head.length)}\n`, ...table,
            "\n", ...all.map(({ title, tells }) => `- **${title}**: ${tells}\n`),
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
