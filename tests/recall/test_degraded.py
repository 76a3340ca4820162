"""What recall says, and still does, when a part of it is missing."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import numpy as np
import numpy.typing as npt
from recalld.daemon.embed.none import NoEmbedder
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.storage.transaction import Transaction

from tests.recall.conftest import Open
from tests.recall.remembered import Remembered


class Broken(StaticEmbedder):
    """An embedder whose provider answers nonsense."""

    space = "broken"

    def query(self, text: str) -> npt.NDArray[np.float32]:
        """Fail in a way nobody planned for."""
        raise RuntimeError(text)

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Fail in the planned way."""
        raise VectorsUnavailable("The provider is away.")


def test_vectors_behind(either: Remembered) -> None:
    """Before rows have their vectors, the answer says so; afterwards it does not."""
    either.remember("Always use tabs in Makefiles")
    before = either.ask("tabs")
    assert before.degraded == ("vectors_behind",)
    assert len(before.hits) == 1
    either.embed_all()
    assert either.ask("tabs").degraded == ()


def test_an_edit_leaves_vectors_behind(either: Remembered) -> None:
    """A changed text has no vector until it is embedded again; a changed tag keeps it."""
    ulid = either.remember("Always use tabs in Makefiles")
    either.embed_all()
    either.edit(ulid, {"tags": ("style",)})
    assert either.ask("tabs").degraded == ()
    either.backlog.stop()
    either.edit(ulid, {"content": "Always use tabs in all Makefiles"})
    assert either.ask("tabs").degraded == ("vectors_behind",)


def test_a_broken_embedder_costs_meaning_only(opened: Open) -> None:
    """Words still find it, and the answer says that vectors took no part."""
    memory = opened(Broken())
    memory.remember("Always use tabs in Makefiles")
    answer = memory.ask("tabs in makefiles")
    assert [hit.memory.content for hit in answer.hits] == ["Always use tabs in Makefiles"]
    assert answer.degraded == ("vectors_unavailable",)


def test_no_embedder_is_a_choice(opened: Open) -> None:
    """Without an embedder nothing is degraded: that is what was asked for."""
    memory = opened(NoEmbedder())
    memory.remember("Always use tabs in Makefiles")
    answer = memory.ask("tabs in makefiles")
    assert len(answer.hits) == 1
    assert answer.degraded == ()


def test_a_store_without_the_extension(opened: Open) -> None:
    """Where sqlite-vec does not load, words answer and the answer says so."""
    memory = opened(loaded=False)
    memory.remember("Always use tabs in Makefiles")
    answer = memory.ask("tabs in makefiles")
    assert len(answer.hits) == 1
    assert answer.degraded == ("vectors_unavailable",)


def test_a_damaged_word_index(opened: Open) -> None:
    """With the full-text index gone bad, meaning answers and the answer says so."""
    memory = opened(matrix_bytes=0)
    memory.remember("Always use tabs in Makefiles")
    memory.embed_all()
    memory.store.writer.submit(_damage).result()
    answer = memory.ask("indent makefiles with tab characters")
    assert [hit.memory.content for hit in answer.hits] == ["Always use tabs in Makefiles"]
    assert answer.degraded == ("words_unavailable",)


def _damage(tx: Transaction) -> None:
    """Take the leaves of the full-text index away."""
    tx.connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    tx.connection.execute("DELETE FROM fts_data WHERE id > 10")
    tx.connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
