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
from recalld.daemon.embed.background.arrivals import Arrivals
from recalld.daemon.embed.background.backlog import Backlog
from recalld.daemon.embed.background.progress import Progress
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.embed.none import NoEmbedder
from recalld.daemon.embed.protocol import Embedder, VectorsUnavailable
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.embed.standing import EMBEDDING_FAILED, Standing
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
        self.is_asked = threading.Event()

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed, once allowed to."""
        self.is_asked.set()
        assert self.go.wait(60)
        return super().documents(texts)


class Returning(Moody):
    """An embedder that comes back with one batch; before the next one it waits for `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.has_embedded = threading.Event()
        self.is_held = threading.Event()

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed the first texts; more once allowed to."""
        made = super().documents(texts)
        if self.has_embedded.is_set():
            self.is_held.set()
            assert self.go.wait(60)
        self.has_embedded.set()
        return made


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


def test_a_request_is_never_done_before_it_has_begun(
    store: Store, begin: Callable[[Embedder], Backlog], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where it begins in the middle of a look at the state."""
    held, may_begin, told = Held(), threading.Event(), Progress.told
    _remember(store, "use tabs")
    backlog = begin(held)
    _until(lambda: _is_done(backlog))
    _pause_rounds(monkeypatch, may_begin)
    held.go.clear()
    held.is_asked.clear()

    def late(progress: Progress, refused: int, trouble: str | None, waiting: int) -> object:
        found = told(progress, refused, trouble, waiting)
        may_begin.set()
        assert held.is_asked.wait(60)
        return found

    monkeypatch.setattr(Progress, "told", late)
    backlog.reembed()
    state = backlog.state()["state"]
    held.go.set()
    assert state == "working"


def test_a_request_ends_the_failure_of_before(
    store: Store, begin: Callable[[Embedder], Backlog], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the moment it is asked for until it has been tried, nothing is said to have failed."""
    may_begin = threading.Event()
    _remember(store, "use tabs")
    backlog = begin(Moody())
    _until(lambda: backlog.state()["state"] == "failed")
    _pause_rounds(monkeypatch, may_begin)
    backlog.reembed()
    assert backlog.state()["state"] == "working"
    may_begin.set()
    _until(lambda: backlog.state()["state"] == "failed")


def test_a_request_during_a_failure_does_not_hide_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What serves is told with the reason it had when the failure was noted."""
    moody, settled, failed = Moody(), list[Standing](), Progress.failed
    moody.away = False
    _remember(store, "use tabs")
    backlog = Backlog(store, moody, settled.append)
    backlog.start()
    _until(lambda: _is_done(backlog))
    at: list[int] = []

    def meanwhile(progress: Progress, trouble: str) -> None:
        failed(progress, trouble)
        at.append(len(settled))
        backlog.reembed()

    monkeypatch.setattr(Progress, "failed", meanwhile)
    moody.away = True
    backlog.reembed()
    _until(lambda: bool(at) and len(settled) > at[0])
    backlog.stop()
    assert settled[at[0]].degraded == {EMBEDDING_FAILED}


def test_an_error_is_over_with_the_first_vector(
    store: Store, begin: Callable[[Embedder], Backlog]
) -> None:
    """Also where embedding anew was asked for meanwhile, and long before all is done."""
    returning = Returning()
    _remember(store, *(f"note {number}" for number in range(150)))
    backlog = begin(returning)
    _until(lambda: backlog.state()["state"] == "failed")
    returning.away = False
    backlog.reembed()
    assert returning.is_held.wait(60)
    told = backlog.state()
    returning.go.set()
    assert (told["state"], told["last_error"]) == ("working", None)


def test_a_request_during_a_long_pass_begins_after_it(
    store: Store, begin: Callable[[Embedder], Backlog], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the wait that follows a pass which leaves nothing to do."""
    monkeypatch.setattr("recalld.daemon.embed.background.backlog._LOOK_AGAIN_SECONDS", 3600.0)
    held = Held()
    held.go.clear()
    _remember(store, *(f"note {number}" for number in range(150)))
    backlog = begin(held)
    assert held.is_asked.wait(60)
    backlog.reembed()
    held.go.set()
    _until(lambda: _is_done(backlog))
    with store.reader().until(time.monotonic() + 30) as connection:
        assert vectors.find_space(connection, f"{EMBEDDER.space}~2") is not None


def _pause_rounds(monkeypatch: pytest.MonkeyPatch, until: threading.Event) -> None:
    """Let no round begin before that."""
    pause = Arrivals.pause

    def paused(arrivals: Arrivals) -> float:
        assert until.wait(60)
        return pause(arrivals)

    monkeypatch.setattr(Arrivals, "pause", paused)


def test_stopping_ends_soon_and_twice(store: Store, begin: Callable[[Embedder], Backlog]) -> None:
    """A backlog with much to do stops after the batch under way; stopping again does nothing."""
    _remember(store, *(f"note {number}" for number in range(300)))
    backlog = begin(EMBEDDER)
    backlog.stop()
    backlog.stop()
    backlog = begin(EMBEDDER)
    _until(lambda: _is_done(backlog))
    assert len(_stored(store)) == len(_expected(*(f"note {number}" for number in range(300))))
