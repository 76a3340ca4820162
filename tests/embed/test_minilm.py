"""The shipped transformer."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.shipped.minilm import MiniLm

MINILM = MiniLm()
WEIGHTS = Path(__file__).resolve().parents[2] / "daemon" / "embed" / "shipped" / "weights"


def test_meaning_without_a_common_word() -> None:
    """A question is nearest to the note that answers it in other words."""
    notes = [
        "Indent recipe lines with tabs",
        "The cache expires after an hour",
        "Deploy on Fridays",
    ]
    cosines = MINILM.documents(notes) @ MINILM.query("how long do stored entries stay fresh?")
    assert int(cosines.argmax()) == 1


def test_what_the_original_says() -> None:
    """Cosines are those published for the original model's example sentences."""
    texts = ["This is an example sentence", "Each sentence is converted"]
    one, other = MINILM.documents(texts)
    assert one @ other == pytest.approx(0.3981, abs=0.01)


def test_every_vector_has_length_one() -> None:
    """Whatever the text: of any length, or of many at once; without a known word it is zero."""
    texts = ["", "a", "tab " * 3000, "日本語", "x" * 5000, "getUserName failed"]
    lengths = np.linalg.norm(MINILM.documents(texts), axis=1)
    assert lengths == pytest.approx([0, 1, 1, 1, 0, 1], abs=1e-5)


def test_a_batch_is_as_one_by_one() -> None:
    """The other texts of a batch do not change a text's vector."""
    texts = ["use tabs", "use spaces in python files", "word " * 300, "use tabs"]
    together = MINILM.documents(texts)
    alone = np.array([MINILM.query(text) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_a_long_text_keeps_its_end() -> None:
    """What stands at the end of a long text still counts."""
    filler = "We talked about the weather and the garden. " * 40
    texts = [filler, filler + "The database password rotates every month. " * 8]
    cosines = MINILM.documents(texts) @ MINILM.query("how often does the database password change?")
    assert cosines[1] > cosines[0] + 0.1


def test_other_weights_are_another_space() -> None:
    """The space's name contains what the weights are."""
    digest = hashlib.sha256((WEIGHTS / "minilm_q8.npz").read_bytes()).hexdigest()
    assert MINILM.space.endswith(digest[:8])


def test_broken_weights(tmp_path: Path) -> None:
    """Missing or broken weights are said in one sentence."""
    with pytest.raises(VectorsUnavailable, match="MiniLM weights"):
        MiniLm(str(tmp_path)).load()
    (tmp_path / "minilm_q8.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(VectorsUnavailable, match="MiniLM weights"):
        MiniLm(str(tmp_path)).load()


def test_threads_share_it() -> None:
    """Several threads at once get what one gets alone."""
    expected = MINILM.query("use tabs")
    got: list[bool] = []

    def ask() -> None:
        got.append(bool(np.allclose(MINILM.query("use tabs"), expected, atol=1e-6)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 4
