"""Repeated requests are answered, not repeated."""

from __future__ import annotations

import pytest
from recalld.storage import idempotency
from recalld.storage.faults import KeyReused
from recalld.storage.idempotency import Saved

from tests.storage.opened import Opened

SAVED = Saved(201, b'{"id":"x"}')


@pytest.fixture
def answered(opened: Opened) -> Opened:
    """A store with one answer saved."""
    opened.write(
        lambda tx: idempotency.save(
            tx, "grant", "key", b"digest", status=SAVED.status, body=SAVED.body
        )
    )
    return opened


def test_the_same_request_gets_the_same_answer(answered: Opened) -> None:
    """A repeated key with the same request is answered from the store."""
    found = answered.read(lambda c: idempotency.replay(c, "grant", "key", b"digest"))
    assert found == SAVED


def test_another_request_under_the_same_key_is_refused(answered: Opened) -> None:
    """A key belongs to one request."""
    with pytest.raises(KeyReused):
        answered.read(lambda c: idempotency.replay(c, "grant", "key", b"other"))


@pytest.mark.parametrize(("grant", "key"), [("grant", "other"), ("other", "key")])
def test_keys_belong_to_their_grant(answered: Opened, grant: str, key: str) -> None:
    """Another grant's key of the same name is another key."""
    assert answered.read(lambda c: idempotency.replay(c, grant, key, b"digest")) is None


def test_old_answers_expire(answered: Opened) -> None:
    """Answers from before the given time go, later ones stay."""
    assert answered.write(lambda tx: idempotency.expire(tx, "2020-01-01T00:00:00.000Z")) == 0
    assert answered.write(lambda tx: idempotency.expire(tx, "2999-01-01T00:00:00.000Z")) == 1
    assert answered.read(lambda c: idempotency.replay(c, "grant", "key", b"digest")) is None
