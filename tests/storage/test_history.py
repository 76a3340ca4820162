"""The signed chain of every namespace's history."""

from __future__ import annotations

import pytest
from recalld.storage import history

from tests.storage.opened import HERE, SCOPE, THERE, Opened, is_signed, sign


def _chain(opened: Opened, ns: int = 1) -> history.ChainReport:
    return opened.read(lambda c: history.verify(c, ns, is_signed))


def test_versions_tell_the_whole_story(opened: Opened) -> None:
    """History names each change, who made it, and the state after it, also once forgotten."""
    ulid = opened.note("A")
    opened.edit(ulid, content="B")
    opened.forget(ulid)
    opened.undo(ulid)
    told = opened.read(lambda c: history.versions(c, SCOPE, ulid))
    assert [entry.op for entry in told] == ["store", "edit", "forget", "undo"]
    assert [entry.memory["content"] for entry in told] == ["A", "B", "B", "B"]
    assert [entry.version for entry in told] == [1, 2, 3, 4]
    assert told[-1].restores == 2
    assert {entry.by for entry in told} == {"grant"}


def test_each_namespace_has_its_own_chain(opened: Opened) -> None:
    """Chains verify independently and count their own entries only."""
    for number in range(5):
        opened.note(f"here {number}")
    opened.note("there", THERE)
    assert _chain(opened, 1) == (5, None, "")
    assert _chain(opened, 2) == (1, None, "")
    assert _chain(opened, 3) == (0, None, "")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("UPDATE versions SET doc = CAST('{}' AS BLOB) WHERE id = 2", "document was changed"),
        ("UPDATE versions SET by = 'someone' WHERE id = 2", "columns were changed"),
        ("UPDATE versions SET signature = zeroblob(64) WHERE id = 2", "signature is not ours"),
        ("DELETE FROM versions WHERE id = 2", "missing or was moved"),
        ("DELETE FROM versions WHERE id = 3", "at its end are missing"),
    ],
)
def test_tampering_is_found(opened: Opened, damage: str, reason: str) -> None:
    """Changing, dropping or cutting entries afterwards breaks the chain."""
    for number in range(3):
        opened.note(f"here {number}")

    opened.write(lambda tx: tx.connection.execute(damage).fetchall())
    assert reason in _chain(opened).reason


def test_a_signature_covers_the_chain(opened: Opened) -> None:
    """What is signed is the hash over the entry before and the document."""
    opened.note("here")
    row = opened.read(
        lambda c: c.execute("SELECT prev_hash, doc, hash, signature FROM versions").get
    )
    assert row[0] == history.GENESIS
    assert row[2] == history.chain_hash(row[0], row[1])
    assert row[3] == sign(row[2])
    assert HERE.encode() in row[1]
