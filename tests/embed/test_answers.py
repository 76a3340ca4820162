"""What a provider may answer, and everything it may not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.providers import answers
from recalld.daemon.embed.providers.openai_compatible import OPENAI
from recalld.daemon.embed.providers.post import is_loopback

NUMBERS = st.floats(-(2.0**100), 2.0**100, width=32)


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_vectors_have_length_one_or_none(lists: list[list[float]]) -> None:
    """Any finite numbers become vectors of length 1, zeros stay zeros."""
    lengths = np.linalg.norm(answers.unit_vectors(lists, len(lists), 3, "it"), axis=1)
    expected = [float(any(row)) for row in np.array(lists, np.float32)]
    assert lengths == pytest.approx(expected, abs=1e-5)


DUBIOUS: list[tuple[object, str]] = [
    ([[1.0, 2.0]], "1 vectors for 2"),
    ([[1.0, 2.0]] * 3, "3 vectors for 2"),
    ([[1.0, 2.0, 3.0]] * 2, "3 numbers a vector instead of 2"),
    ([[1.0], [1.0, 2.0]], "no vector"),
    ([[1.0, float("nan")]] * 2, "NaN"),
    ([[1.0, float("inf")]] * 2, "NaN"),
    ([[1.0, None]] * 2, "NaN|no vector"),
    ([["a", "b"]] * 2, "no vector"),
    ([[], []], "0 numbers"),
    (None, "0 vectors|no vector"),
    ({"a": 1}, "no vector"),
    (7, "0 vectors"),
]


@pytest.mark.parametrize(("lists", "complaint"), DUBIOUS)
def test_dubious_vectors_are_refused(lists: object, complaint: str) -> None:
    """Too few, too many, ragged, of another dimension, or no numbers: nothing is stored."""
    with pytest.raises(VectorsUnavailable, match=complaint):
        answers.unit_vectors(lists, 2, 2, "it")


@pytest.mark.parametrize("raw", [b"<html>login</html>", b"", b"[]", b"7", b"\xff", b"[" * 100_000])
def test_only_json_objects_are_read(raw: bytes) -> None:
    """A login page or other nonsense with status 200 is refused in one sentence."""
    with pytest.raises(VectorsUnavailable, match="JSON object"):
        answers.decoded(raw, "it")


def test_openai_vectors_go_by_their_index() -> None:
    """Servers may answer in any order; a doubled index is refused."""
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]
    assert OPENAI.vectors({"data": data}) == [[1.0], [2.0]]
    with pytest.raises(VectorsUnavailable):
        OPENAI.vectors({"data": [data[0], data[0]]})
    for broken in ({}, {"data": None}, {"data": [7]}, {"data": [{"index": 0}]}):
        with pytest.raises(VectorsUnavailable):
            OPENAI.vectors(json.loads(json.dumps(broken)))


def test_loopback() -> None:
    """Only addresses of this machine count as such; a name that merely looks like it does not."""
    ours = ["http://127.0.0.1:1", "http://localhost/v1", "http://[::1]:8080", "http://127.9.9.9"]
    others = [
        "http://localhost.example.com",
        "https://api.example.com",
        "http://10.0.0.1",
        "http://",
    ]
    assert [is_loopback(url) for url in ours + others] == [True] * 4 + [False] * 4
