"""A shelf as bytes: a line of magic, lengths, what the arrays are, then the arrays themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .columns import Columns
from .postings import Postings
from .shelf import Names, Shelf, State

FORMAT: Final = 1
"""Raise it when the analyser, the facts or the columns of a shelf change their meaning."""
_MAGIC: Final = f"recalld shelf {FORMAT}".ljust(47).encode() + b"\n"
_FIXED: Final = len(_MAGIC) + 16
_ALIGNED: Final = 64
_SUMS: Final = (1 << 64) - 1
_Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Octets: TypeAlias = npt.NDArray[np.uint8]
"""Bytes that arrays can be laid over."""


class Unreadable(Exception):
    """These bytes are no shelf, or not all of one."""


def pack(shelf: Shelf, about: Mapping[str, object]) -> Iterator[memoryview]:
    """A shelf that was just filled, piece by piece, with a note `about` it; see `unpack`.

    The pieces are views of the shelf's own arrays: a copy of a large shelf would be 50 MB.
    """
    state, arrays = shelf.state, _arrays(shelf)
    head = json.dumps(
        {
            "about": about,
            "dimension": shelf.columns.dimension,
            "state": [state.size, state.live, state.total_words, state.has_turns],
            "actors": sorted(state.actors),
            "names": shelf.names()._asdict(),
            "arrays": [[name, one.dtype.str, list(one.shape)] for name, one in arrays.items()],
        }
    ).encode()
    parts = [_octets(np.frombuffer(head, np.uint8)), *map(_octets, arrays.values())]
    total = sum(map(_checksum, parts)) & _SUMS
    yield memoryview(_MAGIC + len(head).to_bytes(8, "little") + total.to_bytes(8, "little"))
    for part in parts:
        yield part.data
        yield memoryview(bytes(-len(part) % _ALIGNED))


def unpack(octets: Octets) -> tuple[Shelf, dict[str, Any]]:
    """The shelf and the note about it. The shelf's arrays lie in `octets` and may be written to.

    Raises Unreadable.
    """
    try:
        return _unpacked(octets)
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"The shelf cannot be read: {error}") from error


def _unpacked(octets: Octets) -> tuple[Shelf, dict[str, Any]]:
    if len(octets) < _FIXED or octets[: len(_MAGIC)].tobytes() != _MAGIC:
        raise Unreadable("This is no shelf of this version.")
    numbers = octets[len(_MAGIC) : _FIXED].tobytes()
    length, total = int.from_bytes(numbers[:8], "little"), int.from_bytes(numbers[8:], "little")
    body = octets[_FIXED:]
    if len(body) % _ALIGNED or _checksum(body) != total:
        raise Unreadable("Part of the shelf is missing or was changed.")
    head: dict[str, Any] = json.loads(body[:length].tobytes())
    arrays: _Arrays = {}
    at = length + -length % _ALIGNED
    for name, kind, shape in head["arrays"]:
        dtype = np.dtype(str(kind))
        size = math.prod(shape) * dtype.itemsize
        arrays[name] = body[at : at + size].view(dtype).reshape(shape)
        at += size + -size % _ALIGNED
    return _shelf(head, arrays), dict(head["about"])


def _shelf(head: Mapping[str, Any], arrays: _Arrays) -> Shelf:
    columns = Columns(int(head["dimension"]), 0)
    columns.put({name: arrays[f"columns.{name}"] for name in columns.arrays()})
    size, live, total_words, has_turns = head["state"]
    names = Names(**head["names"])
    state = State(
        size=size,
        live=live,
        total_words=total_words,
        words=(_index(arrays, "words"),),
        tags=(_index(arrays, "tags"),),
        actors=frozenset(head["actors"]),
        sessions=len(names.sessions),
        has_turns=has_turns,
    )
    return Shelf.restored(columns, state, names)


def _arrays(shelf: Shelf) -> _Arrays:
    size = shelf.state.size
    found: _Arrays = {f"columns.{name}": a[:size] for name, a in shelf.columns.arrays().items()}
    for name, parts in (("words", shelf.state.words), ("tags", shelf.state.tags)):
        if len(parts) != 1:
            raise ValueError("only a shelf that was just filled can be packed")
        found |= {f"{name}.{field}": array for field, array in parts[0]._asdict().items()}
    return found


def _index(arrays: _Arrays, name: str) -> Postings:
    return Postings(*(arrays[f"{name}.{field}"] for field in Postings._fields))


def _octets(array: npt.NDArray[Any]) -> Octets:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _checksum(octets: Octets) -> int:
    """A sum at the speed of memory: it is about lost pages and broken disks, not about malice.

    A rest of fewer than 8 bytes counts as if zeros followed.
    """
    whole = len(octets) // 8 * 8
    rest = int.from_bytes(octets[whole:].tobytes(), "little")
    return (int(np.add.reduce(octets[:whole].view(np.uint64))) + rest) & _SUMS
