"""A daemon, and agents at work in checkouts of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.daemon.started import Started
from tests.loop.agent import Agent


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """One daemon for a whole module of tests, each in a namespace of its own."""
    process = Started(tmp_path_factory.mktemp("served") / "data", supervise_s=0.2)
    process.ready()
    yield process
    process.end()


@pytest.fixture
def agent(served: Started, tmp_path: Path) -> Agent:
    """An agent in a checkout of the test's own."""
    return Agent(served.client(tmp_path))


@pytest.fixture
def start(data: Path) -> Iterator[Callable[..., Started]]:
    """Starts daemons of the test's data folder: `start(auto_demote=True)`."""
    begun: list[Started] = []

    def one(**settings: object) -> Started:
        begun.append(Started(data, limit_files=None, supervise_s=0.2, **settings))
        return begun[-1].ready()

    yield one
    for process in begun:
        process.end()
