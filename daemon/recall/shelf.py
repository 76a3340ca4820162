"""One namespace in memory: its words, its vectors and the numbers its rows are ranked by."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...storage.shelf_rows import ShelfRow
from .columns import FOREVER, NOWHERE, Columns
from .facts import NOTHING, facts_of
from .places import Places, Turns
from .postings import EMPTY, NO_ENTRIES, Entries, Postings
from .terms import tag_id, term_ids

KINDS = (
    "note",
    "preference",
    "correction",
    "failure",
    "devops",
    "project-knowledge",
    "solution",
    "conversation",
)
_KIND_CODE = {kind: code for code, kind in enumerate(KINDS, 1)}
CONVERSATION = _KIND_CODE["conversation"]
STATUSES = ("active", "superseded", "archived", "quarantined")
ACTIVE, SUPERSEDED = 0, 1
# A new part of the index this small is merged into the large one only now and then.
_MERGE_SHARE = 8
_MERGE_LEAST = 20_000


class State(NamedTuple):
    """What a recall sees of a shelf: slots below `count`, and the indexes over them."""

    size: int
    live: int
    total_words: float
    words: tuple[Postings, ...]
    tags: tuple[Postings, ...]
    actors: frozenset[str]
    sessions: int
    has_turns: bool


class Names(NamedTuple):
    """What the numbers in the columns `session` and `actor` stand for."""

    sessions: list[str]
    actors: list[str]


class _Counted(NamedTuple):
    """What rows add to the indexes."""

    words: Entries
    tags: Entries


class Shelf:
    """The rows of one namespace. `fill` comes first if at all; then `replace` is called under the
    owner's lock, the rest freely.

    A changed row gets a new slot and its old one dies, so that a recall under way never sees half
    an edit; dead slots are swept when the owner makes the shelf anew (see `dead_share`).
    One that is not `indexed` keeps the columns only: its rows are matched by SQLite.
    """

    def __init__(self, dimension: int, capacity: int = 64, *, indexed: bool = True) -> None:
        self._indexed = indexed
        self.columns = Columns(dimension, capacity)
        self.state = State(0, 0, 0.0, (EMPTY,), (EMPTY,), frozenset(), 0, False)
        self._places = Places()
        self._turns = Turns()
        self._sessions: dict[str, int] = {}
        self._actors: dict[str, int] = {}

    @classmethod
    def restored(cls, columns: Columns, state: State, names: Names) -> Shelf:
        """A shelf as it was when `fill` ended, from what `names` and its fields said then."""
        shelf = cls(columns.dimension, 0)
        shelf.columns, shelf.state = columns, state
        shelf._sessions = {name: number for number, name in enumerate(names.sessions)}
        shelf._actors = {name: number for number, name in enumerate(names.actors)}
        shelf._places.settle(columns, state.size)
        return shelf

    def fill(self, parts: Iterable[Sequence[ShelfRow]]) -> None:
        """Put in all rows of a namespace, in the order of their row ids, into an empty shelf."""
        words, tags = [NO_ENTRIES], [NO_ENTRIES]
        size = 0
        for rows in parts:
            counted = self._append(size, rows)
            words.append(counted.words)
            tags.append(counted.tags)
            size += len(rows)
        self._places.settle(self.columns, size)
        self._turns.settle()
        self.state = self._shown(size)._replace(
            live=size,
            total_words=float(self.columns.words[:size].sum()),
            words=(Postings.of(Entries.joined(words)),),
            tags=(Postings.of(Entries.joined(tags)),),
        )

    def replace(self, rids: Iterable[int], rows: Sequence[ShelfRow]) -> None:
        """Forget the rows `rids`, then add `rows`: what is there of them now."""
        state = self.state
        lost, lost_words = self._kill(rids)
        start, end = state.size, state.size + len(rows)
        counted = self._append(start, rows)
        won_words = float(self.columns.words[start:end].sum())
        # One assignment: a recall must not see words of slots it does not know of.
        self.state = self._shown(end)._replace(
            live=state.live - lost + len(rows),
            total_words=state.total_words - lost_words + won_words,
            words=_extended(state.words, counted.words),
            tags=_extended(state.tags, counted.tags),
        )

    def set_vectors(self, rids: Sequence[int], vectors: bytes) -> None:
        """Give rows their stored vectors (`len(rids)` of them, joined).

        Rows that are not here are passed over, and so are vectors of another dimension.
        """
        if not rids or len(vectors) != len(rids) * self.columns.dimension:
            return
        given = np.frombuffer(vectors, dtype=np.int8).reshape(len(rids), -1)
        slots = self._places.find(self.columns, rids)
        here = slots != NOWHERE
        self.columns.set_vectors(slots[here], given[here])

    def names(self) -> Names:
        """The sessions and actors that the columns give by number, in that order."""
        return Names(list(self._sessions), list(self._actors))

    def lacking_vectors(self) -> list[int]:
        """The row ids of living rows without a vector; empty where there are no vectors at all."""
        c, size = self.columns, self.state.size
        if not c.dimension:
            return []
        lacking: list[int] = c.rid[:size][c.alive[:size] & (c.inverse_length[:size] == 0)].tolist()
        return lacking

    def missing_from(self, present: Sequence[int]) -> list[int]:
        """The row ids of living rows that are not among those `present`."""
        c, size = self.columns, self.state.size
        rids: list[int] = np.setdiff1d(
            c.rid[:size][c.alive[:size]], np.array(present, np.int64)
        ).tolist()
        return rids

    def actor_code(self, name: str) -> int:
        """The number `columns.actor` has for this lower-case name, or one no row has."""
        return self._actors.get(name, NOWHERE - 1)

    def dead_share(self) -> float:
        """How much of the shelf is taken by slots of rows that changed or went."""
        count = self.state.size
        return 1 - self.state.live / count if count else 0.0

    def bytes_used(self) -> int:
        """Roughly the memory this shelf takes."""
        indexes = sum(part.bytes_used() for part in (*self.state.words, *self.state.tags))
        return (
            self.columns.bytes_used()
            + indexes
            + self._places.bytes_used()
            + self._turns.bytes_used()
        )

    def _shown(self, size: int) -> State:
        """The state with what the columns and names hold by now; not its indexes and sums."""
        before = self.state.size
        return self.state._replace(
            size=size,
            actors=frozenset(self._actors) - _NO_NAMES,
            sessions=len(self._sessions),
            has_turns=self.state.has_turns or bool((self.columns.turn[before:size] >= 0).any()),
        )

    def _kill(self, rids: Iterable[int]) -> tuple[int, float]:
        at = self._places.remove(self.columns, list(rids))
        self.columns.alive[at] = False
        return len(at), float(self.columns.words[at].sum())

    def _append(self, start: int, rows: Sequence[ShelfRow]) -> _Counted:
        """Fill the slots from `start` on; the rows' words and tags, counted."""
        self.columns.reserve(start + len(rows))
        words: list[tuple[int, list[int]]] = []
        tags: list[tuple[int, list[int]]] = []
        for slot, row in enumerate(rows, start):
            self._fill(slot, row)
            is_turn = row.kind == "conversation"
            if is_turn and row.session is not None:
                self._link(slot, row.session, row.turn)
            if self._indexed:
                words.append((slot, self._words(slot, row, is_turn)))
            if row.tags:
                tags.append((slot, [tag_id(tag) for tag in row.tags]))
            self._places.put(row.rid, slot)
            self.columns.alive[slot] = True
        return _Counted(Entries.of(words), Entries.of(tags))

    def _words(self, slot: int, row: ShelfRow, is_turn: bool) -> list[int]:
        words = term_ids(row.content if row.detail is None else f"{row.content}\n{row.detail}")
        self.columns.facts[slot] = facts_of(row.content, len(words)) if is_turn else NOTHING
        words += term_ids(_labels(row))
        self.columns.words[slot] = len(words)
        return words

    def _fill(self, slot: int, row: ShelfRow) -> None:
        c = self.columns
        c.rid[slot] = row.rid
        c.created[slot] = row.created
        c.at[slot] = row.created if row.observed is None else row.observed
        c.begins[slot] = -FOREVER if row.valid_from is None else row.valid_from
        c.ends[slot] = _end(row)
        c.importance[slot] = row.importance
        c.kind[slot] = _KIND_CODE.get(row.kind, 0)
        c.status[slot] = STATUSES.index(row.status) if row.status in STATUSES else len(STATUSES)
        c.by_user[slot] = row.role == "user"
        c.by_assistant[slot] = row.role == "assistant"
        if row.actor:
            c.actor[slot] = self._actors.setdefault(row.actor.lower(), len(self._actors))

    def _link(self, slot: int, session: str, turn: int | None) -> None:
        number = self._sessions.setdefault(session, len(self._sessions))
        c = self.columns
        c.session[slot] = number
        if turn is None:
            return
        c.turn[slot] = turn
        self._turns.link(c, slot)


