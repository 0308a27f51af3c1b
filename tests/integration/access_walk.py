"""Walks rows of tests/access.txt through one door as one identity, and prints what came of each as JSON.

Reads {door, identity, …, rows} from standard input and runs by itself, because another user of the machine is one of the
identities. All calls of a door and identity go over one connection.
"""
from __future__ import annotations

import base64
import ctypes
import encodings.idna  # noqa: F401
import http.client
import json
import os
import socket
import ssl
import struct
import sys
from typing import Any

HANG_S = 60
MAY, ROLE, TOKEN, HELLO, OUT, MISSING = "Yrthx-"  # the letters of tests/access.txt
# What passes the check of who may and is refused by the act itself, so that walking changes nothing.
PARAMS = {"token/new": {"kind": "no such kind"}, "ask/later": {"seconds": -1}, "rule/add": {"seconds": 1},
          "client/cut_off": {"held_ms": -1}, "ask/extend": {"seconds": -1}, "settings/set": {"name": "unknown setting"}}
# Why another user's code is refused: at tls-ws everyone's is.
CODE_REFUSED = {"ws": "this link is another user's", "tls-ws": "links of sayso open are good on the hub's own machine"}


def judge(error: dict[str, Any] | None) -> str:
    if error is None:
        return MAY
    code = (error.get("data") or {}).get("code")
    if error["code"] == -32601:
        return MISSING
    if error["code"] == -32002:
        return ROLE
    if code == "not_allowed":
        assert "run 'sayso " in error["message"], error
        return TOKEN
    return HELLO if error["message"] == "say hello first" else MAY


class Line:
    """JSON-RPC messages on a unix socket, or as frames of a WebSocket."""

    def __init__(self, given: dict[str, Any]):
        self.door, self.unread, self.tab = given["door"], b"", ""
        self.is_unix = self.door == "unix"
        if self.is_unix:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(HANG_S)
            self.socket.connect(given["socket"])
            return
        path, is_public = "/" + self.door.rpartition("-")[2], self.door.startswith("tls-")
        port = given["tls_port" if is_public else "port"]
        self.socket = socket.create_connection(("127.0.0.1", port), HANG_S)
        if is_public:
            self.socket = unverified().wrap_socket(self.socket)
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        if path == "/ws":
            lines.append(f"Origin: http{'s' if is_public else ''}://127.0.0.1:{port}")
        elif given["token"]:
            lines.append(f"Authorization: Bearer {given['token']}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self.unread:
            self.fill()
        head, _, self.unread = self.unread.partition(b"\r\n\r\n")
        if b" 101 " not in head.partition(b"\r\n")[0]:
            raise ConnectionError(head)

    def fill(self) -> None:
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError("closed")
        self.unread += part

    def need(self, count: int) -> None:
        while len(self.unread) < count:
            self.fill()

    def send(self, message: dict[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        if self.is_unix:
            self.socket.sendall(text + b"\n")
            return
        head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else b"\x81\xfe" + struct.pack(">H", len(text))
        self.socket.sendall(head + b"\0\0\0\0" + text)

    def read(self) -> dict[str, Any]:
        if self.is_unix:
            while b"\n" not in self.unread:
                self.fill()
            line, _, self.unread = self.unread.partition(b"\n")
            return json.loads(line)
        while True:
            self.need(2)
            length, head = self.unread[1], 2
            if length == 126:
                self.need(4)
                length, head = struct.unpack(">H", self.unread[2:4])[0], 4
            elif length == 127:
                self.need(10)
                length, head = struct.unpack(">Q", self.unread[2:10])[0], 10
            self.need(head + length)
            opcode, body = self.unread[0] & 15, self.unread[head:head + length]
            self.unread = self.unread[head + length:]
            if opcode == 8:
                raise ConnectionError(body)
            if opcode == 1:
                return json.loads(body)


def unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def enter(given: dict[str, Any]) -> Line:
    """ConnectionError: this identity is not let in."""
    line = Line(given)
    params: dict[str, Any] = {"wire": 1, "name": "walk", "role": given["role"]}
    if not given["role"]:
        return line
    if line.door == "unix":
        params["sub_agent"] = given["identity"] == "sub-agent"
    elif line.door.endswith("ws"):
        params["role"] = "person"  # a page has no other
        params |= {"code": given["code"]} if given["code"] else {"token": given["token"]}
    line.send({"id": 1, "method": "hello", "params": params})
    if "error" in (reply := line.read()):
        assert not given["code"] or reply["error"]["message"].startswith(CODE_REFUSED[line.door]), reply
        raise ConnectionError(reply)
    line.tab = reply["result"].get("tab", "")
    return line


def ask(line: Line, row: str) -> str:
    kind, name = row.split()
    method = "settings/set" if kind == "setting" else name
    params = {"name": name, "value": []} if kind == "setting" else PARAMS.get(name, {})
    if name == "hub/prove":
        params = {"tab": line.tab, "nonce": "walk"}
    line.send({"id": row, "method": method, "params": params})
    while True:
        message = line.read()
        if message.get("method") == "mine/following" and name == "mine/follow":  # a success that is never answered
            return MAY
        if message.get("id") == row:
            return judge(message.get("error"))


def walk_methods(given: dict[str, Any]) -> dict[str, str]:
    try:
        line = enter(given)
    except (ConnectionError, ssl.SSLError, PermissionError):
        return dict.fromkeys(given["rows"], OUT)
    found = {"method hello": MAY if given["role"] else HELLO}  # that was said
    for row in given["rows"]:
        if row in found:
            continue
        try:
            found[row] = ask(line, row)
        except ConnectionError:  # without a hello a connection has 5 s, and a busy machine may need more
            assert not given["role"], (given["door"], given["identity"], row)
            line = enter(given)
            found[row] = ask(line, row)
    return found


def walk_routes(given: dict[str, Any]) -> dict[str, str]:
    found, port = {}, given["tls_port" if given["door"] == "tls" else "port"]
    peer = (http.client.HTTPSConnection("127.0.0.1", port, timeout=HANG_S, context=unverified()) if given["door"] == "tls"
            else http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S))
    headers = {"Authorization": f"Bearer {given['token']}"} if given["token"] else {}
    for row in given["rows"]:
        _, method, path = row.split()
        path = path.replace("{id}", "a" * 26).replace("*", "nothing")
        more = {"Content-Type": "application/json"} if method == "POST" else {}
        if path == "/portal/open":
            more["Origin"] = f"http{'s' if given['door'] == 'tls' else ''}://127.0.0.1:{port}"
        peer.request(method, path, "{}" if method == "POST" else None, headers | more)
        reply = peer.getresponse()
        body = reply.read()
        code = json.loads(body)["error"]["code"] if reply.status in (401, 403, 429) else ""
        found[row] = {"unauthorized": OUT, "rate_limited": OUT, "wrong_role": ROLE, "not_allowed": TOKEN, "": MAY,
                      "foreign_origin": MAY if path == "/ws" else "?"}[code]  # a page has one, so it was looked at
    peer.close()
    return found


if __name__ == "__main__":
    # It is every identity in turn, so it must not be taken for the client of the agents among them.
    ctypes.CDLL(None).prctl(15, b"supervisord", 0, 0, 0)  # PR_SET_NAME
    if len(sys.argv) > 1:  # once everything is imported: the other user may not be able to read it
        os.setgroups([])
        os.setgid(int(sys.argv[1]))
        os.setuid(int(sys.argv[1]))
    work = json.load(sys.stdin)
    json.dump([(walk_routes if given["door"] in ("http", "tls") else walk_methods)(given) for given in work], sys.stdout)
