"""JSON bodies: whatever arrives becomes a value or a 4xx, never a 5xx."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.auth.errors import InvalidRequest, MalformedBody
from recalld.daemon.http.bodies import decode, validate
from recalld.daemon.http.schemas import RecallRequest, StoreRequest

from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject, checked

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_FIELDS = st.sampled_from(["content", "query", "kind", "tags", "limit", "source"])
ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_FIELDS | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)

BROKEN = {
    "empty": b"",
    "not json": b"{",
    "not utf-8": b'{"content":"\xff\xfe"}',
    "surrogates as bytes": b'{"content":"\xed\xa0\x80"}',
    "bom": b"\xef\xbb\xbf{}",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000,
    "5000 digits": b'{"content":"x","importance":' + b"9" * 5000 + b"}",
    "infinity": b'{"content":"x","importance":1e400}',
    "nan": b'{"content":"x","importance":NaN}',
    "a list": b"[]",
    "a number": b"1",
    "null": b"null",
    "2^63": b'{"content":"x","importance":9223372036854775808}',
    "a bool for a number": b'{"content":"x","importance":true}',
    "text for a number": b'{"content":"x","importance":"1"}',
    "unknown field": b'{"content":"x","surprise":1}',
    "unknown kind": b'{"content":"x","kind":"secret"}',
    "blank content": b'{"content":" \\n "}',
    "year 99999": b'{"content":"x","observed_at":"99999-01-01T00:00:00Z"}',
    "year 0001": b'{"content":"x","observed_at":"0001-01-01T00:00:00+14:00"}',
    "not a time": b'{"content":"x","observed_at":"yesterday"}',
    "too many tags": json.dumps({"content": "x", "tags": [str(n) for n in range(99)]}).encode(),
    "long tag": json.dumps({"content": "x", "tags": ["t" * 5000]}).encode(),
    "a path for an id": b'{"content":"x","supersedes":"../../etc/x"}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_bodies_are_the_clients_fault(client: Http, name: str) -> None:
    """Every broken body is a 4xx with a sentence, and nothing is stored."""
    headers = {"Content-Type": "application/json"}
    reply = client.send("POST", "/v1/memories", raw=BROKEN[name], headers=headers)
    assert 400 <= reply.status < 500, reply
    assert reply.json["error"]["message"]
    assert client.get("/v1/memories").json["items"] == []


def test_shared_numbers_never_break_a_limit(client: Http, shared: Path) -> None:
    """Each hostile number as a limit gets an answer or a 4xx."""
    cases: list[JsonObject] = json.loads((shared / "cases" / "numbers.json").read_text())
    for case in cases:
        number: str = case.get("raw", "9" * 5000)
        body = b'{"query":"x","offset":' + number.encode() + b',"limit":' + number.encode() + b"}"
        headers = {"Content-Type": "application/json"}
        assert client.send("POST", "/v1/search", raw=body, headers=headers).status < 500, number


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_malformed(raw: bytes) -> None:
    """Decoding ends in a value or in MalformedBody, whatever the bytes."""
    with contextlib.suppress(MalformedBody):
        decode(raw)


@given(st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010), max_size=8))
def test_lone_surrogates_become_replacement_characters(text: str) -> None:
    """What JavaScript makes of half an emoji is mended, and all other text stays as it is."""
    mended = decode(json.dumps({"t": text}).encode())
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text_back = str(checked(mended)["t"])
    assert "\ufffd" in text_back or text_back == paired
    text_back.encode("utf-8")


def test_an_escaped_backslash_is_no_escape() -> None:
    """`\\\\ud800` in JSON is a backslash and letters, not a surrogate."""
    assert decode(rb'["\ud800", "\\ud800", "\ud83d\ude80"]') == ["\ufffd", "\\ud800", "\U0001f680"]


@given(ANYTHING)
def test_any_value_is_a_request_or_invalid(value: object) -> None:
    """Validation ends in a model or in InvalidRequest, whatever the value."""
    for model in (StoreRequest, RecallRequest):
        with contextlib.suppress(InvalidRequest):
            validate(model, value)


def test_an_error_does_not_quote_what_was_sent() -> None:
    """Errors end up in logs of others; what a user wrote does not."""
    with pytest.raises(InvalidRequest) as caught:
        validate(StoreRequest, {"content": "x", "kind": "my secret"})
    assert "secret" not in caught.value.message
