"""The static table and MiniLM as one embedder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed.alignment import Alignment
from recalld.daemon.embed.joined import Joined
from recalld.daemon.embed.minilm import MiniLm
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.static import StaticEmbedder

STATIC, MINILM, ALIGNMENT = StaticEmbedder(), MiniLm(), Alignment()
JOINED = Joined(STATIC, MINILM, ALIGNMENT)
NOTES = (
    "Indent recipe lines with tabs",
    "The cache expires after an hour",
    "Deploy on Fridays",
)


def test_cosines_are_the_mean_of_both() -> None:
    """A memory counts by MiniLM and by the table in equal parts, both asked by MiniLM's reading."""
    note, question = NOTES[1], "how long is the cache valid?"
    read = MINILM.query(question)
    expected = 0.5 * float(STATIC.documents([note])[0] @ ALIGNMENT(read))
    expected += 0.5 * float(MINILM.documents([note])[0] @ read)
    assert float(JOINED.documents([note])[0] @ JOINED.query(question)) == pytest.approx(expected)
    assert JOINED.dimension == 640
    assert STATIC.space in JOINED.space
    assert MINILM.space in JOINED.space


def test_the_table_understands_what_minilm_read() -> None:
    """Turned by the alignment, MiniLM's vector of a text is nearest to the table's of that text."""
    said = np.array([ALIGNMENT(MINILM.query(note)) for note in NOTES])
    cosines = said @ STATIC.documents(NOTES).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert np.linalg.norm(said, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


def test_nothing_read_is_nothing_said() -> None:
    """A question without a known word is the zero vector."""
    assert not JOINED.query("").any()
    assert not ALIGNMENT(np.zeros(384, np.float32)).any()


def test_a_broken_alignment(tmp_path: Path) -> None:
    """A missing, broken or foreign map is said in one sentence."""
    path = tmp_path / "minilm_to_static.npy"
    with pytest.raises(VectorsUnavailable, match="alignment is unusable"):
        Joined(STATIC, MINILM, Alignment(str(tmp_path))).load()
    path.write_bytes(b"\x93NUMPY not really")
    with pytest.raises(VectorsUnavailable, match="alignment is unusable"):
        Alignment(str(tmp_path)).load()
    np.save(path, np.zeros((3, 4), np.float16))
    with pytest.raises(VectorsUnavailable, match="shape"):
        Alignment(str(tmp_path)).load()
