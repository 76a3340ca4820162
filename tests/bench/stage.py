"""A daemon of its own for a benchmark, in a scratch home that is removed at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.harness import environment
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http


class Stage(NamedTuple):
    """Where the benchmark runs: scratch folder, command, daemon, and a client that keeps alive."""

    folder: Path
    cli: Cli
    daemon: Daemon
    http: Http


@contextmanager
def staged() -> Generator[Stage]:
    """A started daemon and one grant; everything is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="recalld-bench."))
    (folder / "home").mkdir(mode=0o700)
    (folder / "checkout").mkdir()
    data = folder / "data"
    cli = Cli(environment.clean(folder / "home", data), folder / "checkout")
    daemon = Daemon(data)
    try:
        cli.ok("start")
        token = str(daemon.grant(checkout=str(cli.cwd), label="bench")["token"])
        yield Stage(folder, cli, daemon, daemon.http(token, keep=True))
    finally:
        daemon.end_all()
        shutil.rmtree(folder)


def fill(http: Http, texts: Iterable[str]) -> None:
    """Store the texts in batches of 500."""
    items: list[dict[str, str]] = []
    for text in texts:
        items.append({"content": text})
        if len(items) == 500:
            _send(http, items)
            items = []
    if items:
        _send(http, items)


def _send(http: Http, items: list[dict[str, str]]) -> None:
    reply = http.post("/v1/memories/batch", {"items": items})
    assert reply.status in {200, 201}, reply.body[:300]
