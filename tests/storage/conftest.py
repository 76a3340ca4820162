"""Fixtures of the storage tests: a private folder and stores that are closed in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.storage.opened import Opened


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where memory.db goes: inside a private folder of the test's own."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder / "memory.db"


@pytest.fixture
def reopen(place: Path) -> Iterator[Callable[[], Opened]]:
    """Opens the store at `place`, closing the one opened before."""
    stores: list[Opened] = []

    def fresh() -> Opened:
        while stores:
            stores.pop().close()
        stores.append(Opened(place))
        return stores[-1]

    yield fresh
    while stores:
        stores.pop().close()


@pytest.fixture
def opened(reopen: Callable[[], Opened]) -> Opened:
    """A new, empty store."""
    return reopen()
