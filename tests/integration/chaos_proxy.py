"""A bad network before PostgreSQL: cuts between and within messages, silence, a trickle, notifications lost, doubled and
late, and commits whose fate the other side can't know.

  with Proxy(server.port, seed) as proxy:
      url = server.tcp_url(database, proxy.port)
      proxy.cut("middle"); proxy.stall(); proxy.flow(); proxy.notifications = "drop"
      proxy.doubt("reply")     the next COMMIT is done, and nobody is told

It reads messages as the protocol has them (PostgreSQL 15, 55.7 Message Formats), without TLS. What it chooses by chance is
the seed's; when things happen is not. It runs in a thread of its own; every function may be called from any thread.
"""
from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
import struct
from collections import Counter
from typing import Any, AsyncIterator, Callable

from own_loop import OwnLoop

CANCEL, SSL, GSSENC = 80877102, 80877103, 80877104  # where a start-up message has its protocol version
ONE_BYTE_REPLIES = (SSL, GSSENC)
CUTS = ("reset", "end", "middle")
DOUBTS = ("reply", "half_reply", "request", "late", "half_open")
NOTIFICATIONS = ("pass", "drop", "double", "delay")
NOTIFICATION, COMPLETE, READY, QUERY, PARSE, BIND, SYNC = b"A", b"C", b"Z", b"Q", b"P", b"B", b"S"
BEGINS = re.compile(rb"\s*(BEGIN|START TRANSACTION)\b", re.IGNORECASE)
COMMITS = re.compile(rb"(^|;)\s*(COMMIT|END)\b", re.IGNORECASE)


class Cut(Exception):
    """This connection is over, by our will or by one of its ends."""


EXPECTED = (Cut, OSError, EOFError, asyncio.CancelledError)  # asyncio's IncompleteReadError is an EOFError


class Message(bytes):
    """One message with its type and length; the type of a start-up message is b""."""

    @property
    def type(self) -> bytes:
        return self[:1] if self[:1] != b"\0" else b""  # a start-up message begins with a length below 16 MiB

    @property
    def body(self) -> bytes:
        return self[5:] if self.type else self[4:]


async def messages(reader: asyncio.StreamReader, begins_with_start_up: bool,
                   raw_bytes: Callable[[], int] = lambda: 0) -> AsyncIterator[Message]:
    """`raw_bytes` tells how many replies of a single byte come first, and that one is taken."""
    is_starting = begins_with_start_up
    while True:
        first = await reader.readexactly(1)
        if not is_starting and raw_bytes():
            yield Message(first)
            continue
        head = first + await reader.readexactly(3 if is_starting else 4)
        length = struct.unpack(">I", head[-4:])[0]
        message = Message(head + await reader.readexactly(length - 4))
        if is_starting and struct.unpack(">I", message.body[:4])[0] not in (*ONE_BYTE_REPLIES, CANCEL):
            is_starting = False
        yield message


class Link:
    """One connection of a client and ours to the server."""

    def __init__(self, proxy: Proxy, client: tuple, server: tuple):
        self.proxy = proxy
        self.client_reader, self.client = client
        self.server_reader, self.server = server
        self.statements: dict[bytes, bytes] = {}
        self.raw_replies = 0
        self.torn = ""  # "up" or "down": the next message that way is cut in its middle
        self.doubt = ""  # what is being done to a commit
        self.held = b""

    async def run(self) -> None:
        pumps = [asyncio.ensure_future(pump) for pump in (self.up(), self.down())]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            ends = await asyncio.gather(*pumps, return_exceptions=True)
            self.proxy.problems += [end for end in ends if end and not isinstance(end, EXPECTED)]

    async def up(self) -> None:
        async for message in messages(self.client_reader, True):
            await self.proxy.flowing.wait()
            if not message.type and struct.unpack(">I", message.body[:4])[0] in ONE_BYTE_REPLIES:
                self.raw_replies += 1
            self.remember(message)
            if not await self.hold_back(message):
                await self.send(self.server, message, "up")

    async def down(self) -> None:
        def take_raw() -> int:
            self.raw_replies -= 1
            return self.raw_replies + 1 if self.raw_replies >= 0 else self._no_raw()
        async for message in messages(self.server_reader, False, take_raw):
            await self.proxy.flowing.wait()
            if self.swallows(message):
                continue
            for copy in self.copies(message):
                await self.send(self.client, copy, "down")

    def _no_raw(self) -> int:
        self.raw_replies = 0
        return 0

    def remember(self, message: Message) -> None:
        if message.type == PARSE:
            name, text = message.body.split(b"\0", 2)[:2]
            self.statements[name] = text

    def text_of(self, message: Message) -> bytes:
        """The SQL that a message is about to run, if it does."""
        if message.type == QUERY:
            return message.body.rstrip(b"\0")
        if message.type == BIND:
            return self.statements.get(message.body.split(b"\0", 2)[1], b"")
        return b""

    async def hold_back(self, message: Message) -> bool:
        """True if the message is not to go to the server now. A doubt begins with a transaction or with its end."""
        text, proxy = self.text_of(message), self.proxy
        if not self.doubt and (wanted := proxy.next_doubt()):
            at_once = wanted == "late"
            if (BEGINS if at_once else COMMITS).search(text):
                self.doubt = proxy.take_doubt()
        if self.doubt in ("", "reply", "half_reply"):
            return False
        if self.doubt == "late":  # the whole transaction is on its way when the client's side breaks
            self.held += message
            if message.type in (SYNC, QUERY) and COMMITS.search(self.text_in(self.held)):
                proxy.later(self.arrive_late())
                raise Cut
            return True
        if self.doubt == "half_open":  # the server believes in a client that is gone, and keeps its locks
            proxy.later(self.close_late())
        raise Cut

    def text_in(self, held: bytes) -> bytes:
        """The SQL of all that is held, for who only wants to know whether it commits."""
        texts = [b""]
        while held:
            length = 1 + struct.unpack(">I", held[1:5])[0]
            texts.append(self.text_of(Message(held[:length])))
            held = held[length:]
        return b";".join(texts)

    async def arrive_late(self) -> None:
        await asyncio.sleep(self.proxy.late_s)
        with contextlib.suppress(OSError, EOFError):
            self.server.write(self.held)
            await self.server.drain()
            async for message in messages(self.server_reader, False):
                if message.type == READY:
                    break
        self.server.transport.abort()

    async def close_late(self) -> None:
        await asyncio.sleep(self.proxy.late_s)
        self.server.transport.abort()

    def swallows(self, message: Message) -> bool:
        """The server's word on a commit in doubt goes no further; once it is done, the client is cut off."""
        if self.doubt == "half_reply" and not (message.type == COMPLETE and message.body.startswith(b"COMMIT")):
            if message.type != READY:
                return False
        if self.doubt == "half_reply":
            self.doubt = "reply"
        if self.doubt != "reply":
            return False
        if message.type == READY and message.body == b"I":
            raise Cut
        return True

    def copies(self, message: Message) -> list[Message]:
        mode = self.proxy.notifications if message.type == NOTIFICATION else "pass"
        if mode == "pass":
            return [message]
        self.proxy.counts[f"notification {mode}"] += 1
        if mode == "delay":
            self.proxy.later(self.notify_late(message))
        return [message, message] if mode == "double" else []

    async def notify_late(self, message: Message) -> None:
        await asyncio.sleep(self.proxy.late_s)
        with contextlib.suppress(OSError):
            self.client.write(message)  # whole, so it stands between two others

    async def send(self, writer: asyncio.StreamWriter, message: Message, way: str) -> None:
        if self.torn == way and len(message) > 1:
            writer.write(message[:self.proxy.chance.randrange(1, len(message))])
            await writer.drain()
            raise Cut
        if not self.proxy.bytes_per_s:
            writer.write(message)
            return await writer.drain()
        for at in range(len(message)):
            writer.write(message[at:at + 1])
            await writer.drain()
            if self.proxy.bytes_per_s:
                await asyncio.sleep(1 / self.proxy.bytes_per_s)

    def close(self, is_reset: bool) -> None:
        for writer in (self.client,) if self.doubt in ("late", "half_open") else (self.client, self.server):
            with contextlib.suppress(OSError):
                if is_reset:
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                               struct.pack("ii", 1, 0))
            writer.transport.abort() if is_reset else writer.close()


