"""The namespaces a caller may touch: without one there is no statement on memories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import apsw


class Scope:
    """A non-empty, immutable set of namespace names, in the order given.

    It is made from a verified grant and passed to every function that reads or changes memories.
    Raises ValueError when empty: "everything" must be asked for by naming it.
    """

    __slots__ = ("_names",)

    def __init__(self, names: Iterable[str]) -> None:
        unique = tuple(dict.fromkeys(names))
        if not unique or not all(unique):
            raise ValueError("a scope names at least one namespace")
        self._names = unique

    @property
    def names(self) -> tuple[str, ...]:
        """The namespace names, each once."""
        return self._names

    def narrowed(self, names: Iterable[str]) -> Scope | None:
        """The part of this scope that lies within `names`, or None if nothing is left."""
        wanted = set(names)
        kept = [name for name in self._names if name in wanted]
        return Scope(kept) if kept else None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and set(self._names) == set(other._names)

    def __hash__(self) -> int:
        return hash(frozenset(self._names))

    def __repr__(self) -> str:
        return f"Scope({list(self._names)!r})"


def identify(connection: apsw.Connection, scope: Scope) -> dict[int, str]:
    """The row ids of the scope's namespaces that exist so far, with their names."""
    rows = connection.execute(
        "SELECT id, name FROM namespaces WHERE name IN (SELECT value FROM json_each(?))",
        (json.dumps(scope.names),),
    )
    return {int(ns): str(name) for ns, name in rows}


def id_list(connection: apsw.Connection, scope: Scope) -> str:
    """The same ids as a JSON array, to bind into `ns IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(identify(connection, scope)))
