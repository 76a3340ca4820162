"""Close reading in the daemon: whoever asks comes first, and it ends with the daemon."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.daemon.embed.background.backlog import Backlog
from recalld.daemon.embed.background.reading import Reading
from recalld.daemon.retrieval import Retrieval
from recalld.daemon.settings import Settings
from recalld.storage.engine import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    opened = Store.open(str(folder / "memory.db"), signer=lambda digest: digest * 2)
    yield opened
    opened.close()


def test_a_recall_comes_before_reading(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking puts close reading off and hastens the vectors made at once, with what is shipped."""
    told: list[str] = []

    def disturb(_: Reading) -> None:
        told.append("disturbed")

    def hasten(_: Backlog) -> None:
        told.append("hastened")

    monkeypatch.setattr(Reading, "disturb", disturb)
    monkeypatch.setattr(Backlog, "hasten", hasten)
    retrieval = Retrieval(store, Settings())
    retrieval.start()
    asyncio.run(retrieval.recall(30))
    retrieval.stop()
    assert told == ["disturbed", "hastened"]


def test_it_ends_with_the_daemon(store: Store) -> None:
    """No thread is left when recall has stopped."""
    retrieval = Retrieval(store, Settings())
    retrieval.start()
    asyncio.run(retrieval.recall(30))
    assert "reading" in {thread.name for thread in threading.enumerate()}
    retrieval.stop()
    assert "reading" not in {thread.name for thread in threading.enumerate()}
