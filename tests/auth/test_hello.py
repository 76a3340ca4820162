"""The handshake: only who knows the record's secret can answer, and only for itself."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from recalld.auth import hello
from recalld.auth.record import API, Record


@pytest.fixture
def record() -> Record:
    """A record with a known secret."""
    return Record(
        "0123456789abcdef", 1, "", "", "127.0.0.1", 258, "ab" * 32, "0.1.0", API, "spawn", "now"
    )


def answer(record: Record, nonce: str) -> str:
    """What the daemon of the record answers."""
    return hello.prove(record.secret, record.instance, record.port, nonce)


def test_the_right_answer_is_accepted(record: Record) -> None:
    """Prover and checker agree on a fresh nonce."""
    nonce = hello.new_nonce()
    assert len(bytes.fromhex(nonce)) == 32
    assert hello.check(record, nonce, answer(record, nonce))


def test_the_transcript_is_as_documented(record: Record) -> None:
    """Anyone can write a client from the documentation: context, instance, port, nonce."""
    nonce = "00" * 31 + "01"
    transcript = b"recalld hello v1\0" + b"0123456789abcdef" + b"\0" + b"\x01\x02"
    transcript += b"\0" * 31 + b"\x01"
    mac = hmac.new(b"\xab" * 32, transcript, hashlib.sha256).hexdigest()
    assert answer(record, nonce) == mac


def test_a_replayed_answer_is_refused(record: Record) -> None:
    """An answer to one nonce is none to another, and nonces differ."""
    one, other = hello.new_nonce(), hello.new_nonce()
    assert one != other
    assert not hello.check(record, other, answer(record, one))


@pytest.mark.parametrize(
    "change",
    [{"secret": "ac" * 32}, {"instance": "0123456789abcdee"}, {"port": 259}],
)
def test_another_daemons_answer_is_refused(record: Record, change: dict[str, object]) -> None:
    """A relay to another instance, port or secret does not pass."""
    nonce = hello.new_nonce()
    changed = Record._make({**record._asdict(), **change}.values())
    assert not hello.check(record, nonce, answer(changed, nonce))


@pytest.mark.parametrize("mac", ["", "00", "ü" * 64, "\udcff", "A" * 64])
def test_a_nonsense_answer_is_refused(record: Record, mac: str) -> None:
    """Whatever an imposter sends, the check says no instead of crashing."""
    assert not hello.check(record, hello.new_nonce(), mac)


def test_case_of_the_answer_matters_not_by_accident(record: Record) -> None:
    """The answer is lower-case hex, exactly."""
    nonce = hello.new_nonce()
    assert not hello.check(record, nonce, answer(record, nonce).upper())


@pytest.mark.parametrize("nonce", ["", "00", "00" * 31, "00" * 33, "zz" * 32, "\u0660" * 64])
def test_a_nonce_of_the_wrong_size_is_refused(record: Record, nonce: str) -> None:
    """The daemon proves itself for whole nonces only."""
    with pytest.raises(ValueError, match=r"32 bytes|hexadecimal"):
        answer(record, nonce)
