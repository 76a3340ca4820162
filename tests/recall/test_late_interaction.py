"""Turns of people compared piece by piece: what is found, what stays, what is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.daemon.embed.background.reading import Reading
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.recall import late_interaction
from recalld.daemon.recall.candidates import Candidates
from recalld.daemon.recall.late_interaction import Compared, closest
from recalld.daemon.recall.shelf import CONVERSATION
from recalld.storage.migrations import m0005_pieces

from tests.recall.conftest import Open
from tests.recall.remembered import OTHER, Remembered, until

TALK = (
    ("Ann", "What did you get your sister for her birthday in the end?"),
    ("Bob", "A blue kayak, she can finally come along."),
    ("Ann", "Lovely! My brother would rather have a quiet evening with a book."),
    ("Bob", "Mine too, on most days. How is the new job?"),
    ("Ann", "Long hours, but the team is kind."),
)
QUESTION = "What was the birthday present?"
WIDTH = 6
BYTES = st.lists(st.integers(-127, 127), min_size=WIDTH, max_size=WIDTH)


@pytest.fixture
def thorough(embedder: StaticEmbedder) -> Layered:
    """What reads turns and every question, loaded."""
    made = Layered(embedder, MiniLm(), Alignment(), thorough=True)
    made.close_reader.load()
    return made


def told(memory: Remembered, talk: tuple[tuple[str, str], ...] = TALK) -> None:
    """Two people talking."""
    for number, (actor, text) in enumerate(talk):
        memory.remember(text, kind="conversation", session="s", turn=number, actor=actor)


def read(memory: Remembered, thorough: Layered) -> None:
    """Have everything embedded, then read."""
    memory.embed_all()
    reading = Reading(memory.store, thorough, thorough.close_reader)
    reading.start()
    until(lambda: reading.state()["state"] == "done")
    reading.stop()


@given(
    st.dictionaries(st.integers(1, 9), st.lists(BYTES, min_size=1, max_size=4), max_size=4),
    st.lists(BYTES, min_size=1, max_size=3),
)
def test_each_piece_finds_its_closest(
    stored: dict[int, list[list[int]]], asked: list[list[int]]
) -> None:
    """Compared all at once or pair by pair, the best match of each piece is the same."""
    kept = {rid: np.array(rows, np.int8).tobytes() for rid, rows in stored.items()}
    found = closest(kept, np.array(asked, np.int8))
    assert found.keys() == stored.keys()
    for rid, rows in stored.items():
        wanted = [max(np.dot(row, piece) for row in rows) / 127**2 for piece in asked]
        assert found[rid].tolist() == pytest.approx(wanted, abs=1e-4)


def talk(similarity: list[float], **more: Any) -> Candidates:
    """Turns of people, one after the other in one session, with these similarities."""
    count = len(similarity)
    rid = np.arange(1, count + 1)
    arrays: dict[str, Any] = {
        "rid": rid,
        "previous": rid - 1,
        "similarity": np.array(similarity, np.float32),
        "kind": np.full(count, CONVERSATION, np.uint8),
        "by_user": np.zeros(count, np.bool_),
        "by_assistant": np.zeros(count, np.bool_),
        **more,
    }
    none = Candidates.none()
    return replace(none, **arrays)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[apsw.Connection]:
    """A store that has nothing but pieces."""
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    connection.execute("CREATE TABLE spaces(id INTEGER PRIMARY KEY, name TEXT)")
    connection.execute("INSERT INTO spaces VALUES (1, 'space'), (2, 'other')")
    m0005_pieces.apply(connection)
    yield connection
    connection.close()


def keep(connection: apsw.Connection, rid: int, *rows: list[int], space: int = 1) -> None:
    """Keep pieces of a row."""
    states = np.array(rows, np.int8).tobytes()
    given = (rid, space, states)
    connection.execute("INSERT INTO pieces(rid, space, states) VALUES (?, ?, ?)", given)


FULL, HALF, NONE = [127, 0], [64, 110], [0, 127]
ASKED = Compared(np.array([FULL], np.int8), "space")


def sharpened(connection: apsw.Connection, found: Candidates, **more: Any) -> list[float]:
    """Their similarities after they were compared."""
    compared = ASKED._replace(**more)
    out: list[float] = compared.sharpened(connection, found, found.similarity).similarity.tolist()
    return out


def test_the_closest_is_as_close_as_the_best_was(kept: apsw.Connection) -> None:
    """.4 of the cosine and .6 of the closeness above .2, the closest scaled to the best cosine."""
    keep(kept, 1, NONE)
    keep(kept, 2, NONE, FULL)
    keep(kept, 5, HALF)
    close = [0.0, 0.5, 0.5 * (64 / 127 - 0.2) / 0.8]
    wanted = [
        0.4 * cosine + 0.6 * more for cosine, more in zip([0.5, 0.2, 0.3], close, strict=True)
    ]
    found = talk([0.5, 0.2, 0.0, 0.0, 0.3], previous=np.zeros(5, np.int64))
    out = sharpened(kept, found)
    assert [out[0], out[1], out[4]] == pytest.approx(wanted, abs=2e-3)


def test_what_was_said_before_counts_less_the_further_back(kept: apsw.Connection) -> None:
    """A match one turn back counts .8, two back .64, and three back nothing."""
    keep(kept, 1, FULL)
    for rid in (2, 3, 4):
        keep(kept, rid, NONE)
    closeness = [1.0, 0.8, 0.64, 0.2]
    wanted = [0.4 * 0.5 + 0.6 * 0.5 * (one - 0.2) / 0.8 for one in closeness]
    assert sharpened(kept, talk([0.5] * 4)) == pytest.approx(wanted, abs=1e-3)


def test_another_session_is_not_what_was_said_before(kept: apsw.Connection) -> None:
    """Only the turn before in the same session lends its match."""
    keep(kept, 1, FULL)
    keep(kept, 2, NONE)
    out = sharpened(kept, talk([0.5, 0.5], previous=np.zeros(2, np.int64)))
    assert out == pytest.approx([0.5, 0.2], abs=1e-3)


def test_turns_without_pieces_stay(kept: apsw.Connection) -> None:
    """Not read yet, too long, of another space or damaged: they keep what they have."""
    keep(kept, 1, HALF)
    keep(kept, 2, FULL, space=2)
    kept.execute("INSERT INTO pieces(rid, space, states) VALUES (3, 1, x'7f'), (4, 1, x'')")
    out = sharpened(kept, talk([0.6, 0.5, 0.4, 0.3], previous=np.zeros(4, np.int64)))
    assert out == pytest.approx([0.6, 0.5, 0.4, 0.3], abs=1e-6)


def test_only_talk_is_compared(kept: apsw.Connection) -> None:
    """Notes and turns of a chat stay, whatever is kept of them."""
    for rid in (1, 2, 3, 4):
        keep(kept, rid, NONE)
    keep(kept, 5, FULL)
    found = talk(
        [0.5] * 5,
        previous=np.zeros(5, np.int64),
        kind=np.array([1, *[CONVERSATION] * 4], np.uint8),
        by_user=np.array([False, True, False, False, False]),
        by_assistant=np.array([False, False, True, False, False]),
    )
    assert sharpened(kept, found) == pytest.approx([0.5, 0.5, 0.5, 0.2, 0.5], abs=1e-6)


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=6),
    st.lists(st.lists(BYTES, min_size=1, max_size=3), min_size=6, max_size=6),
    st.sets(st.integers(0, 5)),
)
def test_nothing_rises_above_the_best(
    cosines: list[float], rows: list[list[list[int]]], read: set[int]
) -> None:
    """Whatever was read of them, no turn becomes closer than the closest was, or less than 0."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE spaces(id INTEGER PRIMARY KEY, name TEXT)")
    connection.execute("INSERT INTO spaces VALUES (1, 'space')")
    m0005_pieces.apply(connection)
    for at in read:
        keep(connection, at + 1, *rows[at])
    found = talk(cosines)
    out = sharpened(connection, found, question=np.array(rows[0][:1], np.int8))
    if out != found.similarity.tolist():
        assert max(out) <= max(cosines) + 1e-5
        assert min(out) >= -1e-6


