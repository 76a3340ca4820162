"""Which vectors recall uses: those of the chosen model once all rows have one, until then others.

A space is named after everything its vectors depend on. Embedding all rows anew with the same model
makes another generation of the space, whose name ends in `~2`, `~3` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import apsw

from ...storage import vectors
from ...storage.vectors import Space
from .none import NoEmbedder
from .protocol import Embedder

VECTORS_BEHIND: Final = "vectors_behind"
VECTORS_UNAVAILABLE: Final = "vectors_unavailable"
REEMBEDDING: Final = "reembedding"
"""The vectors of the chosen model are being made; others serve meanwhile, or only words do."""
EMBEDDING_FAILED: Final = "embedding_failed"
"""The vectors of the chosen model cannot be made just now; others serve."""
_NOBODY: Final = NoEmbedder()
"""One for all, so that two standings with nobody in them are equal."""
_GENERATION = re.compile(r"~(\d+)$")


class Standing(NamedTuple):
    """What recall works with: an embedder, the space its vectors are in, and what is degraded."""

    embedder: Embedder
    space: str
    degraded: frozenset[str] = frozenset()


def newest(connection: apsw.Connection, base: str) -> str:
    """The name of the newest generation of a space; `base` if there is none yet."""
    names = [one.name for one in vectors.spaces(connection) if _base(one.name) == base]
    return max(names, key=_generation, default=base)


def next_generation(name: str) -> str:
    """The name of the generation after this one."""
    return f"{_base(name)}~{_generation(name) + 1}"


def standing(
    connection: apsw.Connection,
    chosen: Embedder,
    others: Sequence[Embedder],
    has_vectors: bool = True,
    *,
    failing: bool = False,
) -> Standing:
    """What recall works with, as the store is now; `others` are embedders that still could serve.

    `chosen` need not be loaded, and gives no vectors just now if `failing`. Without the vector
    extension nobody serves.
    """
    if isinstance(chosen, NoEmbedder):
        return Standing(chosen, "")
    if not has_vectors:
        return Standing(_NOBODY, "", frozenset({VECTORS_UNAVAILABLE}))
    complete = [one for one in vectors.spaces(connection) if vectors.is_complete(connection, one)]
    wanted = vectors.find_space(connection, newest(connection, chosen.space))
    if wanted is not None and wanted in complete:
        return Standing(chosen, wanted.name)
    for space in reversed(complete):
        for embedder in (chosen, *others):
            if _base(space.name) == embedder.space:
                why = EMBEDDING_FAILED if failing else REEMBEDDING
                return Standing(embedder, space.name, frozenset({why}))
    reason = REEMBEDDING if complete else VECTORS_BEHIND
    if failing or not chosen.dimension:
        reason = VECTORS_UNAVAILABLE
    return Standing(_NOBODY, "", frozenset({reason}))


def outdated(connection: apsw.Connection, current: Space) -> list[Space]:
    """Every space but the current one."""
    return [one for one in vectors.spaces(connection) if one.id != current.id]


def _base(name: str) -> str:
    return _GENERATION.sub("", name)


def _generation(name: str) -> int:
    found = _GENERATION.search(name)
    return int(found.group(1)) if found else 1
