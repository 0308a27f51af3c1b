// tap_reporter.mjs - one TAP line per test, however it is nested; what failed is told after it.
import path from "node:path";

const isGroup = (data) => data.details?.type === "suite" && data.details?.error?.failureType !== "hookFailed";
const lines = (text) => `${text}`.split("\n").map((line) => `#   ${line}\n`).join("");

function why(error) {
    const cause = error?.cause ?? error;
    return lines(cause?.stack ?? cause?.message ?? cause);
}

export default async function* tap(source) {
    let count = 0;
    for await (const { type, data } of source) {
        if (type === "test:stderr" || (type === "test:diagnostic" && data.message.startsWith("Error")))
            yield lines(data.message.trimEnd());
        if ((type !== "test:pass" && type !== "test:fail") || isGroup(data))
            continue;
        const name = path.isAbsolute(data.name) ? path.basename(data.name) : data.name;
        const skipped = data.skip !== undefined && data.skip !== false ? ` # SKIP ${data.skip === true ? "" : data.skip}` : "";
        yield `${type === "test:pass" ? "ok" : "not ok"} ${++count} - ${name.replaceAll("#", "")}${skipped}\n`;
        yield `# ${(data.details.duration_ms / 1000).toFixed(2)} s\n`;
        if (type === "test:fail")
            yield why(data.details.error);
    }
    yield `1..${count}\n`;
}
