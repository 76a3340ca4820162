"""The embedder that ships with the product."""

from __future__ import annotations

import hashlib
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.embed.none import NoEmbedder
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.shipped import static
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.embed.shipped.wordpiece import WordPiece

WEIGHTS = Path(static.__file__).parent / "weights"
EMBEDDER = StaticEmbedder()


def _likeness(question: str, document: str) -> float:
    return float(EMBEDDER.query(question) @ EMBEDDER.documents([document])[0])


def test_vectors_have_length_one() -> None:
    """Questions and documents are unit vectors of the promised dimension."""
    documents = EMBEDDER.documents(["Always use tabs", "deploy on Tuesday " * 500])
    assert documents.shape == (2, EMBEDDER.dimension)
    np.testing.assert_allclose(np.linalg.norm(documents, axis=1), 1, rtol=1e-5)
    assert np.linalg.norm(EMBEDDER.query("tabs or spaces?")) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "\x00"])
def test_nothing_has_no_direction(text: str) -> None:
    """A text without a known word is the zero vector, in both roles and as stored."""
    assert not EMBEDDER.query(text).any()
    assert not EMBEDDER.documents([text]).any()
    assert not to_int8(EMBEDDER.documents([text])).any()


def test_paraphrases_are_near() -> None:
    """The same thing in other words is nearer than another thing."""
    question = "how do I repair a broken build"
    assert _likeness(question, "Fixing compilation failures") > 0.3
    assert _likeness(question, "Fixing compilation failures") > _likeness(question, "Lunch menu")
    assert _likeness("getUserName", "get_user_name") > 0.7


def test_stored_numbers_keep_the_direction() -> None:
    """8-bit vectors point where the exact ones do."""
    exact = EMBEDDER.documents(["Always use tabs in Makefiles"])[0]
    stored = to_int8(exact[np.newaxis])[0].astype(np.float32)
    assert float(stored @ exact) / float(np.linalg.norm(stored)) > 0.999


def test_weights_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that ask at the same time share one table."""
    loads: list[str] = []
    read = WordPiece.read

    def counted(path: str) -> WordPiece:
        loads.append(path)
        return read(path)

    monkeypatch.setattr(WordPiece, "read", counted)
    fresh = StaticEmbedder()
    threads = [threading.Thread(target=fresh.query, args=("tabs",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_broken_weights_are_said(tmp_path: Path, damage: str) -> None:
    """Weights that are not there or not whole raise the error recall can live with."""
    if damage == "truncated":
        shutil.copy(WEIGHTS / "vocab.txt", tmp_path)
        whole = (WEIGHTS / "static_minilm_256_int8.npz").read_bytes()
        (tmp_path / "static_minilm_256_int8.npz").write_bytes(whole[:1000])
    with pytest.raises(VectorsUnavailable):
        StaticEmbedder(str(tmp_path)).load()


def test_other_weights_are_another_space() -> None:
    """The space's name contains what the weights are, so that old vectors are never compared."""
    digest = hashlib.sha256((WEIGHTS / "static_minilm_256_int8.npz").read_bytes()).hexdigest()
    assert EMBEDDER.space.endswith(digest[:8])


def test_the_licence_travels_along() -> None:
    """Licence and notice lie beside the weights."""
    assert "Apache License" in (WEIGHTS / "LICENSE").read_text()
    assert "all-MiniLM-L6-v2" in (WEIGHTS / "NOTICE").read_text()


def test_none_has_no_vectors() -> None:
    """The embedder that is switched off says so whenever it is asked."""
    nothing = NoEmbedder()
    nothing.load()
    with pytest.raises(VectorsUnavailable):
        nothing.query("tabs")
    with pytest.raises(VectorsUnavailable):
        nothing.documents(["tabs"])
