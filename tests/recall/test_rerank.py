"""The second ranking: what trees may change, and what they must leave alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.daemon.embed.standing import Standing
from recalld.daemon.recall.arrays import Floats
from recalld.daemon.recall.evidence import NAMES
from recalld.daemon.recall.pipeline import Recall
from recalld.daemon.recall.rerank import FILE, FIRST, UNAVAILABLE, Reranker
from recalld.daemon.recall.trees import QUESTIONS, Trees, Unusable

from tests.recall.remembered import Remembered

NUMBERS = st.floats(-4, 4, width=32)


@st.composite
def trees(draw: st.DrawFn, width: int = 5) -> Trees:
    """Any trees over rows of so many numbers."""
    count = draw(st.integers(1, 6))
    some = draw(st.lists(NUMBERS, min_size=11 * count, max_size=11 * count))
    at = st.integers(0, width - 1)
    columns = draw(st.lists(at, min_size=3 * count, max_size=3 * count))
    return Trees(
        np.array(columns, np.int32).reshape(count, QUESTIONS),
        np.array(some[: 3 * count], np.float32).reshape(count, QUESTIONS),
        np.array(some[3 * count :], np.float32).reshape(count, 1 << QUESTIONS),
    )


def _one_by_one(some: Trees, row: Floats) -> float:
    total = 0.0
    for columns, limits, worth in zip(*some, strict=True):
        answers = [row[column] <= limit for column, limit in zip(columns, limits, strict=True)]
        total += float(worth[sum(1 << at for at, yes in enumerate(answers) if yes)])
    return total


@given(trees(), st.lists(st.lists(NUMBERS, min_size=5, max_size=5), min_size=1, max_size=7))
def test_asked_at_once_or_one_by_one(some: Trees, numbers: list[list[float]]) -> None:
    """All trees asked together say of every row what they say of it one after the other."""
    rows = np.array(numbers, np.float32)
    wanted = [_one_by_one(some, row) for row in rows]
    assert some.value(rows).tolist() == pytest.approx(wanted, abs=1e-4)


@given(trees())
def test_trees_come_back_as_they_were_saved(some: Trees) -> None:
    """What was written to a file is read from it, and judged by what it asks for."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trees.npz"
        some.save(path)
        for mine, read in zip(some, Trees.read(path, 5), strict=True):
            assert np.array_equal(mine, read)
        with pytest.raises(Unusable, match="columns"):
            Trees.read(path, int(some.columns.max()))


def test_the_shipped_trees_fit_what_they_are_shown() -> None:
    """They can be read, ask for columns there are, and move a score by less than the best match."""
    shipped = Trees.read(FILE, len(NAMES))
    span = shipped.worth.max(axis=1) - shipped.worth.min(axis=1)
    assert 0 < float(span.sum()) < 10
    assert np.isfinite(shipped.limits).all()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", None])
def test_without_trees_the_first_ranking_stands(
    memory: Remembered, tmp_path: Path, content: bytes | None
) -> None:
    """A file that is missing or broken costs no answer; it is told."""
    path = tmp_path / "trees.npz"
    if content is not None:
        path.write_bytes(content)
    memory.remember("The deploy key is rotated in March")
    memory.embed_all()
    standing = Standing(memory.embedder, memory.embedder.space)
    memory.recall.close()
    memory.recall = Recall(memory.store, standing, memory.sizes, rerank=Reranker.shipped(str(path)))
    answer = memory.ask("deploy key")
    assert [hit.memory.content for hit in answer.hits] == ["The deploy key is rotated in March"]
    assert answer.degraded == (UNAVAILABLE,)


def test_nobody_falls_behind_the_rest(memory: Remembered) -> None:
    """Those looked at again stay before all others, and no score sinks below the first one."""
    for number in range(FIRST + 30):
        filler = " ".join(f"part{number}x{at}" for at in range(number % 40))
        memory.remember(f"Backup number {number} is kept {filler}")
    memory.embed_all()
    hits = memory.ask("where are backups kept?", limit=100, explain=True).hits
    assert len(hits) == FIRST
    learned = [(hit.why or {}).get("learned", 0.0) for hit in hits]
    assert max(learned) > min(learned) >= 0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_people_talking_keep_their_order(memory: Remembered) -> None:
    """Turns of people with one another are none of what was learned."""
    for number, text in enumerate(("My kite is red", "Kites need wind", "A red kite, how nice")):
        memory.remember(text, kind="conversation", session="s", turn=number, actor="Anna")
    memory.embed_all()
    hits = memory.ask("which kite is red?", explain=True).hits
    assert len(hits) == 3
    assert all("learned" not in (hit.why or {}) for hit in hits)
