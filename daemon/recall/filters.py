"""Which rows may be found at all: living, of the asked kinds and tags, valid at the asked time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Flags
from .columns import FOREVER
from .request import RecallRequest
from .shelf import ACTIVE, SUPERSEDED, Shelf, State, kind_codes
from .terms import tag_id


class Filter(NamedTuple):
    """The conditions of one request; times in milliseconds since 1970."""

    kinds: tuple[int, ...]
    tags: tuple[int, ...]
    since: int
    until: int
    now: int
    past: bool

    @classmethod
    def of(cls, request: RecallRequest, now_ms: int) -> Filter:
        """The conditions of `request`, asked at `now_ms`."""
        return cls(
            kinds=tuple(kind_codes(request.kinds)),
            tags=tuple(tag_id(tag) for tag in request.tags),
            since=-FOREVER if request.since is None else request.since,
            until=FOREVER if request.until is None else request.until,
            now=now_ms if request.as_of is None else request.as_of,
            past=request.as_of is not None,
        )

    def slots(self, shelf: Shelf, state: State) -> Flags:
        """For each slot whether it may be found."""
        c, n = shelf.columns, state.size
        found = c.alive[:n] & (c.begins[:n] <= self.now) & (c.ends[:n] > self.now)
        if self.past:
            # What has been superseded since was the truth then; its `ends` says until when.
            found &= (c.status[:n] <= SUPERSEDED) & (c.created[:n] <= self.now)
        else:
            found &= c.status[:n] == ACTIVE
        if self.kinds:
            found &= np.isin(c.kind[:n], np.array(self.kinds, np.uint8))
        if self.since > -FOREVER or self.until < FOREVER:
            found &= (c.at[:n] >= self.since) & (c.at[:n] < self.until)
        for tag in self.tags:
            found &= _tagged(state, tag)
        return found


def _tagged(state: State, tag: int) -> Flags:
    flags = np.zeros(state.size, np.bool_)
    for part in state.tags:
        flags[part.find(tag)[0]] = True
    return flags
