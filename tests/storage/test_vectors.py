"""Vectors: written with their rows, found by nearness, never left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recalld.storage import chunks, integrity, vectors
from recalld.storage.chunks import Chunks
from recalld.storage.faults import NoVectors
from recalld.storage.scope import Scope, identify
from recalld.storage.transaction import Change
from recalld.storage.vectors import Item, Pending, Space

from tests.storage.opened import HERE, THERE, Opened

DIM = 8


def _space(opened: Opened) -> Space:
    return opened.write(lambda tx: vectors.ensure_space(tx, "test", "model", DIM))


def _vector(number: int) -> bytes:
    """A direction of its own for each number below 100."""
    return bytes([100, number + 1, *[1] * (DIM - 2)])


def _pending(opened: Opened, space: Space, limit: int = 1000) -> list[Pending]:
    return opened.read(lambda c: vectors.pending(c, space, limit))


def _embed(opened: Opened, space: Space) -> int:
    """Give every waiting row a vector made from its number."""
    items = [
        Item(row.rid, row.ulid, row.version, _vector(int(row.content.split()[-1])))
        for row in _pending(opened, space)
    ]
    return opened.write(lambda tx: vectors.put(tx, space, items))


def test_every_row_waits_for_its_vector_once(opened: Opened) -> None:
    """Rows without a vector are pending, newest first, until they have one."""
    space = _space(opened)
    for number in range(5):
        opened.note(f"row {number}")
    assert [row.content for row in _pending(opened, space, 2)] == ["row 4", "row 3"]
    assert opened.read(lambda c: vectors.pending_count(c, space)) == 5
    assert _embed(opened, space) == 5
    assert _pending(opened, space) == []
    assert opened.read(lambda c: vectors.pending_count(c, space)) == 0


def test_a_namespace_has_its_own_vectors(opened: Opened) -> None:
    """All vectors of a namespace are read, and no others, whatever was deleted in between."""
    space, known = _space(opened), Chunks()

    def numbers(name: str) -> set[int]:
        (ns,) = opened.read(lambda c: identify(c, Scope([name])))
        rids, joined = opened.read(lambda c: chunks.load(c, space, ns))
        blocks = opened.read(lambda c: list(chunks.blocks(c, space, known.of(c, space, ns))))
        assert [rid for some, _ in blocks for rid in some] == rids
        assert b"".join(part for _, part in blocks) == joined
        return {number - 1 for number in joined[1::DIM]}

    ulids: list[str] = []
    for number in range(0, 90, 2):
        ulids.append(opened.note(f"row {number}"))
        opened.note(f"row {number + 1}", THERE)
    _embed(opened, space)
    assert numbers(HERE) == set(range(0, 90, 2))
    assert numbers(THERE) == set(range(1, 90, 2))
    for ulid in ulids[:40]:
        opened.forget(ulid)
    assert numbers(HERE) == {80, 82, 84, 86, 88}
    for number in range(70, 80):
        opened.note(f"new row {number}")
    _embed(opened, space)
    assert numbers(HERE) == {*range(70, 80), 80, 82, 84, 86, 88}


def test_chunks_of_a_space_made_anew_are_looked_for_again(opened: Opened) -> None:
    """A dropped space whose table name comes back does not leave wrong chunks behind."""
    known = Chunks()
    for name in ("first", "second"):
        space = opened.write(lambda tx, n=name: vectors.ensure_space(tx, n, "m", DIM))  # type: ignore[misc]  # n is bound
        for number in range(3 if name == "first" else 1):
            opened.note(f"{name} row {number}", THERE if name == "first" else HERE)
        _embed(opened, space)
        found = opened.read(lambda c, s=space: known.of(c, s, 1))  # type: ignore[misc]  # s is bound
        assert found == opened.read(lambda c, s=space: chunks.chunks_of(c, s, 1))  # type: ignore[misc]  # s is bound
        opened.write(lambda tx, s=space: vectors.drop_space(tx, s))  # type: ignore[misc]  # s is bound


def test_a_namespace_is_loaded_whole(opened: Opened) -> None:
    """Loading gives exactly the namespace's vectors, also after many were removed and replaced."""
    space = _space(opened)
    ulids = [opened.note(f"row {number % 90}. {number} {number % 90}") for number in range(300)]
    opened.note("row 1", THERE)
    _embed(opened, space)
    for ulid in ulids[::3]:
        opened.forget(ulid)
    for ulid in ulids[1::30]:
        opened.edit(ulid, content="edited 7")
    _embed(opened, space)
    rids, joined = opened.read(lambda c: chunks.load(c, space, 1))
    assert len(rids) == len(set(rids)) == 200
    assert len(joined) == 200 * DIM
    loaded = {rid: joined[at * DIM : (at + 1) * DIM] for at, rid in enumerate(rids)}
    assert loaded == opened.read(lambda c: vectors.get(c, space, rids))


