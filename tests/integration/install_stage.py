"""Configurations as people have them, one or more a client, and how a test reads them."""
from __future__ import annotations

import json
import pathlib
import re
import tomllib
from typing import Any, NamedTuple

from harness import Home


class Client(NamedTuple):
    """Where a client keeps its servers; said once more here, so that a slip in the table shows."""
    name: str
    file: str
    container: str
    timeout: tuple[str, int] | None = None
    project: str | None = None
    url: str | None = "url"
    is_lenient: bool = False


CLIENTS = [
    Client("claude", ".claude.json", "mcpServers", ("timeout", 3600000), ".mcp.json"),
    Client("codex", ".codex/config.toml", "mcp_servers", ("tool_timeout_sec", 3600), ".codex/config.toml"),
    Client("copilot", ".copilot/mcp-config.json", "mcpServers", ("timeout", 3600000), ".mcp.json"),
    Client("vscode", ".config/Code/User/mcp.json", "servers", None, ".vscode/mcp.json", is_lenient=True),
    Client("cursor", ".cursor/mcp.json", "mcpServers", None, ".cursor/mcp.json", is_lenient=True),
    Client("gemini", ".gemini/settings.json", "mcpServers", ("timeout", 3600000), ".gemini/settings.json", "httpUrl",
           True),
    Client("qwen", ".qwen/settings.json", "mcpServers", ("timeout", 3600000), ".qwen/settings.json", "httpUrl", True),
    Client("opencode", ".config/opencode/opencode.json", "mcp", ("timeout", 3600000), "opencode.json", is_lenient=True),
    Client("cline", ".cline/data/settings/cline_mcp_settings.json", "mcpServers", ("timeout", 3600), None, None),
    Client("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers", None, None, None),
]
BY_NAME = {client.name: client for client in CLIENTS}

# %s is the member with the servers.
STRICT = ['', '{}', '{ }', '{\n}\n', '{"a": 1}', '{\n  "a": [1, {"b": "}"}]\n}\n', '{"%s": {}}', '{"%s":{"x":{"command":"y"}}}',
          '{\n    "%s": {\n    }\n}', '{\n\t"theme": "dark",\n\t"%s": {\n\t\t"other": {\n\t\t\t"command": "npx",\n'
          '\t\t\t"args": ["-y", "a\\"b\\\\"],\n\t\t\t"env": {"KEY": "sk-\\u00e9"}\n\t\t}\n\t},\n\t"z": null\n}\n',
          '\n\n  {\n      "%s": { "one": {"command": "a"}, "two": {"command": "b"} },\n      "last": true }',
          '{\n  "numStartups": 12, "tipsHistory": {"x": 1.5e3},\n  "projects": {"/home/x": {"mcpServers": {}}},\n'
          '  "lone": "\\ud83d", "%s": {\n    "a-b": {"type": "http", "url": "https://example.org/mcp"}\n  }\n}']
LENIENT = STRICT + [
    '// servers of mine\n{\n  // the first\n  "%s": {\n    "x": { "command": "y" }, // keep me here\n    /* and\n       me */\n'
    '  },\n}\n', '/* only a comment */', '// only a comment', '{ /* nothing */ }', '{\n  "%s": {\n    // nothing yet\n  }\n}\n',
    '{\n  "%s": {\n    "x": { "command": "http://not//a/comment" } /* a */ // b\n  }\n}\n',
    '{\n  "%s": { "x": {"command": "y"}, },\n  "inputs": [1,2,],\n}\n']
TOML = ['', '# nothing\n', 'model = "o3"', 'model = "o3"\n\n\n', '[mcp_servers]\n', '[mcp_servers.other]\ncommand = "npx"\n'
        'args = [\n  "-y", # yes\n  "thing",\n]\nenv = { "API.KEY" = \'a\\b\' }\n\n[profiles."my one"]\nmodel = "x"\n# the end\n',
        'notify = ["a", "b"]\nlong = """\n[mcp_servers.sayso]\n"quoted\\" """\nraw = \'\'\'\n[x\'\'\'\nwhen = 1979-05-27T07:32:00Z\n'
        'f = 6.26e-34\nb = true\na.b."c d" = 1_000\n\n[[things]]\nname = "a"\n[[things]]\nname = "b"\n\n'
        '  [ mcp_servers . "quoted name" ]\n  command = "x"   # note\n']


def samples(client: Client) -> list[bytes]:
    """Each also with Windows' line ends, and with a byte order mark."""
    if client.name == "codex":
        texts = TOML
    else:
        texts = [text.replace("%s", client.container) for text in (LENIENT if client.is_lenient else STRICT)]
    found = [text.encode() for text in texts]
    found += [text.replace("\n", "\r\n").encode() for text in texts if "\n" in text]
    return found + [b"\xef\xbb\xbf" + text.encode() for text in texts[::3]]


def strip_comments(text: str) -> str:
    token = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    bare = token.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
    token = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])', re.DOTALL)
    return token.sub(lambda found: "" if found[0] == "," else found[0], bare)


def parse(client: Client, data: bytes) -> dict[str, Any]:
    """As the client reads it; fails where it could not."""
    text = data.decode("utf-8-sig")
    if client.name == "codex":
        return tomllib.loads(text)
    bare = strip_comments(text) if client.is_lenient else text
    return json.loads(bare) if bare.strip() else {}


def path_of(home: Home, client: Client) -> pathlib.Path:
    return home.path / client.file


def put(home: Home, client: Client, data: bytes | str) -> pathlib.Path:
    path = path_of(home, client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def entry_of(home: Home, client: Client, name: str = "sayso") -> dict[str, Any]:
    return parse(client, path_of(home, client).read_bytes())[client.container][name]


def listing(home: Home) -> set[str]:
    return {str(path.relative_to(home.path)) for path in home.path.rglob("*") if not path.is_dir()}
