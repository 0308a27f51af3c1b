"""PostgreSQL's own client library by hand, because Python's packages for it are not in Debian's base: connect,
statements, rows. Blocking; one thread a connection at a time."""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import select
import time
from typing import Any

CONNECTED, COMMANDS_DONE, ROWS_THERE = 0, 1, 2  # CONNECTION_OK, PGRES_COMMAND_OK, PGRES_TUPLES_OK
PING_OK, BYTEA_OID, INTEGER_OIDS, BOOLEAN_OID = 0, 17, (20, 21, 23, 26), 16
SQLSTATE_FIELD = ord("C")


class Notification(ctypes.Structure):
    """PGnotify."""

    _fields_ = [("channel", ctypes.c_char_p), ("backend", ctypes.c_int), ("payload", ctypes.c_char_p)]


class NoServer(Exception):
    """There is no connection (any more)."""


class Refused(Exception):
    """The server refused a statement; `state` is its SQLSTATE."""

    def __init__(self, state: str, message: str):
        super().__init__(f"{state}: {message}")
        self.state = state


@functools.cache
def library() -> ctypes.CDLL:
    pq = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
    for name in ("PQconnectdb", "PQexecParams", "PQexec"):
        getattr(pq, name).restype = ctypes.c_void_p
    for name in ("PQerrorMessage", "PQresultErrorMessage", "PQresultErrorField", "PQgetvalue", "PQfname"):
        getattr(pq, name).restype = ctypes.c_char_p
    pq.PQnotifies.restype = ctypes.POINTER(Notification)
    return pq


def ping(conninfo: str) -> bool:
    """True once the server takes connections; needs no right to any."""
    return library().PQping(conninfo.encode()) == PING_OK


def value_of(pq: ctypes.CDLL, result: Any, row: int, column: int) -> Any:
    if pq.PQgetisnull(result, row, column):
        return None
    text, oid = pq.PQgetvalue(result, row, column).decode(), pq.PQftype(result, column)
    if oid in INTEGER_OIDS:
        return int(text)
    if oid == BOOLEAN_OID:
        return text == "t"
    return bytes.fromhex(text.removeprefix("\\x")) if oid == BYTEA_OID else text


class Connection(contextlib.AbstractContextManager):
    """One connection; rows come as tuples of int, bool, bytes, str or None."""

    def __init__(self, conninfo: str):
        self.pq = library()
        self.handle = ctypes.c_void_p(self.pq.PQconnectdb(conninfo.encode()))
        if self.pq.PQstatus(self.handle) != CONNECTED:
            why = self.pq.PQerrorMessage(self.handle).decode(errors="replace").strip()
            self.close()
            raise NoServer(why)

    def rows(self, text: str, *values: Any) -> list[tuple]:
        """One statement with $1, $2 … for the values; its rows, [] if it has none."""
        pq = self.pq
        given = [None if value is None else str(value).encode() for value in values]
        result = ctypes.c_void_p(pq.PQexecParams(
            self.handle, text.encode(), len(given), None, (ctypes.c_char_p * max(1, len(given)))(*given), None, None, 0))
        return self._take(result)

    def run(self, text: str) -> list[tuple]:
        """Any number of statements, without values; the rows of the last one."""
        return self._take(ctypes.c_void_p(self.pq.PQexec(self.handle, text.encode())))

    def _take(self, result: ctypes.c_void_p) -> list[tuple]:
        pq = self.pq
        try:
            if pq.PQresultStatus(result) not in (COMMANDS_DONE, ROWS_THERE):
                state = pq.PQresultErrorField(result, SQLSTATE_FIELD)
                why = pq.PQresultErrorMessage(result).decode(errors="replace").strip()
                raise Refused(state.decode(), why) if state and pq.PQstatus(self.handle) == CONNECTED else NoServer(why)
            columns = range(pq.PQnfields(result))
            return [tuple(value_of(pq, result, row, column) for column in columns) for row in range(pq.PQntuples(result))]
        finally:
            pq.PQclear(result)

    def notifications(self, wait_s: float) -> list[str]:
        """What LISTEN brought within this time, as `channel:payload`; ends early once something is there and all is read. What came
        with an earlier reply is there already."""
        found, deadline = [], time.monotonic() + wait_s
        while not found:
            while note := self.pq.PQnotifies(self.handle):
                found.append(f"{note.contents.channel.decode()}:{note.contents.payload.decode()}")
                self.pq.PQfreemem(note)
            left = deadline - time.monotonic()
            if found or left <= 0:
                break
            select.select([self.pq.PQsocket(self.handle)], [], [], left)
            if not self.pq.PQconsumeInput(self.handle):
                raise NoServer(self.pq.PQerrorMessage(self.handle).decode(errors="replace").strip())
        return found

    def close(self) -> None:
        if self.handle:
            self.pq.PQfinish(self.handle)
        self.handle = None

    def __exit__(self, *_: Any) -> None:
        self.close()
