"""Long answers, page by page: every item once, whatever is stored meanwhile.

A ranking cannot be asked for "the next ten": one new row shifts all positions. So the order is
fixed as far as it was read and kept here, as row ids, for as long as the reader may want to go on:
first what recall ranked, then whatever else contains every word.
"""

from __future__ import annotations

import secrets
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator

import apsw

from ...auth.errors import InvalidRequest
from ...storage import analyser, fulltext, memories
from ...storage.memories import Memory
from ...storage.scope import Scope
from ..deadline import Deadline
from ..http.schemas import RecallRequest
from ..http.search import MOST_MATCHES, Wanted
from ..recall.request import MOST_HITS

KEPT = 64
"""Walks kept; the one not used for longest ends. At most 80 kB each."""
BLOCK = 200
"""Rows fetched between two looks at the deadline."""


class Walk:
    """The order of one answer. Read in a worker, by one page at a time."""

    def __init__(self, by: str, scope: Scope, request: RecallRequest, rids: Iterable[int]) -> None:
        self.id = secrets.token_urlsafe(9)
        self.by = by
        self.scope = scope
        self.rids = array("q", rids)
        self.request = request
        # Fewer hits than were asked for: there is nothing else to walk.
        self._complete = len(self.rids) < request.limit
        # Two calls may come with the same cursor, in two workers.
        self._lock = threading.Lock()

    def read(
        self, connection: apsw.Connection, start: int, deadline: Deadline
    ) -> Iterator[tuple[int, Memory]]:
        """The memories from position `start` on, each with the position after it.

        What was forgotten or put away meanwhile is left out.
        """
        wanted = _wanted(self.request)
        while True:
            deadline.check()
            if start >= len(self.rids) and not self._extend(connection):
                return
            block = self.rids[start : start + BLOCK]
            rows = memories.fetch(connection, self.scope, block)
            for position, rid in enumerate(block, start + 1):
                memory = rows.get(rid)
                if memory is not None and memory.status == "active" and wanted.accepts(memory):
                    yield position, memory
            start += len(block)

    def is_shallow_at(self, end: int) -> bool:
        """Whether recall should be asked for more, to walk up to this position."""
        return not self._complete and self.request.limit < MOST_HITS and end > len(self.rids)

    def deepen(self, request: RecallRequest, rids: Iterable[int]) -> None:
        """Go on with what recall found when it was asked for more."""
        found = list(rids)
        with self._lock:
            known = set(self.rids)
            self.rids.extend(rid for rid in found if rid not in known)
            self.request = request
            self._complete = len(found) < request.limit

    def ends_at(self, position: int) -> bool:
        """Whether nothing can follow this position."""
        return self._complete and position >= len(self.rids)

    def _extend(self, connection: apsw.Connection) -> bool:
        """Add what contains every word, once; whether there was anything to add."""
        if self._complete:
            return False
        terms = list(dict.fromkeys(analyser.tokens(self.request.query)))
        found = fulltext.match(
            connection, self.scope, terms, require_all=True, own=True, limit=MOST_MATCHES
        )
        known, before = set(self.rids), len(self.rids)
        self.rids.extend(rid for rid, _ in found if rid not in known)
        self._complete = True
        return len(self.rids) > before


class Walks:
    """The walks under way; only the event loop touches it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Walk] = OrderedDict()

    def keep(self, walk: Walk) -> None:
        """Remember a walk that goes on."""
        self._kept[walk.id] = walk
        self._kept.move_to_end(walk.id)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def find(self, cursor: str, by: str) -> tuple[Walk, int]:
        """The walk and the position a cursor stands for, if it was given to this caller.

        Raises:
            InvalidRequest: it was not, or the walk has ended meanwhile.
        """
        name, _, position = cursor.rpartition(".")
        walk = self._kept.get(name)
        if walk is None or walk.by != by or not (position.isascii() and position.isdigit()):
            raise InvalidRequest("This cursor has ended.", hint="Ask again without it.")
        return walk, int(position[:9])


def cursor(walk: Walk, position: int) -> str:
    """What stands for the rest of the walk."""
    return f"{walk.id}.{position}"


def _wanted(request: RecallRequest) -> Wanted:
    return Wanted(
        query=request.query,
        kinds=frozenset(request.kinds or ()),
        tags=frozenset(request.tags or ()),
        since=request.since,
        until=request.until,
        offset=0,
        limit=0,
    )
