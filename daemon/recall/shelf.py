"""One namespace in memory: its words, its vectors and the numbers its rows are ranked by."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...storage.shelf_rows import ShelfRow
from .columns import FOREVER, NOWHERE, Columns
from .facts import NOTHING, facts_of
from .postings import EMPTY, Entries, Postings
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


class Shelf:
    """The rows of one namespace. `replace` is called under the owner's lock, the rest freely.

    A changed row gets a new slot and its old one dies, so that a recall under way never sees half
    an edit; dead slots are swept when the owner makes the shelf anew (see `dead_share`).
    One that is not `indexed` keeps the columns only: its rows are matched by SQLite.
    """

    def __init__(self, dimension: int, capacity: int = 64, *, indexed: bool = True) -> None:
        self._indexed = indexed
        self.columns = Columns(dimension, capacity)
        self.state = State(0, 0, 0.0, (EMPTY,), (EMPTY,), frozenset(), 0, False)
        self._slot: dict[int, int] = {}
        self._sessions: dict[str, int] = {}
        self._actors: dict[str, int] = {}
        self._turns: dict[tuple[int, int], int] = {}

    def replace(self, rids: Iterable[int], rows: Sequence[ShelfRow]) -> None:
        """Forget the rows `rids`, then add `rows`: what is there of them now."""
        state = self.state
        lost, lost_words = self._kill(rids)
        start = state.size
        self.columns.reserve(start + len(rows))
        counted = [self._put(start + at, row) for at, row in enumerate(rows)]
        live = state.live - lost + len(rows)
        self.state = State(
            size=start + len(rows),
            live=live,
            total_words=state.total_words
            - lost_words
            + float(self.columns.words[start : start + len(rows)].sum()),
            words=_extended(state.words, [(start + i, c) for i, (c, _) in enumerate(counted)]),
            tags=_extended(state.tags, [(start + i, t) for i, (_, t) in enumerate(counted)]),
            actors=frozenset(self._actors) - _NO_NAMES,
            sessions=len(self._sessions),
            has_turns=bool(self._turns),
        )

    def set_vectors(self, rids: Sequence[int], vectors: bytes) -> None:
        """Give rows their stored vectors (`len(rids)` of them, joined).

        Rows that are not here are passed over, and so are vectors of another dimension.
        """
        if not rids or len(vectors) != len(rids) * self.columns.dimension:
            return
        given = np.frombuffer(vectors, dtype=np.int8).reshape(len(rids), -1)
        slots = np.fromiter((self._slot.get(rid, NOWHERE) for rid in rids), np.int32, len(rids))
        here = slots != NOWHERE
        self.columns.set_vectors(slots[here], given[here])

    def actor_code(self, name: str) -> int:
        """The number `columns.actor` has for this lower-case name, or one no row has."""
        return self._actors.get(name, NOWHERE - 1)

    def dead_share(self) -> float:
        """How much of the shelf is taken by slots of rows that changed or went."""
        count = self.state.size
        return 1 - self.state.live / count if count else 0.0

    def bytes_used(self) -> int:
        """Roughly the memory this shelf takes."""
        indexes = sum(len(part) * 9 for part in (*self.state.words, *self.state.tags))
        return self.columns.bytes_used() + indexes + 110 * len(self._slot) + 180 * len(self._turns)

    def _kill(self, rids: Iterable[int]) -> tuple[int, float]:
        slots = [slot for rid in rids if (slot := self._slot.pop(rid, None)) is not None]
        at = np.array(slots, dtype=np.intp)
        self.columns.alive[at] = False
        return len(slots), float(self.columns.words[at].sum())

    def _put(self, slot: int, row: ShelfRow) -> tuple[dict[int, int], dict[int, int]]:
        """Fill a slot; the row's words and tags, counted."""
        self._fill(slot, row)
        is_turn = row.kind == "conversation"
        if is_turn and row.session is not None:
            self._link(slot, row.session, row.turn)
        words = self._words(slot, row, is_turn) if self._indexed else []
        self._slot[row.rid] = slot
        self.columns.alive[slot] = True
        return Counter(words), {tag_id(tag): 1 for tag in row.tags}

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
        self._turns[number, turn] = slot
        earlier = self._turns.get((number, turn - 1), NOWHERE)
        later = self._turns.get((number, turn + 1), NOWHERE)
        c.before[slot], c.after[slot] = earlier, later
        if earlier != NOWHERE:
            c.after[earlier] = slot
        if later != NOWHERE:
            c.before[later] = slot


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


def _extended(
    parts: tuple[Postings, ...], rows: list[tuple[int, dict[int, int]]]
) -> tuple[Postings, ...]:
    """The index with more rows: in its small last part, or merged into one when that has grown."""
    fresh = Entries.of(rows)
    if not len(fresh.terms):
        return parts
    large, small = parts[0], parts[1:]
    added = Entries.joined([*(part.entries() for part in small), fresh])
    if len(added.terms) > max(_MERGE_LEAST, len(large) // _MERGE_SHARE) or not len(large):
        return (Postings(Entries.joined([large.entries(), added])),)
    return (large, Postings(added))