def test_an_outdated_vector_is_not_written(opened: Opened) -> None:
    """A vector made from a text that changed meanwhile, or from a forgotten one, is dropped."""
    space = _space(opened)
    changed, gone = opened.note("row 1"), opened.note("row 2")
    waiting = _pending(opened, space)
    opened.edit(changed, content="row 3")
    opened.forget(gone)
    items = [Item(row.rid, row.ulid, row.version, _vector(0)) for row in waiting]
    assert opened.write(lambda tx: vectors.put(tx, space, items)) == 0
    assert [row.content for row in _pending(opened, space)] == ["row 3"]


def test_a_new_text_takes_the_vector_away(opened: Opened) -> None:
    """After an edit of the text the row is pending again; other edits keep the vector."""
    space = _space(opened)
    ulid = opened.note("row 1")
    _embed(opened, space)
    opened.edit(ulid, tags=["x"])
    assert _pending(opened, space) == []
    opened.edit(ulid, content="row 2")
    assert len(_pending(opened, space)) == 1


def test_writing_a_vector_is_announced(opened: Opened) -> None:
    """Subscribers hear of vectors too, with the row's namespace."""
    space = _space(opened)
    opened.note("row 1")
    heard: list[Change] = []
    opened.store.writer.subscribe(heard.extend)
    _embed(opened, space)
    assert [(change.op, change.namespace) for change in heard] == [("embed", HERE)]


def test_a_vector_of_the_wrong_size_is_refused(opened: Opened) -> None:
    """It fails its own job and leaves the older vector in place."""
    space = _space(opened)
    opened.note("row 1")
    _embed(opened, space)
    row = opened.read(lambda c: c.execute("SELECT rid, ulid, version FROM memories").get)
    with pytest.raises(Exception, match="imension"):
        opened.write(lambda tx: vectors.put(tx, space, [Item(row[0], row[1], row[2], b"short")]))
    assert opened.read(lambda c: vectors.get(c, space, [row[0]])) == {row[0]: _vector(1)}


def test_spaces_are_kept_apart(opened: Opened) -> None:
    """Another model has its own vectors, and a name cannot change its model."""
    first = _space(opened)
    opened.note("row 1")
    _embed(opened, first)
    second = opened.write(lambda tx: vectors.ensure_space(tx, "other", "model two", 4, "query: "))
    assert len(_pending(opened, second)) == 1
    assert _space(opened) == first
    assert opened.read(vectors.spaces) == [first, second]
    with pytest.raises(ValueError, match="belongs to"):
        opened.write(lambda tx: vectors.ensure_space(tx, "test", "model two", DIM))


def test_nothing_goes_stale_without_the_extension(
    place: Path, reopen: Callable[[], Opened]
) -> None:
    """Rows changed while the extension was missing lose their vectors once it is back."""
    opened = reopen()
    space = _space(opened)
    changed, gone, same = (opened.note(f"row {number}") for number in range(3))
    _embed(opened, space)
    opened.close()
    bare = Opened(place, vectors=False)
    bare.edit(changed, content="row 9")
    with pytest.raises(NoVectors):
        bare.write(lambda tx: vectors.ensure_space(tx, "another", "m", DIM))
    assert bare.read(vectors.spaces) == [space]
    bare.forget(gone)
    bare.close()
    opened = reopen()
    assert [row.content for row in _pending(opened, space)] == ["row 9"]
    kept = opened.get(same).rid
    assert opened.read(lambda c: chunks.load(c, space, 1))[0] == [kept]
    assert opened.write(lambda tx: integrity.full(tx.connection)).problems == []
