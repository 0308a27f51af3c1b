"""A request whose id can be read is answered with it, whatever else is wrong; a number out of range is a fault of its field.

Proves: R12.2 P14
"""
from __future__ import annotations

import contextlib
import json
import select
import time
from typing import Any, Callable, Iterator

from api import Office
from harness import run, test
from web_stage import Page, code_of, hello, link_of

HUGE = (b"9223372036854775808", b"-9223372036854775809", b"1e400", b"-1E+999", b"9" * 400)
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
WAIT_S = 60

# With %s for the id: as the SDKs of Python and TypeScript write it behind the parameters, as others before them.
BROKEN: list[tuple[bytes, int]] = [
    (b'{"method":"x","params":{"a":1,},"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":%s,"method":"x","params":{"a":1,}}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":%s,"method":"x","params":{"a":1,"a":2}}', PARSE_ERROR),
    (b'{"method":"x","method":"y","jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"method":"x","params":{"a":"\xff"},"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"method":"x","params":{"a":"\\ud800"},"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"method":"x","params":' + b'{"a":' * 100 + b"1" + b"}" * 100 + b',"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"method":"x","params":{"a":01},"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"method":"x","params":{},"jsonrpc":"2.0","id":%s} x', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":%s,"method":"x","params":{"a":"', PARSE_ERROR),
    (b'{"method":"x","params":{"a":]},"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'{"method":"x","params":{"a":1,},"jsonrpc":"2.0","\\u0069d":%s}', PARSE_ERROR),
    (b'\xef\xbb\xbf{"method":"x","params":{"a":1,},"jsonrpc":"2.0","id":%s}', PARSE_ERROR),
    (b'\xef\xbb\xbf{"method":"x","params":[],"jsonrpc":"2.0","id":%s}', INVALID_REQUEST),
    (b'{"method":"x","params":[],"jsonrpc":"2.0","id":%s}', INVALID_REQUEST),
    (b'{"method":7,"jsonrpc":"2.0","id":%s}', INVALID_REQUEST),
    (b'{"method":"x","jsonrpc":"1.0","id":%s}', INVALID_REQUEST),
]
IDS = (b"7", b'"seven \\" \xc3\xa9"', b"-9223372036854775808")
ODD_IDS = (b"1.5", b"9223372036854775808", b"1e400")  # refused, and answered with
NO_IDS = (b"null", b"[1]", b'{"id":1}', b"true")


class Lines:
    """`sayso mcp` on its pipes."""

    def __init__(self, office: Office):
        self.process = office.home.spawn("mcp")

    def send(self, message: bytes) -> None:
        self.process.stdin.buffer.write(message + b"\n")
        self.process.stdin.buffer.flush()

    def read(self) -> bytes:
        deadline = time.monotonic() + WAIT_S
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], deadline - time.monotonic())
            assert ready, f"no answer: {line!r}"
            part = self.process.stdout.buffer.read1(65536)
            assert part, "the server is gone"
            line += part
        return line


@contextlib.contextmanager
def socket_front(office: Office) -> Iterator[Callable[[bytes], dict[str, Any]]]:
    wire = office.wire("person")

    def ask(message: bytes) -> dict[str, Any]:
        wire.send(message)
        return wire.read(WAIT_S)
    yield ask


@contextlib.contextmanager
def page_front(office: Office) -> Iterator[Callable[[bytes], dict[str, Any]]]:
    with Page(office.port) as page:
        hello(page, code=code_of(link_of(office.home)))

        def ask(message: bytes) -> dict[str, Any]:
            message.decode()  # a frame of text is UTF-8, or it ends the connection
            page.send(message)
            return page.read(WAIT_S)
        yield ask


@contextlib.contextmanager
def stdio_front(office: Office) -> Iterator[Callable[[bytes], dict[str, Any]]]:
    lines = Lines(office)

    def ask(message: bytes) -> dict[str, Any]:
        lines.send(message)
        return json.loads(lines.read())
    yield ask
    lines.process.stdin.close()
    lines.process.wait(WAIT_S)
    office.home.spawned.remove(lines.process)
    lines.process.stdout.close()
    lines.process.stderr.close()


@contextlib.contextmanager
def post_front(office: Office) -> Iterator[Callable[[bytes], dict[str, Any]]]:
    def ask(message: bytes) -> dict[str, Any]:
        reply = office.post("/mcp", message, token="agent", Accept="application/json, text/event-stream")
        return json.loads(reply.body)
    yield ask


FRONTS = (socket_front, page_front, stdio_front, post_front)


def check_front(office: Office, front: Any) -> int:
    count = 0
    with front(office) as ask:
        for message, code in BROKEN:
            for id in IDS:
                given = message % id
                if front is page_front and b"\xff" in given:
                    continue
                reply = ask(given)
                assert reply["error"]["code"] == code, (front.__name__, given[:90], reply)
                assert "id" in reply and reply["id"] == json.loads(id), (front.__name__, given[:90], reply)
                count += 1
        for id in ODD_IDS:
            reply = ask(b'{"method":"ping","params":{},"jsonrpc":"2.0","id":%s}' % id)
            assert reply["error"]["code"] == INVALID_REQUEST and reply["id"] == json.loads(id), (front.__name__, id, reply)
        for id in NO_IDS:
            reply = ask(b'{"method":"x","params":{"a":1,},"jsonrpc":"2.0","id":%s}' % id)
            assert reply["error"]["code"] == PARSE_ERROR and reply.get("id") is None, (front.__name__, id, reply)
        for twice in (b'{"id":1,"method":"x","jsonrpc":"2.0","id":2}', b'{"id":1,"method":"x","jsonrpc":"2.0","id":1}'):
            reply = ask(twice)
            assert reply["error"]["code"] == PARSE_ERROR and reply.get("id") is None, (front.__name__, reply)
        response = ask(b'{"jsonrpc":"2.0","id":3,"result":{"a":1,}}')  # its id is of a request of ours
        assert response.get("id") is None, response
    return count


