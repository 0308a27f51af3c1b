"""library.py LIBRARY NAME - an agent that asks through libsayso, for fronts.mjs.

Reads one JSON object a line: {number, tool, arguments} asks, {drop: number} gives up on it. Writes {number, code, result} when an
ask is over, and frees the request then, which is how a program of libsayso confirms a result.
"""
from __future__ import annotations

import ctypes
import json
import os
import select
import sys

AS = 1  # enum sayso_option

library = ctypes.CDLL(sys.argv[1])
for name in ("sayso_new", "sayso_submit_json", "sayso_wait_any"):
    getattr(library, name).restype = ctypes.c_void_p
for name in ("sayso_request_result", "sayso_code_name", "sayso_error"):
    getattr(library, name).restype = ctypes.c_char_p
sayso = ctypes.c_void_p(library.sayso_new())
library.sayso_set(sayso, AS, sys.argv[2].encode())
requests: dict[int, int] = {}  # number: request


def take(line: bytes) -> None:
    said = json.loads(line)
    if "drop" in said:
        library.sayso_request_free(ctypes.c_void_p(requests.pop(said["drop"])))
        return
    request = library.sayso_submit_json(sayso, said["tool"].encode(), json.dumps(said["arguments"]).encode())
    assert request, library.sayso_error(sayso)
    requests[said["number"]] = request


def tell() -> None:
    """Printed first, then freed: what was not printed is not confirmed."""
    while over := library.sayso_wait_any(sayso, 0):
        number = next(key for key, request in requests.items() if request == over)
        result = library.sayso_request_result(ctypes.c_void_p(over))
        code = library.sayso_request_code(ctypes.c_void_p(over))
        print(json.dumps({"number": number, "code": library.sayso_code_name(code).decode(),
                          "result": json.loads(result) if result else None}), flush=True)
        library.sayso_request_free(ctypes.c_void_p(requests.pop(number)))


def main() -> None:
    rest = b""
    while True:
        fd, events = library.sayso_fd(sayso), library.sayso_events(sayso)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if fd >= 0:
            poll.register(fd, events)
        ready = dict(poll.poll(library.sayso_timeout_ms(sayso)))
        if 0 in ready:
            more = os.read(0, 65536)
            if not more:
                break
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                take(line)
        library.sayso_dispatch(sayso)
        tell()
    library.sayso_free(sayso)


main()
