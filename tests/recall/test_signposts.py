"""Namespaces too large to be held in memory or read from end to end for every question."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from recalld.daemon.recall import signposts
from recalld.daemon.recall.signatures import AGREEING, Signatures
from recalld.storage import chunks, memories, vectors
from recalld.storage.drafts import Draft, insert
from recalld.storage.scope import Scope
from recalld.storage.transaction import Transaction
from recalld.storage.vectors import CHUNK_ROWS

from tests.bench.corpus import texts
from tests.recall.conftest import Open
from tests.recall.remembered import NAMESPACE, Remembered, until

ROWS = 12 * CHUNK_ROWS
SCOPE = Scope([NAMESPACE])


@pytest.fixture
def large(opened: Open, monkeypatch: pytest.MonkeyPatch) -> Remembered:
    """A namespace that counts as very large, all its rows with vectors and signs."""
    monkeypatch.setattr(signposts, "LARGE", 4)
    monkeypatch.setattr(signposts, "MOST_UNSIGNED", 3)
    memory = opened(matrix_bytes=512 << 10)  # too little for a shelf of these rows
    _remember(memory, list(texts(ROWS)))
    memory.embed_all()
    memory.ask("anything")
    until(lambda: _signed(memory) >= ROWS // CHUNK_ROWS - 1)
    return memory


def _remember(memory: Remembered, told: Sequence[str]) -> None:
    def job(tx: Transaction) -> None:
        for text in told:
            insert(tx, Draft(NAMESPACE, text), by="test")

    memory.store.writer.submit(job).result()


def _signed(memory: Remembered) -> int:
    return memory.recall.signed_chunks()


def test_what_is_close_is_found_by_its_signs(large: Remembered) -> None:
    """A text is found by itself, wherever it lies in the namespace, and nothing is degraded."""
    for text in list(texts(ROWS))[:: ROWS // 12]:
        answer = large.ask(text)
        assert answer.hits[0].memory.content == text
        assert answer.degraded == ()


def test_rows_stored_since_are_found(large: Remembered) -> None:
    """New rows lie in chunks without signs, which are read until signs are made of them too."""
    before = _signed(large)
    large.remember("the night train to Trieste leaves from platform nine")
    large.embed_all()
    assert large.found("which platform does the sleeper go from?")[0].startswith("the night train")
    _remember(large, [f"{text} once more" for text in texts(6 * CHUNK_ROWS)])
    large.embed_all()
    large.ask("anything")
    until(lambda: _signed(large) > before)
    assert large.found("which platform does the sleeper go from?")[0].startswith("the night train")


def test_what_is_forgotten_or_edited_is_not_found_as_it_was(large: Remembered) -> None:
    """A place whose vector is gone is found empty; an edited row lies where it was written anew."""
    gone, changed = list(texts(ROWS))[5], list(texts(ROWS))[700]
    ids = {
        hit.memory.content: hit.memory.ulid
        for hit in [*large.ask(gone).hits, *large.ask(changed).hits]
    }
    large.forget(ids[gone])
    large.edit(ids[changed], {"content": "a quokka crossed the road at dawn"})
    large.embed_all()
    assert gone not in large.found(gone)
    assert changed not in large.found(changed)
    assert large.found("quokka at dawn")[0] == "a quokka crossed the road at dawn"


def test_new_rows_in_old_places_are_found(large: Remembered) -> None:
    """When the newest chunk goes, new vectors are put into the one before it, whose signs were
    made for others: they are found all the same.
    """
    page = large.store.reader()
    with page.until(time.monotonic() + 30) as connection:
        (space,) = vectors.spaces(connection)
        ids = chunks.chunks_of(connection, space, 1)
        last, before = (chunks.blocks(connection, space, [one]) for one in ids[:-3:-1])
        newest = [rid for some, _ in last for rid in some]
        holes = [rid for some, _ in before for rid in some][10:50]
        rows = [*newest, *holes]
        ulids = [memory.ulid for memory in memories.fetch(connection, SCOPE, rows).values()]
    for ulid in ulids:
        large.forget(ulid)
    told = {f"physicians prescribed medication to patient {number}" for number in range(30)}
    _remember(large, sorted(told))
    large.embed_all()
    # No word in common, so only their vectors can find them.
    assert told <= set(large.found("doctors giving drugs", limit=100))


def test_the_best_is_kept_among_many_that_are_equally_far() -> None:
    """Thousands of rows of the same words do not hide the one that says just what is asked."""
    dice = np.random.default_rng(4)
    crowd = np.tile(dice.integers(-127, 128, 64, dtype=np.int8), (24 * CHUNK_ROWS, 1))
    question = dice.integers(-127, 128, 64, dtype=np.int8)
    crowd[-1] = question
    signs = Signatures(64).with_more(list(range(24)), crowd)
    assert (23, CHUNK_ROWS - 1) in signs.promising(question.astype(np.float32))


def test_signs_beyond_their_limit_are_not_held(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without memory to spare everything is read: slower, and as right."""
    monkeypatch.setattr(signposts, "LARGE", 4)
    monkeypatch.setattr(signposts, "MOST_UNSIGNED", 1)
    memory = opened(matrix_bytes=0)
    told = list(texts(6 * CHUNK_ROWS))
    _remember(memory, told)
    memory.embed_all()
    for text in told[::100]:
        assert memory.found(text)[0] == text
    assert _signed(memory) == 0


@pytest.mark.parametrize("dimension", [8, 64, 100, 256, 384])
def test_signs_find_most_of_what_is_closest(dimension: int) -> None:
    """Of the ten truly closest of 8,000 random vectors most are among the promising places."""
    dice = np.random.default_rng(3)
    rows = dice.integers(-127, 128, (64 * CHUNK_ROWS, dimension), dtype=np.int8)
    signs = Signatures(dimension).with_more(list(range(1, 65)), rows)
    # A question like a memory, as questions are: near some rows, far from most.
    question = rows[77].astype(np.float32) + dice.normal(0, 40, dimension).astype(np.float32)
    places = signs.promising(question)
    assert AGREEING <= len(places) <= 2 * AGREEING or dimension == 8
    assert (1, 77) in places
    cosines = rows @ question / np.linalg.norm(rows.astype(np.float32), axis=1).clip(1)
    closest = np.argsort(-cosines)[:10]
    found = {(chunk - 1) * CHUNK_ROWS + slot for chunk, slot in places}
    assert len(found.intersection(closest.tolist())) >= 6