_NO_NAMES = frozenset({"user", "assistant", "system", "human", "ai", "bot", "tool", "agent"})


def kind_codes(kinds: Iterable[str]) -> list[int]:
    """The codes of these kinds; unknown ones get a code that no row has."""
    return [_KIND_CODE.get(kind, 255) for kind in kinds]


def _end(row: ShelfRow) -> int:
    """When the row stops being true: its valid_to, or when it was superseded."""
    if row.status == "superseded":
        return min(row.updated, FOREVER if row.valid_to is None else row.valid_to)
    return FOREVER if row.valid_to is None else row.valid_to


def _labels(row: ShelfRow) -> str:
    """Words that belong to a row without being in its text: tags, who spoke, the date in words."""
    labels = " ".join(row.tags)
    if row.kind != "conversation":
        return labels
    spoken = time.strftime("%d %B %Y", time.gmtime((row.observed or row.created) / 1000))
    return f"{labels} {row.actor or ''} {spoken}"


def _extended(parts: tuple[Postings, ...], fresh: Entries) -> tuple[Postings, ...]:
    """The index with more entries: in its small last part, or merged into one when that is large.

    The other way round every change would sort the whole index again.
    """
    if not len(fresh.terms):
        return parts
    large, small = parts[0], parts[1:]
    added = Entries.joined([*(part.entries() for part in small), fresh])
    if len(added.terms) > max(_MERGE_LEAST, large.size() // _MERGE_SHARE) or not large.size():
        return (Postings.of(Entries.joined([large.entries(), added])),)
    return (large, Postings.of(added))