@test("a broken request is answered with its id by every front", "R12.2 P14")
def broken_requests() -> None:
    with Office() as office:
        for front in FRONTS:
            count = check_front(office, front)
            print(f"# {front.__name__}: {count} broken requests answered with their id")


@test("a message of more than 1 MiB is answered with the id that was read of it", "R12.2")
def long_messages() -> None:
    pad = b"x" * (1 << 20)
    with Office() as office:
        for front in (socket_front, stdio_front):
            with front(office) as ask:
                early = ask(b'{"jsonrpc":"2.0","id":"early","method":"ping","params":{"pad":"%s"}}' % pad)
                assert early["id"] == "early" and early["error"]["code"] == INVALID_REQUEST, early
                late = ask(b'{"jsonrpc":"2.0","method":"ping","params":{"pad":"%s"},"id":"late"}' % pad)
                assert late.get("id") is None and late["error"]["code"] == INVALID_REQUEST, late


def error_of(reply: dict[str, Any]) -> tuple[str, str]:
    """(code, path) of a refusal on the wire, or of a tool's result."""
    if "error" in reply:
        return reply["error"]["data"]["code"], reply["error"]["data"]["path"]
    said = json.loads(reply["result"]["content"][0]["text"])["error"]
    return said["code"], said["path"]


CHOICE = (b'{"title":"T","prompt":"Which of these shall it be, and why?","selection_mode":"single","options":'
          b'[{"id":"a","label":"A","recommended":true},{"id":"b","label":"B"}],"timeout_seconds":%s}')


@test("a number out of range is refused as the field it stands in, on the wire and in the browser", "R12.2 R2.1")
def numbers_on_the_wire() -> None:
    cases = [("ask/list", b'{"limit":%s}', "/limit"), ("ask/extend", b'{"session_id":"x","seconds":%s}', "/seconds"),
             ("settings/set", b'{"name":"remind_minutes","value":%s}', "/value"),
             ("ask/answer", b'{"session_id":"x","fields":{"a":[0,{"b":%s}]}}', "/fields/a/1/b"),
             ("rule/preview", b'{"\xc2\xa0":{"x":%s}}', "")]
    with Office() as office:
        for front in (socket_front, page_front):
            with front(office) as ask:
                for method, params, path in cases:
                    for huge in HUGE:
                        reply = ask(b'{"method":"%s","params":%s,"jsonrpc":"2.0","id":"n"}' % (method.encode(), params % huge))
                        assert reply["id"] == "n" and error_of(reply) == ("out_of_range", path), (method, huge[:30], reply)
        agent = office.wire("agent")
        for huge in HUGE:  # paths about arguments begin there, as all of them do
            agent.send(b'{"jsonrpc":"2.0","id":1,"method":"ask/create","params":{"tool":"provide_choice","arguments":%s}}'
                       % (CHOICE % huge))
            assert error_of(agent.read(WAIT_S)) == ("out_of_range", "/timeout_seconds")
        assert office.get("/api/asks").json["asks"] == []


@test("a number out of range is refused as the argument it stands in, over MCP, REST and on the command line", "R12.2 R2.1")
def numbers_of_tools() -> None:
    claim = (b'"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
             b'"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},'
             b'"io.modelcontextprotocol/clientCapabilities":{}}')
    call = b'{"method":"tools/call","params":{"name":"provide_choice","arguments":%s,%s},"jsonrpc":"2.0","id":"n"}'
    with Office() as office:
        ask_id = office.ask()
        for huge in HUGE:
            with stdio_front(office) as ask:
                reply = ask(call % (CHOICE % huge, claim))
                assert reply["id"] == "n" and error_of(reply) == ("out_of_range", "/timeout_seconds"), reply
            reply = office.post("/mcp", call % (CHOICE % huge, claim), token="agent",
                                Accept="application/json, text/event-stream", Mcp_Method="tools/call",
                                Mcp_Name="provide_choice", MCP_Protocol_Version="2026-07-28").json
            assert reply["id"] == "n" and error_of(reply) == ("out_of_range", "/timeout_seconds"), reply
            for path, body, pointer in ((f"/api/asks/{ask_id}/extend", b'{"seconds":%s}', "/seconds"),
                                        (f"/api/asks/{ask_id}/answer", b'{"fields":{"x":[%s]}}', "/fields/x/0")):
                refused = office.post(path, body % huge)
                assert (refused.status, refused.error["code"], refused.error["path"]) == (422, "out_of_range", pointer), refused
            made = office.home.sayso("ask", "--from", "-", "--json", input=(CHOICE % huge).decode())
            assert made.code == 1 and made.json["error"]["code"] == "out_of_range", made
            assert made.json["error"]["path"] == "/timeout_seconds", made
        assert len(office.get("/api/asks").json["asks"]) == 1


run()
