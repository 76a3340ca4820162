"""Whatever is done to memories, rows, full text, vectors, counts and history agree."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from recalld.storage import analyser, chunks, fulltext, history, integrity, vectors
from recalld.storage.drafts import Draft
from recalld.storage.faults import NothingToUndo
from recalld.storage.vectors import Item, Space

from tests.storage.opened import HERE, SCOPE, Opened, is_signed

DIM = 8


class Walk:
    """A store, and what it must hold: the text of every living memory and the dead ones."""

    def __init__(self, opened: Opened, seed: int) -> None:
        self.opened = opened
        self.dice = random.Random(seed)
        self.alive: dict[str, str] = {}
        self.dead: list[str] = []
        self.space: Space = opened.write(lambda tx: vectors.ensure_space(tx, "walk", "m", DIM))
        self._words = 0

    def word(self) -> str:
        """A word no other memory has."""
        self._words += 1
        return f"word{'abcdefghij'[self._words % 10]}{self._words}x"

    def step(self) -> None:
        """Do one thing."""
        steps: list[Callable[[], None]] = [
            self.add, self.add, self.edit, self.retag, self.forget, self.undo, self.supersede,
            self.archive, self.embed,
        ]  # fmt: skip
        self.dice.choice(steps)()

    def add(self) -> None:
        """Store a new memory."""
        text = self.word()
        self.alive[self.opened.note(text)] = text

    def any_alive(self) -> str | None:
        """One of the living, or None."""
        return self.dice.choice(list(self.alive)) if self.alive else None

    def edit(self) -> None:
        """Give a memory another text."""
        if ulid := self.any_alive():
            self.alive[ulid] = self.word()
            self.opened.edit(ulid, content=self.alive[ulid])

    def retag(self) -> None:
        """Change what leaves the text alone."""
        if ulid := self.any_alive():
            self.opened.edit(ulid, tags=[self.word()], importance=self.dice.random())

    def archive(self) -> None:
        """Change the status."""
        if ulid := self.any_alive():
            self.opened.edit(ulid, status=self.dice.choice(["active", "archived"]))

    def forget(self) -> None:
        """Forget a memory."""
        if ulid := self.any_alive():
            self.opened.forget(ulid)
            del self.alive[ulid]
            self.dead.append(ulid)

    def undo(self) -> None:
        """Undo the last change of a memory, often of a forgotten one."""
        ulid = self.dice.choice([*self.dead, *self.alive]) if self.alive or self.dead else None
        if ulid is None:
            return
        try:
            self.alive[ulid] = self.opened.undo(ulid).content
        except NothingToUndo:
            return
        if ulid in self.dead:
            self.dead.remove(ulid)

    def supersede(self) -> None:
        """Store a successor."""
        if ulid := self.any_alive():
            text = self.word()
            self.alive[self.opened.add(Draft(HERE, text, supersedes=ulid)).ulid] = text

    def embed(self) -> None:
        """Give some waiting rows their vectors."""
        waiting = self.opened.read(lambda c: vectors.pending(c, self.space, 5))
        items = [Item(*row[:3], bytes([row.rid % 100 + 1] * DIM)) for row in waiting]
        self.opened.write(lambda tx: vectors.put(tx, self.space, items))

    def check(self) -> None:
        """Compare the store with what it must hold."""
        report = self.opened.write(lambda tx: integrity.full(tx.connection))
        assert report.problems == []
        assert report.memories == len(self.alive)
        for ulid, text in self.alive.items():
            rid = self.opened.get(ulid).rid
            hits = self.opened.read(
                lambda c, t=text: fulltext.match(c, SCOPE, analyser.tokens(t)[:1])  # type: ignore[misc]  # t is bound
            )
            assert [hit for hit, _ in hits] == [rid], (ulid, text)
        self.check_vectors()
        assert self.opened.read(lambda c: history.verify(c, 1, is_signed)).reason == ""

    def check_vectors(self) -> None:
        """Vectors and waiting rows together are the living."""
        rids, joined = self.opened.read(lambda c: chunks.load(c, self.space, 1))
        waiting = self.opened.read(lambda c: vectors.pending(c, self.space, 10_000))
        living = sorted(self.opened.get(ulid).rid for ulid in self.alive)
        assert sorted([*rids, *(row.rid for row in waiting)]) == living
        assert len(joined) == len(rids) * DIM


@pytest.mark.parametrize("seed", range(3))
def test_everything_agrees_after_a_random_walk(reopen: Callable[[], Opened], seed: int) -> None:
    """Adding, editing, forgetting, undoing, superseding and embedding leave a whole store."""
    walk = Walk(reopen(), seed)
    for _ in range(4):
        for _ in range(40):
            walk.step()
        walk.check()
        walk.opened = reopen()
    walk.check()


def test_a_walk_reverts_completely(opened: Opened) -> None:
    """Undoing all changes of a memory leads back to its first text."""
    ulid = opened.note("first")
    for number in range(10):
        opened.edit(ulid, content=f"text {number}")
    for _ in range(10):
        opened.undo(ulid)
    assert opened.get(ulid).content == "first"
