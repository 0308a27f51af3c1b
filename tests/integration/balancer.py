"""An ordinary load balancer before several hubs: HTTP/1.1 with streams and WebSockets, each request to another hub, also
those that come on one connection; nobody sticks to anybody.

  with Balancer([hub.port for hub in hubs], seed) as balancer:
      http.client.HTTPConnection("127.0.0.1", balancer.port)

A hub that is not ready (/readyz) gets nothing. A request that reached no hub goes to the next one; one that a hub has
begun to read is never sent again. What a client leaves is left at the hub too, and the reverse: a reply that ends early is
cut off, not completed. `X-Hub` in a reply is the place of its hub in the list. Seeded; a thread of its own.
"""
from __future__ import annotations

import asyncio
import itertools
import random
import re
import ssl
from collections import Counter
from typing import Any, Callable

from own_loop import OwnLoop

HEAD_BYTES, BODY_BYTES, PART_BYTES = 65536, 8 << 20, 65536
HEALTH_S, CONNECT_S = 0.2, 2.0
HOP_BY_HOP = ("connection", "keep-alive", "proxy-connection")


class Gone(Exception):
    """One side has closed."""


class Incoming:
    """What a client sends, read ahead, so that its leaving is noticed while its request waits."""

    def __init__(self, reader: asyncio.StreamReader):
        self.reader, self.bytes, self.is_over = reader, b"", False
        self.news = asyncio.Condition()
        self.task = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        part = b"-"
        while part:
            try:
                part = await self.reader.read(PART_BYTES)
            except OSError:
                part = b""
            async with self.news:
                self.bytes += part
                self.is_over = not part
                self.news.notify_all()
                await self.news.wait_for(lambda: len(self.bytes) < BODY_BYTES or self.is_over)

    async def until(self, is_there: Callable[[], Any]) -> None:
        async with self.news:
            await self.news.wait_for(lambda: is_there() or self.is_over)
        if not is_there():
            raise Gone

    async def take(self, count: int) -> bytes:
        await self.until(lambda: len(self.bytes) >= count)
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        async with self.news:
            self.news.notify_all()
        return taken

    async def take_through(self, end: bytes) -> bytes:
        await self.until(lambda: end in self.bytes or len(self.bytes) > HEAD_BYTES)
        if end not in self.bytes:
            raise Gone
        return await self.take(self.bytes.index(end) + len(end))

    async def over(self) -> None:
        async with self.news:
            await self.news.wait_for(lambda: self.is_over)


