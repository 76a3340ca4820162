"""The table at once, MiniLM's close reading later: two kinds of vectors in one space."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed.alignment import Alignment
from recalld.daemon.embed.layered import SHARE, Layered
from recalld.daemon.embed.minilm import MiniLm
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.static import StaticEmbedder

STATIC, MINILM, ALIGNMENT = StaticEmbedder(), MiniLm(), Alignment()
NOTES = (
    "Indent recipe lines with tabs",
    "The cache expires after an hour",
    "Deploy on Fridays only after the freeze",
)


def _layered() -> Layered:
    return Layered(STATIC, MINILM, ALIGNMENT)


def test_at_once_it_is_the_table() -> None:
    """Memories and questions get the table's vectors, without a transformer being loaded."""
    layered = _layered()
    assert (layered.documents(NOTES) == STATIC.documents(NOTES)).all()
    assert (layered.query(NOTES[0]) == STATIC.query(NOTES[0])).all()
    assert not layered.close_reader.is_ready


def test_the_space_is_named_after_both() -> None:
    """A new table, a new MiniLM or another share of it makes all vectors anew."""
    layered = _layered()
    assert STATIC.space in layered.space
    assert MINILM.space in layered.space
    assert f"{SHARE:g}" in layered.space
    assert layered.dimension == STATIC.dimension


def test_read_closely_a_note_is_mostly_what_minilm_read() -> None:
    """The mixture has length 1 and is nearer to MiniLM's reading than to the table's."""
    closely = _layered().close_reader
    made = closely.documents(NOTES)
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    read = np.stack([ALIGNMENT(one) for one in MINILM.documents(NOTES)])
    near, far = (made * read).sum(axis=1), (made * STATIC.documents(NOTES)).sum(axis=1)
    assert (near > far).all()
    assert (near > 0.9).all()


def test_both_questions_find_both_notes() -> None:
    """Read or not, a question's nearest note is the right one, whichever way the note was made."""
    layered = _layered()
    closely = layered.close_reader
    questions = ("indent with tabs?", "how long until the cache expires?", "when to deploy?")
    for notes in (layered.documents(NOTES), closely.documents(NOTES)):
        for ask in (layered.query, closely.query):
            cosines = np.stack([ask(question) for question in questions]) @ notes.T
            assert cosines.argmax(axis=1).tolist() == [0, 1, 2]


def test_nothing_read_is_nothing_said() -> None:
    """A text without a known word is the zero vector."""
    closely = _layered().close_reader
    assert not closely.documents([""]).any()
    assert not closely.query("").any()


def test_loading_says_when_it_is_ready(tmp_path: Path) -> None:
    """Broken weights leave it not ready, and the table as it was."""
    closely = _layered().close_reader
    closely.load()
    assert closely.is_ready
    broken = Layered(STATIC, MiniLm(str(tmp_path)), ALIGNMENT)
    with pytest.raises(VectorsUnavailable):
        broken.close_reader.load()
    assert not broken.close_reader.is_ready
    assert broken.query("tabs").any()