def test_a_page_is_not_compared() -> None:
    """A question of more pieces than can be compared in time, or of none, is asked by vector."""
    piece = np.ones((1, 2), np.int8)
    assert Compared.of(piece, "space") is not None
    assert Compared.of(np.repeat(piece, 49, axis=0), "space") is None
    assert Compared.of(piece[:0], "space") is None
    assert Compared.of(None, "space") is None


def test_damage_costs_no_answer(opened: Open, thorough: Layered) -> None:
    """Without the table of pieces recall answers by vectors and says so."""
    memory = opened(thorough)
    told(memory)
    read(memory, thorough)
    memory.store.writer.submit(lambda tx: tx.connection.execute("DROP TABLE pieces")).result()
    answer = memory.ask(QUESTION)
    assert len(answer.hits) > 0
    assert answer.degraded == ("reading_unavailable",)


def test_among_notes_nothing_is_looked_up(opened: Open, thorough: Layered) -> None:
    """Where nobody talks no pieces are asked for: their table could be missing."""
    memory = opened(thorough)
    memory.remember("The birthday present was a blue kayak.")
    read(memory, thorough)
    memory.store.writer.submit(lambda tx: tx.connection.execute("DROP TABLE pieces")).result()
    answer = memory.ask(QUESTION)
    assert (len(answer.hits), answer.degraded) == (1, ())


