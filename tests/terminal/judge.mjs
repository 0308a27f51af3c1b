// A terminal without a window: reads lines {columns, rows, bytes}, answers each with what a person
// would see and with everything that happened beside it.
import readline from "node:readline";
import headless from "@xterm/headless";

async function show({ columns, rows, bytes, steps }) {
    const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 });
    const told = { titles: [], replies: "", bells: 0, osc: [] };
    terminal.onTitleChange((title) => told.titles.push(title));
    terminal.onData((data) => (told.replies += data));
    terminal.onBell(() => told.bells++);
    for (const number of [4, 7, 8, 9, 10, 52, 99, 104, 133, 777, 1337])
        terminal.parser.registerOscHandler(number, (data) => !told.osc.push([number, data]));
    const screens = [];
    for (const step of steps ?? [bytes]) {
        if (typeof step !== "string") {
            terminal.resize(step.columns, step.rows);
            continue;
        }
        await new Promise((done) => terminal.write(Buffer.from(step, "base64"), done));
        screens.push(screenOf(terminal));
    }
    const modes = { ...terminal.modes };
    terminal.dispose();
    return { ...screens.at(-1), ...told, modes };
}

function screenOf(terminal) {
    const buffer = terminal.buffer.active;
    const lines = [];
    for (let row = 0; row < terminal.rows; row++)
        lines.push(buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? "");
    return {
        lines,
        cursor: [buffer.cursorY, buffer.cursorX],
        isAlternate: buffer.type === "alternate",
        history: buffer.baseY,
    };
}

for await (const line of readline.createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await show(JSON.parse(line))));
