"""One daemon for a module of tests, and a client with a checkout of its own for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.started import Started
from tests.harness.http import Http


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A daemon that lives as long as the module's tests."""
    process = Started(tmp_path_factory.mktemp("served") / "data")
    process.ready()
    yield process
    process.end()


@pytest.fixture
def client(served: Started, tmp_path: Path) -> Http:
    """A client with a grant for a checkout (and namespace) of its own."""
    return served.client(tmp_path)
