"""Loading recall when something it needs is scarce for a while."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from recalld.auth.errors import Busy, RecalldError
from recalld.daemon.retrieval import Retrieval
from recalld.daemon.settings import Settings
from recalld.storage.engine import Store
from recalld.storage.faults import DiskTrouble
from recalld.storage.reader import Reader

from tests.daemon.conftest import Starter
from tests.harness.raw import connected
from tests.harness.waiting import eventually


class Scarce:
    """The readers of a store, which cannot be opened for as long as `error` is set."""

    def __init__(self, store: Store, error: Exception) -> None:
        self._open: Callable[[], Reader] = store.reader
        self.error: Exception | None = error

    def __call__(self) -> Reader:
        """A reader."""
        if self.error is not None:
            raise self.error
        return self._open()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    (tmp_path / "data").mkdir(mode=0o700)
    opened = Store.open(str(tmp_path / "data" / "memory.db"), signer=lambda digest: digest * 2)
    yield opened
    opened.close()


def test_what_is_being_loaded_is_told(store: Store) -> None:
    """Before anything is known of the model, the embedder is called as the settings call it."""
    told = Retrieval(store, Settings(embedder="minilm")).state()
    assert (told["embedder"], told["model"], told["state"]) == ("minilm", None, "loading")


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "Too many open files"), DiskTrouble("It cannot be opened.")]
)
def test_what_is_scarce_makes_recall_busy_and_passes(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Meanwhile a recall is told to come back; then it is answered, without a restart."""
    scarce = Scarce(store, error)
    monkeypatch.setattr(store, "reader", scarce)
    retrieval = Retrieval(store, Settings())
    retrieval.start()
    try:
        eventually(lambda: retrieval.state()["state"] == "failed", within=30)
        with pytest.raises(Busy) as caught:
            asyncio.run(retrieval.recall(5))
        assert caught.value.retry_after_ms
        scarce.error = None
        eventually(lambda: retrieval.state()["state"] == "ready", within=30)
        assert asyncio.run(retrieval.recall(5)) is not None
    finally:
        retrieval.stop()


def test_what_will_not_pass_is_not_tried_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged installation is an error at once."""
    monkeypatch.setattr(store, "reader", Scarce(store, ImportError("no such thing")))
    retrieval = Retrieval(store, Settings())
    retrieval.start()
    with pytest.raises(RecalldError, match="could not be loaded; see the log"):
        asyncio.run(retrieval.recall(30))
    retrieval.stop()


def test_few_descriptors_at_the_start_harm_nothing(start: Starter, tmp_path: Path) -> None:
    """Whoever fills all places before recall is loaded keeps nobody from it for good."""
    daemon = start(limit_files=128).ready()
    client = daemon.client(tmp_path)
    statuses: set[int] = set()

    def answered() -> bool:
        statuses.add(client.post("/v1/recall", {"query": "x"}).status)
        return 200 in statuses

    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(connected(daemon.port))
        eventually(answered, within=30)
    assert statuses <= {200, 429, 503}
    assert "socket.accept" not in daemon.log()
