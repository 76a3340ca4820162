"""Every row gets its vector, sooner or later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from recalld.daemon.embed.background.backlog import Backlog
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.embed.none import NoEmbedder
from recalld.daemon.embed.protocol import Embedder, VectorsUnavailable
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.storage import chunks, edits, vectors
from recalld.storage.drafts import Draft, insert
from recalld.storage.engine import Store
from recalld.storage.scope import Scope

HERE = "project:test-00000001"
EMBEDDER = StaticEmbedder()


class Moody(StaticEmbedder):
    """An embedder whose provider can be taken away."""

    away = True

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed, unless away."""
        if self.away:
            raise VectorsUnavailable("The provider is away.")
        return super().documents(texts)


class Held(StaticEmbedder):
    """An embedder that embeds while `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.go.set()

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed, once allowed to."""
        assert self.go.wait(60)
        return super().documents(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    opened = Store.open(str(folder / "memory.db"), signer=lambda digest: digest * 2)
    yield opened
    opened.close()


@pytest.fixture
def begin(store: Store) -> Iterator[Callable[[Embedder], Backlog]]:
    """Starts backlogs on the store and ends them."""
    begun: list[Backlog] = []

    def start(embedder: Embedder) -> Backlog:
        begun.append(Backlog(store, embedder))
        begun[-1].start()
        return begun[-1]

    yield start
    for backlog in begun:
        backlog.stop()


def _remember(store: Store, *texts: str) -> list[str]:
    drafts = [Draft(HERE, text) for text in texts]
    jobs = [store.writer.submit(partial(insert, draft=draft, by="test")) for draft in drafts]
    return [job.result().ulid for job in jobs]


def _stored(store: Store) -> set[bytes]:
    """All vectors in the store."""
    with store.reader().until(time.monotonic() + 30) as connection:
        space = vectors.find_space(connection, EMBEDDER.space)
        if space is None:
            return set()
        _, joined = chunks.load(connection, space, 1)
    return {joined[at : at + space.dim] for at in range(0, len(joined), space.dim)}


def _expected(*texts: str) -> set[bytes]:
    return {vector.tobytes() for vector in to_int8(EMBEDDER.documents(texts))}


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)


def _is_done(backlog: Backlog) -> bool:
    return backlog.state()["state"] == "ready" and backlog.state()["pending"] == 0


def test_rows_get_their_vectors(store: Store, begin: Callable[[Embedder], Backlog]) -> None:
    """Rows stored before and after the start are embedded, more than one batch of them."""
    texts = [f"note {number}" for number in range(150)]
    _remember(store, *texts[:100])
    backlog = begin(EMBEDDER)
    _remember(store, *texts[100:])
    _until(lambda: _is_done(backlog))
    assert _stored(store) == _expected(*texts)
    assert backlog.state()["model"] == EMBEDDER.model


def test_an_edit_is_embedded_again(store: Store, begin: Callable[[Embedder], Backlog]) -> None:
    """A changed text gets a new vector, a forgotten one loses it."""
    first, second = _remember(store, "use tabs", "use spaces")
    backlog = begin(EMBEDDER)
    _until(lambda: _is_done(backlog))
    scope = Scope([HERE])
    store.writer.submit(
        lambda tx: edits.update(tx, scope, first, {"content": "use two spaces"}, by="test")
    ).result()
    store.writer.submit(lambda tx: edits.forget(tx, scope, second, by="test")).result()
    _until(lambda: _stored(store) == _expected("use two spaces"))


def test_a_failing_embedder_is_seen_and_recovers(
    store: Store, begin: Callable[[Embedder], Backlog]
) -> None:
    """The state names the trouble; when it is over the next change brings everything up."""
    moody = Moody()
    _remember(store, "use tabs")
    backlog = begin(moody)
    _until(lambda: backlog.state()["state"] == "failed")
    assert backlog.state()["last_error"] == "The provider is away."
    moody.away = False
    _remember(store, "use spaces")
    _until(lambda: _is_done(backlog))
    assert backlog.state()["last_error"] is None
    assert _stored(store) == _expected("use tabs", "use spaces")


def test_no_embedder_means_off(store: Store, begin: Callable[[Embedder], Backlog]) -> None:
    """Without an embedder nothing runs, and the state says it is off."""
    backlog = begin(NoEmbedder())
    _remember(store, "use tabs")
    assert backlog.state()["state"] == "off"
    assert backlog.state()["dim"] == 0


def test_a_request_that_has_not_begun_is_not_done(
    store: Store, begin: Callable[[Embedder], Backlog]
) -> None:
    """From the moment it is asked for, embedding anew is under way, until it is through."""
    held = Held()
    _remember(store, "use tabs")
    backlog = begin(held)
    _until(lambda: _is_done(backlog))
    held.go.clear()
    backlog.reembed()
    assert backlog.state()["state"] == "working"
    held.go.set()
    _until(lambda: _is_done(backlog))
    with store.reader().until(time.monotonic() + 30) as connection:
        assert vectors.find_space(connection, f"{EMBEDDER.space}~2") is not None


def test_stopping_ends_soon_and_twice(store: Store, begin: Callable[[Embedder], Backlog]) -> None:
    """A backlog with much to do stops after the batch under way; stopping again does nothing."""
    _remember(store, *(f"note {number}" for number in range(300)))
    backlog = begin(EMBEDDER)
    backlog.stop()
    backlog.stop()
    backlog = begin(EMBEDDER)
    _until(lambda: _is_done(backlog))
    assert len(_stored(store)) == len(_expected(*(f"note {number}" for number in range(300))))
