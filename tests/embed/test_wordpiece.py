"""Text to pieces of the vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.daemon.embed import shipped
from recalld.daemon.embed.shipped.wordpiece import WordPiece

VOCABULARY = ["[PAD]", "get", "user", "name", "##s", "cafe", "run", "##ning", ".", "数", "据"]
SPLIT = WordPiece(VOCABULARY)


def _pieces(text: str, limit: int = 100) -> list[str]:
    return [VOCABULARY[number] for number in SPLIT.ids(text, limit)]


def test_identifiers_are_words() -> None:
    """Camel case and snake case are taken apart into the same words."""
    assert _pieces("getUserNames") == ["get", "user", "name", "##s"]
    assert _pieces("get user names") == _pieces("getUserNames")


def test_longest_piece_first() -> None:
    """A word is split into the longest pieces there are."""
    assert _pieces("Running.") == ["run", "##ning", "."]


def test_accents_and_ideographs() -> None:
    """Accents do not matter, and every ideograph is a word."""
    assert _pieces("CAFÉ 数据") == ["cafe", "数", "据"]


def test_unknown_words_are_nothing() -> None:
    """A word the vocabulary cannot spell disappears, and so does an endless one."""
    assert _pieces("zzz get") == ["get"]
    assert _pieces("get" * 100) == []


def test_the_limit_is_kept() -> None:
    """Pieces beyond the limit are cut off."""
    assert _pieces("get user name", limit=2) == ["get", "user"]


@given(st.text(max_size=200), st.integers(min_value=1, max_value=50))
def test_any_text_is_split(text: str, limit: int) -> None:
    """Whatever the text, the ids are those of the vocabulary and no more than asked for."""
    ids = SPLIT.ids(text, limit)
    assert len(ids) <= limit
    assert all(0 < number < len(VOCABULARY) for number in ids)


def test_a_vocabulary_that_was_cut_off(tmp_path: Path) -> None:
    """Half of it would split every text otherwise than the weights were made for."""
    whole = (Path(shipped.__file__).parent / "weights" / "vocab.txt").read_text()
    (tmp_path / "vocab.txt").write_text(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="of 30522 pieces"):
        WordPiece.read(str(tmp_path / "vocab.txt"))
