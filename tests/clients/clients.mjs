// clients.mjs - the clients under test, one row each: package and pinned version, how it is pointed at the scripted model, how
// it is run, and what is known not to hold. `build/clients/NAME` is where it is installed.
// `mostCalls`: what an answer after ten minutes may cost: ceil(600 s / the client's limit for a call as installed) + 1, and 1
// where progress extends that limit.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const PLACE = fileURLToPath(new URL("../../build/clients", import.meta.url));

const KEY = "no-key-but-loopback";
const MODEL = "scripted";

const json = (value) => JSON.stringify(value, null, 2);

export const NODE = { name: "node", package: "node", version: "24.21.0" }; // newer than some clients find on a machine

export const CLIENTS = [
    {
        name: "claude",
        mostCalls: 6,
        title: "Claude Code",
        package: "@anthropic-ai/claude-code",
        version: "2.1.325",
        bin: "claude",
        env: (url) => ({
            ANTHROPIC_BASE_URL: url,
            ANTHROPIC_API_KEY: KEY,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
            DISABLE_AUTOUPDATER: "1",
            DISABLE_TELEMETRY: "1",
            DISABLE_ERROR_REPORTING: "1",
        }),
        files: (url, home) => ({
            ".claude.json": json({
                hasCompletedOnboarding: true,
                theme: "dark",
                customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
                projects: { [`${home}/work`]: { hasTrustDialogAccepted: true } },
            }),
        }),
        headless: (prompt) => ["-p", prompt],
        allow: ["--allowedTools", "mcp__sayso"],
        form: {
            args: (prompt) => ["--permission-mode", "manual", prompt],
            shows: /requests your input/,
            mayI: /Do you want to proceed/,
        },
        prompts: {
            args: (prompt) => ["--permission-mode", "manual", prompt],
            headless: (prompt) => ["-p", prompt, "--permission-prompt-tool", "mcp__sayso__permission_prompt"],
            call: (command) => ({ name: "Bash", args: { command, description: "Make a file" } }),
            dialog: /Do you want to proceed/,
            allow: ["1"],
            deny: ["Escape"],
            question: {
                name: "AskUserQuestion",
                args: {
                    questions: [{
                        question: "Which database should we use?", header: "Database",
                        options: [{ label: "Postgres", description: "server" }, { label: "SQLite", description: "file" }],
                    }],
                },
            },
            asks: /Enter to select/,
        },
    },
    {
        name: "codex",
        mostCalls: 2,
        title: "Codex",
        package: "@openai/codex",
        version: "0.166.0",
        bin: "codex",
        env: () => ({ SCRIPTED_KEY: KEY }),
        files: (url) => ({
            ".codex/config.toml": `model = "${MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
`,
        }),
        headless: (prompt) => ["exec", "--skip-git-repo-check", prompt],
        allow: [],
        form: { args: (prompt) => ["--no-daemon", prompt], shows: /Field 1\/1/ },
        prompts: {
            args: (prompt) => ["--no-daemon", "-a", "on-request", "-s", "read-only", "--dangerously-bypass-hook-trust", prompt],
            call: (cmd) => ({ name: "exec_command", args: { cmd, sandbox_permissions: "require_escalated", justification: "Make a file" } }),
            later: /Would you like to run/, // its dialog, when the hook is over
            allow: ["y"],
        },
    },
    {
        name: "copilot",
        mostCalls: 1,
        title: "Copilot CLI",
        package: "@github/copilot",
        version: "1.0.102",
        bin: "copilot",
        env: (url) => ({
            COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
            COPILOT_PROVIDER_API_KEY: KEY,
            COPILOT_MODEL: MODEL,
            COPILOT_OFFLINE: "true",
            COPILOT_AUTO_UPDATE: "false",
        }),
        files: (url, home) => ({ ".copilot/config.json": json({ banner: "never", trusted_folders: [`${home}/work`] }) }),
        headless: (prompt) => ["-p", prompt],
        allow: ["--allow-tool", "sayso"],
        form: { args: (prompt) => ["-i", prompt], shows: /needs information/ },
    },
    {
        name: "gemini",
        mostCalls: 2,
        title: "Gemini CLI",
        package: "@google/gemini-cli",
        version: "0.61.0",
        bin: "gemini",
        env: (url) => ({
            GOOGLE_GEMINI_BASE_URL: url,
            GEMINI_API_KEY: KEY,
            GEMINI_MODEL: "gemini-2.5-pro",
            GEMINI_TELEMETRY_ENABLED: "false",
        }),
        files: () => ({
            ".gemini/settings.json": json({
                general: { disableAutoUpdate: true, disableUpdateNag: true },
                privacy: { usageStatisticsEnabled: false },
                security: { auth: { selectedType: "gemini-api-key" } },
            }),
        }),
        headless: (prompt) => ["-p", prompt, "--skip-trust"],
        allow: ["--approval-mode", "yolo"],
    },
    {
        name: "qwen",
        mostCalls: 1,
        title: "Qwen Code",
        package: "@qwen-code/qwen-code",
        version: "0.24.4",
        bin: "qwen",
        env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: MODEL }),
        files: () => ({
            ".qwen/settings.json": json({
                general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
                privacy: { usageStatisticsEnabled: false },
                telemetry: { enabled: false },
                security: { auth: { selectedType: "openai" } },
            }),
        }),
        headless: (prompt) => ["-p", prompt],
        allow: ["--approval-mode", "yolo"],
    },
    {
        name: "opencode",
        mostCalls: 1,
        title: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        bin: "opencode",
        env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" }),
        files: (url) => ({
            ".config/opencode/opencode.json": json({
                $schema: "https://opencode.ai/config.json",
                autoupdate: false,
                share: "disabled",
                model: `scripted/${MODEL}`,
                small_model: `scripted/${MODEL}`,
                provider: {
                    scripted: {
                        npm: "@ai-sdk/openai-compatible",
                        name: "scripted",
                        options: { baseURL: `${url}/v1`, apiKey: KEY },
                        models: { [MODEL]: { name: MODEL, tool_call: true, limit: { context: 200000, output: 8000 } } },
                    },
                },
            }),
        }),
        headless: (prompt) => ["run", prompt],
        allow: [],
    },
    {
        name: "continue",
        mostCalls: 11,
        title: "Continue CLI",
        package: "@continuedev/cli",
        version: "1.5.47",
        bin: "cn",
        env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_ENABLE_TELEMETRY: "0" }),
        entry: ({ program, url: address, token }, url) => ({
            ".continue/config.yaml": `name: scripted
version: 1.0.0
schema: v1
models:
  - name: ${MODEL}
    provider: openai
    model: ${MODEL}
    apiBase: ${url}/v1
    apiKey: ${KEY}
    roles: [chat]
    capabilities: [tool_use]
mcpServers:
  - name: sayso
${program ? `    command: ${program}
    args: [mcp]` : `    type: streamable-http
    url: ${address}
    requestOptions:
      headers:
        Authorization: Bearer ${token}`}
`,
        }),
        headless: (prompt, home) => ["--config", `${home}/.continue/config.yaml`, "-p", prompt],
        allow: ["--auto"],
    },
    {
        name: "cline",
        mostCalls: 2,
        title: "Cline CLI",
        package: "cline",
        version: "3.0.65",
        bin: "cline",
        env: () => ({ CLINE_TELEMETRY_DISABLED: "1", CLINE_NO_AUTO_UPDATE: "1", DO_NOT_TRACK: "1" }),
        first: (url) => ["auth", "-p", "openai", "-k", KEY, "-m", MODEL, "-b", `${url}/v1`],
        httpEntry: ({ url, token }) => ({
            ".cline/data/settings/cline_mcp_settings.json": json({
                mcpServers: { sayso: { type: "streamableHttp", url: `${url}?client_timeout=3600`, timeout: 3600, headers: { Authorization: `Bearer ${token}` } } },
            }),
        }),
        headless: (prompt) => [prompt],
        allow: [],
    },
    {
        name: "inspector",
        mostCalls: 11,
        title: "Inspector --cli",
        package: "@modelcontextprotocol/inspector",
        version: "2.12.0",
        bin: "mcp-inspector",
        env: () => ({}),
        entry: () => ({}),
        direct: ({ program, url, token }, tool, args) => [
            "--cli", ...program ? [program, "mcp"] : ["--server-url", url, "--transport", "http", "--header", `Authorization: Bearer ${token}`],
            "--method", "tools/call", "--tool-name", tool,
            ...Object.entries(args).flatMap(([name, value]) => ["--tool-arg", `${name}=${typeof value === "string" ? value : json(value)}`]),
        ],
        allow: [],
    },
];

// In just this version.
export function isInstalled({ name, package: wanted, version }) {
    try {
        return JSON.parse(readFileSync(path.join(PLACE, name, "node_modules", wanted, "package.json"))).version === version;
    } catch {
        return false;
    }
}
