"""The table at once, MiniLM's close reading later: two kinds of vectors in one space."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed import shipped
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.projection import Projection
from recalld.daemon.embed.shipped.static import StaticEmbedder

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
    assert layered.dimension == STATIC.dimension
    assert Layered(STATIC, MINILM, ALIGNMENT, thorough=True).space != layered.space


def test_read_closely_a_note_is_mostly_what_minilm_read() -> None:
    """The mixture has length 1 and is nearer to MiniLM's reading than to the table's."""
    closely = _layered().close_reader
    made = np.stack([closely.document(note, is_turn=False).vector for note in NOTES])
    assert np.linalg.norm(made, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    read = np.stack([ALIGNMENT(one) for one in MINILM.documents(NOTES)])
    near, far = (made * read).sum(axis=1), (made * STATIC.documents(NOTES)).sum(axis=1)
    assert (near > far).all()
    assert (near > 0.9).all()


def test_a_turn_is_mostly_what_the_table_made_of_it() -> None:
    """A turn read closely stays nearer to the table's vector than a note does."""
    closely, (table, *_) = _layered().close_reader, STATIC.documents(NOTES)
    turn, note = (closely.document(NOTES[0], is_turn=turn).vector for turn in (True, False))
    assert turn @ table > note @ table
    assert np.linalg.norm(turn) == pytest.approx(1, abs=1e-5)


def test_both_questions_find_both_notes() -> None:
    """Read or not, a question's nearest note is the right one, whichever way the note was made."""
    layered = _layered()
    closely = layered.close_reader
    questions = ("indent with tabs?", "how long until the cache expires?", "when to deploy?")
    read = np.stack([closely.document(note, is_turn=False).vector for note in NOTES])
    for notes in (layered.documents(NOTES), read):
        for asked in (
            [layered.query(question) for question in questions],
            [closely.query(question).vector for question in questions],
        ):
            cosines = np.stack(asked) @ notes.T
            assert cosines.argmax(axis=1).tolist() == [0, 1, 2]


def test_a_page_of_a_question_is_not_read() -> None:
    """A long prompt is asked by the table's vector: reading it would take half a second."""
    closely = _layered().close_reader
    page = "why does the deployment fail with this trace? " * 20
    assert (closely.query(page).vector == STATIC.query(page)).all()
    assert not (closely.query(page[:300]).vector == STATIC.query(page[:300])).all()


def test_nothing_read_is_nothing_said() -> None:
    """A text without a known word is the zero vector."""
    closely = _layered().close_reader
    assert not closely.document("", is_turn=False).vector.any()
    assert not closely.query("").vector.any()


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


def test_the_table_understands_what_minilm_read() -> None:
    """Turned by the alignment, MiniLM's vector of a text is nearest to the table's of that text."""
    said = np.array([ALIGNMENT(MINILM.query(note)) for note in NOTES])
    cosines = said @ STATIC.documents(NOTES).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert np.linalg.norm(said, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


@pytest.mark.parametrize(
    ("part", "file"),
    [
        (STATIC, "static_minilm_256_int8.npz"),
        (MINILM, "minilm_q8.npz"),
        (ALIGNMENT, "minilm_to_static.npy"),
        (Projection(), "minilm_pieces.npy"),
    ],
)
def test_the_name_changes_with_the_weights(
    part: StaticEmbedder | MiniLm | Alignment | Projection, file: str
) -> None:
    """What is shipped is named after its digest: vectors of other weights are never compared."""
    weights = Path(shipped.__file__).parent / "weights" / file
    assert part.space.endswith(hashlib.sha256(weights.read_bytes()).hexdigest()[:8])


def test_pieces_keep_what_tells_them_apart() -> None:
    """A piece in the same sentence is nearest to itself, as bytes too."""
    _, states = MINILM.read("the cache expires after an hour and is filled anew at night")
    assert states is not None
    kept = Projection()(states).astype(np.float32)
    assert (kept @ kept.T).argmax(axis=1).tolist() == list(range(len(states)))
    assert np.linalg.norm(kept, axis=1) == pytest.approx(np.full(len(kept), 127), abs=2)


def test_read_in_one_go_a_text_has_pieces() -> None:
    """The vector is the one of `documents`; a text of several chunks has no pieces."""
    short, long = "use tabs, not spaces", "use tabs, not spaces. " * 40
    for text, has_pieces in ((short, True), (long, False), ("", False)):
        vector, states = MINILM.read(text)
        assert vector == pytest.approx(MINILM.documents([text])[0], abs=1e-5)
        assert (states is not None) == has_pieces


@pytest.mark.parametrize(
    ("part", "file", "what"),
    [
        (Alignment, "minilm_to_static.npy", "The alignment is unusable"),
        (Projection, "minilm_pieces.npy", "The projection is unusable"),
    ],
)
def test_a_broken_matrix(
    part: type[Alignment] | type[Projection], file: str, what: str, tmp_path: Path
) -> None:
    """Missing, cut off or with other numbers, it is said in one sentence: vectors made with it
    would stay in the store.
    """
    with pytest.raises(VectorsUnavailable, match=what):
        part(str(tmp_path)).load()
    whole = (Path(shipped.__file__).parent / "weights" / file).read_bytes()
    for damaged in (b"", whole[:5000], whole[:-9] + b"\xff" * 9):
        (tmp_path / file).write_bytes(damaged)
        with pytest.raises(VectorsUnavailable, match=f"{what}: the file is damaged"):
            part(str(tmp_path)).load()


def test_a_broken_alignment_is_trouble_of_the_reader(tmp_path: Path) -> None:
    """Close reading cannot begin, and says why."""
    closely = Layered(STATIC, MINILM, Alignment(str(tmp_path))).close_reader
    with pytest.raises(VectorsUnavailable, match="alignment is unusable"):
        closely.load()
    assert "alignment is unusable" in str(closely.trouble)
