"""Fixtures of the recall tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recalld.daemon.embed.protocol import Embedder
from recalld.daemon.embed.shipped.static import StaticEmbedder

from tests.recall.remembered import Remembered, Sizes

Open = Callable[..., Remembered]


@pytest.fixture(scope="session")
def embedder() -> StaticEmbedder:
    """The default embedder, loaded once."""
    made = StaticEmbedder()
    made.load()
    return made


@pytest.fixture
def opened(tmp_path: Path, embedder: StaticEmbedder) -> Iterator[Open]:
    """Opens stores with recall; `matrix_bytes=0` never keeps a namespace in memory."""
    stores: list[Remembered] = []

    def fresh(
        chosen: Embedder = embedder, matrix_bytes: int = 64 << 20, loaded: bool = True
    ) -> Remembered:
        folder = tmp_path / f"data{len(stores)}"
        folder.mkdir(mode=0o700)
        stores.append(Remembered(folder, chosen, Sizes(matrix_bytes), loaded))
        return stores[-1]

    yield fresh
    for store in stores:
        store.close()


@pytest.fixture(params=["shelves", "sqlite"])
def either(request: pytest.FixtureRequest, opened: Open) -> Remembered:
    """A store searched in memory, and one searched by SQLite: both must behave alike."""
    return opened(matrix_bytes=64 << 20 if request.param == "shelves" else 0)


@pytest.fixture
def memory(opened: Open) -> Remembered:
    """A store searched in memory."""
    return opened()