class Proxy(OwnLoop):
    """Listens on loopback; `counts` tells what was done to whom."""

    def __init__(self, target_port: int, seed: int = 1, target_host: str = "127.0.0.1"):
        super().__init__()
        self.target = (target_host, target_port)
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.links: set[Link] = set()
        self.notifications = "pass"
        self.bytes_per_s = 0.0  # 0: as fast as it goes
        self.late_s = 0.5
        self._doubts: list[str] = []
        self._tasks: set[asyncio.Task] = set()
        self.begin()

    async def listen(self) -> asyncio.Server:
        self.flowing = asyncio.Event()
        self.flowing.set()
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self.flowing.wait()
            server = await asyncio.open_connection(*self.target)
        except OSError:
            self.counts["server away"] += 1
            return writer.transport.abort()
        link = Link(self, (reader, writer), server)
        self.links.add(link)
        self.counts["connections"] += 1
        try:
            await link.run()
        except asyncio.CancelledError:
            pass  # our own end, which asyncio would tell the world
        finally:
            self.links.discard(link)
            link.close(is_reset=self.chance.random() < 0.5)

    def later(self, coroutine: Any) -> None:
        """Something that outlives its link."""
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cut(self, how: str = "reset", share: float = 1.0) -> int:
        """Ends connections, or this share of them by chance: by RST, by FIN, or within their next message (one that waits
        for that is counted too). Returns how many."""
        def act() -> int:
            chosen = [link for link in self.links if self.chance.random() < share]
            for link in chosen:
                if how == "middle":
                    link.torn = self.chance.choice(("up", "down"))
                else:
                    link.close(is_reset=how == "reset")
            self.counts[f"cut {how}"] += len(chosen)
            return len(chosen)
        return self.call(act)

    def stall(self) -> None:
        """Nothing goes through either way, and neither side is told; connections stay open, new ones are taken."""
        self.counts["stall"] += 1
        self.call(lambda: self.flowing.clear())

    def flow(self) -> None:
        """The end of silence and of a trickle."""
        self.bytes_per_s = 0.0
        self.call(lambda: self.flowing.set())

    def trickle(self, bytes_per_s: float = 1) -> None:
        self.counts["trickle"] += 1
        self.bytes_per_s = bytes_per_s

    def doubt(self, how: str = "reply") -> None:
        """What happens to the next commit: `reply` done, and the client is cut off before it is told; `half_reply` the same, told
        of all but the commit; `request` not done, cut off before; `late` cut off, then done after late_s; `half_open` cut
        off, not done, and the server does not know for late_s."""
        self.call(lambda: self._doubts.append(how))

    def no_doubt(self) -> int:
        """Takes back those that have met no commit yet; how many."""
        def act() -> int:
            left = len(self._doubts)
            self._doubts.clear()
            return left
        return self.call(act)

    def next_doubt(self) -> str:
        return self._doubts[0] if self._doubts else ""

    def take_doubt(self) -> str:
        self.counts[f"doubt {self._doubts[0]}"] += 1
        return self._doubts.pop(0)

    def leave(self) -> None:
        self.flowing.set()
        for link in list(self.links):
            link.close(is_reset=True)
