"""Real hook processes, and a daemon for them that does what it is told."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli, program
from tests.harness.fake_daemon import FakeDaemon
from tests.harness.jsontypes import JsonObject, decode
from tests.hooks.payloads import payload
from tests.hooks.schemas import problems

BUDGET = 1.5
"""Seconds a hook may take, whatever state the daemon is in."""


class Ran(NamedTuple):
    """How a hook process ended; `seconds` is without what a bare interpreter takes right now."""

    output: bytes
    errors: bytes
    status: int
    seconds: float

    @property
    def json(self) -> JsonObject:
        """The output as a JSON object."""
        return decode(self.output)


class Hooks:
    """Runs `recalld hook` as hosts do: a process with the event on stdin."""

    def __init__(self, cli: Cli) -> None:
        self.cli = cli
        self.cwd = cli.cwd

    def __call__(self, host: str, event: str, **fields: object) -> Ran:
        """Send one event; the output must be valid, the status 0 and stderr empty."""
        sent = {**payload(host, event, str(self.cwd)), **fields}
        ran = self.raw(host, json.dumps(sent).encode())
        assert problems(host, event, ran.output) == [], ran
        return ran

    def raw(self, host: str, stdin: bytes, *more: str, env: dict[str, str] | None = None) -> Ran:
        """Send these bytes; the status must be 0, stderr empty and the time within the budget."""
        command = [*program(), "hook", host, *more]
        env = self.cli.env | (env or {})
        began = time.monotonic()
        done = subprocess.run(
            command, input=stdin, capture_output=True, cwd=self.cwd, env=env, timeout=30
        )
        took = time.monotonic() - began
        if took > BUDGET:  # the machine is busy: see what a process costs at this moment
            took -= self._bare()
        ran = Ran(done.stdout, done.stderr, done.returncode, took)
        assert ran.status == 0, ran
        assert ran.errors == b"", ran
        assert ran.seconds <= BUDGET, ran
        return ran

    def _bare(self) -> float:
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import json, hmac, typing"], check=True)
        return time.monotonic() - began

    def spooled(self) -> list[JsonObject]:
        """The events that wait, in the order the daemon takes them in."""
        folder = Path(self.cli.env["RECALLD_HOME"]) / "spool"
        found: list[JsonObject] = []
        for file in sorted(folder.glob("*.json")):
            with suppress(FileNotFoundError):  # the daemon has just taken it in
                found += decode(file.read_bytes())["events"]
        return found

    def log(self) -> str:
        """The hooks' log."""
        path = Path(self.cli.env["RECALLD_HOME"]) / "run" / "hooks.log"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def hooks(recalld: Cli, checkout: Checkouts) -> Hooks:
    """Hooks in a checkout of the test's own; no daemon runs yet."""
    assert recalld.cwd == checkout()
    return Hooks(recalld)


@pytest.fixture
def fake(data: Path) -> Iterator[FakeDaemon]:
    """A daemon that takes events and says what the test wants."""
    with FakeDaemon(data) as found:
        yield found
