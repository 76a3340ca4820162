"""Where a session's conversation has got to."""

from __future__ import annotations

import json

import apsw

from .scope import Scope, identify


def next_turn(connection: apsw.Connection, scope: Scope, session: str) -> int:
    """The number the session's next turn gets within the scope; 0 for its first.

    Forgotten turns leave gaps behind them; only at the very end may a number come again.
    """
    last = connection.execute(
        "SELECT max(turn) FROM memories WHERE session = ? "
        "AND ns IN (SELECT value FROM json_each(?))",
        (session, json.dumps(list(identify(connection, scope)))),
    ).get
    return 0 if last is None else int(last) + 1
