"""Turns of people compared piece by piece: what is found, what stays, what is left alone."""

from __future__ import annotations

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
from recalld.daemon.recall.late_interaction import closest

from tests.recall.conftest import Open
from tests.recall.remembered import Remembered, until

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


def test_a_turn_stored_meanwhile_is_no_worse_off(opened: Open, thorough: Layered) -> None:
    """One that was not read yet is taken to fare as those that were."""
    memory = opened(thorough)
    told(memory)
    read(memory, thorough)
    late = "The birthday present was a blue kayak."
    memory.remember(late, kind="conversation", session="t", turn=0, actor="Ann")
    memory.embed_all()
    assert memory.found(QUESTION)[0] == late


def test_notes_beside_talk_keep_their_place(opened: Open, thorough: Layered) -> None:
    """Talk of other things is not lifted above the note that answers."""
    memory = opened(thorough)
    told(memory)
    note = "Deploys need two approvals, one of them by the team on call."
    memory.remember(note)
    read(memory, thorough)
    assert memory.found("how many approvals does a deploy need?")[0] == note


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


def test_other_namespaces_are_not_compared(opened: Open, thorough: Layered) -> None:
    """What is asked of one project is answered with nothing of another."""
    memory = opened(thorough)
    told(memory)
    read(memory, thorough)
    assert memory.found(QUESTION, namespaces=("project:other-00000002",)) == []