class Head:
    """The first line and the headers, in order; names as they came."""

    def __init__(self, text: bytes):
        first, *lines = text.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        self.first = first
        self.headers = [tuple(part.strip() for part in line.partition(":")[::2]) for line in lines]

    def get(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")

    def without(self, *names: str) -> list[tuple[str, str]]:
        return [row for row in self.headers if row[0].lower() not in names]

    def encode(self, headers: list[tuple[str, str]]) -> bytes:
        return "\r\n".join([self.first, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("latin-1")

    @property
    def status(self) -> int:
        return int(self.first.split(" ", 2)[1])

    @property
    def is_chunked(self) -> bool:
        return "chunked" in self.get("transfer-encoding").lower()


class Balancer(OwnLoop):
    """`ports` may change while it runs. `order`: random, or round_robin. `counts[i]` are requests for hub i. With
    `certificate` (chain and key in one file) it speaks TLS to its clients; then hubs are told the name it is called by."""

    def __init__(self, ports: list[int], seed: int = 1, order: str = "random", port: int = 0, certificate: str = ""):
        super().__init__()
        self.ports, self.order, self.rewrites_host = ports, order, not certificate
        self.wanted_port, self.tls = port, None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        self.chance, self.turns = random.Random(seed), itertools.count()
        self.counts: Counter[Any] = Counter()
        self.is_ready = [False] * len(ports)
        self.begin()

    async def listen(self) -> asyncio.Server:
        await self._look_at_all()
        self.health = asyncio.ensure_future(self._look_for_ever())
        return await asyncio.start_server(self._serve, "127.0.0.1", self.wanted_port, ssl=self.tls)

    # Health -------------------------------------------------------------------------------------

    async def _look_for_ever(self) -> None:
        while True:
            await asyncio.sleep(HEALTH_S)
            await self._look_at_all()

    async def _look_at_all(self) -> None:
        ready = await asyncio.gather(*(self._look_at(port) for port in self.ports))
        self.is_ready = list(ready)

    async def _look_at(self, port: int) -> bool:
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(f"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
                    return b" 200 " in await reader.readline()
                finally:
                    writer.transport.abort()
        except (OSError, TimeoutError):
            return False

    def _in_order(self) -> list[int]:
        """Hubs to try, the first one first: those that are ready, then, if there is none, all."""
        places = [place for place, is_ready in enumerate(self.is_ready) if is_ready] or list(range(len(self.ports)))
        if self.order == "random":
            self.chance.shuffle(places)
            return places
        first = next(self.turns) % len(places)
        return places[first:] + places[:first]

    # One client ---------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming = Incoming(reader)
        try:
            while await self._serve_one(incoming, writer):
                pass
        except (Gone, OSError, EOFError, asyncio.CancelledError):
            pass
        except Exception as problem:
            self.problems.append(problem)
        finally:
            incoming.task.cancel()
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    async def _serve_one(self, incoming: Incoming, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; True if the connection goes on."""
        head = Head(await incoming.take_through(b"\r\n\r\n"))
        if head.get("expect"):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await self._body_of(head, incoming)
        is_upgrade = bool(head.get("upgrade"))
        for place in self._in_order():
            try:
                async with asyncio.timeout(CONNECT_S):
                    hub = await asyncio.open_connection("127.0.0.1", self.ports[place])
            except (OSError, TimeoutError):
                self.is_ready[place] = False
                continue
            self.counts[place] += 1
            self.counts["upgrades"] += is_upgrade
            try:
                hub[1].write(self._for_hub(head, self.ports[place], is_upgrade) + body)
                return await self._relay(head, place, hub, incoming, writer)
            finally:
                hub[1].transport.abort()
        self.counts["no hub"] += 1
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nX-Hub: none\r\n\r\n")
        await writer.drain()
        return True

    async def _body_of(self, head: Head, incoming: Incoming) -> bytes:
        if not head.is_chunked:
            return await incoming.take(int(head.get("content-length") or 0))
        body = b""
        while True:
            line = await incoming.take_through(b"\r\n")
            body += line + await incoming.take(int(line, 16) + 2)
            if int(line, 16) == 0:
                return body

    def _for_hub(self, head: Head, port: int, is_upgrade: bool) -> bytes:
        headers = head.without(*(() if is_upgrade else HOP_BY_HOP), "expect")
        if not is_upgrade:
            headers.append(("Connection", "close"))
        if self.rewrites_host:
            ours, theirs = re.compile(rf"^(https?://)?(127\.0\.0\.1|localhost):{self.port}$"), rf"\g<1>127.0.0.1:{port}"
            headers = [(name, ours.sub(theirs, value) if name.lower() in ("host", "origin") else value)
                       for name, value in headers]
        return head.encode(headers)

    async def _relay(self, request: Head, place: int, hub: tuple, incoming: Incoming, writer: asyncio.StreamWriter) -> bool:
        """The reply as it comes. When the client or the hub leaves, the other one is told so."""
        left = asyncio.ensure_future(incoming.over())
        reply = asyncio.ensure_future(self._reply(request, place, hub, incoming, writer))
        try:
            await asyncio.wait((left, reply), return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                raise Gone
            return reply.result()
        except asyncio.IncompleteReadError:
            self.counts["cut off by a hub"] += 1
            raise Gone from None
        finally:
            for task in (left, reply):
                task.cancel()
            await asyncio.gather(left, reply, return_exceptions=True)

    async def _reply(self, request: Head, place: int, hub: tuple, incoming: Incoming, writer: asyncio.StreamWriter) -> bool:
        reader, to_hub = hub
        head = Head(await reader.readuntil(b"\r\n\r\n"))
        if head.status == 101:
            writer.write(head.encode([*head.headers, ("X-Hub", str(place))]))
            await self._tunnel(reader, to_hub, incoming, writer)
            return False
        writer.write(head.encode([*head.without(*HOP_BY_HOP), ("X-Hub", str(place))]))
        has_end = await self._pass_body(request, head, reader, writer)
        await writer.drain()
        return has_end and request.get("connection").lower() != "close"

    async def _pass_body(self, request: Head, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """True if its end could be seen, so that another reply can follow."""
        if request.first.startswith("HEAD ") or head.status in (204, 304):
            return True
        if head.is_chunked:
            while True:
                line = await reader.readuntil(b"\r\n")
                writer.write(line + await reader.readexactly(int(line, 16) + 2))
                await writer.drain()
                if int(line, 16) == 0:
                    return True
        left = int(head.get("content-length") or -1)
        while left != 0 and (part := await reader.read(PART_BYTES)):
            writer.write(part)
            await writer.drain()
            left -= len(part) if left > 0 else 0
        if left > 0:
            raise asyncio.IncompleteReadError(b"", left)
        return left == 0

    async def _tunnel(self, reader: asyncio.StreamReader, to_hub: asyncio.StreamWriter, incoming: Incoming,
                      writer: asyncio.StreamWriter) -> None:
        async def up() -> None:
            while True:
                await incoming.until(lambda: incoming.bytes)
                to_hub.write(await incoming.take(len(incoming.bytes)))
                await to_hub.drain()

        async def down() -> None:
            while part := await reader.read(PART_BYTES):
                writer.write(part)
                await writer.drain()
            raise Gone
        ways = [asyncio.ensure_future(way) for way in (up(), down())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
