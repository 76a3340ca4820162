"""Schema 6: an index of the memories that are set aside, so that counting them reads only them."""

from __future__ import annotations

from typing import Final

import apsw

SCHEMA: Final = "CREATE INDEX memories_aside ON memories(ns) WHERE status = 'quarantined'"


def apply(connection: apsw.Connection) -> None:
    """Make the index."""
    connection.execute(SCHEMA)
