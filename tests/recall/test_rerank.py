"""The second ranking: what trees may change, and what they must leave alone."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.daemon.embed.standing import Standing
from recalld.daemon.recall.arrays import Floats
from recalld.daemon.recall.evidence import NAMES
from recalld.daemon.recall.pipeline import Recall
from recalld.daemon.recall.query import analyse
from recalld.daemon.recall.request import RecallAnswer
from recalld.daemon.recall.rerank import FILE, FIRST, UNAVAILABLE, Reranker, is_exact
from recalld.daemon.recall.trees import QUESTIONS, Trees, Unusable

from tests.recall.remembered import Remembered

Arrays = dict[str, npt.NDArray[Any]]
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
    """They can be read, and asked for columns there are."""
    assert len(Trees.read(FILE, len(NAMES)).worth) > 0
    with pytest.raises(Unusable):
        Trees.read(FILE, 1)


def _damaged() -> dict[str, bytes | None]:
    whole = Path(FILE).read_bytes()
    middle = len(whole) // 2
    return {
        "missing": None,
        "empty": b"",
        "cut": whole[:middle],
        "zeroed inside": whole[:middle] + bytes(64) + whole[middle + 64 :],
        "other magic": b"\x93NUMPY" + whole[6:],
    }


@pytest.mark.parametrize("how", list(_damaged()))
def test_without_trees_the_first_ranking_stands(
    memory: Remembered, tmp_path: Path, how: str
) -> None:
    """A file that is missing or damaged costs no answer; it is told."""
    path, content = tmp_path / "trees.npz", _damaged()[how]
    if content is not None:
        path.write_bytes(content)
    memory.remember("The deploy key is rotated in March")
    memory.embed_all()
    _rank_by(memory, Reranker.shipped(str(path)))
    answer = memory.ask("when is the key for deploying rotated")
    assert [hit.memory.content for hit in answer.hits] == ["The deploy key is rotated in March"]
    assert answer.degraded == (UNAVAILABLE,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": np.zeros((2, QUESTIONS), np.float32)},
        {"limits": np.full((2, QUESTIONS), "x")},
        {"worth": np.full((2, 1 << QUESTIONS), np.nan, np.float32)},
        {"worth": np.zeros((1, 1 << QUESTIONS), np.float32)},
        {"columns": np.array(3, np.int32)},
    ],
)
def test_a_file_of_something_else(tmp_path: Path, wrong: Arrays) -> None:
    """What could be read and not be asked is unusable too."""
    arrays: Arrays = {
        "columns": np.zeros((2, QUESTIONS), np.int32),
        "limits": np.zeros((2, QUESTIONS), np.float32),
        "worth": np.zeros((2, 1 << QUESTIONS), np.float32),
    }
    _save(tmp_path / "right.npz", arrays)
    Trees.read(str(tmp_path / "right.npz"), 1)
    _save(tmp_path / "wrong.npz", arrays | wrong)
    with pytest.raises(Unusable):
        Trees.read(str(tmp_path / "wrong.npz"), 1)


def _save(path: Path, arrays: Arrays) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, array)


LENGTH = NAMES.index("log_length")
LONG_FIRST = Trees(
    np.full((1, QUESTIONS), LENGTH, np.int32),
    np.full((1, QUESTIONS), 2.5, np.float32),
    np.array([[9, 9, 9, 9, 9, 9, 9, 0]], np.float32),
)
"""A tree that wants texts of twelve words and more, whatever they say."""


def _rank_by(memory: Remembered, reranker: Reranker) -> None:
    memory.recall.close()
    standing = Standing(memory.embedder, memory.embedder.space)
    memory.recall = Recall(memory.store, standing, memory.sizes, rerank=reranker)


def _both(
    memory: Remembered, question: str, *, explain: bool = False
) -> tuple[RecallAnswer, RecallAnswer]:
    """The answers without trees, and with one that likes what is long."""
    _rank_by(memory, Reranker(None))
    before = memory.ask(question, explain=explain)
    _rank_by(memory, Reranker(LONG_FIRST))
    return before, memory.ask(question, explain=explain)


def test_candidates_trade_places_and_scores(memory: Remembered) -> None:
    """The scores of an answer are those of the first ranking; who has which is learned."""
    memory.remember("Backups are kept in Frankfurt")
    memory.remember("Backups are kept for ninety days, " + "and then for some more days " * 4)
    memory.embed_all()
    before, after = _both(memory, "where are all backups kept", explain=True)
    assert [len(hit.memory.content) > 40 for hit in before.hits] == [False, True]
    assert [len(hit.memory.content) > 40 for hit in after.hits] == [True, False]
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]
    learned = [(hit.why or {})["learned"] for hit in after.hits]
    assert learned[0] > 0 > learned[1]


def test_nobody_falls_behind_the_rest(memory: Remembered) -> None:
    """Those beyond the first hundred stay behind them, and in their order."""
    for number in range(FIRST + 30):
        more = " ".join(f"part{number}x{at}" for at in range(number % 40))
        memory.remember(f"Backup number {number} is kept {more}")
    memory.embed_all()
    _rank_by(memory, Reranker(None))
    found = {hit.memory.ulid for hit in memory.ask("where are the backups kept", limit=100).hits}
    _rank_by(memory, Reranker(LONG_FIRST))
    hits = memory.ask("where are the backups kept", limit=100).hits
    assert {hit.memory.ulid for hit in hits} == found
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_people_talking_keep_their_places(memory: Remembered) -> None:
    """Turns of people with one another are none of what was learned, alone or among notes."""
    for number, text in enumerate(("My kite is red", "Kites need wind", "A red kite, how nice")):
        memory.remember(text, kind="conversation", session="s", turn=number, actor="Anna")
    memory.remember("The red kite is our logo")
    memory.remember("The red kite was the logo of the company that we bought two years ago or so")
    memory.embed_all()
    before, after = _both(memory, "which kite was always red")
    spoken = [
        [(place, hit.memory.content, hit.score) for place, hit in enumerate(answer.hits)]
        for answer in (before, after)
    ]
    talk = [[one for one in some if "logo" not in one[1]] for some in spoken]
    assert spoken[0] != spoken[1]
    assert talk[0] == talk[1]


def test_what_was_just_stored_keeps_its_place(memory: Remembered) -> None:
    """A note whose vector is still to come cannot be judged by it."""
    memory.remember("Backups are kept in Frankfurt")
    memory.embed_all()
    memory.remember("Backups are kept for ninety days, " + "and then for some more days " * 4)
    before, after = _both(memory, "where are all backups kept")
    assert [hit.memory.ulid for hit in before.hits] == [hit.memory.ulid for hit in after.hits]


@pytest.mark.parametrize(
    ("question", "exact"),
    [
        ("why is the queue slow in the evening", False),
        ('where do we mention "dead letter queue" and why', True),
        ("what did we decide about queues in June 2025", True),
        ("where does E4714 come from on startup", True),
        ("who sets isLoading before the page is shown", True),
        ("what does workflow_run start after a merge", True),
        ("what runs on port 5173 while developing things", True),
        ("what to do about EADDRINUSE after a crash", True),
        ("what happens when --force is given twice", True),
        ("which tests cover storage/engine.py at the moment", True),
        ("deploy key", True),
    ],
)
def test_who_says_exactly_what_gets_exactly_that(question: str, exact: bool) -> None:
    """Phrases, dates, identifiers and look-ups of a word or two are left to the first ranking."""
    assert is_exact(analyse(question, 0)) is exact


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("what was wrong with error E4714 at the start", "E4714 means the socket is taken"),
        ('who said "never on a Friday" and meant it', "We deploy never on a Friday"),
    ],
)
def test_the_only_note_with_it_comes_first(memory: Remembered, question: str, wanted: str) -> None:
    """However much the trees like others."""
    memory.remember(wanted)
    for number in range(20):
        memory.remember(
            f"Error E{5000 + number} at the start was wrong: who said so on a Friday, "
            f"and meant it, was told what was wrong with it {number} times"
        )
    memory.embed_all()
    _rank_by(memory, Reranker(LONG_FIRST))
    assert memory.ask(question).hits[0].memory.content == wanted
