"""`recalld mcp` as a process under test: lines in, lines out, and its end."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness import processes
from tests.harness.cli import program
from tests.harness.jsontypes import JsonObject, decode


class Bridged:
    """One bridge; every line of its stdout must be one JSON-RPC message."""

    def __init__(
        self, env: Mapping[str, str], cwd: Path, *options: str, command: Sequence[str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            [*(command or program()), "mcp", *options],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        assert self.process.stdin
        assert self.process.stdout
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        self._rest = b""
        self.answers: list[JsonObject] = []

    def raw(self, data: bytes) -> None:
        """Write bytes to its stdin."""
        while data:
            data = data[os.write(self._in, data) :]

    def ask(self, number: object, method: str, params: object = None) -> None:
        """Send a request."""
        told: JsonObject = {
            "jsonrpc": "2.0",
            "id": number,
            "method": method,
            "params": params or {},
        }
        self.raw(json.dumps(told).encode() + b"\n")

    def use(self, number: object, tool: str, **arguments: object) -> None:
        """Send a tool call."""
        self.ask(number, "tools/call", {"name": tool, "arguments": arguments})

    def collect(self, count: int, *, within: float = 30.0) -> list[JsonObject]:
        """Read until there are `count` answers in all; fails when they do not come."""
        ends = time.monotonic() + within
        while len(self.answers) < count:
            left = ends - time.monotonic()
            assert left > 0, f"{len(self.answers)} of {count} answers within {within} s"
            self._read(left)
        return self.answers

    def quiet(self, seconds: float) -> None:
        """Read for a while; nothing may come that was not expected by the caller afterwards."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            self._read(left)

    def _read(self, within: float) -> None:
        readable, _, _ = select.select([self._out], [], [], within)
        data = os.read(self._out, 1 << 20) if readable else b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            answer = decode(line)
            assert answer["jsonrpc"] == "2.0"
            assert ("result" in answer) != ("error" in answer)
            self.answers.append(answer)
        if readable and not data:
            raise AssertionError(f"stdout ended after {len(self.answers)} answers")

    def close_input(self) -> None:
        """What a host does when it is done."""
        assert self.process.stdin
        self.process.stdin.close()

    def close_output(self) -> None:
        """What a host does when it has crashed in one of its threads."""
        assert self.process.stdout
        self.process.stdout.close()

    def end(self) -> None:
        """End it for good and let go of its pipes."""
        processes.send(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


def ids(answers: Sequence[JsonObject]) -> list[str]:
    """The ids of the answers, sorted; numbers and texts stay apart."""
    return sorted(json.dumps(answer["id"]) for answer in answers)
