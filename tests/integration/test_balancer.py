"""The load balancer of the tests on several hubs is an ordinary one: any request to any hub, streams as they come,
nothing sent twice, and when one side leaves, the other is told. Hubs here are stubs that say who they are."""
from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import threading
import time
from typing import Any, Iterator

from balancer import Balancer
from harness import HANG_S, Home, run, test, wait_until
from web_stage import Page, code_of, hello, link_of, start_hub


class Stub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/readyz":
            return self.reply(200 if self.server.is_ready else 503, {})
        if self.path == "/stream":
            return self.stream()
        self.reply(200, {"me": self.server.name, "host": self.headers["Host"], "origin": self.headers["Origin"]})

    def do_POST(self) -> None:
        self.server.seen.append(self.path)
        if self.path == "/die":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        self.reply(200, {"me": self.server.name, "length": self.length_of_body()})

    def length_of_body(self) -> int:
        if self.headers["Transfer-Encoding"] != "chunked":
            return len(self.rfile.read(int(self.headers["Content-Length"])))
        total = 0
        while size := int(self.rfile.readline(), 16):
            total += len(self.rfile.read(size + 2)) - 2
        self.rfile.readline()
        return total

    def stream(self) -> None:
        """A piece whenever the test lets it go on; ends with the peer, or in the middle."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(1000):
            try:
                self.wfile.write(b"5\r\nnews\n\r\n")
            except OSError:
                break
            if self.server.may_end.wait(0.02):
                break
        self.server.ended.set()
        self.close_connection = True


@contextlib.contextmanager
def stubs(count: int = 3) -> Iterator[list[http.server.ThreadingHTTPServer]]:
    servers = []
    for name in range(count):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        server.name, server.is_ready, server.seen = name, True, []
        server.may_end, server.ended = threading.Event(), threading.Event()
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield servers
    finally:
        for server in servers:
            server.may_end.set()
            server.shutdown()
            server.server_close()


@contextlib.contextmanager
def balanced(order: str = "random") -> Iterator[tuple[Balancer, list[Any], http.client.HTTPConnection]]:
    with stubs() as servers, Balancer([server.server_port for server in servers], order=order) as balancer:
        connection = http.client.HTTPConnection("127.0.0.1", balancer.port, timeout=HANG_S)
        yield balancer, servers, connection
        connection.close()


def get(connection: http.client.HTTPConnection, path: str = "/", **headers: str) -> dict[str, Any]:
    connection.request("GET", path, headers=headers)
    reply = connection.getresponse()
    assert reply.status == 200, reply.status
    return {"x-hub": reply.getheader("X-Hub"), **json.loads(reply.read())}


@test("requests of one connection go to every hub, by turns or by chance")
def every_hub() -> None:
    for order in ("random", "round_robin"):
        with balanced(order) as (balancer, _, connection):
            connection.connect()
            peer = connection.sock
            seen = [get(connection) for _ in range(60)]
            assert connection.sock is peer, "the connection was closed"
            assert all(str(one["me"]) == one["x-hub"] for one in seen)
            names = [one["me"] for one in seen]
            assert set(names) == {0, 1, 2}, names
            if order == "round_robin":
                assert all(a != b for a, b in zip(names, names[1:])), names
            assert sum(balancer.counts[place] for place in range(3)) == 60


@test("bodies arrive whole, with a length and in chunks; the hub sees its own address")
def bodies() -> None:
    with balanced() as (balancer, servers, connection):
        for size in (0, 1, 70000, 1 << 20):
            connection.request("POST", "/take", b"x" * size)
            assert json.loads(connection.getresponse().read())["length"] == size
            connection.request("POST", "/take", iter([b"y" * size, b"z"]), encode_chunked=True)
            assert json.loads(connection.getresponse().read())["length"] == size + 1
        said = get(connection, Origin=f"http://127.0.0.1:{balancer.port}")
        mine = f"127.0.0.1:{servers[said['me']].server_port}"
        assert said["host"] == mine and said["origin"] == f"http://{mine}", said


@test("a hub that is not ready or not there gets nothing; without any there is a 503")
def health() -> None:
    with balanced() as (balancer, servers, connection):
        servers[0].is_ready = False
        wait_until(lambda: not balancer.is_ready[0], "the hub is seen as not ready")
        assert {get(connection)["me"] for _ in range(30)} == {1, 2}
        servers[1].shutdown()
        servers[1].server_close()  # it is still believed to be ready
        assert {get(connection)["me"] for _ in range(30)} == {2}
        servers[0].is_ready = True
        wait_until(lambda: balancer.is_ready[0], "the hub is ready again")
        assert {get(connection)["me"] for _ in range(30)} == {0, 2}
        for server in (servers[0], servers[2]):
            server.shutdown()
            server.server_close()
        connection.request("GET", "/")
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 503


@test("what a hub has read is not sent to another; the client is cut off")
def never_twice() -> None:
    with balanced() as (_, servers, connection):
        for _ in range(5):
            connection.request("POST", "/die", b"once")
            try:
                connection.getresponse()
                raise AssertionError("a reply of nobody")
            except (ConnectionError, http.client.BadStatusLine):
                connection.close()
        assert sum(len(server.seen) for server in servers) == 5


@test("a stream comes piece by piece; who leaves it is missed, and a torn one is seen as torn")
def streams() -> None:
    with balanced() as (balancer, servers, connection):
        connection.request("GET", "/stream")
        reply = connection.getresponse()
        assert reply.read(5) == b"news\n"
        connection.close()
        wait_until(lambda: any(server.ended.is_set() for server in servers), "the hub notices")
        connection.request("GET", "/stream")
        reply = connection.getresponse()
        assert reply.read(5) == b"news\n"
        servers[int(reply.getheader("X-Hub"))].may_end.set()
        try:
            reply.read()
            raise AssertionError("a whole stream")
        except (http.client.IncompleteRead, ConnectionError):
            pass


@test("WebSockets go through to a real hub, both ways, until one side closes")
def websockets(home: Home) -> None:
    port = start_hub(home)
    with Balancer([port]) as balancer, Page(balancer.port) as page:
        assert page.status == 101, page.head
        assert hello(page, code=code_of(link_of(home)))["token"]
        assert page.call("ask/list", which="active")["asks"] == []
        began = time.monotonic()
        home.kill_hub()
        assert page.close_code() is None and time.monotonic() - began < HANG_S


run()
