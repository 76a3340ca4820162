"""Storing, reading, editing, forgetting and undoing."""

from __future__ import annotations

import pytest
from recalld.storage import drafts, edits, fulltext, history, memories
from recalld.storage.drafts import Draft
from recalld.storage.faults import ForeignRow, Invalid, MissingRow, NothingToUndo, StaleVersion
from recalld.storage.scope import Scope
from recalld.storage.transaction import Transaction

from tests.storage.opened import HERE, SCOPE, THERE, Opened


def test_a_memory_comes_back_as_stored(opened: Opened) -> None:
    """Every column of a draft is read back as it was given."""
    draft = Draft(
        HERE, "Use tabs.", kind="preference", detail="Because.", tags=("style", "ä"),
        importance=0.9, source={"agent": "a", "files": ["x.py"]}, session="s", turn=3, actor="Ann",
        observed_at="2026-01-02T03:04:05.000Z", role="user",
    )  # fmt: skip
    memory = opened.get(opened.add(draft).ulid)
    for name in ("content", "kind", "detail", "tags", "importance", "source", "session", "turn"):
        assert getattr(memory, name) == getattr(draft, name)
    assert (memory.namespace, memory.status, memory.version) == (HERE, "active", 1)
    assert memory.created_at == memory.updated_at


def test_the_same_text_is_stored_once(opened: Opened) -> None:
    """An exact duplicate answers with the first memory, which gains evidence."""
    first = opened.add(Draft(HERE, "Same."))
    again = opened.add(Draft(HERE, "Same."))
    assert (first.result, again.result) == ("stored", "duplicate")
    assert again.ulid == first.ulid
    assert opened.get(first.ulid).evidence == 2


@pytest.mark.parametrize(
    "other",
    [
        Draft(THERE, "Same."),
        Draft(HERE, "Same.", kind="solution"),
        Draft(HERE, "Same.", detail="More."),
    ],
)
def test_other_namespace_kind_or_detail_is_no_duplicate(opened: Opened, other: Draft) -> None:
    """Only the same text of the same kind in the same namespace is a duplicate."""
    opened.add(Draft(HERE, "Same."))
    assert opened.add(other).result == "stored"


def test_conversation_turns_repeat(opened: Opened) -> None:
    """People say the same thing twice: turns are never merged."""
    turns = [Draft(HERE, "Yes.", kind="conversation", session="s", turn=turn) for turn in (1, 2)]
    assert {opened.add(turn).result for turn in turns} == {"stored"}


def test_a_successor_retires_what_it_supersedes(opened: Opened) -> None:
    """The older memory is marked, pointed forward and given a version; the new one points back."""
    old = opened.note("Port 80.")
    new = opened.add(Draft(HERE, "Port 81.", supersedes=old))
    assert new.result == "superseded"
    before = opened.get(old)
    assert (before.status, before.superseded_by, before.version) == ("superseded", new.ulid, 2)
    assert opened.get(new.ulid).supersedes == old


def test_superseding_across_namespaces_is_refused(opened: Opened) -> None:
    """A draft cannot retire a memory of another namespace, and nothing of it is stored."""
    foreign = opened.note("Theirs.", THERE)
    with pytest.raises(MissingRow):
        opened.add(Draft(HERE, "Mine.", supersedes=foreign))
    assert opened.read(lambda c: fulltext.match(c, SCOPE, ["mine"])) == []


@pytest.mark.parametrize("content", ["", "  \n"])
def test_empty_text_is_refused(opened: Opened, content: str) -> None:
    """There is no memory without words."""
    with pytest.raises(Invalid):
        opened.note(content)


@pytest.mark.parametrize(
    "draft",
    [
        Draft(HERE, "half \ud83d"),
        Draft(HERE, "x", tags=("\ud83d",)),
        Draft(HERE, "x", source={"n": 1 << 70}),
        Draft(HERE, "x", turn=1 << 63),
    ],
)
def test_what_cannot_be_written_leaves_no_trace(opened: Opened, draft: Draft) -> None:
    """A draft SQLite cannot hold is refused before its first write, without a savepoint."""

    def batch(tx: Transaction) -> None:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            drafts.insert(tx, draft, by="grant")
        drafts.insert(tx, Draft(HERE, "good"), by="grant")

    opened.write(batch)
    assert opened.read(lambda c: c.execute("SELECT count(*) FROM memories").get) == 1
    assert opened.read(lambda c: c.execute("SELECT count(*) FROM fts").get) == 1
    assert opened.read(lambda c: c.execute("SELECT count(*) FROM versions").get) == 1