def test_explained_it_is_a_signal_of_its_own(opened: Open, thorough: Layered) -> None:
    """What comparing added is told beside the vectors' share, and all add up to the score."""
    memory = opened(thorough)
    told(memory)
    read(memory, thorough)
    hits = memory.ask(QUESTION, explain=True).hits
    assert any("pieces" in (hit.why or {}) for hit in hits)
    for hit in hits:
        assert sum((hit.why or {}).values()) == pytest.approx(hit.score, abs=2e-3)


def test_an_answer_is_found_by_what_was_asked_before_it(
    opened: Open, thorough: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn that answers does not say what it is about: the one before does."""
    memory = opened(thorough)
    told(memory)
    read(memory, thorough)
    answers = "A blue kayak, she can finally come along."
    with_it = memory.found(QUESTION).index(answers)
    monkeypatch.setattr(late_interaction, "SHARE", 0.0)
    assert with_it < memory.found(QUESTION).index(answers)


def test_unread_turns_are_found_as_before(
    opened: Open, thorough: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything was read nothing is compared, and nobody is told of trouble."""
    memory = opened(thorough)
    told(memory)
    memory.embed_all()
    answer = memory.ask(QUESTION)
    assert answer.degraded == ()
    monkeypatch.setattr(late_interaction, "SHARE", 0.0)
    assert [hit.score for hit in memory.ask(QUESTION).hits] == [hit.score for hit in answer.hits]


def test_other_namespaces_are_not_compared(opened: Open, thorough: Layered) -> None:
    """What is asked of one project is answered with nothing of another that talks of the same."""
    memory = opened(thorough)
    told(memory)
    memory.remember(
        "A blue kayak was the present.",
        OTHER,
        kind="conversation",
        session="s",
        turn=0,
        actor="Bob",
    )
    read(memory, thorough)
    assert "A blue kayak was the present." not in memory.found(QUESTION)
    assert memory.found(QUESTION, namespaces=(OTHER,)) == ["A blue kayak was the present."]


def test_what_is_not_in_memory_is_compared_too(
    opened: Open, thorough: Layered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A namespace searched by SQLite has its turns compared, by themselves alone."""
    memory = opened(thorough, matrix_bytes=0)
    told(memory)
    read(memory, thorough)
    scores = [hit.score for hit in memory.ask(QUESTION).hits]
    monkeypatch.setattr(late_interaction, "SHARE", 0.0)
    assert [hit.score for hit in memory.ask(QUESTION).hits] != scores
