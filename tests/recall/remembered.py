"""A real store with recall over it, for tests to talk to in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from recalld.daemon.deadline import Deadline
from recalld.daemon.embed.background.backlog import Backlog
from recalld.daemon.embed.protocol import Embedder
from recalld.daemon.embed.standing import Standing
from recalld.daemon.recall.pipeline import Recall
from recalld.daemon.recall.request import RecallAnswer, RecallRequest
from recalld.storage import edits
from recalld.storage.drafts import Draft, insert
from recalld.storage.engine import Store
from recalld.storage.scope import Scope

NAMESPACE = "project:test-00000001"
OTHER = "project:other-00000002"


class Sizes(NamedTuple):
    """The setting recall reads."""

    matrix_bytes: int = 64 << 20


class Remembered:
    """Stores, edits, forgets and recalls, each through its real way."""

    def __init__(self, folder: Path, embedder: Embedder, sizes: Sizes, loaded: bool) -> None:
        self.store = Store.open(
            str(folder / "memory.db"), signer=lambda digest: digest * 2, vectors=loaded
        )
        self.embedder = embedder
        self.sizes = sizes
        self.recall = Recall(self.store, Standing(embedder, embedder.space), sizes)
        self.backlog = Backlog(self.store, embedder)
        self.reader = self.store.reader()

    def remember(self, content: str, namespace: str = NAMESPACE, **more: object) -> str:
        """Store a note; returns its id."""
        draft = Draft(namespace, content, **more)  # type: ignore[arg-type]  # tests name real fields
        return self.store.writer.submit(lambda tx: insert(tx, draft, by="test")).result().ulid

    def edit(self, ulid: str, changes: Mapping[str, object]) -> None:
        """Change a memory."""
        self.store.writer.submit(
            lambda tx: edits.update(tx, Scope([NAMESPACE, OTHER]), ulid, changes, by="test")
        ).result()

    def forget(self, ulid: str) -> None:
        """Forget a memory."""
        self.store.writer.submit(
            lambda tx: edits.forget(tx, Scope([NAMESPACE, OTHER]), ulid, by="test")
        ).result()

    def ask(
        self,
        query: str,
        *,
        namespaces: tuple[str, ...] = (NAMESPACE,),
        seconds: float = 30.0,
        limit: int = 10,
        **more: object,
    ) -> RecallAnswer:
        """Recall within the namespaces."""
        deadline = Deadline.after(seconds)
        request = RecallRequest(query, limit=limit, **more)  # type: ignore[arg-type]  # real fields
        with self.reader.until(deadline.at, deadline.is_over):
            return self.recall.recall(self.reader, Scope(namespaces), request, deadline)

    def found(self, query: str, **more: object) -> list[str]:
        """The contents recalled, best first."""
        return [hit.memory.content for hit in self.ask(query, **more).hits]  # type: ignore[arg-type]

    def forget_shelves(self) -> None:
        """Let recall begin anew, as after a restart of the daemon."""
        self.recall.close()
        standing = Standing(self.embedder, self.embedder.space)
        self.recall = Recall(self.store, standing, self.sizes)

    def embed_all(self) -> None:
        """Start embedding if need be, and wait until every row has its vector."""
        if self.backlog.state()["state"] == "loading":
            self.backlog.start()
        until(
            lambda: self.backlog.state()["state"] == "ready" and not self.backlog.state()["pending"]
        )

    def close(self) -> None:
        """End everything in order."""
        self.backlog.stop()
        self.recall.close()
        self.store.close()


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a condition; fails when it does not come true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)
