"""HTTP/1.1 without I/O: whatever the segments, the answer is the same, and nonsense is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.client.connection.http1 import (
    Answer,
    AnswerReader,
    BadAnswer,
    encode_query,
    encode_request,
    quote,
)

BODIES = st.binary(max_size=300)
CUTS = st.lists(st.integers(1, 40), max_size=40)


def pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    """`raw` in segments of these lengths, the rest in one."""
    found: list[bytes] = []
    for cut in cuts:
        found.append(raw[:cut])
        raw = raw[cut:]
    return [piece for piece in [*found, raw] if piece]


def read(raw: bytes, cuts: list[int], *, close: bool = False) -> Answer | None:
    """The answer a reader makes of these segments."""
    reader = AnswerReader(method="POST")
    for piece in pieces(raw, cuts):
        reader.feed(piece)
    if close:
        reader.end()
    return reader.answer()


@given(BODIES, CUTS)
def test_a_sized_answer_survives_any_segmentation(body: bytes, cuts: list[int]) -> None:
    """With a content length, head and body come out whole however they are cut."""
    raw = b"HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    assert read(raw, cuts) == Answer(
        200, {"x-a": "b", "content-length": str(len(body))}, body, True
    )


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), CUTS)
def test_a_chunked_answer_survives_any_segmentation(chunks: list[bytes], cuts: list[int]) -> None:
    """Chunks are joined, and the end is only the end once its blank line has arrived."""
    coded = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\n\r\n"
    answer = read(raw, cuts)
    assert answer is not None
    assert answer.body == b"".join(chunks)
    assert read(raw[:-2], cuts) is None


@given(BODIES, CUTS)
def test_an_unsized_answer_ends_with_the_connection(body: bytes, cuts: list[int]) -> None:
    """Without any length the close is the end, and the connection is not used again."""
    raw = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n" + body
    answer = read(raw, cuts, close=True)
    assert answer is not None
    assert (answer.body, answer.reusable) == (body, False)


@given(st.binary(max_size=200), CUTS)
def test_noise_is_refused_or_waited_on_but_never_crashes(raw: bytes, cuts: list[int]) -> None:
    """Bytes of a stranger end in BadAnswer or in no answer."""
    try:
        answer = read(raw, cuts)
    except BadAnswer:
        return
    assert answer is None


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000,
    ],
)
def test_strangers_are_refused(raw: bytes) -> None:
    """Another protocol, broken numbers and endless heads are BadAnswer."""
    with pytest.raises(BadAnswer):
        read(raw, [])


def test_an_interim_answer_is_skipped() -> None:
    """A 100 Continue is not the answer."""
    raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    assert read(raw, [5, 30]) == Answer(204, {}, b"", True)


def test_a_cut_answer_is_refused() -> None:
    """A connection that ends in the middle of a body is an error, not a shorter body."""
    with pytest.raises(BadAnswer):
        read(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", [], close=True)


@pytest.mark.parametrize("bad", ["a\r\nB: c", "a\nb", "a\rb"])
def test_a_header_cannot_smuggle_a_line(bad: str) -> None:
    """Line ends in a header value are refused before anything is sent."""
    with pytest.raises(ValueError, match="one line"):
        encode_request("GET", "/", "127.0.0.1:1", {"X": bad}, None)


@given(st.text(max_size=40))
def test_quoting_is_plain_ascii(text: str) -> None:
    """Whatever a path holds, its quoted form is unreserved ASCII."""
    try:
        quoted = quote(text)
    except UnicodeEncodeError:  # lone surrogates that are no undecodable bytes
        return
    assert quoted.isascii()
    assert not set(quoted) & set(' \r\n"<>?#&+')


def test_queries_are_encoded() -> None:
    """Names and values cannot change the query's shape."""
    assert encode_query([("a", "b&c=d"), ("e", "ü")]) == "?a=b%26c%3Dd&e=%C3%BC"
    assert encode_query([]) == ""
