"""A daemon as a process of its own, started the way clients start it but without a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.daemon.started import Started
from tests.harness.http import Http

Starter = Callable[..., Started]


@pytest.fixture
def start(data: Path) -> Iterator[Starter]:
    """Starts daemons of the test's data folder: `start(workers=2)`; all are ended afterwards."""
    begun: list[Started] = []

    def one(*arguments: str, limit_files: int | None = None, **settings: object) -> Started:
        begun.append(Started(data, *arguments, limit_files=limit_files, **settings))
        return begun[-1]

    yield one
    for process in begun:
        process.end()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """One daemon for a whole module of tests that leave it as they found it."""
    process = Started(tmp_path_factory.mktemp("served") / "data")
    process.ready()
    yield process
    process.end()


@pytest.fixture
def client(served: Started, tmp_path: Path) -> Http:
    """A client of the shared daemon with a grant for a checkout (and namespace) of its own."""
    return served.client(tmp_path)
