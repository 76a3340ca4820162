"""A daemon over a store that stays when it ends."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.harness import environment
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http

SCRATCH = "project:scratch-00000001"
"""A namespace for what a benchmark stores itself."""


class Seat(NamedTuple):
    """A running daemon over a grown store, and a client that may reach all its namespaces."""

    data: Path
    daemon: Daemon
    http: Http
    names: list[str]


@contextmanager
def seated(data: Path, names: list[str]) -> Generator[Seat]:
    """Start a daemon over the data folder, and end it."""
    home = Path(tempfile.mkdtemp(prefix="recalld-seat."))
    cli = Cli(environment.clean(home, data), home)
    daemon = Daemon(data)
    assert not daemon.published, f"another benchmark is using {data}"
    try:
        cli.ok("start")
        grant = daemon.grant(namespaces=dict.fromkeys([*names, SCRATCH], "admin"), label="bench")
        http = daemon.http(str(grant["token"]), keep=True)
        http.recall("warm the pipeline up", namespaces=[SCRATCH])
        yield Seat(data, daemon, http, names)
        http.close()
    finally:
        daemon.end_all()
        shutil.rmtree(home, ignore_errors=True)