def test_a_foreign_memory_does_not_exist(opened: Opened) -> None:
    """Reading, editing, forgetting, undoing and history outside the scope say "missing"."""
    ulid = opened.note("Secret.", THERE)
    with pytest.raises(MissingRow):
        opened.get(ulid)
    with pytest.raises(MissingRow):
        opened.edit(ulid, content="x")
    with pytest.raises(MissingRow):
        opened.forget(ulid)
    with pytest.raises(MissingRow):
        opened.undo(ulid)
    with pytest.raises(MissingRow):
        opened.read(lambda c: history.versions(c, SCOPE, ulid))
    rid = opened.get(ulid, Scope([THERE])).rid
    assert opened.read(lambda c: memories.fetch(c, SCOPE, [rid])) == {}
    assert opened.read(lambda c: memories.signals(c, SCOPE, [rid])) == []


def test_fetch_and_signals_read_many_rows(opened: Opened) -> None:
    """Rows of several namespaces come back together, each with its own namespace's name."""
    both = Scope([HERE, THERE])
    ulids = [opened.note("a"), opened.note("b", THERE)]
    rids = [opened.get(ulid, both).rid for ulid in ulids]
    found = opened.read(lambda c: memories.fetch(c, both, [*rids, 999]))
    assert [found[rid].namespace for rid in rids] == [HERE, THERE]
    assert {one.rid for one in opened.read(lambda c: memories.signals(c, both, rids))} == set(rids)


def test_an_edit_makes_a_version(opened: Opened) -> None:
    """Edited columns change, the version grows, and the new words are found instead of the old."""
    ulid = opened.note("Alpha words.")
    edited = opened.edit(ulid, content="Omega words.", tags=["greek"])
    assert edited == opened.get(ulid)
    assert (edited.content, edited.tags, edited.version) == ("Omega words.", ("greek",), 2)
    assert opened.read(lambda c: fulltext.match(c, SCOPE, ["alpha"])) == []
    assert len(opened.read(lambda c: fulltext.match(c, SCOPE, ["greek"]))) == 1


def test_an_edit_that_changes_nothing_makes_no_version(opened: Opened) -> None:
    """The same values again leave the memory at its version."""
    ulid = opened.note("Same.")
    assert opened.edit(ulid, content="Same.", tags=[]).version == 1


@pytest.mark.parametrize("changes", [{"created_by": "x"}, {"content": " "}, {"status": "gone"}])
def test_impossible_edits_are_refused(opened: Opened, changes: dict[str, object]) -> None:
    """Unknown columns, empty text and unknown statuses are refused."""
    ulid = opened.note("Same.")
    with pytest.raises(Invalid):
        opened.edit(ulid, **changes)


def test_an_outdated_edit_is_refused(opened: Opened) -> None:
    """`if_version` lets only one of two editors win; the other learns the current version."""
    ulid = opened.note("One.")
    opened.edit(ulid, content="Two.")
    with pytest.raises(StaleVersion) as caught:
        opened.write(
            lambda tx: edits.update(tx, SCOPE, ulid, {"content": "3"}, by="g", if_version=1)
        )
    assert caught.value.current == 2


def test_others_rows_are_protected(opened: Opened) -> None:
    """With `only_own`, a grant cannot change or forget what another one wrote."""
    ulid = opened.note("Mine.")
    with pytest.raises(ForeignRow):
        opened.write(lambda tx: edits.forget(tx, SCOPE, ulid, by="other", only_own=True))
    with pytest.raises(ForeignRow):
        opened.write(
            lambda tx: edits.update(tx, SCOPE, ulid, {"content": "x"}, by="other", only_own=True)
        )
    opened.write(lambda tx: edits.forget(tx, SCOPE, ulid, by="grant", only_own=True))


def test_undo_walks_back(opened: Opened) -> None:
    """Each undo goes one change further back, and an edit in between starts from there."""
    ulid = opened.note("A")
    opened.edit(ulid, content="B")
    opened.edit(ulid, content="C")
    assert [opened.undo(ulid).content for _ in range(2)] == ["B", "A"]
    with pytest.raises(NothingToUndo):
        opened.undo(ulid)
    assert opened.edit(ulid, content="D").version == 6
    assert opened.undo(ulid).content == "A"


def test_undo_brings_back_the_forgotten(opened: Opened) -> None:
    """A forgotten memory returns with its id, text and search entry, at a row never used before."""
    ulid = opened.note("Lost treasure.")
    rid = opened.forget(ulid).rid
    with pytest.raises(MissingRow):
        opened.get(ulid)
    assert opened.read(lambda c: fulltext.match(c, SCOPE, ["treasure"])) == []
    back = opened.undo(ulid)
    assert (back.content, back.version) == ("Lost treasure.", 3)
    assert back.rid != rid
    assert len(opened.read(lambda c: fulltext.match(c, SCOPE, ["treasur"]))) == 1


def test_undo_takes_back_a_succession(opened: Opened) -> None:
    """Undoing the retirement of a memory makes it active again."""
    old = opened.note("Port 80.")
    opened.add(Draft(HERE, "Port 81.", supersedes=old))
    back = opened.undo(old)
    assert (back.status, back.superseded_by) == ("active", None)
