"""A provider of vectors that can be told to misbehave, and a daemon that uses it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually

NAMESPACE = "project:embed-00000001"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Provider:
    """A running provider; `mode` and what it counts go over its own control address."""

    def __init__(self, program: Path, port: int, **options: object) -> None:
        told = [f"{name}={value}" for name, value in options.items()]
        self.port = port
        self._process = subprocess.Popen([sys.executable, str(program), str(port), *told])
        eventually(self._listens, within=20, what="the provider listens")

    @property
    def url(self) -> str:
        """Its base address."""
        return f"http://127.0.0.1:{self.port}"

    def become(self, mode: str, **more: object) -> None:
        """Behave like this from now on."""
        self._control(json.dumps({"mode": mode, **more}).encode())

    def counts(self) -> JsonObject:
        """Calls, inputs and how many ran at once."""
        return self._control(None)

    def end(self) -> None:
        """Kill it; nobody listens any more."""
        self._process.kill()
        self._process.wait()

    def _listens(self) -> bool:
        try:
            return bool(self.counts())
        except OSError:
            return False

    def _control(self, body: bytes | None) -> JsonObject:
        with _DIRECT.open(f"{self.url}/control", body, timeout=10) as answer:
            found: JsonObject = json.load(answer)
            return found


class Household:
    """A data folder whose daemon is started, killed and started again with other settings."""

    def __init__(self, cli: Cli, daemon: Daemon) -> None:
        self.cli = cli
        self.daemon = daemon
        self._plain = dict(cli.env)

    def start(self, settings: Mapping[str, object]) -> Http:
        """Start the daemon with these settings; returns a client that may do everything."""
        named = {f"RECALLD_{name.upper()}": str(value) for name, value in settings.items()}
        self.cli.env = self._plain | named
        self.cli.ok("start")
        token = self.daemon.grant(namespaces={NAMESPACE: "admin"}, label="test")["token"]
        return self.daemon.http(str(token))

    def embedding(self) -> JsonObject:
        """The embedding part of the status."""
        found: JsonObject = self.daemon.owner().get("/v1/status").json["embedding"]
        return found

    def until(self, holds: Callable[[JsonObject], object], within: float = 60.0) -> JsonObject:
        """Wait until this holds for the embedding part of the status; returns it."""
        seen: list[JsonObject] = []

        def look() -> bool:
            seen[:] = [self.embedding()]
            return bool(holds(seen[0]))

        try:
            eventually(look, within=within)
        except AssertionError:
            raise AssertionError(f"It did not come true; last: {seen}") from None
        return seen[0]

    def drained(self, within: float = 60.0) -> JsonObject:
        """Wait until no row waits for its vector; returns the embedding part of the status."""
        return self.until(lambda told: told["state"] == "ready" and not told["pending"], within)


def remember(http: Http, *texts: str) -> list[str]:
    """Store notes; returns their ids."""
    ids: list[str] = []
    for text in texts:
        reply = http.post("/v1/memories", {"content": text, "namespace": NAMESPACE})
        assert reply.status == 201, reply
        ids.append(str(reply.json["id"]))
    return ids


def ask(http: Http, query: str) -> JsonObject:
    """Recall; the whole answer."""
    reply = http.post("/v1/recall", {"query": query, "limit": 5, "namespaces": [NAMESPACE]})
    assert reply.status == 200, reply
    return reply.json


def contents(answer: JsonObject) -> list[str]:
    """The texts of an answer's hits."""
    return [str(hit["content"]) for hit in answer["hits"]]
