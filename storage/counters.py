"""How often each memory was recalled, loaded, injected and cited, each counted by itself.

One figure for all of them made good rules look unused: a rule injected with every tool call had
"20 loads" within an hour.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

import apsw

from .scope import Scope, id_list
from .transaction import Transaction

Counter = Literal["recalled", "loaded", "injected", "cited"]


class Counts(NamedTuple):
    """The counters of one memory."""

    recalled: int
    loaded: int
    injected: int
    cited: int


NONE: Final = Counts(0, 0, 0, 0)

# One statement per counter, so that no column name is ever put together from outside.
_ADD: Final[dict[Counter, str]] = {
    name: (
        f"INSERT INTO counters(rid, {name}) SELECT rid, 1 FROM memories "  # noqa: S608  # constant names
        "WHERE ulid IN (SELECT value FROM json_each(?)) AND ns IN (SELECT value FROM json_each(?)) "
        f"ON CONFLICT(rid) DO UPDATE SET {name} = {name} + 1"
    )
    for name in ("recalled", "loaded", "injected", "cited")
}


def add(tx: Transaction, scope: Scope, ulids: Iterable[str], counter: Counter) -> None:
    """Count one more for those of the memories that lie in the scope."""
    wanted = json.dumps(list(ulids))
    if wanted != "[]":
        tx.connection.execute(_ADD[counter], (wanted, id_list(tx.connection, scope)))


def read(connection: apsw.Connection, scope: Scope, ulids: Iterable[str]) -> dict[str, Counts]:
    """The counters of those memories of the scope that have any."""
    rows = connection.execute(
        "SELECT m.ulid, c.recalled, c.loaded, c.injected, c.cited FROM counters c "
        "JOIN memories m ON m.rid = c.rid WHERE m.ulid IN (SELECT value FROM json_each(?)) "
        "AND m.ns IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ulids)), id_list(connection, scope)),
    )
    return {str(ulid): Counts(*map(int, rest)) for ulid, *rest in rows}
