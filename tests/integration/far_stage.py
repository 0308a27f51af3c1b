"""A hub for other machines: an authority of the test's own, certificates, and clients in homes of their own."""
from __future__ import annotations

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
from typing import Any

from api import LIMITS, Reply, read_reply
from harness import HANG_S, Home, Result, wait_until

ASK = ["ask", "Which one?", "-p", "Two ways are open and both would work.", "-o", "a=First", "-o", "b=Second", "-r", "a"]


class Papers(contextlib.AbstractContextManager):
    """Certificates for localhost and 127.0.0.1, and some that should not be believed."""

    def __init__(self) -> None:
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="syp", dir="/tmp"))
        for name in ("ca", "other_ca"):
            self.run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch", "-x509",
                     "-days", "2", "-subj", f"/CN={name}", "-keyout", self.of(f"{name}.key"), "-out", self.of(f"{name}.pem"))
        self.make("own", "DNS:localhost,IP:127.0.0.1")
        self.make("second", "DNS:localhost,IP:127.0.0.1")
        self.make("elsewhere", "DNS:elsewhere.example")
        self.make("expired", "DNS:localhost,IP:127.0.0.1", days=-1)

    def of(self, name: str) -> str:
        return str(self.path / name)

    def run(self, *words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def make(self, name: str, names: str, days: int = 2) -> None:
        """NAME.pem and NAME.key, by the authority that clients are told to trust."""
        (self.path / "ext").write_text(f"subjectAltName={names}\n")
        self.run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch", "-subj", f"/CN={name}",
                 "-keyout", self.of(f"{name}.key"), "-out", self.of("csr"))
        self.run("x509", "-req", "-in", self.of("csr"), "-CA", self.of("ca.pem"), "-CAkey", self.of("ca.key"),
                 "-CAcreateserial", "-extfile", self.of("ext"), "-days", str(days), "-out", self.of(f"{name}.pem"))
        os.chmod(self.of(f"{name}.key"), 0o600)

    def __exit__(self, *_: Any) -> None:
        shutil.rmtree(self.path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Far(contextlib.AbstractContextManager):
    """A hub that listens for others at localhost, with tokens of both kinds in files."""

    def __init__(self, env: dict[str, str] | None = None, certificate: str = "own", binary: str | None = None):
        self.papers = Papers()
        settings = {"env": {**LIMITS, "SAYSO_PORT": "0", "SAYSO_DELIVER_AFTER": "0", **(env or {})}}
        self.home = Home(binary, **settings) if binary else Home(**settings)
        self.clients: list[Home] = []
        self.port, self.certificate = free_port(), certificate
        self.url = f"https://localhost:{self.port}"
        self.serve()
        self.tokens = {kind: self.token(kind) for kind in ("agent", "person")}

    def serve(self, *more: str) -> None:
        """Starts the hub, also once more after its end."""
        self.process = self.home.spawn("serve", "--listen", f"127.0.0.1:{self.port}", "--public-url", self.url,
                                       "--tls-cert", self.papers.of(f"{self.certificate}.pem"),
                                       "--tls-key", self.papers.of(f"{self.certificate}.key"), *more,
                                       stderr=open(self.home.path / "said", "a"), stdout=subprocess.DEVNULL)
        self.home.wait_hub()

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.home.path / "said").read_text().splitlines() if line.startswith("{")]

    def end(self, number: int = signal.SIGTERM) -> int:
        """Ends the hub and returns how it ended."""
        self.process.send_signal(number)
        self.process.wait(HANG_S)
        self.home.spawned.remove(self.process)
        return self.process.returncode

    def token(self, kind: str, label: str = "far") -> str:
        made = self.home.sayso("token", "new", "--kind", kind, "--label", label)
        assert made.code == 0, made
        return made.out.split()[0]

    def context(self, ca: str = "ca") -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.papers.of(f"{ca}.pem"))

    def connect(self, host: str = "localhost", timeout: float = HANG_S) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(host, self.port, timeout=timeout, context=self.context())

    def call(self, method: str, path: str, body: Any = None, token: str | None = None, host: str = "localhost",
             **headers: str) -> Reply:
        """`token` person or agent: ours."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            given["Authorization"] = f"Bearer {self.tokens.get(token, token)}"
        if body is not None:
            given["Content-Type"] = "application/json"
        connection = self.connect(host)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), given)
            return read_reply(connection.getresponse())
        finally:
            connection.close()

    def client(self) -> Home:
        """A client on another machine, as far as files can tell: no hub, no data, two token files."""
        home = Home()
        for kind, token in self.tokens.items():
            write_secret(home.path / kind, token)
        self.clients.append(home)
        return home

    def way(self, home: Home, kind: str, url: str = "", ca: str = "ca") -> list[str]:
        return ["--hub", url or self.url, "--token-file", str(home.path / kind), "--ca-file", self.papers.of(f"{ca}.pem")]

    def sayso(self, home: Home, kind: str, *words: str, url: str = "", ca: str = "ca", **more: Any) -> Result:
        return home.sayso(*words, *self.way(home, kind, url, ca), **more)

    def open_asks(self) -> list[dict[str, Any]]:
        listed = self.home.sayso("list", "--active", "--json")
        assert listed.code == 0, listed
        return listed.json

    def wait_asks(self, count: int = 1) -> list[dict[str, Any]]:
        return wait_until(lambda: len(rows := self.open_asks()) >= count and rows, f"{count} open asks")

    def __exit__(self, *_: Any) -> None:
        for home in self.clients:
            home.stop()
        self.home.stop()
        self.papers.__exit__()


def write_secret(path: pathlib.Path, text: str, mode: int = 0o600) -> None:
    path.write_text(text + "\n")
    path.chmod(mode)
