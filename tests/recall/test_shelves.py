"""A shelf built behind a recall's back is never searched before its changes were read into it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import apsw
import pytest
from recalld.daemon.deadline import Deadline
from recalld.daemon.recall import kept, shelves
from recalld.daemon.recall.shelves import Shelves
from recalld.storage import scope as scopes
from recalld.storage.scope import Scope

from tests.recall.remembered import NAMESPACE, Remembered, until

HERE = Scope([NAMESPACE])


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Every build stops at its end, everything read, until this is set."""
    event = threading.Event()

    def wait(*_: object, **__: object) -> None:
        assert event.wait(60)

    monkeypatch.setattr(shelves, "BUILD_AT_ONCE", 0)
    monkeypatch.setattr(kept.Kept, "keep", wait)
    return event


@pytest.fixture
def several(memory: Remembered, held_back: threading.Event) -> Iterator[Shelves]:
    """The shelves of the store, apart from those its recall has."""
    made = Shelves(memory.store, memory.embedder.space, memory.embedder.dimension, 64 << 20)
    yield made
    held_back.set()
    made.close()


def _open(several: Shelves, memory: Remembered) -> shelves.Opened:
    with memory.reader.until(float("inf")) as connection:
        return several.open(connection, HERE, Deadline.after(60))


def test_a_build_that_ends_during_a_recall(
    memory: Remembered,
    several: Shelves,
    held_back: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shelf installed after the recall looked for changes is left to the next recall."""
    memory.remember("there before the build")
    assert _open(several, memory).shelves == {}
    memory.remember("stored while it was built")
    identify = scopes.identify

    def after_the_build(connection: apsw.Connection, scope: Scope) -> dict[int, str]:
        held_back.set()
        until(lambda: several.get(NAMESPACE) is not None)
        return identify(connection, scope)

    with monkeypatch.context() as patched:
        patched.setattr(scopes, "identify", after_the_build)
        during = _open(several, memory)
    assert during.shelves == {}
    assert during.missing == [NAMESPACE]
    assert _open(several, memory).shelves[NAMESPACE].state.live == 2
