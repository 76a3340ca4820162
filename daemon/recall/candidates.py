"""The rows worth scoring: the best by words, the best by meaning, and the turns beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .arrays import Flags, Floats, Longs, Slots, Small
from .columns import NOWHERE
from .lexical import WordScores
from .shelf import Shelf, State

_Number = TypeVar("_Number", np.float32, np.int64)
PER_SIGNAL = 256
"""Rows taken from each signal: 200 lost 0.1 points of hit@10 against all rows, 50 up to 1.7."""
SCORE_ALL = 1024
"""Up to this many rows choosing costs more than scoring them all."""


@dataclass(frozen=True)
class Candidates:
    """Parallel arrays, one element a candidate, with the raw signals that fusion scales.

    `pending` are those whose vector is still to come, so that their `similarity` says nothing.
    `previous_*` and `next_*` are of the turns beside, 0 where there is none.
    `previous` is the row of the turn before, 0 where there is none.
    `session` is the same for turns of one session and unlike for all others; lone rows have a
    negative one of their own. `length` is in index tokens. `facts` has the columns of facts.Facts.
    """

    rid: Longs
    words: Floats
    session_words: Floats
    next_words: Floats
    previous_words: Floats
    similarity: Floats
    next_similarity: Floats
    previous_similarity: Floats
    previous: Longs
    pending: Flags
    session: Longs
    length: Floats
    facts: Floats
    named: Flags
    by_user: Flags
    by_assistant: Flags
    kind: Small
    importance: Floats
    at: Longs

    def __len__(self) -> int:
        return len(self.rid)

    @classmethod
    def none(cls) -> Candidates:
        """No candidates at all."""
        shelf = Shelf(0, 0)
        nothing = np.zeros(0, np.float32)
        words = WordScores(nothing, nothing)
        none = np.zeros(0, np.bool_)
        return gather(shelf, shelf.state, words, nothing, none, none, None)

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """The candidates of several namespaces; sessions of different ones stay apart."""
        moved: list[Longs] = []
        offset = 0
        for part in parts:
            moved.append(np.where(part.session >= 0, part.session + offset, part.session - offset))
            offset += int(np.abs(part.session).max(initial=0)) + 1
        arrays: dict[str, npt.NDArray[Any]] = {
            one.name: np.concatenate([getattr(part, one.name) for part in parts])
            for one in fields(cls)
        }
        arrays["session"] = np.concatenate(moved)
        return cls(**arrays)


def gather(
    shelf: Shelf,
    state: State,
    words: WordScores,
    similarity: Floats,
    pending: Flags,
    wanted: Flags,
    name: str | None,
) -> Candidates:
    """The candidates of one shelf among its `wanted` slots; `name` is the actor asked about.

    `pending` slots have no vector yet.
    """
    slots = choose(shelf, state, words.rows, similarity, wanted)
    c = shelf.columns
    session = c.session[slots].astype(np.int64)
    before, after = c.before[slots], c.after[slots]
    return Candidates(
        rid=c.rid[slots],
        words=words.rows[slots],
        session_words=words.sessions[slots],
        next_words=_of_neighbour(words.rows, after, state.size),
        previous_words=_of_neighbour(words.rows, before, state.size),
        similarity=similarity[slots],
        next_similarity=_of_neighbour(similarity, after, state.size),
        previous_similarity=_of_neighbour(similarity, before, state.size),
        previous=_of_neighbour(c.rid, before, state.size),
        pending=pending[slots],
        session=np.where(session == NOWHERE, -1 - np.arange(len(slots)), session),
        length=c.words[slots],
        facts=c.facts[slots],
        named=c.actor[slots] == (shelf.actor_code(name) if name else NOWHERE - 1),
        by_user=c.by_user[slots],
        by_assistant=c.by_assistant[slots],
        kind=c.kind[slots],
        importance=c.importance[slots],
        at=c.at[slots],
    )


def choose(shelf: Shelf, state: State, words: Floats, similarity: Floats, wanted: Flags) -> Slots:
    """The slots to score: all wanted ones of a small shelf, else the best of each signal."""
    # A row without a word of the question and not even remotely about it is no answer.
    every = np.flatnonzero(wanted & ((words > 0) | (similarity > 0)))
    if len(every) <= SCORE_ALL:
        return every.astype(np.int32)
    best = np.concatenate([_best(words, every), _best(similarity, every)])
    if state.has_turns:
        columns = shelf.columns
        best = np.concatenate([best, columns.before[best], columns.after[best]])
        best = best[(best >= 0) & (best < state.size)]
        best = best[wanted[best]]
    return np.unique(best).astype(np.int32)


def _best(signal: Floats, every: Longs) -> Longs:
    """The `PER_SIGNAL` best of the slots `every` that have any of the signal, or a few more."""
    every = every[signal[every] > 0]
    if len(every) <= PER_SIGNAL:
        return every
    of = signal[every]
    # partition is vectorised for float32 where argpartition is not: 0.1 ms against 3 at 20,000.
    least = np.partition(of, len(of) - PER_SIGNAL)[len(of) - PER_SIGNAL]
    enough: Longs = every[of >= least]
    return enough


def _of_neighbour(
    signal: npt.NDArray[_Number], neighbour: Slots, count: int
) -> npt.NDArray[_Number]:
    real = (neighbour >= 0) & (neighbour < count)
    out = np.zeros(len(neighbour), signal.dtype)
    out[real] = signal[neighbour[real]]
    return out
